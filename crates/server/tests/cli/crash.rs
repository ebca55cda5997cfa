//! `kill -9` under load: nothing accepted is lost, nothing is charged twice, and no more than a window and a half is
//! sent twice.

use super::customer::{Client, Customer, wait_until};
use super::installation::Installation;
use super::process::Process;
use smpp::smsc::{Delay, Script, Smsc};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

const WINDOW: usize = 20;
const BINDS: usize = 2;
/// Numbers from which the test's recipients count: those of the campaign, and of single sends.
const CAMPAIGN_FROM: u64 = 2_348_031_000_000;
const SINGLES_FROM: u64 = 2_348_061_000_000;
const CAMPAIGN: u64 = 3_000;
const SENDERS: usize = 8;

fn set_up(ogene: &Installation, smsc: &Smsc) -> Customer {
    ogene.configure(&format!(
        "[limits]\nsends_per_minute = 1000000\nreports_per_minute = 1000000\n\
         [carriers.mtn]\naddress = \"{}\"\nsystem_id = \"ogene\"\npassword = \"secret\"\n\
         binds = {BINDS}\nwindow = {WINDOW}\n\
         [gateways.direct-refund]\ncarriers = [\"mtn\"]\nprice = \"6.00\"\nin_doubt_hold = \"1s\"\n",
        smsc.address(),
    ));
    Customer::new(ogene, "9000000.00")
}

/// Sends to some recipients; gives the message, or nothing when the service is gone.
fn send(client: &mut Client, numbers: &[u64]) -> Option<String> {
    let answer = client.send(numbers, None).ok()?;
    assert_eq!(answer.status, 200, "{}", answer.body);
    Some(answer.message_id())
}

/// Sends until the service is gone; gives message and number of all that was accepted.
fn load(
    address: &str,
    customer: &Customer,
    next: &AtomicU64,
    count: &AtomicU64,
) -> Vec<(String, u64)> {
    let mut client = Client::new(address, &customer.token);
    let mut accepted = Vec::new();
    loop {
        let number = SINGLES_FROM + next.fetch_add(1, Ordering::Relaxed);
        let Some(message) = send(&mut client, &[number]) else {
            return accepted;
        };
        accepted.push((message, number));
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// How often each number was submitted.
fn submits(smsc: &Smsc) -> HashMap<u64, usize> {
    let mut submits = HashMap::new();
    for received in smsc.received() {
        let number = received.submit.destination.digits.parse().expect("digits");
        *submits.entry(number).or_default() += 1;
    }
    submits
}

fn delivered(client: &mut Client, message: &str) -> u64 {
    let summary = client.summary(message).expect("an answer");
    summary["delivered"].as_u64().expect("a count")
}

/// What was accepted before the process died.
struct Accepted {
    campaign: String,
    singles: Vec<(String, u64)>,
}

/// Sends a campaign and single messages, and kills the process while both are on the wire.
fn kill_under_load(ogene: &Installation, smsc: &Smsc, customer: &Customer) -> Accepted {
    let (process, address) = Process::serve(ogene.command(&["serve"]));
    let numbers: Vec<u64> = (CAMPAIGN_FROM..CAMPAIGN_FROM + CAMPAIGN).collect();
    let campaign = send(&mut Client::new(&address, &customer.token), &numbers);
    let (next, count) = (AtomicU64::new(0), AtomicU64::new(0));
    let singles = thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|_| scope.spawn(|| load(&address, customer, &next, &count)))
            .collect();
        wait_until("the load is on", || {
            count.load(Ordering::Relaxed) > 400 && smsc.stats().submits > 400
        });
        process.signal("KILL");
        let accepted = senders
            .into_iter()
            .map(|sender| sender.join().expect("no panic"));
        accepted.flatten().collect()
    });
    Accepted {
        campaign: campaign.expect("accepted"),
        singles,
    }
}

fn wait_until_all_is_delivered(address: &str, customer: &Customer, accepted: &Accepted) {
    let mut client = Client::new(address, &customer.token);
    wait_until("the campaign is delivered", || {
        delivered(&mut client, &accepted.campaign) == CAMPAIGN
    });
    for (message, _) in &accepted.singles {
        wait_until("every accepted message is delivered", || {
            delivered(&mut client, message) == 1
        });
    }
}

#[test]
fn a_killed_process_loses_nothing_and_charges_nothing_twice() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let script = Script {
        record: 200_000,
        response_delay: Delay {
            from: Duration::ZERO,
            to: Duration::from_millis(10),
        },
        receipt_delay: Delay {
            from: Duration::ZERO,
            to: Duration::from_millis(300),
        },
        ..Script::default()
    };
    let smsc = runtime.block_on(Smsc::start(script)).expect("started");
    // On PostgreSQL it is another node that finds what a dead one had claimed.
    let ogene = Installation::embedded();
    let customer = set_up(&ogene, &smsc);
    let accepted = kill_under_load(&ogene, &smsc, &customer);
    assert_eq!(ogene.json(&["verify"])["violations"], serde_json::json!([]));

    let (mut process, address) = Process::serve(ogene.command(&["serve"]));
    wait_until_all_is_delivered(&address, &customer, &accepted);
    let submits = submits(&smsc);
    let singles = accepted.singles.iter().map(|(_, number)| *number);
    let mut expected = singles.chain((0..CAMPAIGN).map(|number| CAMPAIGN_FROM + number));
    assert!(expected.all(|number| submits.contains_key(&number)));
    let copies: usize = submits.values().map(|times| times - 1).sum();
    assert!(
        copies <= WINDOW * BINDS * 3 / 2,
        "{copies} of {} sent twice",
        submits.len()
    );
    assert!(submits.values().all(|&times| times <= 2));

    // Whoever got no answer was charged if the message exists, and not if it does not.
    let balance = &ogene.json(&["account", "show", "--account", &customer.account])["balance"];
    let spent = 9_000_000.0 - balance["total_balance"].as_f64().expect("a number");
    let paid = f64::from(u32::try_from(submits.len()).expect("few")) * 6.0;
    assert!((spent - paid).abs() < 1e-6, "{spent} for {paid}");
    process.signal("TERM");
    assert!(process.end().0.success());
    assert_eq!(ogene.json(&["verify"])["violations"], serde_json::json!([]));
}
