//! Accounts, their status, and their sender IDs.

use crate::ids::AccountId;
use crate::named_enum;
use crate::refusal::Refusal;

named_enum! {
    /// The status of an account, which determines its rights.
    pub enum AccountStatus {
        /// The account may use all operations.
        Active = "active",
        /// The account may only use the sandbox.
        Pending = "pending",
        /// The account may do nothing, because it was unused for long.
        Dormant = "dormant",
        /// The account may read but not send.
        Restricted = "restricted",
        /// The account may do nothing.
        Disabled = "disabled",
    }
}

named_enum! {
    /// The fate of the queued messages of an account that may no longer send.
    pub enum Queued {
        /// The messages wait until the account is active again.
        Hold = "hold",
        /// The messages get the status failed, and their charges are refunded.
        Cancel = "cancel",
        /// The messages are sent.
        Send = "send",
    }
}

impl AccountStatus {
    /// Returns the refusal of live sends by an account of this status, or `None` if the account may
    /// send.
    pub fn refusal(self) -> Option<Refusal> {
        match self {
            Self::Active => None,
            Self::Pending => Some(Refusal::AccountPending),
            Self::Dormant => Some(Refusal::AccountDormant),
            Self::Restricted => Some(Refusal::AccountRestricted),
            Self::Disabled => Some(Refusal::AccountDisabled),
        }
    }
}

named_enum! {
    /// The verification of an account's owner by the operator.
    pub enum Verification {
        /// Nothing is verified.
        Unverified = "unverified",
        /// The contact address is confirmed.
        ContactVerified = "contact_verified",
        /// The business is confirmed.
        Verified = "verified",
    }
}

named_enum! {
    /// The status of a sender ID.
    pub enum SenderStatus {
        /// The sender ID waits for approval by the operator.
        Pending = "pending",
        /// The sender ID may be used.
        Approved = "approved",
        /// The operator rejected the sender ID with a reason.
        Rejected = "rejected",
        /// The sender ID was approved, but may not be used now.
        Suspended = "suspended",
    }
}

named_enum! {
    /// The environment of a request.
    pub enum Environment {
        /// Real carriers and real money.
        Live = "live",
        /// Simulated: nothing is delivered, and nothing is charged.
        Sandbox = "sandbox",
    }
}

/// A customer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Account {
    /// The id, which is `user_id` in the API.
    pub id: AccountId,
    /// The contact address.
    pub email: String,
    /// The name of the business or person.
    pub name: String,
    /// The status.
    pub status: AccountStatus,
    /// The verification of the owner.
    pub verification: Verification,
    /// The creation time, Unix milliseconds.
    pub created_at_ms: i64,
}

impl Account {
    /// Checks that the account may read in `environment`.
    pub fn check_read(&self, environment: Environment) -> Result<(), Refusal> {
        match (self.status, environment) {
            (AccountStatus::Active | AccountStatus::Restricted, _)
            | (AccountStatus::Pending, Environment::Sandbox) => Ok(()),
            (AccountStatus::Pending, Environment::Live) => Err(Refusal::AccountPending),
            (AccountStatus::Dormant, _) => Err(Refusal::AccountDormant),
            (AccountStatus::Disabled, _) => Err(Refusal::AccountDisabled),
        }
    }

    /// Checks that the account may send in `environment`.
    pub fn check_send(&self, environment: Environment) -> Result<(), Refusal> {
        self.check_read(environment)?;
        match self.status {
            AccountStatus::Restricted => Err(Refusal::AccountRestricted),
            AccountStatus::Active
            | AccountStatus::Pending
            | AccountStatus::Dormant
            | AccountStatus::Disabled => Ok(()),
        }
    }
}

/// A sender ID of an account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SenderId {
    /// The name as it was registered and as it is sent.
    pub name: String,
    /// The status.
    pub status: SenderStatus,
    /// The purpose in the customer's words.
    pub purpose: String,
    /// `true` for an international sender, which only the international gateway accepts.
    pub international: bool,
    /// The time of approval, Unix milliseconds.
    pub approved_at_ms: Option<i64>,
    /// The reason of a rejection.
    pub rejection_reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(status: AccountStatus) -> Account {
        Account {
            id: AccountId(1),
            email: String::new(),
            name: String::new(),
            status,
            verification: Verification::Unverified,
            created_at_ms: 0,
        }
    }

    #[test]
    fn only_active_accounts_send_and_restricted_ones_read() {
        use AccountStatus as S;
        use Environment::{Live, Sandbox};
        let table = [
            (S::Active, Live, true, true),
            (S::Active, Sandbox, true, true),
            (S::Pending, Live, false, false),
            (S::Pending, Sandbox, true, true),
            (S::Restricted, Live, true, false),
            (S::Restricted, Sandbox, true, false),
            (S::Dormant, Live, false, false),
            (S::Disabled, Sandbox, false, false),
        ];
        for (status, environment, reads, sends) in table {
            let account = account(status);
            assert_eq!(
                account.check_read(environment).is_ok(),
                reads,
                "{status:?} {environment:?}"
            );
            assert_eq!(
                account.check_send(environment).is_ok(),
                sends,
                "{status:?} {environment:?}"
            );
            if environment == Live {
                assert_eq!(status.refusal().is_none(), sends, "{status:?}");
            }
        }
    }
}
