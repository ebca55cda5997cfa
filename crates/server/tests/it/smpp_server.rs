//! Customers who bind by SMPP (docs/operating/smpp-server.md).

use crate::kit::esme::{Esme, User, is, message, own_address};
use crate::kit::{MTN, Ogene, SENDER, Setup, numbers, to, until};
use domain::smpp_user::{Dialect, SmppLimits};
use domain::{AccountStatus, Component, Gateway};
use engine::operators::NewSmppUser;
use smpp::codec::{
    AddressFields, BindFields, CancelFields, Destination, Destinations, Pdu, QueryFields, Sm,
};
use smpp::{BindKind, Command, CommandStatus, Tlv, Tlvs, esm_class, tag};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::time::timeout;

mod clients;
mod floods;
mod inbound;
mod peers;
mod receipts;
mod secured;

/// Starts an installation with an SMPP server, and one user of the shop.
async fn start(setup: Setup, new: NewSmppUser) -> (Ogene, SocketAddr, User) {
    let address = own_address();
    let listen = format!("\"{address}\"");
    let ogene = setup.set("smpp_server.listen", &listen).start().await;
    let user = ogene.smpp_user(new).await;
    (ogene, address, user)
}

fn limits(binds: u32, per_second: u32, window: u32) -> NewSmppUser {
    NewSmppUser {
        limits: SmppLimits {
            binds,
            per_second,
            window,
        },
        ..NewSmppUser::default()
    }
}

/// Reads until the server has closed the connection. Returns what it wrote before.
async fn ended(esme: &mut Esme) -> Vec<crate::kit::esme::Answer> {
    let mut answers = Vec::new();
    while let Some(answer) = esme.read().await {
        answers.push(answer);
    }
    answers
}

#[tokio::test]
async fn a_submit_is_a_send_of_the_account() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    for (bind, kind) in (1u64..).zip([BindKind::Transceiver, BindKind::Transmitter]) {
        let before = ogene.total().await;
        let mut esme = Esme::bound(address, kind, &user).await;
        let sent = ogene.smsc().received().len();
        let answer = esme.submit(message(b"Your order is here")).await;
        let id = answer.message_id();
        // Nothing is a duplicate of another submit.
        let again = esme.submit(message(b"Your order is here")).await;
        assert_ne!(again.message_id(), id);
        let received = ogene.received(sent + 2).await;
        let submit = &received[sent].submit;
        assert_eq!(&submit.short_message[..], b"Your order is here");
        assert_eq!((submit.data_coding, &*submit.source.digits), (0, SENDER));
        assert_eq!(submit.destination.digits, MTN);
        assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
        assert!((before - ogene.total().await - 12.0).abs() < 0.001);
        let message = ogene.read(&format!("/messages/{id}")).await;
        assert_eq!(message["data"]["body"], "Your order is here");
        let (state, date) = esme.query(&id).await;
        assert_eq!((state, date.len()), (2, 16), "{date}");
        assert!(date.ends_with("004+"), "{date}");
        let counted = [user.user.system_id.as_str(), "ESME_ROK"];
        let answers = ogene.metric("ogene_smpp_requests_total{", &counted).await;
        assert_eq!(answers, 3 * bind, "two submits and a query of each bind");
        let unbound = esme.ask(&Pdu::Unbind).await;
        assert!(is(&unbound, Command::UNBIND.response(), CommandStatus::ROK));
        assert!(ended(&mut esme).await.is_empty());
    }
    ogene.end().await;
}

#[tokio::test]
async fn each_version_binds_and_is_answered_as_3_4() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    for version in [0x00, 0x33, 0x34, 0x50, 0xFF] {
        let mut esme = Esme::connect(address).await;
        let answer = esme.bind(BindKind::Receiver, &user, version).await;
        let response = Command::BIND_RECEIVER.response();
        assert!(is(&answer, response, CommandStatus::ROK), "{version}");
        // A client below 3.4 takes no optional parameters.
        let named: &[u8] = if version < 0x34 {
            b"ogene\0"
        } else {
            b"ogene\0\x02\x10\0\x01\x34"
        };
        assert_eq!(answer.body, named, "{version}");
        let refused = esme.submit(message(b"hi")).await;
        assert_eq!(refused.status, CommandStatus::RINVBNDSTS, "a receiver");
        let probed = esme.ask(&Pdu::EnquireLink).await;
        assert_eq!(probed.status, CommandStatus::ROK);
        esme.ask(&Pdu::Unbind).await;
    }
    ogene.end().await;
}

