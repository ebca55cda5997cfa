//! Carriers by HTTP: aggregators, and another Ogene (docs/operating/carriers-http.md).

use crate::carrier_testing::{names, test};
use crate::controlling::{applied, change};
use crate::kit::esme::{Esme, message, own_address};
use crate::kit::http::{Request, try_ask};
use crate::kit::receiver::{Reaction, Receiver};
use crate::kit::{AIRTEL, MTN, Ogene, SENDER, Setup, numbers, to, until};
use crate::tls::slow_tls_before;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use domain::carrier_control::CarrierChange::{Drain, Pause, Resume};
use engine::operators::NewSmppUser;
use serde::Serialize;
use serde_json::{Value, json};
use smpp::codec::Sm;
use smpp::simulator::Script;
use smpp::{BindKind, esm_class};
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) const SECRET: &str = "s3cret-of-the-hook";

/// The answer of an aggregator.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reply {
    /// The message is accepted, under the number of the request as its id.
    Accept,
    /// The message is accepted, and the connection is closed after the answer.
    AcceptAndClose,
    /// The answer has this HTTP status and code.
    Code(u16, &'static str),
    /// Some recipients of the request, by their places, have these codes as results.
    Results(&'static [(usize, &'static str)]),
    /// There is no answer.
    Silence,
}

#[derive(Default)]
pub(crate) struct Book {
    asked: Vec<Value>,
    replies: VecDeque<Reply>,
    at_once: usize,
    pub(crate) most_at_once: usize,
    /// The state of each message that is asked for: an HTTP status and a word.
    pub(crate) state: Option<(u16, &'static str)>,
    /// The ids of the messages whose state was asked for.
    pub(crate) polled: Vec<String>,
}

/// An aggregator that records requests, and answers when its gate is open.
pub(crate) struct Aggregator {
    pub(crate) url: String,
    pub(crate) book: Arc<Mutex<Book>>,
    pub(crate) gate: watch::Sender<bool>,
    server: JoinHandle<()>,
}

#[derive(Clone)]
struct Shared {
    book: Arc<Mutex<Book>>,
    gate: watch::Receiver<bool>,
}

impl Aggregator {
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let book = Arc::<Mutex<Book>>::default();
        book.lock().unwrap().replies.extend(replies);
        let (gate, open) = watch::channel(true);
        let shared = Shared {
            book: Arc::clone(&book),
            gate: open,
        };
        let router = Router::new().fallback(answer).with_state(shared);
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            url,
            book,
            gate,
            server,
        }
    }

    pub(crate) fn asked(&self) -> Vec<Value> {
        self.book.lock().unwrap().asked.clone()
    }

    pub(crate) async fn asked_at_least(&self, count: usize) -> Vec<Value> {
        until("the aggregator is asked", async || {
            Some(self.asked()).filter(|asked| asked.len() >= count)
        })
        .await
    }
}

