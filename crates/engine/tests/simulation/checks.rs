//! The invariants at the end of a simulation.

use super::carrier::{SentReceipt, Smsc};
use super::changes;
use super::codes::{self, Code};
use super::customers::{PARENT, PAYERS, Send};
use super::receiver::ORIGINS;
use super::rules::{CARRIERS, RETRIES};
use super::state::{Outside, State};
use super::{payments, transfers};
use database::Commit;
use domain::{DeliveryStatus, Environment, Gateway, MessageId, Money, Priority, Recipient};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Claim, EntryKind, LedgerEntry, Store};

/// A message in the database.
pub(crate) struct Message {
    pub(crate) id: MessageId,
    pub(crate) send: Send,
    pub(crate) ends: BTreeMap<u64, DeliveryStatus>,
    /// The time of the first result of each recipient, in whole seconds.
    pub(crate) results_ms: BTreeMap<u64, i64>,
}

/// Returns a description of the remaining work, empty at the end.
pub(crate) async fn left(outside: &Outside, store: &Store) -> String {
    let mut left = Vec::new();
    let sends = outside.lock().sends.clone();
    let open = sends.iter().filter(|send| !send.settled).count();
    if open > 0 {
        left.push(format!("{open} sends"));
    }
    let is_open = |send: &&Send| send.code.as_ref().is_some_and(Code::is_open);
    let untyped = sends.iter().filter(is_open).count();
    if untyped > 0 {
        left.push(format!("{untyped} codes"));
    }
    {
        let state = outside.lock();
        let top_ups = state.top_ups.iter().filter(|one| one.is_open()).count();
        let transfers = state.transfers.iter().filter(|one| one.is_open()).count();
        if top_ups + transfers > 0 {
            left.push(format!("{top_ups} top-ups and {transfers} transfers"));
        }
    }
    let changing = sends.iter().filter(|send| changes::is_open(send)).count();
    if changing > 0 {
        left.push(format!("{changing} messages to change"));
    }
    for (id, send) in messages(store, &sends).await {
        let report = store
            .messages()
            .report(send.account, send.environment, id, 0, 0);
        let counts = report.await.unwrap().unwrap().counts;
        let pending = counts.total - counts.delivered - counts.failed;
        if pending > 0 {
            left.push(format!("{pending} recipients of {id} without an end"));
        }
    }
    // Callbacks are checked last, since every other step may create some.
    for bucket in store.buckets() {
        for (carrier, recipients, _) in store.queues().depths(bucket, 0).await.unwrap() {
            left.push(format!("{recipients} recipients for {carrier}"));
        }
        for (state, count) in store.outbox().counts(bucket).await.unwrap() {
            if state != "dead" {
                left.push(format!("{count} callbacks that are {state}"));
            }
        }
    }
    left.join(", ")
}

/// Returns the number of submits and callbacks so far.
pub(crate) fn traffic(outside: &Outside) -> (u32, u64) {
    let state = outside.lock();
    let taken = state.smscs.iter().flat_map(|smsc| smsc.taken.values());
    let seen = state.receivers.seen.values().map(|(attempts, _)| attempts);
    (taken.sum(), seen.sum())
}

/// Returns all messages that were charged or answered as accepted.
async fn messages(store: &Store, sends: &[Send]) -> Vec<(MessageId, Send)> {
    let mut found = BTreeMap::new();
    for account in PAYERS {
        for entry in statement(store, account).await {
            if entry.kind != EntryKind::Charge {
                continue;
            }
            let report = store
                .messages()
                .report(account, Environment::Live, entry.subject, 0, 1);
            let first = report.await.unwrap().unwrap().recipients[0].0.digits();
            let send = sends.iter().find(|send| send.recipients[0] == first);
            found.insert(entry.subject, send.unwrap().clone());
        }
    }
    for send in sends {
        for (id, _) in &send.accepted {
            found.entry(*id).or_insert_with(|| send.clone());
        }
    }
    found.into_iter().collect()
}

async fn statement(store: &Store, account: domain::AccountId) -> Vec<LedgerEntry> {
    store
        .wallets()
        .statement(account, None, u32::MAX)
        .await
        .unwrap()
}

