//! A storm of receipts: many of them are repeated, early or unknown, in any order.
//!
//! The expected recipients and wallets are computed from the sends, not from the store.

use super::chance::Chance;
use domain::{Component, DeliveryStatus};
use store::{Claimed, NewMessage, Receipt};
use storekit::{Kit, NOW, Sending, naira, number, page_id, receipt, report, sending, taken, twins};

twins!(receipts_in_any_order_settle_each_recipient_once);

/// Number of receipts. With `OGENE_LONG` it is a million.
const FEW: usize = 20_000;
const MANY: usize = 1_000_000;
/// Percentages of receipts that are repeated, unknown, and earlier than their response.
const TWICE: usize = 30;
const UNKNOWN: usize = 5;
const EARLY: usize = 10;
/// Recipients of a message. Every fifth message has two pages, and every tenth has callbacks.
const RECIPIENTS: usize = 500;
const PRICE: i64 = 6;
/// The size of a report.
const TOGETHER: usize = 2_000;
/// The part of a mixed payment from the first component, in naira.
const PROMO: i64 = 1_000;

/// The times of a storm.
const END: u64 = 1 << 40;

/// A response or receipt of the carrier.
enum JoinedReport {
    Response(usize),
    Receipt(Box<Receipt>),
}

/// A sent message and its expected end.
struct Sent {
    message: NewMessage,
    claimed: Claimed,
    ends: Vec<Option<DeliveryStatus>>,
    pages: i64,
}

/// The expected counts at the end.
#[derive(Debug, Default, Eq, PartialEq)]
struct Tally {
    early: usize,
    unknown: usize,
    ended: usize,
    refunded: usize,
    called_back: usize,
}

fn end(chance: &mut Chance) -> Option<DeliveryStatus> {
    match chance.next() % 100 {
        0..80 => Some(DeliveryStatus::Delivered),
        80..90 => Some(DeliveryStatus::Undelivered),
        90..94 => Some(DeliveryStatus::Expired),
        94..97 => Some(DeliveryStatus::Rejected),
        97..99 => Some(DeliveryStatus::Failed),
        _ => None,
    }
}

async fn send(kit: &Kit, chance: &mut Chance, pages_wanted: usize) -> Vec<Sent> {
    let account = kit.account(100_000_000).await;
    let (mut sent, mut pages_sent) = (Vec::<Sent>::new(), 0);
    while pages_sent < pages_wanted {
        let at = sent.len();
        // Two components pay the first message.
        if at == 0 {
            kit.credit(account, Component::PromoBonus, PROMO).await;
        }
        let pages = if at % 5 == 4 { 2 } else { 1 };
        let message = Sending {
            recipients: RECIPIENTS,
            first_number: 1 + at * RECIPIENTS,
            price: PRICE,
            pages,
            callback_url: (at % 10 == 0).then_some("https://example.ng/r"),
            ..sending(account)
        }
        .message(&kit.store);
        let claimed = kit.accept_and_claim(&message).await.remove(0);
        let ends = (0..RECIPIENTS).map(|_| end(chance)).collect();
        pages_sent += RECIPIENTS * usize::try_from(pages).unwrap();
        sent.push(Sent {
            message,
            claimed,
            ends,
            pages,
        });
    }
    sent
}

/// Returns the status of a page's receipt. The early pages of an undelivered message are delivered.
fn status(end: DeliveryStatus, page: i64, pages: i64) -> DeliveryStatus {
    if page < pages {
        DeliveryStatus::Delivered
    } else {
        end
    }
}

/// All reports by time, and the expected end.
fn storm(sent: &[Sent], chance: &mut Chance, receipts: usize) -> (Vec<(u64, JoinedReport)>, Tally) {
    let (mut joined, mut tally) = (Vec::new(), Tally::default());
    for (index, one) in sent.iter().enumerate() {
        let response = chance.between(END / 20, END - END / 20);
        joined.push((response, JoinedReport::Response(index)));
        for (&to, end) in one.message.draft.recipients.iter().zip(&one.ends) {
            let Some(end) = *end else { continue };
            tally.ended += 1;
            tally.refunded += usize::from(end != DeliveryStatus::Delivered);
            tally.called_back += usize::from(index % 10 == 0);
            for page in 1..=one.pages {
                let heard = receipt(&page_id(to, page), to, status(end, page, one.pages));
                let is_early = chance.is_among(EARLY * 100 / (100 - TWICE - UNKNOWN));
                let first = if is_early {
                    chance.between(0, response)
                } else {
                    chance.between(response + 1, END)
                };
                tally.early += usize::from(is_early);
                joined.push((first, JoinedReport::Receipt(Box::new(heard.clone()))));
                if chance.is_among(TWICE * 100 / (100 - TWICE - UNKNOWN)) {
                    let second = chance.between(response + 1, END);
                    joined.push((second, JoinedReport::Receipt(Box::new(heard))));
                }
            }
        }
    }
    while tally.unknown < receipts * UNKNOWN / 100 {
        let to = number(usize::try_from(chance.between(1, 1_000_000)).unwrap());
        let nobody = receipt(
            &format!("x{}", tally.unknown),
            to,
            DeliveryStatus::Undelivered,
        );
        joined.push((
            chance.between(0, END),
            JoinedReport::Receipt(Box::new(nobody)),
        ));
        tally.unknown += 1;
    }
    joined.sort_by_key(|(at, _)| *at);
    (joined, tally)
}

