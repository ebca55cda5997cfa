use super::*;
use crate::codec::{
    AddressFields, BindFields, CancelFields, Destination, Destinations, FailedDestination, Pdu,
    QueryFields, QueryRespFields, Sm, SubmitMultiRespFields, decode, encode,
};
use crate::command::Command;
use crate::frame::{HEADER_OCTETS, MAX_FRAME_OCTETS, first_frame};
use crate::frame_buffer::FrameBuffer;
use crate::pdu::{Address, Bind, BindKind, ShortMessage};
use crate::status::CommandStatus;
use crate::tlv::{Tlv, Tlvs, tag};
use proptest::collection::vec;
use proptest::prelude::*;
use std::time::Duration;
use tokio::time::Instant;

/// A session with its read buffer and a manual clock.
struct Kit {
    input: FrameBuffer,
    session: ServerSession<u64>,
    now: Instant,
    /// The events as text.
    events: Vec<String>,
    /// `true` if each request is answered at once.
    answers: bool,
}

impl Kit {
    fn new(options: ServerOptions) -> Self {
        let now = Instant::now();
        Self {
            input: FrameBuffer::new(),
            session: ServerSession::new(options, now),
            now,
            events: Vec::new(),
            answers: true,
        }
    }

    /// Creates a bound session.
    fn bound(kind: BindKind, version: u8) -> Self {
        let mut kit = Self::new(ServerOptions::default());
        kit.send(1, &bind(kind, version));
        kit.read();
        kit.events.clear();
        kit
    }

    /// Sends one PDU of the client.
    fn send(&mut self, sequence: u32, pdu: &Pdu<'_>) {
        self.push(&octets(sequence, pdu));
    }

    /// Sends octets of the client.
    fn push(&mut self, mut octets: &[u8]) {
        while !octets.is_empty() && self.session.is_open() {
            let taken = self.input.push(octets);
            octets = &octets[taken..];
            self.handle();
        }
    }

    fn handle(&mut self) {
        while self.session.is_open() {
            match self.input.next_whole_frame() {
                Ok(None) => return,
                Ok(Some(frame)) => {
                    if let Some(event) = self.session.on_frame(&frame, self.now) {
                        self.events.push(format!("{event:?}"));
                        if self.answers {
                            answer(&mut self.session, event, self.now);
                        }
                    }
                }
                Err(_) => self.session.on_broken_length(self.now),
            }
        }
    }

    /// Advances the clock.
    fn wait(&mut self, time: Duration) -> Vec<u64> {
        self.now += time;
        self.session.on_time(self.now)
    }

    /// Reads the written PDUs: command, status and sequence number.
    fn read(&mut self) -> Vec<(&'static str, CommandStatus, u32)> {
        let mut seen = Vec::new();
        let octets = self.session.unsent().to_vec();
        let mut rest = &octets[..];
        while let Some(frame) = first_frame(rest).unwrap() {
            let header = frame.header;
            seen.push((header.command.name(), header.status, header.sequence));
            rest = &rest[frame.octets()..];
        }
        self.session.advance(octets.len());
        seen
    }
}

/// Answers a request with success.
fn answer(session: &mut ServerSession<u64>, event: ServerEvent<'_, u64>, now: Instant) {
    match event {
        ServerEvent::Bind(request, kind, fields) if fields.password == b"secret" => {
            session.grant(request, kind, &fields).unwrap();
        }
        ServerEvent::Bind(request, ..) => {
            session.refuse_bind(request, CommandStatus::RINVPASWD, now);
        }
        ServerEvent::Submit(request, _)
        | ServerEvent::Data(request, _)
        | ServerEvent::SubmitMulti(request, ..) => session.accept(request, b"id-1").unwrap(),
        ServerEvent::Query(request, fields) => {
            let response = QueryRespFields {
                message_id: fields.message_id,
                message_state: 2,
                ..QueryRespFields::default()
            };
            // An id that is too long has no response of its own.
            if let Err(status) = session.answer(request, &Pdu::QueryResp(response)) {
                session.respond(request, status);
            }
        }
        ServerEvent::Cancel(request, _) => session.respond(request, CommandStatus::ROK),
        ServerEvent::Answered(..) => {}
    }
}

fn octets(sequence: u32, pdu: &Pdu<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out, CommandStatus::ROK, sequence, pdu).unwrap();
    out
}