/// Returns the time of the first result of each recipient of a message.
async fn results(store: &Store, send: &Send, id: MessageId) -> BTreeMap<u64, i64> {
    let recipients = store.recipients();
    let listed = recipients.list(send.account, id, 0, send.recipients.len());
    let listed = listed.await.unwrap().unwrap_or_default();
    let result = listed.into_iter().filter_map(|one| {
        let delivery = one.delivery?;
        Some((one.recipient.digits(), delivery.submitted_at_ms))
    });
    result.collect()
}

/// Returns all violations of the invariants.
pub(crate) async fn check(outside: &Outside, store: &Store) -> Vec<String> {
    let mut wrong = store.upkeep().verify().await.unwrap().violations;
    let sends = outside.lock().sends.clone();
    let mut all = Vec::new();
    for (id, send) in messages(store, &sends).await {
        let count = send.recipients.len();
        let report = store
            .messages()
            .report(send.account, send.environment, id, 0, count);
        let report = report.await.unwrap().unwrap();
        let statuses = report.recipients.into_iter();
        let ends = statuses.filter_map(|(recipient, end)| Some((recipient.digits(), end?)));
        let ends: BTreeMap<_, _> = ends.filter(|(_, end)| end.is_final()).collect();
        if ends.len() != count {
            wrong.push(format!(
                "{id}: {} of {count} recipients have an end",
                ends.len()
            ));
        }
        let results_ms = results(store, &send, id).await;
        all.push(Message {
            id,
            send,
            ends,
            results_ms,
        });
    }
    let mut ledger = Vec::new();
    for account in PAYERS {
        ledger.extend(statement(store, account).await);
    }
    let dead = store
        .dead_callbacks()
        .origins(None, u32::MAX)
        .await
        .unwrap();
    let dead = dead.into_iter().map(|dead| (dead.origin, dead.callbacks));
    let mut dead_at: BTreeMap<String, i64> = BTreeMap::new();
    for (origin, count) in dead {
        // The list of origins contains the default port, and URLs do not.
        let origin = origin.trim_end_matches(":80").to_owned();
        *dead_at.entry(origin).or_default() += count;
    }
    payments::check(outside, store, &ledger, &mut wrong).await;
    transfers::check(outside, &ledger, &mut wrong);
    let state = outside.lock();
    // A submit that was on its way is stored at the time of the jump.
    let is_of_jump = |one: &String| state.jumped && one.ends_with("a carrier got some of it since");
    wrong.retain(|one| !is_of_jump(one));
    check_sends(&state, &all, &mut wrong);
    check_money(&all, &ledger, &mut wrong);
    for message in all
        .iter()
        .filter(|message| message.send.environment == Environment::Live)
    {
        check_pages(&state, &all, message, &mut wrong);
        check_single_pages(&state, message, &mut wrong);
        check_multipart(&state, message, &mut wrong);
    }
    for message in &all {
        check_schedule(&state, message, &mut wrong);
    }
    changes::check(&state, &all, &mut wrong);
    codes::check(&state, &mut wrong);
    check_callbacks(&state, &all, &dead_at, &mut wrong);
    wrong
}

/// Checks that nothing is in flight or queued, apart from recipients that no carrier claimed.
pub(crate) async fn check_rest(name: &str) -> Vec<String> {
    let store = Store::in_memory(name, Arc::new(Commit::default))
        .await
        .unwrap();
    let mut wrong = Vec::new();
    for bucket in store.buckets() {
        for carrier in CARRIERS.into_iter().chain([engine::SANDBOX]) {
            let orphans = store.queues().orphans(carrier, bucket).await.unwrap();
            let claim = Claim {
                carrier: carrier.into(),
                node: domain::NodeId(1),
                now_ms: i64::MAX / 2,
                until_ms: i64::MAX / 2,
                recipients: 1_000,
                batches: 1_000,
                priority: Priority::Bulk,
                next_id: domain::BatchId(i64::MAX / 2),
            };
            let waiting = store.claims().claim(claim).await.unwrap();
            if !orphans.is_empty() || !waiting.is_empty() {
                wrong.push(format!(
                    "{carrier} left {orphans:?} in hand, {waiting:?} queued"
                ));
            }
        }
    }
    wrong
}

