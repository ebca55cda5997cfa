use super::*;
use crate::codec::{BindRespFields, Pdu, Sm, decode, encode};
use crate::command::Command;
use crate::frame::{Header, first_frame};
use crate::pdu::{Address, SubmitSm};
use crate::status::CommandStatus;
use crate::tlv::{Tlv, Tlvs, tag};
use proptest::collection::vec;
use proptest::prelude::*;
use std::time::Duration;
use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufStream, DuplexStream, duplex,
};
use tokio::time::Instant;

/// The SMSC's side of a connection, controlled by the test.
struct Smsc {
    stream: DuplexStream,
    octets: Vec<u8>,
}

impl Smsc {
    /// Reads the next PDU: its header and body.
    async fn read(&mut self) -> (Header, Vec<u8>) {
        loop {
            if let Some(frame) = first_frame(&self.octets).unwrap() {
                let (header, body, octets) = (frame.header, frame.body.to_vec(), frame.octets());
                self.octets.drain(..octets);
                return (header, body);
            }
            let read = self.stream.read_buf(&mut self.octets).await.unwrap();
            assert!(read > 0, "the session hung up");
        }
    }

    /// Reads the next PDU, which must be this command. Returns its sequence number.
    async fn expect(&mut self, command: Command) -> u32 {
        let (header, _) = self.read().await;
        assert_eq!(header.command, command);
        header.sequence
    }

    /// Reads `count` submits. Returns their sequence numbers.
    async fn submits(&mut self, count: usize) -> Vec<u32> {
        let mut sequences = Vec::new();
        for _ in 0..count {
            sequences.push(self.expect(Command::SUBMIT_SM).await);
        }
        sequences
    }

    /// Returns `true` if nothing arrives within `wait`.
    async fn is_silent_for(&mut self, wait: Duration) -> bool {
        tokio::time::timeout(wait, self.read()).await.is_err()
    }

    async fn write(&mut self, status: CommandStatus, sequence: u32, pdu: Pdu<'_>) {
        let mut out = Vec::new();
        encode(&mut out, status, sequence, &pdu).unwrap();
        self.stream.write_all(&out).await.unwrap();
    }

    async fn accept(&mut self, sequence: u32) {
        let id = format!("id{sequence}");
        self.write(CommandStatus::ROK, sequence, Pdu::SubmitResp(id.as_bytes()))
            .await;
    }
}

fn options() -> BindOptions {
    BindOptions {
        system_id: "ogene".into(),
        window: 3,
        ..BindOptions::default()
    }
}

async fn bound(options: BindOptions) -> (Session, EventStream, Smsc) {
    bound_over(options, 1 << 20).await
}

async fn bound_over(options: BindOptions, pipe: usize) -> (Session, EventStream, Smsc) {
    let (ours, stream) = duplex(pipe);
    bound_by(options, ours, stream).await
}

async fn bound_by<S>(
    options: BindOptions,
    ours: S,
    stream: DuplexStream,
) -> (Session, EventStream, Smsc)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut smsc = Smsc {
        stream,
        octets: Vec::new(),
    };
    let versions = [Tlv::new(tag::SC_INTERFACE_VERSION, &[0x34][..])];
    let response = BindRespFields {
        system_id: b"smsc",
        tlvs: Tlvs::List(&versions),
    };
    let kind = options.kind;
    let server = async {
        let sequence = smsc.expect(kind.command()).await;
        smsc.write(CommandStatus::ROK, sequence, Pdu::BindResp(kind, response))
            .await;
    };
    let (session, ()) = tokio::join!(bind(ours, &options), server);
    let (session, events) = session.unwrap();
    (session, events, smsc)
}

fn submits(tags: std::ops::Range<u64>) -> Vec<Submit> {
    tags.map(|tag| Submit {
        tag,
        pdu: SubmitSm {
            destination: Address::international("2348031234567"),
            short_message: b"hello".as_slice().into(),
            ..SubmitSm::default()
        },
    })
    .collect()
}

/// Reads all events to the end.
async fn rest(events: &mut EventStream) -> Vec<Event> {
    let mut all = Vec::new();
    while let Some(batch) = events.next().await {
        all.extend(batch);
    }
    all
}

