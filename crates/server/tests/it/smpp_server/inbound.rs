//! Inbound messages by SMPP.

use super::start;
use crate::kit::esme::{Esme, User};
use crate::kit::{MTN, Ogene, Setup, operations, until};
use engine::operators::{NewSmppUser, OperationError, RouteFields};
use smpp::codec::{Pdu, decode};
use smpp::{Address, BindKind, CommandStatus, DeliverSm};

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
