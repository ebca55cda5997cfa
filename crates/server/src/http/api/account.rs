//! `GET /account` (docs/spec/interface.md, section 6.5).

use crate::format::{LagosTime, Naira};
use crate::http::extract::call::Reading;
use crate::http::respond::envelope::{CURRENCY, Envelope, sandbox_mark};
use axum::response::Response;
use domain::{Account, Environment, Money};
use serde::Serialize;
use utoipa::ToSchema;

/// Reads the profile of the account.
pub(crate) async fn account(Reading(call): Reading) -> Response {
    let environment = call.environment();
    let purse = call.admission.balance().await;
    let account = &call.admission.customer().account;
    call.answer(purse.map(|purse| AccountData::answer(account, purse.total(), environment)))
}

/// The profile of an account.
#[derive(Serialize, ToSchema)]
pub(crate) struct AccountData {
    /// The number of the account.
    #[schema(example = "1234567")]
    user_id: String,
    /// Contact address.
    #[schema(example = "ada@example.com")]
    email: String,
    /// Name of the business or person.
    name: String,
    /// `active`, `pending`, `dormant`, `restricted` or `disabled`.
    #[schema(example = "active")]
    account_status: &'static str,
    /// `unverified`, `contact_verified` or `verified`.
    #[schema(example = "verified")]
    verification_level: &'static str,
    /// The balance of the wallet, all components together.
    balance: Naira,
    /// Always `NGN`.
    #[schema(example = "NGN")]
    currency: &'static str,
    /// The time of the account's creation.
    created_at: LagosTime,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

impl AccountData {
    pub(crate) fn answer(
        account: &Account,
        balance: Money,
        environment: Environment,
    ) -> Envelope<Self> {
        let data = Self {
            user_id: account.id.to_string(),
            email: account.email.clone(),
            name: account.name.clone(),
            account_status: account.status.as_str(),
            verification_level: account.verification.as_str(),
            balance: Naira(balance),
            currency: CURRENCY,
            created_at: LagosTime {
                at_ms: account.created_at_ms,
            },
            sandbox: sandbox_mark(environment),
        };
        Envelope::new("Account retrieved.", data)
    }
}
