//! The notify stage over real sockets on loopback.

use super::client::Timeouts;
use super::{CallbackSettings, Callbacks};
use crate::context::CallbackSink;
use crate::context::clock::Clock;
use crate::context::system::System;
use database::Target;
use domain::{
    AccountId, BatchId, Bucket, DeliveryStatus, Draft, Environment, Gateway, MessageId, Money,
    NodeId, Priority, Recipient, Terms, Text,
};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::Duration;
use store::{
    AttemptOutcome, Batch, BatchKind, By, Callback, CallbackRoom, CarrierReport, Ended, Finished,
    MAX_RECIPIENTS, NewMessage, Progress, QueueState, Revision, Settled, Store,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

const NOW: i64 = 1_795_000_000_000;

/// The behaviour of a receiver at a request.
#[derive(Clone)]
enum Behaviour {
    /// Answers.
    Answer(String),
    /// Answers with a body of so many bytes, as long as the client reads.
    Talk(usize),
    /// Accepts the request and never answers.
    Hang,
    /// Answers and then closes the connection without notice.
    HangUp(String),
}

fn status(line: &str) -> Behaviour {
    Behaviour::Answer(format!("HTTP/1.1 {line}\r\ncontent-length: 2\r\n\r\nOK"))
}

#[derive(Clone, Debug)]
struct Request {
    connection: usize,
    head: String,
    body: String,
}

/// The web server of a customer.
struct Receiver {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    sent_bytes: Arc<AtomicUsize>,
}

impl Receiver {
    /// Starts a receiver with a behaviour for each request. The last one is repeated.
    async fn start(behaviours: Vec<Behaviour>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let receiver = Self {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
            sent_bytes: Arc::default(),
        };
        let (requests, sent_bytes) = (
            Arc::clone(&receiver.requests),
            Arc::clone(&receiver.sent_bytes),
        );
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let served = serve(
                    stream,
                    connection,
                    behaviours.clone(),
                    requests.clone(),
                    sent_bytes.clone(),
                );
                tokio::spawn(served);
            }
        });
        receiver
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn requests(&self) -> Vec<Request> {
        self.requests.lock().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    behaviours: Vec<Behaviour>,
    requests: Arc<Mutex<Vec<Request>>>,
    sent_bytes: Arc<AtomicUsize>,
) -> Option<()> {
    let mut read = Vec::new();
    loop {
        let request = read_request(&mut stream, &mut read, connection).await?;
        let number = {
            let mut requests = requests.lock();
            requests.push(request);
            requests.len() - 1
        };
        match &behaviours[number.min(behaviours.len() - 1)] {
            Behaviour::Answer(text) => stream.write_all(text.as_bytes()).await.ok()?,
            Behaviour::HangUp(text) => {
                stream.write_all(text.as_bytes()).await.ok()?;
                return None;
            }
            Behaviour::Hang => std::future::pending().await,
            Behaviour::Talk(bytes) => {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n");
                stream.write_all(head.as_bytes()).await.ok()?;
                for _ in 0..bytes / 1024 {
                    stream.write_all(&[b'x'; 1024]).await.ok()?;
                    sent_bytes.fetch_add(1024, Ordering::Relaxed);
                }
            }
        }
    }
}

async fn read_request(
    stream: &mut TcpStream,
    read: &mut Vec<u8>,
    connection: usize,
) -> Option<Request> {
    loop {
        let text = String::from_utf8_lossy(read);
        if let Some((head, rest)) = text.split_once("\r\n\r\n") {
            let length = head
                .to_lowercase()
                .split_once("content-length: ")?
                .1
                .lines()
                .next()?
                .parse()
                .ok()?;
            if rest.len() >= length {
                let (head, body) = (head.to_owned(), rest[..length].to_owned());
                read.drain(..head.len() + 4 + length);
                return Some(Request {
                    connection,
                    head,
                    body,
                });
            }
        }
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    }
}

