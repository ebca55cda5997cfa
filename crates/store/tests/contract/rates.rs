//! Rate windows that nodes share.

use database::Error;
use domain::rate::{Permits, RateKey, RateKind, Reservation, Reserved};
use domain::{AccountId, Environment};
use store::Store;
use storekit::{Kit, NOW, fresh, twins};
use tokio::task::JoinSet;

twins!(
    only_a_server_is_shared_by_nodes,
    a_reservation_takes_what_is_there_until_it_is_past,
    accounts_environments_and_kinds_are_counted_apart,
    many_are_reserved_at_once_and_answered_in_order,
    what_was_not_used_goes_back_to_where_it_was_counted,
    who_was_let_in_before_is_counted_though_nothing_is_granted,
    concurrent_reservations_never_exceed_the_limit,
    three_nodes_keep_the_limit_of_an_account_to_a_twentieth,
    a_window_that_cannot_be_read_is_told,
    a_sweep_removes_rate_windows_that_are_long_unused,
    tidying_many_windows_goes_in_steps,
);

const LIMIT: u32 = 300;

fn key() -> RateKey {
    RateKey {
        account: AccountId(fresh()),
        environment: Environment::Live,
        kind: RateKind::Send,
        token: None,
    }
}

fn wanting(wanted: u32, now_ms: i64) -> Reservation {
    Reservation {
        limit: LIMIT,
        wanted,
        now_ms,
        ..Reservation::default()
    }
}

async fn reserve(kit: &Kit, key: RateKey, wanted: u32, now_ms: i64) -> Reserved {
    let asked = wanting(wanted, now_ms);
    one(&kit.store, key, asked).await
}

async fn one(store: &Store, key: RateKey, asked: Reservation) -> Reserved {
    store.rates().reserve(vec![(key, asked)]).await.unwrap()[0]
}

async fn only_a_server_is_shared_by_nodes(kit: &Kit) {
    assert_eq!(kit.store.is_shared(), !kit.is_sqlite());
}

async fn a_reservation_takes_what_is_there_until_it_is_past(kit: &Kit) {
    let key = key();
    let expected = Reserved {
        granted: 200,
        counted_ms: NOW,
        remaining: 100,
        reset_ms: NOW + 60_250,
    };
    assert_eq!(reserve(kit, key, 200, NOW + 100).await, expected);
    assert_eq!(reserve(kit, key, 200, NOW + 30_000).await.granted, 100);
    let full = Reserved {
        granted: 0,
        counted_ms: NOW + 60_000,
        remaining: 0,
        reset_ms: NOW + 60_250,
    };
    assert_eq!(reserve(kit, key, 1, NOW + 60_249).await, full);
    assert_eq!(reserve(kit, key, 300, NOW + 60_250).await.granted, 200);
}

async fn accounts_environments_and_kinds_are_counted_apart(kit: &Kit) {
    let key = key();
    let keys = [
        key,
        RateKey {
            account: AccountId(fresh()),
            ..key
        },
        RateKey {
            environment: Environment::Sandbox,
            ..key
        },
        RateKey {
            kind: RateKind::Report,
            ..key
        },
        RateKey {
            kind: RateKind::Read,
            ..key
        },
    ];
    for granted in [LIMIT, 0] {
        for key in keys {
            assert_eq!(reserve(kit, key, LIMIT, NOW).await.granted, granted);
        }
    }
}

async fn many_are_reserved_at_once_and_answered_in_order(kit: &Kit) {
    let keys: Vec<(u32, RateKey)> = (0..20).map(|number| (number, key())).collect();
    // Every second account exists already, and the order is not that of the keys.
    for &(number, key) in keys.iter().step_by(2) {
        assert_eq!(reserve(kit, key, number, NOW).await.granted, number);
    }
    let asked = keys.iter().rev();
    let asked = asked.map(|&(number, key)| (key, wanting(LIMIT - number, NOW)));
    let reserved = kit.store.rates().reserve(asked.collect()).await.unwrap();
    assert_eq!(reserved.len(), keys.len());
    for (&(number, key), reserved) in keys.iter().rev().zip(reserved) {
        let remaining = if number % 2 == 0 { 0 } else { number };
        assert_eq!(
            (reserved.granted, reserved.remaining),
            (LIMIT - number, remaining)
        );
        assert_eq!(reserve(kit, key, LIMIT, NOW).await.granted, remaining);
    }
    assert_eq!(kit.store.rates().reserve(Vec::new()).await.unwrap(), []);
}

async fn what_was_not_used_goes_back_to_where_it_was_counted(kit: &Kit) {
    let key = key();
    let first = reserve(kit, key, 40, NOW).await;
    reserve(kit, key, 60, NOW + 10_000).await;
    let asked = Reservation {
        unused: 15,
        counted_ms: first.counted_ms,
        ..wanting(5, NOW + 20_000)
    };
    let reserved = one(&kit.store, key, asked).await;
    assert_eq!((reserved.granted, reserved.remaining), (5, LIMIT - 90));
    let later = reserve(kit, key, 0, NOW + 60_250).await;
    assert_eq!(later.remaining, LIMIT - 65);
}

