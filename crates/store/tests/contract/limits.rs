//! The daily limit of an account.

use domain::{AccountId, Environment, Refusal, day_begins_at, lagos_day};
use store::Accepted;
use storekit::{Kit, NOW, Sending, by, naira, report, sending, twins, undelivered};
use tokio::task::JoinSet;

twins!(
    a_day_takes_its_limit_and_no_more_and_the_next_begins_anew,
    of_sends_at_once_no_more_are_taken_than_the_limit_allows,
    what_was_spent_before_there_was_a_limit_counts,
    neither_refunds_nor_the_sandbox_change_what_is_spent,
    a_limit_that_is_taken_away_limits_nothing,
    a_charge_that_was_not_counted_is_found,
    setting_a_limit_again_corrects_counts_of_a_fast_clock,
);

/// The end of the day of the tests.
fn midnight() -> i64 {
    day_begins_at(lagos_day(NOW) + 1)
}

/// Sends to so many numbers, for 6 naira each.
async fn send(
    kit: &Kit,
    account: AccountId,
    at_ms: i64,
    first: usize,
    recipients: usize,
) -> Accepted {
    let message = Sending {
        recipients,
        first_number: first,
        accepted_at_ms: at_ms,
        ..sending(account)
    };
    let message = message.message(&kit.store);
    let answers = kit
        .store
        .messages()
        .accept(at_ms, vec![message])
        .await
        .unwrap();
    answers.into_iter().next().unwrap()
}

async fn spent(kit: &Kit, account: AccountId) -> i64 {
    let spending = kit
        .store
        .wallets()
        .spending(account)
        .await
        .unwrap()
        .unwrap();
    spending.spent.units() / 10_000
}

async fn set(kit: &Kit, account: AccountId, per_day: Option<i64>) {
    let set = kit
        .store
        .wallets()
        .set_daily_limit(account, per_day.map(naira), by(NOW));
    assert!(set.await.unwrap());
}

async fn a_day_takes_its_limit_and_no_more_and_the_next_begins_anew(kit: &Kit) {
    let id = kit.account(1_000).await;
    set(kit, id, Some(20)).await;
    assert!(matches!(
        send(kit, id, NOW, 1, 3).await,
        Accepted::Yes { .. }
    ));
    let Accepted::No(refusal) = send(kit, id, midnight() - 1, 10, 1).await else {
        panic!("it was taken")
    };
    let expected = Refusal::DailyLimit {
        limit: naira(20),
        left: naira(2),
        needed: naira(6),
        retry_after_s: 1,
    };
    assert_eq!(refusal, expected);
    assert_eq!(kit.balance(id).await, naira(1_000 - 18));
    // The refused send opened no window: at midnight the same send is accepted.
    assert!(matches!(
        send(kit, id, midnight(), 10, 1).await,
        Accepted::Yes { .. }
    ));
    assert_eq!(spent(kit, id).await, 6);
    let nobody = kit
        .store
        .wallets()
        .set_daily_limit(AccountId(1), None, by(NOW));
    assert!(!nobody.await.unwrap());
}

async fn of_sends_at_once_no_more_are_taken_than_the_limit_allows(kit: &Kit) {
    let id = kit.account(1_000).await;
    set(kit, id, Some(30)).await;
    let mut sends = JoinSet::new();
    for count in 0..12 {
        let message = Sending {
            first_number: 100 * count,
            ..sending(id)
        };
        let (store, message) = (kit.store.clone(), message.message(&kit.store));
        sends.spawn(async move { store.messages().accept(NOW, vec![message]).await.unwrap() });
    }
    let answers = sends.join_all().await;
    let taken = |answer: &&Accepted| matches!(answer, Accepted::Yes { .. });
    assert_eq!(answers.iter().flatten().filter(taken).count(), 5);
    assert_eq!(kit.balance(id).await, naira(970));
    assert_eq!(spent(kit, id).await, 30);
}