#[tokio::test]
async fn wrong_credentials_and_addresses_are_refused_alike() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let elsewhere = NewSmppUser {
        allowed: "203.0.113.0/24".parse().expect("a range"),
        ..NewSmppUser::default()
    };
    let elsewhere = ogene.smpp_user(elsewhere).await;
    let revoked = ogene.smpp_user(NewSmppUser::default()).await;
    ogene.revoke(&revoked).await;
    let mut unknown = user.clone();
    unknown.user.system_id = "nobody".to_owned();
    let mut wrong = user.clone();
    wrong.password = format!("{}x", user.password);
    for user in [&unknown, &wrong, &elsewhere, &revoked] {
        let mut esme = Esme::connect(address).await;
        let answer = esme.bind(BindKind::Transceiver, user, 0x34).await;
        assert_eq!(answer.status, CommandStatus::RINVPASWD, "{user:?}");
        assert!(answer.body.is_empty());
        assert!(ended(&mut esme).await.is_empty(), "the server closes");
    }
    let refused = ogene.metric("ogene_smpp_binds_refused_total", &[]).await;
    assert_eq!(refused, 4);
    ogene.end().await;
}

#[tokio::test]
async fn right_credentials_bind_later_from_an_address_that_guesses() {
    let setup = Setup::new().set("limits.unknown_tokens_per_minute", "1");
    let (ogene, address, user) = start(setup, NewSmppUser::default()).await;
    let mut wrong = user.clone();
    wrong.password = "wrong".to_owned();
    let bind = async |user: &User| {
        let mut esme = Esme::connect(address).await;
        esme.bind(BindKind::Transceiver, user, 0x34).await.status
    };
    assert_eq!(bind(&user).await, CommandStatus::ROK);
    // The count begins anew with each minute, so the guesses may fall into two.
    until("right credentials are held back", async || {
        for _ in 0..2 {
            assert_eq!(bind(&wrong).await, CommandStatus::RINVPASWD);
        }
        let asked = Instant::now();
        assert_eq!(bind(&user).await, CommandStatus::ROK);
        (asked.elapsed() >= Duration::from_secs(1)).then_some(())
    })
    .await;
    ogene.end().await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_answer_has_guessed_too() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::connect(address).await;
    let fields = BindFields {
        system_id: user.user.system_id.as_bytes(),
        password: b"wrong",
        interface_version: 0x34,
        ..BindFields::default()
    };
    esme.write(&Pdu::Bind(BindKind::Transceiver, fields)).await;
    drop(esme);
    until("the guess is counted", async || {
        let refused = ogene.metric("ogene_smpp_binds_refused_total", &[]).await;
        (refused == 1).then_some(())
    })
    .await;
    ogene.end().await;
}

#[tokio::test]
async fn a_user_has_a_maximum_of_connections() {
    let (ogene, address, user) = start(Setup::new(), limits(1, 100, 100)).await;
    let mut first = Esme::bound(address, BindKind::Transceiver, &user).await;
    let mut second = Esme::connect(address).await;
    let answer = second.bind(BindKind::Transceiver, &user, 0x34).await;
    assert_eq!(answer.status, CommandStatus::RALYBND);
    assert!(ended(&mut second).await.is_empty());
    // A second bind on the same connection is refused, and the first stays.
    let again = first.bind(BindKind::Transceiver, &user, 0x34).await;
    assert_eq!(again.status, CommandStatus::RALYBND);
    assert_eq!(
        first.ask(&Pdu::EnquireLink).await.status,
        CommandStatus::ROK
    );
    let labels = [user.user.system_id.as_str()];
    assert_eq!(ogene.metric("ogene_smpp_binds{", &labels).await, 1);
    let published = async |count: Option<i64>| {
        let store = ogene.store().await;
        let users = crate::kit::operations(&store).smpp_users();
        let bound = users
            .bound(Some(ogene.shop.id))
            .await
            .expect("the bound users");
        store.close().await;
        (bound.get(&user.user.system_id).copied() == count).then_some(())
    };
    until("the operator sees it", async || published(Some(1)).await).await;
    drop(first);
    until("the operator sees its end", async || published(None).await).await;
    until("the place is free", async || {
        let mut esme = Esme::connect(address).await;
        let answer = esme.bind(BindKind::Transceiver, &user, 0x34).await;
        (answer.status == CommandStatus::ROK).then_some(())
    })
    .await;
    ogene.end().await;
}

