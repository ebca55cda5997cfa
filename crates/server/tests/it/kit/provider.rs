//! A payment provider that answers and signs as the documentation of Paystack, Flutterwave and
//! Monnify says, and that is silent, fails and lies on command.

use super::Setup;
use super::http::Request;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The key of calls, and of the signatures of Paystack and Monnify.
const KEY: &str = "sk_test_s3cret";
/// The secret hash of Flutterwave.
const HASH: &str = "hash-s3cret";
/// The token that a login at Monnify returns.
const TOKEN: &str = "ey.token";

/// A provider.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Paystack,
    FlutterwaveV3,
    FlutterwaveV4,
    Monnify,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [
        Self::Paystack,
        Self::FlutterwaveV3,
        Self::FlutterwaveV4,
        Self::Monnify,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Paystack => "paystack",
            Self::FlutterwaveV3 | Self::FlutterwaveV4 => "flutterwave",
            Self::Monnify => "monnify",
        }
    }
}

/// The behaviour of a provider.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Mood {
    /// It answers as documented.
    #[default]
    Well,
    /// It answers 502 with a page of HTML.
    Down,
    /// It takes requests and never answers.
    Silent,
}

/// A payment at the provider.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paid {
    /// The status is one of success.
    pub(crate) is_done: bool,
    /// The provider refused the payment.
    pub(crate) is_failed: bool,
    pub(crate) kobo: i64,
    pub(crate) currency: String,
    /// The reference with which the provider answers.
    pub(crate) reference: String,
}

#[derive(Default)]
struct Book {
    mood: Mood,
    payments: BTreeMap<String, Paid>,
    /// The JSON bodies of requests that make a page.
    created: Vec<Value>,
    asked: usize,
}

/// A provider that runs until it is dropped.
pub(crate) struct Provider {
    pub(crate) kind: Kind,
    url: String,
    book: Arc<Mutex<Book>>,
    server: JoinHandle<()>,
}

