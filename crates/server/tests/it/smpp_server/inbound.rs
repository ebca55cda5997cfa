//! Inbound messages by SMPP.

use super::start;
use crate::kit::esme::{Esme, User};
use crate::kit::http::{Answer, Request};
use crate::kit::{MTN, Ogene, Setup, operations, until};
use engine::operators::{NewSmppUser, OperationError, RouteFields};
use serde_json::{Value, json};
use smpp::codec::{Pdu, decode};
use smpp::{Address, BindKind, CommandStatus, DeliverSm, esm_class, tag, udh};

fn to_user(user: &User) -> RouteFields {
    RouteFields {
        number: "32811".to_owned(),
        smpp_user: Some(user.user.system_id.clone()),
        ..RouteFields::default()
    }
}

async fn add_route(ogene: &Ogene, user: &User) -> Result<(), OperationError> {
    let store = ogene.store().await;
    let inbound = operations(&store).inbound();
    let added = inbound.add_route(ogene.shop.id, &to_user(user)).await;
    store.close().await;
    added.map(|_| ())
}

/// Sends a message of MTN's subscriber.
fn send(ogene: &Ogene, text: &[u8]) {
    let message = DeliverSm {
        source: Address::international(MTN),
        destination: Address {
            ton: 3,
            npi: 0,
            digits: "32811".to_owned(),
        },
        short_message: text.to_vec().into(),
        ..DeliverSm::default()
    };
    ogene.smsc().send("ogene", message);
}

/// Reads the next message: sequence number, sender, number, text.
async fn read(esme: &mut Esme) -> (u32, String, String, Vec<u8>) {
    let answer = esme.read().await.expect("a message");
    let Ok(Pdu::Deliver(message)) = decode(answer.command, &answer.body) else {
        panic!("no deliver_sm: {answer:?}");
    };
    assert_eq!((message.esm_class, message.data_coding), (0, 0));
    let text = |octets: &[u8]| String::from_utf8(octets.to_vec()).expect("ASCII");
    (
        answer.sequence,
        text(message.source.digits),
        text(message.destination.digits),
        message.short_message.to_vec(),
    )
}

#[tokio::test]
async fn an_inbound_message_is_repeated_until_its_user_answers() {
    let setup = Setup::new().set("carriers.mtn.binds", "1");
    let (ogene, address, user) = start(setup, NewSmppUser::default()).await;
    add_route(&ogene, &user).await.expect("a route");
    ogene.bound("mtn", 1).await;
    send(&ogene, b"Vote \x1B\x65 A");
    until("the message waits", async || {
        let waiting = ogene.sql("select count(*) from outbox where kind = 'inbound'");
        (waiting.trim() == "1").then_some(())
    })
    .await;
    let mut first = Esme::bound(address, BindKind::Receiver, &user).await;
    let (_, from, to, text) = read(&mut first).await;
    assert_eq!(
        (&*from, &*to, &*text),
        (MTN, "32811", &b"Vote \x1B\x65 A"[..])
    );
    drop(first);
    let mut second = Esme::bound(address, BindKind::Transceiver, &user).await;
    let (sequence, .., again) = read(&mut second).await;
    assert_eq!(again, text);
    second.respond(sequence, &Pdu::DeliverResp).await;
    until("nothing waits", async || {
        (ogene.sql("select count(*) from outbox").trim() == "0").then_some(())
    })
    .await;
    // A bound receiver gets the next one at once.
    send(&ogene, b"Vote B");
    let (sequence, .., text) = read(&mut second).await;
    assert_eq!(text, b"Vote B");
    second.respond(sequence, &Pdu::DeliverResp).await;
    let probed = second.ask(&Pdu::EnquireLink).await;
    assert_eq!(probed.status, CommandStatus::ROK);
    ogene.end().await;
}

/// Sends a text of MTN's subscriber in two pages.
fn send_long(ogene: &Ogene, text: &[u8; 300]) {
    for (place, part) in (1..).zip(text.chunks(150)) {
        let octets = [&udh(9, 2, place)[..], part].concat();
        let message = DeliverSm {
            source: Address::international(MTN),
            destination: Address {
                digits: "32811".to_owned(),
                ..Address::default()
            },
            esm_class: esm_class::UDHI,
            short_message: octets.into(),
            ..DeliverSm::default()
        };
        ogene.smsc().send("ogene", message);
    }
}