/// Returns one optional parameter.
fn parameter(tag: u16, value: &[u8]) -> Tlvs<'static> {
    Tlvs::List(Box::leak(Box::new([Tlv::new(tag, value.to_vec())])))
}

/// A change of a good message.
type Change = fn(&mut Sm<'static>);

/// Changes that make a message refused, with their statuses.
fn refused() -> [(Change, CommandStatus); 20] {
    [
        (|m| m.source.digits = b"", CommandStatus::RINVSRCADR),
        (|m| m.source.digits = b"Unknown", CommandStatus::RINVSRCADR),
        (|m| m.destination.digits = b"", CommandStatus::RINVDSTADR),
        (|m| m.destination.digits = b"12", CommandStatus::RINVDSTADR),
        (
            |m| m.destination.digits = b"08031234567,1234",
            CommandStatus::RINVDSTADR,
        ),
        (|m| m.service_type = b"CMT", CommandStatus::RINVSERTYP),
        (
            |m| m.esm_class = esm_class::UDHI,
            CommandStatus::RINVESMCLASS,
        ),
        (
            |m| m.tlvs = parameter(tag::SAR_MSG_REF_NUM, &[0, 1]),
            CommandStatus::RINVOPTPARAMVAL,
        ),
        (long_binary, CommandStatus::RINVMSGLEN),
        (
            |m| m.tlvs = parameter(tag::MESSAGE_PAYLOAD, b"hi"),
            CommandStatus::ROPTPARNOTALLWD,
        ),
        (|m| m.data_coding = 2, CommandStatus::RSUBMITFAIL),
        (|m| m.data_coding = 0x10, CommandStatus::RSUBMITFAIL),
        (|m| m.short_message = b"caf\xE9", CommandStatus::RSUBMITFAIL),
        (
            |m| m.short_message = b"Win at the casino",
            CommandStatus::RSUBMITFAIL,
        ),
        (|m| m.short_message = b"", CommandStatus::RINVMSGLEN),
        (long_payload, CommandStatus::RINVMSGLEN),
        (
            |m| m.schedule = b"000400000000000R",
            CommandStatus::RINVSCHED,
        ),
        (
            |m| m.validity_period = b"000000000001000R",
            CommandStatus::RINVEXPIRY,
        ),
        (|m| m.replace_if_present = 1, CommandStatus::RINVREPFLAG),
        (|m| m.default_message = 1, CommandStatus::RINVDFTMSGID),
    ]
}

fn long_binary(message: &mut Sm<'static>) {
    message.data_coding = 4;
    message.short_message = &[0xFF; 141];
}

fn long_payload(message: &mut Sm<'static>) {
    message.short_message = b"";
    message.tlvs = parameter(tag::MESSAGE_PAYLOAD, &[b'a'; 1_531]);
}

#[tokio::test]
async fn a_refused_submit_costs_and_sends_nothing() {
    let setup = Setup::new().set("content.prohibited", r#"["casino"]"#);
    let (ogene, address, user) = start(setup, NewSmppUser::default()).await;
    let before = ogene.total().await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    for (number, (change, status)) in refused().into_iter().enumerate() {
        let mut message = message(b"hi");
        change(&mut message);
        let answer = esme.submit(message).await;
        assert_eq!(answer.status, status, "{number}");
        assert!(answer.body.is_empty(), "{number}");
    }
    ogene
        .set_status(&ogene.shop, AccountStatus::Restricted)
        .await;
    until("the account is restricted", async || {
        let answer = esme.submit(message(b"")).await;
        (answer.status == CommandStatus::RSUBMITFAIL).then_some(())
    })
    .await;
    ogene.set_status(&ogene.shop, AccountStatus::Active).await;
    assert!((ogene.total().await - before).abs() < 0.001);
    assert!(ogene.smsc().received().is_empty());
    ogene.end().await;
}

#[tokio::test]
async fn without_money_a_submit_fails() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let store = ogene.store().await;
    let wallets = crate::kit::operations(&store).wallets();
    let all = "1000.00".parse().expect("an amount");
    let debit = wallets.debit(ogene.shop.id, all, "all", "test", Component::SmsWallet);
    debit.await.expect("debited");
    store.close().await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let answer = esme.submit(message(b"hi")).await;
    assert_eq!(answer.status, CommandStatus::RSUBMITFAIL);
    ogene.end().await;
}

#[tokio::test]
async fn a_text_is_sent_as_its_coding_says() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let utf16: Vec<u8> = "\u{1ECD}j\u{1ECD} \u{1F600}"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    let accents: Vec<u8> = "fa\u{E7}ade"
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    let table: [(u8, &[u8], u8, &[u8]); 7] = [
        (0, b"@ is \x00, \x1B\x65 5", 0, b"@ is \x00, \x1B\x65 5"),
        (1, b"\x1B\x3Cok\x1B\x3E", 0, b"\x1B\x3Cok\x1B\x3E"),
        (0xF1, b"class 1", 0, b"class 1"),
        (3, b"\xE9t\xE9 [1]", 0, b"\x05t\x05 \x1B\x3C1\x1B\x3E"),
        (3, b"fa\xE7ade", 8, &accents),
        (8, &utf16, 8, &utf16),
        // A text of GSM 03.38 is sent in it.
        (8, b"\0h\0i", 0, b"hi"),
    ];
    for (index, (coding, written, sent_coding, sent)) in table.into_iter().enumerate() {
        let text = Sm {
            data_coding: coding,
            ..message(written)
        };
        esme.submit(text).await.message_id();
        let submit = ogene.received(index + 1).await[index].submit.clone();
        assert_eq!(submit.data_coding, sent_coding, "{written:?}");
        // The septets of `@` in the first text are those of ASCII's `@`, which is another character.
        assert_eq!(&submit.short_message[..], sent, "{written:?}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn parts_and_binary_data_go_out_as_they_came() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let before = ogene.total().await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    // The second begins with a half of a surrogate pair.
    let parts: [(u8, &[u8]); 5] = [
        (0, b"\x05\x00\x03\x07\x02\x01pay 5 \x1B"),
        (0, b"\x06\x08\x04\x01\x07\x02\x02\x65 now"),
        (8, b"\x05\x00\x03\x07\x02\x02\xDE\x00\x00!"),
        (0xF5, b"\x06\x05\x04\x0B\x84\x23\xF0\x01\xFF"),
        (3, b"\x05\x00\x03\x07\x02\x01\xE9"),
    ];
    for (number, (data_coding, octets)) in parts.into_iter().enumerate() {
        let part = Sm {
            data_coding,
            esm_class: 0x43,
            ..message(octets)
        };
        let id = esme.submit(part).await.message_id();
        let submit = ogene.received(number + 1).await[number].submit.clone();
        let sent: &[u8] = if data_coding == 3 {
            b"\x05\x00\x03\x07\x02\x01\x05"
        } else {
            octets
        };
        assert_eq!(&submit.short_message[..], sent);
        assert_eq!(submit.data_coding, data_coding * u8::from(data_coding != 3));
        assert_eq!(submit.esm_class & esm_class::UDHI, esm_class::UDHI);
        assert_eq!(
            ogene.outcome(&id).await,
            ["delivrd"],
            "a message of its own"
        );
    }
    let binary = Sm {
        data_coding: 4,
        ..message(&[0x00, 0xFF])
    };
    esme.submit(binary).await.message_id();
    let submit = ogene.received(6).await[5].submit.clone();
    assert_eq!((submit.data_coding, submit.esm_class), (4, 0));
    assert_eq!(&submit.short_message[..], [0x00, 0xFF]);
    // One page of UTF-16 costs as much as two.
    assert!((before - ogene.total().await - 7.0 * 6.0).abs() < 0.001);
    ogene.end().await;
}

#[tokio::test]
async fn parts_by_sar_go_out_with_a_header() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let part = |number| {
        [
            Tlv::new(tag::SAR_MSG_REF_NUM, vec![0x01, 0x07]),
            Tlv::new(tag::SAR_TOTAL_SEGMENTS, vec![2]),
            Tlv::new(tag::SAR_SEGMENT_SEQNUM, vec![number]),
        ]
    };
    for number in 1..=2 {
        let tlvs = part(number);
        let text = Sm {
            tlvs: Tlvs::List(&tlvs),
            ..message(b"a part")
        };
        esme.submit(text).await.message_id();
        let at = usize::from(number);
        let submit = ogene.received(at).await[at - 1].submit.clone();
        let expected = [&[5, 0, 3, 7, 2, number][..], b"a part"].concat();
        assert_eq!(&submit.short_message[..], expected);
        assert!(submit.tlvs.is_empty());
    }
    // The content of each part is judged by itself.
    let tlvs = part(3);
    let text = Sm {
        tlvs: Tlvs::List(&tlvs),
        ..message(b"a part")
    };
    let refused = esme.submit(text).await;
    assert_eq!(refused.status, CommandStatus::RINVOPTPARAMVAL);
    ogene.end().await;
}

/// Returns a `submit_multi` to some numbers and one list.
fn to_many(numbers: &[&[u8]]) -> (u8, Vec<u8>) {
    let mut octets = Vec::new();
    for digits in numbers {
        let address = AddressFields {
            ton: 1,
            npi: 1,
            digits,
        };
        Destinations::push(&mut octets, Destination::Address(address));
    }
    Destinations::push(&mut octets, Destination::List(b"friends"));
    (u8::try_from(numbers.len() + 1).expect("few"), octets)
}

#[tokio::test]
async fn a_submit_multi_is_one_message_and_names_rejected_numbers() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let before = ogene.total().await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let (count, octets) = to_many(&[MTN.as_bytes(), b"08051234567", b"12"]);
    let to = Destinations::of(count, &octets);
    let answer = esme.ask(&Pdu::SubmitMulti(message(b"hi"), to)).await;
    assert_eq!(answer.status, CommandStatus::ROK);
    let end = answer
        .body
        .iter()
        .position(|octet| *octet == 0)
        .expect("an id");
    let id = String::from_utf8(answer.body[..end].to_vec()).expect("text");
    let mut rejected = vec![2, 1, 1];
    rejected.extend_from_slice(b"12\0\0\0\0\x0B\0\0friends\0\0\0\0\x34");
    assert_eq!(answer.body[end + 1..], rejected);
    assert_eq!(ogene.outcome(&id).await, ["delivrd", "delivrd"]);
    assert!((before - ogene.total().await - 12.0).abs() < 0.001);

    let (count, octets) = to_many(&[b"12"]);
    let none = Destinations::of(count, &octets);
    let refused = esme.ask(&Pdu::SubmitMulti(message(b"hi"), none)).await;
    assert_eq!(refused.status, CommandStatus::RINVDSTADR);
    let to_nobody = b"\0\x05\0Ogene\0\0\0\0\0\0\0\0\0\0\0\x02hi";
    let to_nobody = Pdu::Other(Command::SUBMIT_MULTI, to_nobody);
    let refused = esme.ask(&to_nobody).await;
    assert_eq!(refused.status, CommandStatus::RINVNUMDESTS);
    ogene.end().await;
}

