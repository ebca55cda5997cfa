//! The search for messages: ids, newest first, and the messages themselves.
//!
//! A list is read along an index. Callers apply the filters that have none.

use crate::buckets::Buckets;
use crate::messages::info::{MessageInfo, MessageRow, count};
use crate::messages::reports::Counted;
use crate::messages::totals::{self, MessageTotals};
use crate::rows::{id_bytes, message_id, named};
use database::{Db, Result, Sql, Tx, bulk, query, value};
use domain::{AccountId, Bucket, Environment, Gateway, MessageId};
use std::collections::HashMap;

/// The messages that a search may find.
#[derive(Clone, Debug)]
pub struct SearchScope {
    /// The account, or `None` for the messages of all.
    pub account: Option<AccountId>,
    /// The environment.
    pub environment: Environment,
    /// The reference, which has an index of its own.
    pub customer_reference: Option<String>,
}

/// A range of message ids: from the first, up to but not including the last.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IdRange {
    /// The first id.
    pub from: MessageId,
    /// The end of the range.
    pub until: MessageId,
}

/// A message that a search found, with the values that filters compare.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Candidate {
    /// The message.
    pub id: MessageId,
    /// The account.
    pub account: AccountId,
    /// The sender ID.
    pub sender: String,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// The number of recipients.
    pub recipients: u64,
}

struct CandidateRow {
    message_id: Vec<u8>,
    account_id: i64,
    sender: String,
    gateway: String,
    octets: i64,
}

database::from_row!(CandidateRow {
    message_id,
    account_id,
    sender,
    gateway,
    octets
});

impl CandidateRow {
    fn candidate(self) -> Result<Candidate> {
        Ok(Candidate {
            id: message_id(&self.message_id)?,
            account: AccountId(self.account_id),
            sender: self.sender,
            gateway: named(Gateway::from_name, &self.gateway)?,
            recipients: count(self.octets),
        })
    }
}

impl IdRange {
    /// Returns the range of all messages that were accepted between two moments, Unix milliseconds.
    pub fn accepted(since_ms: Option<i64>, until_ms: Option<i64>) -> Self {
        Self {
            from: MessageId::lowest_at(since_ms.unwrap_or(0)),
            until: until_ms.map_or(MessageId::HIGHEST, MessageId::lowest_at),
        }
    }

    /// Returns the part of the range before a message.
    #[must_use]
    pub fn before(self, message: MessageId) -> Self {
        Self {
            until: self.until.min(message),
            ..self
        }
    }
}

/// The search for messages.
#[derive(Clone, Copy)]
pub struct Search<'s> {
    pub(crate) db: &'s Db,
    pub(crate) totals: &'s Counted<MessageTotals>,
}

impl Search<'_> {
    /// Returns at most `limit` messages of a range, newest first, without those under removal.
    pub async fn newest(
        self,
        scope: &SearchScope,
        range: IdRange,
        limit: usize,
    ) -> Result<Vec<Candidate>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let owner = |account| (Buckets::of(self.db).account(account), account);
            let mut found = match (scope.account.map(owner), &scope.customer_reference) {
                (Some(of), None) => of_account(&mut tx, of, scope, range, limit).await?,
                (Some(of), Some(reference)) => {
                    by_reference(&mut tx, of, reference, scope, range, limit).await?
                }
                (None, reference) => {
                    let mut all = Vec::new();
                    for bucket in Buckets::of(self.db).all() {
                        let reference = reference.as_deref();
                        all.extend(of_all(&mut tx, bucket, reference, scope, range, limit).await?);
                    }
                    all
                }
            };
            found.sort_unstable_by_key(|found| std::cmp::Reverse(found.id));
            found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
            Ok(found)
        })
        .await
    }

    /// Returns messages by their ids, in no order. Missing ones are left out.
    pub async fn infos(self, keys: &[(AccountId, MessageId)]) -> Result<Vec<MessageInfo>> {
        let find = bulk(
            "select message_id, account_id, sandbox, due_at_ms, paused_at_ms,
                 paused_for_ms, cancelled_at_ms, changes, gateway, sender,
                 case when otp_id is null then coalesce(body, '') else '' end as body,
                 body is null as is_personalised, customer_reference, cost, pages_total,
                 cast(page_count as bigint) as pages, cast(length(recipients) as bigint) as octets
             from messages where bucket = $1 and message_id = $2 and account_id = $3
                 and length(recipients) > 0",
            "with v (bucket, message_id, account_id) as (select *
             from unnest($1::bigint[], $2::bytea[], $3::bigint[]))
             select m.message_id, m.account_id, sandbox, due_at_ms, paused_at_ms,
                 paused_for_ms, cancelled_at_ms, changes, gateway, sender,
                 case when otp_id is null then coalesce(body, '') else '' end as body,
                 body is null as is_personalised, customer_reference, cost, pages_total,
                 cast(page_count as bigint) as pages, cast(length(recipients) as bigint) as octets
             from v join messages m on m.bucket = v.bucket and m.message_id = v.message_id
             where m.account_id = v.account_id and length(recipients) > 0",
        )
        .rows(keys, |(account, id)| {
            [
                value(Buckets::of(self.db).account(*account).0),
                value(id_bytes(id)),
                value(account.0),
            ]
        });
        let rows: Vec<MessageRow> =
            Db::in_time(async { self.db.read().await?.fetch_each(find).await }).await?;
        rows.into_iter().map(MessageRow::message).collect()
    }

    /// Returns the account's message of this id in an environment, or a message of any account.
    pub async fn info(
        self,
        account: Option<AccountId>,
        environment: Environment,
        id: MessageId,
    ) -> Result<Option<MessageInfo>> {
        let account = match account {
            Some(account) => Some(account),
            None => self.account_of(id).await?,
        };
        let Some(account) = account else {
            return Ok(None);
        };
        let mut found = self.infos(&[(account, id)]).await?.into_iter();
        Ok(found.find(|message| message.environment == environment))
    }

    /// Returns the totals of some messages, each with the number of its recipients. The totals of a
    /// message that does not change any more are remembered.
    pub async fn totals(
        self,
        messages: &[(AccountId, MessageId, u64)],
    ) -> Result<HashMap<MessageId, MessageTotals>> {
        totals::read(self.db, self.totals, messages).await
    }

    /// Returns the account of a message.
    async fn account_of(self, id: MessageId) -> Result<Option<AccountId>> {
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            for bucket in Buckets::of(self.db).all() {
                let found: Option<i64> = tx
                    .fetch_optional(
                        query(
                            "select account_id from messages where bucket = $1 and message_id = $2",
                        )
                        .bind(bucket.0)
                        .bind(id_bytes(&id)),
                    )
                    .await?;
                if let Some(account) = found {
                    return Ok(Some(AccountId(account)));
                }
            }
            Ok(None)
        })
        .await
    }
}

