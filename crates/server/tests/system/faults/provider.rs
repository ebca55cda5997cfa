//! A payment provider that answers as the documentation of Flutterwave, version 3, says.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// The secret hash, which each webhook carries.
const HASH: &str = "hash-s3cret";

/// The total of each reference for which a page was made, and `true` once it is paid.
type Book = Arc<Mutex<BTreeMap<String, (f64, bool)>>>;

/// A provider that runs until it is dropped.
pub(crate) struct Provider {
    url: String,
    book: Book,
    _runtime: Runtime,
}

impl Provider {
    pub(crate) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
        let listener = listener.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let book = Book::default();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&book));
        runtime.spawn(async move { axum::serve(listener, router).await });
        Self {
            url,
            book,
            _runtime: runtime,
        }
    }

    /// Returns the sections of the configuration. The search asks each second.
    pub(crate) fn sections(&self) -> String {
        format!(
            "[payments]\nsweep = \"1s\"\n[payments.flutterwave]\nbase_url = \"{}\"\n\
             secret_key = \"sk_test_s3cret\"\nsecret_hash = \"{HASH}\"\nversion = 3\n",
            self.url
        )
    }

    /// Receives the money of a reference.
    pub(crate) fn pay(&self, reference: &str) {
        let mut book = self.book.lock().expect("the book");
        let (_, is_paid) = book.get_mut(reference).expect("a page was made");
        *is_paid = true;
    }

    /// Receives another amount for a reference than its total.
    pub(crate) fn receive(&self, reference: &str, naira: f64) {
        let mut book = self.book.lock().expect("the book");
        book.insert(reference.to_owned(), (naira, true));
    }

    /// Returns the header and the body of the webhook about a payment.
    pub(crate) fn hook(reference: &str) -> (String, String) {
        let body = json!({"event": "charge.completed", "data": {
            "id": 7, "tx_ref": reference, "amount": 0.01, "currency": "NGN", "status": "successful"}});
        (format!("verif-hash: {HASH}\r\n"), body.to_string())
    }
}

async fn answer(State(book): State<Book>, uri: Uri, body: Bytes) -> Response {
    let mut book = book.lock().expect("the book");
    if let Ok(Value::Object(request)) = serde_json::from_slice(&body) {
        let reference = request["tx_ref"].as_str().expect("a reference").to_owned();
        let total = request["amount"].as_str().expect("an amount");
        let total: f64 = total.parse().expect("a number");
        book.entry(reference).or_insert((total, false));
        let page = json!({"link": "https://checkout.example.com/page"});
        return told(StatusCode::OK, &json!({"status": "success", "data": page}));
    }
    let target = uri.to_string();
    let reference = target.rsplit('=').next().unwrap_or_default();
    let Some((total, _)) = book.get(reference).filter(|(_, is_paid)| *is_paid) else {
        let unknown = json!({"status": "error", "message": "No transaction was found"});
        return told(StatusCode::NOT_FOUND, &unknown);
    };
    let payment = json!({"id": 7, "status": "successful", "tx_ref": reference, "amount": total,
        "currency": "NGN"});
    told(
        StatusCode::OK,
        &json!({"status": "success", "data": payment}),
    )
}

fn told(status: StatusCode, body: &Value) -> Response {
    (status, body.to_string()).into_response()
}