#[tokio::test]
async fn a_submit_multi_charges_each_of_254_numbers_once() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let before = ogene.total().await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    // One number stands there three times, and the list that `to_many` adds is cut off.
    let (count, octets) = to_many(&[MTN.as_bytes(), b"08031234567", MTN.as_bytes()]);
    let numbers_alone = octets.len() - b"\x02friends\0".len();
    let to = Destinations::of(count - 1, &octets[..numbers_alone]);
    let answer = esme.ask(&Pdu::SubmitMulti(message(b"hi"), to)).await;
    assert_eq!(answer.status, CommandStatus::ROK);
    assert_eq!(answer.body.last(), Some(&0), "none is rejected");
    ogene.received(1).await;
    assert!((before - ogene.total().await - 6.0).abs() < 0.001);

    let wallet = Component::SmsWallet;
    ogene.credit(&ogene.shop, "2000.00", wallet).await;
    let before = ogene.total().await;
    let numbers = numbers(253);
    let numbers: Vec<&[u8]> = numbers.iter().map(String::as_bytes).collect();
    // With the list there are 254 destinations.
    let (count, octets) = to_many(&numbers);
    let to = Destinations::of(count, &octets);
    let answer = esme.ask(&Pdu::SubmitMulti(message(b"hi"), to)).await;
    assert_eq!(answer.status, CommandStatus::ROK);
    ogene.received(254).await;
    assert!((before - ogene.total().await - 6.0 * 253.0).abs() < 0.001);
    ogene.end().await;
}

