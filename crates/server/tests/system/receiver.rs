//! A receiver of callbacks that counts them.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use serde_json::Value;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// The callbacks of a recipient.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) message: String,
    pub(crate) status: String,
    pub(crate) count: usize,
    /// `true` if their outcomes differ.
    pub(crate) differ: bool,
}

type Book = Arc<Mutex<HashMap<u64, Calls>>>;

/// Answers 200 to all callbacks, while its runtime lasts.
pub(crate) struct Receiver {
    pub(crate) url: String,
    book: Book,
}

impl Receiver {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let book = Book::default();
        let router = Router::new()
            .fallback(receive)
            .with_state(Arc::clone(&book));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, book }
    }

    /// Returns the number of recipients with a callback.
    pub(crate) fn recipients(&self) -> usize {
        self.book.lock().expect("the book").len()
    }

    /// Returns all callbacks by recipient.
    pub(crate) fn calls(&self) -> HashMap<u64, Calls> {
        self.book.lock().expect("the book").clone()
    }
}

async fn receive(State(book): State<Book>, body: Bytes) {
    let told: Value = serde_json::from_slice(&body).expect("JSON");
    let field = |name: &str| told[name].as_str().expect("text").to_owned();
    let number = field("recipient").parse().expect("digits");
    let (message, status) = (field("message_id"), field("delivery_status"));
    let mut book = book.lock().expect("the book");
    let calls = book.entry(number).or_default();
    calls.differ |= calls.count > 0 && (&calls.message, &calls.status) != (&message, &status);
    calls.count += 1;
    (calls.message, calls.status) = (message, status);
}
