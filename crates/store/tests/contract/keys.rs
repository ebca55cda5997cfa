//! Idempotency keys: the transaction that charges stores the answer, and the same request gets it
//! again.

use domain::{AccountId, Component, Environment, Refusal};
use std::sync::Arc;
use store::{Accepted, KeptAnswer, NewMessage, StoredAnswer};
use storekit::{DAY_MS, Kit, NOW, Sending, key, keyed, naira, sending, twins};
use tokio::task::JoinSet;

twins!(
    a_repeated_request_gets_the_first_answer,
    a_key_of_another_request_is_refused,
    a_refused_send_leaves_its_key_free,
    a_key_belongs_to_an_account_and_an_environment,
    an_answer_is_kept_for_its_window,
    old_answers_are_removed_in_steps,
    a_key_that_comes_twice_in_a_group_is_in_use,
    requests_at_once_with_one_key_commit_once,
    a_failed_commit_keeps_no_answer,
);

fn send(kit: &Kit, account: AccountId, name: &str, request: u8) -> NewMessage {
    keyed(sending(account).message(&kit.store), name, request)
}

async fn kept(kit: &Kit, account: AccountId, name: &str) -> Option<KeptAnswer> {
    let name = key(name);
    let kept = kit
        .store
        .messages()
        .kept_answer(account, Environment::Live, &name);
    kept.await.unwrap()
}

async fn at(kit: &Kit, now_ms: i64, message: NewMessage) -> Accepted {
    let mut answers = kit
        .store
        .messages()
        .accept(now_ms, vec![message])
        .await
        .unwrap();
    answers.pop().unwrap()
}

fn yes(balance: i64) -> Accepted {
    Accepted::Yes {
        balance: naira(balance),
    }
}

fn again(message: &NewMessage, balance: i64) -> Accepted {
    Accepted::Replay(StoredAnswer {
        status: 200,
        body: naira(balance).to_string(),
        message: Some(message.id),
    })
}

async fn a_repeated_request_gets_the_first_answer(kit: &Kit) {
    let id = kit.account(12).await;
    let first = send(kit, id, "one", 1);
    assert_eq!(kit.accept(&first).await, yes(6));
    let kept = kept(kit, id, "one").await.unwrap();
    assert_eq!((kept.request, kept.kept_at_ms), ([1; 16], NOW));
    assert_eq!(kit.accept(&send(kit, id, "two", 1)).await, yes(0));
    // The key is checked before the duplicate window and the balance.
    let mut same = send(kit, id, "one", 1);
    same.draft = Arc::clone(&first.draft);
    for at_ms in [NOW, NOW + DAY_MS - 1] {
        assert_eq!(at(kit, at_ms, same.clone()).await, again(&first, 6));
    }
    assert_eq!(kit.balance(id).await, naira(0));
    assert_eq!(kit.numbers("select count(*) from messages").await, [2]);
}

async fn a_key_of_another_request_is_refused(kit: &Kit) {
    let id = kit.account(100).await;
    assert_eq!(kit.accept(&send(kit, id, "one", 1)).await, yes(94));
    let other = kit.accept(&send(kit, id, "one", 2)).await;
    assert_eq!(other, Accepted::No(Refusal::KeyUsed));
    assert_eq!(kit.balance(id).await, naira(94));
}

async fn a_refused_send_leaves_its_key_free(kit: &Kit) {
    let id = kit.account(0).await;
    let poor = kit.accept(&send(kit, id, "one", 1)).await;
    assert!(matches!(
        poor,
        Accepted::No(Refusal::InsufficientFunds { .. })
    ));
    assert_eq!(kept(kit, id, "one").await, None);
    kit.credit(id, Component::SmsWallet, 10).await;
    assert_eq!(kit.accept(&send(kit, id, "one", 2)).await, yes(4));
}

async fn a_key_belongs_to_an_account_and_an_environment(kit: &Kit) {
    let (one, other) = (kit.account(100).await, kit.account(100).await);
    let simulated = Sending {
        environment: Environment::Sandbox,
        ..sending(one)
    };
    let simulated = keyed(simulated.message(&kit.store), "one", 3);
    assert_eq!(kit.accept(&send(kit, one, "one", 1)).await, yes(94));
    assert_eq!(kit.accept(&send(kit, other, "one", 2)).await, yes(94));
    assert_eq!(kit.accept(&simulated).await, yes(0));
    assert_eq!(kit.accept(&simulated).await, again(&simulated, 0));
}

