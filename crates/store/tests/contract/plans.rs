//! No statement reads the whole of a growing table on SQLite. On PostgreSQL, no statement with
//! recipients of a message reads all of its rows.
//!
//! The texts are read from the sources, so a new statement is checked without being named here.

use super::sources::crate_files;
use database::TestConnection;
use std::fmt::Write as _;
use storekit::{Kit, sending};

/// Statements that may read much, by their beginning. No caller waits for them, and each has a
/// reason.
const MAY_READ_MUCH: [(&str, &str); 37] = [
    (
        "select a.alert_id, a.account_id, a.threshold, a.url, a.email, a.below, a.created_at_ms, a.told_at_ms, w.promo_bonus",
        "the alerts of all accounts, each with its wallet by key",
    ),
    (
        "select carrier, sender, number, reference, total from inbound_pages group by",
        "the pages that wait for others, which go after minutes",
    ),
    (
        "select account_id, queued from holds order by account_id",
        "the accounts that may not send are few, and a node follows them all",
    ),
    (
        "select cast(extract(epoch from clock_timestamp())",
        "no table at all, and PostgreSQL alone",
    ),
    (
        "insert into recent_sends (bucket, fingerprint",
        "PostgreSQL alone, by the key that it has there",
    ),
    (
        "delete from recent_sends where bucket = $1 and fingerprint = $2",
        "PostgreSQL alone, by the key that it has there",
    ),
    (
        "select fingerprint, expires_at_ms from recent_sends",
        "SQLite alone, once, at the first send of a process",
    ),
    (
        "update recent_sends set",
        "the open windows, all of which go with a clock that is set",
    ),
    (
        "select bucket, carrier, carrier_id, received_at_ms, number, recipient, sender, state, error, other_id, raw from parked_receipts where bucket = $1",
        "PostgreSQL alone, some at a time",
    ),
    (
        "select phrase, added_at_ms",
        "the content rules, loaded when they change",
    ),
    (
        "select carrier, mode, max_per_second, changed_at_ms, changed_by from carrier_controls",
        "the carriers under control, loaded when they change",
    ),
    (
        "delete from paused_blocks where until_ms",
        "the paused blocks, of which there are few",
    ),
    (
        "select account_id, block, paused_at_ms, until_ms from paused_blocks where until_ms > $1 order",
        "the paused blocks, of which there are few",
    ),
    (
        "select account_id, secret, created_at_ms, ends_at_ms from callback_secrets order",
        "the secrets that sign callbacks, loaded when they change",
    ),
    (
        "select after from audit",
        "back to the last entry about the configuration, at the start of a process",
    ),
    (
        "select number from audit",
        "asked only where a commit was not answered",
    ),
    (
        "delete from smpp_binds",
        "the SMPP users that are bound, of which there are few",
    ),
    (
        "select system_id, cast(sum(connections)",
        "the SMPP users that are bound, for an operator",
    ),
    ("select node,", "the nodes, of which there are few"),
    ("delete from nodes", "the nodes, of which there are few"),
    (
        "select b.system_id, cast(sum(b.connections) as bigint) from smpp_users",
        "the nodes, of which there are few, and their binds by key",
    ),
    (
        "select carrier, slot,",
        "the connections, of which there are few",
    ),
    (
        "update binds set node = 0",
        "the connections, of which there are few",
    ),
    (
        "select cast(coalesce(-sum(amount), 0) as bigint) from ledger",
        "what was charged today, for an operator who sets a limit after a clock was ahead",
    ),
    (
        "select carrier, cast(sum(length",
        "the queue as a whole, for the metrics",
    ),
    (
        "select state, count(*) from outbox",
        "all callbacks, for the metrics",
    ),
    (
        "select destination, count(*) from outbox",
        "all that waits for SMPP users, for the metrics",
    ),
    (
        "select b.*, m.account_id, m.sandbox, m.gateway, m.sender, m.body, m.raw_page, m.otp_id, p.kind as otp_kind, p.length as otp_length, m.due_at_ms as message_due_at_ms, not m.sandbox and exists (select 1 from holds h where h.account_id = m.account_id) as is_held, m.paused_at_ms is not null as is_paused from batches b join messages m on m.bucket = b.bucket and m.message_id = b.message_id left join otps p on p.bucket = m.bucket and p.otp_id = m.otp_id where b.bucket = $1 and b.claimed_by <= 0 and b.expires_at_ms",
        "the sweep of what waits too long",
    ),
    (
        "select b.*, m.account_id, m.sandbox, m.gateway, m.sender, m.body, m.raw_page, m.otp_id, p.kind as otp_kind, p.length as otp_length, m.due_at_ms as message_due_at_ms, not m.sandbox and exists (select 1 from holds h where h.account_id = m.account_id) as is_held, m.paused_at_ms is not null as is_paused from batches b join messages m on m.bucket = b.bucket and m.message_id = b.message_id left join otps p on p.bucket = m.bucket and p.otp_id = m.otp_id where b.bucket = $1 and b.message_id = $2",
        "the batches of one message among the waiting ones, for a cancel or a pause",
    ),
    (
        "select bucket, message_id, cancels, requested_at_ms from stops order",
        "the messages that are stopped just now, of which there are few",
    ),
    (
        "update outbox set state = $1, claimed_by = 0",
        "of those in hand only, and seldom",
    ),
    (
        "delete from rates",
        "it holds the accounts of the last minutes only",
    ),
    (
        "select r.from_ms, r.until_ms, r.unit_ms, p.postings from recipient_runs",
        "a row of each run of the index of recipients, which merges keep few",
    ),
    (
        "select run_id, from_ms, until_ms, unit_ms, recipients from recipient_runs",
        "the runs of the index of recipients, which merges keep few",
    ),
    (
        "select run_id from recipient_runs",
        "the runs of the index of recipients, which merges keep few",
    ),
    (
        "select cast(coalesce(sum(numbers), 0) as bigint) from dnd_blocks",
        "the count of a command, over blocks of thousands of numbers",
    ),
    (
        "select distinct message_id from batches",
        "beside the writer, and few batches wait",
    ),
];

