//! Tests of the session and the simulator against other implementations. `./test` or
//! `tests/peers/install` installs them.

use smpp::simulator::{Script, Smsc, parse_rule};
use smpp::{
    Address, BindError, BindOptions, CloseReason, CommandStatus, Event, ReceiptState, Submit,
    SubmitOutcome, SubmitSm, connect, receipt,
};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Returns the folder of the installed peers: `OGENE_PEERS`, or `target/peers`.
fn peers() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let installed = std::env::var_os("OGENE_PEERS").map(PathBuf::from);
    let peers = installed.unwrap_or_else(|| root.join("target/peers"));
    assert!(
        peers.join("node_modules/smpp").is_dir() && peers.join("python/smpplib").is_dir(),
        "the foreign SMPP peers are missing: run ./test, or tests/peers/install {}",
        peers.display()
    );
    peers
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/peers")
        .join(name)
}

/// The process of a peer, which is killed with the test.
struct Peer(Child);

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the SMSC on Node. Returns its port, which it prints first.
fn node_smsc() -> Result<(Peer, u16), Box<dyn Error>> {
    let mut node = Peer(
        Command::new("node")
            .arg(script("smsc.js"))
            .env("NODE_PATH", peers().join("node_modules"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?,
    );
    let mut line = String::new();
    let stdout = node.0.stdout.take().ok_or("no output")?;
    BufReader::new(stdout).read_line(&mut line)?;
    let port = line.trim().parse()?;
    Ok((node, port))
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

#[tokio::test]
async fn the_session_works_with_an_smsc_of_node() {
    testkit::needs!(Peers);
    let (_node, port) = node_smsc().expect("node runs the SMSC");
    let options = BindOptions {
        system_id: "ogene".into(),
        password: "secret".into(),
        window: 50,
        ..BindOptions::default()
    };
    let wrong = BindOptions {
        password: "guess".into(),
        ..options.clone()
    };
    assert!(matches!(
        connect(("127.0.0.1", port), &wrong).await,
        Err(BindError::Refused(CommandStatus::RINVPASWD))
    ));

    let (session, mut events) = connect(("127.0.0.1", port), &options).await.unwrap();
    assert_eq!(session.peer().system_id, "node");
    assert_eq!(session.peer().interface_version, Some(0x34));
    let count = 500;
    let mut submits: Vec<Submit> = (0..count).map(|tag| submit(tag, "2348031234501")).collect();
    submits.push(submit(count, "2348031234599"));
    session.submit(submits).unwrap();

    let (mut accepted, mut receipts) = (BTreeSet::new(), BTreeSet::new());
    let mut rejected = Vec::new();
    let all = async {
        while (accepted.len() + rejected.len()) as u64 <= count || (receipts.len() as u64) < count {
            for event in events.next().await.expect("the session stays open") {
                match event {
                    Event::Submitted { tag, outcome } => match outcome {
                        SubmitOutcome::Accepted { message_id } => {
                            assert!(accepted.insert(message_id));
                        }
                        other => rejected.push((tag, other)),
                    },
                    Event::Deliver { sequence, deliver } => {
                        let receipt = receipt::parse(&deliver).unwrap();
                        assert_eq!(receipt.state, ReceiptState::Delivered);
                        assert!(receipts.insert(receipt.id));
                        session.answer(vec![(sequence, CommandStatus::ROK)]);
                    }
                    Event::Closed(reason) => panic!("{reason:?}"),
                }
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), all)
        .await
        .expect("all responses and receipts come");
    assert_eq!(accepted, receipts);
    let refusal = SubmitOutcome::Rejected(CommandStatus::RINVDSTADR);
    assert_eq!(rejected, [(count, refusal)]);
    assert_eq!(session.counters().odd_pdus, 0);

    session.unbind();
    let mut last = None;
    while let Some(batch) = events.next().await {
        last = batch.into_iter().last();
    }
    assert_eq!(last, Some(Event::Closed(CloseReason::Unbound)));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_simulator_serves_a_client_of_python() {
    testkit::needs!(Peers);
    let peers = peers();
    let script_of_smsc = Script {
        rules: vec![parse_rule("02=undeliv").unwrap()],
        ..Script::default()
    };
    let smsc = Smsc::start(script_of_smsc).await.unwrap();
    let port = smsc.address().port().to_string();
    let client = tokio::task::spawn_blocking(move || {
        Command::new("python3")
            .arg(script("client.py"))
            .arg(port)
            .args(["2348031234501", "2348031234502", "2348031234503"])
            .env("PYTHONPATH", peers.join("python"))
            .output()
            .expect("python3 is installed")
    });
    let output = client.await.unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{complaint}");
    let told_states: BTreeMap<&str, &str> = told
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ').skip(1);
            let state = words.next()?;
            Some((words.next()?, state))
        })
        .collect();
    let expected = [
        ("2348031234501", "DELIVRD"),
        ("2348031234502", "UNDELIV"),
        ("2348031234503", "DELIVRD"),
    ];
    assert_eq!(told_states, BTreeMap::from(expected), "{told}{complaint}");
    let stats = smsc.stop().await;
    assert_eq!((stats.accepted, stats.answered, stats.odd_pdus), (3, 3, 0));
}
