//! The tables of inbound messages. Arrivals are not moved: they are good for a minute.

use super::super::table::ColumnType::{Bool, Bytes, Int, Text};
use super::super::table::{Bucketed, Table};

const CHUNK: i64 = 2_000;

/// The routes.
pub(super) const ROUTES: Table = Table {
    name: "inbound_routes",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("route_id", Text),
        ("number", Text),
        ("keyword", Text),
        ("account_id", Int),
        ("url", Text),
        ("smpp_user", Text),
        ("given", Bool),
        ("created_at_ms", Int),
    ],
    chunk: CHUNK,
};

/// The messages.
pub(super) const MESSAGES: Table = Table {
    name: "inbound_messages",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("inbound_id", Bytes),
        ("account_id", Int),
        ("route_id", Text),
        ("carrier", Text),
        ("number", Text),
        ("sender", Text),
        ("keyword", Text),
        ("complete", Bool),
        ("in_reply_to", Bytes),
        ("received_at_ms", Int),
        ("body", Text),
    ],
    chunk: CHUNK,
};

/// The texts that answer commands.
pub(super) const ANSWER_TEXTS: Table = Table {
    name: "answer_texts",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("account_id", Int),
        ("stop_text", Text),
        ("start_text", Text),
        ("help_text", Text),
    ],
    chunk: CHUNK,
};

/// The answers that wait to be sent.
pub(super) const WAITING_ANSWERS: Table = Table {
    name: "waiting_answers",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("inbound_id", Bytes),
        ("account_id", Int),
        ("number", Text),
        ("recipient", Int),
        ("body", Text),
        ("kept_at_ms", Int),
    ],
    chunk: CHUNK,
};

/// The pages that wait for the others of their message.
pub(super) const PAGES: Table = Table {
    name: "inbound_pages",
    bucketed: Bucketed::No,
    key: 1,
    columns: &[
        ("page_id", Int),
        ("carrier", Text),
        ("sender", Text),
        ("number", Text),
        ("reference", Int),
        ("total", Int),
        ("page", Int),
        ("data_coding", Int),
        ("octets", Bytes),
        ("received_at_ms", Int),
    ],
    chunk: CHUNK,
};