#[tokio::test]
async fn a_dialect_changes_statuses_and_the_default_alphabet() {
    let setup = Setup::new().set("content.prohibited", r#"["casino"]"#);
    let new = NewSmppUser {
        dialect: Dialect {
            vendor_statuses: true,
            latin_1: true,
        },
        ..NewSmppUser::default()
    };
    let (ogene, address, user) = start(setup, new).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let refused = esme.submit(message(b"Win at the casino")).await;
    assert_eq!(refused.status.0, 0x0401);
    let long = [Tlv::new(tag::MESSAGE_PAYLOAD, vec![b'a'; 1_530])];
    let dear = Sm {
        tlvs: Tlvs::List(&long),
        ..message(b"")
    };
    let broke = async {
        loop {
            let answer = esme.submit(dear).await;
            if answer.status != CommandStatus::ROK {
                break answer.status.0;
            }
        }
    };
    assert_eq!(broke.await, 0x0400);
    let more = Component::SmsWallet;
    ogene.credit(&ogene.shop, "100.00", more).await;
    esme.submit(message(b"caf\xE9")).await.message_id();
    until("the text arrives", async || {
        let received = ogene.smsc().received();
        let found = received
            .iter()
            .any(|one| &one.submit.short_message[..] == b"caf\x05");
        found.then_some(())
    })
    .await;
    ogene.end().await;
}

#[tokio::test]
async fn one_long_text_is_cut_and_billed_by_pages() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let before = ogene.total().await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let long = [Tlv::new(tag::MESSAGE_PAYLOAD, vec![b'a'; 400])];
    let text = Sm {
        tlvs: Tlvs::List(&long),
        ..message(b"")
    };
    let id = esme.submit(text).await.message_id();
    // A data_sm is the same.
    let data = esme.ask(&Pdu::Data(text)).await;
    assert_eq!(data.command, Command::DATA_SM.response());
    data.message_id();
    let received = ogene.received(6).await;
    assert!(
        received
            .iter()
            .all(|one| one.submit.esm_class & esm_class::UDHI != 0)
    );
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    assert!((before - ogene.total().await - 36.0).abs() < 0.001);
    ogene.end().await;
}

