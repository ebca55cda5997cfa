//! The figures of the installation in the document: limits, gateways and prices. All of them are
//! public.

use crate::http::extract::body::BodyLimits;
use crate::http::respond::codes::Codes;
use domain::{Environment, Gateway, Price, Rulebook};
use serde::Serialize;
use serde_json::{Value, json};

/// The part of the configuration that customers may see.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The limits of the engine. Customers see the rates among them.
    pub limits: engine::Limits,
    /// The limits of a request.
    pub body: BodyLimits,
    /// Gateways and prices.
    pub rules: Rulebook,
    /// The form of codes.
    pub codes: Codes,
}

/// A gateway with its prices.
#[derive(Serialize)]
pub(crate) struct Offer {
    pub(crate) gateway: &'static str,
    /// `true` if live messages are taken. The sandbox has every gateway that is listed.
    live: bool,
    /// Naira, as text: an amount is never a float.
    price: String,
    unicode_price: String,
    /// Networks whose price is another one.
    networks: Vec<NetworkPrice>,
    refunded: bool,
    transactional: bool,
    quiet_hours: Option<String>,
}

#[derive(Serialize)]
struct NetworkPrice {
    network: String,
    /// Naira, as text: an amount is never a float.
    price: String,
    unicode_price: String,
}

impl Installation {
    /// Returns the limits that a customer can reach.
    pub(crate) fn limits(&self) -> Value {
        json!({
            "sends_per_minute": self.limits.sends_per_minute,
            "reports_per_minute": self.limits.reports_per_minute,
            "reads_per_minute": self.limits.reads_per_minute,
            "unknown_tokens_per_minute": self.limits.unknown_tokens_per_minute,
            "idempotency_window_s": self.limits.idempotency_window_ms / 1_000,
            "max_recipients": self.body.recipients,
            "max_body_bytes": self.body.bytes,
        })
    }

    /// Returns the gateways that a request can name.
    pub(crate) fn offers(&self) -> Vec<Offer> {
        let offered = Gateway::ALL.iter().filter(|gateway| {
            let mut open = self.rules.open(Environment::Sandbox);
            open.any(|rules| rules.gateway == **gateway)
        });
        offered.filter_map(|&gateway| self.offer(gateway)).collect()
    }

    fn offer(&self, gateway: Gateway) -> Option<Offer> {
        let rules = self.rules.gateway(gateway)?;
        let first_leg = self.rules.leg(gateway, domain::Leg::First)?;
        let list = self.rules.list_price(gateway, None)?;
        let networks = self.rules.plan.networks().iter().enumerate();
        let networks = networks.filter_map(|(index, network)| {
            let price = self.rules.list_price(gateway, u8::try_from(index).ok())?;
            (price != list).then(|| NetworkPrice::new(network, price))
        });
        Some(Offer {
            gateway: gateway.as_str(),
            live: self.rules.is_carried(gateway),
            price: list.plain.to_string(),
            unicode_price: list.unicode.to_string(),
            networks: networks.collect(),
            refunded: rules.refund_undelivered,
            transactional: rules.transactional,
            quiet_hours: first_leg.quiet_hours.map(|hours| hours.to_string()),
        })
    }
}

impl NetworkPrice {
    fn new(network: &str, price: Price) -> Self {
        Self {
            network: network.to_owned(),
            price: price.plain.to_string(),
            unicode_price: price.unicode.to_string(),
        }
    }
}

/// Returns a size in octets in a form for people.
pub(crate) fn size(bytes: usize) -> String {
    const MIB: usize = 1 << 20;
    const KIB: usize = 1 << 10;
    if bytes.is_multiple_of(MIB) {
        format!("{} MiB", bytes / MIB)
    } else if bytes.is_multiple_of(KIB) {
        format!("{} KiB", bytes / KIB)
    } else {
        format!("{bytes} octets")
    }
}

/// Returns a count with commas between its thousands.
pub(crate) fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(toml: &str) -> serde_json::Value {
        let config = crate::config::Config::read(toml, "test", []).expect("no fault");
        serde_json::to_value(crate::app::installation(&config).offers()).expect("JSON")
    }

    #[test]
    fn offers_have_the_prices_of_the_configuration() {
        let offers = offers(
            r#"
            [carriers.mtn]
            address = "127.0.0.1:9"
            system_id = "ogene"
            password = "secret"
            [gateways.direct-refund]
            carriers = ["mtn"]
            price = "4.25"
            unicode_price = "9.50"
            prices = { glo = "5.00" }
            account_prices = { 7 = "1.00" }
            quiet_hours = "20:00-08:00"
            [gateways.direct-corporate]
            carriers = ["mtn"]
            price = "6.00"
            [gateways.dual-backup]
            "#,
        );
        assert_eq!(offers[0]["gateway"], "direct-refund");
        assert_eq!(offers[0]["live"], true);
        assert_eq!(offers[0]["price"], "4.25");
        assert_eq!(offers[0]["unicode_price"], "9.50");
        assert_eq!(offers[0]["networks"].as_array().map(Vec::len), Some(1));
        assert_eq!(offers[0]["networks"][0]["network"], "glo");
        assert_eq!(offers[0]["networks"][0]["unicode_price"], "10.00");
        assert_eq!(offers[0]["quiet_hours"], "20:00-08:00");
        assert!(
            !offers.to_string().contains("\"1.00\""),
            "prices of single accounts are theirs"
        );
        assert_eq!(offers[2]["gateway"], "dual-backup");
        assert_eq!(offers[2]["price"], "6.00", "the dearer leg's");
        assert_eq!(offers[2]["unicode_price"], "12.00");
        assert_eq!(offers[3], serde_json::Value::Null);
    }

    #[test]
    fn without_carriers_the_sandbox_alone_has_gateways() {
        let offers = offers("");
        let offers = offers.as_array().expect("a list");
        assert!(!offers.is_empty());
        assert!(offers.iter().all(|offer| offer["live"] == false));
    }

    #[test]
    fn sizes_and_counts_read_as_people_write_them() {
        assert_eq!(size(10 << 20), "10 MiB");
        assert_eq!(size(1536), "1536 octets");
        assert_eq!(size(64 << 10), "64 KiB");
        assert_eq!(count(7), "7");
        assert_eq!(count(10_000), "10,000");
        assert_eq!(count(1_234_567), "1,234,567");
    }
}
