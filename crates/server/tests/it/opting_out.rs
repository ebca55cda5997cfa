//! Recipients who opted out.

use crate::kit::esme::{Esme, message, own_address};
use crate::kit::http::{Answer, Request};
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, Setup, operations, to, until, with};
use domain::opt_out::OptOutFields;
use engine::operators::NewSmppUser;
use serde_json::{Value, json};
use smpp::{BindKind, CommandStatus};

async fn opt_out(ogene: &Ogene, recipient: &str, sender: Option<&str>) {
    let fields = OptOutFields {
        recipient: Some(recipient.to_owned()),
        sender: sender.map(str::to_owned),
        reason: None,
    };
    let store = ogene.store().await;
    let added = operations(&store).opt_outs().add(ogene.shop.id, &fields);
    added.await.expect("an opt-out");
    store.close().await;
}

async fn post(ogene: &Ogene, path: &str, fields: &Value) -> Answer {
    let request = Request::post(path).bearer(&ogene.shop.token);
    ogene.ask(&request.json(fields)).await
}

/// Waits until the server knows that the account has opt-outs.
async fn known(ogene: &Ogene, recipient: &str) {
    until("the opt-out holds", async || {
        let answer = post(ogene, "/api/v2/sms/quote", &to(recipient, "Hello")).await;
        (answer.code() == "API-2021").then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_account_with_all_its_opt_outs_adds_none_in_the_console() {
    let ogene = Ogene::start().await;
    opt_out(&ogene, MTN, None).await;
    let fields = OptOutFields {
        recipient: Some(AIRTEL.to_owned()),
        ..OptOutFields::default()
    };
    let store = ogene.store().await;
    let add = async || {
        let opt_outs = operations(&store).opt_outs();
        opt_outs.add(ogene.shop.id, &fields).await
    };
    ogene.sql("update opt_out_accounts set opt_outs = 1000000");
    let refused = add().await.expect_err("it is full").to_string();
    assert!(refused.contains("1000000"), "{refused}");
    ogene.sql("update opt_out_accounts set opt_outs = 1");
    add().await.expect("one more");
    store.close().await;
    ogene.end().await;
}

#[tokio::test]
async fn opted_out_recipients_are_left_out_and_not_charged() {
    let ogene = Ogene::start().await;
    let first = with(to(MTN, "Kept"), json!({"to": [MTN, AIRTEL]}));
    let keyed = Request::post("/api/v2/sms").bearer(&ogene.shop.token);
    let keyed = keyed.header("Idempotency-Key", "one").json(&first);
    let before = ogene.ask(&keyed).await;
    assert_eq!(before.status, 200, "{}", before.text());
    opt_out(&ogene, MTN, None).await;
    known(&ogene, MTN).await;

    let fields = with(to(MTN, "Hello"), json!({"to": [MTN, AIRTEL, "1"]}));
    let quote = post(&ogene, "/api/v2/sms/quote", &fields).await.json();
    let quote = &quote["data"];
    assert_eq!(
        (&quote["opted_out"], &quote["recipients_count"]),
        (&json!(1), &json!(1))
    );
    let total = ogene.total().await;
    let sent = ogene.sent(fields.clone()).await;
    assert_eq!(
        (&sent["opted_out"], &sent["recipients_count"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(sent["cost"], quote["cost"]);
    assert!((total - ogene.total().await - 6.0).abs() < 0.001);
    let id = sent["message_id"].as_str().expect("an id");
    assert_eq!(ogene.outcome(id).await, ["delivrd"]);
    assert_eq!(ogene.send(fields).await.code(), "API-2012", "a duplicate");

    let rows = json!({
        "from": SENDER, "body": "Hi {name}",
        "messages": [
            {"to": MTN, "variables": {"name": "x".repeat(200)}},
            {"to": GLO, "variables": {"name": "Obi"}},
        ],
    });
    let answer = post(&ogene, "/api/v2/sms/personalised", &rows).await.json();
    let data = &answer["data"];
    assert_eq!(
        (&data["opted_out"], &data["pages_total"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(data["cost"].as_f64(), Some(6.0));
    // The key is looked up before the opt-outs.
    let again = ogene.ask(&keyed).await;
    assert_eq!(again.text(), before.text());
    ogene.end().await;
}

#[tokio::test]
async fn a_send_that_nobody_is_left_of_is_refused() {
    let ogene = Ogene::start().await;
    opt_out(&ogene, MTN, None).await;
    known(&ogene, MTN).await;
    let total = ogene.total().await;
    let refused = ogene.send(to(MTN, "Hello")).await;
    assert_eq!((refused.status, refused.code().as_str()), (422, "API-2021"));
    let later = json!({"send_at": "2999-01-01 10:00:00"});
    let malformed = ogene.send(with(to(MTN, "Later"), later)).await;
    assert_eq!(malformed.code(), "API-2000", "the time is checked first");
    let row = json!({"from": SENDER, "body": "Hi", "messages": [{"to": MTN}]});
    let refused = post(&ogene, "/api/v2/sms/personalised", &row).await;
    assert_eq!(refused.code(), "API-2021");
    assert!((ogene.total().await - total).abs() < f64::EPSILON);
    let corporate = json!({"gateway": "direct-corporate"});
    let sent = ogene.sent(with(to(MTN, "Your order"), corporate)).await;
    assert_eq!(sent["opted_out"], Value::Null);
    let sandbox = post(&ogene, "/api/sandbox/v2/sms", &to(MTN, "Hello")).await;
    assert_eq!(sandbox.status, 200, "the sandbox has no opt-outs");
    ogene.end().await;
}

#[tokio::test]
async fn an_opt_out_of_another_sender_does_not_count() {
    let ogene = Ogene::start().await;
    opt_out(&ogene, MTN, Some(&SENDER.to_uppercase())).await;
    opt_out(&ogene, GLO, Some("Another")).await;
    known(&ogene, MTN).await;
    ogene.sent(to(GLO, "Hello")).await;
    let store = ogene.store().await;
    let operations = operations(&store);
    let removed = operations.opt_outs().remove(ogene.shop.id, MTN).await;
    assert_eq!(removed.expect("an opt-out"), 1);
    store.close().await;
    ogene.sent(to(MTN, "Hello again")).await;
    ogene.end().await;
}

#[tokio::test]
async fn numbers_on_dnd_are_left_out_where_the_gateway_says_so() {
    let setup = Setup::new().set("gateways.direct-refund.respect_dnd", "true");
    let ogene = setup.start().await;
    let store = ogene.store().await;
    let operations = operations(&store);
    for number in [MTN, GLO] {
        assert!(operations.dnd().add(number).await.expect("a number"));
    }
    assert_eq!(operations.dnd().count().await.expect("a count"), 2);
    opt_out(&ogene, GLO, None).await;
    let fields = with(to(MTN, "Hello"), json!({"to": [MTN, AIRTEL, GLO]}));
    until("the opt-out holds", async || {
        let quote = post(&ogene, "/api/v2/sms/quote", &fields).await.json();
        let data = &quote["data"];
        let left_out = (&data["opted_out"], &data["dnd"], &data["recipients_count"]);
        (left_out == (&json!(1), &json!(1), &json!(1))).then_some(())
    })
    .await;
    let total = ogene.total().await;
    let sent = ogene.sent(fields).await;
    assert_eq!((&sent["opted_out"], &sent["dnd"]), (&json!(1), &json!(1)));
    assert!((total - ogene.total().await - 6.0).abs() < 0.001);
    let refused = ogene.send(to(MTN, "Hello")).await;
    assert_eq!((refused.status, refused.code().as_str()), (422, "API-2021"));
    let corporate = json!({"gateway": "direct-corporate"});
    let sent = ogene.sent(with(to(MTN, "Your order"), corporate)).await;
    assert_eq!(sent["dnd"], Value::Null, "the gateway sends to DND");
    let sandbox = post(&ogene, "/api/sandbox/v2/sms", &to(MTN, "Hello")).await;
    assert_eq!(sandbox.status, 200);
    assert!(operations.dnd().remove(MTN).await.expect("a number"));
    store.close().await;
    ogene.sent(to(MTN, "Hello again")).await;
    ogene.end().await;
}

#[tokio::test]
async fn a_submit_to_an_opted_out_number_fails() {
    let address = own_address();
    let setup = Setup::new().set("smpp_server.listen", &format!("\"{address}\""));
    let ogene = setup.start().await;
    let user = ogene.smpp_user(NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    esme.submit(message(b"Before")).await.message_id();
    opt_out(&ogene, MTN, None).await;
    let mut total = ogene.total().await;
    until("the submit fails", async || {
        let answer = esme.submit(message(b"After")).await;
        if answer.status == CommandStatus::RSUBMITFAIL {
            return Some(());
        }
        total = ogene.total().await;
        None
    })
    .await;
    assert!((ogene.total().await - total).abs() < f64::EPSILON);
    ogene.end().await;
}