async fn what_was_spent_before_there_was_a_limit_counts(kit: &Kit) {
    let id = kit.account(1_000).await;
    let yesterday = day_begins_at(lagos_day(NOW)) - 1;
    send(kit, id, yesterday, 1, 7).await;
    send(kit, id, NOW - 1, 100, 2).await;
    set(kit, id, Some(15)).await;
    assert_eq!(spent(kit, id).await, 12);
    assert!(matches!(send(kit, id, NOW, 200, 1).await, Accepted::No(_)));
    set(kit, id, Some(18)).await;
    assert!(matches!(
        send(kit, id, NOW, 200, 1).await,
        Accepted::Yes { .. }
    ));
    let entry = &kit.store.audit().list(Some(id), None, 1).await.unwrap()[0];
    assert_eq!(entry.verb, "account.limit");
    assert_eq!(entry.before, r#"{"per_day":"15.00"}"#);
    assert_eq!(entry.after, r#"{"per_day":"18.00"}"#);
}

async fn neither_refunds_nor_the_sandbox_change_what_is_spent(kit: &Kit) {
    let id = kit.account(1_000).await;
    set(kit, id, Some(6)).await;
    let sandbox = Sending {
        environment: Environment::Sandbox,
        ..sending(id)
    };
    for _ in 0..2 {
        let answer = kit.accept(&sandbox.clone().message(&kit.store)).await;
        assert!(!matches!(answer, Accepted::No(Refusal::DailyLimit { .. })));
    }
    let message = Sending {
        first_number: 50,
        ..sending(id)
    };
    let message = message.message(&kit.store);
    kit.submit(&message).await;
    let failed = undelivered(message.draft.recipients[0]);
    kit.report(report(vec![], vec![failed])).await;
    assert_eq!(kit.balance(id).await, naira(1_000));
    assert_eq!(spent(kit, id).await, 6);
    assert!(matches!(send(kit, id, NOW, 70, 1).await, Accepted::No(_)));
}

async fn a_limit_that_is_taken_away_limits_nothing(kit: &Kit) {
    let id = kit.account(1_000).await;
    set(kit, id, Some(1)).await;
    assert!(matches!(send(kit, id, NOW, 1, 1).await, Accepted::No(_)));
    set(kit, id, None).await;
    let spending = kit.store.wallets().spending(id).await.unwrap().unwrap();
    assert_eq!(spending.per_day, None);
    assert!(matches!(
        send(kit, id, NOW, 1, 1).await,
        Accepted::Yes { .. }
    ));
}

async fn a_charge_that_was_not_counted_is_found(kit: &Kit) {
    let id = kit.account(1_000).await;
    send(kit, id, NOW, 1, 3).await;
    kit.plant("update wallets set spent_today = spent_today - 1")
        .await;
    let sentence = format!("account {id} was charged more in a day than its wallet has counted");
    assert_eq!(
        kit.store.upkeep().verify().await.unwrap().violations,
        [sentence]
    );
}

async fn setting_a_limit_again_corrects_counts_of_a_fast_clock(kit: &Kit) {
    let id = kit.account(1_000).await;
    set(kit, id, Some(30)).await;
    let next_month = NOW + 30 * 86_400_000;
    send(kit, id, NOW, 1, 2).await;
    send(kit, id, next_month, 100, 5).await;
    assert!(matches!(send(kit, id, NOW, 200, 1).await, Accepted::No(_)));
    // Only the charges of today count.
    set(kit, id, Some(30)).await;
    assert_eq!(spent(kit, id).await, 12);
    assert!(matches!(
        send(kit, id, NOW, 200, 3).await,
        Accepted::Yes { .. }
    ));
    assert!(matches!(send(kit, id, NOW, 300, 1).await, Accepted::No(_)));
    assert_eq!(
        kit.store.upkeep().verify().await.unwrap().violations,
        [] as [&str; 0]
    );
}
