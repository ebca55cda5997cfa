//! `[payments]`: the terms of top-ups, and the accounts at payment providers.

use super::fault::Origin;
use super::gateway::millis;
use super::http::Http;
use super::section::Section;
use super::tree::{Node, Value};
use super::value::{Read, table};
use domain::payment::provider::{Flutterwave, FlutterwaveVersion, Monnify, Paystack, Provider};
use domain::payment::{Bonus, MAX_TOP_UP, NotPercent, Percent, Terms, is_in_kobo};
use domain::{Component, Money};
use engine::{PaymentSettings, ProviderSettings};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// Allowed times to pay, and periods of the search for payments.
const EXPIRES: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(30 * 24);
const SWEEPS: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(1);
const VERSIONS: RangeInclusive<u32> = 3..=4;
/// Maximum number of bonuses.
const MAX_BONUSES: usize = 20;

const PAYSTACK: &str = "paystack";
const FLUTTERWAVE: &str = "flutterwave";
const MONNIFY: &str = "monnify";
const PROVIDERS: [(&str, &str); 3] = [
    (PAYSTACK, PAYSTACK),
    (FLUTTERWAVE, FLUTTERWAVE),
    (MONNIFY, MONNIFY),
];

/// Reads the section. The default provider becomes the first one.
pub(super) fn read(mut section: Section<'_>, http: &Http) -> PaymentSettings {
    let default_place = section.place_of("default");
    let default = section.one_of("default", &PROVIDERS);
    let settings = PaymentSettings {
        terms: terms(&mut section),
        sweep: section.time("sweep", SWEEPS).unwrap_or_default(),
        origin: origin(http),
        providers: Vec::new(),
    };
    let mut providers = Vec::new();
    for (name, read) in [
        (
            PAYSTACK,
            paystack as fn(&mut Section<'_>) -> Option<Arc<dyn Provider>>,
        ),
        (FLUTTERWAVE, flutterwave),
        (MONNIFY, monnify),
    ] {
        if section.has(name) {
            let place = section.place_of(name);
            let inner = section.section(name);
            if http.public_url.is_none() {
                let fault = "needs `http.public_url`, with which hooks and return pages begin";
                section.fault_at(&place, name, fault);
            }
            providers.extend(provider(name, inner, read));
        }
    }
    check_default(&section, &default_place, default, &providers);
    providers.sort_by_key(|provider| Some(provider.name) != default);
    section.finish();
    PaymentSettings {
        providers,
        ..settings
    }
}

/// Refuses a default that is not configured, and several providers without a default.
fn check_default(
    section: &Section<'_>,
    place: &Origin,
    default: Option<&str>,
    providers: &[ProviderSettings],
) {
    let fault = match default {
        Some(name) if providers.iter().all(|one| one.name != name) => {
            format!("`payments.{name}` is not configured")
        }
        None if providers.len() > 1 => "is missing: there are several providers".to_owned(),
        Some(_) | None => return,
    };
    section.fault_at(place, "default", fault);
}

/// Returns the origin of our pages. Without `http.public_url` only the sandbox has pages.
fn origin(http: &Http) -> String {
    let listen = http.listen;
    match &http.public_url {
        Some(public) => public.origin().to_owned(),
        None if listen.ip().is_unspecified() => format!("http://localhost:{}", listen.port()),
        None if http.tls.is_some() => format!("https://{listen}"),
        None => format!("http://{listen}"),
    }
}

fn terms(section: &mut Section<'_>) -> Terms {
    let components = Component::ALL.map(|component| (component.as_str(), component));
    let Amount(minimum) = section.get("minimum").unwrap_or_default();
    let component = section.one_of("component", &components);
    Terms {
        vat: section.get("vat_percent").unwrap_or_default(),
        minimum,
        component: component.unwrap_or(Component::UniversalWallet),
        bonuses: bonuses(section),
        expires_ms: section.time("expires", EXPIRES).map_or(1, millis),
    }
}

fn bonuses(section: &mut Section<'_>) -> Vec<Bonus> {
    let place = section.place_of("bonus");
    let given: Vec<GivenBonus> = section.get("bonus").unwrap_or_default();
    let mut from: Vec<Money> = given.iter().map(|bonus| bonus.0.from).collect();
    from.sort_unstable();
    if from.windows(2).any(|pair| pair[0] == pair[1]) {
        section.fault_at(&place, "bonus", "has two entries with the same `from`");
    } else if given.len() > MAX_BONUSES {
        let fault = format!(
            "has {} entries; at most {MAX_BONUSES} are allowed",
            given.len()
        );
        section.fault_at(&place, "bonus", fault);
    }
    given.into_iter().map(|bonus| bonus.0).collect()
}

fn provider(
    name: &'static str,
    mut section: Section<'_>,
    read: fn(&mut Section<'_>) -> Option<Arc<dyn Provider>>,
) -> Option<ProviderSettings> {
    let place = section.place_of("base_url");
    let base_url: Option<String> = section.get("base_url");
    let base_url = base_url.unwrap_or_else(|| default_base_url(name).to_owned());
    let settings = read(&mut section).and_then(|provider| {
        let settings = ProviderSettings::new(name, &base_url, provider);
        settings
            .map_err(|fault| section.fault_at(&place, "base_url", fault.to_string()))
            .ok()
    });
    section.finish();
    settings
}

fn default_base_url(name: &str) -> &'static str {
    match name {
        PAYSTACK => "https://api.paystack.co",
        FLUTTERWAVE => "https://api.flutterwave.com",
        _ => "https://api.monnify.com",
    }
}

/// Reads a secret that is required.
fn key(section: &mut Section<'_>, key: &'static str, file: &'static str) -> Option<String> {
    let place = section.place_of(key);
    let is_set = section.has(key) || section.has(file);
    let secret = section.secret(key, file);
    if !is_set {
        section.fault(
            key,
            format!("is missing; give it, or `{file}` with a file that has it"),
        );
        return None;
    }
    let text = secret?.reveal().trim().to_owned();
    if text.is_empty() {
        section.fault_at(&place, key, "must not be empty");
        return None;
    }
    Some(text)
}

fn paystack(section: &mut Section<'_>) -> Option<Arc<dyn Provider>> {
    let secret_key = key(section, "secret_key", "secret_key_file")?;
    Some(Arc::new(Paystack { secret_key }))
}

fn flutterwave(section: &mut Section<'_>) -> Option<Arc<dyn Provider>> {
    let secret_key = key(section, "secret_key", "secret_key_file");
    let secret_hash = key(section, "secret_hash", "secret_hash_file");
    let version = match section.within("version", VERSIONS) {
        Some(4) => FlutterwaveVersion::V4,
        Some(_) | None => FlutterwaveVersion::V3,
    };
    Some(Arc::new(Flutterwave {
        secret_key: secret_key?,
        secret_hash: secret_hash?,
        version,
    }))
}

fn monnify(section: &mut Section<'_>) -> Option<Arc<dyn Provider>> {
    let api_key = key(section, "api_key", "api_key_file");
    let secret_key = key(section, "secret_key", "secret_key_file");
    let contract_code: Option<String> = section.require("contract_code");
    Some(Arc::new(Monnify {
        api_key: api_key?,
        secret_key: secret_key?,
        contract_code: contract_code?,
    }))
}

/// An amount of a top-up.
#[derive(Clone, Copy, Default)]
struct Amount(Money);

impl Read for Amount {
    fn read(node: &Node) -> Result<Self, String> {
        let text = match &node.value {
            Value::Text(text) | Value::Number(text) | Value::Variable(text) => text,
            other => return Err(format!("must be an amount in naira, not {}", other.kind())),
        };
        let amount: Money = text
            .parse()
            .map_err(|fault| format!("{text:?} is {fault}"))?;
        if amount.is_positive() && amount <= MAX_TOP_UP && is_in_kobo(amount) {
            return Ok(Self(amount));
        }
        Err(format!(
            "must be above 0, at most {MAX_TOP_UP}, with at most two decimals"
        ))
    }
}

impl Read for Percent {
    fn read(node: &Node) -> Result<Self, String> {
        let text = match &node.value {
            Value::Text(text) | Value::Number(text) | Value::Variable(text) => text,
            other => return Err(format!("must be a percentage, not {}", other.kind())),
        };
        text.parse()
            .map_err(|fault: NotPercent| format!("{text:?} is {fault}"))
    }
}

/// A bonus as `{ from = "100000.00", percent = "5" }`.
struct GivenBonus(Bonus);

impl Read for GivenBonus {
    fn read(node: &Node) -> Result<Self, String> {
        let table = table(node)?;
        if let Some(key) = table
            .keys()
            .find(|key| !["from", "percent"].contains(&key.as_str()))
        {
            return Err(format!("unknown key `{key}`; known are from, percent"));
        }
        let (from, percent) = (table.get("from"), table.get("percent"));
        let Amount(from) = Amount::read(from.ok_or("has no `from`")?)?;
        let percent = Percent::read(percent.ok_or("has no `percent`")?)?;
        Ok(Self(Bonus { from, percent }))
    }
}
