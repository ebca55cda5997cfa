//! The limits of what an account may have hold for requests at the same moment.

use super::top_ups;
use domain::alert::{Alert, AlertTarget, MAX_ALERTS};
use domain::payment::MAX_OPEN_TOP_UPS;
use domain::token::{MAX_TOKENS, TokenTerms};
use domain::{AccountId, Environment};
use store::{Outcome, TokenInfo};
use storekit::{Kit, NOW, by, fresh, naira, twins};
use tokio::task::JoinSet;

twins!(
    alerts_at_once_stay_within_their_limit,
    top_ups_at_once_stay_within_their_limit,
    tokens_at_once_stay_within_their_limit,
);

/// Requests at once, of which one is within the limit.
const AT_ONCE: usize = 6;

/// Waits for the requests. Exactly one of them must be made.
async fn one_is_made<T: std::fmt::Debug + Send + 'static>(requests: JoinSet<Outcome<T>>) {
    let outcomes = requests.join_all().await;
    let is_made = |outcome: &&Outcome<T>| matches!(outcome, Outcome::Made(_));
    assert_eq!(outcomes.iter().filter(is_made).count(), 1, "{outcomes:?}");
}

fn alert(account: AccountId) -> Alert {
    Alert {
        id: format!("al_{:016x}", fresh()),
        account,
        threshold: naira(5),
        target: AlertTarget::Url("https://ada.example.ng/low".to_owned()),
        is_below: false,
        created_at_ms: NOW,
        told_at_ms: None,
    }
}

async fn alerts_at_once_stay_within_their_limit(kit: &Kit) {
    let account = kit.account(0).await;
    for _ in 1..MAX_ALERTS {
        let added = kit.store.alerts().add(alert(account), None).await.unwrap();
        assert!(matches!(added, Outcome::Made(_)), "{added:?}");
    }
    let mut requests = JoinSet::new();
    for _ in 0..AT_ONCE {
        let store = kit.store.clone();
        requests.spawn(async move { store.alerts().add(alert(account), None).await.unwrap() });
    }
    one_is_made(requests).await;
}

async fn top_ups_at_once_stay_within_their_limit(kit: &Kit) {
    let account = kit.account(0).await;
    for _ in 1..MAX_OPEN_TOP_UPS {
        top_ups::created(kit, account).await;
    }
    let mut requests = JoinSet::new();
    for _ in 0..AT_ONCE {
        let store = kit.store.clone();
        let top_up = top_ups::new(account, Environment::Live);
        requests.spawn(async move {
            let created = store.top_ups().create(account, top_up, None).await;
            created.unwrap()
        });
    }
    one_is_made(requests).await;
}

/// Returns a token with a hash of its own.
fn token(account: AccountId) -> (TokenInfo, [u8; 32]) {
    let number = fresh();
    let info = TokenInfo {
        id: format!("tok_{number:016x}"),
        account,
        name: "shop".to_owned(),
        terms: TokenTerms::default(),
        created_at_ms: NOW,
        revoked_at_ms: None,
    };
    let mut hash = [9; 32];
    hash[..8].copy_from_slice(&number.to_be_bytes());
    (info, hash)
}

async fn tokens_at_once_stay_within_their_limit(kit: &Kit) {
    let account = kit.account(0).await;
    let (first, hash) = token(account);
    let id = first.id.clone();
    kit.store.tokens().add(first, hash, by(NOW)).await.unwrap();
    let hash = if kit.is_sqlite() {
        "cast(n.i as blob)"
    } else {
        "convert_to(n.i::text, 'UTF8')"
    };
    let copies = MAX_TOKENS - 2;
    kit.run(&format!(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < {copies})
         insert into tokens (token_id, account_id, name, hash, created_at_ms, scopes)
         select 'copy_' || n.i, t.account_id, t.name, {hash}, t.created_at_ms, t.scopes
         from tokens t cross join n where t.token_id = '{id}'"
    ))
    .await
    .unwrap();
    let mut requests = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (store, (info, hash)) = (kit.store.clone(), token(account));
        requests.spawn(async move {
            let made = store.tokens().request(info, hash, None, by(NOW)).await;
            made.unwrap()
        });
    }
    one_is_made(requests).await;
}
