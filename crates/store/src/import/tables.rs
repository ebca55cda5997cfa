//! The tables that an import moves.

use Kind::{Bool, Bytes, Int, Text};

/// What a column holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Int,
    Text,
    Bytes,
    Bool,
}

impl Kind {
    /// The type of many of them, in PostgreSQL.
    fn array(self) -> &'static str {
        match self {
            Int => "bigint[]",
            Text => "text[]",
            Bytes => "bytea[]",
            Bool => "boolean[]",
        }
    }
}

pub(super) type Named = (&'static str, Kind);

/// From what the bucket of a row follows. On SQLite it is always 0.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Bucketed {
    /// It has none.
    No,
    /// From its own `account_id`.
    ByAccount,
    /// From the account of its message.
    ByMessage,
    /// From its carrier and `carrier_id`, the first two columns.
    ByCarrierId,
    /// The same, and it names the bucket of its message's account as well.
    ByCarrierIdWithHome,
}

impl Bucketed {
    /// The columns that do not come from the source but follow from it. They stand first.
    pub(super) fn columns(self) -> &'static [Named] {
        match self {
            Self::No => &[],
            Self::ByAccount | Self::ByMessage | Self::ByCarrierId => &[("bucket", Int)],
            Self::ByCarrierIdWithHome => &[("bucket", Int), ("home", Int)],
        }
    }

    /// Whose row it is, as the source is asked.
    fn owner(self) -> &'static str {
        match self {
            Self::No | Self::ByCarrierId => "null",
            Self::ByAccount => "t.account_id",
            Self::ByMessage | Self::ByCarrierIdWithHome => {
                "(select m.account_id from messages m
                  where m.bucket = t.bucket and m.message_id = t.message_id)"
            }
        }
    }
}

/// A table, with its columns but for those that follow from others.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) bucketed: Bucketed,
    /// So many columns, from the first on, are its key; the bucket goes before them.
    pub(super) key: usize,
    pub(super) columns: &'static [Named],
    /// Rows moved at a time: fewer where one may be large.
    pub(super) chunk: i64,
}

const CHUNK: i64 = 2_000;