#[tokio::test]
async fn the_gateway_is_that_of_the_user_or_of_the_service_type() {
    let new = NewSmppUser {
        gateway: Some(Gateway::DirectCorporate),
        ..NewSmppUser::default()
    };
    let (ogene, address, user) = start(Setup::new(), new).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    for (service_type, gateway) in [
        (&b""[..], "direct-corporate"),
        (b"otp", "otp"),
        (b"1", "direct-refund"),
    ] {
        let text = Sm {
            service_type,
            ..message(b"hello")
        };
        let id = esme.submit(text).await.message_id();
        let message = ogene.read(&format!("/messages/{id}")).await;
        assert_eq!(message["data"]["gateway"], gateway);
        ogene.outcome(&id).await;
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_sandbox_user_sends_and_pays_nothing() {
    let new = NewSmppUser {
        sandbox: true,
        ..NewSmppUser::default()
    };
    let (ogene, address, user) = start(Setup::new(), new).await;
    let before = ogene.total().await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let id = esme.submit(message(b"hi")).await.message_id();
    until("the outcome is simulated", async || {
        (esme.query(&id).await.0 == 2).then_some(())
    })
    .await;
    assert!((ogene.total().await - before).abs() < 0.001);
    assert!(ogene.smsc().received().is_empty());
    ogene.end().await;
}

#[tokio::test]
async fn a_scheduled_message_waits_and_can_be_cancelled() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let before = ogene.total().await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let later = Sm {
        schedule: b"000001000000000R",
        validity_period: b"000001010000000R",
        ..message(b"tomorrow")
    };
    let id = esme.submit(later).await.message_id();
    let message = ogene.read(&format!("/messages/{id}")).await;
    assert_eq!(message["data"]["state"], "scheduled");
    assert_eq!(esme.query(&id).await.0, 1);
    let cancel = CancelFields {
        message_id: id.as_bytes(),
        ..CancelFields::default()
    };
    let answer = esme.ask(&Pdu::Cancel(cancel)).await;
    let response = Command::CANCEL_SM.response();
    assert!(is(&answer, response, CommandStatus::ROK), "{answer:?}");
    assert_eq!(ogene.outcome(&id).await, ["cancelled"]);
    assert_eq!(esme.query(&id).await.0, 4);
    assert!((ogene.total().await - before).abs() < 0.001);

    let valid = Sm {
        validity_period: b"000000010000000R",
        ..self::message(b"now")
    };
    let id = esme.submit(valid).await.message_id();
    ogene.outcome(&id).await;
    let validity = ogene.received(1).await[0].submit.validity_period.clone();
    assert!(
        validity.starts_with("0000000"),
        "an hour at most: {validity}"
    );
    let cancel = CancelFields {
        message_id: id.as_bytes(),
        ..CancelFields::default()
    };
    let answer = esme.ask(&Pdu::Cancel(cancel)).await;
    assert_eq!(answer.status, CommandStatus::RCANCELFAIL);
    ogene.end().await;
}

#[tokio::test]
async fn requests_that_are_not_served_have_their_answers() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let cancel = CancelFields {
        message_id: b"x",
        ..CancelFields::default()
    };
    let query = QueryFields {
        message_id: b"01980000-0000-7000-8000-000000000000",
        ..QueryFields::default()
    };
    let nack = Command::GENERIC_NACK;
    let table = [
        (
            Pdu::Cancel(cancel),
            Command::CANCEL_SM.response(),
            CommandStatus::RINVMSGID,
        ),
        (
            Pdu::Other(Command(0x0BAD), b"x"),
            nack,
            CommandStatus::RINVCMDID,
        ),
        (
            Pdu::Other(Command::REPLACE_SM, b"x"),
            Command::REPLACE_SM.response(),
            CommandStatus::RREPLACEFAIL,
        ),
        (
            Pdu::Query(query),
            Command::QUERY_SM.response(),
            CommandStatus::RINVMSGID,
        ),
        (
            Pdu::Other(Command::SUBMIT_SM, b"\x01\x02"),
            Command::SUBMIT_SM.response(),
            CommandStatus::RINVCMDLEN,
        ),
    ];
    for (pdu, command, status) in table {
        let answer = esme.ask(&pdu).await;
        assert_eq!((answer.command, answer.status), (command, status));
    }
    // A message of another account is unknown too.
    let other = ogene.customer("10.00").await;
    let request = crate::kit::http::Request::send(&other.token, &to(MTN, "hi"));
    let id = ogene.ask(&request).await.json()["data"]["message_id"].clone();
    let query = QueryFields {
        message_id: id.as_str().expect("an id").as_bytes(),
        ..QueryFields::default()
    };
    let answer = esme.ask(&Pdu::Query(query)).await;
    assert_eq!(answer.status, CommandStatus::RINVMSGID);
    ogene.end().await;
}

