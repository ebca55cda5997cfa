//! The message tables can be distributed by `bucket`. Each of their statements names it, each of
//! their keys begins with it, and rows are locked in one bucket only. No two buckets share a shard.

use super::plans::{On, Statement, all_statements};
use std::collections::HashSet;
use storekit::Kit;

/// The distributed tables. All others are small, and every server has a copy of them.
const MESSAGE_TABLES: [&str; 19] = [
    "batches",
    "callback_attempts",
    "deliveries",
    "idempotency_keys",
    "ledger",
    "message_times",
    "messages",
    "otps",
    "outbox",
    "parked_receipts",
    "carrier_ids",
    "raw_receipts",
    "recent_sends",
    "recipient_postings",
    "recipient_references",
    "recipient_runs",
    "recipient_texts",
    "stops",
    "wallets",
];

/// Statements that read all buckets, by their beginning, with the reason.
const ALL_BUCKETS: [(&str, &str); 2] = [
    (
        "select d.bucket, d.recipient, d.doubts, lower(m.sender) from deliveries d",
        "finds out in which bucket one of the few in doubt lives",
    ),
    (
        "select bucket, message_id, cancels, requested_at_ms from stops order by",
        "tells a node all stops, which are few",
    ),
];

/// Files whose statements read all buckets: `verify` reads everything by intent, and so does the
/// comparison of two databases after a move.
const ALL_BUCKETS_IN: [&str; 6] = [
    "verify.rs",
    "verify_changes.rs",
    "verify_inbound.rs",
    "verify_sub_accounts.rs",
    "verify_top_ups.rs",
    "compare.rs",
];

/// Returns the words of a statement, without punctuation.
fn words(text: &str) -> Vec<&str> {
    text.split(|character: char| !character.is_alphanumeric() && !"_.{}$".contains(character))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns the message tables of a statement, each once, with its alias.
fn tables(text: &str) -> Vec<(&str, &str)> {
    let words = words(text);
    let mut found: Vec<(&str, &str)> = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let is_table = place > 0
            && ["from", "join", "into", "update"].contains(&words[place - 1])
            && MESSAGE_TABLES.contains(word);
        if is_table {
            let alias = words.get(place + 1).filter(|next| next.len() == 1);
            let named = (*word, alias.copied().unwrap_or(word));
            if !found.contains(&named) {
                found.push(named);
            }
        }
    }
    found
}

/// Returns `true` if a statement names the bucket of a table's rows: an insert sets it; everything else
/// compares it, be it by its own name or by that of the table.
fn is_led(text: &str, table: &str, alias: &str) -> bool {
    if text.contains(&format!("insert into {table} (")) {
        return text.contains(&format!("insert into {table} (bucket,"));
    }
    let condition = text.split_once(" where ").map_or("", |(_, rest)| rest);
    let conditions = format!("{} {condition}", joins(text));
    [
        format!("{alias}.bucket = "),
        format!("{table}.bucket = "),
        " bucket = ".to_owned(),
        " +d.bucket = ".to_owned(),
        " +bucket = ".to_owned(),
        "bucket in (".to_owned(),
        "(bucket,".to_owned(),
    ]
    .iter()
    .any(|sign| format!(" {conditions}").contains(sign))
}

/// Returns the join conditions of a statement.
fn joins(text: &str) -> String {
    let joined = text.split(" on ").skip(1);
    joined
        .map(|rest| rest.split(" where ").next().unwrap_or(rest))
        .collect::<Vec<_>>()
        .join(" and ")
}

/// Returns the statements on message tables that must not read all buckets.
fn led_statements() -> Vec<Statement> {
    let mut all = all_statements();
    all.retain(|statement| {
        let excused = ALL_BUCKETS_IN.contains(&statement.place.as_str())
            || ALL_BUCKETS
                .iter()
                .any(|(start, _)| statement.text.starts_with(start));
        !excused && !tables(&statement.text).is_empty()
    });
    assert!(all.len() > 40, "only {} statements were found", all.len());
    all
}