/// Checks that each accepted send exists once, and that no other message exists.
fn check_sends(state: &State, all: &[Message], wrong: &mut Vec<String>) {
    let mut by_recipient: BTreeMap<u64, Vec<&Send>> = BTreeMap::new();
    for send in &state.sends {
        by_recipient
            .entry(send.recipients[0])
            .or_default()
            .push(send);
    }
    for (first, sends) in by_recipient {
        let made: Vec<_> = all
            .iter()
            .filter(|message| message.send.recipients[0] == first)
            .collect();
        let asked = sends.iter().map(|send| send.asked_ms.len()).sum();
        // A code without a key is another one-time password with each request. A cancel of all
        // recipients opens the duplicate window again.
        let cancels = sends.iter().any(|send| send.changes.cancels);
        let is_repeated = state.jumped || sends[0].code.is_some() || cancels;
        let most = if is_repeated && !sends[0].keyed {
            asked
        } else {
            1
        };
        let answered = sends
            .iter()
            .any(|send| send.duplicate || !send.accepted.is_empty());
        let is_live = sends[0].environment == Environment::Live;
        if made.len() > most || (is_live && answered && made.is_empty()) {
            wrong.push(format!("{} messages of {sends:?}", made.len()));
        }
        for (id, cost) in sends.iter().flat_map(|send| &send.accepted) {
            if made.iter().all(|message| message.id != *id) || *cost != sends[0].cost() {
                wrong.push(format!("{id} is missing, or was told to cost {cost}"));
            }
        }
    }
}

/// Checks that nothing went out before its time.
fn check_schedule(state: &State, message: &Message, wrong: &mut Vec<String>) {
    if state.jumped || message.send.changes.is_rescheduled {
        return;
    }
    let due_ms = message.send.due_ms(message.id);
    for recipient in &message.send.recipients {
        for smsc in &state.smscs {
            if let Some(at_ms) = smsc
                .first_ms
                .get(recipient)
                .filter(|at_ms| **at_ms < due_ms)
            {
                wrong.push(format!(
                    "{recipient} was sent to at {at_ms}, due at {due_ms}"
                ));
            }
        }
    }
}

/// Checks for one charge of the cost, and at most one refund after an end without delivery.
fn check_money(all: &[Message], ledger: &[LedgerEntry], wrong: &mut Vec<String>) {
    for message in all {
        let of = |kind| {
            let entries = ledger.iter().filter(move |entry| entry.kind == kind);
            entries.filter(|entry| entry.subject == message.id)
        };
        let charged: Money = of(EntryKind::Charge).map(|entry| entry.amount).sum();
        let cost = match message.send.environment {
            Environment::Live => message.send.cost(),
            Environment::Sandbox => Money::ZERO,
        };
        if charged + cost != Money::ZERO {
            wrong.push(format!("{} was charged {charged}, not {cost}", message.id));
        }
        let margins: Vec<_> = of(EntryKind::Margin).collect();
        let recipients = of(EntryKind::Refund).filter_map(|refund| refund.recipient);
        let recipients = recipients.map(Recipient::digits).collect();
        check_margins(message, &margins, &recipients, wrong);
        let mut refunded = BTreeSet::new();
        for refund in of(EntryKind::Refund) {
            let recipient = refund.recipient.map_or(0, Recipient::digits);
            let end = message.ends.get(&recipient).copied();
            // A delivery after our own expiry corrects the status, and the refund stays.
            let once = refunded.insert((recipient, refund.component));
            // A cancelled recipient is refunded on every gateway.
            let kept = message.send.gateway == Gateway::DirectCorporate
                && end != Some(DeliveryStatus::Cancelled);
            if !once || kept || end.is_none() {
                wrong.push(format!("{refund:?} after {end:?}"));
            }
        }
    }
}

