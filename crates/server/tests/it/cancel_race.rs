//! Cancel against dispatch: each recipient is either sent or refunded, never both, never neither.

use crate::controlling::{applied, change};
use crate::kit::http::{Request, try_ask};
use crate::kit::{CARRIER, Ogene, SENDER, Setup, until};
use domain::Component;
use domain::carrier_control::CarrierChange;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::task::JoinSet;

/// Customers who send and cancel at once.
const CUSTOMERS: u64 = 8;
/// Recipients of a message.
const RECIPIENTS: u64 = 2;
/// Number of cancelled messages, and with `OGENE_LONG`.
const TRIES: u64 = 240;
const LONG_TRIES: u64 = 10_000;
/// Number of the first messages that meet a paused carrier, so that a slow machine cancels some too.
const TRIES_IN_PAUSE: u64 = 16;
const FIRST_NUMBER: u64 = 2_348_031_000_000;

fn number(of: u64, place: u64) -> u64 {
    FIRST_NUMBER + of * RECIPIENTS + place
}

/// Sends a message and cancels it after a time that differs from try to try. Returns its number of
/// cancelled recipients.
fn send_and_cancel(ogene: &Ogene, one: u64) -> impl Future<Output = u64> + Send + use<> {
    let numbers = (0..RECIPIENTS).map(|place| number(one, place).to_string());
    let fields = json!({
        "from": SENDER, "to": numbers.collect::<Vec<String>>(), "body": format!("Order {one}"),
    });
    let (address, token) = (ogene.address, ogene.shop.token.clone());
    let sending = Request::post("/api/v2/sms").bearer(&token).json(&fields);
    async move {
        let sent = try_ask(address, &sending).await.expect("an answer").json();
        let id = sent["data"]["message_id"].as_str().expect("an id");
        // The delays spread over the life of a message: queued, claimed, on the wire.
        tokio::time::sleep(Duration::from_micros(one * 7_919 % 40_000)).await;
        let cancel = Request::post(&format!("/api/v2/messages/{id}/cancel")).bearer(&token);
        let answer = try_ask(address, &cancel).await.expect("an answer");
        assert_eq!(answer.status, 200, "{}", answer.text());
        let data = answer.json()["data"].clone();
        let cancelled = data["cancelled"].as_u64().expect("a count");
        let others = data["not_cancelled"].as_u64().expect("a count");
        assert_eq!(cancelled + others, RECIPIENTS);
        cancelled
    }
}

/// Returns the numbers in the rows of a statement.
fn numbers_of(ogene: &Ogene, sql: &str) -> BTreeSet<u64> {
    let rows = ogene.sql(sql);
    let rows = rows.lines().map(str::trim).filter(|row| !row.is_empty());
    rows.map(|row| row.parse().expect("a number")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_recipient_is_either_sent_or_refunded() {
    let is_long = std::env::var_os("OGENE_LONG").is_some();
    let tries = if is_long { LONG_TRIES } else { TRIES };
    let ogene = Setup::new()
        .set("carriers.mtn.max_per_second", "25")
        .set("carriers.mtn.window", "10")
        .set("limits.sends_per_minute", "1000000")
        .set("limits.reads_per_minute", "1000000")
        .start()
        .await;
    ogene.bound(CARRIER, 2).await;
    ogene
        .credit(&ogene.shop, "1000000.00", Component::SmsWallet)
        .await;
    let before = ogene.total().await;
    let (mut racing, mut cancelled) = (JoinSet::new(), 0);
    change(&ogene, CARRIER, CarrierChange::Pause).await;
    applied(&ogene, CARRIER, 1).await;
    for one in 0..tries {
        if one == TRIES_IN_PAUSE {
            change(&ogene, CARRIER, CarrierChange::Resume).await;
        }
        if racing.len() as u64 >= CUSTOMERS {
            cancelled += racing.join_next().await.expect("one").expect("no panic");
        }
        racing.spawn(send_and_cancel(&ogene, one));
    }
    while let Some(one) = racing.join_next().await {
        cancelled += one.expect("no panic");
    }
    until("all have their outcome", async || {
        let open =
            ogene.sql("select count(*) from deliveries where status in ('sent', 'in_doubt')");
        let waiting = ogene.sql("select count(*) from batches");
        (open.trim() == "0" && waiting.trim() == "0").then_some(())
    })
    .await;
    let received: Vec<u64> = ogene
        .smsc()
        .received()
        .into_iter()
        .map(|one| one.submit.destination.digits.parse().expect("digits"))
        .collect();
    let sent: BTreeSet<u64> = received.iter().copied().collect();
    assert_eq!(sent.len(), received.len(), "nobody is sent to twice");
    let all: BTreeSet<u64> = (0..tries * RECIPIENTS)
        .map(|one| FIRST_NUMBER + one)
        .collect();
    let refunded = numbers_of(&ogene, "select recipient from ledger where kind = 'refund'");
    let ended = "select recipient from deliveries where status = 'cancelled'";
    assert_eq!(numbers_of(&ogene, ended), refunded);
    assert_eq!(
        refunded.len() as u64,
        cancelled,
        "as the answers count them"
    );
    assert!(sent.is_disjoint(&refunded), "nobody has both");
    assert_eq!(&sent | &refunded, all, "nobody has neither");
    assert!(
        !sent.is_empty() && !refunded.is_empty(),
        "{cancelled} cancelled"
    );
    let paid = before - ogene.total().await;
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let expected = 6.0 * sent.len() as f64;
    assert!((paid - expected).abs() < 1e-3, "{paid} for {}", sent.len());
    ogene.end().await;
}
