//! The tables of receipts.

use super::super::table::ColumnType::{Bytes, Int, Text};
use super::super::table::{Bucketed, Table};

const CHUNK: i64 = 2_000;

/// The receipts that wait for the response to their submit.
pub(super) const PARKED: Table = Table {
    name: "parked_receipts",
    bucketed: Bucketed::ByCarrierId,
    key: 4,
    columns: &[
        ("carrier", Text),
        ("carrier_id", Text),
        ("received_at_ms", Int),
        ("number", Int),
        ("recipient", Int),
        ("sender", Text),
        ("state", Text),
        ("error", Text),
        ("other_id", Text),
        ("raw", Bytes),
    ],
    chunk: CHUNK,
};

/// The messages whose state a carrier is asked for.
pub(super) const POLLS: Table = Table {
    name: "receipt_polls",
    bucketed: Bucketed::No,
    key: 2,
    columns: &[
        ("carrier", Text),
        ("carrier_id", Text),
        ("due_at_ms", Int),
        ("ends_at_ms", Int),
    ],
    chunk: CHUNK,
};

/// The receipts as they came.
pub(super) const RAW: Table = Table {
    name: "raw_receipts",
    bucketed: Bucketed::ByMessage,
    key: 3,
    columns: &[
        ("message_id", Bytes),
        ("received_at_ms", Int),
        ("number", Int),
        ("carrier", Text),
        ("first_recipient", Int),
        ("last_recipient", Int),
        ("receipts", Bytes),
    ],
    chunk: CHUNK,
};