async fn who_was_let_in_before_is_counted_though_nothing_is_granted(kit: &Kit) {
    let key = key();
    let asked = Reservation {
        uncounted: 7,
        ..wanting(0, NOW)
    };
    assert_eq!(one(&kit.store, key, asked).await.granted, 0);
    assert_eq!(reserve(kit, key, 0, NOW).await.remaining, LIMIT - 7);
}

/// Three nodes on one database.
async fn stores(kit: &Kit) -> [Store; 3] {
    let open = async || Store::open(&kit.target).await.unwrap();
    [open().await, open().await, open().await]
}

async fn concurrent_reservations_never_exceed_the_limit(kit: &Kit) {
    let (key, stores) = (key(), stores(kit).await);
    let mut tasks = JoinSet::new();
    for turn in 0..60 {
        let store = stores[turn % 3].clone();
        tasks.spawn(async move { one(&store, key, wanting(7, NOW)).await });
    }
    let granted: u32 = tasks.join_all().await.iter().map(|got| got.granted).sum();
    assert_eq!(granted, LIMIT);
    for store in stores {
        store.close().await;
    }
}

/// A node that admits requests by its permits, at its own pace. Returns the times of admitted and
/// of refused requests.
async fn node(store: Store, key: RateKey, every_ms: i64) -> (Vec<i64>, Vec<i64>) {
    let (mut permits, mut allowed, mut refused) = (Permits::default(), vec![], vec![]);
    for now_ms in (NOW..NOW + 60_000).step_by(usize::try_from(every_ms).unwrap()) {
        let rate = loop {
            if let Some(rate) = permits.answer(LIMIT, 3, now_ms) {
                break rate;
            }
            let asked = permits.ask(1, LIMIT, 3, now_ms);
            permits.take(one(&store, key, asked).await, now_ms);
        };
        if rate.refused.is_none() {
            allowed.push(now_ms);
        } else {
            refused.push(now_ms);
        }
    }
    (allowed, refused)
}

async fn three_nodes_keep_the_limit_of_an_account_to_a_twentieth(kit: &Kit) {
    let stores = stores(kit).await;
    // The requests are even, mostly on one node, and only just above the limit.
    for paces in [[100, 100, 100], [20, 2_000, 7_000], [590, 590, 590]] {
        let (key, mut tasks) = (key(), JoinSet::new());
        for (store, every_ms) in stores.iter().zip(paces) {
            tasks.spawn(node(store.clone(), key, every_ms));
        }
        let nodes = tasks.join_all().await;
        let total: usize = nodes.iter().map(|(allowed, _)| allowed.len()).sum();
        assert!((285..=315).contains(&total), "{total} with {paces:?}");
        assert!(nodes.iter().any(|(_, refused)| !refused.is_empty()));
    }
    for store in stores {
        store.close().await;
    }
}

async fn a_window_that_cannot_be_read_is_told(kit: &Kit) {
    let key = key();
    reserve(kit, key, 1, NOW).await;
    let bytes = if kit.is_sqlite() {
        "x'ffffffffffff'"
    } else {
        "'\\xffffffffffff'::bytea"
    };
    kit.run(&format!("update rates set counts = {bytes}"))
        .await
        .unwrap();
    let other = self::key();
    let asked = vec![(other, wanting(7, NOW)), (key, wanting(1, NOW))];
    let error = kit.store.rates().reserve(asked).await.unwrap_err();
    assert!(matches!(error, Error::Unreadable(_)), "{error}");
}

async fn a_sweep_removes_rate_windows_that_are_long_unused(kit: &Kit) {
    let (old, young) = (key(), key());
    reserve(kit, old, 1, NOW).await;
    reserve(kit, young, 1, NOW).await;
    reserve(kit, young, 1, NOW + 1_000).await;
    let left = async |now_ms| {
        assert!(!kit.store.rates().tidy(now_ms).await.unwrap());
        kit.numbers("select count(*) from rates").await[0]
    };
    assert_eq!(left(NOW + 120_000).await, 2);
    assert_eq!(left(NOW + 120_001).await, 1);
    assert_eq!(
        reserve(kit, young, 0, NOW + 60_250).await.remaining,
        LIMIT - 1
    );
    assert_eq!(left(NOW + 121_001).await, 0);
}

async fn tidying_many_windows_goes_in_steps(kit: &Kit) {
    let counts = if kit.is_sqlite() { "x''" } else { "''::bytea" };
    kit.run(&format!(
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000)
         insert into rates (account_id, sandbox, kind, newest_ms, counts)
         select i, false, 'send', {NOW}, {counts} from n"
    ))
    .await
    .unwrap();
    let mut steps = 1;
    while kit.store.rates().tidy(NOW + 200_000).await.unwrap() {
        steps += 1;
    }
    assert_eq!(steps, 3);
    assert_eq!(kit.numbers("select count(*) from rates").await, [0]);
}
