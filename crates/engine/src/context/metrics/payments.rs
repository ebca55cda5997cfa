//! The metrics of top-ups, payment providers and sub-accounts.

use domain::payment::TopUpState;
use domain::resale::Direction;
use metrics::{counter, histogram};
use std::time::Duration;

/// The outcome of a webhook of a payment provider.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum WebhookOutcome {
    /// It is the first report of a payment, which is credited.
    Credited,
    /// The payment was decided before.
    Repeated,
    /// The payment does not fit.
    Mismatch,
    /// The provider confirms no payment, or a refused one.
    NotPaid,
    /// It names no payment.
    Ignored,
    /// The signature is missing or wrong.
    Unsigned,
    /// The provider cannot be asked, or does not know the payment yet.
    NotConfirmed,
    /// The database did not commit the payment in time.
    NotStored,
}

impl WebhookOutcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Credited => "credited",
            Self::Repeated => "repeated",
            Self::Mismatch => "mismatch",
            Self::NotPaid => "not_paid",
            Self::Ignored => "ignored",
            Self::Unsigned => "unsigned",
            Self::NotConfirmed => "not_confirmed",
            Self::NotStored => "not_stored",
        }
    }
}

/// Counts a top-up that has come to a state.
pub(crate) fn top_up(provider: &str, state: TopUpState) {
    counter!("ogene_top_ups_total", "provider" => provider.to_owned(), "state" => state.as_str())
        .increment(1);
}

/// Counts a webhook of a configured provider.
pub(crate) fn webhook(provider: &'static str, outcome: WebhookOutcome) {
    counter!("ogene_payment_webhooks_total", "provider" => provider, "outcome" => outcome.as_str())
        .increment(1);
}

/// Measures a call of a provider's API. `status` is that of the HTTP answer, if there is one.
pub(crate) fn provider_call(
    provider: &'static str,
    call: &'static str,
    status: Option<u16>,
    took: Duration,
) {
    let status = status.map_or_else(|| "none".to_owned(), |status| status.to_string());
    histogram!("ogene_payment_call_seconds", "provider" => provider, "call" => call, "status" => status)
        .record(took.as_secs_f64());
}

/// Counts a transfer between a parent and its sub-account.
pub(crate) fn transfer(direction: Direction) {
    counter!("ogene_transfers_total", "direction" => direction.as_str()).increment(1);
}
