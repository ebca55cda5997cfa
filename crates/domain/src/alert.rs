//! Alerts: an account is told once when its balance falls below a threshold.

use crate::callback_url;
use crate::ids::AccountId;
use crate::money::Money;
use crate::refusal::Refusal;
use crate::time::lagos_time;
use crate::user::normalised_email;
use serde::Serialize;
use serde_json::value::RawValue;
use std::fmt::Display;

/// Maximum number of alerts of an account.
pub const MAX_ALERTS: usize = 20;

/// The raw fields of a request for an alert.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AlertFields {
    /// The threshold.
    pub threshold: Option<String>,
    /// The URL that is called.
    pub url: Option<String>,
    /// The address that gets a mail.
    pub email: Option<String>,
}

/// The receiver of an alert.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AlertTarget {
    /// A URL, which is called as for delivery callbacks.
    Url(String),
    /// An address, which gets a mail.
    Email(String),
}

/// A request for an alert.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AlertRequest {
    /// The threshold.
    pub threshold: Money,
    /// The receiver.
    pub target: AlertTarget,
}

impl AlertRequest {
    /// Parses the fields of a request. `has_mail` is `true` if the installation sends mails.
    pub fn read(
        fields: &AlertFields,
        private_callbacks: bool,
        has_mail: bool,
    ) -> Result<Self, Refusal> {
        let given = |field: &Option<String>| {
            let text = field.as_deref().unwrap_or_default().trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let threshold = given(&fields.threshold).and_then(|text| text.parse().ok());
        let threshold = threshold.filter(|threshold: &Money| threshold.is_positive());
        let Some(threshold) = threshold else {
            let fault = "it must be an amount in naira above 0, such as 5000.00";
            return Err(malformed("threshold", &fault));
        };
        let target = match (given(&fields.url), given(&fields.email)) {
            (Some(url), None) => {
                let checked = callback_url::check_stored(&url, private_callbacks);
                checked.map_err(|fault| malformed("url", &fault))?;
                AlertTarget::Url(url)
            }
            (None, Some(_)) if !has_mail => {
                let fault = "this installation sends no mail. Give a `url`";
                return Err(malformed("email", &fault));
            }
            (None, Some(email)) => {
                let email = normalised_email(&email);
                AlertTarget::Email(
                    email.ok_or_else(|| malformed("email", &"it is no e-mail address"))?,
                )
            }
            (Some(_), Some(_)) | (None, None) => {
                let fault = "give either `url` or `email`";
                return Err(malformed("url", &fault));
            }
        };
        Ok(Self { threshold, target })
    }
}

fn malformed(field: &str, fault: &dyn Display) -> Refusal {
    Refusal::Malformed(format!("`{field}` cannot be used: {fault}."))
}

/// An alert of an account.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Alert {
    /// The id.
    pub id: String,
    /// The account.
    pub account: AccountId,
    /// The threshold.
    pub threshold: Money,
    /// The receiver.
    pub target: AlertTarget,
    /// `true` while the balance is below the threshold.
    pub is_below: bool,
    /// The time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// The time at which the account was told last, Unix milliseconds.
    pub told_at_ms: Option<i64>,
}

#[derive(Serialize)]
struct Posted<'a> {
    event: &'static str,
    alert_id: &'a str,
    threshold: Option<Box<RawValue>>,
    balance: Option<Box<RawValue>>,
    at: String,
}

impl Alert {
    /// Returns the body of the callback about a balance below the threshold.
    pub fn callback_body(&self, balance: Money, at_ms: i64) -> String {
        let number = |amount: Money| RawValue::from_string(amount.to_string()).ok();
        let body = Posted {
            event: "low_balance",
            alert_id: &self.id,
            threshold: number(self.threshold),
            balance: number(balance),
            at: lagos_time(at_ms),
        };
        // Texts and numbers always have a JSON form.
        serde_json::to_string(&body).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(threshold: &str, url: &str, email: &str) -> Result<AlertRequest, String> {
        let fields = AlertFields {
            threshold: Some(threshold.to_owned()),
            url: Some(url.to_owned()),
            email: Some(email.to_owned()),
        };
        AlertRequest::read(&fields, false, true).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn an_alert_has_a_threshold_and_one_receiver() {
        let by_mail = read("5000", "", "Ada@Example.NG").unwrap();
        let expected = AlertTarget::Email("ada@example.ng".to_owned());
        assert_eq!(
            (by_mail.threshold, by_mail.target),
            (Money::from_naira(5_000), expected)
        );
        assert!(read("0.01", "https://shop.example.ng/low", "").is_ok());
        for (threshold, url, email, field) in [
            ("0", "https://shop.example.ng/low", "", "`threshold`"),
            ("-5", "https://shop.example.ng/low", "", "`threshold`"),
            ("", "https://shop.example.ng/low", "", "`threshold`"),
            ("5", "", "", "`url`"),
            (
                "5",
                "https://shop.example.ng/low",
                "ada@example.ng",
                "`url`",
            ),
            ("5", "http://127.0.0.1/", "", "`url`"),
            ("5", "https://shop.example.ng/\0", "", "`url`"),
            ("5", "https://shop.example.ng/\nlow", "", "`url`"),
            ("5", "", "ada", "`email`"),
        ] {
            let refusal = read(threshold, url, email).unwrap_err();
            assert!(refusal.starts_with(field), "{refusal}");
        }
    }

    #[test]
    fn a_callback_has_exact_amounts() {
        let alert = Alert {
            id: "al_1".to_owned(),
            account: AccountId(1),
            threshold: Money::from_naira(5_000),
            target: AlertTarget::Url(String::new()),
            is_below: true,
            created_at_ms: 0,
            told_at_ms: None,
        };
        let body = alert.callback_body(Money::from_units(49_945_000), 1_795_000_000_000);
        let expected = r#"{"event":"low_balance","alert_id":"al_1","threshold":5000.00,"balance":4994.50,"at":"2026-11-18 12:06:40"}"#;
        assert_eq!(body, expected);
    }
}