impl Provider {
    pub(crate) async fn start(kind: Kind) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let book = Arc::<Mutex<Book>>::default();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&book));
        let server = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("it serves");
        });
        Self {
            kind,
            url,
            book,
            server,
        }
    }

    /// Configures the provider.
    pub(crate) fn of(&self, setup: Setup) -> Setup {
        let quoted = |text: &str| format!("{text:?}");
        let name = self.kind.name();
        let key = |key: &str| format!("payments.{name}.{key}");
        let setup = setup
            .set("http.public_url", r#""http://sms.example.ng""#)
            .set(&key("base_url"), &quoted(&self.url))
            .set(&key("secret_key"), &quoted(KEY));
        match self.kind {
            Kind::Paystack => setup,
            Kind::FlutterwaveV3 | Kind::FlutterwaveV4 => {
                let version = if self.kind == Kind::FlutterwaveV3 {
                    "3"
                } else {
                    "4"
                };
                setup
                    .set(&key("secret_hash"), &quoted(HASH))
                    .set(&key("version"), version)
            }
            Kind::Monnify => setup
                .set(&key("api_key"), r#""MK_TEST""#)
                .set(&key("contract_code"), r#""4934""#),
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("the book")
    }

    pub(crate) fn be(&self, mood: Mood) {
        self.book().mood = mood;
    }

    /// Returns the requests that made a page.
    pub(crate) fn created(&self) -> Vec<Value> {
        self.book().created.clone()
    }

    /// Returns how often the provider was asked for a payment.
    pub(crate) fn asked(&self) -> usize {
        self.book().asked
    }

    /// Sets the payment of a reference.
    pub(crate) fn set(&self, reference: &str, kobo: i64, change: impl FnOnce(&mut Paid)) {
        let mut paid = Paid {
            kobo,
            currency: "NGN".to_owned(),
            reference: reference.to_owned(),
            ..Paid::default()
        };
        change(&mut paid);
        self.book().payments.insert(reference.to_owned(), paid);
    }

    /// Receives the money of a reference.
    pub(crate) fn pay(&self, reference: &str, kobo: i64) {
        self.set(reference, kobo, |paid| paid.is_done = true);
    }

    /// Returns the webhook about a payment, signed as the provider does it.
    pub(crate) fn hook(&self, reference: &str) -> Request {
        let body = self.hook_body(reference);
        let (name, signature) = self.signature(&body);
        self.unsigned(&body).header(name, &signature)
    }

    /// Returns a webhook without a signature.
    pub(crate) fn unsigned(&self, body: &str) -> Request {
        let path = format!("/hooks/payments/{}", self.kind.name());
        Request::post(&path).body("application/json", body)
    }

    pub(crate) fn hook_body(&self, reference: &str) -> String {
        let body = match self.kind {
            Kind::Paystack => json!({"event": "charge.success", "data": {
                "id": 7, "status": "success", "reference": reference, "amount": 1, "currency": "NGN"}}),
            Kind::FlutterwaveV3 => json!({"event": "charge.completed", "data": {
                "id": 7, "tx_ref": reference, "amount": 0.01, "currency": "NGN", "status": "successful"}}),
            Kind::FlutterwaveV4 => json!({"type": "charge.completed", "data": {
                "id": "chg_7", "reference": reference, "amount": 0.01, "currency": "NGN", "status": "succeeded"}}),
            Kind::Monnify => json!({"eventType": "SUCCESSFUL_TRANSACTION", "eventData": {
                "paymentReference": reference, "transactionReference": "MNFY|7", "amountPaid": 0.01,
                "paymentStatus": "PAID", "currency": "NGN"}}),
        };
        body.to_string()
    }

    /// Returns the header of a signature and its value.
    pub(crate) fn signature(&self, body: &str) -> (&'static str, String) {
        match self.kind {
            Kind::Paystack => (
                "x-paystack-signature",
                hmac("sha512", "hexdigest", KEY, body),
            ),
            Kind::FlutterwaveV3 => ("verif-hash", HASH.to_owned()),
            Kind::FlutterwaveV4 => (
                "flutterwave-signature",
                hmac("sha256", "base64", HASH, body),
            ),
            Kind::Monnify => ("monnify-signature", hmac("sha512", "hexdigest", KEY, body)),
        }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Returns an HMAC by another implementation than ours.
fn hmac(hash: &str, form: &str, key: &str, body: &str) -> String {
    const SCRIPT: &str = "import sys, hmac, base64\n\
        m = hmac.new(sys.argv[3].encode(), sys.stdin.buffer.read(), sys.argv[1])\n\
        print(m.hexdigest() if sys.argv[2] == 'hexdigest' else base64.b64encode(m.digest()).decode(), end='')";
    let mut python = Command::new("python3")
        .args(["-c", SCRIPT, hash, form, key])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    let mut input = python.stdin.take().expect("a pipe");
    input.write_all(body.as_bytes()).expect("it reads");
    drop(input);
    let output = python.wait_with_output().expect("it ends");
    String::from_utf8(output.stdout).expect("ASCII")
}

async fn answer(
    State(book): State<Arc<Mutex<Book>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mood = book.lock().expect("the book").mood;
    match mood {
        Mood::Well => {}
        Mood::Down => return (StatusCode::BAD_GATEWAY, "<html>").into_response(),
        Mood::Silent => std::future::pending().await,
    }
    let authorization = headers.get(header::AUTHORIZATION);
    let authorization = authorization.and_then(|value| value.to_str().ok());
    let is_monnify = uri.path().starts_with("/api/");
    if uri.path() == "/api/v1/auth/login" {
        let token = json!({"requestSuccessful": true, "responseBody": {"accessToken": TOKEN}});
        return told(StatusCode::OK, &token);
    }
    let expected = format!("Bearer {}", if is_monnify { TOKEN } else { KEY });
    if authorization != Some(expected.as_str()) {
        let refused = json!({"status": false, "message": "Invalid key"});
        return told(StatusCode::UNAUTHORIZED, &refused);
    }
    let mut book = book.lock().expect("the book");
    if body.is_empty() {
        return book.find(&uri);
    }
    let request: Value = serde_json::from_slice(&body).expect("JSON");
    book.created.push(request);
    let page = "https://checkout.example.com/page";
    let created = match uri.path() {
        "/transaction/initialize" => json!({"status": true, "data": {"authorization_url": page}}),
        "/v3/payments" => json!({"status": "success", "data": {"link": page}}),
        _ => json!({"requestSuccessful": true, "responseBody": {"checkoutUrl": page}}),
    };
    told(StatusCode::OK, &created)
}

impl Book {
    fn find(&mut self, uri: &Uri) -> Response {
        self.asked += 1;
        let target = uri.to_string();
        let reference = target.rsplit(['/', '=']).next().unwrap_or_default();
        let Some(paid) = self.payments.get(reference) else {
            let unknown = json!({"status": false, "message": "Transaction reference not found"});
            return told(StatusCode::NOT_FOUND, &unknown);
        };
        let naira = format!("{}.{:02}", paid.kobo / 100, paid.kobo % 100);
        let number: Value = serde_json::from_str(&naira).expect("a number");
        let word = |paid_word: &'static str, failed: &'static str, open: &'static str| {
            if paid.is_done {
                paid_word
            } else if paid.is_failed {
                failed
            } else {
                open
            }
        };
        let found = match uri.path() {
            path if path.starts_with("/transaction/verify/") => json!({"status": true, "data": {
                "id": 7, "status": word("success", "failed", "abandoned"), "reference": paid.reference,
                "amount": paid.kobo, "currency": paid.currency}}),
            path if path.starts_with("/v3/") => json!({"status": "success", "data": {
                "id": 7, "status": word("successful", "failed", "pending"), "tx_ref": paid.reference,
                "amount": number, "currency": paid.currency}}),
            _ => json!({"requestSuccessful": true, "responseBody": {
                "transactionReference": "MNFY|7", "paymentReference": paid.reference,
                "paymentStatus": word("PAID", "FAILED", "PENDING"), "amountPaid": naira,
                "currency": paid.currency}}),
        };
        told(StatusCode::OK, &found)
    }
}

fn told(status: StatusCode, body: &Value) -> Response {
    let json = [(header::CONTENT_TYPE, "application/json")];
    (status, json, body.to_string()).into_response()
}
