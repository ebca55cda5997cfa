//! The tables that an import moves.

mod contacts;
mod inbound;
mod operators;
mod opt_outs;
mod payments;
mod receipts;
mod sub_accounts;
mod users;

use super::table::ColumnType::{Bool, Bytes, Int, Text};
use super::table::{Bucketed, Table};

const CHUNK: i64 = 2_000;

/// The tables in the order of the import. A referenced table comes first, and the tables that let a
/// node work come last.
pub(super) const TABLES: [Table; 47] = [
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
        name: "holds",
        bucketed: Bucketed::No,
        key: 1,
        columns: &[("account_id", Int), ("status", Text), ("queued", Text)],
        chunk: CHUNK,
    },
    users::TOKENS,
    users::SMPP_USERS,
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
    users::USERS,
    users::MEMBERSHIPS,
    users::PASSKEYS,
    users::SESSIONS,
    users::ONE_TIME_LINKS,
    operators::AUDIT,
    operators::CARRIER_CONTROLS,
    contacts::CONTACT_GROUPS,
    contacts::CONTACTS,
    operators::CONTENT_RULES,
    Table {
        name: "paused_blocks",
        bucketed: Bucketed::No,
        key: 2,
        columns: &[
            ("account_id", Int),
            ("block", Int),
            ("paused_at_ms", Int),
            ("until_ms", Int),
        ],
        chunk: CHUNK,
    },
    inbound::ROUTES,
    inbound::MESSAGES,
    inbound::PAGES,
    inbound::ANSWER_TEXTS,
    inbound::WAITING_ANSWERS,
    opt_outs::OPT_OUTS,
    opt_outs::ACCOUNTS,
    opt_outs::DND,
    payments::TOP_UPS,
    sub_accounts::SUB_ACCOUNTS,
    sub_accounts::TRANSFERS,
    payments::ALERTS,
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
            ("limit_per_day", Int),
            ("spent_day", Int),
            ("spent_today", Int),
            ("sells", Bool),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "ledger",
        bucketed: Bucketed::ByAccount,
        key: 5,
        columns: &[
            ("subject", Bytes),
            ("account_id", Int),
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
            ("due_at_ms", Int),
            ("paused_at_ms", Int),
            ("paused_for_ms", Int),
            ("cancelled_at_ms", Int),
            ("sandbox", Bool),
            ("gateway", Text),
            ("refund_undelivered", Bool),
            ("two_legs", Bool),
            ("sender", Text),
            ("body", Text),
            ("otp_id", Bytes),
            ("callback_url", Text),
            ("customer_reference", Text),
            ("receipts_to", Text),
            ("receipts_wanted", Text),
            ("raw_page", Bytes),
            ("cost", Int),
            ("page_count", Int),
            ("pages_total", Int),
            ("validity_s", Int),
            ("paid_from", Text),
            ("changes", Text),
            ("parent_id", Int),
            ("parent_cost", Int),
            ("margins", Bytes),
            ("recipients", Bytes),
            ("callbacks_ended", Bool),
        ],
        // A list of 100,000 recipients has 700 kB.
        chunk: 500,
    },
    Table {
        name: "message_times",
        bucketed: Bucketed::ByAccount,
        key: 4,
        columns: &[
            ("account_id", Int),
            ("sandbox", Bool),
            ("sender_key", Text),
            ("from_ms", Int),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "recipient_texts",
        bucketed: Bucketed::ByMessage,
        key: 2,
        columns: &[
            ("message_id", Bytes),
            ("first_recipient", Int),
            ("texts", Text),
        ],
        chunk: 500,
    },
    Table {
        name: "recipient_references",
        bucketed: Bucketed::ByMessage,
        key: 2,
        columns: &[
            ("message_id", Bytes),
            ("recipient", Int),
            ("customer_reference", Text),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "otps",
        bucketed: Bucketed::ByAccount,
        key: 1,
        columns: &[
            ("otp_id", Bytes),
            ("account_id", Int),
            ("sandbox", Bool),
            ("recipient", Int),
            ("message_id", Bytes),
            ("kind", Text),
            ("length", Int),
            ("created_at_ms", Int),
            ("expires_at_ms", Int),
            ("max_attempts", Int),
            ("wrong_attempts", Int),
            ("verified", Bool),
            ("cancelled", Bool),
            ("last_change", Int),
            ("sent_times", Text),
            ("sender", Text),
            ("body", Text),
            ("callback_url", Text),
            ("customer_reference", Text),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "server_keys",
        bucketed: Bucketed::No,
        key: 1,
        columns: &[("name", Text), ("key", Bytes)],
        chunk: CHUNK,
    },
    Table {
        name: "idempotency_keys",
        bucketed: Bucketed::ByAccount,
        key: 3,
        columns: &[
            ("account_id", Int),
            ("sandbox", Bool),
            ("key", Text),
            ("request", Bytes),
            ("kept_at_ms", Int),
            ("status", Int),
            ("message_id", Bytes),
            ("body", Text),
        ],
        chunk: CHUNK,
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
            ("pages", Int),
            ("charge", Int),
            ("carrier", Text),
            ("submitted_at_s", Int),
            ("settled_at_s", Int),
            ("delivered_first", Int),
            ("delivered_second", Int),
            ("failed_legs", Int),
            ("gave_up", Bool),
            ("suffixed", Bool),
            ("reserve", Int),
            ("error", Text),
            ("doubts", Text),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "carrier_ids",
        bucketed: Bucketed::ByPrefix,
        key: 3,
        columns: &[
            ("carrier", Text),
            ("prefix", Text),
            ("submitted_hour_ms", Int),
            ("pages", Bytes),
        ],
        chunk: CHUNK,
    },
    receipts::PARKED,
    receipts::POLLS,
    receipts::RAW,
    Table {
        name: "outbox",
        bucketed: Bucketed::ByAccount,
        key: 6,
        columns: &[
            ("state", Text),
            ("account_id", Int),
            ("sandbox", Bool),
            ("destination", Text),
            ("due_at_ms", Int),
            ("event_id", Bytes),
            ("kind", Text),
            ("subject", Bytes),
            ("recipient", Int),
            ("payload", Text),
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
            ("stopped", Bool),
        ],
        chunk: CHUNK,
    },
    Table {
        name: "stops",
        bucketed: Bucketed::ByMessage,
        key: 1,
        columns: &[
            ("message_id", Bytes),
            ("cancels", Bool),
            ("requested_at_ms", Int),
        ],
        chunk: CHUNK,
    },
];

#[cfg(test)]
mod tests {
    use super::TABLES;
    use database::{FILE, Target, TestConnection};
    use store::Store;

    #[tokio::test]
    async fn rows_are_read_in_the_order_in_which_they_lie() {
        let directory = tempfile::tempdir().unwrap();
        let target = Target::Directory(directory.path().to_owned());
        Store::open(&target).await.unwrap().close().await;
        let mut source = TestConnection::sqlite(&directory.path().join(FILE)).unwrap();
        for table in &TABLES {
            let sql = format!("explain query plan {}", table.read(true).replace("$1", "1"));
            let plan: Vec<String> = source.column(&sql).await.unwrap();
            let sorts = plan.iter().any(|line| line.contains("TEMP B-TREE"));
            assert!(!sorts, "{}: {plan:?}", table.name);
        }
    }
}
