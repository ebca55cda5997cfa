//! The removal of old data, as customers see it.

use crate::kit::http::Request;
use crate::kit::{MTN, Ogene, Setup, to, until};
use domain::{
    DeliveryStatus, Draft, Environment, Gateway, Leg, MessageId, Money, Priority, Recipient, Terms,
    Text,
};
use engine::Clock;
use std::sync::Arc;
use store::{
    Accepted, Batch, BatchKind, CarrierReport, Claim, Ended, NewMessage, Progress, QueueState,
    Store,
};

const DAY_MS: i64 = 86_400_000;
/// A carrier of that time.
const FORMER: &str = "former";

/// A message of the shop to one number, accepted at `at_ms`, for 7.50.
fn message(ogene: &Ogene, store: &Store, at_ms: i64) -> NewMessage {
    let (account, id) = (ogene.shop.id, MessageId::new(at_ms, [7; 10]));
    let (cost, recipients) = (
        Money::from_units(75_000),
        vec![Recipient::from_digits(2_348_031_234_567)],
    );
    let batch = Batch {
        bucket: store.bucket_of(account),
        carrier: FORMER.into(),
        state: QueueState::Waiting,
        claimed_until_ms: 0,
        priority: Priority::Normal,
        due_at_ms: at_ms,
        id: domain::BatchId(1),
        message: id,
        message_due_at_ms: at_ms,
        kind: BatchKind::First,
        leg: Leg::First,
        tries: 0,
        suffixed: false,
        pages: 1,
        charge: cost,
        reserve: Money::ZERO,
        expires_at_ms: at_ms + DAY_MS,
        recipients: recipients.clone(),
    };
    let draft = Draft {
        account,
        environment: Environment::Live,
        gateway: Gateway::DirectCorporate,
        sender: crate::kit::SENDER.to_owned(),
        text: Text::from_stored("Long ago".to_owned()),
        recipients,
        invalid: Vec::new(),
        invalid_count: 0,
        left_out: domain::opt_out::LeftOut::default(),
        adjustments: domain::Adjustments::default(),
        classes: Vec::new(),
        page_count: 1,
        cost,
        parent: None,
        priority: Priority::Normal,
        due_at_ms: None,
        texts: None,
        validity_s: None,
        otp: None,
        callback_url: None,
        customer_reference: None,
        receipts: None,
        fingerprint: [7; 16],
    };
    NewMessage {
        id,
        draft: Arc::new(draft),
        terms: Terms {
            refund_undelivered: false,
            two_legs: false,
        },
        batches: vec![batch],
        key: None,
    }
}

/// Accepts the message, and settles it later.
async fn accept_and_tell(
    store: &Store,
    message: NewMessage,
    [at_ms, told_at_ms]: [i64; 2],
    tell: impl FnOnce(&mut Progress, Recipient),
) {
    let accepted = store
        .messages()
        .accept(at_ms, vec![message])
        .await
        .expect("accepted");
    assert!(matches!(accepted[..], [Accepted::Yes { .. }]));
    let claim = Claim {
        carrier: FORMER.into(),
        node: domain::NodeId(1),
        now_ms: at_ms,
        until_ms: at_ms,
        recipients: 10,
        batches: 10,
        priority: Priority::Bulk,
        next_id: domain::BatchId(2),
    };
    let claimed = store
        .claims()
        .claim(claim)
        .await
        .expect("claimed")
        .remove(0);
    let recipient = claimed.batch.recipients[0];
    let mut progress = Progress::of(claimed);
    tell(&mut progress, recipient);
    let report = CarrierReport {
        now_ms: told_at_ms,
        progress: vec![progress],
        receipts: Vec::new(),
        planner: Arc::new(|_| None),
        node: domain::NodeId(1),
        claimed_until_ms: at_ms,
        callback_room: store::CallbackRoom::default(),
        first_number: 0,
        polled: Vec::new(),
    };
    store
        .carrier_reports()
        .commit(Arc::new(report), &mut store::Settled::default())
        .await
        .expect("settled");
}

#[tokio::test]
async fn an_old_message_is_unknown_and_the_balance_stands() {
    let mut ogene = Setup::new()
        .set("retention.messages", r#""8d""#)
        .set("retention.bodies", r#""3d""#)
        .start()
        .await;
    let young = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&young).await, ["delivrd"]);
    ogene.stop().await;
    let store = ogene.store().await;
    let at_ms = Clock::system().now_ms() - 9 * DAY_MS;
    let old = message(&ogene, &store, at_ms);
    let id = old.id;
    accept_and_tell(&store, old, [at_ms; 2], |progress, recipient| {
        progress.ended.push(Ended {
            recipient,
            status: DeliveryStatus::Rejected,
            error: "0x0B".to_owned(),
        });
    })
    .await;
    let known = store
        .messages()
        .report(ogene.shop.id, Environment::Live, id, 0, 1);
    assert!(known.await.expect("read").is_some());
    store.close().await;

    ogene.serve().await;
    let path = format!("/api/v2/delivery-reports?message_id={id}");
    let request = Request::get(&path).bearer(&ogene.shop.token);
    let answer = until("the old message is gone", async || {
        let answer = ogene.ask(&request).await;
        (answer.status != 200).then_some(answer)
    })
    .await;
    assert_eq!(
        (answer.status, &answer.json()["code"]),
        (404, &"API-2007".into())
    );
    assert_eq!(ogene.total().await.to_string(), "986.5");
    assert_eq!(ogene.statuses(&young).await, ["delivrd"]);
    let metrics = ogene.ask(&Request::get("/metrics")).await;
    assert!(metrics.text().contains("ogene_messages_removed_total"));
    ogene.end().await;
}

#[tokio::test]
async fn a_carrier_id_is_kept_eight_days_and_its_message_longer() {
    let mut ogene = Setup::new().start().await;
    let young = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&young).await, ["delivrd"]);
    ogene.stop().await;
    let store = ogene.store().await;
    let now_ms = Clock::system().now_ms();
    let at_ms = now_ms - 9 * DAY_MS;
    let old = message(&ogene, &store, at_ms);
    let id = old.id.to_string();
    // The sweep of expiry has passed the message, and checks it again since it is sent only now.
    accept_and_tell(&store, old, [at_ms, now_ms], |progress, recipient| {
        let ids = vec!["long-ago".to_owned()];
        progress.submitted.push((recipient, ids));
    })
    .await;
    store.close().await;
    assert_eq!(ogene.sql("select count(*) from carrier_ids"), "2");
    // An id is kept for eight days from the hour of its submission.
    let earlier = 9 * DAY_MS;
    ogene.sql(&format!(
        "update carrier_ids set submitted_hour_ms = submitted_hour_ms - {earlier} where prefix = 'long-ag'"
    ));

    ogene.serve().await;
    until("the old id is gone", async || {
        (ogene.sql("select count(*) from carrier_ids where prefix = 'long-ag'") == "0")
            .then_some(())
    })
    .await;
    assert_eq!(ogene.sql("select count(*) from carrier_ids"), "1");
    assert_eq!(ogene.statuses(&young).await, ["delivrd"]);
    // Its receipt never arrived. Its expiry does not depend on its age in the database.
    assert_eq!(ogene.statuses(&id).await.len(), 1);
    ogene.end().await;
}
