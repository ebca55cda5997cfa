//! Receipts by SMPP.

use super::{limits, start};
use crate::kit::esme::{Answer, Esme, User, is, message};
use crate::kit::{MTN, Ogene, SENDER, Setup, until};
use engine::Clock;
use engine::operators::NewSmppUser;
use smpp::codec::{CancelFields, Pdu, Sm, decode};
use smpp::{BindKind, Command, CommandStatus, Tlv, esm_class, tag};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// A receipt as a client reads it.
#[derive(Clone, Debug)]
struct Read {
    sequence: u32,
    source: String,
    destination: String,
    esm_class: u8,
    text: String,
    tlvs: Vec<Tlv>,
}

impl Read {
    fn of(answer: &Answer) -> Self {
        let Ok(Pdu::Deliver(receipt)) = decode(answer.command, &answer.body) else {
            panic!("no deliver_sm: {answer:?}");
        };
        let text = |octets: &[u8]| String::from_utf8(octets.to_vec()).expect("ASCII");
        Self {
            sequence: answer.sequence,
            source: text(receipt.source.digits),
            destination: text(receipt.destination.digits),
            esm_class: receipt.esm_class,
            text: text(receipt.short_message),
            tlvs: receipt.tlvs.to_vec(),
        }
    }

    /// Returns the word after a label of the text.
    fn word(&self, label: &str) -> &str {
        let (_, rest) = self.text.split_once(label).expect(label);
        rest.split(' ').next().unwrap_or_default()
    }

    fn parameter(&self, tag: u16) -> Option<&[u8]> {
        let found = self.tlvs.iter().find(|one| one.tag == tag);
        found.map(|one| &one.value[..])
    }
}

/// Reads the next receipt.
async fn receipt(esme: &mut Esme) -> Read {
    Read::of(&esme.read().await.expect("a receipt"))
}

/// Reads the next receipt, and answers it.
async fn answered(esme: &mut Esme) -> Read {
    let read = receipt(esme).await;
    esme.respond(read.sequence, &Pdu::DeliverResp).await;
    read
}

/// A text that asks for receipts.
fn asking(text: &[u8], registered_delivery: u8) -> Sm<'_> {
    Sm {
        registered_delivery,
        ..message(text)
    }
}

/// Submits a text over a connection that receives nothing.
async fn submitted(address: SocketAddr, user: &User, text: Sm<'_>) -> String {
    let mut esme = Esme::bound(address, BindKind::Transmitter, user).await;
    let id = esme.submit(text).await.message_id();
    esme.ask(&Pdu::Unbind).await;
    id
}