/// Files whose statements read everything by intent, or run on PostgreSQL alone.
const MAY_READ_ALL: [&str; 13] = [
    "verify.rs",
    "verify_changes.rs",
    "verify_inbound.rs",
    "verify_sub_accounts.rs",
    "verify_top_ups.rs",
    "lib.rs",
    "chunk.rs",
    "compare.rs",
    "marks.rs",
    "table.rs",
    "tables.rs",
    "hints.rs",
    "maintenance.rs",
];

/// The database of a text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum On {
    Both,
    Sqlite,
    /// Texts over arrays are included, which Citus does not run.
    Postgres,
}

/// A statement, with its file.
pub(crate) struct Statement {
    pub(crate) place: String,
    pub(crate) text: String,
    pub(crate) on: On,
}

/// Every statement of the store.
pub(crate) fn all_statements() -> Vec<Statement> {
    let mut files = crate_files("src");
    files.extend(crate_files("../import/src"));
    let of_file = |path: &std::path::PathBuf| {
        let place = path.file_name().unwrap().to_str().unwrap();
        statements(place, &std::fs::read_to_string(path).unwrap())
    };
    files.iter().flat_map(of_file).collect()
}

/// The select of batches, whose conditions are added by its callers.
const BATCHES: &str =
    "select b.*, m.account_id, m.sandbox, m.gateway, m.sender, m.body, m.raw_page, m.otp_id,
         p.kind as otp_kind, p.length as otp_length, m.due_at_ms as message_due_at_ms,
         not m.sandbox and exists (select 1 from holds h
             where h.account_id = m.account_id) as is_held,
         m.paused_at_ms is not null as is_paused
     from batches b
     join messages m on m.bucket = b.bucket and m.message_id = b.message_id
     left join otps p on p.bucket = m.bucket and p.otp_id = m.otp_id ";

