//! The search for messages: ids, newest first, and the messages themselves.
//!
//! A list is read along an index, or along the times at which the account sent. Callers apply the
//! filters that have neither.

use crate::buckets::Buckets;
use crate::messages::account_list;
use crate::messages::info::{MessageInfo, MessageRow};
use crate::messages::message_times::ListOwner;
use crate::messages::recipient_search::{self, RecipientScope};
use crate::messages::reports::Counted;
use crate::messages::search_candidate::{Candidate, CandidateRow, IdRange};
use crate::messages::totals::{self, MessageTotals};
use crate::rows::id_bytes;
use database::{Db, Result, Tx, bulk, query, value};
use domain::{AccountId, Bucket, Environment, MessageId, Recipient};
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
    /// The key of a sender. The messages of other senders in the same minutes are found too.
    pub sender_key: Option<String>,
    /// A recipient. A message whose list has its octets elsewhere is found too.
    pub recipient: Option<Recipient>,
}

/// The search for messages.
#[derive(Clone, Copy)]
pub struct Search<'s> {
    pub(crate) db: &'s Db,
    pub(crate) totals: &'s Counted<MessageTotals>,
}

impl Search<'_> {
    /// Returns at most `limit` messages of a range, newest first, without those under removal. A
    /// reference, a recipient or a sender chooses the index, in this order.
    pub async fn newest(
        self,
        scope: &SearchScope,
        range: IdRange,
        limit: usize,
    ) -> Result<Vec<Candidate>> {
        Db::in_time(async {
            let mut tx = self.db.read().await?;
            let mut found = Vec::new();
            for bucket in self.buckets(scope) {
                found.extend(self::newest(&mut tx, bucket, scope, range, limit).await?);
            }
            found.sort_unstable_by_key(|found| std::cmp::Reverse(found.id));
            found.truncate(limit);
            Ok(found)
        })
        .await
    }

    /// Returns the buckets of the messages of a search.
    fn buckets(self, scope: &SearchScope) -> Vec<Bucket> {
        let buckets = Buckets::of(self.db);
        match scope.account {
            Some(account) => vec![buckets.account(account)],
            None => buckets.all().collect(),
        }
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

/// Returns messages of a bucket, newest first.
async fn newest(
    tx: &mut Tx,
    bucket: Bucket,
    scope: &SearchScope,
    range: IdRange,
    limit: usize,
) -> Result<Vec<Candidate>> {
    let (account, environment) = (scope.account, scope.environment);
    let reference = scope.customer_reference.as_deref();
    if let (None, Some(recipient)) = (reference, scope.recipient) {
        let scope = RecipientScope {
            bucket,
            account,
            environment,
            recipient,
        };
        return recipient_search::newest(tx, scope, range, limit).await;
    }
    let Some(account) = account else {
        return of_all(tx, bucket, reference, scope, range, limit).await;
    };
    let of = ListOwner {
        bucket,
        account,
        environment,
    };
    match reference {
        Some(reference) => account_list::by_reference(tx, of, reference, range, limit).await,
        None => account_list::newest(tx, of, scope.sender_key.as_deref(), range, limit).await,
    }
}

async fn of_all(
    tx: &mut Tx,
    bucket: Bucket,
    reference: Option<&str>,
    scope: &SearchScope,
    range: IdRange,
    limit: usize,
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
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .bind(reference),
        )
        .await?;
    rows.into_iter().map(CandidateRow::candidate).collect()
}