/// Waits until so many receipts wait in the database.
async fn waiting(ogene: &Ogene, count: &str) {
    until("the receipts that wait", async || {
        let found = ogene.sql("select count(*) from outbox where state <> 'dead'");
        (found.trim() == count).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_receipt_has_the_text_that_all_clients_read() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let text = asking(b"Your order is here, and it is good", 1);
    // The response precedes the receipt.
    let id = esme.submit(text).await.message_id();
    let read = answered(&mut esme).await;
    let begin = format!("id:{id} sub:001 dlvrd:001 submit date:");
    assert!(read.text.starts_with(&begin), "{}", read.text);
    let end = " stat:DELIVRD err:000 text:Your order is here, ";
    assert!(read.text.ends_with(end), "{}", read.text);
    for label in ["submit date:", "done date:"] {
        let date = read.word(label);
        let is_date = date.len() == 10 && date.bytes().all(|octet| octet.is_ascii_digit());
        assert!(is_date, "{date}");
    }
    assert_eq!((&*read.source, &*read.destination), (MTN, SENDER));
    assert_eq!(read.esm_class, esm_class::RECEIPT);
    let named = format!("{id}\0");
    let receipted = read.parameter(tag::RECEIPTED_MESSAGE_ID);
    assert_eq!(receipted, Some(named.as_bytes()));
    assert_eq!(read.parameter(tag::MESSAGE_STATE), Some(&[2][..]));
    assert_eq!(read.tlvs.len(), 2, "{:?}", read.tlvs);
    waiting(&ogene, "0").await;
    let labels = [user.user.system_id.as_str(), "ESME_ROK"];
    assert_eq!(ogene.metric("ogene_smpp_receipts_total{", &labels).await, 1);
    // A client below 3.4 gets no optional parameters.
    esme.ask(&Pdu::Unbind).await;
    submitted(address, &user, asking(b"old", 1)).await;
    let mut old = Esme::connect(address).await;
    old.bind(BindKind::Receiver, &user, 0x33).await;
    let read = answered(&mut old).await;
    assert!(read.text.ends_with(" text:old") && read.tlvs.is_empty());
    ogene.end().await;
}

#[tokio::test]
async fn the_end_of_a_message_and_the_request_decide_on_its_receipt() {
    let sandbox = NewSmppUser {
        sandbox: true,
        ..NewSmppUser::default()
    };
    let (ogene, address, user) = start(Setup::new(), sandbox).await;
    let mut sender = Esme::bound(address, BindKind::Transmitter, &user).await;
    let mut expected = BTreeMap::new();
    let fates: [(&[u8], &str, bool); 5] = [
        (b"2348000000001", "DELIVRD", true),
        (b"2348000000002", "UNDELIV", false),
        (b"2348000000003", "EXPIRED", false),
        (b"2348000000004", "REJECTD", false),
        (b"2348000000006", "UNDELIV", false),
    ];
    for (digits, word, is_delivered) in fates {
        for registered_delivery in 0..4 {
            let mut text = asking(b"hi", registered_delivery);
            text.destination.digits = digits;
            let id = sender.submit(text).await.message_id();
            if matches!(
                (registered_delivery, is_delivered),
                (1, _) | (2, false) | (3, true)
            ) {
                expected.insert(id, word);
            }
        }
    }
    let later = Sm {
        schedule: b"000001000000000R",
        ..asking(b"later", 2)
    };
    let id = sender.submit(later).await.message_id();
    let cancel = CancelFields {
        message_id: id.as_bytes(),
        ..CancelFields::default()
    };
    let cancelled = sender.ask(&Pdu::Cancel(cancel)).await;
    assert_eq!(cancelled.status, CommandStatus::ROK);
    expected.insert(id, "DELETED");
    let mut receiver = Esme::bound(address, BindKind::Receiver, &user).await;
    let mut read = BTreeMap::new();
    for _ in 0..expected.len() {
        let receipt = answered(&mut receiver).await;
        read.insert(
            receipt.word("id:").to_owned(),
            receipt.word("stat:").to_owned(),
        );
    }
    let read: BTreeMap<String, &str> = read
        .iter()
        .map(|(id, word)| (id.clone(), &**word))
        .collect();
    assert_eq!(read, expected);
    waiting(&ogene, "0").await;
    ogene.end().await;
}

#[tokio::test]
async fn a_receipt_is_kept_until_its_user_answers_it() {
    let (mut ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let other = ogene.smpp_user(NewSmppUser::default()).await;
    let id = submitted(address, &user, asking(b"kept", 1)).await;
    ogene.outcome(&id).await;
    waiting(&ogene, "1").await;
    ogene.kill().await;
    ogene.serve().await;
    let mut stranger = Esme::bound(address, BindKind::Transceiver, &other).await;
    // A client that leaves without an answer gets it again.
    let mut first = Esme::bound(address, BindKind::Transceiver, &user).await;
    assert_eq!(receipt(&mut first).await.word("id:"), id);
    drop(first);
    let mut second = Esme::bound(address, BindKind::Receiver, &user).await;
    assert_eq!(receipt(&mut second).await.word("id:"), id);
    second.ask(&Pdu::Unbind).await;
    // It is kept by a crash while it is on the wire.
    let mut third = Esme::bound(address, BindKind::Receiver, &user).await;
    assert_eq!(receipt(&mut third).await.word("id:"), id);
    let probed = stranger.ask(&Pdu::EnquireLink).await;
    assert_eq!(
        probed.status,
        CommandStatus::ROK,
        "no receipt of another user"
    );
    ogene.kill().await;
    ogene.serve().await;
    let mut last = Esme::bound(address, BindKind::Transceiver, &user).await;
    // An answer of any status but "full" ends it.
    let read = receipt(&mut last).await;
    assert_eq!(read.word("id:"), id);
    last.respond(read.sequence, &Pdu::GenericNack).await;
    waiting(&ogene, "0").await;
    ogene.end().await;
}

#[tokio::test]
async fn an_answer_right_before_the_unbind_counts() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    for count in 1..=5 {
        let text = format!("kept {count}");
        let id = submitted(address, &user, asking(text.as_bytes(), 1)).await;
        ogene.outcome(&id).await;
        let mut receiver = Esme::bound(address, BindKind::Receiver, &user).await;
        let read = answered(&mut receiver).await;
        assert_eq!(read.word("id:"), id, "no receipt comes twice");
        receiver.ask(&Pdu::Unbind).await;
        waiting(&ogene, "0").await;
    }
    ogene.end().await;
}

#[tokio::test]
async fn the_window_bounds_the_receipts_without_an_answer() {
    let (ogene, address, user) = start(Setup::new(), limits(4, 100, 2)).await;
    for _ in 0..5 {
        let id = submitted(address, &user, asking(b"hi", 1)).await;
        ogene.outcome(&id).await;
    }
    waiting(&ogene, "5").await;
    until("all are due", async || {
        let now = Clock::system().now_ms();
        let later = ogene.sql(&format!(
            "select count(*) from outbox where due_at_ms > {now}"
        ));
        (later.trim() == "0").then_some(())
    })
    .await;
    let mut esme = Esme::bound(address, BindKind::Receiver, &user).await;
    let pair = [receipt(&mut esme).await, receipt(&mut esme).await];
    let probed = esme.ask(&Pdu::EnquireLink).await;
    assert!(is(
        &probed,
        Command::ENQUIRE_LINK.response(),
        CommandStatus::ROK
    ));
    for read in pair {
        esme.respond(read.sequence, &Pdu::DeliverResp).await;
    }
    for _ in 0..3 {
        answered(&mut esme).await;
    }
    waiting(&ogene, "0").await;
    ogene.end().await;
}

#[tokio::test]
async fn a_client_without_room_has_its_pause_in_spite_of_hints() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Receiver, &user).await;
    let first = submitted(address, &user, asking(b"first", 1)).await;
    let read = receipt(&mut esme).await;
    assert_eq!(read.word("id:"), first);
    let full = Instant::now();
    let status = CommandStatus::RMSGQFUL;
    esme.respond_with(status, read.sequence, &Pdu::DeliverResp)
        .await;
    let second = submitted(address, &user, asking(b"second", 1)).await;
    ogene.outcome(&second).await;
    let ids = [answered(&mut esme).await, answered(&mut esme).await];
    let ids: BTreeSet<&str> = ids.iter().map(|read| read.word("id:")).collect();
    assert_eq!(ids, BTreeSet::from([&*first, &*second]));
    let paused = full.elapsed();
    assert!(paused >= Duration::from_secs(10), "{paused:?}");
    waiting(&ogene, "0").await;
    ogene.end().await;
}

