//! The invariants, one function each, judged by what peers saw.

use super::kept::Kept;
use super::points::Point;
use super::trial::{BINDS, IN_DOUBT_LIMIT, Life, Stage};
use super::workload::{Attempt, REFUSED, Sending, UNREACHED, Workload, is_final, kobo};
use crate::customer::{Client, Customer, wait_until};
use crate::installation::Installation;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// The first octet of a page of several, which is the length of the rest of its header.
const LONG_HEADER: u8 = 5;

/// The ledger of the customer, as an operator sees it.
pub(crate) fn statement(ogene: &Installation, customer: &Customer) -> Vec<Value> {
    ogene.rows(&["wallet", "statement", "--account", &customer.account])
}

/// A process whose disk failed to sync ends by itself, logs it, and gives no answer afterwards.
/// Apart from a kill, nothing else ends a service that has begun to serve.
pub(crate) fn ended_as_it_should(point: &Point, reached: bool, life: &Life) {
    if point.kills() && reached {
        return;
    }
    if point.is_sync() && reached && life.ended_alone {
        assert_eq!(life.code, Some(1), "{life:?}");
        let says_so = life
            .log
            .contains("the disk failed to keep what was written");
        assert!(says_so || !life.listened, "{life:?}");
        return;
    }
    assert!(!life.ended_alone || !life.listened, "{life:?}");
    if !life.ended_alone {
        assert_eq!(life.code, Some(0), "{life:?}");
    }
}

/// Judges all invariants, once nothing is in flight.
pub(crate) fn judge(
    kept: &Kept,
    ogene: &Installation,
    stage: &Stage,
    workload: &mut Workload,
    client: &mut Client,
    earlier: &[Value],
) {
    one_is_accepted_of_equal_sends(workload);
    let calls = stage.receiver.calls();
    for sending in &mut workload.sendings {
        let told = sending.numbers.iter().find_map(|number| calls.get(number));
        if sending.message.is_none() && sending.accepted() {
            sending.message = told.map(|told| told.message.clone());
        }
    }
    everybody_has_a_final_outcome(workload, client);
    outcomes_stay_and_add_up(workload, client);
    every_outcome_is_told(workload, stage);
    receipts_that_were_answered_are_kept(stage);
    pages_go_out_once_or_once_more(workload, stage);
    workload.read_balance(client);
    let entries = statement(ogene, &kept.customer);
    the_ledger_only_grows(earlier, &entries);
    the_balance_is_the_sum_of_the_ledger(workload, &entries);
    nothing_is_below_nothing(workload);
    what_was_accepted_was_charged_its_cost_once(workload, &entries);
    the_cost_is_rate_by_pages_by_recipients(workload);
    who_was_not_reached_was_refunded_once(workload, &entries);
    the_sandbox_touches_no_money(workload, &entries);
}

/// I2. The balance is the sum of the ledger's entries.
fn the_balance_is_the_sum_of_the_ledger(workload: &Workload, entries: &[Value]) {
    let sum: i64 = entries.iter().map(|entry| kobo(&entry["amount"])).sum();
    assert_eq!(workload.balances.last(), Some(&sum));
}

/// I3. No balance is negative, and a send above the balance is refused.
fn nothing_is_below_nothing(workload: &Workload) {
    let all = &workload.balances;
    assert!(all.iter().all(|&balance| balance >= 0), "{all:?}");
    for dear in workload.sendings.iter().filter(|sending| sending.is_dear) {
        assert!(!dear.accepted(), "{dear:?}");
    }
}

/// I4. An accepted send is charged its cost once, and there is no other charge.
fn what_was_accepted_was_charged_its_cost_once(workload: &Workload, entries: &[Value]) {
    let mut charges: BTreeMap<&str, i64> = BTreeMap::new();
    for entry in of_kind(entries, "charge") {
        *charges.entry(text(entry, "message_id")).or_default() -= kobo(&entry["amount"]);
    }
    let live = workload.sendings.iter().filter(|sending| sending.is_live());
    let mut costs: Vec<i64> = live.clone().map(Sending::cost).collect();
    let mut paid: Vec<i64> = charges.values().copied().collect();
    costs.sort_unstable();
    paid.sort_unstable();
    assert_eq!(paid, costs, "each is charged once, and nothing else");
    for sending in live {
        if let Some(message) = sending.message.as_deref() {
            assert_eq!(charges.get(message), Some(&sending.cost()), "{sending:?}");
        }
    }
    let spent: i64 = costs.iter().sum();
    let back: i64 = of_kind(entries, "refund")
        .map(|entry| kobo(&entry["amount"]))
        .sum();
    assert_eq!(
        workload.balances.last(),
        Some(&(workload.credited - spent + back))
    );
}