fn bind(kind: BindKind, interface_version: u8) -> Pdu<'static> {
    let fields = BindFields {
        system_id: b"client",
        password: b"secret",
        interface_version,
        ..BindFields::default()
    };
    Pdu::Bind(kind, fields)
}

fn message() -> Sm<'static> {
    Sm {
        source: address(b"Ogene"),
        destination: address(b"2348031234567"),
        short_message: b"Kedu?",
        ..Sm::default()
    }
}

fn address(digits: &[u8]) -> AddressFields<'_> {
    AddressFields {
        ton: 1,
        npi: 1,
        digits,
    }
}

const OK: CommandStatus = CommandStatus::ROK;
const KINDS: [BindKind; 3] = [
    BindKind::Transceiver,
    BindKind::Transmitter,
    BindKind::Receiver,
];

#[test]
fn each_kind_of_bind_is_granted_with_its_own_response() {
    let names = [
        "bind_transceiver_resp",
        "bind_transmitter_resp",
        "bind_receiver_resp",
    ];
    for (kind, name) in KINDS.into_iter().zip(names) {
        let mut kit = Kit::new(ServerOptions::default());
        kit.send(7, &bind(kind, 0x34));
        assert_eq!(kit.read(), [(name, OK, 7)]);
        assert_eq!(kit.session.available(10) > 0, kind.receives());
    }
}

#[test]
fn only_clients_from_version_3_4_on_get_parameters() {
    let table = [
        (0x00, None),
        (0x33, None),
        (0x34, Some(0x34)),
        (0x50, Some(0x34)),
    ];
    for (version, expected) in table {
        let mut kit = Kit::new(ServerOptions::default());
        kit.send(1, &bind(BindKind::Transceiver, version));
        let octets = kit.session.unsent().to_vec();
        let frame = first_frame(&octets).unwrap().unwrap();
        let Ok(Pdu::BindResp(_, fields)) = decode(frame.header.command, frame.body) else {
            panic!("{octets:?}");
        };
        assert_eq!(fields.interface_version(), expected, "{version:#x}");
        kit.read();

        let tlvs = [Tlv::new(tag::RECEIPTED_MESSAGE_ID, &b"1\0"[..])];
        let receipt = Sm {
            tlvs: Tlvs::List(&tlvs),
            ..message()
        };
        kit.session.deliver(1, &receipt, kit.now).unwrap();
        let octets = kit.session.unsent();
        let frame = first_frame(octets).unwrap().unwrap();
        let Ok(Pdu::Deliver(sm)) = decode(frame.header.command, frame.body) else {
            panic!("{octets:?}");
        };
        assert_eq!(sm.tlvs.into_iter().count() == 1, expected.is_some());
    }
}

#[test]
fn a_text_that_the_client_cannot_read_is_not_delivered() {
    let mut kit = Kit::bound(BindKind::Receiver, 0x33);
    let tlvs = [Tlv::new(tag::MESSAGE_PAYLOAD, &b"long"[..])];
    let long = Sm {
        tlvs: Tlvs::List(&tlvs),
        ..message()
    };
    let refused = kit.session.deliver(1, &long, kit.now);
    assert_eq!(refused, Err(CommandStatus::ROPTPARNOTALLWD));
    assert!(kit.read().is_empty());
    assert!(kit.session.take_unanswered().is_empty());
}

#[test]
fn a_refused_bind_ends_the_session_after_its_response() {
    let mut kit = Kit::new(ServerOptions::default());
    let fields = BindFields {
        password: b"guess",
        ..BindFields::default()
    };
    kit.send(3, &Pdu::Bind(BindKind::Transmitter, fields));
    assert_eq!(
        kit.session.ended(kit.now),
        None,
        "the response is not written yet"
    );
    let refusal = ("bind_transmitter_resp", CommandStatus::RINVPASWD, 3);
    assert_eq!(kit.read(), [refusal]);
    assert_eq!(kit.session.ended(kit.now), Some(SessionEnd::BindRefused));
}

#[test]
fn requests_before_a_bind_are_refused() {
    let mut kit = Kit::new(ServerOptions::default());
    let requests = [
        Pdu::Submit(message()),
        Pdu::Data(message()),
        Pdu::Query(QueryFields::default()),
        Pdu::Cancel(CancelFields::default()),
    ];
    for (sequence, pdu) in (1..).zip(&requests) {
        kit.send(sequence, pdu);
    }
    kit.send(9, &Pdu::EnquireLink);
    let state = CommandStatus::RINVBNDSTS;
    let expected = [
        ("submit_sm_resp", state, 1),
        ("data_sm_resp", state, 2),
        ("query_sm_resp", state, 3),
        ("cancel_sm_resp", state, 4),
        ("enquire_link_resp", OK, 9),
    ];
    assert_eq!(kit.read(), expected);
    assert!(kit.events.is_empty());
    assert_eq!(kit.session.counters().odd_pdus, 4);
}

