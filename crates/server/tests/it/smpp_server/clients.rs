//! The habits of real clients. Each test holds for a client that exists.

use super::start;
use crate::clock::night;
use crate::kit::esme::{Esme, is, message};
use crate::kit::{MTN, Ogene, SENDER, Setup, until};
use engine::operators::NewSmppUser;
use smpp::codec::{AddressFields, Pdu, Sm, decode};
use smpp::simulator::{Fate, Script};
use smpp::{Address, BindKind, Command, CommandStatus, DeliverSm, Tlv, esm_class, tag, udh};

/// A carrier that accepts all submits and sends no receipt.
fn silent() -> Setup {
    Setup::new().script(Script {
        mix: vec![(1, Fate::Pending)],
        ..Script::default()
    })
}

/// Returns the octets of a C-octet string.
fn ended(text: &[u8]) -> Vec<u8> {
    [text, b"\0"].concat()
}

/// Returns a `submit_sm` with addresses and times of any length, as some clients write them.
fn long_submit(source: &[u8], destination: &[u8], times: [&[u8]; 2]) -> Vec<u8> {
    raw_submit(source, destination, times, (0, b"hi"))
}

/// Returns a `submit_sm` with a coding and its octets.
fn raw_submit(
    source: &[u8],
    destination: &[u8],
    [schedule, validity]: [&[u8]; 2],
    (data_coding, text): (u8, &[u8]),
) -> Vec<u8> {
    let length = u8::try_from(text.len()).expect("at most 255 octets");
    let body = [
        ended(b""),
        vec![5, 0],
        ended(source),
        vec![1, 1],
        ended(destination),
        vec![0, 0, 0],
        ended(schedule),
        ended(validity),
        vec![0, 0, data_coding, 0, length],
        text.to_vec(),
    ]
    .concat();
    let length = u32::try_from(16 + body.len()).expect("short");
    let head = [length, Command::SUBMIT_SM.0, 0, 77].map(u32::to_be_bytes);
    [head.concat(), body].concat()
}

/// smpp34 sends longer addresses and times than the protocol permits.
#[tokio::test]
async fn addresses_and_times_are_measured() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transmitter, &user).await;
    let (long, time) = ([b'1'; 30], [b'0'; 20]);
    let (source, destination) = (SENDER.as_bytes(), MTN.as_bytes());
    for (octets, status) in [
        (long_submit(&long, destination, [b"", b""]), 0x0A),
        (long_submit(source, &long, [b"", b""]), 0x0B),
        (long_submit(source, destination, [&time, b""]), 0x61),
        (long_submit(source, destination, [b"", &time]), 0x62),
        (long_submit(source, destination, [b"", b""]), 0),
    ] {
        esme.write_octets(&octets).await;
        let answer = esme.read().await.expect("an answer");
        assert_eq!((answer.status.0, answer.sequence), (status, 77));
    }
    assert_eq!(ogene.received(1).await.len(), 1);
    ogene.end().await;
}

/// Kannel sends 0x03 and 0x43, and rusmppyc 0x08.
#[tokio::test]
async fn of_esm_class_only_the_header_counts() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transmitter, &user).await;
    let part = [&udh(0, 2, 1)[..], b"hi"].concat();
    for (index, (written, text, sent)) in [
        (0x03, &b"hi"[..], 0),
        (0x08, b"hi", 0),
        (0x43, &part, esm_class::UDHI),
    ]
    .into_iter()
    .enumerate()
    {
        let submit = Sm {
            esm_class: written,
            ..message(text)
        };
        esme.submit(submit).await.message_id();
        let submit = ogene.received(index + 1).await[index].submit.clone();
        assert_eq!(submit.esm_class, sent, "{written}");
        assert_eq!(&submit.short_message[..], text, "{written}");
    }
    ogene.end().await;
}

/// Kannel marks an international number as a national one, and others leave TON and NPI out.
#[tokio::test]
async fn a_number_is_judged_by_its_form() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transmitter, &user).await;
    let forms = [(0, 0), (5, 0), (2, 1), (1, 1)];
    for (index, (ton, npi)) in forms.into_iter().enumerate() {
        let addressed = |digits| AddressFields { ton, npi, digits };
        let submit = Sm {
            source: addressed(SENDER.as_bytes()),
            destination: addressed(MTN.as_bytes()),
            ..message(b"hi")
        };
        esme.submit(submit).await.message_id();
        let submit = ogene.received(index + 1).await[index].submit.clone();
        assert_eq!(submit.destination, Address::international(MTN));
        assert_eq!(&*submit.source.digits, SENDER);
    }
    ogene.end().await;
}

