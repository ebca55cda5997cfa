//! The tables of contacts.

use super::super::table::ColumnType::{Int, Text};
use super::super::table::{Bucketed, Table};

const CHUNK: i64 = 2_000;

/// The groups of contacts.
pub(super) const CONTACT_GROUPS: Table = Table {
    name: "contact_groups",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("group_id", Int),
        ("account_id", Int),
        ("name", Text),
        ("created_at_ms", Int),
    ],
    chunk: CHUNK,
};

/// The contacts.
pub(super) const CONTACTS: Table = Table {
    name: "contacts",
    bucketed: Bucketed::No,
    key: 2,
    columns: &[
        ("group_id", Int),
        ("recipient", Int),
        ("name", Text),
        ("added_at_ms", Int),
    ],
    chunk: CHUNK,
};