/// The notify stage with a database of its own.
struct Kit {
    callbacks: Callbacks,
    store: Store,
    clock: Clock,
    messages: AtomicU8,
    _directory: tempfile::TempDir,
}

const QUICK: Timeouts = Timeouts {
    connect: Duration::from_millis(500),
    attempt: Duration::from_millis(500),
    poll: Duration::from_secs(1),
};
/// Timeouts longer than any test.
const PATIENT: Timeouts = Timeouts {
    connect: Duration::from_mins(1),
    attempt: Duration::from_mins(1),
    poll: Duration::from_mins(1),
};
const ACCOUNT: AccountId = AccountId(1);
/// Another account.
const OTHER: AccountId = AccountId(2);
const NODE: NodeId = NodeId(7);
/// The due time of rows that a test claims itself, which its clock never reaches.
const RESERVED: i64 = NOW + 86_400_000;

/// Returns the batches of a message.
fn batches(bucket: Bucket, message: MessageId, recipients: &[Recipient]) -> Vec<Batch> {
    let batches = (1..).zip(recipients.chunks(MAX_RECIPIENTS));
    let batches = batches.map(|(at, recipients)| Batch {
        bucket,
        carrier: "mtn".into(),
        state: QueueState::Claimed(NODE),
        claimed_until_ms: RESERVED,
        priority: Priority::Normal,
        due_at_ms: NOW,
        id: BatchId(at),
        message,
        message_due_at_ms: NOW,
        kind: BatchKind::First,
        leg: domain::Leg::First,
        tries: 0,
        suffixed: false,
        pages: 1,
        charge: Money::ZERO,
        reserve: Money::ZERO,
        expires_at_ms: RESERVED,
        recipients: recipients.to_vec(),
    });
    batches.collect()
}

/// The carrier refused all of a batch.
fn refused(batch: &Batch) -> Progress {
    Progress {
        batch: Arc::new(batch.clone()),
        gateway: Gateway::DirectRefund,
        submitted: vec![],
        doubted: vec![],
        ended: batch.recipients.iter().copied().map(rejected).collect(),
        remaining: vec![],
        again: vec![],
        stopped: false,
    }
}

/// Returns the end of a recipient that the carrier rejected.
fn rejected(recipient: Recipient) -> Ended {
    Ended {
        recipient,
        status: DeliveryStatus::Rejected,
        error: "0x0B".to_owned(),
    }
}

/// Number of rows in the table of callbacks by state. Completed callbacks are removed.
#[derive(Debug, Eq, PartialEq)]
struct Rows {
    due: i64,
    dead: i64,
}

/// Returns an account that is charged nothing.
fn account(id: AccountId) -> domain::Account {
    domain::Account {
        id,
        email: "ada@example.ng".to_owned(),
        name: "Ada Foods".to_owned(),
        status: domain::AccountStatus::Active,
        verification: domain::Verification::Verified,
        created_at_ms: NOW,
    }
}

fn by() -> By {
    By {
        actor: "cli:ada".into(),
        at_ms: NOW,
    }
}

/// So many recipients with adjacent numbers.
fn recipients(count: u64) -> impl Iterator<Item = Recipient> {
    (0..count).map(|at| Recipient::from_digits(2_348_031_234_567 + at))
}

impl Kit {
    async fn start() -> Self {
        Self::with(true, Timeouts::default()).await
    }

    async fn with(allow_private_targets: bool, timeouts: Timeouts) -> Self {
        Self::with_concurrency(64, allow_private_targets, timeouts).await
    }