#[test]
fn a_receiver_may_not_submit_and_no_client_binds_twice() {
    let mut kit = Kit::bound(BindKind::Receiver, 0x34);
    kit.send(2, &Pdu::Submit(message()));
    kit.send(3, &bind(BindKind::Transceiver, 0x34));
    let expected = [
        ("submit_sm_resp", CommandStatus::RINVBNDSTS, 2),
        ("bind_transceiver_resp", CommandStatus::RALYBND, 3),
    ];
    assert_eq!(kit.read(), expected);
    assert!(kit.session.is_open() && kit.events.is_empty());
}

#[test]
fn every_request_of_a_client_has_its_answer() {
    let mut to = Vec::new();
    Destinations::push(&mut to, Destination::Address(address(b"2348031234567")));
    Destinations::push(&mut to, Destination::List(b"friends"));
    let query = QueryFields {
        message_id: b"id-1",
        source: address(b"Ogene"),
    };
    let cancel = CancelFields {
        message_id: b"id-1",
        source: address(b"Ogene"),
        ..CancelFields::default()
    };
    let table = [
        (Pdu::Submit(message()), "submit_sm_resp", OK),
        (
            Pdu::SubmitMulti(message(), Destinations::of(2, &to)),
            "submit_multi_resp",
            OK,
        ),
        (Pdu::Data(message()), "data_sm_resp", OK),
        (Pdu::Query(query), "query_sm_resp", OK),
        (Pdu::Cancel(cancel), "cancel_sm_resp", OK),
        (Pdu::EnquireLink, "enquire_link_resp", OK),
        (
            Pdu::Other(Command::REPLACE_SM, b"x"),
            "replace_sm_resp",
            CommandStatus::RREPLACEFAIL,
        ),
        (
            Pdu::Other(Command(0x0BAD), b""),
            "generic_nack",
            CommandStatus::RINVCMDID,
        ),
        (
            Pdu::Other(Command::SUBMIT_SM, b"\x01\x02"),
            "submit_sm_resp",
            CommandStatus::RINVCMDLEN,
        ),
        (
            Pdu::Deliver(message()),
            "deliver_sm_resp",
            CommandStatus::RINVBNDSTS,
        ),
    ];
    let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
    for (pdu, name, status) in table {
        kit.send(5, &pdu);
        assert_eq!(kit.read(), [(name, status, 5)], "{pdu:?}");
    }
    assert_eq!(kit.events.len(), 5);
    assert_eq!(kit.session.counters().odd_pdus, 4);
}

#[test]
fn odd_responses_are_counted_and_not_answered() {
    let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
    for pdu in [
        Pdu::DeliverResp,
        Pdu::DataResp(b""),
        Pdu::GenericNack,
        Pdu::SubmitResp(b"1"),
        Pdu::UnbindResp,
        Pdu::Other(Command(0x8000_0BAD), b""),
    ] {
        kit.send(1, &pdu);
    }
    kit.send(2, &Pdu::EnquireLinkResp);
    assert!(kit.read().is_empty());
    assert_eq!(kit.session.counters().odd_pdus, 6);
}

#[test]
fn the_fields_of_a_submit_multi_are_read_as_they_were_sent() {
    let mut to = Vec::new();
    let all = [
        Destination::Address(address(b"2348031234567")),
        Destination::List(b"friends"),
        Destination::Address(address(b"")),
    ];
    for destination in all {
        Destinations::push(&mut to, destination);
    }
    let out = octets(1, &Pdu::SubmitMulti(message(), Destinations::of(3, &to)));
    let frame = first_frame(&out).unwrap().unwrap();
    let Ok(Pdu::SubmitMulti(sm, destinations)) = decode(frame.header.command, frame.body) else {
        panic!("{out:?}");
    };
    assert_eq!(destinations.into_iter().collect::<Vec<_>>(), all);
    assert_eq!(
        (sm.source, sm.short_message),
        (address(b"Ogene"), &b"Kedu?"[..])
    );
    let mut encoded = Vec::new();
    let mut many = Vec::new();
    (0..255).for_each(|_| Destinations::push(&mut many, all[0]));
    for (count, octets, status) in [
        (0, &[][..], CommandStatus::RINVNUMDESTS),
        (255, &many, CommandStatus::RINVNUMDESTS),
        (4, &to, CommandStatus::RINVNUMDESTS),
        (1, &[1, 1, 1, b'7'], CommandStatus::RINVNUMDESTS),
        (1, &[3, b'x', 0], CommandStatus::RINVNUMDESTS),
    ] {
        let pdu = Pdu::SubmitMulti(message(), Destinations::of(count, octets));
        assert_eq!(encode(&mut encoded, OK, 1, &pdu), Err(status), "{count}");
    }
}