impl Drop for Aggregator {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(
    State(mut shared): State<Shared>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Some(id) = uri.path().strip_prefix("/state/") {
        assert_eq!(headers["x-api-key"], "k{1}");
        return state_of(&mut shared, id).await;
    }
    let (number, recipients, reply) = {
        let mut book = shared.book.lock().unwrap();
        let mut asked: Value = serde_json::from_slice(&body).unwrap();
        let recipients = asked["to"].as_array().cloned();
        asked["path"] = uri.to_string().into();
        asked["key"] = headers["x-api-key"].to_str().unwrap().into();
        book.asked.push(asked);
        book.at_once += 1;
        book.most_at_once = book.most_at_once.max(book.at_once);
        let reply = book.replies.pop_front().unwrap_or(Reply::Accept);
        (book.asked.len(), recipients.unwrap_or_default(), reply)
    };
    let _ = shared.gate.wait_for(|open| *open).await;
    shared.book.lock().unwrap().at_once -= 1;
    match reply {
        Reply::Accept if !recipients.is_empty() => {
            let all = (0..recipients.len()).map(|place| (place, "ok"));
            results(number, &recipients, all).into_response()
        }
        Reply::Accept => accepted(number).into_response(),
        Reply::Results(all) => results(number, &recipients, all.iter().copied()).into_response(),
        Reply::AcceptAndClose => ([("connection", "close")], accepted(number)).into_response(),
        Reply::Code(status, code) => {
            let status = StatusCode::from_u16(status).unwrap();
            (status, json!({ "code": code }).to_string()).into_response()
        }
        Reply::Silence => std::future::pending().await,
    }
}

/// Answers the request for the state of a message.
async fn state_of(shared: &mut Shared, id: &str) -> Response {
    let state = {
        let mut book = shared.book.lock().unwrap();
        book.polled.push(id.to_owned());
        book.at_once += 1;
        book.most_at_once = book.most_at_once.max(book.at_once);
        book.state
    };
    let _ = shared.gate.wait_for(|open| *open).await;
    shared.book.lock().unwrap().at_once -= 1;
    let (status, word) = state.unwrap_or((200, "Queued"));
    let status = StatusCode::from_u16(status).unwrap();
    (status, json!({ "message": { "status": word } }).to_string()).into_response()
}

/// Returns results for recipients of a request by their places. An id has the number of the request
/// and the place.
fn results(
    number: usize,
    recipients: &[Value],
    all: impl Iterator<Item = (usize, &'static str)>,
) -> String {
    let all = all.map(|(place, code)| {
        json!({"number": recipients[place], "code": code, "id": format!("{number}-{place}")})
    });
    json!({"all": all.collect::<Vec<_>>()}).to_string()
}

fn accepted(number: usize) -> String {
    json!({"code": "ok", "data": {"id": number}}).to_string()
}

/// Returns an installation whose only carrier is this aggregator.
pub(crate) fn with(aggregator: &Aggregator) -> Setup {
    Setup::new()
        .without_carriers()
        .without("carriers.mtn")
        .set("carriers.mtn.kind", r#""http""#)
        .set("carriers.mtn.token", r#""k{1}""#)
        .set("carriers.mtn.submit.url", &format!("\"{}/send\"", aggregator.url))
        .set("carriers.mtn.submit.headers", r#"{ "x-api-key" = "{token}" }"#)
        .set(
            "carriers.mtn.submit.json",
            r#"{ to = "{to}", from = "{from}", text = "{body}", ref = "{id}", unicode = "{unicode}" }"#,
        )
        .set("carriers.mtn.submit.id", r#""/data/id""#)
        .set("carriers.mtn.submit.error", r#""/code""#)
        .set("carriers.mtn.submit.accepted", r#"["ok"]"#)
        .set("carriers.mtn.submit.throttled", r#"["busy"]"#)
        .set("carriers.mtn.submit.refused", r#"["bad_number"]"#)
        .set("carriers.mtn.receipts.secret", &format!("{SECRET:?}"))
        .set("carriers.mtn.receipts.id", r#""/id""#)
        .set("carriers.mtn.receipts.state", r#""/status""#)
        .set(
            "carriers.mtn.receipts.states",
            r#"{ DELIVRD = ["Delivered"], UNDELIV = ["Failed"] }"#,
        )
}

/// Posts to the hook of the carrier. Returns the HTTP status.
async fn post(ogene: &Ogene, secret: &str, body: &str) -> u16 {
    let request = Request::post(&format!("/hooks/carriers/mtn/{secret}"));
    ogene
        .ask(&request.body("application/json", body))
        .await
        .status
}

pub(crate) async fn receive(ogene: &Ogene, id: impl Serialize, status: &str) {
    let body = json!({ "id": id, "status": status }).to_string();
    assert_eq!(post(ogene, SECRET, &body).await, 200);
}

#[tokio::test]
async fn a_text_goes_whole_and_its_receipt_settles_all_pages() {
    let aggregator = Aggregator::start([]).await;
    let ogene = with(&aggregator).start().await;
    let long = "Dear customer, ".repeat(30);
    let id = ogene.sent_id(to(MTN, &long)).await;
    let asked = aggregator.asked_at_least(1).await;
    assert_eq!(asked[0]["to"], MTN);
    assert_eq!(asked[0]["from"], SENDER);
    assert_eq!(asked[0]["text"], long);
    assert_eq!(asked[0]["unicode"], false);
    assert_eq!(
        (&asked[0]["key"], &asked[0]["path"]),
        (&json!("k{1}"), &json!("/send"))
    );
    assert_eq!(ogene.statuses(&id).await, ["sent awaiting status"]);
    // Neither a wrong secret nor an unreadable receipt settles anything.
    let body = json!({"id": 1, "status": "Delivered"}).to_string();
    assert_eq!(post(&ogene, "another-secret-0001", &body).await, 404);
    assert_eq!(post(&ogene, SECRET, "{}").await, 400);
    assert_eq!(
        post(&ogene, SECRET, &" ".repeat((256 << 10) + 1)).await,
        413
    );
    receive(&ogene, 1, "Queued").await;
    receive(&ogene, 1, "Delivered").await;
    receive(&ogene, 1, "Delivered").await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(aggregator.asked().len(), 1);
    assert_eq!(ogene.total().await.to_string(), "982", "three pages");
    ogene.end().await;
}

#[tokio::test]
async fn a_wrong_secret_is_refused_before_the_body_arrives() {
    let aggregator = Aggregator::start([]).await;
    let ogene = with(&aggregator).start().await;
    for (name, secret) in [("mtn", "another-secret-0001"), ("glo", SECRET)] {
        let mut stream = TcpStream::connect(ogene.address).await.unwrap();
        let head = format!(
            "POST /hooks/carriers/{name}/{secret} HTTP/1.1\r\nHost: localhost\r\n\
             Content-Type: application/json\r\nContent-Length: 200000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        until("the hook answers without the body", async || {
            stream
                .read_u8()
                .await
                .ok()
                .map(|octet| answer.push(octet.into()))?;
            answer.starts_with("HTTP/1.1 404").then_some(())
        })
        .await;
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_receipt_before_its_answer_waits_for_it() {
    let aggregator = Aggregator::start([]).await;
    aggregator.gate.send_replace(false);
    let ogene = with(&aggregator).start().await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    aggregator.asked_at_least(1).await;
    receive(&ogene, 1, "Failed").await;
    aggregator.gate.send_replace(true);
    assert_eq!(ogene.outcome(&id).await, ["undeliv"]);
    assert_eq!(ogene.total().await.to_string(), "1000", "refunded");
    ogene.end().await;
}

#[tokio::test]
async fn the_answer_of_a_carrier_by_http_decides_the_next_step() {
    let replies = [
        Reply::Code(200, "busy"),
        Reply::Accept,
        Reply::Code(400, "bad_number"),
    ];
    let aggregator = Aggregator::start(replies).await;
    let ogene = with(&aggregator).start().await;
    // A throttled recipient is sent again, with the same id of ours.
    let throttled = ogene.sent_id(to(MTN, "Hello")).await;
    let asked = aggregator.asked_at_least(2).await;
    assert_eq!(asked[0]["ref"], asked[1]["ref"]);
    receive(&ogene, 2, "Delivered").await;
    assert_eq!(ogene.outcome(&throttled).await, ["delivrd"]);
    // A refused recipient is final, and is refunded.
    let refused = ogene.sent_id(to(AIRTEL, "Hello")).await;
    assert_eq!(ogene.outcome(&refused).await, ["rejectd"]);
    assert_eq!(aggregator.asked().len(), 3);
    assert_eq!(ogene.total().await.to_string(), "994");
    assert_eq!(ogene.metric("ogene_responses_total", &["busy"]).await, 1);
    ogene.end().await;
}

#[tokio::test]
async fn a_request_without_an_answer_is_in_doubt_and_sent_once() {
    let aggregator = Aggregator::start([Reply::Silence, Reply::Code(502, "")]).await;
    let ogene = with(&aggregator)
        .set("carriers.mtn.response_timeout", r#""1s""#)
        .set("gateways.direct-refund.in_doubt", r#""hold""#)
        .start()
        .await;
    for count in [1, 2] {
        ogene.sent_id(to(MTN, &format!("Hello {count}"))).await;
        until("the recipient is in doubt", async || {
            let doubts = ogene.metric("ogene_in_doubt_total", &[r#"carrier="mtn""#]);
            (doubts.await == count).then_some(())
        })
        .await;
    }
    assert_eq!(aggregator.asked().len(), 2);
    assert_eq!(ogene.total().await.to_string(), "988", "charged once each");
    ogene.end().await;
}

#[tokio::test]
async fn a_recipient_in_doubt_is_settled_by_number_and_sender() {
    let aggregator = Aggregator::start([Reply::Silence, Reply::Code(502, "")]).await;
    let ogene = with(&aggregator)
        .set("carriers.mtn.response_timeout", r#""1s""#)
        .set("carriers.mtn.receipts.to", r#""/to""#)
        .set("carriers.mtn.receipts.from", r#""/from""#)
        .set("gateways.direct-refund.in_doubt", r#""hold""#)
        .start()
        .await;
    let first = ogene.sent_id(to(MTN, "Hello")).await;
    let second = ogene.sent_id(to(AIRTEL, "Hello again")).await;
    until("both are in doubt", async || {
        let doubts = ogene.metric("ogene_in_doubt_total", &[r#"carrier="mtn""#]);
        (doubts.await == 2).then_some(())
    })
    .await;
    let receipt = async |to: &str, from: &str, status: &str| {
        let id = format!("late-{to}-{from}");
        let body = json!({"id": id, "to": format!("+{to}"), "from": from, "status": status});
        assert_eq!(post(&ogene, SECRET, &body.to_string()).await, 200);
    };
    // The receipt of another sender settles nothing.
    receipt(MTN, "Other", "Failed").await;
    receipt(MTN, SENDER, "Delivered").await;
    receipt(AIRTEL, SENDER, "Failed").await;
    assert_eq!(ogene.outcome(&first).await, ["delivrd"]);
    assert_eq!(ogene.outcome(&second).await, ["undeliv"]);
    assert_eq!(aggregator.asked().len(), 2, "nothing is sent again");
    assert_eq!(ogene.total().await.to_string(), "994", "one is refunded");
    ogene.end().await;
}

#[tokio::test]
async fn a_paused_carrier_by_http_sends_nothing_until_its_resume() {
    let aggregator = Aggregator::start([]).await;
    let mut ogene = with(&aggregator).start().await;
    let before = ogene.sent_id(to(MTN, "Before")).await;
    aggregator.asked_at_least(1).await;
    change(&ogene, "mtn", Pause).await;
    applied(&ogene, "mtn", 1).await;
    let during = ogene.sent_id(to(MTN, "During")).await;
    // A receipt is still taken, and a restart does not end the pause.
    receive(&ogene, 1, "Delivered").await;
    assert_eq!(ogene.outcome(&before).await, ["delivrd"]);
    ogene.restart().await;
    applied(&ogene, "mtn", 1).await;
    assert_eq!(ogene.statuses(&during).await, ["sent awaiting status"]);
    assert_eq!(aggregator.asked().len(), 1);
    change(&ogene, "mtn", Resume).await;
    aggregator.asked_at_least(2).await;
    receive(&ogene, 2, "Delivered").await;
    assert_eq!(ogene.outcome(&during).await, ["delivrd"]);
    assert_eq!(aggregator.asked().len(), 2);
    ogene.end().await;
}

#[tokio::test]
async fn a_drained_carrier_by_http_ends_its_requests_and_its_link() {
    let aggregator = Aggregator::start([]).await;
    aggregator.gate.send_replace(false);
    let ogene = with(&aggregator).start().await;
    let open = ogene.sent_id(to(MTN, "Under way")).await;
    aggregator.asked_at_least(1).await;
    change(&ogene, "mtn", Drain).await;
    applied(&ogene, "mtn", 1).await;
    let later = ogene.sent_id(to(MTN, "Later")).await;
    aggregator.gate.send_replace(true);
    let binds = async || ogene.metric("ogene_binds", &["mtn"]).await;
    until("the link has ended", async || {
        (binds().await == 0).then_some(())
    })
    .await;
    receive(&ogene, 1, "Delivered").await;
    assert_eq!(ogene.outcome(&open).await, ["delivrd"]);
    assert_eq!(aggregator.asked().len(), 1);
    change(&ogene, "mtn", Resume).await;
    aggregator.asked_at_least(2).await;
    until("the link is up", async || {
        (binds().await == 1).then_some(())
    })
    .await;
    receive(&ogene, 2, "Delivered").await;
    assert_eq!(ogene.outcome(&later).await, ["delivrd"]);
    ogene.end().await;
}

#[tokio::test]
async fn the_wait_for_a_connection_is_no_part_of_the_time_out() {
    let aggregator = Aggregator::start([Reply::AcceptAndClose]).await;
    let server = aggregator.url.strip_prefix("http://").unwrap();
    let delay_ms = Arc::<AtomicU64>::default();
    let (certificate, address) = slow_tls_before(server.parse().unwrap(), true, &delay_ms).await;
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("carrier.pem");
    std::fs::write(&file, certificate).unwrap();
    let url = format!("\"https://localhost:{}/send\"", address.port());
    let ogene = with(&aggregator)
        .set("carriers.mtn.submit.url", &url)
        .set("carriers.mtn.tls_ca", &format!("{file:?}"))
        .set("carriers.mtn.response_timeout", r#""2s""#)
        .start()
        .await;
    ogene.sent_id(to(MTN, "Over the first connection")).await;
    aggregator.asked_at_least(1).await;
    receive(&ogene, 1, "Delivered").await;
    // The second request waits longer for its connection than it may wait for its answer.
    delay_ms.store(3_000, Ordering::Relaxed);
    let id = ogene.sent_id(to(AIRTEL, "Over another one")).await;
    aggregator.asked_at_least(2).await;
    receive(&ogene, 2, "Delivered").await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(ogene.metric("ogene_in_doubt_total", &[]).await, 0);
    assert_eq!(aggregator.asked().len(), 2);
    ogene.end().await;
}

#[tokio::test]
async fn the_window_bounds_the_requests_at_once() {
    let aggregator = Aggregator::start([]).await;
    aggregator.gate.send_replace(false);
    let ogene = with(&aggregator)
        .set("carriers.mtn.window", "5")
        .start()
        .await;
    let message = json!({"from": SENDER, "to": numbers(20), "body": "Dear customer"});
    let id = ogene.sent_id(message).await;
    aggregator.asked_at_least(5).await;
    aggregator.gate.send_replace(true);
    aggregator.asked_at_least(20).await;
    assert_eq!(aggregator.book.lock().unwrap().most_at_once, 5);
    for number in 1..=20 {
        receive(&ogene, number, "Delivered").await;
    }
    assert_eq!(ogene.outcome(&id).await, vec!["delivrd"; 20]);
    ogene.end().await;
}

#[tokio::test]
async fn a_test_of_a_carrier_by_http_shows_its_answer_and_receipt() {
    let replies = [
        Reply::Accept,
        Reply::Code(400, "bad_number"),
        Reply::Silence,
    ];
    let aggregator = Aggregator::start(replies).await;
    let mut ogene = with(&aggregator)
        .set("carriers.mtn.response_timeout", r#""1s""#)
        .start()
        .await;
    let wait = Duration::from_secs(30);
    let (tested, ()) = tokio::join!(test(&ogene, "mtn", wait), async {
        aggregator.asked_at_least(1).await;
        receive(&ogene, 1, "Delivered").await;
    });
    let (end, steps) = tested.expect("a test");
    assert_eq!(
        names(&steps),
        ["connected", "submitted", "answer", "response", "receipt"]
    );
    assert!(end.is_good(), "{steps:?}");
    assert!(steps[2].about.starts_with("HTTP 200: {"), "{steps:?}");
    let asked = &aggregator.asked()[0];
    assert_eq!(
        (&asked["to"], &asked["from"]),
        (&json!(MTN), &json!("Tester"))
    );
    assert_eq!(asked["text"], "A test of {carrier}");
    assert_eq!(ogene.total().await.to_string(), "1000", "nobody pays");
    for about in ["rejected: bad_number", "the carrier may have the message"] {
        let (end, steps) = test(&ogene, "mtn", wait).await.expect("a test");
        assert!(!end.is_accepted);
        let last = steps.last().expect("a step");
        assert!(last.about.contains(about), "{steps:?}");
    }
    // Without a node nobody could take the receipt, so the test ends after the answer.
    ogene.stop().await;
    let (end, steps) = test(&ogene, "mtn", wait).await.expect("a test");
    assert!(end.is_good() && end.status.is_none());
    assert!(
        steps[4].about.contains("to a node that serves"),
        "{steps:?}"
    );
    ogene.end().await;
}

#[tokio::test]
async fn an_unreachable_server_fails_over_to_the_next_carrier() {
    let aggregator = Aggregator::start([]).await;
    let ogene = with(&aggregator)
        .carrier("second", Script::default())
        .set("carriers.mtn.submit.url", r#""http://127.0.0.1:1/send""#)
        .set("gateways.direct-refund.carriers", r#"["mtn", "second"]"#)
        .start()
        .await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(ogene.smsc_of("second").received().len(), 1);
    ogene.end().await;
}

#[tokio::test]
async fn a_part_goes_as_text_and_binary_data_to_the_next_carrier() {
    let address = own_address();
    let aggregator = Aggregator::start([]).await;
    let ogene = with(&aggregator)
        .carrier("second", Script::default())
        .set("gateways.direct-refund.carriers", r#"["mtn", "second"]"#)
        .set("smpp_server.listen", &format!("\"{address}\""))
        .start()
        .await;
    let user = ogene.smpp_user(NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let binary = Sm {
        data_coding: 4,
        ..message(&[0x00, 0xFF])
    };
    let id = esme.submit(binary).await.message_id();
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert_eq!(ogene.smsc_of("second").received().len(), 1);
    assert!(aggregator.asked().is_empty());
    let part = Sm {
        esm_class: esm_class::UDHI,
        ..message(b"\x05\x00\x03\x07\x02\x01hi")
    };
    esme.submit(part).await.message_id();
    assert_eq!(aggregator.asked_at_least(1).await[0]["text"], "hi");
    ogene.end().await;
}

/// The requests that a server of all providers got: path, `authorization` or key, body.
type Requests = Arc<Mutex<Vec<(String, String, String)>>>;

/// Answers as the public documentation of each provider says.
async fn provider(
    State(requests): State<Requests>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let key = header("authorization")
        .or(header("apikey"))
        .unwrap_or_default();
    let text = String::from_utf8(body.to_vec()).unwrap();
    let path = uri.path().to_owned();
    requests
        .lock()
        .unwrap()
        .push((path.clone(), key.to_owned(), text));
    let (status, answer) = match path.as_str() {
        "/api/sms/send" => (
            200,
            json!({"code": "ok", "balance": 1047.57, "message_id": "3017544054459083819856413",
                "message": "Successfully Sent", "user": "Ada"}),
        ),
        "/version1/messaging" => (
            201,
            json!({"SMSMessageData": {"Message": "Sent to 1/1 Total Cost: NGN 2.2", "Recipients": [
                {"statusCode": 101, "number": "+2348051234567", "status": "Success",
                "cost": "NGN 2.2000", "messageId": "ATPid_SampleTxnId123"}]}}),
        ),
        "/api/v2/sms" => (
            200,
            json!({"status": "success", "code": "BSNG-0000", "message": "Message sent",
                "data": {"message_id": "b-1", "cost": 6, "currency": "NGN"}}),
        ),
        "/2010-04-01/Accounts/AC1/Messages.json" => (
            201,
            json!({"sid": "SM0123456789abcdef", "status": "queued", "error_code": null}),
        ),
        _ => (404, json!({})),
    };
    let status = StatusCode::from_u16(status).unwrap();
    (status, answer.to_string()).into_response()
}

/// Returns an installation whose carriers are four providers at this server.
fn with_providers(origin: &str) -> Setup {
    let networks = r#"{ mtn = ["termii"], glo = ["africastalking"], airtel = ["bulksmsnigeria"],
        default = ["twilio"] }"#;
    let mut setup = Setup::new()
        .set("http.public_url", r#""https://sms.example.ng""#)
        .set("carriers.africastalking.username", r#""ada""#)
        .set("carriers.twilio.account_sid", r#""AC1""#)
        .set(
            "gateways.direct-refund.carriers",
            &networks.replace('\n', " "),
        );
    for name in ["termii", "africastalking", "bulksmsnigeria", "twilio"] {
        let base_url = if name == "bulksmsnigeria" {
            format!("\"{origin}/api/v2\"")
        } else {
            format!("\"{origin}\"")
        };
        setup = setup
            .set(&format!("carriers.{name}.kind"), r#""http""#)
            .set(&format!("carriers.{name}.preset"), &format!("{name:?}"))
            .set(&format!("carriers.{name}.base_url"), &base_url)
            .set(&format!("carriers.{name}.token"), r#""k""#)
            .set(
                &format!("carriers.{name}.receipt_secret"),
                &format!("{SECRET:?}"),
            );
    }
    setup
}

/// Checks that a request is the one of the provider's documentation.
fn check_request(path: &str, key: &str, body: &str) {
    let hook = |name| format!("https://sms.example.ng/hooks/carriers/{name}/{SECRET}");
    let json = || -> Value { serde_json::from_str(body).unwrap() };
    let form = |name: &str| {
        let mut fields = form_urlencoded::parse(body.as_bytes());
        fields.find(|(key, _)| key == name).unwrap().1.into_owned()
    };
    match path {
        "/api/sms/send" => {
            let expected = json!({"api_key": "k", "to": MTN, "from": SENDER,
                    "sms": "Hello & welcome", "type": "plain", "channel": "generic"});
            assert_eq!(json(), expected);
        }
        "/version1/messaging" => {
            assert_eq!((key, form("username").as_str()), ("k", "ada"));
            let fields = ["to", "from", "message"].map(form);
            assert_eq!(fields, ["+2348051234567", SENDER, "Hello & welcome"]);
        }
        "/api/v2/sms" => {
            assert_eq!(key, "Bearer k");
            let json = json();
            assert_eq!(
                (&json["to"], &json["from"]),
                (&json!(AIRTEL), &json!(SENDER))
            );
            assert_eq!(json["callback_url"], hook("bulksmsnigeria"));
        }
        path => {
            assert_eq!(path, "/2010-04-01/Accounts/AC1/Messages.json");
            assert_eq!(key, "Basic QUMxOms=");
            let fields = ["To", "From", "Body", "StatusCallback"].map(form);
            let expected = ["+2348091234567", SENDER, "Hello & welcome", &hook("twilio")];
            assert_eq!(fields, expected);
        }
    }
}

#[tokio::test]
async fn each_provider_is_used_as_its_documentation_says() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let requests = Requests::default();
    let router = Router::new()
        .fallback(provider)
        .with_state(Arc::clone(&requests));
    let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let ogene = with_providers(&origin).start().await;
    let all = [MTN, "2348051234567", AIRTEL, "2348091234567"];
    let id = ogene.sent_id(to(&all.join(","), "Hello & welcome")).await;
    let asked = until("each provider is asked", async || {
        Some(requests.lock().unwrap().clone()).filter(|asked| asked.len() == 4)
    })
    .await;
    for (path, key, body) in &asked {
        check_request(path, key, body);
    }
    for (name, form, receipt) in [
        (
            "termii",
            "application/json",
            r#"{"type":"outbound","message_id":"3017544054459083819856413","status":"Delivered"}"#,
        ),
        (
            "africastalking",
            "application/x-www-form-urlencoded",
            "id=ATPid_SampleTxnId123&status=Failed&phoneNumber=%2B2348051234567&networkCode=62150",
        ),
        (
            "bulksmsnigeria",
            "application/json",
            r#"{"message_id":"b-1","recipient":"2348021234567","delivery_status":"delivrd"}"#,
        ),
        (
            "twilio",
            "application/x-www-form-urlencoded",
            "MessageSid=SM0123456789abcdef&MessageStatus=delivered&To=%2B2348091234567",
        ),
    ] {
        let request = Request::post(&format!("/hooks/carriers/{name}/{SECRET}"));
        let answer = ogene.ask(&request.body(form, receipt)).await;
        assert_eq!(answer.status, 200, "{name}");
    }
    let mut outcome = ogene.outcome(&id).await;
    outcome.sort();
    assert_eq!(outcome, ["delivrd", "delivrd", "delivrd", "undeliv"]);
    server.abort();
    ogene.end().await;
}

/// Forwards callbacks to the address of an installation that starts later.
struct Relay {
    receiver: Receiver,
}

impl Relay {
    async fn start() -> Self {
        let receiver = Receiver::start().await;
        Self { receiver }
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.receiver.port)
    }

    /// Forwards the first call. Returns its answer.
    async fn forward(&self, address: SocketAddr) -> u16 {
        let calls = self.receiver.called(1).await;
        let request = Request::post(&calls[0].target);
        let request = request.body("application/json", calls[0].text.clone());
        try_ask(address, &request).await.unwrap().status
    }
}

#[tokio::test]
async fn another_ogene_is_a_carrier_live_and_in_its_sandbox() {
    for version in ["/api/v2", "/api/sandbox/v2"] {
        let relay = Relay::start().await;
        relay.receiver.always(Some(Reaction::Status(200)));
        let carrier = Ogene::start().await;
        let base_url = format!("\"http://{}{version}\"", carrier.address);
        let ogene = Setup::new()
            .without_carriers()
            .without("carriers.mtn")
            .set("http.public_url", &format!("{:?}", relay.origin()))
            .set("carriers.mtn.kind", r#""http""#)
            .set("carriers.mtn.preset", r#""ogene""#)
            .set("carriers.mtn.base_url", &base_url)
            .set("carriers.mtn.token", &format!("{:?}", carrier.shop.token))
            .set("carriers.mtn.receipt_secret", &format!("{SECRET:?}"))
            .start()
            .await;
        let id = ogene.sent_id(to(MTN, "Hello from one to the other")).await;
        assert_eq!(relay.forward(ogene.address).await, 200, "{version}");
        assert_eq!(ogene.outcome(&id).await, ["delivrd"], "{version}");
        assert_eq!(ogene.total().await.to_string(), "994");
        let is_live = version == "/api/v2";
        let left = if is_live { "994" } else { "1000" };
        assert_eq!(carrier.total().await.to_string(), left);
        assert_eq!(carrier.smsc().received().len(), usize::from(is_live));
        ogene.end().await;
        carrier.end().await;
    }
}