#[tokio::test]
async fn a_submit_that_is_too_fast_is_throttled_and_costs_nothing() {
    let (ogene, address, user) = start(Setup::new(), limits(1, 1, 100)).await;
    let before = ogene.total().await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    for _ in 0..10 {
        esme.write(&Pdu::Submit(message(b"hi"))).await;
    }
    let (mut accepted, mut throttled) = (0, 0);
    for _ in 0..10 {
        match esme.read().await.expect("an answer").status {
            CommandStatus::ROK => accepted += 1,
            CommandStatus::RTHROTTLED => throttled += 1,
            other => panic!("{other}"),
        }
    }
    assert!(accepted >= 1 && throttled >= 1, "{accepted} {throttled}");
    ogene.received(accepted).await;
    let spent = 6.0 * f64::from(u32::try_from(accepted).expect("few"));
    assert!((before - ogene.total().await - spent).abs() < 0.001);
    let labels = [user.user.system_id.as_str(), "ESME_RTHROTTLED"];
    assert_eq!(
        ogene.metric("ogene_smpp_requests_total{", &labels).await,
        throttled
    );
    ogene.end().await;
}

#[tokio::test]
async fn submits_that_cannot_be_read_are_throttled_too() {
    let (ogene, address, user) = start(Setup::new(), limits(1, 1, 100)).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let unread = Sm {
        data_coding: 2,
        ..message(b"hi")
    };
    for _ in 0..10 {
        esme.write(&Pdu::Submit(unread)).await;
    }
    let (mut refused, mut throttled) = (0, 0);
    for _ in 0..10 {
        match esme.read().await.expect("an answer").status {
            CommandStatus::RSUBMITFAIL => refused += 1,
            CommandStatus::RTHROTTLED => throttled += 1,
            other => panic!("{other}"),
        }
    }
    assert!(refused >= 1 && throttled >= 1, "{refused} {throttled}");
    ogene.end().await;
}

