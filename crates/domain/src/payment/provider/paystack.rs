//! Paystack: transactions, and webhooks that the secret key signs.

use super::amounts::{id, in_kobo, kobo};
use super::api::{
    ApiAnswer, ApiCall, Checkout, Headers, Provider, Unread, encoded, is_unknown, usable,
};
use super::signature::{hex_sha512, is_hex_sha512};
use crate::payment::provided::{CURRENCY, Payment, PaymentStatus, Received};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{from_slice, json};
use std::fmt;

/// An account at Paystack.
#[derive(Clone, Eq, PartialEq)]
pub struct Paystack {
    /// The secret key, which authorizes calls and signs webhooks.
    pub secret_key: String,
}

/// The key is never shown.
impl fmt::Debug for Paystack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Paystack")
    }
}

#[derive(Deserialize)]
struct Created {
    data: CreatedData,
}

#[derive(Deserialize)]
struct CreatedData {
    authorization_url: String,
}

#[derive(Deserialize)]
struct Found {
    data: Transaction,
}

#[derive(Deserialize)]
struct Transaction {
    id: Box<RawValue>,
    status: String,
    reference: String,
    amount: Box<RawValue>,
    currency: String,
}

#[derive(Deserialize)]
struct Hook {
    data: HookData,
}

#[derive(Deserialize)]
struct HookData {
    reference: String,
}

impl Paystack {
    /// Returns the signature of a webhook.
    pub fn signature(&self, body: &[u8]) -> String {
        hex_sha512(&self.secret_key, body)
    }
}

impl Provider for Paystack {
    fn create(&self, checkout: &Checkout<'_>, _token: &str) -> ApiCall {
        let body = json!({
            "email": checkout.email,
            "amount": in_kobo(checkout.total).to_string(),
            "currency": CURRENCY,
            "reference": checkout.reference,
            "callback_url": checkout.return_url,
        });
        ApiCall {
            path: "/transaction/initialize".to_owned(),
            authorization: format!("Bearer {}", self.secret_key),
            body: Some(body.to_string()),
        }
    }

    fn checkout_url(&self, answer: ApiAnswer<'_>) -> Result<String, Unread> {
        let created: Created = from_slice(answer.body).map_err(|_| Unread)?;
        Ok(created.data.authorization_url)
    }

    fn find(&self, reference: &str, _token: &str) -> ApiCall {
        ApiCall {
            path: format!("/transaction/verify/{}", encoded(reference)),
            authorization: format!("Bearer {}", self.secret_key),
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
            reference: transaction.reference,
            // A customer may try again after `failed`. `reversed` money was paid back.
            status: match transaction.status.as_str() {
                "success" => PaymentStatus::Paid,
                "failed" | "reversed" => PaymentStatus::Failed,
                _ => PaymentStatus::Pending,
            },
            received: Received::new(
                kobo(&transaction.amount).ok_or(Unread)?,
                &transaction.currency,
                id(&transaction.id),
            ),
        }))
    }

    fn is_signed(&self, headers: Headers<'_>, body: &[u8]) -> bool {
        let given = headers("x-paystack-signature");
        given.is_some_and(|given| is_hex_sha512(&self.secret_key, body, given))
    }

    fn hook_reference(&self, body: &[u8]) -> Option<String> {
        let hook: Hook = from_slice(body).ok()?;
        usable(hook.data.reference)
    }
}
