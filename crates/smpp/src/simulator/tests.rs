use super::*;
use crate::client::{
    BindError, BindOptions, CloseReason, Event, EventStream, Session, SubmitOutcome,
};
use crate::client::{Submit, connect};
use crate::pdu::{Address, SubmitSm};
use crate::receipt::{self, ReceiptIds, ReceiptState};
use crate::status::CommandStatus;
use std::collections::HashMap as Map;
use std::time::Duration;

fn options() -> BindOptions {
    BindOptions {
        system_id: "ogene".into(),
        password: "secret".into(),
        window: 100,
        ..BindOptions::default()
    }
}

async fn bound(script: Script) -> (Smsc, Session, EventStream) {
    let smsc = Smsc::start(script).await.unwrap();
    let (session, events) = connect(smsc.address(), &options()).await.unwrap();
    (smsc, session, events)
}

fn submit(tag: u64, destination: &str) -> Submit {
    Submit {
        tag,
        pdu: SubmitSm {
            source: Address::alphanumeric("Ogene"),
            destination: Address::international(destination),
            registered_delivery: 1,
            short_message: b"Kedu?".as_slice().into(),
            ..SubmitSm::default()
        },
    }
}

/// The received events: outcomes by tag, and receipts in order.
#[derive(Default)]
struct Seen {
    outcomes: Map<u64, SubmitOutcome>,
    receipts: Vec<receipt::Receipt>,
    delivers: usize,
    closed: Option<CloseReason>,
    /// The kinds of events in the order of arrival.
    order: Vec<&'static str>,
}