#[tokio::test]
async fn queries_that_are_too_fast_are_throttled_beside_submits() {
    let (ogene, address, user) = start(Setup::new(), limits(1, 1, 100)).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let query = QueryFields {
        message_id: b"01980000-0000-7000-8000-000000000000",
        ..QueryFields::default()
    };
    for _ in 0..10 {
        esme.write(&Pdu::Query(query)).await;
    }
    let (mut answered, mut throttled) = (0, 0);
    for _ in 0..10 {
        match esme.read().await.expect("an answer").status {
            CommandStatus::RINVMSGID => answered += 1,
            CommandStatus::RTHROTTLED => throttled += 1,
            other => panic!("{other}"),
        }
    }
    assert!(answered >= 1 && throttled >= 1, "{answered} {throttled}");
    // The first submit of a user is never too fast.
    esme.submit(message(b"hi")).await.message_id();
    ogene.end().await;
}

#[tokio::test]
async fn a_request_beyond_the_window_is_throttled() {
    let (ogene, address, user) = start(Setup::new(), limits(1, 100, 2)).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let held = ogene.hold_commits();
    for _ in 0..3 {
        esme.write(&Pdu::Submit(message(b"hi"))).await;
    }
    let first = esme.read().await.expect("an answer");
    assert_eq!(first.status, CommandStatus::RTHROTTLED);
    assert_eq!(
        first.sequence, 4,
        "the bind was 1, and two fit into the window"
    );
    drop(held);
    for _ in 0..2 {
        esme.read().await.expect("an answer").message_id();
    }
    ogene.end().await;
}

#[tokio::test]
async fn garbage_ends_its_own_connection_alone() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut good = Esme::bound(address, BindKind::Transceiver, &user).await;
    let too_long = [0x00, 0x01, 0x00, 0x01, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 9];
    for octets in [
        &[0xFF; 64][..],
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        &too_long,
    ] {
        let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
        esme.write_octets(octets).await;
        let answers = ended(&mut esme).await;
        assert_eq!(answers.len(), 1, "{answers:?}");
        assert!(is(
            &answers[0],
            Command::GENERIC_NACK,
            CommandStatus::RINVCMDLEN
        ));
        let mut stranger = Esme::connect(address).await;
        stranger.write_octets(octets).await;
        ended(&mut stranger).await;
    }
    good.submit(message(b"hi")).await.message_id();
    ogene.end().await;
}

#[tokio::test]
async fn a_client_that_does_not_bind_is_disconnected() {
    let (ogene, address, _) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::connect(address).await;
    let answer = esme.submit(message(b"hi")).await;
    assert_eq!(answer.status, CommandStatus::RINVBNDSTS);
    assert!(ended(&mut esme).await.is_empty());
    ogene.end().await;
}

#[tokio::test]
async fn a_revoked_user_is_unbound() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let other = ogene.smpp_user(NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let mut stays = Esme::bound(address, BindKind::Transceiver, &other).await;
    ogene.revoke(&user).await;
    let unbind = esme.read().await.expect("an unbind");
    assert_eq!(unbind.command, Command::UNBIND);
    let refused = esme.submit(message(b"hi")).await;
    assert_eq!(refused.status, CommandStatus::RINVBNDSTS);
    esme.respond(unbind.sequence, &Pdu::UnbindResp).await;
    assert!(ended(&mut esme).await.is_empty());
    stays.submit(message(b"hi")).await.message_id();
    ogene.end().await;
}

#[tokio::test]
async fn a_shutdown_unbinds_every_client() {
    let (mut ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    let mut unbound = Esme::connect(address).await;
    let client = async {
        let unbind = esme.read().await.expect("an unbind");
        assert_eq!(unbind.command, Command::UNBIND);
        esme.respond(unbind.sequence, &Pdu::UnbindResp).await;
        ended(&mut esme).await;
        ended(&mut unbound).await;
    };
    tokio::join!(ogene.stop(), client);
    ogene.serve().await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    esme.submit(message(b"hi")).await.message_id();
    ogene.end().await;
}

#[tokio::test]
async fn a_shutdown_closes_a_client_that_does_not_answer() {
    let (mut ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    ogene.stop().await;
    // The session alone would wait for a minute.
    let closed = timeout(Duration::from_secs(30), ended(&mut esme)).await;
    let answers = closed.expect("the server closes");
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].command, Command::UNBIND);
    ogene.serve().await;
    ogene.end().await;
}
