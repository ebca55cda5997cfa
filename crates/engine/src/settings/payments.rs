//! The settings of top-ups and payment providers.

use domain::payment::provider::Provider;
use domain::payment::{Percent, Terms};
use domain::{Component, Money};
use std::sync::Arc;
use std::time::Duration;
use url::{Host, Url};

/// The settings of top-ups.
#[derive(Clone, Debug)]
pub struct PaymentSettings {
    /// The terms.
    pub terms: Terms,
    /// The providers. The first is the default one.
    pub providers: Vec<ProviderSettings>,
    /// The period in which providers are asked for payments that nobody reported.
    pub sweep: Duration,
    /// The origin with which our pages begin, such as `https://sms.example.ng`.
    pub origin: String,
}

impl Default for PaymentSettings {
    fn default() -> Self {
        Self {
            terms: Terms {
                vat: Percent::from_hundredths(750),
                minimum: Money::from_naira(500),
                component: Component::UniversalWallet,
                bonuses: Vec::new(),
                expires_ms: 86_400_000,
            },
            providers: Vec::new(),
            sweep: Duration::from_mins(5),
            origin: "http://127.0.0.1:8080".to_owned(),
        }
    }
}

/// The settings of an account at a payment provider.
#[derive(Clone, Debug)]
pub struct ProviderSettings {
    /// The name of the provider, which is part of the path of its webhooks.
    pub name: &'static str,
    /// The URL of its API, to which alone requests go.
    pub base_url: Url,
    /// The calls and webhooks of the provider, with its keys.
    pub provider: Arc<dyn Provider>,
}

/// The URL of an API is not usable.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum BaseUrlFault {
    /// The text is not a URL, or more than one.
    #[error("is not a URL such as \"https://api.example.com\"")]
    Form,
    /// The keys would be sent without TLS.
    #[error("would send the keys in plain text: use https")]
    PlainText,
}

impl ProviderSettings {
    /// Reads the URL of the API. The keys go there, so only a loopback address may lack TLS.
    pub fn new(
        name: &'static str,
        base_url: &str,
        provider: Arc<dyn Provider>,
    ) -> Result<Self, BaseUrlFault> {
        let base_url = Url::parse(base_url).map_err(|_| BaseUrlFault::Form)?;
        let is_whole = base_url.query().is_none() && base_url.fragment().is_none();
        let has_user = !base_url.username().is_empty() || base_url.password().is_some();
        match base_url.scheme() {
            _ if !is_whole || has_user || !base_url.has_host() => Err(BaseUrlFault::Form),
            "https" => Ok(()),
            "http" if is_loopback(&base_url) => Ok(()),
            "http" => Err(BaseUrlFault::PlainText),
            _ => Err(BaseUrlFault::Form),
        }?;
        Ok(Self {
            name,
            base_url,
            provider,
        })
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
