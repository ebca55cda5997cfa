//! A simulated payment provider, which answers as Flutterwave's documentation of version 3 says.

use super::fault::Fault;
use super::state::{Outside, State};
use domain::payment::provider::{Flutterwave, FlutterwaveVersion};
use engine::ProviderSettings;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

pub(crate) const NAME: &str = "flutterwave";
/// The header that authenticates a webhook, and its value.
pub(crate) const SIGNATURE: (&str, &str) = ("verif-hash", "hash-s3cret");
/// The amount that a customer pays who pays too little, in naira.
const TOO_LITTLE: &str = "1.00";

/// A payment at the provider.
#[derive(Clone, Debug)]
struct Payment {
    /// The amount that is to be paid.
    total: String,
    /// The amount that was paid.
    paid: Option<String>,
}

/// The payments of the provider by reference.
#[derive(Default)]
pub(crate) struct Book(BTreeMap<String, Payment>);

impl Book {
    /// The customer pays, perhaps too little.
    pub(crate) fn pay(&mut self, reference: &str, is_whole: bool) {
        let payment = self.0.get_mut(reference).expect("a page was made");
        payment.paid = Some(if is_whole {
            payment.total.clone()
        } else {
            TOO_LITTLE.to_owned()
        });
    }
}

/// Returns the address of the provider.
pub(crate) fn address() -> SocketAddr {
    ([127, 0, 0, 1], 99).into()
}

pub(crate) fn settings() -> ProviderSettings {
    let account = Flutterwave {
        secret_key: "secret".to_owned(),
        secret_hash: SIGNATURE.1.to_owned(),
        version: FlutterwaveVersion::V3,
    };
    let url = format!("http://{}", address());
    ProviderSettings::new(NAME, &url, Arc::new(account)).unwrap()
}

/// Returns the body of the webhook about a reference.
pub(crate) fn webhook(reference: &str) -> String {
    json!({"event": "charge.completed", "data": {"id": 7, "tx_ref": reference, "amount": 1,
        "currency": "NGN", "status": "successful"}})
    .to_string()
}

/// Plays the provider on one connection.
pub(crate) async fn serve(outside: Outside, mut stream: DuplexStream) {
    let mut input = Vec::new();
    loop {
        let Some((target, body)) = request(&mut input) else {
            match stream.read_buf(&mut input).await {
                Ok(0) | Err(_) => return,
                Ok(_) => continue,
            }
        };
        let answer = {
            let mut state = outside.lock();
            if state.strikes(Fault::ProviderHangs, 20) {
                state.note("the provider hangs");
                None
            } else if state.strikes(Fault::ProviderFails, 40) {
                state.note("the provider fails");
                Some((502, "<html>".to_owned()))
            } else {
                Some(answer(&mut state, &target, &body))
            }
        };
        let Some((status, body)) = answer else {
            return std::future::pending().await;
        };
        let length = body.len();
        let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: {length}\r\n\r\n{body}");
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn answer(state: &mut State, target: &str, body: &[u8]) -> (u16, String) {
    if let Ok(request) = serde_json::from_slice::<Value>(body) {
        let text = |name: &str| request[name].as_str().unwrap().to_owned();
        let payment = Payment {
            total: text("amount"),
            paid: None,
        };
        state.book.0.entry(text("tx_ref")).or_insert(payment);
        let page = json!({"status": "success", "data": {"link": "https://pay.example.com/x"}});
        return (200, page.to_string());
    }
    let reference = target.rsplit('=').next().unwrap();
    let Some(payment) = state.book.0.get(reference) else {
        return (404, json!({"status": "error"}).to_string());
    };
    let (status, amount) = match &payment.paid {
        Some(paid) => ("successful", paid),
        None => ("pending", &payment.total),
    };
    let amount: f64 = amount.parse().unwrap();
    let found = json!({"status": "success", "data": {"id": 7, "status": status,
        "tx_ref": reference, "amount": amount, "currency": "NGN"}});
    (200, found.to_string())
}

/// Takes the first complete request. Returns its target and its body.
fn request(input: &mut Vec<u8>) -> Option<(String, Vec<u8>)> {
    let end = input.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8(input[..end].to_vec()).unwrap();
    let target = head.split(' ').nth(1).unwrap().to_owned();
    let head = head.to_lowercase();
    let length = head.split_once("content-length:").map_or(0, |(_, rest)| {
        rest.lines().next().unwrap().trim().parse().unwrap()
    });
    let body = input.get(end..end + length)?.to_vec();
    input.drain(..end + length);
    Some((target, body))
}
