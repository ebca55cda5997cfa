//! The confirmation of payments by their providers, and the credit that follows.

use crate::context::Context;
use crate::context::metrics::payments::{self as measures, WebhookOutcome};
use crate::context::payments::{PaymentProvider, Payments};
use crate::error::Error;
use domain::Environment;
use domain::payment::provider::Headers;
use domain::payment::{
    CURRENCY, Payment, PaymentStatus, Received, TopUp, TopUpId, TopUpState, Verdict,
};
use std::sync::Arc;
use std::time::Duration;
use store::SettledTopUp;
use tokio::time::timeout;

/// Longest wait for the commit of a payment. Its provider repeats the webhook after a failure.
const COMMIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why a webhook of a payment provider was not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum WebhookRefusal {
    /// The provider is not configured.
    #[error("there is no such payment provider")]
    UnknownProvider,
    /// The signature is missing or wrong.
    #[error("the signature is missing or wrong")]
    Unsigned,
    /// The provider does not confirm the payment now.
    #[error("the provider does not confirm the payment now; send the webhook again")]
    NotConfirmed,
    /// The database did not commit it in time.
    #[error("the payment is not stored; send the webhook again")]
    NotStored,
}

/// Returns the page to which a provider sends a customer back.
pub(crate) fn return_page(payments: &Payments, id: TopUpId) -> String {
    format!("{}/payments/return/{id}", payments.settings.origin)
}

/// Returns the page that pays a top-up of the sandbox.
pub(crate) fn sandbox_page(payments: &Payments, id: TopUpId) -> String {
    format!("{}/payments/sandbox/{id}", payments.settings.origin)
}

/// Takes a webhook. The provider is asked for the payment, so that a webhook alone credits nothing.
pub(crate) async fn take_webhook(
    context: &Arc<Context>,
    name: &str,
    headers: Headers<'_>,
    body: &[u8],
) -> Result<(), WebhookRefusal> {
    let payments = Arc::clone(&context.live().payments);
    let provider = payments.provider(name);
    let provider = provider.ok_or(WebhookRefusal::UnknownProvider)?;
    let taken = if provider.is_signed(headers, body) {
        take_signed(context, provider, body).await
    } else {
        refuse_unsigned(provider);
        Err(WebhookRefusal::Unsigned)
    };
    measures::webhook(provider.name(), taken.unwrap_or_else(outcome_of));
    taken?;
    Ok(())
}

/// Returns the outcome of a webhook that was not taken.
const fn outcome_of(refusal: WebhookRefusal) -> WebhookOutcome {
    match refusal {
        WebhookRefusal::UnknownProvider => WebhookOutcome::Ignored,
        WebhookRefusal::Unsigned => WebhookOutcome::Unsigned,
        WebhookRefusal::NotConfirmed => WebhookOutcome::NotConfirmed,
        WebhookRefusal::NotStored => WebhookOutcome::NotStored,
    }
}

/// Anybody may post without a signature, so at most one line a minute is logged.
fn refuse_unsigned(provider: &PaymentProvider) {
    if let Some(unlogged) = provider.unsigned_to_log() {
        tracing::warn!(
            provider.name = provider.name(),
            unlogged,
            "payment webhook: refused (signature missing or wrong), logged at most once a minute"
        );
    }
}

async fn take_signed(
    context: &Arc<Context>,
    provider: &PaymentProvider,
    body: &[u8],
) -> Result<WebhookOutcome, WebhookRefusal> {
    let Some(reference) = provider.hook_reference(body) else {
        return Ok(WebhookOutcome::Ignored);
    };
    let top_ups = context.store.top_ups();
    let found = top_ups.of_reference(provider.name(), &reference);
    match stored(found).await? {
        Some(top_up) if !top_up.is_open() => Ok(WebhookOutcome::Repeated),
        Some(top_up) => take_known(context, provider, &top_up).await,
        None => take_unknown(context, provider, reference).await,
    }
}

/// Applies the payment of a top-up. The webhook is signed, so a provider that does not know the
/// payment yet will know it in a moment. The sweep does not ask for an expired top-up again, so the
/// webhook of a payment that is still on its way must be repeated.
async fn take_known(
    context: &Arc<Context>,
    provider: &PaymentProvider,
    top_up: &TopUp,
) -> Result<WebhookOutcome, WebhookRefusal> {
    let found = ask(provider, &top_up.reference).await?;
    let payment = found.ok_or(WebhookRefusal::NotConfirmed)?;
    let is_pending = payment.status == PaymentStatus::Pending;
    let SettledTopUp { top_up, verdict } = settle(context, top_up, payment).await?;
    if is_pending && top_up.is_open() && !top_up.is_watched {
        return Err(WebhookRefusal::NotConfirmed);
    }
    Ok(match verdict {
        Verdict::Credit => WebhookOutcome::Credited,
        Verdict::Mismatch(_) => WebhookOutcome::Mismatch,
        Verdict::Nothing if !top_up.is_open() => WebhookOutcome::Repeated,
        Verdict::Nothing | Verdict::Fail => WebhookOutcome::NotPaid,
    })
}