/// Reports all of it. Returns the numbers of parked and of settled receipts.
async fn bring(kit: &Kit, sent: &[Sent], joined: Vec<(u64, JoinedReport)>) -> (usize, usize) {
    let (mut parked, mut ended) = (0, 0);
    let mut left = joined.into_iter().map(|(_, joined)| joined).peekable();
    // A receipt in the report of its response is not early, so each response has a report of its
    // own.
    while left.peek().is_some() {
        let (mut progress, mut receipts) = (Vec::new(), Vec::new());
        while let Some(next) = left.next_if(|next| {
            let is_response = matches!(next, JoinedReport::Response(_));
            receipts.len() < TOGETHER
                && progress.is_empty()
                && (!is_response || receipts.is_empty())
        }) {
            match next {
                JoinedReport::Response(index) => progress.push(taken(&sent[index].claimed)),
                JoinedReport::Receipt(receipt) => receipts.push(*receipt),
            }
        }
        let (settled, more) = kit.report(report(progress, receipts)).await;
        parked += more;
        ended += settled.outcomes.len();
    }
    (parked, ended)
}

async fn receipts_in_any_order_settle_each_recipient_once(kit: &Kit) {
    let receipts = if std::env::var_os("OGENE_LONG").is_some() {
        MANY
    } else {
        FEW
    };
    let seed = std::env::var("OGENE_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut chance = Chance::new(seed);
    let sent = send(kit, &mut chance, receipts * (100 - TWICE - UNKNOWN) / 100).await;
    let account = sent[0].message.draft.account;
    let before = kit.store.wallets().find(account).await.unwrap().unwrap();
    let (joined, tally) = storm(&sent, &mut chance, receipts);
    let (parked, ended) = bring(kit, &sent, joined).await;
    assert_eq!(parked, tally.early + tally.unknown, "seed {seed}");
    assert_eq!(ended, tally.ended, "each ends once, seed {seed}");
    for one in &sent {
        let wanted = one
            .ends
            .iter()
            .map(|end| end.or(Some(DeliveryStatus::Sent)));
        let wanted: Vec<_> = wanted.collect();
        assert_eq!(kit.statuses(&one.message).await, wanted, "seed {seed}");
    }
    // Refunds go back to the component that paid. If two paid, the one that was drawn last is
    // first.
    let back = PRICE * i64::try_from(tally.refunded).unwrap();
    let after = kit.store.wallets().find(account).await.unwrap().unwrap();
    assert_eq!(after.total(), before.total() + naira(back), "seed {seed}");
    let is_bad =
        |end: &&Option<DeliveryStatus>| end.is_some_and(|end| end != DeliveryStatus::Delivered);
    let of_first = i64::try_from(sent[0].ends.iter().filter(is_bad).count()).unwrap() * PRICE;
    let paid = PRICE * i64::try_from(RECIPIENTS).unwrap() - PROMO;
    let promo = naira((of_first - paid).max(0));
    assert_eq!(after.get(Component::PromoBonus), promo, "seed {seed}");
    let refunded = "select count(distinct recipient) from ledger where kind = 'refund'";
    let count = i64::try_from(tally.refunded).unwrap();
    assert_eq!(kit.numbers(refunded).await, [count]);
    let callbacks = kit.numbers("select count(*) from outbox").await;
    assert_eq!(callbacks, [i64::try_from(tally.called_back).unwrap()]);
    // Unknown receipts stay parked until their time, and are removed.
    let waiting = kit.numbers("select count(*) from parked_receipts").await;
    assert_eq!(waiting, [i64::try_from(tally.unknown).unwrap()]);
    while kit.tidy(NOW + 7 * 3_600_000).await {}
    assert_eq!(
        kit.numbers("select count(*) from parked_receipts").await,
        [0]
    );
}