/// In an order in which what is referred to comes first, and what makes a node work comes last.
pub(super) const TABLES: [Table; 13] = [
    Table {
        name: "accounts",
        bucketed: Bucketed::No,
        key: 1,
        columns: &[
            ("account_id", Int),
            ("email", Text),
            ("name", Text),
            ("status", Text),
            ("verification", Text),
            ("created_at_ms", Int),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "tokens",
        bucketed: Bucketed::No,
        key: 1,
        columns: &[
            ("token_id", Text),
            ("account_id", Int),
            ("name", Text),
            ("hash", Bytes),
            ("created_at_ms", Int),
            ("revoked_at_ms", Int),
            ("expires_at_ms", Int),
            ("allowed", Text),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "sender_ids",
        bucketed: Bucketed::No,
        key: 2,
        columns: &[
            ("account_id", Int),
            ("sender_key", Text),
            ("name", Text),
            ("status", Text),
            ("purpose", Text),
            ("international", Bool),
            ("created_at_ms", Int),
            ("approved_at_ms", Int),
            ("rejection_reason", Text),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "callback_secrets",
        bucketed: Bucketed::No,
        key: 2,
        columns: &[
            ("account_id", Int),
            ("secret_id", Text),
            ("secret", Text),
            ("created_at_ms", Int),
            ("ends_at_ms", Int),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "wallets",
        bucketed: Bucketed::ByAccount,
        key: 1,
        columns: &[
            ("account_id", Int),
            ("promo_bonus", Int),
            ("volume_bonus", Int),
            ("sms_bonus", Int),
            ("sms_wallet", Int),
            ("main_balance", Int),
            ("universal_wallet", Int),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "ledger",
        bucketed: Bucketed::ByAccount,
        key: 5,
        columns: &[
            ("account_id", Int),
            ("subject", Bytes),
            ("recipient", Int),
            ("kind", Text),
            ("component", Text),
            ("amount", Int),
            ("created_at_ms", Int),
            ("reference", Text),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "messages",
        bucketed: Bucketed::ByAccount,
        key: 1,
        columns: &[
            ("message_id", Bytes),
            ("account_id", Int),
            ("sandbox", Bool),
            ("gateway", Text),
            ("refund_undelivered", Bool),
            ("two_legs", Bool),
            ("sender", Text),
            ("body", Text),
            ("callback_url", Text),
            ("customer_reference", Text),
            ("cost", Int),
            ("page_count", Int),
            ("paid_from", Text),
            ("recipients", Bytes),
            ("callbacks_ended", Bool),
        ],
        // A list of 100,000 recipients has 700 kB.
        chunk: 500,
    },
    Table {
        name: "deliveries",
        bucketed: Bucketed::ByMessage,
        key: 2,
        columns: &[
            ("message_id", Bytes),
            ("recipient", Int),
            ("status", Text),
            ("leg", Int),
            ("failed_legs", Int),
            ("pages", Int),
            ("delivered_first", Int),
            ("delivered_second", Int),
            ("gave_up", Bool),
            ("suffixed", Bool),
            ("charge", Int),
            ("reserve", Int),
            ("carrier", Text),
            ("submitted_at_ms", Int),
            ("settled_at_ms", Int),
            ("error", Text),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "parts",
        bucketed: Bucketed::ByCarrierIdWithHome,
        key: 6,
        columns: &[
            ("carrier", Text),
            ("carrier_id", Text),
            ("message_id", Bytes),
            ("recipient", Int),
            ("leg", Int),
            ("page", Int),
        ],
        chunk: CHUNK,
    },
    Table {
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
        ],
        chunk: CHUNK,
    },
    Table {
        name: "callbacks",
        bucketed: Bucketed::ByAccount,
        key: 6,
        columns: &[
            ("state", Text),
            ("account_id", Int),
            ("origin", Text),
            ("due_at_ms", Int),
            ("message_id", Bytes),
            ("recipient", Int),
            ("status", Text),
            ("attempts", Int),
            ("claimed_by", Int),
            ("claimed_until_ms", Int),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "callback_attempts",
        bucketed: Bucketed::ByAccount,
        key: 3,
        columns: &[
            ("message_id", Bytes),
            ("recipient", Int),
            ("made_at_ms", Int),
            ("account_id", Int),
            ("attempt", Int),
            ("result", Text),
            ("took_ms", Int),
            ("answer", Text),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "batches",
        bucketed: Bucketed::ByMessage,
        key: 5,
        columns: &[
            ("carrier", Text),
            ("claimed_by", Int),
            ("priority", Int),
            ("due_at_ms", Int),
            ("batch_id", Int),
            ("claimed_until_ms", Int),
            ("message_id", Bytes),
            ("kind", Text),
            ("leg", Int),
            ("tries", Int),
            ("suffixed", Bool),
            ("pages", Int),
            ("charge", Int),
            ("reserve", Int),
            ("expires_at_ms", Int),
            ("recipients", Bytes),
        ],
        chunk: CHUNK,
    },
];

/// Names with a table before each, and commas between them.
fn list(of: &str, columns: &[Named]) -> String {
    let names: Vec<String> = columns
        .iter()
        .map(|(name, _)| format!("{of}{name}"))
        .collect();
    names.join(", ")
}

/// Arrays of rows as placeholders.
fn arrays(columns: &[Named]) -> String {
    let arrays: Vec<String> = (1..)
        .zip(columns)
        .map(|(number, (_, kind))| format!("cast(${number} as {})", kind.array()))
        .collect();
    arrays.join(", ")
}

impl Table {
    pub(super) fn key_columns(&self) -> &'static [Named] {
        &self.columns[..self.key]
    }

    /// All columns, as the target has them.
    pub(super) fn all_columns(&self) -> Vec<Named> {
        [self.bucketed.columns(), self.columns].concat()
    }

    /// Where in all columns the key stands that a row has in the target.
    pub(super) fn target_key(&self) -> Vec<usize> {
        let follow = self.bucketed.columns().len();
        let bucket = 0..follow.min(1);
        bucket.chain(follow..follow + self.key).collect()
    }

    /// Reads the next rows of the source, with whose they are behind the columns. The values of the key after
    /// which they come are bound, unless they are the first; then how many.
    pub(super) fn read(&self, is_first: bool) -> String {
        let mut conditions = Vec::new();
        if self.bucketed != Bucketed::No {
            conditions.push("t.bucket = 0".to_owned());
        }
        let bound = if is_first { 0 } else { self.key };
        if !is_first {
            let values: Vec<String> = (1..=bound).map(|number| format!("${number}")).collect();
            let (key, values) = (list("t.", self.key_columns()), values.join(", "));
            conditions.push(format!("({key}) > ({values})"));
        }
        let conditions = match conditions.join(" and ") {
            none if none.is_empty() => none,
            some => format!("where {some}"),
        };
        format!(
            "select {}, {} as owner from {} t {conditions} order by {} limit ${}",
            list("t.", self.columns),
            self.bucketed.owner(),
            self.name,
            list("t.", self.key_columns()),
            bound + 1,
        )
    }

    /// Writes rows, an array for each column, and leaves out those that are there.
    pub(super) fn write(&self) -> String {
        let columns = self.all_columns();
        format!(
            "insert into {} ({}) select * from unnest({}) on conflict do nothing",
            self.name,
            list("", &columns),
            arrays(&columns),
        )
    }

    /// Finds rows of the target by their keys, an array for each of its columns, in the order given.
    pub(super) fn find(&self) -> String {
        let columns = self.all_columns();
        let key: Vec<Named> = self.target_key().iter().map(|&at| columns[at]).collect();
        let same: Vec<String> = key
            .iter()
            .map(|(name, _)| format!("t.{name} = k.{name}"))
            .collect();
        format!(
            "select {} from unnest({}) with ordinality as k ({}, place) join {} t on {}
             order by k.place",
            list("t.", &columns),
            arrays(&key),
            list("", &key),
            self.name,
            same.join(" and "),
        )
    }
}
