//! The tables of changes by operators.

use super::super::table::ColumnType::{Int, Text};
use super::super::table::{Bucketed, Table};

const CHUNK: i64 = 2_000;

/// The audit.
pub(super) const AUDIT: Table = Table {
    name: "audit",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("number", Int),
        ("at_ms", Int),
        ("actor", Text),
        ("verb", Text),
        ("account_id", Int),
        ("object", Text),
        ("before", Text),
        ("after", Text),
    ],
    chunk: CHUNK,
};

/// The carriers under control.
pub(super) const CARRIER_CONTROLS: Table = Table {
    name: "carrier_controls",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("carrier", Text),
        ("mode", Text),
        ("max_per_second", Int),
        ("changed_at_ms", Int),
        ("changed_by", Text),
    ],
    chunk: CHUNK,
};

/// The prohibited phrases.
pub(super) const CONTENT_RULES: Table = Table {
    name: "content_rules",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[("phrase", Text), ("added_at_ms", Int)],
    chunk: CHUNK,
};
