//! The tables of top-ups and alerts.

use super::super::table::ColumnType::{Bool, Bytes, Int, Text};
use super::super::table::{Bucketed, Table};

const CHUNK: i64 = 2_000;

/// The top-ups.
pub(super) const TOP_UPS: Table = Table {
    name: "top_ups",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("top_up_id", Bytes),
        ("account_id", Int),
        ("sandbox", Bool),
        ("provider", Text),
        ("reference", Text),
        ("amount", Int),
        ("vat", Int),
        ("vat_rate", Int),
        ("bonus", Int),
        ("component", Text),
        ("state", Text),
        ("watched", Bool),
        ("created_at_ms", Int),
        ("expires_at_ms", Int),
        ("checked_at_ms", Int),
        ("checkout_url", Text),
        ("return_url", Text),
        ("payment_id", Text),
        ("received", Int),
        ("currency", Text),
        ("mismatch", Text),
        ("decided_at_ms", Int),
        ("paid_at_ms", Int),
        ("receipt_number", Int),
    ],
    chunk: CHUNK,
};

/// The alerts about a low balance.
pub(super) const ALERTS: Table = Table {
    name: "alerts",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("alert_id", Text),
        ("account_id", Int),
        ("threshold", Int),
        ("url", Text),
        ("email", Text),
        ("below", Bool),
        ("created_at_ms", Int),
        ("told_at_ms", Int),
        ("told_balance", Int),
        ("mail_due_ms", Int),
    ],
    chunk: CHUNK,
};