async fn in_state(ogene: &Ogene, state: &str) {
    until("the message has its state", async || {
        let found = ogene.sql("select state from outbox where kind = 'inbound'");
        (found.trim() == state).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_long_text_is_a_payload_that_an_old_client_cannot_get() {
    let setup = Setup::new().set("carriers.mtn.binds", "1");
    let (ogene, address, user) = start(setup, NewSmppUser::default()).await;
    add_route(&ogene, &user).await.expect("a route");
    ogene.bound("mtn", 1).await;
    let long = [b'a'; 300];
    let mut esme = Esme::bound(address, BindKind::Receiver, &user).await;
    send_long(&ogene, &long);
    let answer = esme.read().await.expect("a message");
    let Ok(Pdu::Deliver(message)) = decode(answer.command, &answer.body) else {
        panic!("no deliver_sm: {answer:?}");
    };
    assert!(message.short_message.is_empty());
    assert_eq!(message.tlvs.get(tag::MESSAGE_PAYLOAD), Some(&long[..]));
    esme.respond(answer.sequence, &Pdu::DeliverResp).await;
    in_state(&ogene, "").await;
    esme.ask(&Pdu::Unbind).await;
    // A client below 3.4 knows no parameters. The text is dead, and a short one still arrives.
    let mut old = Esme::connect(address).await;
    let bound = old.bind(BindKind::Receiver, &user, 0x33).await;
    assert_eq!(bound.status, CommandStatus::ROK);
    send_long(&ogene, &[b'b'; 300]);
    in_state(&ogene, "dead").await;
    send(&ogene, b"short");
    let (sequence, .., text) = read(&mut old).await;
    assert_eq!(text, b"short");
    old.respond(sequence, &Pdu::DeliverResp).await;
    ogene.end().await;
}

/// Posts a route of the shop.
async fn post_route(ogene: &Ogene, fields: &Value) -> Answer {
    let post = Request::post("/api/v2/inbound/routes").bearer(&ogene.shop.token);
    ogene.ask(&post.json(fields)).await
}

#[tokio::test]
async fn a_customer_names_the_user_that_gets_its_messages() {
    let setup = Setup::new().set("carriers.mtn.binds", "1");
    let (ogene, address, user) = start(setup, NewSmppUser::default()).await;
    let number = RouteFields {
        smpp_user: None,
        ..to_user(&user)
    };
    let store = ogene.store().await;
    let given = operations(&store).inbound();
    given
        .add_route(ogene.shop.id, &number)
        .await
        .expect("given");
    store.close().await;
    ogene.bound("mtn", 1).await;
    let system_id = &user.user.system_id;
    let vote = json!({"number": "32811", "keyword": "vote", "smpp_user": system_id});
    let added = post_route(&ogene, &vote).await;
    assert_eq!(added.status, 200, "{}", added.text());
    assert_eq!(added.json()["data"]["smpp_user"], **system_id);
    assert_eq!(added.json()["data"]["url"], Value::Null);
    let mut esme = Esme::bound(address, BindKind::Receiver, &user).await;
    send(&ogene, b"Vote A");
    let (sequence, from, to, text) = read(&mut esme).await;
    assert_eq!((&*from, &*to, &*text), (MTN, "32811", &b"Vote A"[..]));
    esme.respond(sequence, &Pdu::DeliverResp).await;
    // A request without both keeps the user, and a URL replaces it.
    let same = json!({"number": "32811", "keyword": "vote"});
    let kept = post_route(&ogene, &same).await;
    assert_eq!(kept.json()["data"]["smpp_user"], **system_id);
    let url = json!({"number": "32811", "keyword": "vote", "url": "https://shop.example.ng/in"});
    let posted = post_route(&ogene, &url).await;
    assert_eq!(posted.json()["data"]["smpp_user"], Value::Null);
    ogene.end().await;
}

#[tokio::test]
async fn a_customer_names_no_user_of_another_account() {
    let (ogene, _, user) = start(Setup::new(), NewSmppUser::default()).await;
    let number = RouteFields {
        smpp_user: None,
        ..to_user(&user)
    };
    let store = ogene.store().await;
    let given = operations(&store).inbound();
    given
        .add_route(ogene.shop.id, &number)
        .await
        .expect("given");
    store.close().await;
    let sandbox = NewSmppUser {
        sandbox: true,
        ..NewSmppUser::default()
    };
    let sandbox = ogene.smpp_user(sandbox).await;
    let revoked = ogene.smpp_user(NewSmppUser::default()).await;
    ogene.revoke(&revoked).await;
    let other = ogene.customer("5").await;
    let store = ogene.store().await;
    let users = operations(&store).smpp_users();
    let foreign = users.create(other.id, NewSmppUser::default()).await;
    let foreign = foreign.expect("a user").0.system_id;
    store.close().await;
    let (sandbox, revoked) = (sandbox.user.system_id, revoked.user.system_id);
    for system_id in [sandbox, revoked, foreign, "nobody".to_owned()] {
        let fields = json!({"number": "32811", "smpp_user": system_id});
        let refused = post_route(&ogene, &fields).await;
        assert_eq!(refused.code(), "API-2007", "{system_id}");
    }
    let both = json!({
        "number": "32811", "smpp_user": user.user.system_id, "url": "https://shop.example.ng/in"
    });
    assert_eq!(post_route(&ogene, &both).await.code(), "API-2000");
    let routes = ogene.sql("select count(*) from inbound_routes where smpp_user is not null");
    assert_eq!(routes, "0");
    ogene.end().await;
}

#[tokio::test]
async fn a_route_names_a_valid_user_of_its_account() {
    let (ogene, _, user) = start(Setup::new(), NewSmppUser::default()).await;
    let sandbox = NewSmppUser {
        sandbox: true,
        ..NewSmppUser::default()
    };
    let sandbox = ogene.smpp_user(sandbox).await;
    let revoked = ogene.smpp_user(NewSmppUser::default()).await;
    ogene.revoke(&revoked).await;
    let mut unknown = user.clone();
    unknown.user.system_id = "nobody".to_owned();
    for user in [&sandbox, &revoked, &unknown] {
        let refused = add_route(&ogene, user).await;
        assert!(
            matches!(refused, Err(OperationError::NoSmppUser(_))),
            "{user:?}"
        );
    }
    add_route(&ogene, &user).await.expect("a route");
    ogene.end().await;
}