/// Checks that the parent got its margin once, and gave back that of each refunded recipient once.
fn check_margins(
    message: &Message,
    margins: &[&LedgerEntry],
    refunded: &BTreeSet<u64>,
    wrong: &mut Vec<String>,
) {
    let of_page = Money::from_naira(message.send.margin() * message.send.pages);
    let of_message = match message.send.environment {
        Environment::Live => of_page * i64::try_from(message.send.recipients.len()).unwrap(),
        Environment::Sandbox => Money::ZERO,
    };
    let mut given = Money::ZERO;
    let mut back = BTreeMap::new();
    for entry in margins {
        match entry.recipient {
            None => given += entry.amount,
            Some(recipient) => {
                let once = back.insert(recipient.digits(), -entry.amount).is_none();
                if !once || entry.account != PARENT {
                    wrong.push(format!("{entry:?} of {}", message.id));
                }
            }
        }
    }
    let is_owed = of_message != Money::ZERO;
    let owed = refunded.iter().filter(|_| is_owed);
    let owed: BTreeMap<u64, Money> = owed.map(|recipient| (*recipient, of_page)).collect();
    if given != of_message || back != owed {
        let id = message.id;
        wrong.push(format!(
            "{id} gave {given} of {of_message}, {back:?} of {owed:?} went back"
        ));
    }
}

/// Checks that no page was accepted more often than its legs and resends allow. A clock step may
/// have accepted the same send as several messages.
fn check_pages(state: &State, all: &[Message], message: &Message, wrong: &mut Vec<String>) {
    let first = message.send.recipients[0];
    let same = all.iter().filter(|one| one.send.recipients[0] == first);
    let made = u32::try_from(same.count()).unwrap();
    let most = made
        * match message.send.gateway {
            Gateway::DirectCorporate => 1,
            Gateway::DirectRefund | Gateway::International => 2,
            Gateway::Otp => state.otp_copies,
            Gateway::DualBackup => 3,
        };
    for &recipient in &message.send.recipients {
        let refused = state
            .smscs
            .iter()
            .filter_map(|smsc| smsc.refused.get(&recipient));
        // Pages of a resend join those of the first submit by their reference.
        let most = match message.send.pages {
            1 => most,
            _ => most + refused.sum::<u32>(),
        };
        let mut taken: BTreeMap<u8, u32> = BTreeMap::new();
        for ((_, page), count) in state
            .smscs
            .iter()
            .flat_map(|smsc| smsc.taken.range((recipient, 0)..=(recipient, u8::MAX)))
        {
            *taken.entry(*page).or_default() += count;
        }
        for (page, count) in taken {
            if count > most {
                let gateway = message.send.gateway;
                wrong.push(format!(
                    "page {page} to {recipient} on {gateway:?} went out {count} times"
                ));
            }
        }
    }
}

/// Checks the status of a page that was accepted once, if all its receipts agree.
fn check_single_pages(state: &State, message: &Message, wrong: &mut Vec<String>) {
    // A code without a key is another message with each request.
    let is_repeated = message.send.code.is_some() && !message.send.keyed;
    let is_moved = message.send.changes.is_rescheduled;
    if message.send.pages > 1
        || message.send.gateway == Gateway::DualBackup
        || is_repeated
        || is_moved
    {
        return;
    }
    for &recipient in &message.send.recipients {
        let taken = state
            .smscs
            .iter()
            .filter_map(|smsc| smsc.taken.get(&(recipient, 1)));
        let answered_receipts = state
            .smscs
            .iter()
            .filter_map(|smsc| smsc.answered_receipts.get(&recipient));
        let answered_receipts: Vec<&SentReceipt> = answered_receipts.flatten().collect();
        let Some(SentReceipt { at_ms, status, .. }) = answered_receipts.first() else {
            continue;
        };
        let agree = answered_receipts
            .iter()
            .all(|other| other.status == *status);
        let in_time = *at_ms < message.send.ends_ms(message.id);
        let end = message.ends.get(&recipient);
        if taken.sum::<u32>() == 1 && agree && in_time && !state.jumped && end != Some(status) {
            wrong.push(format!("{recipient} ended as {end:?} after {status:?}"));
        }
    }
}

