//! The refusals of requests about objects of the account: sender IDs, routes, opt-outs, tokens and
//! secrets and SMPP users, and of top-ups.

use crate::money::Money;
use thiserror::Error;

/// The reason why such a request is refused.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
pub enum ObjectRefusal {
    /// The account has no route of inbound messages with that id.
    #[error(
        "There is no route with this route_id on this account: `GET /inbound/routes` lists them."
    )]
    UnknownRoute,
    /// The account has no opt-out of that number.
    #[error("This number has not opted out of the messages of this account. Check the number.")]
    UnknownOptOut,
    /// The account has as many opt-outs as it may add to.
    #[error(
        "An account has at most {limit} opt-outs, and this request would exceed them. Remove some that are not needed."
    )]
    OptOutsUsed {
        /// The maximum number of opt-outs.
        limit: u64,
    },
    /// The operator did not give the number to the account.
    #[error(
        "The operator did not give this number to your account: `GET /inbound/routes` lists your numbers. Ask the operator \
         for another."
    )]
    UnknownNumber,
    /// The keyword of the number belongs to another account.
    #[error("This keyword of the number belongs to another account. Choose another keyword.")]
    KeywordTaken,
    /// The operator made the route.
    #[error("The operator gave this route to your account, so only the operator can remove it.")]
    RouteGiven,
    /// The account has as many routes as it may have.
    #[error("An account has at most {limit} routes. Remove one that is not needed.")]
    RoutesUsed {
        /// The maximum number of routes.
        limit: usize,
    },
    /// A new token would permit more than the token that makes it.
    #[error(
        "The new token would permit more than the one that makes it. Give no scope, address, expiry or rate beyond those \
         of the token of this request; a field that is left out stands for all."
    )]
    TokenExceeds,
    /// The account has no valid token with that id.
    #[error(
        "There is no valid token with this token_id on this account: `GET /tokens` lists them."
    )]
    UnknownToken,
    /// The account has as many tokens as it may have.
    #[error("An account has at most {limit} tokens. Revoke one that is not needed.")]
    TokensUsed {
        /// The maximum number of tokens.
        limit: usize,
    },
    /// The account has no top-up with that id.
    #[error("There is no top-up with this top_up_id on this account: `GET /top-ups` lists them.")]
    UnknownTopUp,
    /// The account has no alert with that id.
    #[error("There is no alert with this alert_id on this account: `GET /alerts` lists them.")]
    UnknownAlert,
    /// The account has as many alerts as it may have.
    #[error("An account has at most {limit} alerts. Remove one that is not needed.")]
    AlertsUsed {
        /// The maximum number.
        limit: usize,
    },
    /// The installation has no such payment provider.
    #[error("{instead}")]
    UnknownProvider {
        /// The advice to the caller.
        instead: String,
    },
    /// The account has as many unpaid top-ups as it may have.
    #[error(
        "An account has at most {limit} unpaid top-ups. Pay one of them, or wait until one expires: `GET /top-ups` lists \
         them."
    )]
    TopUpsOpen {
        /// The maximum number.
        limit: usize,
    },
    /// The payment provider does not answer as documented.
    #[error(
        "The payment provider does not answer. Nothing was kept or charged; send the request again in a minute, or choose \
         another `provider`."
    )]
    ProviderDown,
    /// The account has no secret of callbacks with that id.
    #[error(
        "There is no secret with this secret_id on this account: `GET /webhooks/secrets` lists them."
    )]
    UnknownSecret,
    /// The account has as many secrets as may sign a callback.
    #[error(
        "At most {limit} secrets of an account sign at once. Revoke one that is not needed, or wait until it ends."
    )]
    SecretsUsed {
        /// The maximum number of secrets.
        limit: usize,
    },
    /// The account has no sub-account with that id.
    #[error("There is no sub-account with this sub_account_id: `GET /sub-accounts` lists them.")]
    UnknownSubAccount,
    /// A sub-account has no sub-accounts.
    #[error("This account is a sub-account, and a sub-account has no sub-accounts of its own.")]
    IsSubAccount,
    /// The account has as many sub-accounts as it may have.
    #[error("An account has at most {limit} sub-accounts.")]
    SubAccountsUsed {
        /// The maximum number of sub-accounts.
        limit: usize,
    },
    /// The operator stopped the sub-account.
    #[error("The operator set the status of this sub-account, so only the operator can change it.")]
    SubAccountStopped,
    /// The sub-account reached the daily limit that its parent set.
    #[error(
        "The daily limit of this account is {limit} NGN: {left} NGN are left for today, and {needed} NGN are needed. \
         Nothing was sent or charged; the limit begins anew at midnight (Africa/Lagos)."
    )]
    SubAccountLimit {
        /// The limit.
        limit: Money,
        /// The part that is left.
        left: Money,
        /// The charge.
        needed: Money,
    },
    /// A price of a sub-account is below that of its parent.
    #[error(
        "The price over `{gateway}` is below your own: a page costs you {plain} NGN at most, and a Unicode page {unicode} NGN. \
         Give no lower price."
    )]
    PriceBelowOwn {
        /// The gateway.
        gateway: &'static str,
        /// The highest price of a page.
        plain: Money,
        /// The highest price of a Unicode page.
        unicode: Money,
    },
    /// The reference was used for another transfer.
    #[error(
        "This reference was used for another transfer. Give each transfer a reference of its own."
    )]
    ReferenceUsed,
    /// The account has no valid SMPP user with that system id.
    #[error(
        "There is no valid SMPP user with this system_id on this account: `GET /smpp-users` lists them."
    )]
    UnknownSmppUser,
    /// The account has as many SMPP users as it may have.
    #[error("An account has at most {limit} SMPP users. Revoke one that is not needed.")]
    SmppUsersUsed {
        /// The maximum number of SMPP users.
        limit: usize,
    },
    /// The account has the maximum number of pending sender IDs.
    #[error(
        "At most {limit} sender IDs of an account may be pending. Wait until one is approved or rejected, and ask \
         again."
    )]
    SendersPending {
        /// The maximum number.
        limit: usize,
    },
}