/// Returns the string literals of a source that are SQL, without the tests.
fn statements(place: &str, source: &str) -> Vec<Statement> {
    let source = source.split("#[cfg(test)]").next().unwrap();
    let mut found = Vec::new();
    let mut rest: String = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |text, line| text + line + "\n");
    while let Some(start) = rest.find('"') {
        let before = rest[..start].trim_end().to_owned();
        let tail = rest[start + 1..].to_owned();
        let mut end = 0;
        let bytes = tail.as_bytes();
        while bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let of_batches = before.ends_with("select_batches!(");
        let text = if of_batches { BATCHES } else { "" }.to_owned() + &tail[..end];
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ");
        let is_statement = ["select ", "insert ", "update ", "delete ", "with "]
            .iter()
            .any(|verb| text.starts_with(verb));
        // The text before keys, or before conditions, is a part of a statement.
        let is_part = text.ends_with(" where") || text.ends_with("p.otp_id = m.otp_id");
        if is_statement && !is_part {
            let on = if before.ends_with("sqlite:") {
                On::Sqlite
            } else if before.ends_with("postgres:") || text.contains("unnest(") {
                On::Postgres
            } else {
                On::Both
            };
            let place = place.to_owned();
            found.push(Statement { place, text, on });
        }
        rest = tail[end + 1..].to_owned();
    }
    found
}

/// Returns a text with the parts that the sources fill in.
fn complete(text: &str) -> String {
    text.replace("{server}", "0")
        .replace("{RELOADS}", "reloads")
}

/// Returns the fault of a line of a plan.
fn fault(line: &str) -> Option<&'static str> {
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        // Tables that the statement makes itself, such as the results of its own parts.
        (Some("SCAN"), Some("v" | "CONSTANT")) => None,
        (Some("SCAN"), Some(name)) if name.ends_with("-ROW") || name.parse::<u32>().is_ok() => None,
        (Some("SCAN"), _) => Some("reads the whole table"),
        // One bucket is the whole table on SQLite.
        (Some("SEARCH"), _) if line.ends_with("(bucket=?)") => Some("reads a whole bucket"),
        (Some("SEARCH"), Some("p" | "carrier_ids" | "b" | "batches" | "d" | "deliveries"))
            if line.ends_with("(bucket=? AND carrier=?)") =>
        {
            Some("reads all of a carrier")
        }
        (Some("SEARCH"), _) if line.ends_with("(bucket=? AND received_at_ms>?)") => {
            Some("reads hours of it")
        }
        (Some("SEARCH"), _)
            if line.ends_with("(bucket=? AND message_id>?)")
                || line.ends_with("(bucket=? AND subject>?)") =>
        {
            Some("reads days of it")
        }
        (Some("SEARCH"), _) if line.contains("AUTOMATIC") => Some("makes an index of its own"),
        _ => None,
    }
}

/// Returns SQLite's plan of a statement.
async fn plan(shell: &mut TestConnection, sql: &str, place: &str) -> Vec<String> {
    let lines = shell.column(&format!("explain query plan {sql}")).await;
    lines.unwrap_or_else(|error| panic!("{place}: {sql}: {error}"))
}

#[tokio::test]
async fn no_statement_reads_the_whole_of_a_table_that_grows() {
    let kit = Kit::sqlite().await;
    let mut shell = kit.test_connection().await;
    let (mut faults, mut count) = (String::new(), 0);
    for Statement { place, text, on } in all_statements() {
        let exempt = MAY_READ_ALL.contains(&place.as_str())
            || MAY_READ_MUCH
                .iter()
                .any(|(start, _)| text.starts_with(start));
        if exempt || on == On::Postgres {
            continue;
        }
        count += 1;
        for line in plan(&mut shell, &complete(&text), &place).await {
            if let Some(fault) = fault(&line) {
                writeln!(faults, "{place}: {fault}: {line}\n    {text}").unwrap();
            }
        }
    }
    assert!(count > 40, "only {count} statements were found");
    assert!(faults.is_empty(), "{faults}");
    kit.finish().await;
}