/// Reads the index of an account. The plus keeps SQLite from the primary key, which has the messages
/// of all accounts.
async fn of_account(
    tx: &mut Tx,
    (bucket, account): (Bucket, AccountId),
    scope: &SearchScope,
    range: IdRange,
    limit: i64,
) -> Result<Vec<Candidate>> {
    let rows: Vec<CandidateRow> = tx
        .fetch_all(
            query(Sql {
                sqlite: "select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
                 where +bucket = $1 and account_id = $2 and sandbox = $3 and message_id >= $4
                     and message_id < $5 and length(recipients) > 0
                 order by message_id desc limit $6",
                postgres: "select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
                 where bucket = $1 and account_id = $2 and sandbox = $3 and message_id >= $4
                     and message_id < $5 and length(recipients) > 0
                 order by message_id desc limit $6",
            })
            .bind(bucket.0)
            .bind(account.0)
            .bind(scope.environment == Environment::Sandbox)
            .bind(id_bytes(&range.from))
            .bind(id_bytes(&range.until))
            .bind(limit),
        )
        .await?;
    rows.into_iter().map(CandidateRow::candidate).collect()
}

async fn by_reference(
    tx: &mut Tx,
    (bucket, account): (Bucket, AccountId),
    reference: &str,
    scope: &SearchScope,
    range: IdRange,
    limit: i64,
) -> Result<Vec<Candidate>> {
    let rows: Vec<CandidateRow> = tx
        .fetch_all(
            query(Sql {
                sqlite: "select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
                 where +bucket = $1 and account_id = $2 and sandbox = $3 and message_id >= $4
                     and message_id < $5 and length(recipients) > 0 and customer_reference = $7
                 order by message_id desc limit $6",
                postgres: "select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
                 where bucket = $1 and account_id = $2 and sandbox = $3 and message_id >= $4
                     and message_id < $5 and length(recipients) > 0 and customer_reference = $7
                 order by message_id desc limit $6",
            })
            .bind(bucket.0)
            .bind(account.0)
            .bind(scope.environment == Environment::Sandbox)
            .bind(id_bytes(&range.from))
            .bind(id_bytes(&range.until))
            .bind(limit)
            .bind(reference),
        )
        .await?;
    rows.into_iter().map(CandidateRow::candidate).collect()
}

async fn of_all(
    tx: &mut Tx,
    bucket: Bucket,
    reference: Option<&str>,
    scope: &SearchScope,
    range: IdRange,
    limit: i64,
) -> Result<Vec<Candidate>> {
    let rows: Vec<CandidateRow> = tx
        .fetch_all(
            query(
                "select message_id, account_id, sender, gateway,
                 cast(length(recipients) as bigint) as octets from messages
                 where bucket = $1 and sandbox = $2 and message_id >= $3 and message_id < $4
                     and length(recipients) > 0
                     and customer_reference is not distinct from coalesce($6, customer_reference)
                 order by message_id desc limit $5",
            )
            .bind(bucket.0)
            .bind(scope.environment == Environment::Sandbox)
            .bind(id_bytes(&range.from))
            .bind(id_bytes(&range.until))
            .bind(limit)
            .bind(reference),
        )
        .await?;
    rows.into_iter().map(CandidateRow::candidate).collect()
}