async fn an_answer_is_kept_for_its_window(kit: &Kit) {
    let id = kit.account(100).await;
    assert_eq!(kit.accept(&send(kit, id, "one", 1)).await, yes(94));
    // The row still exists, without any effect.
    let later = send(kit, id, "one", 2);
    assert_eq!(at(kit, NOW + DAY_MS, later.clone()).await, yes(88));
    let same = send(kit, id, "one", 2);
    assert_eq!(at(kit, NOW + DAY_MS + 1, same).await, again(&later, 88));
}

async fn old_answers_are_removed_in_steps(kit: &Kit) {
    let id = kit.account(100).await;
    kit.accept(&send(kit, id, "old", 1)).await;
    at(kit, NOW + 1_000, send(kit, id, "young", 1)).await;
    let keys = "select key from idempotency_keys order by key";
    kit.tidy(NOW + DAY_MS).await;
    assert_eq!(kit.texts(keys).await, ["old", "young"]);
    kit.tidy(NOW + DAY_MS + 1).await;
    assert_eq!(kit.texts(keys).await, ["young"]);
    let bucket = kit.store.bucket_of(id).0;
    let (numbers, bytes) = if kit.is_sqlite() {
        (
            "(with recursive s (n) as (select 1 union all select n + 1 from s where n < 5000) select n from s)",
            "zeroblob(16)",
        )
    } else {
        (
            "generate_series(1, 5000)",
            "decode(repeat('00', 16), 'hex')",
        )
    };
    let fill = format!(
        "insert into idempotency_keys (bucket, account_id, sandbox, key, request, kept_at_ms, status, message_id, body)
         select {bucket}, 1, false, cast(n.n as text), {bytes}, n.n, 200, {bytes}, '' from {numbers} n"
    );
    kit.run(&fill).await.unwrap();
    assert!(kit.tidy(NOW + DAY_MS + 1).await, "more than a step");
    while kit.tidy(NOW + DAY_MS + 1).await {}
    assert_eq!(kit.texts(keys).await, ["young"]);
}

async fn a_key_that_comes_twice_in_a_group_is_in_use(kit: &Kit) {
    let id = kit.account(100).await;
    let group = vec![send(kit, id, "one", 1), send(kit, id, "one", 1)];
    let answers = kit.store.messages().accept(NOW, group).await.unwrap();
    let in_use = Accepted::No(Refusal::KeyInUse { retry_after_s: 1 });
    assert_eq!(answers, [yes(94), in_use]);
}

/// On PostgreSQL each request may be on another node.
async fn requests_at_once_with_one_key_commit_once(kit: &Kit) {
    for environment in [Environment::Live, Environment::Sandbox] {
        let id = kit.account(1_000).await;
        let mut running = JoinSet::new();
        for _ in 0..50 {
            let base = Sending {
                environment,
                ..sending(id)
            };
            let message = keyed(base.message(&kit.store), "one", 1);
            let store = kit.store.clone();
            running.spawn(async move {
                store
                    .messages()
                    .accept(NOW, vec![message])
                    .await
                    .unwrap()
                    .pop()
            });
        }
        let answers: Vec<_> = running.join_all().await.into_iter().flatten().collect();
        let made = answers
            .iter()
            .filter(|one| matches!(one, Accepted::Yes { .. }));
        assert_eq!(made.count(), 1, "{environment:?}");
        let replayed = answers
            .iter()
            .filter(|one| matches!(one, Accepted::Replay(_)));
        assert_eq!(replayed.count(), 49);
        let messages = format!("select count(*) from messages where account_id = {}", id.0);
        assert_eq!(kit.numbers(&messages).await, [1]);
    }
}

async fn a_failed_commit_keeps_no_answer(kit: &Kit) {
    let id = kit.account(100).await;
    let message = sending(id).message(&kit.store);
    kit.accept(&message).await;
    let taken_id = NewMessage {
        draft: Arc::new(sending(id).draft()),
        ..message
    };
    let failing = keyed(taken_id, "one", 1);
    assert!(
        kit.store
            .messages()
            .accept(NOW, vec![failing])
            .await
            .is_err()
    );
    assert_eq!(kit.accept(&send(kit, id, "one", 1)).await, yes(88));
}