#[test]
fn every_statement_on_a_message_table_names_its_bucket() {
    let faults: Vec<String> = led_statements()
        .iter()
        .flat_map(|statement| {
            let unled = tables(&statement.text)
                .into_iter()
                .filter(|(table, alias)| !is_led(&statement.text, table, alias));
            unled.map(|(table, _)| format!("{}: {table}: {}", statement.place, statement.text))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Citus locks rows only if a statement names the bucket of all of them. It runs the text for one
/// row.
#[test]
fn rows_are_locked_in_one_bucket() {
    let locks = |one: &&Statement| one.text.contains(" for update") && one.on == On::Postgres;
    let statements = led_statements();
    let locking = statements.iter().filter(locks);
    for one in locking.filter(|one| !one.text.contains("unnest(")) {
        assert!(one.text.contains("bucket = $1"), "{}", one.text);
    }
}

/// The result of a worker of a distributed database must not depend on the worker.
#[test]
fn no_conflict_clause_calls_a_function_that_may_change() {
    for statement in led_statements() {
        if statement.on == On::Sqlite {
            continue;
        }
        let Some((_, clause)) = statement.text.split_once(" on conflict ") else {
            continue;
        };
        let clause = clause.split(" returning ").next().unwrap_or(clause);
        let clause = clause.trim_start_matches("(bucket, fingerprint)");
        let clause = clause.trim_start_matches("(bucket, message_id)");
        let clause = clause.trim_start_matches("(bucket, carrier, prefix, submitted_hour_ms)");
        let clause = clause.trim_start_matches("(bucket, account_id, sandbox, key)");
        // These functions have the same result everywhere.
        let clause = clause.replace("length(", "").replace("position(", "");
        assert!(!clause.contains('('), "{}", statement.text);
    }
}

#[test]
fn the_statements_are_read_right() {
    let text = "select d.status from deliveries d join messages m on m.bucket = d.bucket where d.bucket = $1";
    assert_eq!(tables(text), [("deliveries", "d"), ("messages", "m")]);
    for (text, table, alias, led) in [
        (text, "deliveries", "d", true),
        (text, "messages", "m", true),
        (
            "select bucket from carrier_ids where carrier = $1",
            "carrier_ids",
            "carrier_ids",
            false,
        ),
        (
            "delete from carrier_ids where (bucket, carrier) in (values (1, 2))",
            "carrier_ids",
            "carrier_ids",
            true,
        ),
        (
            "insert into carrier_ids (carrier, bucket) values ($1, $2)",
            "carrier_ids",
            "carrier_ids",
            false,
        ),
        (
            "select a from carrier_ids p join v on v.bucket = 1 where p.carrier = $1",
            "carrier_ids",
            "p",
            false,
        ),
    ] {
        assert_eq!(is_led(text, table, alias), led, "{text}");
    }
}

const KEYS: &str = "select t.relname || ': ' || string_agg(a.attname, ', ' order by k.place)
     from pg_index i
     join pg_class t on t.oid = i.indrelid
     join pg_namespace n on n.oid = t.relnamespace
     cross join lateral unnest(i.indkey) with ordinality k (number, place)
     join pg_attribute a on a.attrelid = t.oid and a.attnum = k.number
     where n.nspname = current_schema() and (i.indisunique or i.indisprimary)
     group by t.relname, i.indexrelid order by 1";

const MADE_BY_THE_DATABASE: &str = "select table_name || '.' || column_name || ': '
         || coalesce(column_default, 'identity')
     from information_schema.columns
     where table_schema = current_schema() and table_name not like '\\_%'
         and (is_identity = 'YES' or is_generated <> 'NEVER' or column_default like '%(%')";

#[tokio::test]
async fn every_key_of_a_message_table_begins_with_its_bucket() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let keys = kit.texts(KEYS).await;
    let of_messages = |key: &&String| {
        let table = key.split(':').next().unwrap();
        MESSAGE_TABLES.contains(&table)
    };
    let keys: Vec<&String> = keys.iter().filter(of_messages).collect();
    assert!(keys.len() > MESSAGE_TABLES.len(), "{keys:?}");
    for key in keys {
        assert!(key.contains(": bucket, "), "{key}");
    }
    kit.finish().await;
}

#[tokio::test]
async fn no_value_of_a_column_is_made_by_the_database() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    assert_eq!(kit.texts(MADE_BY_THE_DATABASE).await, Vec::<String>::new());
    kit.finish().await;
}

#[test]
fn every_table_is_distributed_or_copied_once() {
    let text = store::citus_statements();
    for table in MESSAGE_TABLES {
        let placed = format!("select create_distributed_table('{table}', 'bucket',");
        assert_eq!(text.matches(&placed).count(), 1, "{table}");
    }
    let count = |word: &str| text.matches(word).count();
    let schema = include_str!("../../migrations/postgres/0001_initial.sql");
    assert_eq!(count("create_distributed_table("), MESSAGE_TABLES.len());
    assert_eq!(count("_table('"), schema.matches("\ncreate table ").count());
}

/// Citus cuts the range of PostgreSQL's hash of a bucket into shards of equal width.
#[tokio::test]
async fn no_two_buckets_share_a_shard_of_citus() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let text = store::citus_statements();
    let (_, count) = text.split_once("shard_count => ").unwrap();
    let count: i64 = count.split(')').next().unwrap().parse().unwrap();
    let sql = "select cast(hashint8(bucket) as bigint) from generate_series(0, 15) bucket";
    assert_eq!(kit.store.buckets().count(), 16);
    let hashes = kit.numbers(sql).await;
    let shard = |hash: &i64| ((hash - i64::from(i32::MIN)) / ((1 << 32) / count)).min(count - 1);
    let shards: HashSet<i64> = hashes.iter().map(shard).collect();
    assert_eq!(shards.len(), 16);
    kit.finish().await;
}
