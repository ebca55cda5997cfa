//! The user and the client of a request.

use domain::AccountId;
use domain::user::UserId;
use domain::user::role::{Permission, Role};
use domain::user::secret::Secret;
use std::net::IpAddr;

/// The client of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Client {
    /// Its address.
    pub address: IpAddr,
    /// The text of `User-Agent`.
    pub agent: String,
}

/// A request of a user who is signed in.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The secret of the session.
    pub secret: Secret,
    /// The user.
    pub user: UserId,
    /// The address of the user.
    pub email: String,
    /// The name of the user.
    pub user_name: String,
    /// The account whose pages the user sees, or `None` for an operator.
    pub account: Option<AccountId>,
    /// The name of the account, empty for an operator.
    pub account_name: String,
    /// The parent of the account, if it is a sub-account.
    pub parent: Option<AccountId>,
    /// The role of the user there.
    pub role: Role,
    /// `false` while the second factor is missing. Such a user may do nothing but give it.
    pub is_signed_in: bool,
}

impl Visit {
    /// Returns `true` if the user has a permission.
    pub fn may(&self, permission: Permission) -> bool {
        self.is_signed_in && self.role.may(permission)
    }

    /// Returns the name of the user as an actor in the audit.
    pub fn actor(&self) -> String {
        actor(self.user)
    }
}

/// Returns the name of a user as an actor in the audit.
pub(super) fn actor(user: UserId) -> String {
    format!("user:{user}")
}
