//! The payments that providers report, and the pages of ours on the way of a payment.

use super::top_ups;
use crate::context::Context;
use crate::error::{Error, within};
use crate::payments::{self, WebhookRefusal};
use domain::payment::provider::Headers;
use domain::payment::{Terms, TopUp};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Longest wait of a return page for the provider. The webhook or the sweep finds the payment later.
const RETURN_TIMEOUT: Duration = Duration::from_secs(8);

/// The settings of top-ups that a page shows. No key of a provider is among them.
#[derive(Clone, Debug)]
pub struct PaymentTerms {
    /// The terms.
    pub terms: Terms,
    /// The names of the providers with the URLs of their APIs. The first is the default one.
    pub providers: Vec<(&'static str, String)>,
    /// The period in which providers are asked for payments that nobody reported.
    pub sweep: Duration,
    /// The origin with which the URLs of webhooks begin.
    pub origin: String,
}

/// The entrance of payment providers and of customers who pay. No token is needed.
#[derive(Clone)]
pub struct PaymentDesk {
    pub(super) context: Arc<Context>,
}

impl PaymentDesk {
    /// Returns the settings of top-ups.
    pub fn terms(&self) -> PaymentTerms {
        let live = self.context.live();
        let settings = &live.payments.settings;
        let providers = settings.providers.iter();
        PaymentTerms {
            terms: settings.terms.clone(),
            providers: providers
                .map(|one| (one.name, one.base_url.to_string()))
                .collect(),
            sweep: settings.sweep,
            origin: settings.origin.clone(),
        }
    }

    /// Takes a webhook of a provider, whose signature is over these octets.
    pub async fn take_webhook(
        &self,
        provider: &str,
        headers: Headers<'_>,
        body: &[u8],
    ) -> Result<(), WebhookRefusal> {
        payments::take_webhook(&self.context, provider, headers, body).await
    }

    /// Returns the top-up of a customer who comes back from a provider, after the provider was
    /// asked for the payment.
    pub async fn returned(&self, id: &str) -> Result<Option<TopUp>, Error> {
        let Ok(parsed) = id.parse() else {
            return Ok(None);
        };
        let looked_up = payments::look_up(&self.context, parsed);
        match timeout(RETURN_TIMEOUT, looked_up).await {
            Ok(found) => found,
            Err(_) => self.find(id).await,
        }
    }

    /// Returns a top-up as it stands.
    pub async fn find(&self, id: &str) -> Result<Option<TopUp>, Error> {
        top_ups::find(&self.context, id).await
    }

    /// Pays a top-up of the sandbox. Returns `None` for any other.
    pub async fn pay_in_sandbox(&self, id: &str) -> Result<Option<TopUp>, Error> {
        let Ok(id) = id.parse() else {
            return Ok(None);
        };
        within(payments::pay_in_sandbox(&self.context, id)).await
    }
}
