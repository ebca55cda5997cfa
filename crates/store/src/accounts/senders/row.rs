//! A stored sender ID.

use crate::lists::{AccountRowKey, ListRow};
use crate::rows::named;
use database::Result;
use domain::{AccountId, SenderId, SenderStatus, sender};

/// A sender ID with the account that registered it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RegisteredSender {
    /// The account.
    pub account: AccountId,
    /// Time of registration, Unix milliseconds.
    pub created_at_ms: i64,
    /// The sender ID.
    pub sender: SenderId,
}

impl ListRow for RegisteredSender {
    type Key = AccountRowKey;

    fn key(&self) -> AccountRowKey {
        let key = sender::key(&self.sender.name);
        (self.account.0, self.created_at_ms, key)
    }
}

pub(super) struct SenderRow {
    account_id: i64,
    created_at_ms: i64,
    name: String,
    status: String,
    purpose: String,
    international: bool,
    approved_at_ms: Option<i64>,
    rejection_reason: Option<String>,
}

database::from_row!(SenderRow {
    account_id,
    created_at_ms,
    name,
    status,
    purpose,
    international,
    approved_at_ms,
    rejection_reason
});

impl SenderRow {
    pub(super) fn registered(self) -> Result<RegisteredSender> {
        let sender = SenderId {
            name: self.name,
            status: named(SenderStatus::from_name, &self.status)?,
            purpose: self.purpose,
            international: self.international,
            approved_at_ms: self.approved_at_ms,
            rejection_reason: self.rejection_reason,
        };
        Ok(RegisteredSender {
            account: AccountId(self.account_id),
            created_at_ms: self.created_at_ms,
            sender,
        })
    }
}
