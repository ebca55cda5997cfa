//! The failed sign-ins of users and addresses, on all nodes.

use database::{Change, Db, Result, Tx, locking, query};
use domain::user::slowing::{Attempt, Failures};

fn failures((count, last_at_ms): (i64, i64)) -> Failures {
    Failures {
        count: u32::try_from(count).unwrap_or(u32::MAX),
        last_at_ms,
    }
}

struct CountAttempt {
    attempt: Attempt,
    now_ms: i64,
}

impl Change for CountAttempt {
    /// The time to wait, or 0 if the attempt was counted.
    type Output = i64;

    async fn apply(&self, tx: &mut Tx) -> Result<i64> {
        let (mut counted, mut longest_ms) = (Vec::new(), 0);
        for (subject, key) in self.attempt.keys() {
            let insert = query(
                "insert into sign_in_failures (subject, failures, last_at_ms) values ($1, 0, $2)
                 on conflict (subject) do nothing",
            );
            tx.execute(insert.bind(key).bind(self.now_ms)).await?;
            let sql = locking!(
                "select failures, last_at_ms from sign_in_failures where subject = $1";
                "for update"
            );
            let before = failures(tx.fetch_one(query(sql).bind(key)).await?);
            match before.attempt(subject, self.now_ms) {
                Ok(after) => counted.push((key, after)),
                Err(wait_ms) => longest_ms = wait_ms.max(longest_ms),
            }
        }
        if longest_ms > 0 {
            return Ok(longest_ms);
        }
        for (key, after) in counted {
            write(tx, key, after).await?;
        }
        Ok(0)
    }
}

struct ForgetAttempt {
    attempt: Attempt,
}

impl Change for ForgetAttempt {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        for (subject, key) in self.attempt.keys() {
            let sql = locking!(
                "select failures, last_at_ms from sign_in_failures where subject = $1";
                "for update"
            );
            let before: Option<(i64, i64)> = tx.fetch_optional(query(sql).bind(key)).await?;
            if let Some(before) = before {
                write(tx, key, failures(before).succeeded(subject)).await?;
            }
        }
        Ok(())
    }
}

async fn write(tx: &mut Tx, key: &str, failures: Failures) -> Result<()> {
    let update =
        query("update sign_in_failures set failures = $2, last_at_ms = $3 where subject = $1");
    let update = update.bind(key).bind(i64::from(failures.count));
    tx.execute(update.bind(failures.last_at_ms)).await?;
    Ok(())
}

/// The failed sign-ins.
#[derive(Clone, Copy)]
pub struct SignInFailures<'s> {
    pub(crate) db: &'s Db,
}

impl SignInFailures<'_> {
    /// Counts an attempt as failed. Returns the milliseconds that it has to wait instead, or 0. Attempts at
    /// the same moment are each counted.
    pub async fn count(self, attempt: Attempt, now_ms: i64) -> Result<i64> {
        // Most refused attempts need no transaction of the writer.
        let wait_ms = self.wait_ms(&attempt, now_ms).await?;
        if wait_ms > 0 {
            return Ok(wait_ms);
        }
        self.db.change(CountAttempt { attempt, now_ms }).await
    }

    /// Takes back the count of an attempt that succeeded, and the other failures of its user.
    pub async fn succeeded(self, attempt: Attempt) -> Result<()> {
        self.db.change(ForgetAttempt { attempt }).await
    }

    async fn wait_ms(self, attempt: &Attempt, now_ms: i64) -> Result<i64> {
        let mut longest_ms = 0;
        for (subject, key) in attempt.keys() {
            let read =
                query("select failures, last_at_ms from sign_in_failures where subject = $1");
            let found: Option<(i64, i64)> = self.db.fetch_optional(read.bind(key)).await?;
            let wait_ms = found.map_or(0, |found| failures(found).wait_ms(subject, now_ms));
            longest_ms = wait_ms.max(longest_ms);
        }
        Ok(longest_ms)
    }
}
