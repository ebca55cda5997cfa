//! The workload of a polled carrier at one point: the fault, the restart, and the judgement.

use super::aggregator::Aggregator;
use super::daemon::Daemon;
use super::invariants;
use super::kept::Kept;
use super::points::{self, Point};
use super::runner::Trial;
use super::trial::{Life, end_well};
use super::workload::{REACHED, UNREACHED, is_final, kobo};
use crate::customer::{Client, wait_until};
use crate::installation::Installation;
use serde_json::json;
use std::collections::{BTreeSet, HashMap};
use std::thread;
use std::time::{Duration, Instant};

/// Time in which states must arrive before the service is asked to end. Each is asked for twice.
const FIRST_TIMEOUT: Duration = Duration::from_secs(5);
const LONG_TIMEOUT: Duration = Duration::from_mins(1);
/// Sends of the workload, each to a recipient who is reached and to one who is not.
const SENDS: u64 = 8;
/// The first credit of the customer, and the price of a page, in kobo.
const CREDIT: i64 = 30_000;
const PRICE: i64 = 600;

/// An installation whose carrier is asked for the states of messages.
pub(crate) struct Polled(pub(crate) Kept);

fn configure(ogene: &Installation, aggregator: &Aggregator) {
    let url = &aggregator.url;
    ogene.configure(&format!(
        "[limits]\nsends_per_minute = 1000000\nreports_per_minute = 1000000\n\
         reads_per_minute = 1000000\n\
         [carriers.agg]\nkind = \"http\"\nwindow = 10\n\
         [carriers.agg.submit]\nurl = \"{url}/send\"\n\
         json = {{ to = \"{{to}}\", text = \"{{body}}\", ref = \"{{id}}\" }}\n\
         id = \"/id\"\nerror = \"/code\"\naccepted = [\"ok\"]\n\
         [carriers.agg.receipts]\nstate = \"/status\"\n\
         states = {{ DELIVRD = [\"Delivered\"], UNDELIV = [\"Failed\"] }}\n\
         [carriers.agg.receipts.poll]\nurl = \"{url}/state/{{id}}\"\ninterval = \"1s\"\n\
         [gateways.direct-refund]\ncarriers = [\"agg\"]\nprice = \"6.00\"\n\
         in_doubt_hold = \"300ms\"\n"
    ));
}

/// Returns the recipients of a send.
fn numbers(send: u64) -> [u64; 2] {
    [REACHED, UNREACHED].map(|fate| 2_348_031_000_000 + send * 100 + fate)
}

/// The messages of the sends that were answered.
type Messages = HashMap<u64, String>;

/// Makes each send, under a key of its own. Returns `true` if all are accepted.
fn send_all(client: &mut Client, messages: &mut Messages) -> bool {
    for send in 0..SENDS {
        let to = numbers(send).map(|number| number.to_string());
        let text = format!("Your parcel {send} is on its way");
        let fields = json!({"from": "AdaFoods", "to": to, "body": text});
        let key = format!("parcel-{send}");
        let answer = client.keyed("POST /api/v2/sms", &key, &fields.to_string());
        let Ok(answer) = answer else { continue };
        if answer.status == 200 {
            let message = answer.message_id();
            let known = messages.insert(send, message.clone());
            assert!(known.is_none_or(|known| known == message), "one message");
        }
    }
    u64::try_from(messages.len()) == Ok(SENDS)
}

/// Returns the final status of each recipient that has one.
fn statuses(client: &mut Client, messages: &Messages) -> HashMap<u64, String> {
    let mut all = HashMap::new();
    for message in messages.values() {
        let line = format!("GET /api/v2/delivery-reports?message_id={message}");
        let Ok(answer) = client.request(&line, "") else {
            continue;
        };
        let reports = answer.body["data"]["reports"].as_array();
        for report in reports.into_iter().flatten() {
            let field = |name: &str| report[name].as_str().expect("text").to_owned();
            let (number, status) = (field("recipient"), field("delivery_status"));
            if is_final(&status) {
                all.insert(number.parse().expect("digits"), status);
            }
        }
    }
    all
}

fn are_all_final(client: &mut Client, messages: &Messages) -> bool {
    u64::try_from(statuses(client, messages).len()) == Ok(2 * SENDS)
}

/// Runs the workload once, and waits until every state is final or the service has ended.
fn live(kept: &Kept, ogene: &Installation, point: Option<&Point>) -> (Messages, Life) {
    let mut messages = Messages::new();
    let (command, patience) = match point {
        Some(point) => (point.serve(ogene), FIRST_TIMEOUT),
        None => (points::recorded(ogene), LONG_TIMEOUT),
    };
    let mut service = Daemon::start(command);
    if let Some(address) = service.address.clone() {
        let mut client = Client::new(&address, &kept.customer.token);
        let are_accepted = send_all(&mut client, &mut messages);
        assert!(are_accepted || point.is_some(), "each send is accepted");
        let end = Instant::now() + patience;
        while !service.has_ended() && !are_all_final(&mut client, &messages) && Instant::now() < end
        {
            thread::park_timeout(Duration::from_millis(20));
        }
    }
    let life = Life::end(service, ogene, point);
    (messages, life)
}

/// Each recipient has the state that the carrier gave, was submitted under one reference and is
/// charged once, and refunded once if it was not reached.
fn judge(client: &mut Client, messages: &Messages, aggregator: &Aggregator) {
    let found = statuses(client, messages);
    for (number, status) in &found {
        let expected = if number % 10 == REACHED {
            "delivrd"
        } else {
            "undeliv"
        };
        assert_eq!(status, expected, "{number}");
    }
    let taken = aggregator.taken();
    let numbers: BTreeSet<u64> = taken.iter().map(|one| one.number).collect();
    assert_eq!(numbers, found.keys().copied().collect());
    assert_eq!(taken.len(), numbers.len(), "one reference each");
    let answer = client
        .request("GET /api/v2/balance", "")
        .expect("a balance");
    let left = kobo(&answer.body["balance"]["total_balance"]);
    let sends = i64::try_from(SENDS).expect("few");
    assert_eq!(left, CREDIT - sends * PRICE);
}

impl Trial for Polled {
    fn kept(&self) -> &Kept {
        &self.0
    }

    fn record(&self) -> Vec<Point> {
        let (ogene, _database) = self.0.copy();
        let aggregator = Aggregator::start();
        configure(&ogene, &aggregator);
        let (_, life) = live(&self.0, &ogene, None);
        assert!(life.code == Some(0), "{life:?}");
        points::all(&ogene)
    }

    fn attempt(&self, point: &Point) -> Option<bool> {
        let (ogene, _database) = self.0.copy();
        let aggregator = Aggregator::start();
        configure(&ogene, &aggregator);
        let (mut messages, life) = live(&self.0, &ogene, Some(point));
        let reached = life.reached(&ogene, point);
        invariants::ended_as_it_should(point, reached, &life);
        let service = Daemon::start(ogene.command(&["serve"]));
        let address = service.address.clone().expect("it serves again");
        let mut client = Client::new(&address, &self.0.customer.token);
        wait_until("each send is accepted", || {
            send_all(&mut client, &mut messages)
        });
        wait_until("every state is final", || {
            are_all_final(&mut client, &messages)
        });
        judge(&mut client, &messages, &aggregator);
        end_well(service, &ogene);
        Some(reached)
    }
}