/// I5. The cost in the answer is rate x pages x recipients.
fn the_cost_is_rate_by_pages_by_recipients(workload: &Workload) {
    for sending in &workload.sendings {
        for attempt in &sending.attempts {
            if let Attempt::Accepted { cost } | Attempt::Replayed { cost } = attempt {
                assert_eq!(*cost, sending.cost(), "{sending:?}");
            }
        }
    }
}

/// I6. The charge of each unreached or cancelled recipient is refunded once, and there is no other refund.
fn who_was_not_reached_was_refunded_once(workload: &Workload, entries: &[Value]) {
    let mut refunds: Vec<(u64, i64)> = of_kind(entries, "refund")
        .map(|entry| {
            let recipient = text(entry, "recipient").parse().expect("digits");
            (recipient, kobo(&entry["amount"]))
        })
        .collect();
    let live = workload.sendings.iter().filter(|sending| sending.is_live());
    let mut owed: Vec<(u64, i64)> = live
        .flat_map(|sending| {
            let owed = |number: &u64| (*number, sending.refund(*number));
            sending.numbers.iter().map(owed)
        })
        .filter(|(_, amount)| *amount > 0)
        .collect();
    refunds.sort_unstable();
    owed.sort_unstable();
    assert_eq!(refunds, owed);
}

/// I7. A send in the sandbox has no entry in the ledger.
fn the_sandbox_touches_no_money(workload: &Workload, entries: &[Value]) {
    for sandbox in workload
        .sendings
        .iter()
        .filter(|sending| sending.is_sandbox)
    {
        let message = sandbox.message.as_deref();
        assert!(message.is_some(), "{sandbox:?}");
        let is_its = |entry: &Value| entry["message_id"].as_str() == message;
        assert!(!entries.iter().any(is_its), "{sandbox:?}");
    }
}

/// I8. Entries of the ledger do not change.
fn the_ledger_only_grows(earlier: &[Value], entries: &[Value]) {
    for entry in earlier {
        assert!(entries.contains(entry), "{entry} is gone");
    }
}

/// I9. The first outcome stays, and the counts of a report match its recipients.
fn outcomes_stay_and_add_up(workload: &Workload, client: &mut Client) {
    for sending in &workload.sendings {
        let Some(report) = sending.report(client) else {
            continue;
        };
        for (number, status) in &report.statuses {
            let earlier = workload.outcomes.get(number);
            assert!(earlier.is_none_or(|earlier| earlier == status), "{number}");
        }
        let count = |status: &str| {
            let all = report.statuses.values();
            all.filter(|found| *found == status).count() as u64
        };
        let (total, delivered) = (report.statuses.len() as u64, count("delivrd"));
        let expected = [total, delivered, 0, total - delivered].map(Some);
        let counts = ["total", "delivered", "pending", "failed"];
        assert_eq!(counts.map(|name| report.summary[name].as_u64()), expected);
        assert_eq!(report.statuses.len(), sending.numbers.len());
    }
}

/// I10. Every accepted recipient ends, with the outcome that the carrier reported.
fn everybody_has_a_final_outcome(workload: &Workload, client: &mut Client) {
    for sending in workload
        .sendings
        .iter()
        .filter(|sending| sending.message.is_some())
    {
        let mut statuses = HashMap::new();
        wait_until("everybody has an outcome", || {
            statuses = sending.report(client).expect("an answer").statuses;
            statuses.values().all(|status| is_final(status))
        });
        for number in &sending.numbers {
            assert_eq!(statuses[number], outcome(sending, *number), "{sending:?}");
        }
    }
}

fn outcome(sending: &Sending, number: u64) -> &'static str {
    match number % 10 {
        _ if sending.is_cancelled() => "cancelled",
        _ if sending.is_sandbox => "delivrd",
        UNREACHED => "undeliv",
        REFUSED => "rejectd",
        _ => "delivrd",
    }
}

