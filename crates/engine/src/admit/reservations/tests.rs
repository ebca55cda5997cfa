//! Reservations work on both databases. These tests run on SQLite, and the limit over three nodes
//! also on PostgreSQL.

use super::*;
use database::Target;
use domain::rate::RateKind;
use domain::{AccountId, Environment};
use std::future::poll_fn;
use std::task::Poll;
use tempfile::TempDir;
use tokio::task::JoinSet;

const NOW: i64 = 1_795_000_000_000;
const SIXTY_SECONDS: i64 = 60_000;
const KEY: RateKey = RateKey {
    account: AccountId(1),
    environment: Environment::Live,
    kind: RateKind::Send,
    token: None,
};

async fn embedded() -> (TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let target = Target::Directory(directory.path().to_owned());
    (directory, Store::open(&target).await.unwrap())
}

/// Polls a request once, so that it is queued.
async fn begin(request: &mut (impl Future<Output = Result<Rate, Error>> + Unpin)) {
    poll_fn(|context| {
        assert!(std::pin::Pin::new(&mut *request).poll(context).is_pending());
        Poll::Ready(())
    })
    .await;
}

#[tokio::test]
async fn a_rare_sender_needs_no_reservation_for_a_minute() {
    let (_directory, store) = embedded().await;
    let node = Arc::new(Reservations::new(store.clone()));
    store.close().await;
    let mut remaining = Vec::new();
    for at_ms in [0, 10_000, 59_000, 80_000] {
        node.forget(NOW + at_ms);
        let rate = node.count(KEY, 60, 1, NOW + at_ms).await;
        remaining.push(rate.ok().map(|rate| rate.remaining));
    }
    assert_eq!(remaining, [Some(59), None, None, Some(59)]);
}

#[tokio::test]
async fn nodes_share_a_limit_and_a_refusal_takes_nothing() {
    let (_directory, store) = embedded().await;
    let [one, other] = [(); 2].map(|()| Arc::new(Reservations::new(store.clone())));
    let remaining = async |node: &Arc<Reservations>, many, now_ms| {
        let rate = node.count_many(KEY, 100, many, now_ms).await.unwrap();
        rate.refused.is_none().then_some(rate.remaining)
    };
    assert_eq!(remaining(&one, 70, NOW).await, Some(30));
    assert_eq!(remaining(&other, 31, NOW).await, None);
    assert_eq!(remaining(&other, 30, NOW).await, Some(0));
    assert_eq!(remaining(&one, 1, NOW + 1_000).await, None);
    assert_eq!(
        remaining(&one, 100, NOW + SIXTY_SECONDS + 250).await,
        Some(0)
    );
    store.close().await;
}

#[tokio::test]
async fn a_request_waits_while_a_reservation_of_its_key_runs() {
    let (_directory, store) = embedded().await;
    let node = Arc::new(Reservations::new(store.clone()));
    node.count(KEY, 60, 1, NOW).await.unwrap();
    let mut asks = Box::pin(node.count(KEY, 60, 1, NOW));
    begin(&mut asks).await;
    // The higher limit would allow two more requests without the database.
    let mut follows = Box::pin(node.count(KEY, 180, 1, NOW));
    begin(&mut follows).await;
    assert_eq!(asks.await.unwrap().remaining, 58);
    assert_eq!(follows.await.unwrap().refused, None);
    store.close().await;
}

#[tokio::test]
async fn requests_that_wait_together_share_a_reservation() {
    let (_directory, store) = embedded().await;
    let node = Arc::new(Reservations::new(store.clone()));
    let mut requests: Vec<_> = (0..50)
        .map(|_| Box::pin(node.count(KEY, 40, 3, NOW)))
        .collect();
    for request in &mut requests {
        begin(request).await;
    }
    {
        let state = node.state();
        let waiting = state.entries[&KEY].waiting.len();
        assert_eq!((state.wanted.len(), waiting), (1, 50));
    }
    let mut remaining = Vec::new();
    for (position, request) in requests.into_iter().enumerate() {
        let rate = request.await.unwrap();
        assert_eq!(
            rate.refused.is_none(),
            position < 40,
            "first come, first served"
        );
        remaining.push(rate.remaining);
    }
    let expected: Vec<u32> = (0..40).rev().chain([0; 10]).collect();
    assert_eq!(remaining, expected);
    store.close().await;
}

