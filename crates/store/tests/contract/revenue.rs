//! Sums of money for the operator: each entry once, on its day.

use domain::payment::{
    NewTopUp, Payment, PaymentStatus, Percent, Priced, Received, TopUp, TopUpId,
};
use domain::revenue::Period;
use domain::{AccountId, Component, Environment, Money, lagos_day};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use store::EntryKind;
use storekit::{Kit, NOW, Sending, credit, fresh, naira, report, sending, twins, undelivered};

twins!(
    each_entry_is_summed_once_on_its_day,
    a_top_up_is_summed_with_its_vat_when_it_is_paid,
    money_moves_after_the_oldest_account,
    each_account_is_in_one_range,
);

const DAY_MS: i64 = 86_400_000;
/// A time around the moment of these tests.
const AROUND: Period = Period {
    from_ms: NOW - 2 * DAY_MS,
    until_ms: NOW + 40 * DAY_MS,
};

const EVERYBODY: RangeInclusive<AccountId> = AccountId(i64::MIN)..=AccountId(i64::MAX);

/// The sums of some accounts by account, kind, component, day and whether they are of top-ups.
type Sums = BTreeMap<(AccountId, &'static str, &'static str, i64, bool), Money>;

/// Reads all parts, in two pieces of time that meet at `NOW`.
async fn sums(kit: &Kit, accounts: &[AccountId], period: Period) -> Sums {
    let sums = kit.store.wallets().sums();
    let mut found = Sums::new();
    for (from_ms, until_ms) in [(AROUND.from_ms, NOW), (NOW, AROUND.until_ms)] {
        let made = Period { from_ms, until_ms };
        for part in 0..sums.parts() {
            for sum in sums.ledger(part, made, period, &EVERYBODY).await.unwrap() {
                let kind = (sum.kind.as_str(), sum.component.as_str());
                let key = (sum.account, kind.0, kind.1, sum.day, sum.is_top_up);
                if accounts.contains(&sum.account) {
                    assert_eq!(found.insert(key, sum.amount), None, "{key:?} twice");
                }
            }
        }
    }
    found
}

async fn each_entry_is_summed_once_on_its_day(kit: &Kit) {
    let parent = kit.account(0).await;
    let sub = kit.sub_account(parent, 100).await;
    let message = Sending {
        recipients: 3,
        parent: Some((parent, 2)),
        ..sending(sub)
    };
    let message = message.message(&kit.store);
    kit.submit(&message).await;
    let receipts = vec![undelivered(message.draft.recipients[0])];
    let late = report(vec![], receipts);
    let later_ms = NOW + 3 * DAY_MS;
    kit.report(store::CarrierReport {
        now_ms: later_ms,
        ..late
    })
    .await;
    let (day, later) = (lagos_day(NOW), lagos_day(later_ms));
    let (wallet, universal) = ("sms_wallet", "universal_wallet");
    let all = [
        ((sub, "credit", wallet, day, false), naira(100)),
        ((sub, "charge", wallet, day, false), naira(-18)),
        ((sub, "refund", wallet, later, false), naira(6)),
        ((parent, "margin", universal, day, false), naira(6)),
        ((parent, "margin", universal, later, false), naira(-2)),
    ];
    let accounts = [parent, sub];
    assert_eq!(sums(kit, &accounts, AROUND).await, Sums::from(all));
    // The entries of a later month belong to a message of this one.
    let from_ms = later_ms - DAY_MS;
    let month = Period { from_ms, ..AROUND };
    let of_month = Sums::from([all[2], all[4]]);
    assert_eq!(sums(kit, &accounts, month).await, of_month);
    let until_ms = NOW;
    let before = Period { until_ms, ..AROUND };
    assert_eq!(sums(kit, &accounts, before).await, Sums::new());
}