/// Keeps a payment whose reference is not ours as a mismatch, if its provider confirms it. The sweep
/// does not know it, so the webhook of one that is still on its way must be repeated.
async fn take_unknown(
    context: &Arc<Context>,
    provider: &PaymentProvider,
    reference: String,
) -> Result<WebhookOutcome, WebhookRefusal> {
    let Some(found) = ask(provider, &reference).await? else {
        return Ok(WebhookOutcome::Ignored);
    };
    match found.status {
        PaymentStatus::Paid => {}
        PaymentStatus::Pending => return Err(WebhookRefusal::NotConfirmed),
        PaymentStatus::Failed => return Ok(WebhookOutcome::NotPaid),
    }
    let payment = Payment { reference, ..found };
    let now_ms = context.clock.now_ms();
    let id = TopUpId::new(now_ms, context.random.bytes());
    let unknown = TopUp::unknown(id, provider.name(), &payment, now_ms);
    let top_ups = context.store.top_ups();
    if stored(top_ups.keep_unknown(unknown)).await? {
        measures::top_up(provider.name(), TopUpState::Mismatch);
        tracing::warn!(
            provider.name = provider.name(),
            top_up.id = %id,
            "payment: mismatch (unknown reference), see `ogene top-up list`"
        );
        return Ok(WebhookOutcome::Mismatch);
    }
    Ok(WebhookOutcome::Repeated)
}

/// Asks the provider for the payment of a top-up, and applies it. Returns `None` if the provider
/// knows no payment.
pub(super) async fn confirm(
    context: &Arc<Context>,
    provider: &PaymentProvider,
    top_up: &TopUp,
) -> Result<Option<TopUp>, WebhookRefusal> {
    match ask(provider, &top_up.reference).await? {
        Some(payment) => {
            let settled = settle(context, top_up, payment).await?;
            Ok(Some(settled.top_up))
        }
        None => Ok(None),
    }
}

async fn ask(
    provider: &PaymentProvider,
    reference: &str,
) -> Result<Option<Payment>, WebhookRefusal> {
    provider.find(reference).await.map_err(|error| {
        tracing::warn!(
            provider.name = provider.name(), %error,
            "payment provider: payment not confirmed, it is asked again later"
        );
        WebhookRefusal::NotConfirmed
    })
}

/// Applies a payment to its top-up in one commit.
async fn settle(
    context: &Arc<Context>,
    top_up: &TopUp,
    payment: Payment,
) -> Result<SettledTopUp, WebhookRefusal> {
    let now_ms = context.clock.now_ms();
    let top_ups = context.store.top_ups();
    let settled = stored(top_ups.settle(top_up.id, payment, now_ms)).await?;
    let SettledTopUp { top_up, verdict } = &settled;
    if *verdict != Verdict::Nothing {
        measures::top_up(&top_up.provider, top_up.state);
    }
    let account = top_up.account.map_or(0, |account| account.0);
    match verdict {
        Verdict::Nothing | Verdict::Fail => {}
        Verdict::Credit => tracing::info!(
            account.id = account,
            top_up.id = %top_up.id,
            "payment: credited"
        ),
        Verdict::Mismatch(reason) => tracing::warn!(
            account.id = account,
            top_up.id = %top_up.id,
            reason = reason.as_str(),
            "payment: mismatch, see `ogene top-up list`"
        ),
    }
    Ok(settled)
}

/// Waits for the database. A failure is logged here.
async fn stored<T>(change: impl Future<Output = database::Result<T>>) -> Result<T, WebhookRefusal> {
    match timeout(COMMIT_TIMEOUT, change).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => {
            tracing::error!(%error, "payment: not stored");
            Err(WebhookRefusal::NotStored)
        }
        Err(_) => {
            tracing::error!("payment: not stored in time");
            Err(WebhookRefusal::NotStored)
        }
    }
}

/// Returns a top-up for its return page. Its provider is asked for the payment, if it can be, and if
/// no visitor caused that a moment ago.
pub(crate) async fn look_up(context: &Arc<Context>, id: TopUpId) -> Result<Option<TopUp>, Error> {
    let Some(top_up) = context.store.top_ups().find(id).await? else {
        return Ok(None);
    };
    if !top_up.is_open() || top_up.environment == Environment::Sandbox {
        return Ok(Some(top_up));
    }
    let payments = Arc::clone(&context.live().payments);
    let Some(provider) = payments.provider(&top_up.provider) else {
        return Ok(Some(top_up));
    };
    if !provider.may_ask_again(id, context.clock.now_ms()) {
        return Ok(Some(top_up));
    }
    let confirmed = confirm(context, provider, &top_up).await;
    Ok(Some(confirmed.ok().flatten().unwrap_or(top_up)))
}

/// Pays a top-up of the sandbox. Returns `None` if there is no such top-up.
pub(crate) async fn pay_in_sandbox(
    context: &Arc<Context>,
    id: TopUpId,
) -> Result<Option<TopUp>, Error> {
    let found = context.store.top_ups().find(id).await?;
    let is_simulated = |top_up: &TopUp| top_up.environment == Environment::Sandbox;
    let Some(top_up) = found.filter(is_simulated) else {
        return Ok(None);
    };
    let payment = Payment {
        reference: top_up.reference.clone(),
        status: PaymentStatus::Paid,
        received: Received {
            amount: top_up.total(),
            currency: CURRENCY.to_owned(),
            payment_id: id.to_string(),
        },
    };
    let now_ms = context.clock.now_ms();
    let settled = context.store.top_ups().settle(id, payment, now_ms).await?;
    if settled.verdict != Verdict::Nothing {
        measures::top_up(&settled.top_up.provider, settled.top_up.state);
    }
    Ok(Some(settled.top_up))
}
