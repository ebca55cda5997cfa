//! The commands of subscribers by SMPP, and the answers to them (docs/spec/inbound.md, section 6).

use crate::kit::http::{Answer, Request};
use crate::kit::{MTN, Ogene, Setup, operations, to, until};
use crate::sub_accounts;
use domain::AccountStatus;
use domain::inbound::AnswerChange;
use engine::operators::RouteFields;
use serde_json::{Value, json};
use smpp::{Address, DeliverSm};

const ANSWERS: &str = "/api/v2/inbound/answers";
const OUT: &str = "You get no more messages.";

/// Starts a service whose shop has a number, and whose gateway for answers respects opt-outs.
async fn start(credit: Option<&str>) -> Ogene {
    let setup = Setup::new()
        .set("carriers.mtn.binds", "1")
        .set("gateways.direct-corporate.respect_opt_outs", "true")
        .set("inbound.stop_words", r#"["Daina"]"#);
    let setup = match credit {
        Some(_) => setup.without_customer(),
        None => setup,
    };
    let mut ogene = setup.start().await;
    if let Some(credit) = credit {
        ogene.shop = ogene.customer(credit).await;
    }
    for (number, keyword) in [("32811", None), ("32811", Some("cancel"))] {
        give(&ogene, number, keyword).await;
    }
    ogene.bound("mtn", 1).await;
    ogene
}

async fn give(ogene: &Ogene, number: &str, keyword: Option<&str>) {
    let fields = RouteFields {
        number: number.to_owned(),
        keyword: keyword.map(str::to_owned),
        ..RouteFields::default()
    };
    let store = ogene.store().await;
    let inbound = operations(&store).inbound();
    let added = inbound.add_route(ogene.shop.id, &fields).await;
    added.expect("a route");
    store.close().await;
}

/// Lets MTN's subscriber write to a number.
fn write(ogene: &Ogene, number: &str, text: &str) {
    let message = DeliverSm {
        source: Address::international(MTN),
        destination: Address {
            digits: number.to_owned(),
            ..Address::default()
        },
        short_message: text.as_bytes().to_vec().into(),
        ..DeliverSm::default()
    };
    ogene.smsc().send("ogene", message);
}

async fn set(ogene: &Ogene, texts: Value) -> Answer {
    let patch = Request::new("PATCH", ANSWERS).bearer(&ogene.shop.token);
    ogene.ask(&patch.json(&texts)).await
}

/// Returns the reasons of the opt-outs, newest first.
async fn reasons(ogene: &Ogene) -> Vec<String> {
    let items = ogene.read("/opt-outs").await["data"]["items"].take();
    let items = items.as_array().expect("items");
    let reason = |item: &Value| item["reason"].as_str().expect("a reason").to_owned();
    items.iter().map(reason).collect()
}

async fn opted_out(ogene: &Ogene, expected: &[&str]) {
    until("the command takes effect", async || {
        (reasons(ogene).await == expected).then_some(())
    })
    .await;
}

/// Waits until no answer waits.
async fn settled(ogene: &Ogene) {
    until("no answer waits", async || {
        (ogene.sql("select count(*) from waiting_answers") == "0").then_some(())
    })
    .await;
}

async fn inbound_count(ogene: &Ogene, count: usize) {
    until("the messages are kept", async || {
        let items = ogene.read("/inbound").await["data"]["items"].take();
        (items.as_array().map(Vec::len) == Some(count)).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_stop_opts_out_and_its_answer_reaches_the_subscriber() {
    let ogene = start(None).await;
    let changed = set(&ogene, json!({"stop": OUT, "help": "Call us."})).await;
    assert_eq!(changed.status, 200, "{}", changed.text());
    let total = ogene.total().await;
    write(&ogene, "32811", "Stop!");
    opted_out(&ogene, &["STOP"]).await;
    let received = ogene.received(1).await;
    let submit = &received[0].submit;
    assert_eq!(submit.source.digits, "32811");
    assert_eq!(submit.destination.digits, MTN);
    assert_eq!(&submit.short_message[..], OUT.as_bytes());
    settled(&ogene).await;
    let messages = ogene.read("/messages").await["data"]["items"].take();
    assert_eq!(messages[0]["gateway"], "direct-corporate");
    assert_eq!(
        (&messages[0]["body"], &messages[0]["sender"]),
        (&json!(OUT), &json!("32811"))
    );
    let cost = messages[0]["cost"].as_f64().expect("a cost");
    assert!(cost > 0.0 && (total - ogene.total().await - cost).abs() < 0.001);
    // It is an inbound message as well.
    let inbound = ogene.read("/inbound").await["data"]["items"].take();
    assert_eq!(inbound[0]["body"], "Stop!");
    until("the opt-out holds", async || {
        let refused = ogene.send(to(MTN, "Offer")).await;
        (refused.code() == "API-2021").then_some(())
    })
    .await;

    write(&ogene, "32811", "help me");
    let received = ogene.received(2).await;
    assert_eq!(&received[1].submit.short_message[..], b"Call us.");
    write(&ogene, "32811", "UNSTOP");
    opted_out(&ogene, &[]).await;
    settled(&ogene).await;
    assert_eq!(ogene.smsc().received().len(), 2, "START has no answer");
    ogene.end().await;
}

#[tokio::test]
async fn an_answer_that_fails_does_not_delay_younger_ones() {
    let mut ogene = start(None).await;
    set(&ogene, json!({"stop": OUT})).await;
    let other = ogene.customer("10").await;
    let shop = std::mem::replace(&mut ogene.shop, other);
    give(&ogene, "40111", None).await;
    let other = std::mem::replace(&mut ogene.shop, shop);
    let store = ogene.store().await;
    let change = AnswerChange {
        stop: Some("Never sent yet.".to_owned()),
        ..AnswerChange::default()
    };
    let texts = operations(&store).inbound().set_answers(other.id, change);
    texts.await.expect("a text");
    store.close().await;
    // The account cannot be read, so its answer fails at each try.
    let status = |word: &str| {
        let number = other.id.0;
        format!("update accounts set status = '{word}' where account_id = {number}")
    };
    ogene.sql(&status("odd"));
    write(&ogene, "40111", "STOP");
    until("the first answer waits", async || {
        (ogene.sql("select count(*) from waiting_answers") == "1").then_some(())
    })
    .await;
    write(&ogene, "32811", "STOP");
    let received = ogene.received(1).await;
    assert_eq!(&received[0].submit.short_message[..], OUT.as_bytes());
    assert_eq!(ogene.sql("select count(*) from waiting_answers"), "1");
    ogene.sql(&status("active"));
    let received = ogene.received(2).await;
    assert_eq!(&received[1].submit.short_message[..], b"Never sent yet.");
    settled(&ogene).await;
    ogene.end().await;
}

#[tokio::test]
async fn only_a_command_to_the_owner_of_the_number_opts_out() {
    let ogene = start(None).await;
    let other = ogene.customer("5.00").await;
    give(&ogene, "32812", Some("end")).await;
    for (count, (number, text)) in (1..).zip([
        ("32811", "please stop"),
        ("32811", "stopping"),
        ("32812", "END"),
    ]) {
        write(&ogene, number, text);
        inbound_count(&ogene, count).await;
    }
    assert_eq!(reasons(&ogene).await, [""; 0]);
    // The keyword takes the message, and the route without keyword the command.
    write(&ogene, "32811", "Cancel");
    opted_out(&ogene, &["CANCEL"]).await;
    write(&ogene, "32811", "start");
    opted_out(&ogene, &[]).await;
    write(&ogene, "32811", "DAINA, please");
    opted_out(&ogene, &["DAINA"]).await;
    let list = Request::get("/api/v2/opt-outs").bearer(&other.token);
    let items = ogene.ask(&list).await.json()["data"]["items"].take();
    assert_eq!(items, json!([]), "another account has its own opt-outs");
    ogene.end().await;
}

#[tokio::test]
async fn an_answer_is_sent_once_whatever_crashes() {
    let mut ogene = start(None).await;
    assert_eq!(set(&ogene, json!({"stop": OUT})).await.status, 200);
    ogene.hide("idempotency_keys");
    write(&ogene, "32811", "STOP");
    opted_out(&ogene, &["STOP"]).await;
    let waiting = "create table kept_aside as select * from waiting_answers";
    ogene.sql(waiting);
    assert_eq!(ogene.sql("select count(*) from kept_aside"), "1");
    ogene.kill().await;
    ogene.show("idempotency_keys");
    ogene.serve().await;
    ogene.received(1).await;
    settled(&ogene).await;
    // The answer was accepted, and the crash came before it was removed.
    ogene.kill().await;
    ogene.sql("insert into waiting_answers select * from kept_aside");
    ogene.serve().await;
    settled(&ogene).await;
    let messages = ogene.read("/messages").await["data"]["items"].take();
    assert_eq!(messages.as_array().map(Vec::len), Some(1));
    ogene.sql("drop table kept_aside");
    ogene.end().await;
}

#[tokio::test]
async fn a_refused_answer_is_left_out_and_the_opt_out_stays() {
    let ogene = start(Some("0.00")).await;
    assert_eq!(set(&ogene, json!({"stop": OUT})).await.status, 200);
    write(&ogene, "32811", "STOP");
    opted_out(&ogene, &["STOP"]).await;
    settled(&ogene).await;
    inbound_count(&ogene, 1).await;
    let messages = ogene.read("/messages").await["data"]["items"].take();
    assert_eq!(messages, json!([]));
    ogene.end().await;
}

#[tokio::test]
async fn a_parent_that_may_not_send_stops_the_answers_of_its_subs() {
    let mut ogene = start(None).await;
    let sub = sub_accounts::sub_account(&ogene).await;
    sub_accounts::give(&ogene, &sub, "50.00").await;
    let parent = std::mem::replace(&mut ogene.shop, sub);
    give(&ogene, "32813", None).await;
    assert_eq!(set(&ogene, json!({"stop": OUT})).await.status, 200);
    ogene.set_status(&parent, AccountStatus::Restricted).await;
    until("the parent stops it", async || {
        let quote = Request::post("/api/v2/sms/quote").bearer(&ogene.shop.token);
        let refused = ogene.ask(&quote.json(&to(MTN, "Hello"))).await;
        (refused.code() == "API-1007").then_some(())
    })
    .await;
    write(&ogene, "32813", "STOP");
    opted_out(&ogene, &["STOP"]).await;
    settled(&ogene).await;
    let messages = ogene.read("/messages").await["data"]["items"].take();
    assert_eq!(messages, json!([]));
    ogene.end().await;
}

#[tokio::test]
async fn the_texts_of_answers_are_set_by_the_account() {
    let ogene = Ogene::start().await;
    let empty = json!({"stop": "", "start": "", "help": ""});
    assert_eq!(ogene.read("/inbound/answers").await["data"], empty);
    let patch = Request::new("PATCH", ANSWERS).bearer(&ogene.shop.token);
    let patch = patch.header("idempotency-key", "one");
    let first = ogene
        .ask(&patch.clone().json(&json!({"stop": OUT, "help": "x"})))
        .await;
    let expected = json!({"stop": OUT, "start": "", "help": "x"});
    assert_eq!(first.json()["data"], expected);
    assert_eq!(set(&ogene, json!({"help": null})).await.status, 200);
    let again = ogene
        .ask(&patch.clone().json(&json!({"stop": OUT, "help": "x"})))
        .await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let other = ogene.ask(&patch.json(&json!({"stop": "No"}))).await;
    assert_eq!(other.code(), "API-2016");
    for (texts, named) in [
        (json!({}), "at least one"),
        (json!({"stop": "x".repeat(460)}), "`stop`"),
        (json!({"help": 7}), "`help`"),
    ] {
        let refused = set(&ogene, texts).await;
        assert_eq!(refused.code(), "API-2000");
        assert!(refused.text().contains(named), "{}", refused.text());
    }
    let kept = ogene.read("/inbound/answers").await["data"].take();
    assert_eq!(kept, json!({"stop": OUT, "start": "", "help": ""}));
    let sandbox = Request::get("/api/sandbox/v2/inbound/answers").bearer(&ogene.shop.token);
    assert_eq!(ogene.ask(&sandbox).await.json()["data"]["stop"], "");
    ogene.end().await;
}
