//! The descriptions of metrics, as `/metrics` shows them.

use metrics::{describe_counter, describe_gauge, describe_histogram};

const COUNTERS: [(&str, &str); 25] = [
    (
        "ogene_messages_accepted_total",
        "Accepted sends; live ones are charged.",
    ),
    (
        "ogene_recipients_accepted_total",
        "Recipients of accepted sends.",
    ),
    (
        "ogene_http_refusals_total",
        "Refused requests, by code and meaning of the answer.",
    ),
    (
        "ogene_smpp_requests_total",
        "Answers to submits and queries of SMPP users, by status.",
    ),
    (
        "ogene_smpp_receipts_total",
        "Receipts for SMPP users, by system_id and status of the answer.",
    ),
    (
        "ogene_smpp_binds_refused_total",
        "Refused binds to the SMPP server, by reason.",
    ),
    (
        "ogene_submits_total",
        "Submits to the carrier, counted once for a recipient and attempt, not for each page.",
    ),
    (
        "ogene_responses_total",
        "Results of submits, by page: the carrier's status, other (a status that is neither standard nor of vendors, 0x400 to 0x4FF), not_sent (the connection ended before the submit), unknown (it ended before the response).",
    ),
    (
        "ogene_bind_failures_total",
        "Failed binds, by reason: the status of the bind response, unresolved (the host name has no address), refused, timed_out, unreachable, tls, bind_timed_out, closed, broken or protocol.",
    ),
    ("ogene_receipts_total", "Delivery receipts, by state."),
    (
        "ogene_receipts_parked_total",
        "Receipts without a known message on arrival: the submit response is pending, or the id is not ours.",
    ),
    (
        "ogene_receipts_unclear_total",
        "Receipts that settle nothing, since the carrier gave their id to several pages.",
    ),
    (
        "ogene_receipts_unreadable_total",
        "Receipts without a message id or a state, which are answered and dropped, and answers to polling without a state.",
    ),
    (
        "ogene_receipt_polls_total",
        "Requests to a carrier by HTTP for the state of a message, by outcome: final, pending (under way), no_state or no_answer.",
    ),
    (
        "ogene_inbound_total",
        "Pages of inbound messages of subscribers, with repeated ones.",
    ),
    (
        "ogene_in_doubt_total",
        "Recipients that became in doubt: submitted without a known response, or with a response without an id.",
    ),
    (
        "ogene_settled_total",
        "Settled recipients, by final status.",
    ),
    (
        "ogene_callback_attempts_total",
        "Attempts at callbacks, by result.",
    ),
    (
        "ogene_velocity_pauses_total",
        "Pauses of a block of numbers for an account ([velocity]).",
    ),
    (
        "ogene_messages_removed_total",
        "Messages removed by retention ([retention]).",
    ),
    (
        "ogene_top_ups_total",
        "Top-ups that came to a state, by provider; a new one is pending.",
    ),
    (
        "ogene_payment_webhooks_total",
        "Webhooks of payment providers, by outcome: credited, repeated, mismatch, not_paid (no payment is confirmed), ignored (no payment is named), unsigned, not_confirmed (the provider cannot be asked) or not_stored.",
    ),
    (
        "ogene_transfers_total",
        "Transfers between accounts and their sub-accounts, by direction.",
    ),
    (
        "ogene_unreadable_deliveries_total",
        "Reads of a delivery with an invalid value in the database; it is left unchanged (see the log, and `ogene verify`).",
    ),
    (
        "ogene_log_lines_lost_total",
        "Log lines lost because standard error failed or its reader was too slow.",
    ),
];

const GAUGES: [(&str, &str); 16] = [
    (
        "ogene_smpp_binds",
        "Connections to this node that an SMPP user has bound.",
    ),
    ("ogene_smpp_waiting", "Receipts that wait for an SMPP user."),
    (
        "ogene_binds",
        "Bound connections of this node to the carrier.",
    ),
    (
        "ogene_carrier_paused",
        "1 while an operator has paused or drained the carrier, else 0; as each node knows it.",
    ),
    (
        "ogene_carrier_throttle",
        "Most submits a second by an operator's throttle, over all nodes; 0 without one.",
    ),
    (
        "ogene_window_used",
        "Submits in the window: sent, and without a response yet.",
    ),
    (
        "ogene_receipt_poll_delay_seconds",
        "Delay of the message that waited longest, at the last search, for the request for its state.",
    ),
    (
        "ogene_queued_recipients",
        "Recipients queued for the carrier, including those in doubt that wait for a copy; counted every 5 s; sum over nodes.",
    ),
    (
        "ogene_held_recipients",
        "Queued recipients held by quiet hours, or because their account may not send.",
    ),
    (
        "ogene_in_doubt",
        "Recipients in doubt; counted every 5 s; sum over nodes.",
    ),
    (
        "ogene_callbacks",
        "Callbacks that are due, claimed or dead; counted every 5 s; sum over nodes.",
    ),
    (
        "ogene_callbacks_in_flight",
        "Callbacks in flight: sent, and without an answer yet.",
    ),
    (
        "ogene_callback_receivers_broken",
        "Receivers of callbacks with an open circuit breaker, which are only probed.",
    ),
    (
        "ogene_velocity_paused_blocks",
        "Paused blocks of numbers, as each node knows them.",
    ),
    (
        "process_resident_memory_bytes",
        "Resident memory of this process.",
    ),
    ("process_open_fds", "Open files and sockets."),
];

const HISTOGRAMS: [(&str, &str); 6] = [
    (
        "ogene_accept_seconds",
        "Duration of the commit that accepted a send.",
    ),
    ("ogene_accept_group_sends", "Sends in one accept commit."),
    (
        "ogene_accepted_to_submitted_seconds",
        "Time from the acceptance of a recipient to its first submit.",
    ),
    (
        "ogene_http_request_seconds",
        "Duration of requests, by route and status.",
    ),
    (
        "ogene_callback_seconds",
        "Duration of attempts at callbacks.",
    ),
    (
        "ogene_payment_call_seconds",
        "Duration of calls of payment providers, by call (create, find) and HTTP status, or none without an answer.",
    ),
];

/// Registers the descriptions with the installed recorder.
pub(super) fn describe() {
    for (name, meaning) in COUNTERS {
        describe_counter!(name, meaning);
    }
    for (name, meaning) in GAUGES {
        describe_gauge!(name, meaning);
    }
    for (name, meaning) in HISTOGRAMS {
        describe_histogram!(name, meaning);
    }
}
