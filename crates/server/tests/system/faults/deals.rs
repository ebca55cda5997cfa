//! A workload of money: top-ups, transfers, sends of a sub-account with a margin, and submits by
//! SMPP. Its customer repeats each request until it is answered.

use super::esme::{Esme, User};
use super::provider::Provider;
use super::workload::{REACHED, UNREACHED, kobo};
use crate::customer::{Client, Customer, wait_until};
use serde_json::{Value, json};
use std::thread;

/// The amount of a top-up, the price of a page for the parent, and the margin that the sub-account
/// pays beyond it, all in kobo.
const TOP_UP: i64 = 100_000;
const PRICE: i64 = 600;
pub(crate) const MARGIN: i64 = 200;
/// The first credit of the parent.
const CREDIT: i64 = 30_000;
/// The transfers: direction, naira, and what they bring to the sub-account, in kobo.
const TRANSFERS: [(&str, &str, i64); 3] = [
    ("to_sub", "100.00", 10_000),
    ("from_sub", "30.00", -3_000),
    ("to_sub", "5.50", 550),
];
/// The outcomes of the sends of the sub-account, and of the submits of the parent.
const FATES: [u64; 3] = [REACHED, UNREACHED, REACHED];

/// The two accounts, and the SMPP user of the parent.
pub(crate) struct Parties {
    pub(crate) parent: Customer,
    pub(crate) sub: Customer,
    pub(crate) user: User,
}

/// The addresses of a service.
#[derive(Clone)]
pub(crate) struct Doors {
    pub(crate) http: String,
    pub(crate) smpp: String,
}

/// The way in which a payment is found.
#[derive(Clone, Copy, Debug)]
enum Way {
    Webhook,
    ReturnPage,
    Sweep,
    All,
}

const WAYS: [Way; 5] = [
    Way::Webhook,
    Way::ReturnPage,
    Way::Sweep,
    Way::All,
    Way::Webhook,
];

#[derive(Debug, Default)]
struct TopUp {
    /// Its id and its reference, once they are known.
    known: Option<(String, String)>,
}

/// A submit by SMPP.
#[derive(Debug, Default)]
struct Submit {
    /// The id of its message, once it is known.
    id: Option<String>,
}

/// The requests of the customer.
#[derive(Debug, Default)]
pub(crate) struct Deals {
    top_ups: [TopUp; WAYS.len()],
    submits: [Submit; FATES.len()],
}

/// Returns `true` for an answer of success, and `false` for one after which the request is repeated.
fn is_done(answer: std::io::Result<crate::customer::Answer>) -> Option<Value> {
    let answer = answer.ok()?;
    let may_fail = [200, 402, 409, 502, 503].contains(&answer.status);
    assert!(may_fail, "{} {}", answer.status, answer.body);
    (answer.status == 200).then_some(answer.body)
}

fn text(place: usize) -> String {
    format!("Your parcel {place} is on its way")
}

fn number(series: u64, place: usize) -> u64 {
    2_348_031_000_000 + series * 1_000 + place as u64 * 10 + FATES[place]
}

impl Deals {
    /// Makes all requests once. Returns `true` if each of them was answered with success.
    pub(crate) fn run(&mut self, parties: &Parties, doors: &Doors, provider: &Provider) -> bool {
        let client = |customer: &Customer| Client::new(&doors.http, &customer.token);
        let (mut parent, mut sub) = (client(&parties.parent), client(&parties.sub));
        let mut all = true;
        for place in 0..WAYS.len() {
            all &= self.top_up(place, (parties, doors), &mut parent, provider);
            if let Some((direction, amount, _)) = TRANSFERS.get(place) {
                let id = &parties.sub.account;
                let line = format!("POST /api/v2/sub-accounts/{id}/transfer");
                let fields = json!({"amount": amount, "direction": direction,
                    "reference": format!("order-{place}")});
                all &= is_done(parent.request(&line, &fields.to_string())).is_some();
            }
            if FATES.get(place).is_some() {
                let fields = json!({"from": "AdaFoods", "to": number(1, place).to_string(),
                    "body": text(place), "gateway": "direct-refund"});
                let (line, key) = ("POST /api/v2/sms", format!("parcel-{place}"));
                all &= is_done(sub.keyed(line, &key, &fields.to_string())).is_some();
            }
        }
        let is_submitted = self.submit(parties, doors);
        all && is_submitted
    }