#[test]
fn a_submit_multi_is_accepted_in_part() {
    let mut kit = Kit::bound(BindKind::Transmitter, 0x34);
    kit.answers = false;
    let mut to = Vec::new();
    Destinations::push(&mut to, Destination::Address(address(b"1")));
    kit.send(4, &Pdu::SubmitMulti(message(), Destinations::of(1, &to)));
    let request = Request {
        command: Command::SUBMIT_MULTI,
        sequence: 4,
    };
    let failed = [FailedDestination {
        address: address(b"1"),
        status: CommandStatus::RINVDSTADR,
    }];
    let response = SubmitMultiRespFields {
        message_id: b"m",
        failed: &failed,
    };
    let response = Pdu::SubmitMultiResp(response);
    kit.session.answer(request, &response).unwrap();
    let body = b"m\0\x01\x01\x011\0\x00\x00\x00\x0B";
    assert_eq!(&kit.session.unsent()[HEADER_OCTETS..], body);
}

#[test]
fn requests_beyond_the_limit_are_throttled() {
    let mut kit = Kit::new(ServerOptions {
        max_pending: 2,
        ..ServerOptions::default()
    });
    kit.send(1, &bind(BindKind::Transceiver, 0x34));
    kit.read();
    kit.answers = false;
    for sequence in 2..5 {
        kit.send(sequence, &Pdu::Submit(message()));
    }
    assert_eq!(
        kit.read(),
        [("submit_sm_resp", CommandStatus::RTHROTTLED, 4)]
    );
    let first = Request {
        command: Command::SUBMIT_SM,
        sequence: 2,
    };
    kit.session.respond(first, CommandStatus::RMSGQFUL);
    kit.send(5, &Pdu::Submit(message()));
    assert_eq!(kit.read(), [("submit_sm_resp", CommandStatus::RMSGQFUL, 2)]);
    let counters = kit.session.counters();
    assert_eq!((counters.requests, counters.throttled), (3, 1));
}

#[test]
fn an_answer_is_matched_with_its_deliver_sm() {
    let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
    for item in 10..14 {
        kit.session.deliver(item, &message(), kit.now).unwrap();
    }
    assert_eq!(kit.session.available(5), 1);
    let sequences: Vec<u32> = kit
        .read()
        .into_iter()
        .map(|(.., sequence)| sequence)
        .collect();
    kit.send(sequences[1], &Pdu::DeliverResp);
    kit.send(sequences[0], &Pdu::DataResp(b""));
    kit.send(sequences[2], &Pdu::GenericNack);
    kit.send(sequences[2], &Pdu::DeliverResp);
    assert_eq!(
        kit.events,
        [
            "Answered(11, CommandStatus(0))",
            "Answered(10, CommandStatus(0))",
            "Answered(12, CommandStatus(255))"
        ]
    );
    assert_eq!(kit.session.take_unanswered(), [13]);
    assert_eq!(kit.session.counters().odd_pdus, 1);
}

#[test]
fn an_unanswered_deliver_sm_is_returned_at_its_timeout() {
    let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
    kit.session.deliver(1, &message(), kit.now).unwrap();
    assert!(kit.wait(Duration::from_secs(20)).is_empty());
    kit.session.deliver(2, &message(), kit.now).unwrap();
    kit.send(9, &Pdu::EnquireLink);
    assert!(kit.wait(Duration::from_secs(39)).is_empty());
    assert_eq!(kit.wait(Duration::from_secs(1)), [1]);
    assert_eq!(kit.wait(Duration::from_secs(20)), [2]);
    assert_eq!(kit.session.counters().timeouts, 2);
}

