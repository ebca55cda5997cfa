//! The tables of opt-outs and DND.

use super::super::table::ColumnType::{Bytes, Int, Text};
use super::super::table::{Bucketed, Table};

const CHUNK: i64 = 2_000;

/// The opt-outs.
pub(super) const OPT_OUTS: Table = Table {
    name: "opt_outs",
    bucketed: Bucketed::No,
    key: 3,
    columns: &[
        ("account_id", Int),
        ("recipient", Int),
        ("sender_key", Text),
        ("opt_out_id", Bytes),
        ("sender", Text),
        ("reason", Text),
        ("created_at_ms", Int),
    ],
    chunk: CHUNK,
};

/// The numbers on DND.
pub(super) const DND: Table = Table {
    name: "dnd_blocks",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[("block", Int), ("numbers", Int), ("members", Bytes)],
    chunk: CHUNK,
};

/// The accounts that have had an opt-out.
pub(super) const ACCOUNTS: Table = Table {
    name: "opt_out_accounts",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[("account_id", Int), ("opt_outs", Int)],
    chunk: CHUNK,
};