#[tokio::test]
async fn waiting_accounts_share_a_transaction_and_no_permits() {
    let (_directory, store) = embedded().await;
    let node = Arc::new(Reservations::new(store.clone()));
    let keys: Vec<RateKey> = (1..)
        .take(2 * MAX_KEYS)
        .map(|account| RateKey {
            account: AccountId(account),
            ..KEY
        })
        .collect();
    let mut requests: Vec<_> = keys
        .iter()
        .flat_map(|key| [key; 3])
        .map(|key| Box::pin(node.count(*key, 2, 3, NOW)))
        .collect();
    for request in &mut requests {
        begin(request).await;
    }
    assert_eq!(node.state().wanted.len(), keys.len());
    for (position, request) in requests.into_iter().enumerate() {
        assert_eq!(request.await.unwrap().refused.is_none(), position % 3 < 2);
    }
    assert!(node.state().wanted.is_empty());
    store.close().await;
}

#[tokio::test]
async fn a_client_that_hangs_up_is_counted_and_delays_no_other() {
    let (_directory, store) = embedded().await;
    let node = Arc::new(Reservations::new(store.clone()));
    let mut abandoned = Box::pin(node.count(KEY, 10, 3, NOW));
    begin(&mut abandoned).await;
    drop(abandoned);
    let rate = node.count(KEY, 10, 3, NOW).await.unwrap();
    assert_eq!((rate.refused, rate.remaining), (None, 8));
    store.close().await;
}

#[tokio::test]
async fn an_unavailable_database_lets_only_uncounted_requests_in() {
    let (directory, store) = embedded().await;
    let node = Arc::new(Reservations::new(store.clone()));
    store.close().await;
    // The first five requests are allowed without a permit.
    for _ in 0..5 {
        node.count(KEY, 1_000, 3, NOW).await.unwrap();
    }
    for _ in 0..2 {
        let refused = node.count(KEY, 1_000, 3, NOW).await;
        assert!(matches!(refused, Err(Error::Store(error)) if error.is_unavailable()));
    }
    drop(directory);
}

#[tokio::test]
async fn unused_permits_are_returned_and_unused_keys_dropped() {
    let (_directory, store) = embedded().await;
    let node = Arc::new(Reservations::new(store.clone()));
    // Three reservations of one, two and four permits, each after five uncounted requests.
    for _ in 0..(5 + 1) + (5 + 2) + (5 + 1) {
        node.count(KEY, 1_000, 3, NOW).await.unwrap();
    }
    let remaining = async |later_ms| {
        let asked = Reservation {
            limit: 1_000,
            now_ms: NOW + later_ms,
            ..Reservation::default()
        };
        store.rates().reserve(vec![(KEY, asked)]).await.unwrap()[0].remaining
    };
    node.give_back(NOW + 1_499).await.unwrap();
    assert_eq!(remaining(1_499).await, 1_000 - 15 - 7);
    node.give_back(NOW + 1_500).await.unwrap();
    assert_eq!(remaining(1_500).await, 1_000 - 15 - 4);
    node.forget(NOW + 60_249);
    assert_eq!(node.state().entries.len(), 1);
    node.forget(NOW + 60_250);
    assert!(node.state().entries.is_empty());
    store.close().await;
}

const LIMIT: u32 = 200;
const STEP_MS: i64 = 50;

/// The times of allowed and refused requests, over all nodes.
#[derive(Default)]
struct Answers {
    allowed: Vec<i64>,
    refused: Vec<i64>,
}

/// The number of requests at each node in a step.
type Coming = fn(i64) -> [usize; 3];

