//! The log of callback attempts, for the operator.

use super::event::{self, AttemptOutcome, Attempted, Callback};
use crate::buckets::Buckets;
use crate::lists::ListRow;
use crate::rows::{id_bytes, message_id, number, recipient};
use database::{Change, Db, Result, Tx, bulk, query, value};
use domain::{AccountId, Bucket, MessageId, Recipient};

/// Attempts removed in one transaction at most.
const STEP: i64 = 2_000;

/// An attempt as it is stored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CallbackAttempt {
    /// The message.
    pub message: MessageId,
    /// The recipient.
    pub recipient: Recipient,
    /// Its number, from 1. A replayed callback begins anew.
    pub attempt: i64,
    /// The result.
    pub attempted: Attempted,
}

impl ListRow for CallbackAttempt {
    /// Message, recipient and start of the attempt.
    type Key = (u128, i64, i64);

    fn key(&self) -> Self::Key {
        let message = self.message.0.as_u128();
        (message, number(self.recipient), self.attempted.made_at_ms)
    }
}

/// Stores the attempts that are to be logged.
pub(super) async fn insert(tx: &mut Tx, outcomes: &[AttemptOutcome]) -> Result<()> {
    let kept = outcomes
        .iter()
        .filter_map(|outcome| Some((&outcome.callback, outcome.attempted.as_ref()?)));
    let kept: Vec<(&Callback, &Attempted)> = kept.collect();
    tx.execute_each(
        bulk(
            "insert into callback_attempts (bucket, message_id, recipient, made_at_ms,
             account_id, attempt, result, took_ms, answer)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing",
            "insert into callback_attempts (bucket, message_id, recipient,
             made_at_ms, account_id, attempt, result, took_ms, answer)
         select * from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[],
             $5::bigint[], $6::bigint[], $7::text[], $8::bigint[], $9::text[])
             on conflict do nothing",
        )
        .rows(&kept, |row| {
            [
                value(row.0.bucket.0),
                value(id_bytes(&row.0.message)),
                value(number(row.0.recipient)),
                value(row.1.made_at_ms),
                value(row.0.account.0),
                value(row.0.attempts + 1),
                value(&row.1.result),
                value(row.1.took_ms),
                value(&row.1.answer),
            ]
        }),
    )
    .await?;
    Ok(())
}

struct ForgetAttempts {
    bucket: Bucket,
    before_ms: i64,
}

impl Change for ForgetAttempts {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        // An old message may have a new attempt after a replay, but no attempt is older than its
        // message.
        let forgotten = tx
            .execute(
                query(
                    "delete from callback_attempts
             where bucket = $1 and (message_id, recipient, made_at_ms) in (
                 select message_id, recipient, made_at_ms from callback_attempts
                 where bucket = $1 and message_id < $2 and made_at_ms < $3
                 order by message_id limit $4)",
                )
                .bind(self.bucket.0)
                .bind(id_bytes(&MessageId::lowest_at(self.before_ms)))
                .bind(self.before_ms)
                .bind(STEP),
            )
            .await?;
        Ok(forgotten >= STEP.unsigned_abs())
    }
}

struct AttemptRow {
    message_id: Vec<u8>,
    recipient: i64,
    attempt: i64,
    made_at_ms: i64,
    result: String,
    took_ms: i64,
    answer: String,
}

database::from_row!(AttemptRow {
    message_id,
    recipient,
    attempt,
    made_at_ms,
    result,
    took_ms,
    answer
});

impl AttemptRow {
    fn attempt(self) -> Result<CallbackAttempt> {
        Ok(CallbackAttempt {
            message: message_id(&self.message_id)?,
            recipient: recipient(self.recipient),
            attempt: self.attempt,
            attempted: Attempted {
                made_at_ms: self.made_at_ms,
                result: self.result,
                took_ms: self.took_ms,
                answer: self.answer,
            },
        })
    }
}

/// The log of callback attempts.
#[derive(Clone, Copy)]
pub struct Attempts<'s> {
    pub(crate) db: &'s Db,
}

impl Attempts<'_> {
    /// Returns some attempts behind one, of an account or of one of its messages. The latest
    /// messages come first, and for each callback the latest attempt.
    pub async fn list(
        self,
        account: AccountId,
        message: Option<MessageId>,
        behind: Option<(u128, i64, i64)>,
        limit: u32,
    ) -> Result<Vec<CallbackAttempt>> {
        let [first, last] = event::messages(message);
        let (message, recipient, made_at_ms) = match behind {
            Some((message, recipient, made_at_ms)) => {
                (message.to_be_bytes().to_vec(), recipient, made_at_ms)
            }
            None => (last, i64::MAX, i64::MAX),
        };
        let rows: Vec<AttemptRow> = self
            .db
            .fetch_all(
                query(
                    "select message_id, recipient, attempt, made_at_ms, result, took_ms, answer
                 from callback_attempts
                 where bucket = $1 and message_id >= $2
                     and (message_id, recipient, made_at_ms) < ($3, $4, $5) and account_id = $6
                 order by message_id desc, recipient desc, made_at_ms desc limit $7",
                )
                .bind(Buckets::of(self.db).account(account).0)
                .bind(&first)
                .bind(&message)
                .bind(recipient)
                .bind(made_at_ms)
                .bind(account.0)
                .bind(i64::from(limit)),
            )
            .await?;
        rows.into_iter().map(AttemptRow::attempt).collect()
    }

    /// Removes some attempts of a bucket that were made before a time. Returns `true` if more
    /// remain.
    pub async fn forget(self, bucket: Bucket, before_ms: i64) -> Result<bool> {
        self.db.change(ForgetAttempts { bucket, before_ms }).await
    }

    /// Returns the logged attempts at the callback of a recipient, oldest first.
    pub async fn of_recipient(
        self,
        account: AccountId,
        message: MessageId,
        recipient: Recipient,
    ) -> Result<Vec<CallbackAttempt>> {
        let rows: Vec<AttemptRow> = self
            .db
            .fetch_all(
                query(
                    "select message_id, recipient, attempt, made_at_ms, result, took_ms, answer
                     from callback_attempts
                     where bucket = $1 and message_id = $2 and recipient = $3 order by made_at_ms",
                )
                .bind(Buckets::of(self.db).account(account).0)
                .bind(id_bytes(&message))
                .bind(number(recipient)),
            )
            .await?;
        rows.into_iter().map(AttemptRow::attempt).collect()
    }
}
