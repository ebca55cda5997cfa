//! Messages: accepting them, their duplicate windows, reports on them, and the search for them.

pub(crate) mod accept;
pub(crate) mod account_list;
pub(crate) mod changes;
pub(crate) mod duplicates;
pub(crate) mod info;
mod message_rows;
pub(crate) mod message_times;
pub(crate) mod new_message;
pub(crate) mod recipient_index;
pub(crate) mod recipient_rows;
pub(crate) mod recipient_search;
pub(crate) mod recipient_texts;
pub(crate) mod recipients;
pub(crate) mod reports;
pub(crate) mod search;
pub(crate) mod search_candidate;
mod small_messages;
pub(crate) mod totals;

use crate::buckets::Buckets;
use crate::idempotency::{self, KeptAnswer, KeyedRequest, Outcome, StoredAnswer};
use accept::Accept;
use database::{Db, Result};
use domain::idempotency::IdempotencyKey;
use domain::{AccountId, Environment, Fingerprint, MessageId};
use duplicates::OpenWindows;
use new_message::{Accepted, NewMessage};
use reports::{Counted, MessageReport, StatusCounts};
use std::sync::Arc;

/// The accepted messages.
#[derive(Clone, Copy)]
pub struct Messages<'s> {
    pub(crate) db: &'s Db,
    pub(crate) windows: &'s Arc<OpenWindows>,
    pub(crate) counted: &'s Counted<StatusCounts>,
}

impl Messages<'_> {
    /// Accepts messages that one transaction may hold
    /// ([`split_by_transaction`](crate::Store::split_by_transaction)) in one durable commit. It
    /// charges the wallets and stores the messages with their batches. The answers are in the order
    /// of the messages. If two have the same fingerprint, the second is a duplicate, if the first
    /// was accepted.
    ///
    /// If the server goes away during the commit, this waits until it is back and the result is
    /// known.
    pub async fn accept(self, now_ms: i64, messages: Vec<NewMessage>) -> Result<Vec<Accepted>> {
        let accept = Accept {
            buckets: Buckets::of(self.db),
            windows: Arc::clone(self.windows),
            now_ms,
            messages,
        };
        self.db.change(accept).await
    }

    /// Returns `true` if the same send of this account was accepted less than a minute ago. A send
    /// whose commit is under way is not seen.
    pub async fn is_repeat(
        self,
        account: AccountId,
        fingerprint: Fingerprint,
        now_ms: i64,
    ) -> Result<bool> {
        duplicates::is_repeat(self.db, self.windows, account, fingerprint, now_ms).await
    }

    /// Returns the kept answer of a key.
    pub async fn kept_answer(
        self,
        account: AccountId,
        environment: Environment,
        key: &IdempotencyKey,
    ) -> Result<Option<KeptAnswer>> {
        idempotency::kept_answer(self.db, account, environment, key).await
    }

    /// Stores the answer of a request with a key, unless the key has one.
    pub async fn keep_answer(
        self,
        account: AccountId,
        environment: Environment,
        request: KeyedRequest,
        answer: StoredAnswer,
        now_ms: i64,
    ) -> Result<Outcome<()>> {
        let keep = idempotency::KeepAnswer {
            buckets: Buckets::of(self.db),
            account,
            environment,
            request,
            answer,
            now_ms,
        };
        self.db.change(keep).await
    }

    /// Returns the recipients `from..until` of a message in the order of the request. It returns
    /// `None` if the account has no such message in that environment, or if its removal has begun:
    /// that empties the list.
    pub async fn report(
        self,
        account: AccountId,
        environment: Environment,
        message: MessageId,
        from: usize,
        until: usize,
    ) -> Result<Option<MessageReport>> {
        let range = (from, until);
        reports::read(self.db, self.counted, account, environment, message, range).await
    }
}