    async fn with_concurrency(
        concurrency: usize,
        allow_private_targets: bool,
        timeouts: Timeouts,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(&Target::Directory(directory.path().to_owned()))
            .await
            .unwrap();
        for id in [ACCOUNT, OTHER] {
            store.accounts().create(account(id), by()).await.unwrap();
        }
        let clock = Clock::manual(NOW);
        let system = System {
            clock: clock.clone(),
            ..System::from_os().unwrap()
        };
        let settings = CallbackSettings {
            allow_private_targets,
            retry_delays: vec![Duration::from_secs(5), Duration::from_secs(30)],
            concurrency_per_origin: 2,
            concurrency,
        };
        // No revision is sent, because no secret changes.
        let (_, revision) = watch::channel(Revision::default());
        let callbacks =
            Callbacks::start_with(store.clone(), NODE, &settings, system, revision, timeouts)
                .await
                .unwrap();
        Self {
            callbacks,
            store,
            clock,
            messages: AtomicU8::new(1),
            _directory: directory,
        }
    }

    /// Rejects a message to so many recipients, whose callbacks go to `url`.
    async fn settle(&self, url: &str, count: u64) {
        let of = (ACCOUNT, Environment::Live);
        self.settle_of(of, url, count, CallbackRoom::default())
            .await;
    }

    /// Rejects a message of an account while the stage has capacity for some callbacks. Returns
    /// these.
    async fn settle_of(
        &self,
        (account, environment): (AccountId, Environment),
        url: &str,
        count: u64,
        callback_room: CallbackRoom,
    ) -> Vec<Callback> {
        let recipients: Vec<Recipient> = recipients(count).collect();
        let number = self.messages.fetch_add(1, Ordering::Relaxed);
        let id = MessageId::new(NOW, [number; 10]);
        let draft = Draft {
            account,
            environment,
            gateway: Gateway::DirectRefund,
            sender: "Ogene".into(),
            text: Text::prepare("Hello", false).unwrap(),
            recipients: recipients.clone(),
            invalid: vec![],
            invalid_count: 0,
            left_out: domain::opt_out::LeftOut::default(),
            adjustments: domain::Adjustments::default(),
            classes: vec![],
            page_count: 1,
            cost: Money::ZERO,
            parent: None,
            priority: Priority::Normal,
            due_at_ms: None,
            texts: None,
            validity_s: None,
            otp: None,
            callback_url: Some(url.into()),
            customer_reference: Some("order 7".into()),
            receipts: None,
            fingerprint: [number; 16],
        };
        let terms = Terms {
            refund_undelivered: false,
            two_legs: false,
        };
        let batches = batches(self.store.bucket_of(account), id, &recipients);
        let refused = batches.iter().map(refused);
        let report = CarrierReport {
            now_ms: RESERVED,
            progress: refused.collect(),
            receipts: vec![],
            planner: Arc::new(|_| None),
            node: NODE,
            claimed_until_ms: 0,
            callback_room,
            first_number: 0,
            polled: Vec::new(),
        };
        let message = NewMessage {
            id,
            draft: Arc::new(draft),
            terms,
            batches,
            key: None,
        };
        self.store
            .messages()
            .accept(NOW, vec![message])
            .await
            .unwrap();
        let mut settled = Settled::default();
        let report = self
            .store
            .carrier_reports()
            .commit(Arc::new(report), &mut settled);
        report.await.unwrap();
        settled.callbacks
    }

    /// Returns claimed callbacks of a new message to `url`.
    async fn claimed(&self, url: &str, count: u64, attempts: i64) -> Vec<Callback> {
        self.settle(url, count).await;
        let mut claimed = self.claim(url).await;
        for _ in 0..attempts {
            let retry = Finished::Retry { at_ms: RESERVED };
            let tried = claimed
                .into_iter()
                .map(|one| AttemptOutcome::new(one, retry));
            let tried = self.store.outbox().finish(NODE, tried.collect());
            tried.await.unwrap();
            claimed = self.claim(url).await;
        }
        claimed
    }

    async fn claim(&self, url: &str) -> Vec<Callback> {
        let bucket = self.store.bucket_of(ACCOUNT);
        let origin = domain::callback_url::origin(url);
        let of = (bucket, ACCOUNT, Environment::Live, origin);
        let claim = self
            .store
            .outbox()
            .claim(of, RESERVED, 10_000, NODE, RESERVED);
        claim.await.unwrap()
    }

