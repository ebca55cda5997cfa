//! Rate windows that nodes share.

use database::{Bulk, Change, Db, Error, Result, Sql, Tx, bulk, locking, query, value};
use domain::Environment;
use domain::rate::{RateKey, Reservation, Reserved, Window};
use std::collections::HashMap;

/// Time for which a window is kept after its latest count: long enough to be empty by the clock of
/// every node.
const KEPT_MS: i64 = 120_000;

/// Windows removed in one transaction at most.
const MAX_TIDIED: i64 = 2_000;

struct Reserve {
    asked: Vec<(RateKey, Reservation)>,
}

impl Change for Reserve {
    type Output = Vec<Reserved>;

    const DURABLE: bool = false;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<Reserved>> {
        let mut found = lock(tx, &self.asked).await?;
        let (mut new, mut known) = (Vec::new(), Vec::new());
        let mut answers = Vec::with_capacity(self.asked.len());
        for (key, asked) in &self.asked {
            let row = row(key);
            let before = found.remove(&row);
            let rows = if before.is_some() {
                &mut known
            } else {
                &mut new
            };
            let mut window = before.unwrap_or_else(|| Window::new(asked.now_ms));
            let reserved = window.reserve(asked);
            if reserved.granted > 0 || asked.unused > 0 || asked.uncounted > 0 {
                rows.push((row, window.pack()));
            }
            answers.push(reserved);
        }
        // If another node inserts a window first, this change is run again and finds it.
        let insert = bulk(
            "insert into rates (account_id, sandbox, kind, newest_ms, counts)
             values ($1, $2, $3, $4, $5)",
            "insert into rates (account_id, sandbox, kind, newest_ms, counts)
             select * from unnest($1::bigint[], $2::boolean[], $3::text[], $4::bigint[],
                 $5::bytea[])",
        );
        write(tx, insert, &new).await?;
        let update = bulk(
            "insert into rates (account_id, sandbox, kind, newest_ms, counts)
             values ($1, $2, $3, $4, $5)
             on conflict (account_id, sandbox, kind)
             do update set newest_ms = excluded.newest_ms, counts = excluded.counts",
            "insert into rates (account_id, sandbox, kind, newest_ms, counts)
             select * from unnest($1::bigint[], $2::boolean[], $3::text[], $4::bigint[],
                 $5::bytea[])
             on conflict (account_id, sandbox, kind)
             do update set newest_ms = excluded.newest_ms, counts = excluded.counts",
        );
        write(tx, update, &known).await?;
        Ok(answers)
    }
}

/// The key of a window, as columns.
type Row = (i64, bool, String);

fn row(key: &RateKey) -> Row {
    let sandbox = key.environment == Environment::Sandbox;
    let kind = key.kind.as_str();
    let kind = match key.token {
        None => kind.to_owned(),
        Some(token) => format!("{kind}:{token:016x}"),
    };
    (key.account.0, sandbox, kind)
}

/// Reads windows, and locks them until the commit.
async fn lock(tx: &mut Tx, asked: &[(RateKey, Reservation)]) -> Result<HashMap<Row, Window>> {
    let one = locking!(
        "select account_id, sandbox, kind, newest_ms, counts from rates
         where account_id = $1 and sandbox = $2 and kind = $3";
        "for update"
    );
    let many = "select account_id, sandbox, kind, newest_ms, counts from rates
         where (account_id, sandbox, kind) in (
             select * from unnest($1::bigint[], $2::boolean[], $3::text[]))
         order by account_id, sandbox, kind for update";
    let read = bulk(one, many).rows(asked, |one| {
        let (account, sandbox, kind) = row(&one.0);
        [value(account), value(sandbox), value(kind)]
    });
    let found: Vec<(i64, bool, String, i64, Vec<u8>)> = tx.fetch_each(read).await?;
    found
        .into_iter()
        .map(|(account, sandbox, kind, newest_ms, counts)| {
            let unreadable =
                || Error::Unreadable(format!("a rate window of {} bytes", counts.len()));
            let window = Window::unpack(newest_ms, &counts).ok_or_else(unreadable)?;
            Ok(((account, sandbox, kind), window))
        })
        .collect()
}

/// Writes windows by a statement that inserts or updates them.
async fn write<'q>(
    tx: &mut Tx,
    statement: Bulk<'q>,
    windows: &'q [(Row, (i64, Vec<u8>))],
) -> Result<()> {
    let statement = statement.rows(windows, |window| {
        let ((account, sandbox, kind), (newest_ms, counts)) = window;
        [
            value(*account),
            value(*sandbox),
            value(kind),
            value(*newest_ms),
            value(counts),
        ]
    });
    tx.execute_each(statement).await?;
    Ok(())
}

struct TidyRates {
    now_ms: i64,
}

impl Change for TidyRates {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let sql = Sql {
            sqlite: "delete from rates where (account_id, sandbox, kind) in (
                 select account_id, sandbox, kind from rates where newest_ms < $1 limit $2)",
            postgres: "delete from rates where (account_id, sandbox, kind) in (
                 select account_id, sandbox, kind from rates where newest_ms < $1 limit $2
                 for update of rates skip locked)",
        };
        let gone = query(sql).bind(self.now_ms - KEPT_MS).bind(MAX_TIDIED);
        let gone = tx.execute(gone).await?;
        Ok(gone >= MAX_TIDIED.unsigned_abs())
    }
}

/// The counts of rate limits that all nodes share.
#[derive(Clone, Copy)]
pub struct Rates<'s> {
    pub(crate) db: &'s Db,
}

impl Rates<'_> {
    /// Reserves permits from rate windows that nodes share, each with its own key, and returns
    /// unused ones. The answers are in the order of the requests. A crash of the database may lose
    /// the reservations of its last second.
    pub async fn reserve(self, asked: Vec<(RateKey, Reservation)>) -> Result<Vec<Reserved>> {
        self.db.change(Reserve { asked }).await
    }

    /// Removes windows without a count for more than a minute, in small steps. Returns `true` if
    /// more remain.
    pub async fn tidy(self, now_ms: i64) -> Result<bool> {
        self.db.change(TidyRates { now_ms }).await
    }
}