/// node-smpp fills `short_message` with 255 octets, and aiosmpplib sends 160 octets of UTF-16.
#[tokio::test]
async fn a_full_short_message_without_a_header_is_a_whole_text() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transmitter, &user).await;
    let (source, destination) = (SENDER.as_bytes(), MTN.as_bytes());
    let full = (0, &[b'a'; 255][..]);
    esme.write_octets(&raw_submit(source, destination, [b"", b""], full))
        .await;
    let answer = esme.read().await.expect("an answer");
    answer.message_id();
    assert_eq!(ogene.total().await.to_string(), "988", "two pages");
    let unicode = [0x1E, 0xCD].repeat(80);
    let submit = Sm {
        data_coding: 8,
        ..message(&unicode)
    };
    esme.submit(submit).await.message_id();
    assert_eq!(ogene.total().await.to_string(), "964", "two Unicode pages");
    ogene.received(4).await;
    ogene.end().await;
}

/// Kannel and smpplib tear surrogate pairs, and smpplib tears escape pairs. python-messaging uses
/// the reference 0 for every text.
#[tokio::test]
async fn torn_parts_go_out_as_they_came_and_are_not_joined() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transmitter, &user).await;
    let parts: [(u8, u8, &[u8]); 6] = [
        (8, 1, b"\0h\xD8\x3D"),
        (8, 2, b"\xDE\x00\0i"),
        (0, 1, b"price \x1B"),
        (0, 2, b"\x65 5"),
        (0, 1, b"price \x1B"),
        (0, 2, b"\x65 5"),
    ];
    for (index, (data_coding, number, text)) in parts.into_iter().enumerate() {
        let octets = [&udh(0, 2, number)[..], text].concat();
        let part = Sm {
            data_coding,
            esm_class: esm_class::UDHI,
            ..message(&octets)
        };
        esme.submit(part).await.message_id();
        let submit = ogene.received(index + 1).await[index].submit.clone();
        assert_eq!(submit.data_coding, data_coding);
        assert_eq!(&submit.short_message[..], octets);
    }
    assert_eq!(ogene.received(6).await.len(), 6);
    ogene.end().await;
}

/// Jasmin cuts an id at other characters, and Kannel compares it exactly. Kannel and smpplib cut
/// longer credentials.
#[tokio::test]
async fn ids_and_credentials_fit_into_every_client() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    assert!((1..=15).contains(&user.user.system_id.len()));
    assert!((1..=8).contains(&user.password.len()));
    assert!(user.user.system_id.is_ascii() && user.password.is_ascii());
    let mut esme = Esme::connect(address).await;
    // Net::SMPP goes on after a refused bind.
    let early = esme.submit(message(b"hi")).await;
    assert_eq!(early.status, CommandStatus::RINVBNDSTS);
    assert!(early.body.is_empty());
    let bound = esme.bind(BindKind::Transmitter, &user, 0x34).await;
    assert_eq!(bound.status, CommandStatus::ROK);
    let id = esme.submit(message(b"hi")).await.message_id();
    let is_plain =
        |octet: u8| octet.is_ascii_digit() || octet.is_ascii_lowercase() || octet == b'-';
    assert!(id.len() <= 64 && id.bytes().all(is_plain), "{id}");
    ogene.end().await;
}

