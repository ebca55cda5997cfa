//! The top-ups of customers (docs/spec/payments.md).

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::context::Context;
use crate::context::metrics::payments as measures;
use crate::context::payments::{PaymentProvider, Payments};
use crate::error::{Error, within};
use crate::payments::{return_page, sandbox_page};
use domain::payment::provider::Checkout;
use domain::payment::{NewTopUp, TopUp, TopUpFields, TopUpId, TopUpRequest, TopUpState};
use domain::{Environment, ObjectRefusal, Refusal, idempotency};
use std::sync::Arc;
use store::Outcome;

/// The provider of top-ups in the sandbox, where a page of ours pays.
const SANDBOX_PROVIDER: &str = "sandbox";

/// Makes a top-up, whose page its provider has. Nothing is kept if the provider does not answer.
pub async fn create_top_up(
    admission: &Admission,
    fields: &TopUpFields,
    keyed: Option<KeyedAnswer<TopUp>>,
) -> Result<Changed<TopUp>, Error> {
    let context = admission.context();
    let payments = Arc::clone(&context.live().payments);
    let request = TopUpRequest::read(fields, &payments.settings.terms)?;
    let meaning = idempotency::of_top_up(&request);
    let shown = |top_up: &TopUp| (top_up.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let now_ms = context.clock.now_ms();
    let id = TopUpId::new(now_ms, context.random.bytes());
    let (provider, checkout_url) = page(admission, &payments, &request, id).await?;
    let new = NewTopUp {
        id,
        account: admission.customer().account.id,
        environment: admission.environment(),
        provider: provider.to_owned(),
        price: request.price,
        checkout_url,
        return_url: request.return_url,
        expires_ms: payments.settings.terms.expires_ms,
    };
    let account = new.account;
    let created = TopUp::new(new, now_ms);
    let top_ups = context.store.top_ups();
    let made = top_ups.create(account, created, claimed.keyed.take());
    let outcome = within(async { Ok(made.await?) }).await?;
    if let Outcome::Made(top_up) = &outcome {
        measures::top_up(&top_up.provider, top_up.state);
    }
    changed(outcome, |top_up| top_up)
}

/// Returns the name of the provider, and the address of its page for the payment.
async fn page(
    admission: &Admission,
    payments: &Payments,
    request: &TopUpRequest,
    id: TopUpId,
) -> Result<(&'static str, String), Error> {
    let provider = match chosen(payments, request.provider.as_deref()) {
        Ok(provider) => Some(provider),
        Err(_) if admission.environment() == Environment::Sandbox && request.provider.is_none() => {
            None
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let Some(provider) = provider.filter(|_| admission.environment() == Environment::Live) else {
        return Ok((SANDBOX_PROVIDER, sandbox_page(payments, id)));
    };
    let account = &admission.customer().account;
    let checkout = Checkout {
        reference: &id.reference(),
        total: request.price.amount + request.price.vat,
        email: &account.email,
        name: &account.name,
        return_url: &return_page(payments, id),
    };
    match provider.create(&checkout).await {
        Ok(url) => Ok((provider.name(), url)),
        Err(error) => {
            tracing::warn!(
                provider.name = provider.name(), %error,
                "payment provider: no page made, the top-up is refused"
            );
            Err(Refusal::from(ObjectRefusal::ProviderDown).into())
        }
    }
}

/// Returns the provider of a name, or the default one.
fn chosen<'a>(
    payments: &'a Payments,
    name: Option<&str>,
) -> Result<&'a Arc<PaymentProvider>, Refusal> {
    let found = match name {
        Some(name) => payments.provider(name),
        None => payments.providers.first(),
    };
    found.ok_or_else(|| {
        let names: Vec<&str> = payments.providers.iter().map(|one| one.name()).collect();
        let instead = if names.is_empty() {
            "This installation has no payment provider. Ask the operator to add credit.".to_owned()
        } else {
            format!("`provider` must be one of: {}.", names.join(", "))
        };
        ObjectRefusal::UnknownProvider { instead }.into()
    })
}

/// Returns a top-up of the account.
pub async fn find_top_up(admission: &Admission, id: &str) -> Result<TopUp, Error> {
    admission.queries().top_up(id).await
}

/// Returns a paid top-up of the account.
pub async fn find_paid_top_up(admission: &Admission, id: &str) -> Result<TopUp, Error> {
    let top_up = find_top_up(admission, id).await?;
    if top_up.state == TopUpState::Paid {
        return Ok(top_up);
    }
    let text = "This top-up is not paid, so it has no receipt yet.";
    Err(Refusal::TooLate(text).into())
}

/// Returns a top-up of any account.
pub(super) async fn find(context: &Context, id: &str) -> Result<Option<TopUp>, Error> {
    let Ok(id) = id.parse() else {
        return Ok(None);
    };
    let top_ups = context.store.top_ups();
    within(async { Ok(top_ups.find(id).await?) }).await
}