/// Makes a top-up of 1,000 naira, and pays it at a time.
async fn paid(kit: &Kit, account: AccountId, environment: Environment, at_ms: i64) {
    let mut random = [0; 10];
    random[2..].copy_from_slice(&fresh().to_be_bytes());
    let new = NewTopUp {
        id: TopUpId::new(NOW, random),
        account,
        environment,
        provider: "paystack".to_owned(),
        price: Priced {
            amount: naira(1_000),
            vat: naira(75),
            vat_rate: Percent::from_hundredths(750),
            bonus: naira(50),
            component: Component::UniversalWallet,
        },
        checkout_url: "https://checkout.example.com/x".to_owned(),
        return_url: None,
        expires_ms: 1_000,
    };
    let top_up = TopUp::new(new, NOW);
    let payment = Payment {
        reference: top_up.reference.clone(),
        status: PaymentStatus::Paid,
        received: Received::new(naira(1_075), "NGN", "1"),
    };
    let top_ups = kit.store.top_ups();
    let id = top_up.id;
    top_ups.create(account, top_up, None).await.unwrap();
    top_ups.settle(id, payment, at_ms).await.unwrap();
}

async fn a_top_up_is_summed_with_its_vat_when_it_is_paid(kit: &Kit) {
    let account = kit.account(0).await;
    let other = credit(account, Component::PromoBonus, 7, "bank-1");
    let credited = kit.store.wallets().credit(other, storekit::by(NOW));
    credited.await.unwrap();
    let later_ms = NOW + DAY_MS;
    paid(kit, account, Environment::Live, later_ms).await;
    paid(kit, account, Environment::Live, later_ms).await;
    paid(kit, account, Environment::Sandbox, later_ms).await;
    let day = lagos_day(NOW);
    let credit = EntryKind::Credit.as_str();
    let expected = [
        ((account, credit, "promo_bonus", day, false), naira(7)),
        (
            (account, credit, "universal_wallet", day + 1, true),
            naira(2_000),
        ),
        ((account, credit, "sms_bonus", day + 1, true), naira(100)),
    ];
    assert_eq!(sums(kit, &[account], AROUND).await, Sums::from(expected));

    let sums = kit.store.wallets().sums();
    let found = sums.top_ups(AROUND, &EVERYBODY).await.unwrap();
    let own: Vec<_> = found.iter().filter(|sum| sum.account == account).collect();
    assert_eq!(own.len(), 1);
    assert_eq!((own[0].day, own[0].count), (day + 1, 2));
    let amounts = (own[0].amount, own[0].vat, own[0].bonus);
    assert_eq!(amounts, (naira(2_000), naira(150), naira(100)));
    let until_ms = later_ms;
    let before = Period { until_ms, ..AROUND };
    let found = sums.top_ups(before, &EVERYBODY).await.unwrap();
    assert!(found.iter().all(|sum| sum.account != account));
    let later = AccountId(account.0 + 1)..=AccountId(i64::MAX);
    let found = sums.top_ups(AROUND, &later).await.unwrap();
    assert!(found.iter().all(|sum| sum.account != account));
}

async fn money_moves_after_the_oldest_account(kit: &Kit) {
    kit.account(0).await;
    let oldest = kit.store.wallets().sums().begins_at_ms().await.unwrap();
    assert_eq!(oldest, Some(NOW));
}

async fn each_account_is_in_one_range(kit: &Kit) {
    let accounts = [
        kit.account(100).await,
        kit.account(100).await,
        kit.account(100).await,
    ];
    let sums = kit.store.wallets().sums();
    for size in [1, 2, 1_000_000] {
        let ranges = sums.account_ranges(size).await.unwrap();
        for account in accounts {
            let holding = ranges.iter().filter(|range| range.contains(&account));
            assert_eq!(holding.count(), 1, "{size}");
        }
        let of_own = |range: &RangeInclusive<AccountId>| {
            accounts.iter().filter(|one| range.contains(one)).count() as u64
        };
        assert!(ranges.iter().all(|range| of_own(range) <= u64::from(size)));
        let edges = (ranges[0].start(), ranges[ranges.len() - 1].end());
        assert_eq!(edges, (EVERYBODY.start(), EVERYBODY.end()));
    }
    let mut found = BTreeSet::new();
    for part in 0..sums.parts() {
        let only = accounts[1]..=accounts[1];
        let of_part = sums.ledger(part, AROUND, AROUND, &only).await.unwrap();
        found.extend(of_part.iter().map(|sum| sum.account));
    }
    assert_eq!(found, [accounts[1]].into());
}