/// The statements that read a page of a list, by their beginning.
const PAGES: [&str; 14] = [
    "select * from accounts where account_id <",
    "select token_id, account_id, name, created_at_ms, revoked_at_ms, expires_at_ms, allowed, scopes, per_minute from tokens",
    "select * from smpp_users where account_id >=",
    "select * from sender_ids where account_id >=",
    "select a.*, s.parent_id, s.prices, w.limit_per_day",
    "select sandbox, destination, count(*), min(due_at_ms) from outbox",
    "select account_id, secret, created_at_ms, ends_at_ms from callback_secrets where account_id >=",
    "select account_id, block, paused_at_ms, until_ms from paused_blocks where until_ms > $1 and",
    "select * from audit where number <",
    "select * from ledger where bucket = $1 and +account_id = $2 and (subject, account_id",
    "select * from ledger where bucket = $1 and account_id = $2 and (subject, kind",
    "select message_id, recipient, attempt, made_at_ms, result",
    "select account_id, sandbox, destination, count(*), min(due_at_ms) from outbox",
    "select o.bucket, o.account_id, o.sandbox, o.destination, o.due_at_ms, o.kind, o.subject, o.recipient, o.payload, \
     o.attempts, m.callback_url, coalesce(r.customer_reference, m.customer_reference) as customer_reference, \
     case when o.kind = 'receipt' then m.sender end as sender, \
     case when o.kind = 'receipt' then substr(m.body, 1, 20) end as quoted \
     from outbox o left join messages m on m.bucket = o.bucket and m.message_id = o.subject left join inbound_messages i on \
     i.inbound_id = o.subject left join recipient_references r on r.bucket = o.bucket and r.message_id = o.subject and \
     r.recipient = o.recipient where o.bucket = $1 and o.state = 'dead'",
];

/// A page costs its rows, at any place of the list: the index has the order of the list.
#[tokio::test]
async fn a_page_of_a_list_is_read_in_the_order_of_an_index() {
    let kit = Kit::sqlite().await;
    let mut shell = kit.test_connection().await;
    let statements = all_statements();
    for start in PAGES {
        let is_it = |one: &&Statement| one.text.starts_with(start);
        let Statement { place, text, on } = statements.iter().find(is_it).expect(start);
        if *on == On::Postgres {
            continue;
        }
        let lines = plan(&mut shell, text, place).await.join("\n");
        assert!(
            lines.contains("(?,?") || lines.contains("<?)"),
            "{text}\n{lines}"
        );
        assert!(!lines.contains("TEMP B-TREE"), "{text}\n{lines}");
    }
    kit.finish().await;
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    if !explains_generic_plans(&kit).await {
        return kit.finish().await;
    }
    for start in PAGES {
        let is_it = |one: &&Statement| one.text.starts_with(start);
        let Statement { text, on, .. } = statements.iter().find(is_it).expect(start);
        if *on == On::Sqlite {
            continue;
        }
        let lines = kit.texts(&format!("explain (generic_plan) {text}")).await;
        let lines = lines.join("\n");
        assert!(lines.contains("Index Cond:"), "{text}\n{lines}");
        assert!(!lines.contains("Sort"), "{text}\n{lines}");
    }
    kit.finish().await;
}