#[tokio::test]
async fn a_client_that_never_answers_is_unbound_and_keeps_its_receipt() {
    let setup = Setup::new().set("smpp_server.response_timeout", "\"2s\"");
    let (ogene, address, user) = start(setup, NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Receiver, &user).await;
    let id = submitted(address, &user, asking(b"kept", 1)).await;
    let silent = Instant::now();
    assert_eq!(receipt(&mut esme).await.word("id:"), id);
    let unbind = esme.read().await.expect("an unbind");
    assert_eq!(unbind.command, Command::UNBIND);
    assert!(silent.elapsed() >= Duration::from_secs(2));
    esme.respond(unbind.sequence, &Pdu::UnbindResp).await;
    assert!(esme.read().await.is_none(), "the server closes");
    let mut again = Esme::bound(address, BindKind::Receiver, &user).await;
    assert_eq!(answered(&mut again).await.word("id:"), id);
    waiting(&ogene, "0").await;
    ogene.end().await;
}

#[tokio::test]
async fn a_silent_client_is_probed_and_disconnected() {
    let setup = Setup::new().set("smpp_server.response_timeout", "\"2s\"");
    let setup = setup.set("smpp_server.enquire_link", "\"1s\"");
    let (ogene, address, user) = start(setup, NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Receiver, &user).await;
    let probe = esme.read().await.expect("a probe");
    assert_eq!(probe.command, Command::ENQUIRE_LINK);
    esme.respond(probe.sequence, &Pdu::EnquireLinkResp).await;
    let answered = Instant::now();
    let probe = esme.read().await.expect("a second probe");
    assert_eq!(probe.command, Command::ENQUIRE_LINK);
    while esme.read().await.is_some() {}
    assert!(answered.elapsed() >= Duration::from_secs(2));
    ogene.end().await;
}

#[tokio::test]
async fn the_receipts_of_a_revoked_user_are_dead() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let id = submitted(address, &user, asking(b"kept", 1)).await;
    ogene.outcome(&id).await;
    waiting(&ogene, "1").await;
    ogene.revoke(&user).await;
    waiting(&ogene, "0").await;
    assert_eq!(ogene.sql("select count(*) from outbox").trim(), "1");
    ogene.end().await;
}

#[tokio::test]
async fn receipts_of_many_messages_come_once_each() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut sender = Esme::bound(address, BindKind::Transmitter, &user).await;
    let mut receivers = Vec::new();
    for kind in [BindKind::Receiver, BindKind::Transceiver] {
        receivers.push(Esme::bound(address, kind, &user).await);
    }
    let mut ids = Vec::new();
    for _ in 0..30 {
        ids.push(sender.submit(asking(b"hi", 1)).await.message_id());
    }
    let [one, two] = &mut receivers[..] else {
        unreachable!()
    };
    let mut read = Vec::new();
    while read.len() < ids.len() {
        let (next, of) = tokio::select! {
            next = receipt(one) => (next, 0),
            next = receipt(two) => (next, 1),
        };
        let answers = if of == 0 { &mut *one } else { &mut *two };
        answers.respond(next.sequence, &Pdu::DeliverResp).await;
        read.push(next.word("id:").to_owned());
    }
    read.sort_unstable();
    ids.sort_unstable();
    assert_eq!(read, ids);
    waiting(&ogene, "0").await;
    ogene.end().await;
}
