//! A storm of receipts: many of them twice, before their response, or for nobody, and all in any order.
//!
//! What each recipient and each wallet must come to is reckoned from what was sent, not from what the store did.

use super::chance::Chance;
use super::kit::{
    Kit, NOW, Sending, naira, number, page_id, receipt, report, sending, taken, twins,
};
use domain::{Component, DeliveryStatus};
use store::{Claimed, NewMessage, Receipt};

twins!(whatever_the_order_of_a_storm_of_receipts_each_recipient_ends_once_and_right);

/// Receipts in all; with `OGENE_LONG` a million.
const FEW: usize = 20_000;
const MANY: usize = 1_000_000;
/// Of a hundred receipts so many come a second time, mean nobody, and come before their response.
const TWICE: usize = 30;
const UNKNOWN: usize = 5;
const EARLY: usize = 10;
/// Recipients of a message; every fifth message has two pages, every tenth is called back.
const RECIPIENTS: usize = 500;
const PRICE: i64 = 6;
/// What comes together is reported together.
const TOGETHER: usize = 2_000;
/// What a message paid by two components takes from the first, in naira.
const PROMO: i64 = 1_000;

/// The moments of a storm.
const END: u64 = 1 << 40;

/// What comes from the carrier at a moment.
enum News {
    Response(usize),
    Receipt(Box<Receipt>),
}

/// What was sent, and what it must come to.
struct Sent {
    message: NewMessage,
    claimed: Claimed,
    ends: Vec<Option<DeliveryStatus>>,
    pages: i64,
}

/// What must have happened in the end.
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
        // The first is paid by two components.
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

/// What the receipt of a page says: of a long message that is not delivered, the first page is.
fn word(end: DeliveryStatus, page: i64, pages: i64) -> DeliveryStatus {
    if page < pages {
        DeliveryStatus::Delivered
    } else {
        end
    }
}

/// All that comes, by moment, and what it must come to.
fn storm(sent: &[Sent], chance: &mut Chance, receipts: usize) -> (Vec<(u64, News)>, Tally) {
    let (mut news, mut tally) = (Vec::new(), Tally::default());
    for (index, one) in sent.iter().enumerate() {
        let response = chance.between(END / 20, END - END / 20);
        news.push((response, News::Response(index)));
        for (&to, end) in one.message.draft.recipients.iter().zip(&one.ends) {
            let Some(end) = *end else { continue };
            tally.ended += 1;
            tally.refunded += usize::from(end != DeliveryStatus::Delivered);
            tally.called_back += usize::from(index % 10 == 0);
            for page in 1..=one.pages {
                let heard = receipt(&page_id(to, page), to, word(end, page, one.pages));
                let is_early = chance.is_among(EARLY * 100 / (100 - TWICE - UNKNOWN));
                let first = if is_early {
                    chance.between(0, response)
                } else {
                    chance.between(response + 1, END)
                };
                tally.early += usize::from(is_early);
                news.push((first, News::Receipt(Box::new(heard.clone()))));
                if chance.is_among(TWICE * 100 / (100 - TWICE - UNKNOWN)) {
                    let second = chance.between(response + 1, END);
                    news.push((second, News::Receipt(Box::new(heard))));
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
        news.push((chance.between(0, END), News::Receipt(Box::new(nobody))));
        tally.unknown += 1;
    }
    news.sort_by_key(|(at, _)| *at);
    (news, tally)
}

/// Reports all of it; gives what was parked and settled on the way.
async fn bring(kit: &Kit, sent: &[Sent], news: Vec<(u64, News)>) -> (usize, usize) {
    let (mut parked, mut ended) = (0, 0);
    let mut left = news.into_iter().map(|(_, news)| news).peekable();
    // What comes in one report with its response is not early; so a response comes in a report of its own.
    while left.peek().is_some() {
        let (mut progress, mut receipts) = (Vec::new(), Vec::new());
        while let Some(next) = left.next_if(|next| {
            let is_response = matches!(next, News::Response(_));
            receipts.len() < TOGETHER
                && progress.is_empty()
                && (!is_response || receipts.is_empty())
        }) {
            match next {
                News::Response(index) => progress.push(taken(&sent[index].claimed)),
                News::Receipt(receipt) => receipts.push(*receipt),
            }
        }
        let (settled, more) = kit.report(report(progress, receipts)).await;
        parked += more;
        ended += settled.outcomes.len();
    }
    (parked, ended)
}

async fn whatever_the_order_of_a_storm_of_receipts_each_recipient_ends_once_and_right(kit: &Kit) {
    let receipts = if std::env::var_os("OGENE_LONG").is_some() {
        MANY
    } else {
        FEW
    };
    let seed = std::env::var("OGENE_SEED").map_or(1, |seed| seed.parse().unwrap());
    let mut chance = Chance::new(seed);
    let sent = send(kit, &mut chance, receipts * (100 - TWICE - UNKNOWN) / 100).await;
    let account = sent[0].message.draft.account;
    let before = kit.store.wallet(account).await.unwrap().unwrap();
    let (news, tally) = storm(&sent, &mut chance, receipts);
    let (parked, ended) = bring(kit, &sent, news).await;
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
    // Money: what one component paid goes back to it; what two paid, to the one that was drawn last first.
    let back = PRICE * i64::try_from(tally.refunded).unwrap();
    let after = kit.store.wallet(account).await.unwrap().unwrap();
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
    let callbacks = kit.numbers("select count(*) from callbacks").await;
    assert_eq!(callbacks, [i64::try_from(tally.called_back).unwrap()]);
    // Those that mean nobody wait for their time, and go.
    let waiting = kit.numbers("select count(*) from parked_receipts").await;
    assert_eq!(waiting, [i64::try_from(tally.unknown).unwrap()]);
    while kit.tidy(NOW + 7 * 3_600_000).await {}
    assert_eq!(
        kit.numbers("select count(*) from parked_receipts").await,
        [0]
    );
}
