//! Rights of an account by its status, and the time until a command takes effect
//! (docs/spec/interface.md, section 8).

use crate::kit::http::Request;
use crate::kit::receiver::Receiver;
use crate::kit::{MTN, Ogene, SENDER, Setup, numbers, operations, to, until};
use domain::token::TokenTerms;
use domain::{AccountStatus, Component, Queued, SenderStatus};
use serde_json::json;
use smpp::simulator::{Delay, Script};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test]
async fn an_account_may_do_what_its_status_says() {
    let ogene = Ogene::start().await;
    let table = [
        (AccountStatus::Active, [200, 200, 200, 200]),
        (AccountStatus::Pending, [403, 403, 200, 200]),
        (AccountStatus::Restricted, [403, 200, 403, 200]),
        (AccountStatus::Dormant, [401, 401, 401, 401]),
        (AccountStatus::Disabled, [401, 401, 401, 401]),
    ];
    for (status, expected) in table {
        let customer = ogene.customer("100").await;
        ogene.set_status(&customer, status).await;
        let read = |path: &str| Request::get(path).bearer(&customer.token);
        let send = |path: &str| {
            Request::post(path)
                .bearer(&customer.token)
                .json(&to(MTN, "Hello"))
        };
        let requests = [
            send("/api/v2/sms"),
            read("/api/v2/balance"),
            send("/api/sandbox/v2/sms"),
            read("/api/sandbox/v2/balance"),
        ];
        let mut statuses = Vec::new();
        for request in &requests {
            statuses.push(ogene.ask(request).await.status);
        }
        assert_eq!(statuses, expected, "{status:?}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn what_an_operator_changes_is_seen_within_a_second() {
    let ogene = Ogene::start().await;
    let fields = to(MTN, "Hello");
    let code = async || ogene.send(fields.clone()).await.code();
    let seen = async |wanted: &str| {
        let since = Instant::now();
        until(wanted, async || (code().await == wanted).then_some(())).await;
        assert!(
            since.elapsed() < Duration::from_secs(1),
            "{wanted}: {:?}",
            since.elapsed()
        );
    };
    assert_eq!(code().await, "API-0000");
    let store = ogene.store().await;
    let set = async |status| {
        let set = operations(&store)
            .senders()
            .set_status(ogene.shop.id, SENDER, status, None);
        set.await.expect("set");
    };
    for (status, wanted) in [
        (AccountStatus::Restricted, "API-1007"),
        (AccountStatus::Dormant, "API-1003"),
        (AccountStatus::Disabled, "API-1002"),
        (AccountStatus::Active, "API-2012"),
    ] {
        operations(&store)
            .accounts()
            .set_status(ogene.shop.id, status, None)
            .await
            .expect("set");
        seen(wanted).await;
    }
    set(SenderStatus::Suspended).await;
    seen("API-2011").await;
    set(SenderStatus::Approved).await;
    seen("API-2012").await;
    // The send reads the credit, and a new token works at once.
    let before = ogene.total().await;
    ogene.credit(&ogene.shop, "7", Component::MainBalance).await;
    assert_eq!(ogene.total().await.to_string(), (before + 7.0).to_string());
    let (_, token) = operations(&store)
        .tokens()
        .create(ogene.shop.id, "second", TokenTerms::default())
        .await
        .expect("made");
    let answer = ogene
        .ask(&Request::get("/api/v2/balance").bearer(&token))
        .await;
    assert_eq!(answer.status, 200);
    store.close().await;
    ogene.end().await;
}

const CAMPAIGN: u64 = 300;

/// A campaign whose account is disabled after a slow carrier got a part of it. Returns its
/// receiver, and the number of submits once nothing more is in flight.
async fn disabled(queued: Option<Queued>) -> (Ogene, Receiver, usize) {
    let ogene = Setup::new()
        .set("carriers.mtn.window", "5")
        .script(Script {
            response_delay: Delay::fixed(Duration::from_millis(100)),
            ..Script::default()
        })
        .start()
        .await;
    let receiver = Receiver::start().await;
    ogene
        .credit(&ogene.shop, "2000", Component::SmsWallet)
        .await;
    let fields = json!({
        "from": SENDER, "to": numbers(CAMPAIGN), "body": "Dear customer", "callback_url": receiver.url,
    });
    ogene.sent_id(fields).await;
    ogene.received(10).await;
    let store = ogene.store().await;
    let disabled = AccountStatus::Disabled;
    operations(&store)
        .accounts()
        .set_status(ogene.shop.id, disabled, queued)
        .await
        .expect("set");
    store.close().await;
    if queued == Some(Queued::Send) {
        return (ogene, receiver, 0);
    }
    // Once nothing of it is in flight or queued, nothing can be submitted any more.
    until("nothing is in hand", async || {
        (ogene.sql("select count(*) from batches where claimed_by >= 0") == "0").then_some(())
    })
    .await;
    let sent = ogene.smsc().received().len();
    (ogene, receiver, sent)
}

#[tokio::test]
async fn what_a_disabled_account_has_queued_waits_until_it_is_active() {
    let (ogene, receiver, sent) = disabled(None).await;
    let all = numbers(CAMPAIGN).len();
    assert!(sent < all, "{sent} were submitted");
    receiver.called(sent).await;
    assert_eq!(ogene.smsc().received().len(), sent);
    assert_eq!(receiver.calls().len(), sent, "what was submitted");
    ogene.set_status(&ogene.shop, AccountStatus::Active).await;
    receiver.called(all).await;
    assert_eq!(ogene.smsc().received().len(), all, "each once");
    ogene.end().await;
}

#[tokio::test]
async fn what_a_disabled_account_has_queued_is_cancelled_and_refunded() {
    let (ogene, receiver, _) = disabled(Some(Queued::Cancel)).await;
    let all = numbers(CAMPAIGN).len();
    until("nothing is queued", async || {
        (ogene.sql("select count(*) from batches") == "0").then_some(())
    })
    .await;
    let calls = receiver.called(all).await;
    let (cancelled, sent): (Vec<_>, Vec<_>) = calls
        .iter()
        .partition(|call| call.field("delivery_status") == "failed");
    assert_eq!(ogene.smsc().received().len(), sent.len());
    assert!(!cancelled.is_empty() && calls.len() == all);
    ogene.set_status(&ogene.shop, AccountStatus::Active).await;
    let price = f64::from(u32::try_from(sent.len()).expect("few")) * 6.0;
    until("the account may read again", async || {
        let balance = Request::get("/api/v2/balance").bearer(&ogene.shop.token);
        (ogene.ask(&balance).await.status == 200).then_some(())
    })
    .await;
    assert_eq!(
        ogene.total().await.to_string(),
        (3_000.0 - price).to_string()
    );
    assert_eq!(ogene.smsc().received().len(), sent.len());
    ogene.end().await;
}

#[tokio::test]
async fn what_a_disabled_account_has_queued_goes_out_if_asked_for() {
    let (ogene, receiver, _) = disabled(Some(Queued::Send)).await;
    let all = numbers(CAMPAIGN).len();
    receiver.called(all).await;
    assert_eq!(ogene.smsc().received().len(), all);
    ogene.end().await;
}