/// Receives and answers events until `done`.
async fn watch(session: &Session, events: &mut EventStream, done: impl Fn(&Seen) -> bool) -> Seen {
    let mut seen = Seen::default();
    let all = async {
        while !done(&seen) {
            let Some(batch) = events.next().await else {
                return;
            };
            for event in batch {
                match event {
                    Event::Submitted { tag, outcome } => {
                        seen.order.push("response");
                        assert_eq!(seen.outcomes.insert(tag, outcome), None);
                    }
                    Event::Deliver { sequence, deliver } => {
                        seen.order.push("deliver");
                        seen.delivers += 1;
                        seen.receipts.extend(receipt::parse(&deliver));
                        session.answer(vec![(sequence, CommandStatus::ROK)]);
                    }
                    Event::Closed(reason) => seen.closed = Some(reason),
                }
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all)
        .await
        .expect("the events came in time");
    seen
}

fn id(outcome: &SubmitOutcome) -> &str {
    match outcome {
        SubmitOutcome::Accepted { message_id } => message_id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_destination_decides_the_fate_of_a_message() {
    let rules = [
        "01=delivrd",
        "02=undeliv",
        "03=expired",
        "04=rejectd",
        "05=pending",
    ];
    let rules = rules.map(|rule| parse_rule(rule).unwrap());
    let refused = parse_rule("06=refuse:0x0B").unwrap();
    let script = Script {
        rules: rules.into_iter().chain([refused]).collect(),
        record: 10,
        ..Script::default()
    };
    let (smsc, session, mut events) = bound(script).await;
    let numbers = ["01", "02", "03", "04", "05", "06"];
    let submits = (1..)
        .zip(numbers)
        .map(|(tag, end)| submit(tag, &format!("23480312345{end}")));
    session.submit(submits.collect()).unwrap();
    let seen = watch(&session, &mut events, |seen| {
        seen.outcomes.len() == 6 && seen.receipts.len() == 4
    })
    .await;
    let states: Map<&str, &ReceiptState> = seen
        .receipts
        .iter()
        .map(|receipt| (receipt.id.as_str(), &receipt.state))
        .collect();
    assert_eq!(states[id(&seen.outcomes[&1])], &ReceiptState::Delivered);
    assert_eq!(states[id(&seen.outcomes[&2])], &ReceiptState::Undeliverable);
    assert_eq!(states[id(&seen.outcomes[&3])], &ReceiptState::Expired);
    assert_eq!(states[id(&seen.outcomes[&4])], &ReceiptState::Rejected);
    assert!(!states.contains_key(id(&seen.outcomes[&5])));
    assert_eq!(
        seen.outcomes[&6],
        SubmitOutcome::Rejected(CommandStatus::RINVDSTADR)
    );
    let received = smsc.received();
    assert_eq!(received.len(), 6);
    assert_eq!(
        received[0].message_id.as_deref(),
        Some(id(&seen.outcomes[&1]))
    );
    assert_eq!(&received[0].submit.short_message[..], b"Kedu?");
    assert_eq!(received[5].message_id, None);
}

#[tokio::test]
async fn no_receipt_is_sent_without_a_request() {
    let (smsc, session, mut events) = bound(Script::default()).await;
    let mut silent = submit(1, "2348031234501");
    silent.pdu.registered_delivery = 0;
    let mut failures_only = submit(2, "2348031234501");
    failures_only.pdu.registered_delivery = 2;
    session
        .submit(vec![silent, failures_only, submit(3, "2348031234501")])
        .unwrap();
    let seen = watch(&session, &mut events, |seen| seen.delivers == 1).await;
    assert_eq!(seen.receipts[0].id, id(&seen.outcomes[&3]));
    assert_eq!(smsc.waiting(), 0);
}

#[tokio::test]
async fn every_mapping_of_ids_joins_responses_and_receipts() {
    let modes = [
        ReceiptIds::Exact,
        ReceiptIds::HexResponseDecimalReceipt,
        ReceiptIds::DecimalResponseHexReceipt,
        ReceiptIds::Numeric,
    ];
    for ids in modes {
        let script = Script {
            receipts: ReceiptStyle {
                ids,
                ..ReceiptStyle::default()
            },
            ..Script::default()
        };
        let (_smsc, session, mut events) = bound(script).await;
        session.submit(vec![submit(1, "2348031234501")]).unwrap();
        let seen = watch(&session, &mut events, |seen| seen.delivers == 1).await;
        let response = id(&seen.outcomes[&1]);
        let receipt = &seen.receipts[0].id;
        assert_eq!(ids.response_key(response), ids.receipt_key(receipt));
        assert_eq!(response == receipt, ids == ReceiptIds::Exact);
    }
}

#[tokio::test]
async fn the_script_may_reorder_repeat_and_stage_receipts() {
    let script = Script {
        receipts: ReceiptStyle {
            quirks: vec![Quirk::BeforeResponse, Quirk::Duplicate, Quirk::Intermediate],
            ..ReceiptStyle::default()
        },
        ..Script::default()
    };
    let (_smsc, session, mut events) = bound(script.clone()).await;
    session.submit(vec![submit(1, "2348031234501")]).unwrap();
    let seen = watch(&session, &mut events, |seen| seen.order.len() == 4).await;
    assert_eq!(seen.order, ["deliver", "deliver", "deliver", "response"]);
    assert!(seen.receipts[0].intermediate && !seen.receipts[0].is_final());
    assert_eq!(seen.receipts[1], seen.receipts[2]);

    let shuffled = ReceiptStyle {
        quirks: vec![Quirk::Shuffle],
        ..ReceiptStyle::default()
    };
    let script = Script {
        receipts: shuffled,
        receipt_delay: Delay::fixed(Duration::from_millis(50)),
        ..script
    };
    let (_smsc, session, mut events) = bound(script).await;
    let submits = (0..50).map(|tag| submit(tag, "2348031234501"));
    session.submit(submits.collect()).unwrap();
    let seen = watch(&session, &mut events, |seen| seen.delivers == 50).await;
    let ids: Vec<&String> = seen.receipts.iter().map(|receipt| &receipt.id).collect();
    assert!(!ids.is_sorted());
}

#[tokio::test]
async fn throttling_is_by_count_and_by_rate() {
    let script = Script {
        faults: vec![
            parse_fault("3=throttle").unwrap(),
            parse_fault("5=queue-full").unwrap(),
        ],
        ..Script::default()
    };
    let (smsc, session, mut events) = bound(script.clone()).await;
    let submits = |count| {
        (1..=count)
            .map(|tag| submit(tag, "2348031234501"))
            .collect()
    };
    session.submit(submits(10)).unwrap();
    let seen = watch(&session, &mut events, |seen| seen.outcomes.len() == 10).await;
    let with = |seen: &Seen, status| {
        let rejected = SubmitOutcome::Rejected(status);
        seen.outcomes
            .values()
            .filter(|&outcome| *outcome == rejected)
            .count()
    };
    assert_eq!(with(&seen, CommandStatus::RTHROTTLED), 3);
    assert_eq!(with(&seen, CommandStatus::RMSGQFUL), 2);

    smsc.set_script(Script {
        faults: Vec::new(),
        max_per_second: Some(20),
        ..script
    });
    session.submit(submits(60)).unwrap();
    let seen = watch(&session, &mut events, |seen| seen.outcomes.len() == 60).await;
    assert!(with(&seen, CommandStatus::RTHROTTLED) >= 20);
}

#[tokio::test]
async fn binds_are_checked() {
    let script = Script {
        binds: BindRules {
            accounts: vec![("ogene".into(), "secret".into())],
            max: Some(1),
            ..BindRules::default()
        },
        ..Script::default()
    };
    let smsc = Smsc::start(script).await.unwrap();
    let refused = async |options: BindOptions| match connect(smsc.address(), &options).await {
        Err(BindError::Refused(status)) => status,
        other => panic!("{other:?}"),
    };
    let wrong_password = BindOptions {
        password: "guess".into(),
        ..options()
    };
    assert_eq!(refused(wrong_password).await, CommandStatus::RINVPASWD);
    let stranger = BindOptions {
        system_id: "stranger".into(),
        ..options()
    };
    assert_eq!(refused(stranger).await, CommandStatus::RINVSYSID);
    let (session, mut events) = connect(smsc.address(), &options()).await.unwrap();
    assert_eq!(refused(options()).await, CommandStatus::RBINDFAIL);
    session.unbind();
    let seen = watch(&session, &mut events, |seen| seen.closed.is_some()).await;
    assert_eq!(seen.closed, Some(CloseReason::Unbound));
    // The bind is free again as soon as the connection is closed.
    while let Err(error) = connect(smsc.address(), &options()).await {
        assert!(
            matches!(error, BindError::Refused(CommandStatus::RBINDFAIL)),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn faults_of_an_smsc_do_not_end_the_session() {
    let faults = ["2=garbage", "3=wrong-sequence"];
    let script = Script {
        faults: faults.map(|fault| parse_fault(fault).unwrap()).to_vec(),
        ..Script::default()
    };
    let (_smsc, session, mut events) = bound(script).await;
    let submits = (1..=4).map(|tag| submit(tag, "2348031234501"));
    session.submit(submits.collect()).unwrap();
    watch(&session, &mut events, |seen| {
        seen.outcomes.len() == 3 && seen.delivers == 4
    })
    .await;
    let counters = session.counters();
    assert_eq!((counters.odd_pdus, counters.unmatched_responses), (4, 1));
    assert_eq!(session.outstanding(), 1);
}

#[tokio::test]
async fn a_dropped_connection_leaves_a_full_window_in_doubt() {
    let script = Script {
        drop_at_window: Some(10),
        ..Script::default()
    };
    let smsc = Smsc::start(script).await.unwrap();
    let small = BindOptions {
        window: 10,
        ..options()
    };
    let (session, mut events) = connect(smsc.address(), &small).await.unwrap();
    let submits = (1..=15).map(|tag| submit(tag, "2348031234501"));
    session.submit(submits.collect()).unwrap();
    let seen = watch(&session, &mut events, |seen| seen.closed.is_some()).await;
    let count = |outcome| seen.outcomes.values().filter(|&o| *o == outcome).count();
    assert_eq!(
        (count(SubmitOutcome::Unknown), count(SubmitOutcome::NotSent)),
        (10, 5)
    );
}

#[tokio::test]
async fn an_unanswered_receipt_is_repeated_on_the_next_bind() {
    let (smsc, session, mut events) = bound(Script::default()).await;
    session.submit(vec![submit(1, "2348031234501")]).unwrap();
    let mut accepted = None;
    let mut delivered = false;
    while accepted.is_none() || !delivered {
        for event in events.next().await.unwrap() {
            match event {
                Event::Submitted { outcome, .. } => accepted = Some(outcome),
                Event::Deliver { .. } => delivered = true,
                Event::Closed(reason) => panic!("{reason:?}"),
            }
        }
    }
    smsc.drop_connections().await;
    let (session, mut events) = connect(smsc.address(), &options()).await.unwrap();
    let seen = watch(&session, &mut events, |seen| seen.delivers == 1).await;
    assert_eq!(seen.receipts[0].id, id(&accepted.unwrap()));
    session.unbind();
    watch(&session, &mut events, |seen| seen.closed.is_some()).await;
    assert_eq!(smsc.stop().await.put_back, 1);
}

#[tokio::test]
async fn an_enquire_link_detects_a_half_open_connection() {
    let script = Script {
        ignore_enquire_link: true,
        ..Script::default()
    };
    let smsc = Smsc::start(script).await.unwrap();
    let impatient = BindOptions {
        enquire_link: Duration::from_millis(20),
        response_timeout: Duration::from_millis(50),
        ..options()
    };
    let (session, mut events) = connect(smsc.address(), &impatient).await.unwrap();
    let seen = watch(&session, &mut events, |seen| seen.closed.is_some()).await;
    assert_eq!(seen.closed, Some(CloseReason::HalfOpen));
}

#[tokio::test]
async fn a_submit_without_a_response_still_has_a_receipt() {
    let script = Script {
        faults: vec![parse_fault("2=lose-response").unwrap()],
        record: 10,
        ..Script::default()
    };
    let (smsc, session, mut events) = bound(script).await;
    let submits = (1..=2).map(|tag| submit(tag, "2348031234501"));
    session.submit(submits.collect()).unwrap();
    let seen = watch(&session, &mut events, |seen| seen.delivers == 2).await;
    assert_eq!((seen.outcomes.len(), session.outstanding()), (1, 1));
    let lost = smsc.received()[1].message_id.clone();
    assert_eq!(Some(&seen.receipts[1].id), lost.as_ref());
}

#[tokio::test]
async fn a_response_without_an_id_is_followed_by_a_receipt_with_one() {
    let script = Script {
        faults: vec![parse_fault("1=no-id").unwrap()],
        record: 10,
        ..Script::default()
    };
    let (smsc, session, mut events) = bound(script).await;
    session.submit(vec![submit(1, "2348031234501")]).unwrap();
    let seen = watch(&session, &mut events, |seen| seen.delivers == 1).await;
    let message_id = String::new();
    assert_eq!(seen.outcomes[&1], SubmitOutcome::Accepted { message_id });
    assert_eq!(
        Some(&seen.receipts[0].id),
        smsc.received()[0].message_id.as_ref()
    );
}

#[tokio::test]
async fn any_message_can_be_sent_to_a_client() {
    let (smsc, session, mut events) = bound(Script::default()).await;
    smsc.send("ogene", submit(0, "12345").pdu);
    let seen = watch(&session, &mut events, |seen| seen.delivers == 1).await;
    assert!(seen.receipts.is_empty());
}

#[tokio::test]
async fn thousands_of_messages_pass_through_several_binds() {
    let script = Script {
        response_delay: Delay {
            from: Duration::ZERO,
            to: Duration::from_millis(3),
        },
        receipt_delay: Delay {
            from: Duration::ZERO,
            to: Duration::from_millis(30),
        },
        ..Script::default()
    };
    let smsc = Smsc::start(script).await.unwrap();
    let count = 2_000;
    let run = async || {
        let (session, mut events) = connect(smsc.address(), &options()).await.unwrap();
        let submits = (0..count).map(|tag| submit(tag, "2348031234501"));
        session.submit(submits.collect()).unwrap();
        let seen = watch(&session, &mut events, |seen| {
            seen.outcomes.len() as u64 == count
        })
        .await;
        (session, events, seen.delivers as u64)
    };
    let (one, two) = tokio::join!(run(), run());
    let mut delivers = one.2 + two.2;
    let mut rest = [(one.0, one.1), (two.0, two.1)];
    while delivers < 2 * count {
        for (session, events) in &mut rest {
            let next = tokio::time::timeout(Duration::from_millis(50), events.next()).await;
            for event in next.ok().flatten().unwrap_or_default() {
                let Event::Deliver { sequence, .. } = event else {
                    panic!("{event:?}")
                };
                delivers += 1;
                session.answer(vec![(sequence, CommandStatus::ROK)]);
            }
        }
    }
    let stats = smsc.stop().await;
    assert_eq!(
        (stats.accepted, stats.lost, stats.odd_pdus),
        (2 * count, 0, 0)
    );
}

/// Returns the texts of so many messages, each answered, in the order of arrival.
async fn texts(session: &Session, events: &mut EventStream, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.len() < count {
        let next = tokio::time::timeout(Duration::from_secs(20), events.next());
        for event in next.await.expect("messages").expect("a connection") {
            if let Event::Deliver { sequence, deliver } = event {
                let text = crate::long::content(&deliver).to_vec();
                texts.push(String::from_utf8(text).unwrap());
                session.answer(vec![(sequence, CommandStatus::ROK)]);
            }
        }
    }
    texts
}

fn inbound(text: &str, form: InboundForm, order: InboundOrder) -> InboundScript {
    InboundScript {
        messages: vec![parse_inbound(&format!("2348031234567:32811:{text}")).unwrap()],
        form,
        order,
        ..InboundScript::default()
    }
}

#[tokio::test]
async fn a_scripted_inbound_message_is_delivered_once_to_each_client() {
    let long = format!("{}{}", "a".repeat(153), "b".repeat(20));
    let script = Script {
        inbound: inbound(&long, InboundForm::Udh, InboundOrder::Backward),
        ..Script::default()
    };
    let (smsc, session, mut events) = bound(script).await;
    let pages = texts(&session, &mut events, 2).await;
    assert_eq!(pages, ["b".repeat(20), "a".repeat(153)]);
    session.unbind();
    watch(&session, &mut events, |seen| seen.closed.is_some()).await;
    let (again, mut events) = connect(smsc.address(), &options()).await.unwrap();
    again.submit(vec![submit(1, "2348031234501")]).unwrap();
    let seen = watch(&again, &mut events, |seen| seen.delivers == 1).await;
    assert_eq!(seen.receipts.len(), 1, "no second inbound message");
    let stats = smsc.stop().await;
    assert_eq!((stats.delivered, stats.lost), (3, 0));
}

#[tokio::test]
async fn an_inbound_message_is_repeated_on_the_next_connection() {
    let script = Script {
        inbound: InboundScript {
            again: true,
            ..inbound("VOTE A", InboundForm::Whole, InboundOrder::Forward)
        },
        ..Script::default()
    };
    let (smsc, session, mut events) = bound(script).await;
    let seen = watch(&session, &mut events, |seen| seen.closed.is_some()).await;
    assert_eq!(seen.delivers, 1);
    let (next, mut events) = connect(smsc.address(), &options()).await.unwrap();
    assert_eq!(texts(&next, &mut events, 1).await, ["VOTE A"]);
    next.unbind();
    let seen = watch(&next, &mut events, |seen| seen.closed.is_some()).await;
    assert_eq!(seen.delivers, 0, "it is repeated once");
    assert_eq!(smsc.stop().await.answered, 2);
}