/// Simulates 130 seconds. All requests of a step arrive at once.
async fn run(nodes: &[Arc<Reservations>], key: RateKey, coming: Coming) -> Answers {
    let mut answers = Answers::default();
    for step in 0..130_000 / STEP_MS {
        let now_ms = NOW + step * STEP_MS;
        let mut requests = JoinSet::new();
        for (node, count) in nodes.iter().zip(coming(step)) {
            for _ in 0..count {
                let node = Arc::clone(node);
                requests.spawn(async move { node.count(key, LIMIT, 3, now_ms).await.unwrap() });
            }
            if step % 5 == 0 {
                node.give_back(now_ms).await.unwrap();
            }
        }
        for rate in requests.join_all().await {
            let times = match rate.refused {
                None => &mut answers.allowed,
                Some(_) => &mut answers.refused,
            };
            times.push(now_ms);
        }
    }
    answers
}

/// Counts the times in `from..until`. The times are sorted.
fn within(times: &[i64], from: i64, until: i64) -> usize {
    times.partition_point(|&time| time < until) - times.partition_point(|&time| time < from)
}

fn check(pattern: &str, answers: &Answers) {
    for &from in &answers.allowed {
        let count = within(&answers.allowed, from, from + SIXTY_SECONDS);
        assert!(count <= 210, "{pattern}: {count} in sixty seconds");
    }
    assert!(
        !answers.refused.is_empty(),
        "{pattern} is more than allowed"
    );
    for &at in &answers.refused {
        // A window frees the permits of a quarter of a second after all of it has passed.
        let used = within(&answers.allowed, at - SIXTY_SECONDS - 249, at + 1);
        assert!(used >= 190, "{pattern}: refused after {used}");
    }
}

async fn three_nodes_keep_the_limit_within_five_percent(target: &Target) {
    let (mut stores, mut nodes) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let store = Store::open(target).await.unwrap();
        nodes.push(Arc::new(Reservations::new(store.clone())));
        stores.push(store);
    }
    let patterns: [(&str, Coming); 5] = [
        ("evenly", |step| [usize::from(step % 4 == 0); 3]),
        ("all at once", |step| [usize::from(step % 20 == 0) * 5; 3]),
        ("to one", |step| [usize::from(step % 3 == 0), 0, 0]),
        ("in bursts to one after the other", |step| {
            let now = |node| usize::from(step % 100 == 0 && step / 100 % 3 == node) * 30;
            [now(0), now(1), now(2)]
        }),
        ("slowly", |step| {
            [0, 5, 10].map(|apart| usize::from(step % 16 == apart))
        }),
    ];
    for (account, (pattern, coming)) in (1..).zip(patterns) {
        let account = AccountId(account);
        let answers = run(&nodes, RateKey { account, ..KEY }, coming).await;
        check(pattern, &answers);
    }
    for store in stores {
        store.close().await;
    }
}

#[tokio::test]
async fn nodes_on_sqlite_keep_the_limit_within_five_percent() {
    let directory = tempfile::tempdir().unwrap();
    let target = Target::Directory(directory.path().to_owned());
    three_nodes_keep_the_limit_within_five_percent(&target).await;
}

/// Runs SQL with `psql`, past the store.
fn administer(server: &str, sql: &str) {
    let mut psql = std::process::Command::new("psql");
    let status = psql.args([server, "--quiet", "--command", sql]).status();
    assert!(status.unwrap().success(), "{sql}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_on_postgres_keep_the_limit_within_five_percent() {
    testkit::needs!(Postgres);
    let server = testkit::postgres_url();
    let schema = format!("rates_{}", std::process::id());
    administer(&server, &format!("create schema {schema}"));
    let separator = if server.contains('?') { '&' } else { '?' };
    let url = format!("{server}{separator}options[search_path]={schema}");
    let target = Target::Postgres(database::Server::new(&url, 8).expect("a URL"));
    three_nodes_keep_the_limit_within_five_percent(&target).await;
    administer(
        &server,
        &format!("set client_min_messages = warning; drop schema {schema} cascade"),
    );
}