/// Checks that a message is delivered if receipts confirmed each page of its last copy.
fn check_multipart(state: &State, message: &Message, wrong: &mut Vec<String>) {
    let pages = 1..=u8::try_from(message.send.pages).unwrap();
    let is_moved = state.jumped || message.send.changes.is_rescheduled;
    if pages.len() == 1 || message.send.gateway == Gateway::DualBackup || is_moved {
        return;
    }
    let end_ms = message.send.ends_ms(message.id);
    for &recipient in &message.send.recipients {
        // Receipts of a partly rejected copy count as well.
        let sent_to = |smsc: &&Smsc| {
            pages
                .clone()
                .any(|page| smsc.taken.contains_key(&(recipient, page)))
        };
        let sent_to: Vec<&Smsc> = state.smscs.iter().filter(sent_to).collect();
        let [smsc] = sent_to[..] else { continue };
        let Some(answered_receipts) = smsc.answered_receipts.get(&recipient) else {
            continue;
        };
        let copies = pages.clone().map(|page| smsc.taken.get(&(recipient, page)));
        let copies: BTreeSet<_> = copies.collect();
        let is_last = |answered_receipts: &&SentReceipt| {
            copies.first() == Some(&Some(&answered_receipts.copy))
        };
        let last: BTreeSet<u8> = answered_receipts
            .iter()
            .filter(is_last)
            .map(|answered_receipts| answered_receipts.page)
            .collect();
        let is_good = |answered_receipts: &SentReceipt| {
            answered_receipts.status == DeliveryStatus::Delivered
                && answered_receipts.at_ms < end_ms
        };
        // A final rejection has its own status.
        let refused = smsc.refused.contains_key(&recipient);
        // Without the response of a copy, a receipt that named a page of an earlier copy stays
        // assigned to that copy.
        let pending = smsc.pending.get(&recipient).into_iter().flatten();
        let is_named = pending
            .into_iter()
            .any(|copy| copies.first() != Some(&Some(copy)));
        let all_accepted = !refused
            && !is_named
            && copies.len() == 1
            && last.len() == pages.len()
            && answered_receipts.iter().all(is_good);
        let end = message.ends.get(&recipient);
        if all_accepted && end != Some(&DeliveryStatus::Delivered) {
            wrong.push(format!("{recipient} ended as {end:?}, all pages delivered"));
        }
    }
}

/// Checks that each end was posted, unwanted, or given up after all attempts, and that each post
/// had the right status.
fn check_callbacks(
    state: &State,
    all: &[Message],
    dead_at: &BTreeMap<String, i64>,
    wrong: &mut Vec<String>,
) {
    let mut unposted: BTreeMap<&str, i64> = BTreeMap::new();
    let mut never_seen: BTreeMap<&str, u64> = BTreeMap::new();
    for message in all {
        let Some(origin) = message.send.origin else {
            continue;
        };
        for (recipient, end) in &message.ends {
            let subject = (message.id.to_string(), *recipient);
            let posted = state.receivers.taken.get(&subject);
            let (seen, unwanted) = state
                .receivers
                .seen
                .get(&subject)
                .copied()
                .unwrap_or_default();
            let refused = state.receivers.refused.contains(&subject.0);
            if posted.is_none() && !refused {
                *unposted.entry(ORIGINS[origin]).or_default() += 1;
                if !unwanted {
                    *never_seen.entry(ORIGINS[origin]).or_default() +=
                        (RETRIES as u64 + 1).saturating_sub(seen);
                }
            }
            for posted in posted.into_iter().flatten() {
                let corrected = posted == DeliveryStatus::Expired.outside()
                    && *end == DeliveryStatus::Delivered;
                if posted != end.outside() && !corrected {
                    wrong.push(format!("{subject:?} was posted {posted}, and is {end:?}"));
                }
            }
        }
    }
    for (origin, count) in unposted {
        let dead = dead_at.get(origin).copied().unwrap_or(0);
        if dead < count {
            wrong.push(format!(
                "{count} ends were not told to {origin}, {dead} are given up"
            ));
        }
        let missing = never_seen.get(origin).copied().unwrap_or(0);
        let unseen = state.receivers.unseen.get(origin).copied().unwrap_or(0);
        if missing > unseen {
            wrong.push(format!(
                "{origin} was not tried {missing} times where ends were given up, and failed {unseen} times unseen"
            ));
        }
    }
}