    /// Makes a top-up, pays it, and reports the payment.
    fn top_up(
        &mut self,
        place: usize,
        (parties, doors): (&Parties, &Doors),
        client: &mut Client,
        provider: &Provider,
    ) -> bool {
        let fields = json!({"amount": "1000.00"}).to_string();
        let made = client.keyed("POST /api/v2/top-ups", &format!("top-up-{place}"), &fields);
        let Some(made) = is_done(made) else {
            return false;
        };
        let text = |name: &str| made["data"][name].as_str().expect("a text").to_owned();
        let (id, reference) = (text("top_up_id"), text("reference"));
        let known = self.top_ups[place]
            .known
            .replace((id.clone(), reference.clone()));
        assert!(known.is_none_or(|known| known.0 == id), "one key, one id");
        provider.pay(&reference);
        let hook = || {
            let mut client = Client::new(&doors.http, &parties.parent.token);
            let (header, body) = Provider::hook(&reference);
            let line = "POST /hooks/payments/flutterwave";
            is_done(client.request_with(line, &header, &body)).is_some()
        };
        let page = || {
            let mut client = Client::new(&doors.http, &parties.parent.token);
            let line = format!("GET /payments/return/{id}");
            is_done(client.request(&line, "")).is_some()
        };
        match WAYS[place] {
            Way::Webhook => [hook(), hook()].into_iter().all(|answered| answered),
            Way::ReturnPage => page(),
            Way::Sweep => true,
            Way::All => thread::scope(|scope| {
                let ways = [scope.spawn(hook), scope.spawn(page), scope.spawn(hook)];
                let answered = ways.map(|way| way.join().expect("no panic"));
                answered.into_iter().all(|one| one)
            }),
        }
    }

    /// Submits what was not accepted. A message whose answer was lost is found by its text.
    fn submit(&mut self, parties: &Parties, doors: &Doors) -> bool {
        let mut client = Client::new(&doors.http, &parties.parent.token);
        let Ok(mut esme) = Esme::bind(&doors.smpp, &parties.user) else {
            return false;
        };
        for (place, submit) in self.submits.iter_mut().enumerate() {
            if submit.id.is_some() {
                continue;
            }
            let Some(found) = messages(&mut client) else {
                return false;
            };
            let of_it = |message: &&Value| message["body"] == text(place);
            let mut known = found.iter().filter(of_it).map(|message| {
                let id = message["message_id"].as_str();
                id.expect("an id").to_owned()
            });
            let accepted = match known.next() {
                Some(id) => Ok(id),
                None => esme.submit(number(2, place), &text(place)),
            };
            let Ok(id) = accepted else {
                return false;
            };
            submit.id = Some(id);
        }
        true
    }

