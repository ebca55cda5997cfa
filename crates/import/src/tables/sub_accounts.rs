//! The tables of sub-accounts.

use super::super::table::ColumnType::{Bool, Bytes, Int, Text};
use super::super::table::{Bucketed, Table};

const CHUNK: i64 = 2_000;

/// The accounts that belong to another account.
pub(super) const SUB_ACCOUNTS: Table = Table {
    name: "sub_accounts",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("account_id", Int),
        ("parent_id", Int),
        ("prices", Text),
        ("stopped", Bool),
    ],
    chunk: CHUNK,
};

/// The transfers.
pub(super) const TRANSFERS: Table = Table {
    name: "transfers",
    bucketed: Bucketed::No,
    key: 2,
    columns: &[
        ("parent_id", Int),
        ("reference", Text),
        ("transfer_id", Bytes),
        ("account_id", Int),
        ("direction", Text),
        ("amount", Int),
        ("created_at_ms", Int),
    ],
    chunk: CHUNK,
};
