//! Large databases without hours of sending: millions of settled messages, and thousands of
//! accounts. The service makes a few of them. SQL copies all columns of their rows under other ids.
//! `ogene verify` must find no fault in the copies.

use crate::database::Database;
use crate::machine::unix_time;
use crate::site::{SENDER_ID, Site};
use anyhow::{Context, Result};
use domain::token;
use std::fmt::Write;

/// Copies that one statement makes.
const CHUNK: u64 = 100;
/// The copies are as old as if they had been sent evenly over this time, or 65 s apart.
const AGE_MS: u64 = 30 * 86_400_000;
/// An id of a message begins with its time in units of this, and two octets of milliseconds that a copy keeps.
const STAMP_MS: u64 = 65_536;
const COMPONENTS: [&str; 6] = [
    "promo_bonus",
    "volume_bonus",
    "sms_bonus",
    "sms_wallet",
    "main_balance",
    "universal_wallet",
];
/// Buckets of PostgreSQL's tables.
const BUCKETS: u64 = 16;

/// Copies each message of the database, with all its rows, so many times. The service is stopped.
pub(crate) fn make_messages(site: &Site, copies: u64) -> Result<()> {
    let database = &site.database;
    let mut script = prologue(database).to_owned();
    script += "create temp table copies (k bigint primary key, stamp BYTES, tag text, at_ms bigint, back_ms bigint);\n";
    script += &all_copies(database, copies)?;
    script += "commit;\n";
    for component in COMPONENTS {
        writeln!(
            script,
            "update wallets set {component} = {component} + {copies} * coalesce((select sum(l.amount) from ledger l
             where l.account_id = wallets.account_id and l.kind <> 'credit' and l.component = '{component}'), 0);"
        )?;
    }
    let mut inserts = Vec::new();
    for (table, columns) in database.columns()? {
        // Pages have no column of their message, only their place.
        let is_of_messages = |name: &String| match name.as_str() {
            "message_id" | "pages" => true,
            "subject" => table == "ledger",
            _ => false,
        };
        if !columns.iter().any(is_of_messages) {
            continue;
        }
        let which = if table == "ledger" {
            " where kind <> 'credit'"
        } else {
            ""
        };
        writeln!(
            script,
            "create temp table original_{table} as select * from {table}{which};"
        )?;
        let values: Vec<_> = columns
            .iter()
            .map(|column| copied(database, &table, column))
            .collect();
        inserts.push(format!(
            "insert into {table} ({}) select {} from copies c cross join original_{table} t where c.k",
            columns.join(", "),
            values.join(", ")
        ));
    }
    let times = copied_times(database);
    for first in (0..copies).step_by(usize::try_from(CHUNK)?) {
        for insert in inserts.iter().chain([&times]) {
            let last = first + CHUNK - 1;
            writeln!(
                script,
                "{insert} between {first} and {last} order by c.k on conflict do nothing;"
            )?;
        }
    }
    // Some of the copies belong to the day whose charges the wallet counts. Days are Lagos days,
    // which begin an hour before those of UTC.
    script += "update wallets set spent_today = coalesce((select -sum(l.amount) from ledger l
        where l.bucket = wallets.bucket and l.account_id = wallets.account_id and l.kind = 'charge'
        and l.created_at_ms >= spent_day * 86400000 - 3600000
        and l.created_at_ms < spent_day * 86400000 + 82800000), 0);\n";
    script += epilogue(database);
    database.run(&typed(database, &script))?;
    Ok(())
}

/// Returns the time between two copies of a message.
pub(crate) fn step_ms(copies: u64) -> u64 {
    (AGE_MS / copies.max(1) / STAMP_MS).max(1) * STAMP_MS
}

/// Returns the statements that make the rows of `copies`, one for each time.
fn all_copies(database: &Database, copies: u64) -> Result<String> {
    let mut script = String::new();
    let now_ms = u64::try_from(unix_time().as_millis())?;
    let step_ms = step_ms(copies);
    for k in 0..copies {
        let back_ms = step_ms * (copies - k);
        let at_ms = (now_ms - back_ms) / STAMP_MS * STAMP_MS;
        // The id of a message begins with its time. The id of a carrier has ten digits, and the
        // simulator's begin with 1.
        let stamp = database.octets(&at_ms.to_be_bytes()[2..6]);
        writeln!(
            script,
            "insert into copies values ({k}, {stamp}, '2{k:05}', {at_ms}, {back_ms});"
        )?;
    }
    Ok(script)
}

