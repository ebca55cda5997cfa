//! What each metric counts, as `/metrics` says it beside the figures.

use metrics::{describe_counter, describe_gauge, describe_histogram};

const COUNTERS: [(&str, &str); 18] = [
    (
        "ogene_messages_accepted_total",
        "Sends that were accepted, charged where they are live.",
    ),
    (
        "ogene_recipients_accepted_total",
        "Recipients of the sends that were accepted.",
    ),
    (
        "ogene_http_refusals_total",
        "Requests that were refused, by the code and meaning of the answer.",
    ),
    (
        "ogene_submits_total",
        "Recipients that were handed to a connection of the carrier, each time one was; not pages.",
    ),
    (
        "ogene_responses_total",
        "What became of submits, a page each: the status of the carrier, other for those that the protocol neither names nor leaves to vendors (0x400 to 0x4FF), not_sent where the connection ended before, unknown where it ended without a response.",
    ),
    (
        "ogene_bind_failures_total",
        "Connections to the carrier that could not be bound, by why: the status of the answer, unresolved (its host name has no address), refused, timed_out or unreachable (it takes no connection), tls, bind_timed_out, closed, broken or protocol.",
    ),
    ("ogene_receipts_total", "Receipts, by what they say."),
    (
        "ogene_receipts_parked_total",
        "Receipts that found nobody when they came, as their response was still to come or the id is not ours.",
    ),
    (
        "ogene_receipts_unclear_total",
        "Receipts that settle nothing, since the carrier gave their id to more pages than can be told apart.",
    ),
    (
        "ogene_receipts_unreadable_total",
        "Receipts that name no message or no state, which are answered and dropped; the log tells of the first.",
    ),
    (
        "ogene_inbound_total",
        "Messages of subscribers, which are answered and dropped.",
    ),
    (
        "ogene_in_doubt_total",
        "Recipients who came to be in doubt: handed to the wire, and no response known, or one without an id.",
    ),
    (
        "ogene_settled_total",
        "Recipients who came to their end, by which it was.",
    ),
    (
        "ogene_callback_attempts_total",
        "Attempts at callbacks, by what came of them.",
    ),
    (
        "ogene_velocity_pauses_total",
        "Blocks of numbers that were paused for an account ([velocity]).",
    ),
    (
        "ogene_messages_removed_total",
        "Old messages that were removed ([retention]).",
    ),
    (
        "ogene_unreadable_deliveries_total",
        "Deliveries met in the database, each time one was, with a value that cannot be read: they are left as they are (see the log, and `ogene verify`).",
    ),
    (
        "ogene_log_lines_lost_total",
        "Lines of the log that were lost: standard error did not take them, or its reader is too slow.",
    ),
];

const GAUGES: [(&str, &str); 11] = [
    (
        "ogene_binds",
        "Connections that this node has to the carrier now.",
    ),
    (
        "ogene_window_used",
        "Submits that wait for their response now.",
    ),
    (
        "ogene_queued_recipients",
        "Recipients who wait to be handed to the carrier, those in doubt for their copy among them, counted every 5 s; the nodes' figures add up.",
    ),
    (
        "ogene_held_recipients",
        "Queued recipients who are held back, by quiet hours or because their account may not send.",
    ),
    (
        "ogene_in_doubt",
        "Recipients who are in doubt now, counted every 5 s; the nodes' figures add up.",
    ),
    (
        "ogene_callbacks",
        "Callbacks that are due, claimed or dead, counted every 5 s; the nodes' figures add up.",
    ),
    (
        "ogene_callbacks_in_flight",
        "Callbacks that wait for the receiver's answer now.",
    ),
    (
        "ogene_callback_receivers_broken",
        "Receivers of callbacks that fail, and so are only tried.",
    ),
    (
        "ogene_velocity_paused_blocks",
        "Blocks of numbers that are paused now, as each node knows them.",
    ),
    (
        "process_resident_memory_bytes",
        "Memory that this process takes.",
    ),
    ("process_open_fds", "Files and sockets that are open."),
];

const HISTOGRAMS: [(&str, &str); 5] = [
    (
        "ogene_accept_seconds",
        "How long the commit took with which a send was accepted.",
    ),
    (
        "ogene_accept_group_sends",
        "Sends that shared one such commit.",
    ),
    (
        "ogene_accepted_to_submitted_seconds",
        "From the acceptance of a recipient to its first submit.",
    ),
    (
        "ogene_http_request_seconds",
        "How long requests took, by route and status; its count is that of the answers.",
    ),
    (
        "ogene_callback_seconds",
        "How long attempts at callbacks took.",
    ),
];

/// Tells the recorder that is installed.
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