    /// Judges the money: each payment, transfer, charge and margin counts once.
    pub(crate) fn judge(
        &self,
        parties: &Parties,
        doors: &Doors,
        entries: impl Fn(&str) -> Vec<Value>,
    ) {
        let (of_parent, of_sub) = (
            entries(&parties.parent.account),
            entries(&parties.sub.account),
        );
        let mut parent = Client::new(&doors.http, &parties.parent.token);
        let mut sub = Client::new(&doors.http, &parties.sub.token);
        let all = top_ups(&mut parent).expect("an answer");
        let mut numbers: Vec<i64> = all
            .iter()
            .map(|one| one["receipt_number"].as_i64().expect("a receipt"))
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 3, 4, 5], "receipts without gap or repeat");
        for top_up in &self.top_ups {
            let (_, reference) = top_up.known.as_ref().expect("made");
            let credited = sum(&of_parent, |one| one["reference"] == **reference);
            assert_eq!(credited, TOP_UP, "{reference}: {of_parent:?}");
        }
        for (place, (.., moved)) in TRANSFERS.iter().enumerate() {
            let reference = format!("order-{place}");
            let is_its = |one: &Value| one["kind"] == "transfer" && one["reference"] == *reference;
            let moves = (sum(&of_parent, is_its), sum(&of_sub, is_its));
            assert_eq!(moves, (-moved, *moved), "{reference}");
        }
        let reached = FATES.iter().filter(|fate| **fate == REACHED).count();
        let reached = i64::try_from(reached).expect("few");
        let of_kind = |entries: &[Value], kind: &str| sum(entries, |one| one["kind"] == kind);
        assert_eq!(of_kind(&of_parent, "margin"), reached * MARGIN);
        let moved: i64 = TRANSFERS.iter().map(|(.., moved)| moved).sum();
        let paid = CREDIT + TOP_UP * 5;
        let expected = paid - moved + reached * (MARGIN - PRICE);
        assert_eq!(balance(&mut parent), expected, "{of_parent:?}");
        let expected = moved - reached * (PRICE + MARGIN);
        assert_eq!(balance(&mut sub), expected, "{of_sub:?}");
        for entries in [&of_parent, &of_sub] {
            let charges = entries.iter().filter(|one| one["kind"] == "charge");
            assert_eq!(charges.count(), FATES.len(), "one charge a message");
        }
        self.query_all(parties, doors);
    }

    /// Asks for the state of each submitted message by SMPP.
    fn query_all(&self, parties: &Parties, doors: &Doors) {
        let mut esme = Esme::bind(&doors.smpp, &parties.user).expect("bound");
        for (submit, fate) in self.submits.iter().zip(FATES) {
            let state = esme.query(submit.id.as_deref().expect("accepted"));
            // SMPP has 2 for DELIVERED and 5 for UNDELIVERABLE.
            let expected = if fate == REACHED { 2 } else { 5 };
            assert_eq!(state.expect("an answer"), expected, "{submit:?}");
        }
    }
}

/// Waits until each payment is credited, and each message has its end.
pub(crate) fn wait_until_over(parties: &Parties, doors: &Doors) {
    wait_until(
        "each payment is credited, and each message has ended",
        || is_over(parties, doors),
    );
}

/// Returns `true` if each payment is credited, and each message has its end.
pub(crate) fn is_over(parties: &Parties, doors: &Doors) -> bool {
    let mut parent = Client::new(&doors.http, &parties.parent.token);
    let mut sub = Client::new(&doors.http, &parties.sub.token);
    let is_paid = top_ups(&mut parent).is_some_and(|all| {
        let paid = all.iter().filter(|one| one["state"] == "paid");
        paid.count() == WAYS.len()
    });
    let are_sent = [&mut parent, &mut sub].into_iter().all(|client| {
        let sent = messages(client);
        sent.is_some_and(|all| {
            let has_ended = |one: &Value| one["summary"]["pending"] == 0;
            all.len() == FATES.len() && all.iter().all(has_ended)
        })
    });
    is_paid && are_sent
}

fn sum(entries: &[Value], is_counted: impl Fn(&Value) -> bool) -> i64 {
    let counted = entries.iter().filter(|one| is_counted(one));
    counted.map(|one| kobo(&one["amount"])).sum()
}

fn balance(client: &mut Client) -> i64 {
    let answer = client.request("GET /api/v2/balance", "");
    kobo(&answer.expect("an answer").body["balance"]["total_balance"])
}

/// Returns the items of a list, if it can be read.
fn list(client: &mut Client, path: &str) -> Option<Vec<Value>> {
    let listed = is_done(client.request(&format!("GET {path}"), ""))?;
    listed["data"]["items"].as_array().cloned()
}

fn messages(client: &mut Client) -> Option<Vec<Value>> {
    list(client, "/api/v2/messages?limit=100")
}

fn top_ups(client: &mut Client) -> Option<Vec<Value>> {
    list(client, "/api/v2/top-ups?limit=100")
}
