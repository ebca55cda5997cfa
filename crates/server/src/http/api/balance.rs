//! `GET /balance` (docs/spec/interface.md, section 6.2).

use crate::format::Naira;
use crate::http::extract::call::Reading;
use crate::http::respond::codes::{Coded, SUCCESS};
use crate::http::respond::envelope::{CURRENCY, sandbox_mark};
use axum::response::Response;
use domain::{Component, Environment, Purse};
use serde::Serialize;
use std::borrow::Cow;
use utoipa::ToSchema;

/// Reads the wallet.
pub(crate) async fn balance(Reading(call): Reading) -> Response {
    let environment = call.environment();
    let purse = call.admission.balance().await;
    call.answer(purse.map(|purse| BalanceAnswer::new(&purse, environment)))
}

const MESSAGE: &str = "Wallet balance retrieved.";

/// The wallet.
#[derive(Serialize, ToSchema)]
pub(crate) struct BalanceAnswer {
    /// Always `success`.
    #[schema(example = "success")]
    status: &'static str,
    /// Always `API-0000`.
    #[schema(example = "API-0000")]
    #[schema(value_type = String)]
    code: Cow<'static, str>,
    /// The outcome in words.
    message: &'static str,
    data: BalanceData,
    balance: Balances,
}

/// The same values for older clients.
#[derive(Serialize, ToSchema)]
pub(crate) struct BalanceData {
    /// Always `success`.
    #[schema(example = "success")]
    status: &'static str,
    /// The outcome in words.
    message: &'static str,
    /// All components together.
    balance: Naira,
    /// All components together.
    total_balance: Naira,
    /// Always `NGN`.
    #[schema(example = "NGN")]
    currency: &'static str,
    /// Currency and total as text, with two decimals at least.
    #[schema(example = "NGN 994.00")]
    formatted: String,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

/// The balance of the wallet, by component. Sends are paid from the bonuses first.
#[derive(Serialize, ToSchema)]
pub(crate) struct Balances {
    /// All components together.
    total_balance: Naira,
    /// Credit that every product can spend: spent last.
    universal_wallet: Naira,
    /// Bought SMS credit.
    sms_wallet: Naira,
    /// Bonus on bought SMS credit.
    sms_bonus: Naira,
    /// Main balance.
    main_balance: Naira,
    /// Bonus for volume.
    volume_bonus: Naira,
    /// Promotional credit: spent first.
    promo_bonus: Naira,
}

impl Coded for BalanceAnswer {
    fn code(&mut self) -> &mut Cow<'static, str> {
        &mut self.code
    }
}

impl BalanceAnswer {
    pub(crate) fn new(purse: &Purse, environment: Environment) -> Self {
        let of = |component| Naira(purse.get(component));
        Self {
            status: "success",
            code: Cow::Borrowed(SUCCESS),
            message: MESSAGE,
            data: BalanceData {
                status: "success",
                message: MESSAGE,
                balance: Naira(purse.total()),
                total_balance: Naira(purse.total()),
                currency: CURRENCY,
                formatted: format!("{CURRENCY} {}", purse.total()),
                sandbox: sandbox_mark(environment),
            },
            balance: Balances {
                total_balance: Naira(purse.total()),
                universal_wallet: of(Component::UniversalWallet),
                sms_wallet: of(Component::SmsWallet),
                sms_bonus: of(Component::SmsBonus),
                main_balance: of(Component::MainBalance),
                volume_bonus: of(Component::VolumeBonus),
                promo_bonus: of(Component::PromoBonus),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Money;

    #[test]
    fn the_wallet_has_its_components_in_plain_numbers() {
        let purse = Purse::from_iter([
            (Component::SmsWallet, Money::from_naira(100)),
            (Component::PromoBonus, Money::from_units(2_500)),
        ]);
        let answer = serde_json::to_string(&BalanceAnswer::new(&purse, Environment::Live)).unwrap();
        insta::assert_snapshot!(testkit::indented(&answer), @r#"
        {
          "status": "success",
          "code": "API-0000",
          "message": "Wallet balance retrieved.",
          "data": {
            "status": "success",
            "message": "Wallet balance retrieved.",
            "balance": 100.25,
            "total_balance": 100.25,
            "currency": "NGN",
            "formatted": "NGN 100.25"
          },
          "balance": {
            "total_balance": 100.25,
            "universal_wallet": 0.00,
            "sms_wallet": 100.00,
            "sms_bonus": 0.00,
            "main_balance": 0.00,
            "volume_bonus": 0.00,
            "promo_bonus": 0.25
          }
        }
        "#);
    }
}