/// smpplib fails at a parameter that it does not know, and clients answer with and without a body.
#[tokio::test]
async fn a_receipt_has_known_parameters_and_any_answer_ends_it() {
    let (ogene, address, user) = start(silent(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    for (count, body) in [(1, &b""[..]), (2, b"\0"), (3, b"an-id\0")] {
        let text = Sm {
            registered_delivery: 1,
            ..message(b"hi")
        };
        let id = esme.submit(text).await.message_id();
        let received = ogene.received(count).await;
        let carrier_id = received[count - 1].message_id.clone().expect("accepted");
        let receipt = DeliverSm {
            source: Address::international(MTN),
            destination: Address::alphanumeric(SENDER),
            esm_class: esm_class::RECEIPT,
            short_message: format!("id:{carrier_id} stat:UNDELIV err:011").into(),
            tlvs: vec![
                Tlv::new(0x1400, b"own".to_vec()),
                Tlv::new(0x3FFF, b"own".to_vec()),
                Tlv::new(tag::NETWORK_ERROR_CODE, vec![3, 0, 11]),
            ],
            ..DeliverSm::default()
        };
        ogene.smsc().send("ogene", receipt);
        let read = esme.read().await.expect("a receipt");
        let Ok(Pdu::Deliver(deliver)) = decode(read.command, &read.body) else {
            panic!("no deliver_sm: {read:?}");
        };
        let text = String::from_utf8(deliver.short_message.to_vec()).expect("ASCII");
        assert!(text.starts_with(&format!("id:{id} ")), "{text}");
        let known = [
            tag::RECEIPTED_MESSAGE_ID,
            tag::MESSAGE_STATE,
            tag::NETWORK_ERROR_CODE,
        ];
        let tlvs = deliver.tlvs.to_vec();
        assert!(tlvs.iter().all(|one| known.contains(&one.tag)), "{tlvs:?}");
        let length = u32::try_from(16 + body.len()).expect("short");
        let response = Command::DELIVER_SM.response();
        let head = [length, response.0, 0, read.sequence].map(u32::to_be_bytes);
        esme.write_octets(&[head.concat(), body.to_vec()].concat())
            .await;
        until("the receipt is over", async || {
            (ogene.sql("select count(*) from outbox") == "0").then_some(())
        })
        .await;
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_submit_whose_answer_is_lost_is_found_and_charged_once() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transceiver, &user).await;
    esme.write(&Pdu::Submit(message(b"Kedu?"))).await;
    // The client never reads the answer.
    until("the message is accepted", async || {
        (ogene.sql("select count(*) from messages") == "1").then_some(())
    })
    .await;
    drop(esme);
    let items = ogene.read("/messages").await["data"]["items"].take();
    let id = items[0]["message_id"].as_str().expect("an id").to_owned();
    let mut again = Esme::bound(address, BindKind::Transceiver, &user).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let (state, _) = again.query(&id).await;
    assert_eq!(state, 2, "delivered");
    assert_eq!(ogene.total().await.to_string(), "994", "charged once");
    assert_eq!(ogene.received(1).await.len(), 1);
    let unbound = again.ask(&Pdu::Unbind).await;
    assert!(is(&unbound, Command::UNBIND.response(), CommandStatus::ROK));
    ogene.end().await;
}

#[tokio::test]
async fn parts_of_a_text_wait_together_for_the_end_of_quiet_hours() {
    let setup = Setup::new().set("gateways.direct-refund.quiet_hours", r#""20:00-08:00""#);
    let (ogene, address, user) = start(setup, NewSmppUser::default()).await;
    ogene.bound("mtn", 2).await;
    let (evening, morning) = night(&ogene);
    let hour = 3_600_000;
    ogene.clock.set(evening + hour);
    let mut esme = Esme::bound(address, BindKind::Transmitter, &user).await;
    let mut ids = Vec::new();
    for number in 1..=3 {
        let octets = [&udh(7, 3, number)[..], b"part"].concat();
        let part = Sm {
            esm_class: esm_class::UDHI,
            ..message(&octets)
        };
        ids.push(esme.submit(part).await.message_id());
    }
    assert_eq!(ogene.total().await.to_string(), "982", "three pages");
    ogene.clock.set(morning - hour);
    let held = async || ogene.sql("select count(*) from batches where due_at_ms > 0");
    assert_eq!(held().await, "3");
    assert!(ogene.smsc().received().is_empty());
    ogene.clock.set(morning);
    let received = ogene.received(3).await;
    let mut parts: Vec<u8> = received
        .iter()
        .map(|one| one.submit.short_message[5])
        .collect();
    parts.sort_unstable();
    assert_eq!(parts, [1, 2, 3]);
    assert!(ogene.clock.now_ms() >= morning);
    for id in ids {
        assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    }
    assert_eq!(ogene.total().await.to_string(), "982");
    ogene.end().await;
}

#[tokio::test]
async fn a_part_and_its_raw_receipt_go_with_retention() {
    let setup = Setup::new()
        .set("retention.bodies", r#""3d""#)
        .set("retention.receipts", r#""3d""#);
    let (mut ogene, address, user) = start(setup, NewSmppUser::default()).await;
    let mut esme = Esme::bound(address, BindKind::Transmitter, &user).await;
    let octets = [&udh(7, 2, 1)[..], b"part"].concat();
    let part = Sm {
        esm_class: esm_class::UDHI,
        ..message(&octets)
    };
    let id = esme.submit(part).await.message_id();
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let kept = |ogene: &Ogene| {
        let count = |of: &str| ogene.sql(&format!("select count(*) from {of}"));
        let pages = count("messages where raw_page is not null");
        (pages, count("raw_receipts"))
    };
    assert_eq!(kept(&ogene), ("1".to_owned(), "1".to_owned()));
    ogene.clock.set(ogene.clock.now_ms() + 4 * 86_400_000);
    // The removal begins with the service.
    ogene.restart().await;
    until("text and receipt are removed", async || {
        (kept(&ogene) == ("0".to_owned(), "0".to_owned())).then_some(())
    })
    .await;
    // The message, its state and its events are still there.
    let found = ogene.read(&format!("/messages/{id}")).await;
    assert_eq!(found["data"]["body"], serde_json::Value::Null);
    let path = format!("/messages/{id}/recipients/{MTN}");
    let events = ogene.read(&path).await["data"]["events"].take();
    assert!(!events.as_array().expect("a list").is_empty(), "{events}");
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let mut again = Esme::bound(address, BindKind::Transmitter, &user).await;
    assert_eq!(again.query(&id).await.0, 2, "delivered");
    ogene.end().await;
}