fn submitted(tag: u64, outcome: SubmitOutcome) -> Event {
    Event::Submitted { tag, outcome }
}

fn accepted(tag: u64, sequence: u32) -> Event {
    let message_id = format!("id{sequence}");
    submitted(tag, SubmitOutcome::Accepted { message_id })
}

const A_WHILE: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn the_window_bounds_unanswered_submits() {
    let (session, mut events, mut smsc) = bound(options()).await;
    session.submit(submits(0..5)).unwrap();
    let first = smsc.submits(3).await;
    assert!(smsc.is_silent_for(A_WHILE).await);
    assert_eq!((session.outstanding(), session.queued()), (3, 2));
    smsc.accept(first[1]).await;
    assert_eq!(events.next().await.unwrap(), [accepted(1, first[1])]);
    smsc.submits(1).await;
    assert!(smsc.is_silent_for(A_WHILE).await);
    assert_eq!((session.outstanding(), session.queued()), (3, 1));
}

/// Some carriers read one PDU of those that arrive together, and leave the others unanswered.
#[tokio::test(start_paused = true)]
async fn a_window_of_one_sends_one_submit_at_a_time() {
    let options = BindOptions {
        window: 1,
        ..options()
    };
    let (session, mut events, mut smsc) = bound(options).await;
    session.submit(submits(0..3)).unwrap();
    for tag in 0..3 {
        let sequence = smsc.submits(1).await[0];
        assert!(smsc.is_silent_for(A_WHILE).await);
        smsc.accept(sequence).await;
        assert_eq!(events.next().await.unwrap(), [accepted(tag, sequence)]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejection_keeps_its_status_and_a_nack_is_one() {
    let (session, mut events, mut smsc) = bound(BindOptions {
        window: 4,
        ..options()
    })
    .await;
    session.submit(submits(0..4)).unwrap();
    let open = smsc.submits(4).await;
    smsc.write(CommandStatus::ROK, open[3], Pdu::GenericNack)
        .await;
    smsc.write(CommandStatus::RTHROTTLED, open[0], Pdu::SubmitResp(b""))
        .await;
    smsc.write(CommandStatus::RINVCMDID, open[1], Pdu::GenericNack)
        .await;
    smsc.write(
        CommandStatus::ROK,
        open[2],
        Pdu::Other(Command::SUBMIT_SM_RESP, b""),
    )
    .await;
    drop(smsc);
    assert_eq!(
        rest(&mut events).await,
        [
            submitted(3, SubmitOutcome::Rejected(CommandStatus::RUNKNOWNERR)),
            submitted(0, SubmitOutcome::Rejected(CommandStatus::RTHROTTLED)),
            submitted(1, SubmitOutcome::Rejected(CommandStatus::RINVCMDID)),
            submitted(
                2,
                SubmitOutcome::Accepted {
                    message_id: String::new()
                }
            ),
            Event::Closed(CloseReason::PeerClosed),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_leaves_written_unknown_and_queued_not_sent() {
    let (session, mut events, mut smsc) = bound(options()).await;
    session.submit(submits(0..5)).unwrap();
    let open = smsc.submits(3).await;
    smsc.accept(open[0]).await;
    smsc.submits(1).await;
    drop(smsc);
    assert_eq!(
        rest(&mut events).await,
        [
            accepted(0, open[0]),
            submitted(1, SubmitOutcome::Unknown),
            submitted(2, SubmitOutcome::Unknown),
            submitted(3, SubmitOutcome::Unknown),
            submitted(4, SubmitOutcome::NotSent),
            Event::Closed(CloseReason::PeerClosed),
        ]
    );
    assert_eq!(session.submit(submits(9..10)), Err(submits(9..10)));
}

#[tokio::test(start_paused = true)]
async fn a_submit_written_in_part_is_unknown_and_the_next_is_not_sent() {
    // The pipe takes the first submit and ten octets of the second.
    let one = 16 + 39;
    let (session, mut events, smsc) = bound_over(options(), one + 10).await;
    session.submit(submits(0..3)).unwrap();
    while session.outstanding() < 3 {
        tokio::task::yield_now().await;
    }
    drop(smsc);
    let all = rest(&mut events).await;
    assert_eq!(
        all[..3],
        [
            submitted(0, SubmitOutcome::Unknown),
            submitted(1, SubmitOutcome::Unknown),
            submitted(2, SubmitOutcome::NotSent),
        ]
    );
    assert!(matches!(all[3], Event::Closed(_)), "{all:?}");
}

#[tokio::test(start_paused = true)]
async fn a_late_response_is_unknown_and_harmless() {
    let (session, mut events, mut smsc) = bound(BindOptions {
        enquire_link: Duration::ZERO,
        ..options()
    })
    .await;
    session.submit(submits(0..1)).unwrap();
    let open = smsc.submits(1).await;
    let before = Instant::now();
    assert_eq!(
        events.next().await.unwrap(),
        [submitted(0, SubmitOutcome::Unknown)]
    );
    assert_eq!(before.elapsed().as_secs(), 60);
    assert_eq!(session.outstanding(), 0);
    smsc.accept(open[0]).await;
    smsc.accept(12_345).await;
    session.submit(submits(1..2)).unwrap();
    let next = smsc.submits(1).await;
    smsc.accept(next[0]).await;
    assert_eq!(events.next().await.unwrap(), [accepted(1, next[0])]);
    let counters = session.counters();
    assert_eq!(
        (
            counters.timeouts,
            counters.late_responses,
            counters.unmatched_responses
        ),
        (1, 1, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn an_idle_link_is_probed_and_any_traffic_counts_as_life() {
    let (_session, mut events, mut smsc) = bound(options()).await;
    let start = Instant::now();
    smsc.expect(Command::ENQUIRE_LINK).await;
    assert_eq!(start.elapsed().as_secs(), 30);
    // Another PDU than the response arrives.
    smsc.write(CommandStatus::ROK, 7, Pdu::EnquireLink).await;
    assert_eq!(smsc.expect(Command::ENQUIRE_LINK_RESP).await, 7);
    smsc.expect(Command::ENQUIRE_LINK).await;
    assert_eq!(start.elapsed().as_secs(), 60);
    // Nothing arrives from here on.
    assert_eq!(
        rest(&mut events).await,
        [Event::Closed(CloseReason::HalfOpen)]
    );
    assert_eq!(start.elapsed().as_secs(), 120);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_submitted_until_a_probe_is_answered() {
    // The link is probed for its silence, and for the missed response.
    for enquire_link in [30, 90].map(Duration::from_secs) {
        let (session, mut events, mut smsc) = bound(BindOptions {
            enquire_link,
            ..options()
        })
        .await;
        session.submit(submits(0..5)).unwrap();
        let start = Instant::now();
        smsc.submits(3).await;
        assert!(!session.is_silent());
        let probe = smsc.expect(Command::ENQUIRE_LINK).await;
        assert_eq!(start.elapsed(), enquire_link.min(Duration::from_mins(1)));
        let lost = [0, 1, 2].map(|tag| submitted(tag, SubmitOutcome::Unknown));
        assert_eq!(events.next().await.unwrap(), lost);
        assert!(smsc.is_silent_for(Duration::from_secs(20)).await);
        assert!(session.is_silent());
        assert_eq!((session.outstanding(), session.queued()), (0, 2));
        smsc.write(CommandStatus::ROK, probe, Pdu::EnquireLinkResp)
            .await;
        smsc.submits(2).await;
        assert!(!session.is_silent());
    }
}

#[tokio::test(start_paused = true)]
async fn unbind_waits_for_responses_and_returns_the_queue() {
    let (session, mut events, mut smsc) = bound(options()).await;
    session.submit(submits(0..4)).unwrap();
    let open = smsc.submits(3).await;
    session.unbind();
    assert_eq!(session.submit(submits(9..10)), Err(submits(9..10)));
    assert_eq!(
        events.next().await.unwrap(),
        [submitted(3, SubmitOutcome::NotSent)]
    );
    assert!(smsc.is_silent_for(A_WHILE).await);
    for sequence in &open {
        smsc.accept(*sequence).await;
    }
    let sequence = smsc.expect(Command::UNBIND).await;
    smsc.write(CommandStatus::ROK, sequence, Pdu::UnbindResp)
        .await;
    assert_eq!(
        rest(&mut events).await,
        [
            accepted(0, open[0]),
            accepted(1, open[1]),
            accepted(2, open[2]),
            Event::Closed(CloseReason::Unbound),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn unbind_has_a_timeout() {
    let (session, mut events, _smsc) = bound(options()).await;
    session.submit(submits(0..1)).unwrap();
    session.unbind();
    let all = rest(&mut events).await;
    assert!(
        matches!(all.last(), Some(Event::Closed(CloseReason::Unbound))),
        "{all:?}"
    );
    assert_eq!(all.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_answer_unbind_delays_nothing() {
    let (session, mut events, mut smsc) = bound(options()).await;
    session.unbind();
    smsc.expect(Command::UNBIND).await;
    let start = Instant::now();
    let end = [Event::Closed(CloseReason::Unbound)];
    assert_eq!(rest(&mut events).await, end);
    assert_eq!(start.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_peers_unbind_is_answered_after_its_last_responses_count() {
    let (session, mut events, mut smsc) = bound(options()).await;
    session.submit(submits(0..4)).unwrap();
    let open = smsc.submits(3).await;
    smsc.write(CommandStatus::ROK, 77, Pdu::Unbind).await;
    // No further submit is sent, and the answer waits for the open responses.
    assert!(smsc.is_silent_for(Duration::from_millis(900)).await);
    for sequence in &open {
        smsc.accept(*sequence).await;
    }
    assert_eq!(smsc.expect(Command::UNBIND_RESP).await, 77);
    assert_eq!(
        rest(&mut events).await,
        [
            submitted(3, SubmitOutcome::NotSent),
            accepted(0, open[0]),
            accepted(1, open[1]),
            accepted(2, open[2]),
            Event::Closed(CloseReason::PeerUnbound),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn responses_after_the_answer_to_a_peers_unbind_count_too() {
    let (session, mut events, mut smsc) = bound(options()).await;
    session.submit(submits(0..2)).unwrap();
    let open = smsc.submits(2).await;
    let asked = Instant::now();
    smsc.write(CommandStatus::ROK, 77, Pdu::Unbind).await;
    assert_eq!(smsc.expect(Command::UNBIND_RESP).await, 77);
    smsc.accept(open[1]).await;
    assert_eq!(
        rest(&mut events).await,
        [
            accepted(1, open[1]),
            submitted(0, SubmitOutcome::Unknown),
            Event::Closed(CloseReason::PeerUnbound),
        ]
    );
    assert!(
        asked.elapsed() < Duration::from_secs(3),
        "the wait is bounded"
    );
}

#[tokio::test(start_paused = true)]
async fn an_overlong_pdu_is_cut_and_the_next_one_is_complete() {
    let (session, mut events, smsc) = bound(options()).await;
    let message = submits(0..1).remove(0).pdu;
    let mut octets = Vec::new();
    for (sequence, filling) in [(1, 70_000), (2, 0), (3, 1_000_000)] {
        let start = octets.len();
        let pdu = Pdu::Deliver(Sm::of(&message));
        encode(&mut octets, CommandStatus::ROK, sequence, &pdu).unwrap();
        octets.extend(std::iter::repeat_n(0xFF, filling));
        let length = u32::try_from(octets.len() - start).unwrap();
        octets[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
    let (mut reading, mut writing) = tokio::io::split(smsc.stream);
    let writer = tokio::spawn(async move { writing.write_all(&octets).await });
    let mut seen = Vec::new();
    while seen.len() < 3 {
        for event in events.next().await.unwrap() {
            let Event::Deliver { sequence, deliver } = event else {
                panic!("{event:?}")
            };
            assert_eq!(deliver.short_message, message.short_message);
            session.answer(vec![(sequence, CommandStatus::ROK)]);
            seen.push(sequence);
        }
    }
    assert_eq!(seen, [1, 2, 3]);
    writer.await.unwrap().unwrap();
    let mut answers = [0; 3 * 17];
    reading.read_exact(&mut answers).await.unwrap();
    assert!(!session.is_closed());
}

#[tokio::test(start_paused = true)]
async fn overlong_fields_are_cut() {
    let (session, mut events, mut smsc) = bound(options()).await;
    session.submit(submits(0..1)).unwrap();
    let open = smsc.submits(1).await[0];
    let id = vec![b'7'; 60_000];
    let command = Command::SUBMIT_SM.response();
    smsc.write(CommandStatus::ROK, open, Pdu::Other(command, &id))
        .await;
    let message_id = "7".repeat(crate::MAX_MESSAGE_ID_OCTETS);
    assert_eq!(
        events.next().await.unwrap(),
        [submitted(0, SubmitOutcome::Accepted { message_id })]
    );
}

#[tokio::test(start_paused = true)]
async fn deliver_sm_and_data_sm_get_their_own_responses() {
    let (session, mut events, mut smsc) = bound(options()).await;
    let message = submits(0..1).remove(0).pdu;
    smsc.write(CommandStatus::ROK, 5, Pdu::Deliver(Sm::of(&message)))
        .await;
    smsc.write(CommandStatus::ROK, 6, Pdu::Data(Sm::of(&message)))
        .await;
    let mut seen = Vec::new();
    while seen.len() < 2 {
        for event in events.next().await.unwrap() {
            let Event::Deliver { sequence, .. } = event else {
                panic!("{event:?}")
            };
            seen.push(sequence);
        }
    }
    assert_eq!(seen, [5, 6]);
    assert!(smsc.is_silent_for(A_WHILE).await);
    session.answer(vec![(5, CommandStatus::ROK), (6, CommandStatus::RX_T_APPN)]);
    assert_eq!(smsc.expect(Command::DELIVER_SM_RESP).await, 5);
    let (header, _) = smsc.read().await;
    assert_eq!(
        (header.command, header.status),
        (Command::DATA_SM_RESP, CommandStatus::RX_T_APPN)
    );
}

#[tokio::test(start_paused = true)]
async fn only_a_broken_length_ends_the_session() {
    let (session, mut events, mut smsc) = bound(options()).await;
    let odd = [
        (
            Command(0x0BAD),
            Command::GENERIC_NACK,
            CommandStatus::RINVCMDID,
        ),
        (
            Command::QUERY_SM,
            Command::GENERIC_NACK,
            CommandStatus::RINVCMDID,
        ),
        (
            Command::DELIVER_SM,
            Command::DELIVER_SM_RESP,
            CommandStatus::RINVCMDLEN,
        ),
    ];
    for (command, answer, status) in odd {
        smsc.write(CommandStatus::ROK, 9, Pdu::Other(command, b"\x01\x02"))
            .await;
        let (header, _) = smsc.read().await;
        assert_eq!(
            (header.command, header.status, header.sequence),
            (answer, status, 9)
        );
    }
    assert_eq!(session.counters().odd_pdus, 3);
    smsc.stream.write_all(&[0xFF; 20]).await.unwrap();
    assert_eq!(smsc.expect(Command::GENERIC_NACK).await, 0);
    assert_eq!(
        rest(&mut events).await,
        [Event::Closed(CloseReason::Protocol)]
    );
}

#[tokio::test(start_paused = true)]
async fn pdus_around_the_bind_response_are_not_lost() {
    let (ours, stream) = duplex(1 << 16);
    let mut smsc = Smsc {
        stream,
        octets: Vec::new(),
    };
    let message = submits(0..1).remove(0).pdu;
    let server = async {
        let sequence = smsc.expect(Command::BIND_TRANSCEIVER).await;
        smsc.write(CommandStatus::ROK, 3, Pdu::Deliver(Sm::of(&message)))
            .await;
        smsc.write(CommandStatus::ROK, 4, Pdu::EnquireLink).await;
        assert_eq!(smsc.expect(Command::ENQUIRE_LINK_RESP).await, 4);
        // The response and another PDU are in the same segment.
        let mut out = Vec::new();
        let response = Pdu::Other(Command::BIND_TRANSCEIVER_RESP, b"");
        encode(&mut out, CommandStatus::ROK, sequence, &response).unwrap();
        let next = Pdu::Deliver(Sm::of(&message));
        encode(&mut out, CommandStatus::ROK, 5, &next).unwrap();
        smsc.stream.write_all(&out).await.unwrap();
        smsc
    };
    let options = options();
    let (bound, mut smsc) = tokio::join!(bind(ours, &options), server);
    let (session, mut events) = bound.unwrap();
    let batch = events.next().await.unwrap();
    assert!(
        matches!(
            batch[..],
            [
                Event::Deliver { sequence: 3, .. },
                Event::Deliver { sequence: 5, .. }
            ]
        ),
        "{batch:?}"
    );

    // Without a version, optional parameters are left out, and a text that needs them is rejected.
    assert_eq!(session.peer().interface_version, None);
    let mut plain = submits(0..2);
    plain[0].pdu.tlvs = vec![Tlv::new(0x1400, &b"x"[..])];
    plain[1].pdu.tlvs = vec![Tlv::new(tag::MESSAGE_PAYLOAD, &b"text"[..])];
    session.submit(plain).unwrap();
    let (header, body) = smsc.read().await;
    let Ok(Pdu::Submit(submit)) = decode(header.command, &body) else {
        panic!("{header:?}")
    };
    assert_eq!(submit.tlvs.to_vec(), []);
    assert_eq!(
        events.next().await.unwrap(),
        [submitted(
            1,
            SubmitOutcome::Rejected(CommandStatus::ROPTPARNOTALLWD)
        )]
    );
}

#[tokio::test(start_paused = true)]
async fn a_bind_fails_in_words() {
    let options = options();
    let (ours, stream) = duplex(1 << 16);
    let mut smsc = Smsc {
        stream,
        octets: Vec::new(),
    };
    let server = async {
        let sequence = smsc.expect(Command::BIND_TRANSCEIVER).await;
        let response = Pdu::Other(Command::BIND_TRANSCEIVER_RESP, b"");
        smsc.write(CommandStatus::RINVPASWD, sequence, response)
            .await;
    };
    let (refused, ()) = tokio::join!(bind(ours, &options), server);
    assert!(matches!(
        refused,
        Err(BindError::Refused(CommandStatus::RINVPASWD))
    ));

    let (ours, silent) = duplex(1 << 16);
    assert!(matches!(
        bind(ours, &options).await,
        Err(BindError::TimedOut)
    ));
    drop(silent);

    let (ours, gone) = duplex(1 << 16);
    let closing = async {
        let mut smsc = Smsc {
            stream: gone,
            octets: Vec::new(),
        };
        smsc.read().await;
    };
    let (closed, ()) = tokio::join!(bind(ours, &options), closing);
    assert!(matches!(closed, Err(BindError::Closed)));
}

#[tokio::test(start_paused = true)]
async fn pdus_split_at_any_octet_are_the_same_pdus() {
    let message = submits(0..1).remove(0).pdu;
    let mut out = Vec::new();
    for sequence in 1..=3 {
        let pdu = Pdu::Deliver(Sm::of(&message));
        encode(&mut out, CommandStatus::ROK, sequence, &pdu).unwrap();
    }
    for cut in 0..out.len() {
        let (_session, mut events, mut smsc) = bound(options()).await;
        smsc.stream.write_all(&out[..cut]).await.unwrap();
        tokio::task::yield_now().await;
        smsc.stream.write_all(&out[cut..]).await.unwrap();
        drop(smsc);
        let delivered = rest(&mut events).await;
        assert_eq!(delivered.len(), 4, "cut at {cut}");
        for (event, expected) in delivered.iter().zip(1..=3) {
            let Event::Deliver { sequence, deliver } = event else {
                panic!("{event:?}")
            };
            assert_eq!((*sequence, &**deliver), (expected, &message));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_caller_stops_reads_but_loses_no_response() {
    let (session, mut events, mut smsc) = bound(options()).await;
    session.submit(submits(0..1)).unwrap();
    let open = smsc.submits(1).await[0];
    let mut message = submits(0..1).remove(0).pdu;
    message.tlvs = vec![Tlv::new(tag::MESSAGE_PAYLOAD, vec![b'x'; 60_000])];
    // The number exceeds the queue and the pipe.
    let count = 300;
    let flood = tokio::spawn(async move {
        for sequence in 1..=count {
            smsc.write(CommandStatus::ROK, sequence, Pdu::Deliver(Sm::of(&message)))
                .await;
        }
        smsc.accept(open).await;
        smsc
    });
    // The caller sleeps for far longer than the response timeout.
    tokio::time::sleep(Duration::from_mins(10)).await;
    assert!(!flood.is_finished(), "the session read without end");
    let mut delivers = 0;
    loop {
        for event in events.next().await.unwrap() {
            match event {
                Event::Deliver { .. } => delivers += 1,
                other => {
                    assert_eq!((delivers, other), (count, accepted(0, open)));
                    return;
                }
            }
        }
    }
}

#[tokio::test]
async fn every_submit_has_an_outcome_after_an_abort() {
    let (session, mut events, _smsc) = {
        let runtime = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let (session, events, mut smsc) = bound(options()).await;
                session.submit(submits(0..4)).unwrap();
                smsc.submits(3).await;
                (session, events, smsc)
            })
        });
        runtime.join().unwrap()
    };
    let all = rest(&mut events).await;
    assert_eq!(all.len(), 5);
    assert_eq!(all[4], Event::Closed(CloseReason::Aborted));
    assert!(session.is_closed());
}

#[tokio::test(start_paused = true)]
async fn a_buffered_transport_is_flushed_at_the_end() {
    let (ours, stream) = duplex(50);
    let (session, mut events, mut smsc) = bound_by(options(), BufStream::new(ours), stream).await;
    session.submit(submits(0..3)).unwrap();
    for sequence in smsc.submits(3).await {
        smsc.accept(sequence).await;
    }
    session.unbind();
    let sequence = smsc.expect(Command::UNBIND).await;
    smsc.write(CommandStatus::ROK, sequence, Pdu::UnbindResp)
        .await;
    assert_eq!(rest(&mut events).await.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_session_without_a_reader_unbinds() {
    let (session, events, mut smsc) = bound(options()).await;
    drop(events);
    smsc.expect(Command::UNBIND).await;
    assert!(session.is_closed());
}

/// The octets of a broken or hostile peer: parts of PDUs and noise.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let ids = [
        Command::SUBMIT_SM_RESP,
        Command::GENERIC_NACK,
        Command::DELIVER_SM,
        Command::DATA_SM,
        Command::ENQUIRE_LINK,
        Command::UNBIND,
        Command::UNBIND_RESP,
        Command::SUBMIT_SM,
        Command(0x7777),
    ];
    let body = vec(prop_oneof![Just(0u8), any::<u8>()], 0..40);
    let pdu =
        (0..ids.len(), 0u32..3, 0u32..8, body).prop_map(move |(id, status, sequence, body)| {
            let mut out = Vec::new();
            let pdu = Pdu::Other(ids[id], &body);
            encode(&mut out, CommandStatus(status), sequence, &pdu).unwrap();
            out
        });
    let octets = vec(any::<u8>(), 0..10);
    vec(prop_oneof![9 => pdu, 1 => octets], 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn every_submit_has_exactly_one_outcome(noise in noise(), step in 1usize..64) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();
        let all = runtime.block_on(async {
            let (session, mut events, mut smsc) = bound(options()).await;
            session.submit(submits(0..6)).unwrap();
            for piece in noise.chunks(step) {
                tokio::task::yield_now().await;
                // The session may have closed the connection by now.
                if smsc.stream.write_all(piece).await.is_err() {
                    break;
                }
            }
            drop(smsc);
            rest(&mut events).await
        });
        let mut tags: Vec<u64> = all
            .iter()
            .filter_map(|event| match event {
                Event::Submitted { tag, .. } => Some(*tag),
                Event::Deliver { .. } | Event::Closed(_) => None,
            })
            .collect();
        tags.sort_unstable();
        prop_assert_eq!(tags, [0, 1, 2, 3, 4, 5]);
        let closed = all.iter().filter(|event| matches!(event, Event::Closed(_))).count();
        prop_assert!(closed == 1 && matches!(all.last(), Some(Event::Closed(_))));
    }
}