/// Returns the expression for a column of the copy.
fn copied(database: &Database, table: &str, column: &str) -> String {
    match column {
        "message_id" | "subject" => match database {
            Database::Sqlite(_) => format!("cast(c.stamp || substr(t.{column}, 5) as blob)"),
            Database::Postgres(_) => format!("c.stamp || substr(t.{column}, 5)"),
        },
        // No receipt arrives for them, so only their distribution matters.
        "bucket" if table == "carrier_ids" && !database.is_sqlite() => {
            format!("(t.bucket + c.k) % {BUCKETS}")
        }
        "prefix" => "c.tag || substr(t.prefix, 7)".to_owned(),
        time if time.ends_with("_at_ms") => format!("t.{time} - c.back_ms"),
        time if time.ends_with("_at_s") => format!("t.{time} - c.back_ms / 1000"),
        other => format!("t.{other}"),
    }
}

/// Returns the statement that makes the rows by which lists find the copies (decision 0043): one
/// for each 8 ms in which the account sent, and one for each minute of the sender.
fn copied_times(database: &Database) -> String {
    let low = low_octets(database);
    let at_ms = format!("(c.at_ms + {low})");
    format!(
        "insert into message_times (bucket, account_id, sandbox, sender_key, from_ms)
         select t.bucket, t.account_id, t.sandbox, s.sender_key, {at_ms} - {at_ms} % s.span_ms
         from copies c cross join original_messages t
         cross join (select '' as sender_key, 8 as span_ms
             union all select lower('{SENDER_ID}'), 60000) s
         where c.k"
    )
}

/// Returns the expression for the two octets of a message's time that a copy keeps, as a number.
fn low_octets(database: &Database) -> String {
    if !database.is_sqlite() {
        return "(get_byte(t.message_id, 4) * 256 + get_byte(t.message_id, 5))".to_owned();
    }
    let digits: Vec<_> = [4_096, 256, 16, 1]
        .iter()
        .zip(1..)
        .map(|(weight, place)| {
            let digit = format!("substr(hex(substr(t.message_id, 5, 2)), {place}, 1)");
            format!("(instr('0123456789ABCDEF', {digit}) - 1) * {weight}")
        })
        .collect();
    format!("({})", digits.join(" + "))
}

/// Makes accounts like the customer until there are so many, each with a token of its own. The
/// service is stopped.
pub(crate) fn make_accounts(site: &mut Site, accounts: u64) -> Result<()> {
    let database = &site.database;
    let original: u64 = site.account.parse().context("an account is a number")?;
    let mut script = prologue(database).to_owned();
    script += "create temp table copies (k bigint primary key, hash BYTES);\n";
    let mut tokens = Vec::new();
    for k in 1..accounts {
        let token = token(k)?;
        let hash = database.octets(&token::hash(&token));
        writeln!(script, "insert into copies values ({k}, {hash});")?;
        tokens.push(token);
    }
    script += "commit;\n";
    for (table, columns) in database.columns()? {
        // The audit is numbered without a gap, so it is not copied.
        if table == "audit" || !columns.iter().any(|name| name == "account_id") {
            continue;
        }
        let values: Vec<_> = columns
            .iter()
            .map(|column| match column.as_str() {
                "account_id" => "t.account_id + c.k".to_owned(),
                "token_id" => "t.token_id || '-' || c.k".to_owned(),
                "email" => "c.k || t.email".to_owned(),
                "hash" => "c.hash".to_owned(),
                "bucket" if !database.is_sqlite() => {
                    format!("(t.account_id + c.k) % {BUCKETS}")
                }
                other => format!("t.{other}"),
            })
            .collect();
        writeln!(
            script,
            "insert into {table} ({}) select {} from copies c cross join {table} t where t.account_id = {original};",
            columns.join(", "),
            values.join(", ")
        )?;
    }
    script += epilogue(database);
    database.run(&typed(database, &script))?;
    site.tokens.extend(tokens);
    Ok(())
}

/// Returns a token in the form of the service, but easy to guess.
fn token(k: u64) -> Result<String> {
    let mut chance = [0; token::RANDOM_BYTES];
    let mut rest = k;
    for place in &mut chance {
        *place = u8::try_from(rest % 62)?;
        rest /= 62;
    }
    token::make(&chance).context("a token")
}

/// Returns the settings that speed up the copy, which need not be durable before its end.
fn prologue(database: &Database) -> &'static str {
    match database {
        Database::Sqlite(_) => {
            "pragma synchronous = off; pragma cache_size = -400000; pragma temp_store = memory; begin;\n"
        }
        Database::Postgres(_) => "set synchronous_commit = off; begin;\n",
    }
}

/// Makes the database like one that has grown over weeks: vacuumed, analysed and on the disk.
fn epilogue(database: &Database) -> &'static str {
    match database {
        Database::Sqlite(_) => "pragma wal_checkpoint(truncate);\n",
        Database::Postgres(_) => "vacuum analyze; checkpoint;\n",
    }
}

/// Names the type of octets as the database does.
fn typed(database: &Database, script: &str) -> String {
    let name = if database.is_sqlite() {
        "blob"
    } else {
        "bytea"
    };
    script.replacen("BYTES", name, 1)
}