#[test]
fn a_silent_client_is_probed_and_then_disconnected() {
    let mut kit = Kit::bound(BindKind::Receiver, 0x34);
    let start = kit.now;
    assert_eq!(
        kit.session.deadline(),
        Some(start + Duration::from_secs(30))
    );
    kit.wait(Duration::from_secs(30));
    assert_eq!(kit.read(), [("enquire_link", OK, 1)]);
    kit.send(1, &Pdu::EnquireLinkResp);
    kit.wait(Duration::from_secs(30));
    assert_eq!(kit.read(), [("enquire_link", OK, 2)]);
    kit.wait(Duration::from_secs(59));
    assert!(kit.session.is_open());
    kit.wait(Duration::from_secs(1));
    assert_eq!(kit.session.ended(kit.now), Some(SessionEnd::HalfOpen));
}

#[test]
fn a_client_that_does_not_bind_is_disconnected() {
    let mut kit = Kit::new(ServerOptions::default());
    kit.send(1, &Pdu::EnquireLink);
    kit.wait(Duration::from_secs(9));
    assert!(kit.session.is_open());
    kit.wait(Duration::from_secs(1));
    assert_eq!(kit.session.ended(kit.now), Some(SessionEnd::BindTimedOut));
}

#[test]
fn an_unbind_is_answered_after_the_open_requests() {
    let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
    kit.answers = false;
    kit.send(2, &Pdu::Submit(message()));
    kit.send(3, &Pdu::Unbind);
    kit.send(4, &Pdu::Submit(message()));
    kit.wait(Duration::ZERO);
    assert_eq!(
        kit.read(),
        [("submit_sm_resp", CommandStatus::RINVBNDSTS, 4)]
    );
    let request = Request {
        command: Command::SUBMIT_SM,
        sequence: 2,
    };
    kit.session.accept(request, b"id").unwrap();
    kit.wait(Duration::ZERO);
    assert_eq!(
        kit.read(),
        [("submit_sm_resp", OK, 2), ("unbind_resp", OK, 3)]
    );
    assert_eq!(kit.session.ended(kit.now), Some(SessionEnd::ClientUnbound));
}

#[test]
fn an_unbind_is_answered_at_its_timeout() {
    let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
    kit.answers = false;
    kit.send(2, &Pdu::Submit(message()));
    kit.send(3, &Pdu::Unbind);
    kit.wait(Duration::from_secs(10));
    assert_eq!(kit.read(), [("unbind_resp", OK, 3)]);
    assert_eq!(kit.session.ended(kit.now), None);
    kit.wait(Duration::from_secs(1));
    assert_eq!(kit.session.ended(kit.now), Some(SessionEnd::ClientUnbound));
}

#[test]
fn the_end_of_a_session_waits_for_open_requests() {
    let ends: [fn(&mut Kit); 2] = [
        |kit| {
            kit.session.unbind(kit.now);
            kit.send(1, &Pdu::UnbindResp);
        },
        |kit| kit.push(&[0xFF; 4]),
    ];
    for (end, reason) in ends
        .into_iter()
        .zip([SessionEnd::Unbound, SessionEnd::Protocol])
    {
        let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
        kit.answers = false;
        for sequence in [2, 3] {
            kit.send(sequence, &Pdu::Submit(message()));
        }
        end(&mut kit);
        kit.read();
        let requests = [2, 3].map(|sequence| Request {
            command: Command::SUBMIT_SM,
            sequence,
        });
        kit.wait(Duration::from_secs(2));
        kit.session.accept(requests[0], b"id").unwrap();
        assert_eq!(kit.read(), [("submit_sm_resp", OK, 2)]);
        assert_eq!(kit.session.ended(kit.now), None, "{reason}");
        kit.session.respond(requests[1], CommandStatus::RSYSERR);
        assert_eq!(kit.session.ended(kit.now), None, "it is not written");
        kit.read();
        assert_eq!(kit.session.ended(kit.now), Some(reason));
    }
}

#[test]
fn a_server_that_unbinds_continues_until_the_answer() {
    let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
    kit.session.unbind(kit.now);
    kit.send(2, &Pdu::Submit(message()));
    assert_eq!(kit.read(), [("unbind", OK, 1), ("submit_sm_resp", OK, 2)]);
    kit.send(1, &Pdu::UnbindResp);
    assert_eq!(kit.session.ended(kit.now), Some(SessionEnd::Unbound));

    let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
    kit.session.unbind(kit.now);
    kit.wait(Duration::from_mins(1));
    assert_eq!(kit.session.ended(kit.now), Some(SessionEnd::Unbound));
}