/// I11. Every outcome of a message with a callback is reported by callbacks, with one outcome for
/// each recipient. No other outcome is reported.
fn every_outcome_is_told(workload: &Workload, stage: &Stage) {
    let calls = stage.receiver.calls();
    for sending in workload
        .sendings
        .iter()
        .filter(|sending| sending.has_callback)
    {
        for number in &sending.numbers {
            let told = calls.get(number);
            assert_eq!(told.is_some(), sending.accepted(), "{number}: {sending:?}");
            let Some(told) = told else { continue };
            assert_eq!(
                (&*told.status, told.differ),
                (outcome(sending, *number), false)
            );
            assert_eq!(Some(&told.message), sending.message.as_ref());
        }
    }
}

/// I12. One of equal sends within a minute is accepted: the one with answer 200, or one without an
/// answer. A refused send was not accepted, so the next attempt is.
fn one_is_accepted_of_equal_sends(workload: &Workload) {
    for sending in &workload.sendings {
        let (last, before) = sending.attempts.split_last().expect("some");
        if sending.is_dear {
            assert_eq!(*last, Attempt::TooDear, "{sending:?}");
            continue;
        }
        let mut known = Some(false);
        for attempt in before.iter().chain([last]) {
            known = match (attempt, known) {
                (Attempt::Silence, Some(false)) => None,
                (Attempt::Accepted { .. }, Some(false) | None)
                | (Attempt::Duplicate | Attempt::Replayed { .. }, Some(true) | None) => Some(true),
                // A send that was refused by a full queue opened no duplicate window. An accepted
                // one did.
                (Attempt::Silence | Attempt::Unavailable, known) => known,
                _ => panic!("{attempt:?} in {sending:?}"),
            };
        }
        assert_eq!(known, Some(true), "{sending:?}");
    }
}

/// I13. A page is submitted once, and once more if it was in doubt: at most `in_doubt_limit` of
/// each connection that ended.
fn pages_go_out_once_or_once_more(workload: &Workload, stage: &Stage) {
    let mut pages: HashMap<(u64, Vec<u8>), usize> = HashMap::new();
    for received in stage.smsc.received() {
        let number = received.submit.destination.digits.parse().expect("digits");
        let text = received.submit.short_message;
        // The header of another copy of a long message makes it another message for the phone.
        let header = if text.first() == Some(&LONG_HEADER) {
            6
        } else {
            0
        };
        *pages.entry((number, text[header..].to_vec())).or_default() += 1;
    }
    assert!(pages.values().all(|&times| times <= 2), "{pages:?}");
    let copies: usize = pages.values().map(|times| times - 1).sum();
    let binds = usize::try_from(stage.smsc.stats().binds).expect("some");
    let ended = binds.saturating_sub(BINDS).max(BINDS);
    assert!(
        copies <= ended * IN_DOUBT_LIMIT,
        "{copies} copies over {ended} ended connections"
    );
    let sendings = workload.sendings.iter();
    let live = sendings.filter(|sending| sending.is_live() && !sending.is_cancelled());
    let expected: Vec<u64> = live.flat_map(|sending| sending.numbers.clone()).collect();
    let sent = |number: &u64| pages.keys().any(|(sent, _)| sent == number);
    assert!(expected.iter().all(sent), "everybody was sent to");
    let accepted = |(number, _): &&(u64, Vec<u8>)| expected.contains(number);
    assert!(
        pages.keys().all(|page| accepted(&page)),
        "only what was accepted is sent"
    );
}

/// I14. Every receipt is answered in the end, and an answered receipt is durable: no outcome is
/// missing (I10), though the carrier does not repeat the receipt.
fn receipts_that_were_answered_are_kept(stage: &Stage) {
    wait_until("every receipt was answered", || {
        let stats = stage.smsc.stats();
        stage.smsc.waiting() == 0 && stats.answered + stats.put_back >= stats.delivered
    });
}

fn of_kind<'a>(entries: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    entries.iter().filter(move |entry| entry["kind"] == kind)
}

fn text<'a>(entry: &'a Value, name: &str) -> &'a str {
    entry[name].as_str().unwrap_or_default()
}