/// Once most messages are short, the planner takes every message for short, and may read all its
/// rows for each of its recipients.
#[tokio::test]
async fn recipients_are_found_by_whole_keys_among_short_messages() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let base = sending(kit.account(100).await);
    kit.submit(&base.message(&kit.store)).await;
    let others = "insert into deliveries (recipient, charge, submitted_at_s, bucket, leg, pages, status, message_id, carrier)
         select recipient, charge, submitted_at_s, bucket, leg, pages, status, decode(md5(cast(n as text)), 'hex'), carrier
         from deliveries cross join generate_series(1, 5000) n";
    kit.plant(others).await;
    kit.plant("analyze deliveries").await;

    // The planner cannot know these values either if plans are kept.
    let bucket = "(select max(bucket) from deliveries)";
    let recipients = "cast('{2348030000001, 2348030000002}' as bigint[])";
    let messages = r"cast(array['\x00', '\x00'] as bytea[])";
    let statements = all_statements();
    for (place, start, values) in [
        (
            "reports.rs",
            "with v (recipient) as (select",
            [recipients, bucket, r"'\x00'", ""],
        ),
        (
            "delivery_rows.rs",
            "update deliveries set leg",
            ["cast('{0, 1}' as bigint[])", messages, recipients, "2"],
        ),
    ] {
        let is_it = |one: &&Statement| {
            one.place == place && one.text.starts_with(start) && one.on == On::Postgres
        };
        let mut text = statements.iter().find(is_it).expect(start).text.clone();
        for (number, value) in (1..).zip(values) {
            text = text.replace(&format!("${number}"), value);
        }
        let plan = kit.texts(&format!("explain {text}")).await.join("\n");
        let by_key = plan.lines().any(|line| {
            let columns = ["bucket =", "message_id =", "recipient ="];
            line.contains("Index Cond:") && columns.iter().all(|column| line.contains(column))
        });
        assert!(by_key, "{text}\n{plan}");
    }
    kit.finish().await;
}

/// Returns `true` if the server explains a statement without values, as PostgreSQL 16 and later do.
async fn explains_generic_plans(kit: &Kit) -> bool {
    let version = "select cast(current_setting('server_version_num') as bigint)";
    kit.numbers(version).await[0] >= 160_000
}

/// A text of the sources can be pasted into EXPLAIN.
#[tokio::test]
async fn postgres_explains_every_statement_as_it_stands() {
    testkit::needs!(Postgres);
    let kit = Kit::postgres().await;
    let explains = explains_generic_plans(&kit).await;
    let (mut faults, mut count) = (String::new(), 0);
    for Statement { place, text, on } in all_statements() {
        let is_whole = !text.contains('{') && place != "maintenance.rs";
        if on == On::Sqlite || !is_whole || !explains || text.contains("sqlite_master") {
            continue;
        }
        count += 1;
        if let Err(error) = kit.run(&format!("explain (generic_plan) {text}")).await {
            writeln!(faults, "{place}: {error}\n    {text}").unwrap();
        }
    }
    assert!(count > 100 || !explains, "only {count} statements");
    assert!(faults.is_empty(), "{faults}");
    kit.finish().await;
}

/// A page has the same cost at any place, so nothing is sorted and no other account is read.
#[tokio::test]
async fn messages_are_listed_along_their_indexes() {
    let kit = Kit::sqlite().await;
    let mut shell = kit.test_connection().await;
    let statements = all_statements();
    for (file, part, index) in [
        (
            "account_list.rs",
            "> 0 order by message_id desc limit $6",
            "USING PRIMARY KEY (bucket=? AND message_id>? AND message_id<?)",
        ),
        (
            "message_times.rs",
            "order by from_ms desc limit $7",
            "sender_key=? AND from_ms>? AND from_ms<?)",
        ),
        (
            "account_list.rs",
            "and customer_reference = $7",
            "messages_by_reference",
        ),
    ] {
        let is_it = |one: &&Statement| one.place == file && one.text.contains(part);
        let found = statements.iter().find(is_it).expect(part);
        let lines = plan(&mut shell, &found.text, &found.place).await;
        let is_used = lines.iter().any(|line| line.contains(index));
        let is_sorted = lines.iter().any(|line| line.contains("TEMP B-TREE"));
        assert!(is_used && !is_sorted, "{lines:?}");
    }
    kit.finish().await;
}