#[test]
fn an_impossible_length_ends_the_session() {
    let too_long = u32::try_from(MAX_FRAME_OCTETS + 1).unwrap();
    for length in [0, 15, too_long, u32::from_be_bytes(*b"GET ")] {
        let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
        kit.push(&length.to_be_bytes());
        kit.push(&octets(2, &Pdu::Submit(message())));
        let nack = ("generic_nack", CommandStatus::RINVCMDLEN, 0);
        assert_eq!(kit.read(), [nack], "{length}");
        assert_eq!(kit.session.ended(kit.now), Some(SessionEnd::Protocol));
    }
}

#[test]
fn the_longest_pdu_is_read_completely() {
    let payload = [Tlv::new(tag::MESSAGE_PAYLOAD, vec![b'x'; 65_000])];
    let long = Sm {
        tlvs: Tlvs::List(&payload),
        ..message()
    };
    let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
    kit.send(2, &Pdu::Submit(long));
    assert_eq!(kit.read(), [("submit_sm_resp", OK, 2)]);
}

/// The octets of a client: PDUs of all kinds and random octets.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let sequence = 1u32..6;
    let body = vec(any::<u8>(), 0..40);
    let command = prop_oneof![
        Just(Command::SUBMIT_SM),
        Just(Command::SUBMIT_MULTI),
        Just(Command::DATA_SM),
        Just(Command::QUERY_SM),
        Just(Command::CANCEL_SM),
        Just(Command::DELIVER_SM_RESP),
        Just(Command::GENERIC_NACK),
        Just(Command::BIND_TRANSCEIVER),
        any::<u32>().prop_map(Command),
    ];
    let text = "[a-z]{0,9}";
    prop_oneof![
        4 => (sequence.clone(), text).prop_map(|(sequence, text)| {
            let message = ShortMessage {
                destination: Address::international("2348031234567"),
                short_message: text.into_bytes().into(),
                ..ShortMessage::default()
            };
            octets(sequence, &Pdu::Submit(Sm::of(&message)))
        }),
        2 => (sequence.clone(), command, body).prop_map(|(sequence, command, body)| {
            octets(sequence, &Pdu::Other(command, &body))
        }),
        1 => (sequence.clone(), "[a-z]{0,9}").prop_map(|(sequence, password)| {
            let bind = Bind { password, interface_version: 0x34, ..Bind::default() };
            octets(sequence, &Pdu::Bind(BindKind::Transceiver, BindFields::of(&bind)))
        }),
        1 => sequence.clone().prop_map(|sequence| octets(sequence, &Pdu::EnquireLink)),
        1 => sequence.prop_map(|sequence| octets(sequence, &Pdu::Unbind)),
        1 => vec(any::<u8>(), 1..20),
    ]
}

/// Returns the events, the written octets and the end of a session that reads these octets.
fn run(kit: Kit, parts: &[&[u8]]) -> (Vec<String>, Vec<u8>, Option<SessionEnd>) {
    let mut kit = kit;
    for part in parts {
        kit.push(part);
    }
    let written = kit.session.unsent().to_vec();
    kit.session.advance(written.len());
    (kit.events, written, kit.session.ended(kit.now))
}

proptest! {
    #[test]
    fn any_split_of_the_octets_gives_the_same_events(
        pieces in vec(pieces(), 0..20), cuts in vec(any::<prop::sample::Index>(), 0..12), is_bound: bool,
    ) {
        let octets = pieces.concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(octets.len() + 1)).collect();
        cuts.extend([0, octets.len()]);
        cuts.sort_unstable();
        let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &octets[cut[0]..cut[1]]).collect();
        let kit = || if is_bound {
            Kit::bound(BindKind::Transceiver, 0x34)
        } else {
            Kit::new(ServerOptions::default())
        };
        prop_assert_eq!(run(kit(), &parts), run(kit(), &[&octets]));
    }

    #[test]
    fn every_request_is_answered(pieces in vec(pieces(), 0..20)) {
        let mut kit = Kit::bound(BindKind::Transceiver, 0x34);
        let mut expected = Vec::new();
        for octets in &pieces {
            if let Ok(Some(frame)) = first_frame(octets)
                && kit.session.is_open()
                && frame.octets() == octets.len()
            {
                kit.push(octets);
                let header = frame.header;
                let is_silent = header.command.is_response();
                expected.extend((!is_silent).then_some(header.sequence));
            }
        }
        let answered: Vec<u32> = kit.read().into_iter().map(|(.., sequence)| sequence).collect();
        prop_assert_eq!(answered, expected);
    }
}
