//! Flutterwave: payments over the API v3, and webhooks of v3 and v4.

use super::amounts::{id, naira};
use super::api::{
    ApiAnswer, ApiCall, Checkout, Headers, Provider, Unread, encoded, is_unknown, usable,
};
use super::signature::is_base64_sha256;
use crate::constant_time::is_secret;
use crate::payment::provided::{CURRENCY, Payment, PaymentStatus, Received};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{from_slice, json};
use std::fmt;

/// The version of webhooks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FlutterwaveVersion {
    /// The header `verif-hash` is the secret hash.
    V3,
    /// The header `flutterwave-signature` is an HMAC with the secret hash.
    V4,
}

/// An account at Flutterwave.
#[derive(Clone, Eq, PartialEq)]
pub struct Flutterwave {
    /// The secret key, which authorizes calls.
    pub secret_key: String,
    /// The secret hash, which authenticates webhooks.
    pub secret_hash: String,
    /// The version of webhooks.
    pub version: FlutterwaveVersion,
}

/// The secrets are never shown.
impl fmt::Debug for Flutterwave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Flutterwave({:?})", self.version)
    }
}

#[derive(Deserialize)]
struct Created {
    data: CreatedData,
}

#[derive(Deserialize)]
struct CreatedData {
    link: String,
}

#[derive(Deserialize)]
struct Found {
    data: Transaction,
}

#[derive(Deserialize)]
struct Transaction {
    id: Box<RawValue>,
    status: String,
    tx_ref: String,
    amount: Box<RawValue>,
    currency: String,
}

#[derive(Deserialize)]
struct Hook {
    data: HookData,
}

#[derive(Deserialize)]
struct HookData {
    /// The reference in v3.
    tx_ref: Option<String>,
    /// The reference in v4.
    reference: Option<String>,
}

impl Flutterwave {
    fn authorization(&self) -> String {
        format!("Bearer {}", self.secret_key)
    }
}

impl Provider for Flutterwave {
    fn create(&self, checkout: &Checkout<'_>, _token: &str) -> ApiCall {
        let body = json!({
            "tx_ref": checkout.reference,
            "amount": checkout.total.to_string(),
            "currency": CURRENCY,
            "redirect_url": checkout.return_url,
            "customer": { "email": checkout.email, "name": checkout.name },
        });
        ApiCall {
            path: "/v3/payments".to_owned(),
            authorization: self.authorization(),
            body: Some(body.to_string()),
        }
    }

    fn checkout_url(&self, answer: ApiAnswer<'_>) -> Result<String, Unread> {
        let created: Created = from_slice(answer.body).map_err(|_| Unread)?;
        Ok(created.data.link)
    }

    fn find(&self, reference: &str, _token: &str) -> ApiCall {
        let reference = encoded(reference);
        ApiCall {
            path: format!("/v3/transactions/verify_by_reference?tx_ref={reference}"),
            authorization: self.authorization(),
            body: None,
        }
    }

    fn payment(&self, answer: ApiAnswer<'_>) -> Result<Option<Payment>, Unread> {
        if is_unknown(answer) {
            return Ok(None);
        }
        let found: Found = from_slice(answer.body).map_err(|_| Unread)?;
        let transaction = found.data;
        Ok(Some(Payment {
            reference: transaction.tx_ref,
            status: match transaction.status.as_str() {
                "successful" | "succeeded" => PaymentStatus::Paid,
                "failed" | "cancelled" => PaymentStatus::Failed,
                _ => PaymentStatus::Pending,
            },
            received: Received::new(
                naira(&transaction.amount).ok_or(Unread)?,
                &transaction.currency,
                id(&transaction.id),
            ),
        }))
    }

    fn is_signed(&self, headers: Headers<'_>, body: &[u8]) -> bool {
        match self.version {
            FlutterwaveVersion::V3 => {
                headers("verif-hash").is_some_and(|given| is_secret(&self.secret_hash, given))
            }
            FlutterwaveVersion::V4 => headers("flutterwave-signature")
                .is_some_and(|given| is_base64_sha256(&self.secret_hash, body, given)),
        }
    }

    fn hook_reference(&self, body: &[u8]) -> Option<String> {
        let hook: Hook = from_slice(body).ok()?;
        usable(hook.data.tx_ref.or(hook.data.reference)?)
    }
}
