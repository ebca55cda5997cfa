//! Monnify: a login for each call, transactions, and webhooks that the secret key signs.

use super::amounts::naira;
use super::api::{
    ApiAnswer, ApiCall, Checkout, Headers, Provider, Unread, encoded, is_unknown, usable,
};
use super::signature::is_hex_sha512;
use crate::money::Money;
use crate::payment::provided::{CURRENCY, Payment, PaymentStatus, Received};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{from_slice, json};
use std::fmt;

/// An account at Monnify.
#[derive(Clone, Eq, PartialEq)]
pub struct Monnify {
    /// The API key, the user name of the login.
    pub api_key: String,
    /// The secret key, which is the password of the login and signs webhooks.
    pub secret_key: String,
    /// The code of the contract.
    pub contract_code: String,
}

/// The keys are never shown.
impl fmt::Debug for Monnify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Monnify")
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<T> {
    response_body: T,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Login {
    access_token: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Created {
    checkout_url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Transaction {
    #[serde(rename = "transactionReference")]
    id: String,
    payment_reference: String,
    payment_status: String,
    amount_paid: Option<Box<RawValue>>,
    #[serde(alias = "currencyCode")]
    currency: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Hook {
    event_data: HookData,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookData {
    payment_reference: String,
}

impl Provider for Monnify {
    fn login(&self) -> Option<ApiCall> {
        let pair = format!("{}:{}", self.api_key, self.secret_key);
        Some(ApiCall {
            path: "/api/v1/auth/login".to_owned(),
            authorization: format!("Basic {}", BASE64_STANDARD.encode(pair)),
            body: Some(String::new()),
        })
    }

    fn token(&self, answer: ApiAnswer<'_>) -> Result<String, Unread> {
        let login: Answer<Login> = from_slice(answer.body).map_err(|_| Unread)?;
        Ok(login.response_body.access_token)
    }

    fn create(&self, checkout: &Checkout<'_>, token: &str) -> ApiCall {
        let body = json!({
            "amount": checkout.total.to_string(),
            "customerName": checkout.name,
            "customerEmail": checkout.email,
            "paymentReference": checkout.reference,
            "paymentDescription": "SMS credit",
            "currencyCode": CURRENCY,
            "contractCode": self.contract_code,
            "redirectUrl": checkout.return_url,
        });
        ApiCall {
            path: "/api/v1/merchant/transactions/init-transaction".to_owned(),
            authorization: format!("Bearer {token}"),
            body: Some(body.to_string()),
        }
    }

    fn checkout_url(&self, answer: ApiAnswer<'_>) -> Result<String, Unread> {
        let created: Answer<Created> = from_slice(answer.body).map_err(|_| Unread)?;
        Ok(created.response_body.checkout_url)
    }

    fn find(&self, reference: &str, token: &str) -> ApiCall {
        let reference = encoded(reference);
        ApiCall {
            path: format!("/api/v2/merchant/transactions/query?paymentReference={reference}"),
            authorization: format!("Bearer {token}"),
            body: None,
        }
    }

    fn payment(&self, answer: ApiAnswer<'_>) -> Result<Option<Payment>, Unread> {
        if is_unknown(answer) {
            return Ok(None);
        }
        let found: Answer<Transaction> = from_slice(answer.body).map_err(|_| Unread)?;
        let transaction = found.response_body;
        let amount = match &transaction.amount_paid {
            Some(raw) if raw.get() != "null" => naira(raw).ok_or(Unread)?,
            _ => Money::ZERO,
        };
        Ok(Some(Payment {
            reference: transaction.payment_reference,
            // Money of another amount was received too. The judgement compares the amount.
            status: match transaction.payment_status.as_str() {
                "PAID" | "OVERPAID" | "PARTIALLY_PAID" => PaymentStatus::Paid,
                "FAILED" | "CANCELLED" | "REVERSED" | "EXPIRED" => PaymentStatus::Failed,
                _ => PaymentStatus::Pending,
            },
            received: Received::new(
                amount,
                &transaction.currency.unwrap_or_default(),
                &transaction.id,
            ),
        }))
    }

    fn is_signed(&self, headers: Headers<'_>, body: &[u8]) -> bool {
        let given = headers("monnify-signature");
        given.is_some_and(|given| is_hex_sha512(&self.secret_key, body, given))
    }

    fn hook_reference(&self, body: &[u8]) -> Option<String> {
        let hook: Hook = from_slice(body).ok()?;
        usable(hook.event_data.payment_reference)
    }
}
