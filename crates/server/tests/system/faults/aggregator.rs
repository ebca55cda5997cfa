//! A carrier by HTTP that posts no receipts. It answers a repeated submit of one reference with the
//! id of the first one.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// A message: its reference, its number, and how often its state was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) reference: String,
    pub(crate) number: u64,
    asked: usize,
}

type Book = Arc<Mutex<Vec<Taken>>>;

/// A carrier that runs until it is dropped.
pub(crate) struct Aggregator {
    pub(crate) url: String,
    book: Book,
    _runtime: Runtime,
}

impl Aggregator {
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

    /// Returns the messages, each once.
    pub(crate) fn taken(&self) -> Vec<Taken> {
        self.book.lock().expect("the book").clone()
    }
}

async fn answer(State(book): State<Book>, uri: Uri, body: Bytes) -> Response {
    let mut book = book.lock().expect("the book");
    if let Some(id) = uri.path().strip_prefix("/state/") {
        let id: usize = id.parse().expect("an id of ours");
        let taken = &mut book[id - 1];
        taken.asked += 1;
        // Every message is under way at first.
        let state = match (taken.asked, taken.number % 10) {
            (1, _) => "Queued",
            (_, super::workload::REACHED) => "Delivered",
            _ => "Failed",
        };
        return told(StatusCode::OK, &json!({ "status": state }));
    }
    let asked: Value = serde_json::from_slice(&body).expect("JSON");
    let text = |name: &str| asked[name].as_str().expect("a text").to_owned();
    let (reference, number) = (text("ref"), text("to").parse().expect("digits"));
    let known = book.iter().position(|one| one.reference == reference);
    let place = known.unwrap_or_else(|| {
        book.push(Taken {
            reference,
            number,
            asked: 0,
        });
        book.len() - 1
    });
    told(StatusCode::OK, &json!({"code": "ok", "id": place + 1}))
}

fn told(status: StatusCode, body: &Value) -> Response {
    (status, body.to_string()).into_response()
}
