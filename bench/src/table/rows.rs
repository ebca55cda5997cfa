//! The rows of the table, and the figures that fill them.

use crate::figures::Goal;
use crate::scenario::Scenario;
use std::collections::BTreeMap;

/// A line of the table: the meaning of one figure of a scenario.
pub(super) struct Row {
    pub(super) what: &'static str,
    pub(super) scenario: Scenario,
    pub(super) figure: &'static str,
}

const fn row(what: &'static str, scenario: Scenario, figure: &'static str) -> Row {
    Row {
        what,
        scenario,
        figure,
    }
}

/// The rows in the order of a reader's questions.
pub(super) const ROWS: [Row; 66] = [
    row(
        "one recipient a request, 256 connections, receipts and callbacks, whole life: messages a second",
        Scenario::Single,
        "messages_per_s",
    ),
    row(
        "the same: CPU seconds of the service per 1,000 messages",
        Scenario::Single,
        "cpu_s_per_1000",
    ),
    row(
        "accepts a second, nothing else running",
        Scenario::Accept,
        "accepts_per_s",
    ),
    row(
        "accept at 500 a second: p50, ms",
        Scenario::Latency,
        "accept_p50_ms",
    ),
    row(
        "accept at 500 a second: p99, ms",
        Scenario::Latency,
        "accept_p99_ms",
    ),
    row(
        "accepted to `submit_sm` at 500 a second: p50, ms",
        Scenario::Latency,
        "accepted_to_submit_p50_ms",
    ),
    row(
        "accepted to `submit_sm` at 500 a second: p99, ms",
        Scenario::Latency,
        "accepted_to_submit_p99_ms",
    ),
    row(
        "1,000 recipients a request, receipts, whole life: recipients a second",
        Scenario::Bulk,
        "recipients_per_s",
    ),
    row(
        "one request of 100,000 recipients: answered within, ms",
        Scenario::Large,
        "answered_longest_ms",
    ),
    row(
        "one recipient a request with an `Idempotency-Key`: share of the rate without",
        Scenario::Keyed,
        "share_of_rate_without_key",
    ),
    row(
        "1,000 rows a request, every text different: share of the rate of one text",
        Scenario::Personalised,
        "share_of_bulk",
    ),
    row(
        "one request of 100,000 rows as CSV: answered within, ms",
        Scenario::Personalised,
        "csv_answered_longest_ms",
    ),
    row(
        "memory meanwhile above idle, MB",
        Scenario::Personalised,
        "csv_memory_above_idle_mb",
    ),
    row(
        "1,000,000 messages due in one second: first on the wire after, ms",
        Scenario::Scheduled,
        "first_submit_ms",
    ),
    row(
        "an OTP meanwhile: due to the wire, p99, ms",
        Scenario::Scheduled,
        "otp_due_to_submit_p99_ms",
    ),
    row("memory meanwhile, MB", Scenario::Scheduled, "peak_mb"),
    row(
        "settled messages stored: share of the empty rate",
        Scenario::Stored,
        "share_of_empty_rate",
    ),
    row(
        "settled messages stored: slowest of all lists under load: p95, ms",
        Scenario::Search,
        "slowest_list_p95_ms",
    ),
    row(
        "the same: rows a second of an export",
        Scenario::Search,
        "export_rows_per_s",
    ),
    row(
        "the same: memory of the export above idle, MB",
        Scenario::Search,
        "export_memory_mb",
    ),
    row(
        "the same: sends beside exports, as a share of sends alone",
        Scenario::Search,
        "share_of_sends_beside_export",
    ),
    row(
        "settled messages stored: slowest of all pages of the console under load: p95, ms",
        Scenario::Pages,
        "slowest_page_p95_ms",
    ),
    row(
        "500 open pages of the console: CPU of the service, share of one core",
        Scenario::Live,
        "pages_cpu_share",
    ),
    row(
        "single messages beside them: share of the rate without",
        Scenario::Live,
        "share_of_rate_without_pages",
    ),
    row(
        "CSV of 1,000,000 recipients in the console: uploaded and shown within, s",
        Scenario::Upload,
        "csv_s",
    ),
    row("the same as XLSX, s", Scenario::Upload, "xlsx_s"),
    row(
        "memory of both above idle, MB",
        Scenario::Upload,
        "memory_above_idle_mb",
    ),
    row(
        "report page of a message of 10,000 under load: p99, ms",
        Scenario::Reports,
        "report_of_100_p99_ms",
    ),
    row(
        "an SMSC 50 ms away, window 100, one bind: submits a second",
        Scenario::Distant,
        "submits_per_s",
    ),
    row(
        "an OTP with 1,000,000 recipients queued: due to the wire, p99, ms",
        Scenario::Overtake,
        "otp_due_to_submit_p99_ms",
    ),
    row(
        "callbacks to a receiver that is well, beside 1,000 dead ones: share of the rate alone",
        Scenario::DeadReceivers,
        "share_of_rate_alone",
    ),
    row(
        "9,000 connections that ask for ten times the sustained rate, for a minute: share of it settled",
        Scenario::Overload,
        "goodput_share",
    ),
    row("memory meanwhile, MB", Scenario::Overload, "peak_mb"),
    row(
        "all as before after it, s",
        Scenario::Overload,
        "recovery_s",
    ),
    row(
        "ten times the campaigns that are sustained, for a minute: share of the rate settled",
        Scenario::OverloadCampaigns,
        "goodput_share",
    ),
    row(
        "memory meanwhile, MB",
        Scenario::OverloadCampaigns,
        "peak_mb",
    ),
    row(
        "all as before after it, s",
        Scenario::OverloadCampaigns,
        "recovery_s",
    ),
    row("memory idle, MB", Scenario::Queued, "idle_mb"),
    row(
        "memory with 1,000,000 recipients queued, MB",
        Scenario::Queued,
        "queued_mb",
    ),
    row(
        "ready after SIGKILL with 1,000,000 recipients queued, s",
        Scenario::Queued,
        "ready_after_kill_s",
    ),
    row(
        "disk per single message, just settled, over 500,000, bytes",
        Scenario::Disk,
        "stored_bytes_per_recipient",
    ),
    row(
        "disk per single message, for good, bytes",
        Scenario::Disk,
        "lasting_bytes_per_recipient",
    ),
    row(
        "disk per single message, just settled, over 50,000, bytes",
        Scenario::Single,
        "stored_bytes_per_recipient",
    ),
    row(
        "disk per bulk recipient, just settled, bytes",
        Scenario::Bulk,
        "stored_bytes_per_recipient",
    ),
    row(
        "disk per bulk recipient, for good, bytes",
        Scenario::Bulk,
        "lasting_bytes_per_recipient",
    ),
    row(
        "a carrier by HTTP with 64 requests at once: share of the rate by SMPP",
        Scenario::HttpCarrier,
        "share_of_smpp_rate",
    ),
    row(
        "import of 10,000,000 numbers on DND, s",
        Scenario::Dnd,
        "import_s",
    ),
    row("memory meanwhile, MB", Scenario::Dnd, "import_peak_mb"),
    row(
        "one request of 100,000 recipients, DND and opt-outs checked: share of the rate without",
        Scenario::Dnd,
        "share_of_unchecked_rate",
    ),
    row(
        "a webhook of a payment beside 5,000 sends a second: p99, ms",
        Scenario::Webhooks,
        "webhook_p99_ms",
    ),
    row(
        "one recipient a request of an account with a parent: share of the rate without",
        Scenario::Parent,
        "share_of_rate_without_parent",
    ),
    row(
        "four SMPP sessions of customers, window 100, up to the answered receipt: share of the rate by HTTP",
        Scenario::Customers,
        "share_of_single",
    ),
    row(
        "the same: share of the CPU of the service per message",
        Scenario::Customers,
        "cpu_share_of_single",
    ),
    row(
        "`submit_sm` of a customer to its response at 500 a second: p50, ms",
        Scenario::Submits,
        "response_p50_ms",
    ),
    row(
        "`submit_sm` of a customer to its response at 500 a second: p99, ms",
        Scenario::Submits,
        "response_p99_ms",
    ),
    row(
        "2,000 bound idle sessions of customers: memory above idle, MB",
        Scenario::Bound,
        "bound_above_idle_mb",
    ),
    row(
        "1,000,000 receipts that wait for an SMPP user: memory above idle, MB",
        Scenario::Waiting,
        "waiting_above_idle_mb",
    ),
    row(
        "the same once the user is bound: receipts a second",
        Scenario::Waiting,
        "receipts_per_s",
    ),
    row(
        "an SMPP user beside one that submits without limit: share of its rate alone",
        Scenario::Flood,
        "share_of_rate_alone",
    ),
    row(
        "decode and encode a `submit_sm` of 200 octets, ns",
        Scenario::Codec,
        "decode_and_encode_ns",
    ),
    row(
        "CPU per message, 10,000 accounts to 1",
        Scenario::Accounts,
        "cpu_growth",
    ),
    row(
        "CPU per message, of 10,000 accounts, one made each second to none",
        Scenario::Changes,
        "cpu_growth",
    ),
    row(
        "CPU per message, 1,000,000 recipients queued to none",
        Scenario::Backlog,
        "cpu_growth",
    ),
    row(
        "CPU per message, 50 carriers to 1",
        Scenario::Carriers,
        "cpu_growth",
    ),
    row(
        "bulk: CPU seconds per 1,000 recipients",
        Scenario::Bulk,
        "cpu_s_per_1000",
    ),
    row(
        "an OTP while the campaign drains at full speed: due to the wire, p99, ms",
        Scenario::Overtake,
        "otp_while_draining_due_to_submit_p99_ms",
    ),
];

impl Row {
    /// Returns its goal.
    pub(super) fn goal(&self) -> Option<Goal> {
        let mut goals = self.scenario.goals().iter();
        goals.find(|goal| goal.figure() == self.figure).copied()
    }
}

/// The medians of a database, by scenario and figure.
pub(super) type Medians = BTreeMap<String, BTreeMap<String, f64>>;