    async fn offer(&self, url: &str, count: u64) {
        self.callbacks.offer(self.claimed(url, count, 0).await);
    }

    async fn rows(&self, state: &str) -> i64 {
        let counts = self.store.outbox().counts(domain::Bucket(0)).await.unwrap();
        counts
            .into_iter()
            .find(|(name, _)| name == state)
            .map_or(0, |(_, count)| count)
    }

    /// Waits until no callback is in memory. Returns the remaining rows.
    async fn settled(&self) -> Rows {
        let waiting = async {
            while self.rows("claimed").await > 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(LIMIT, waiting)
            .await
            .expect("callbacks stayed in memory");
        Rows {
            due: self.rows("due").await,
            dead: self.rows("dead").await,
        }
    }
}

const LIMIT: Duration = Duration::from_secs(20);
const ALL_ARRIVED: Rows = Rows { due: 0, dead: 0 };
const ONE_RETRY: Rows = Rows { due: 1, dead: 0 };
const ONE_DEAD: Rows = Rows { due: 0, dead: 1 };

/// Waits for a condition, with a timeout.
async fn until(mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(LIMIT, waiting)
        .await
        .expect("the condition did not become true");
}

#[tokio::test]
async fn a_callback_is_posted_as_specified_and_done_on_any_2xx() {
    let receiver = Receiver::start(vec![status("202 Accepted")]).await;
    let kit = Kit::start().await;
    let url = receiver
        .url("/hook?secret=a#part")
        .replace("http://", "http://user:p%40ss@");
    kit.offer(&url, 1).await;
    assert_eq!(kit.settled().await, ALL_ARRIVED);
    let requests = receiver.requests();
    let expected_head = [
        "POST /hook?secret=a HTTP/1.1".to_owned(),
        format!("host: {}", receiver.address),
        "content-type: application/json".to_owned(),
        "accept: */*".to_owned(),
        concat!("user-agent: Ogene/", env!("CARGO_PKG_VERSION")).to_owned(),
        "ogene-attempt: 1".to_owned(),
        "authorization: Basic dXNlcjpwQHNz".to_owned(),
        format!("content-length: {}", requests[0].body.len()),
    ];
    assert_eq!(requests[0].head.lines().collect::<Vec<_>>(), expected_head);
    let body: serde_json::Value = serde_json::from_str(&requests[0].body).unwrap();
    assert_eq!(body["recipient"], "2348031234567");
    assert_eq!(body["callback_url"], url);
    assert_eq!(body["data"]["customer_reference"], "order 7");
}

#[tokio::test]
async fn a_failed_callback_is_posted_again_when_it_is_due() {
    let receiver = Receiver::start(vec![status("500 Oops"), status("200 OK")]).await;
    let kit = Kit::start().await;
    kit.offer(&receiver.url("/"), 1).await;
    assert_eq!(kit.settled().await, ONE_RETRY);
    kit.clock.set(NOW + 6_001);
    kit.callbacks.wake();
    until(|| receiver.requests().len() == 2).await;
    assert_eq!(kit.settled().await, ALL_ARRIVED);
    assert!(receiver.requests()[1].head.contains("ogene-attempt: 2"));
}

#[tokio::test]
async fn after_the_last_delay_a_callback_is_dead() {
    let receiver = Receiver::start(vec![status("503 Busy")]).await;
    let kit = Kit::start().await;
    kit.callbacks
        .offer(kit.claimed(&receiver.url("/"), 1, 2).await);
    assert_eq!(kit.settled().await, ONE_DEAD);
}

#[tokio::test]
async fn a_gone_receiver_ends_the_callbacks_of_its_message_only() {
    let receiver = Receiver::start(vec![status("410 Gone")]).await;
    let kit = Kit::start().await;
    kit.offer(&receiver.url("/"), 100).await;
    assert_eq!(kit.settled().await, Rows { due: 0, dead: 100 });
    let posted = receiver.requests().len();
    assert!(posted < 10, "{posted} of 100 were posted");
    kit.offer(&receiver.url("/"), 1).await;
    assert_eq!(kit.settled().await, Rows { due: 0, dead: 101 });
    assert_eq!(receiver.requests().len(), posted + 1);
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Receiver::start(vec![status("200 OK")]).await;
    let moved = format!(
        "HTTP/1.1 307 Moved\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
        elsewhere.url("/")
    );
    let receiver = Receiver::start(vec![Behaviour::Answer(moved)]).await;
    let kit = Kit::start().await;
    kit.offer(&receiver.url("/"), 1).await;
    assert_eq!(kit.settled().await, ONE_DEAD);
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn a_hanging_receiver_delays_no_other() {
    let hanging = Receiver::start(vec![Behaviour::Hang]).await;
    let quick = Receiver::start(vec![status("200 OK")]).await;
    let kit = Kit::start().await;
    kit.offer(&hanging.url("/"), 50).await;
    kit.offer(&quick.url("/"), 200).await;
    until(|| quick.requests().len() == 200).await;
    assert_eq!(hanging.requests().len(), 2);
}

#[tokio::test]
async fn hanging_receivers_leave_a_healthy_one_its_concurrency() {
    const HANGING: usize = 100;
    let quick = Receiver::start(vec![status("200 OK")]).await;
    let kit = Kit::with(true, PATIENT).await;
    kit.offer(&quick.url("/"), 1).await;
    assert_eq!(kit.settled().await, ALL_ARRIVED);
    let mut hanging = Vec::new();
    for _ in 0..HANGING {
        let receiver = Receiver::start(vec![Behaviour::Hang]).await;
        kit.offer(&receiver.url("/"), 3).await;
        hanging.push(receiver);
    }
    kit.offer(&quick.url("/"), 200).await;
    until(|| quick.requests().len() == 201).await;
    let asked: usize = hanging.iter().map(|one| one.requests().len()).sum();
    assert_eq!(asked, 7, "half of a quarter of 56 places");
}

#[tokio::test]
async fn all_callbacks_start_even_if_no_attempt_ends() {
    const HANGING: usize = 50;
    let kit = Kit::with_concurrency(20 * HANGING, true, PATIENT).await;
    let mut hanging = Vec::new();
    for _ in 0..HANGING {
        let receiver = Receiver::start(vec![Behaviour::Hang]).await;
        kit.offer(&receiver.url("/"), 2).await;
        hanging.push(receiver);
    }
    until(|| hanging.iter().all(|one| one.requests().len() == 2)).await;
}

/// The receivers of an account answer their first callback and hang at the next ones, up to the
/// concurrency.
async fn slow_receivers_use_their_whole_share(of: (AccountId, Environment)) {
    const RECEIVERS: usize = 40;
    let all = CallbackRoom {
        live: 1_000,
        sandbox: 1_000,
    };
    let kit = Kit::with_concurrency(64, true, Timeouts::default()).await;
    let mut slow = Vec::new();
    for _ in 0..RECEIVERS {
        let receiver = Receiver::start(vec![status("200 OK"), Behaviour::Hang]).await;
        let first = kit.settle_of(of, &receiver.url("/"), 1, all).await;
        kit.callbacks.offer(first);
        until(|| receiver.requests().len() == 1).await;
        slow.push(receiver);
    }
    until(|| kit.callbacks.worker.in_flight() == 0).await;
    for receiver in &slow {
        let more = kit.settle_of(of, &receiver.url("/"), 4, all).await;
        kit.callbacks.offer(more);
    }
    let hanging = || {
        slow.iter()
            .map(|one| one.requests().len() - 1)
            .sum::<usize>()
    };
    until(|| hanging() > 0 && hanging() == kit.callbacks.worker.in_flight()).await;
    let quick = Receiver::start(vec![status("200 OK")]).await;
    let paid = (OTHER, Environment::Live);
    let callbacks = kit.settle_of(paid, &quick.url("/"), 1, all).await;
    let started = std::time::Instant::now();
    kit.callbacks.offer(callbacks);
    until(|| quick.requests().len() == 1).await;
    let took = started.elapsed();
    assert!(
        took < Duration::from_secs(5),
        "the callback waited for {took:?}"
    );
}

#[tokio::test]
async fn slow_sandbox_receivers_do_not_delay_paid_callbacks() {
    slow_receivers_use_their_whole_share((ACCOUNT, Environment::Sandbox)).await;
}

#[tokio::test]
async fn slow_receivers_of_one_account_do_not_delay_those_of_another() {
    slow_receivers_use_their_whole_share((ACCOUNT, Environment::Live)).await;
}

#[tokio::test]
async fn an_attempt_at_a_hanging_receiver_times_out_and_is_retried() {
    let hanging = Receiver::start(vec![Behaviour::Hang]).await;
    let kit = Kit::with(true, QUICK).await;
    kit.offer(&hanging.url("/"), 1).await;
    assert_eq!(kit.settled().await, ONE_RETRY);
}

#[tokio::test]
async fn a_callback_that_waited_for_days_is_given_up_untried() {
    let failing = Receiver::start(vec![status("503 Service Unavailable")]).await;
    let quick = Receiver::start(vec![status("200 OK")]).await;
    let kit = Kit::start().await;
    let to_failing = kit.claimed(&failing.url("/"), 50, 0).await;
    let to_quick = kit.claimed(&quick.url("/"), 50, 0).await;
    kit.clock.set(RESERVED + 86_400_001);
    kit.callbacks.offer(to_failing);
    kit.callbacks.offer(to_quick);
    let left = kit.settled().await;
    let tried = failing.requests().len();
    assert!(
        matches!(tried, 5 | 6),
        "the fifth failure opens the breaker, with two in flight: {tried}"
    );
    let given_up = 50 - i64::try_from(tried).unwrap();
    assert_eq!((left.due, left.dead), (50 - given_up, given_up));
    assert_eq!(quick.requests().len(), 50);
}

#[tokio::test]
async fn a_long_answer_is_read_in_part_and_ends_the_connection() {
    const LONG: usize = 10 * 1024 * 1024;
    let receiver = Receiver::start(vec![Behaviour::Talk(LONG), status("200 OK")]).await;
    let kit = Kit::start().await;
    kit.offer(&receiver.url("/"), 1).await;
    assert_eq!(kit.settled().await, ALL_ARRIVED);
    kit.offer(&receiver.url("/"), 1).await;
    assert_eq!(kit.settled().await, ALL_ARRIVED);
    assert_eq!(receiver.requests()[1].connection, 1);
    // The socket buffers hold the part of the answer beyond the bytes that were read.
    assert!(receiver.sent_bytes.load(Ordering::Relaxed) < LONG);
}

#[tokio::test]
async fn connections_are_reused_within_the_concurrency() {
    let receiver = Receiver::start(vec![status("200 OK")]).await;
    let kit = Kit::with_concurrency(9, true, Timeouts::default()).await;
    kit.offer(&receiver.url("/"), 500).await;
    assert_eq!(kit.settled().await, ALL_ARRIVED);
    let requests = receiver.requests();
    assert_eq!(requests.len(), 500);
    assert!(requests.iter().all(|request| request.connection < 2));
}

#[tokio::test]
async fn accounts_that_share_a_receiver_reuse_connections() {
    let receiver = Receiver::start(vec![status("200 OK")]).await;
    let kit = Kit::with_concurrency(9, true, Timeouts::default()).await;
    let mut callbacks = kit.claimed(&receiver.url("/"), 400, 0).await;
    for (callback, account) in callbacks.iter_mut().zip((1..=4).cycle()) {
        callback.account = AccountId(account);
    }
    kit.callbacks.offer(callbacks);
    until(|| receiver.requests().len() == 400).await;
    let last = receiver
        .requests()
        .iter()
        .map(|request| request.connection)
        .max();
    assert!(last < Some(8), "at most the concurrency: {last:?}");
}

#[tokio::test]
async fn a_closed_kept_connection_is_replaced_in_the_attempt() {
    let hangs_up = Behaviour::HangUp("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned());
    let receiver = Receiver::start(vec![hangs_up]).await;
    let kit = Kit::start().await;
    for _ in 0..10 {
        kit.offer(&receiver.url("/"), 2).await;
        assert_eq!(kit.settled().await, ALL_ARRIVED);
    }
}

#[tokio::test]
async fn a_refused_connection_and_an_unknown_name_are_retried() {
    let closed = TcpListener::bind("127.0.0.1:0")
        .await
        .unwrap()
        .local_addr()
        .unwrap();
    let kit = Kit::with(true, QUICK).await;
    kit.offer(&format!("http://{closed}/"), 1).await;
    kit.offer("http://nobody.invalid/", 1).await;
    assert_eq!(kit.settled().await, Rows { due: 2, dead: 0 });
}

#[tokio::test]
async fn localhost_needs_no_name_server_and_is_private() {
    let receiver = Receiver::start(vec![status("200 OK")]).await;
    let url = format!("http://localhost:{}/", receiver.address.port());
    let strict = Kit::with(false, Timeouts::default()).await;
    strict.offer(&url, 1).await;
    strict.offer(&receiver.url("/"), 1).await;
    assert_eq!(strict.settled().await, Rows { due: 2, dead: 0 });
    assert!(receiver.requests().is_empty());
    let allowed = Kit::start().await;
    allowed.offer(&url, 1).await;
    assert_eq!(allowed.settled().await, ALL_ARRIVED);
}

#[tokio::test]
async fn callbacks_above_the_capacity_are_claimed_later() {
    const MANY: usize = 4_000;
    let receiver = Receiver::start(vec![status("200 OK")]).await;
    let kit = Kit::with(true, PATIENT).await;
    let claimed = kit.claimed(&receiver.url("/"), MANY as u64, 0).await;
    kit.clock.set(RESERVED);
    kit.callbacks.offer(claimed);
    until(|| receiver.requests().len() == MANY).await;
    assert_eq!(kit.settled().await, ALL_ARRIVED);
    let bodies: HashSet<_> = receiver
        .requests()
        .into_iter()
        .map(|request| request.body)
        .collect();
    assert_eq!(bodies.len(), MANY);
}

#[tokio::test]
async fn a_shutdown_finishes_attempts_and_releases_the_rest() {
    let receiver = Receiver::start(vec![Behaviour::Hang]).await;
    let kit = Kit::with(true, QUICK).await;
    kit.offer(&receiver.url("/"), 50).await;
    until(|| receiver.requests().len() == 2).await;
    kit.callbacks.shutdown().await;
    assert_eq!(kit.settled().await, Rows { due: 50, dead: 0 });
    kit.offer(&receiver.url("/"), 1).await;
    assert_eq!(kit.settled().await, Rows { due: 51, dead: 0 });
    assert_eq!(receiver.requests().len(), 2);
}

#[tokio::test]
async fn a_shutdown_aborts_slow_attempts_and_releases_them() {
    let receiver = Receiver::start(vec![Behaviour::Hang]).await;
    let kit = Kit::start().await;
    kit.offer(&receiver.url("/"), 1).await;
    until(|| receiver.requests().len() == 1).await;
    kit.callbacks
        .worker
        .close(Duration::from_millis(10), vec![])
        .await;
    assert_eq!(kit.callbacks.worker.capacity().live, 20_000);
    kit.callbacks.shutdown().await;
    assert_eq!(kit.settled().await, ONE_RETRY);
}
