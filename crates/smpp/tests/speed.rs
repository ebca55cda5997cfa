//! The speed of a session, while `benches/micro` measures the codec alone. It is no promise, but
//! shows a fall by half: `cargo test -p smpp --release --test speed -- --ignored --nocapture`.

use bytes::Bytes;
use smpp::simulator::{Script, Smsc};
use smpp::{Address, BindOptions, CommandStatus, Event, Submit, SubmitSm, connect, receipt};
use std::time::Instant;

fn message() -> SubmitSm {
    SubmitSm {
        source: Address::alphanumeric("Ogene"),
        destination: Address::international("2348031234501"),
        registered_delivery: 1,
        short_message: Bytes::from_static(&[b'a'; 139]),
        ..SubmitSm::default()
    }
}

/// One session, the simulator and all receipts share one thread.
#[tokio::test]
#[ignore = "a measurement"]
async fn submits_and_receipts_per_second_on_one_core() {
    const COUNT: usize = 500_000;
    let smsc = Smsc::start(Script::default()).await.unwrap();
    let options = BindOptions {
        system_id: "ogene".into(),
        window: 1_000,
        ..BindOptions::default()
    };
    let (session, mut events) = connect(smsc.address(), &options).await.unwrap();
    let pdu = message();
    let started = Instant::now();
    let (mut given, mut responses, mut receipts) = (0, 0, 0);
    while responses < COUNT || receipts < COUNT {
        if session.queued() < 1_000 && given < COUNT {
            let tags = given as u64..(given as u64 + 2_000);
            let pdu = || pdu.clone();
            let submits = tags.map(|tag| Submit { tag, pdu: pdu() }).collect();
            session.submit(submits).unwrap();
            given += 2_000;
        }
        let mut answers = Vec::new();
        for event in events.next().await.unwrap() {
            match event {
                Event::Submitted { .. } => responses += 1,
                Event::Deliver { sequence, deliver } => {
                    receipts += usize::from(receipt::parse(&deliver).is_some());
                    answers.push((sequence, CommandStatus::ROK));
                }
                Event::Closed(reason) => panic!("{reason:?}"),
            }
        }
        session.answer(answers);
    }
    let took = started.elapsed();
    let rate = COUNT as u128 * 1_000 / took.as_millis().max(1);
    println!("{COUNT} submits with receipts in {took:?}: {rate}/s");
}
