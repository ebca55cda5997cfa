//! Accepting: one transaction charges, stores the message and makes its batches.

use domain::{Component, Environment, Money, Purse, Refusal};
use std::sync::Arc;
use store::{Accepted, EntryKind, NewMessage, Store};
use storekit::{Kit, NOW, Sending, naira, sending, spread, twins};

twins!(
    a_charge_is_one_ledger_entry_per_component_in_order,
    a_refusal_costs_the_others_of_the_group_nothing,
    a_refused_send_never_arms_the_window,
    the_window_closes_after_exactly_60_seconds,
    open_windows_go_with_a_clock_that_is_set,
    duplicate_windows_do_not_merge_after_a_clock_step,
    open_windows_outlast_the_process,
    a_repeat_is_told_as_it_would_be_refused,
    what_was_not_accepted_for_a_fault_leaves_no_window,
    the_same_text_twice_in_one_group_is_a_duplicate,
    the_sandbox_needs_no_wallet,
    a_message_that_costs_nothing_is_accepted,
    messages_without_end_are_accepted_in_one_group,
    a_message_id_that_comes_twice_changes_nothing,
);
spread!(a_refusal_costs_the_others_of_the_group_nothing,);

fn yes(balance: i64) -> Accepted {
    Accepted::Yes {
        balance: naira(balance),
    }
}

/// Returns the same message with another id and the same fingerprint.
fn again(kit: &Kit, message: &NewMessage) -> NewMessage {
    NewMessage {
        draft: message.draft.clone(),
        ..sending(message.draft.account).message(&kit.store)
    }
}

/// Returns another message of the same account with a taken id, which no database accepts.
fn another_with_the_id_of(message: NewMessage) -> NewMessage {
    NewMessage {
        draft: Arc::new(sending(message.draft.account).draft()),
        ..message
    }
}

async fn a_charge_is_one_ledger_entry_per_component_in_order(kit: &Kit) {
    let id = kit.account(0).await;
    for (component, naira) in Component::ALL.into_iter().zip([1, 2, 0, 4, 5, 6]) {
        if naira > 0 {
            kit.credit(id, component, naira).await;
        }
    }
    let message = Sending {
        price: 9,
        ..sending(id)
    }
    .message(&kit.store);
    assert_eq!(kit.accept(&message).await, yes(9));
    let left: Purse = [
        (Component::MainBalance, naira(3)),
        (Component::UniversalWallet, naira(6)),
    ]
    .into_iter()
    .collect();
    assert_eq!(kit.store.wallets().find(id).await.unwrap(), Some(left));
    let charges: Vec<(Component, Money)> = kit
        .store
        .wallets()
        .statement(id, None, 100)
        .await
        .unwrap()
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::Charge && entry.subject == message.id)
        .map(|entry| (entry.component, entry.amount))
        .collect();
    let mut drawn = vec![
        (Component::MainBalance, naira(-2)),
        (Component::PromoBonus, naira(-1)),
        (Component::SmsWallet, naira(-4)),
        (Component::VolumeBonus, naira(-2)),
    ];
    drawn.sort_by_key(|(component, _)| std::cmp::Reverse(component.as_str()));
    assert_eq!(charges, drawn);
    let paid_from = kit.texts("select paid_from from messages").await;
    assert_eq!(
        paid_from,
        ["promo_bonus:10000,volume_bonus:20000,sms_wallet:40000,main_balance:20000"]
    );
}

async fn a_refusal_costs_the_others_of_the_group_nothing(kit: &Kit) {
    let (rich, poor) = (kit.account(100).await, kit.account(10).await);
    let poor = kit.in_bucket_of(rich, poor, 10).await;
    let known = sending(rich).message(&kit.store);
    assert_eq!(kit.accept(&known).await, yes(94));
    let group = vec![
        sending(rich).message(&kit.store),
        again(kit, &known),
        Sending {
            recipients: 2,
            ..sending(poor)
        }
        .message(&kit.store),
        sending(poor).message(&kit.store),
        sending(rich).message(&kit.store),
    ];
    let answers = kit.store.messages().accept(NOW, group).await.unwrap();
    let short = Refusal::InsufficientFunds {
        needed: naira(12),
        available: naira(10),
    };
    assert_eq!(
        answers,
        [
            yes(88),
            Accepted::No(Refusal::Duplicate),
            Accepted::No(short),
            yes(4),
            yes(82)
        ]
    );
    assert_eq!(kit.balance(rich).await, naira(82));
    assert_eq!(kit.balance(poor).await, naira(4));
    assert_eq!(kit.numbers("select count(*) from messages").await, [4]);
    assert_eq!(kit.numbers("select count(*) from batches").await, [4]);
}

async fn a_refused_send_never_arms_the_window(kit: &Kit) {
    let id = kit.account(5).await;
    let message = sending(id).message(&kit.store);
    assert!(matches!(kit.accept(&message).await, Accepted::No(_)));
    kit.credit(id, Component::SmsWallet, 10).await;
    assert_eq!(kit.accept(&message).await, yes(9));
    // A duplicate is refused, and does not lengthen the window.
    let refused = kit
        .store
        .messages()
        .accept(NOW + 59_000, vec![again(kit, &message)])
        .await
        .unwrap();
    assert_eq!(refused, [Accepted::No(Refusal::Duplicate)]);
    let late = kit
        .store
        .messages()
        .accept(NOW + 60_000, vec![again(kit, &message)])
        .await
        .unwrap();
    assert_eq!(late, [yes(3)]);
    // The send is refused for lack of money, after its window has closed: the window stays closed.
    let poor = kit
        .store
        .messages()
        .accept(NOW + 200_000, vec![again(kit, &message)])
        .await
        .unwrap();
    assert!(matches!(
        poor[..],
        [Accepted::No(Refusal::InsufficientFunds { .. })]
    ));
    kit.credit(id, Component::SmsWallet, 10).await;
    let paid = kit
        .store
        .messages()
        .accept(NOW + 200_001, vec![again(kit, &message)])
        .await
        .unwrap();
    assert_eq!(paid, [yes(7)]);
}

async fn the_window_closes_after_exactly_60_seconds(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    assert_eq!(kit.accept(&message).await, yes(94));
    for (after_ms, answer) in [
        (1, None),
        (59_999, None),
        (60_000, Some(88)),
        (119_999, None),
    ] {
        let same = again(kit, &message);
        let answers = kit
            .store
            .messages()
            .accept(NOW + after_ms, vec![same])
            .await
            .unwrap();
        let wanted = answer.map_or(Accepted::No(Refusal::Duplicate), yes);
        assert_eq!(answers, [wanted], "{after_ms} ms later");
    }
}

async fn open_windows_go_with_a_clock_that_is_set(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let mut armed_ms = NOW;
    assert_eq!(kit.accept(&message).await, yes(94));
    for (times, set_by_ms) in [7_200_000, -7_200_000, -90_000_000].into_iter().enumerate() {
        let now_ms = armed_ms + 10_000 + set_by_ms;
        kit.store
            .upkeep()
            .follow_clock(now_ms, set_by_ms)
            .await
            .unwrap();
        armed_ms += set_by_ms;
        let at = async |now_ms| {
            let again = again(kit, &message);
            kit.store
                .messages()
                .accept(now_ms, vec![again])
                .await
                .unwrap()
        };
        let duplicate = [Accepted::No(Refusal::Duplicate)];
        assert_eq!(at(now_ms).await, duplicate);
        assert_eq!(at(armed_ms + 59_999).await, duplicate);
        let left = 88 - 6 * i64::try_from(times).unwrap();
        assert_eq!(at(armed_ms + 60_000).await, [yes(left)]);
        armed_ms += 60_000;
    }
}

async fn duplicate_windows_do_not_merge_after_a_clock_step(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    assert_eq!(kit.accept(&message).await, yes(94));
    let at = async |now_ms| {
        let again = again(kit, &message);
        kit.store
            .messages()
            .accept(now_ms, vec![again])
            .await
            .unwrap()
    };
    // The first window closed when the second was opened a minute later. If it were lengthened by a
    // minute, it would close with the second.
    assert_eq!(at(NOW + 60_000).await, [yes(88)]);
    let now_ms = NOW + 120_010;
    kit.store
        .upkeep()
        .follow_clock(now_ms, 60_000)
        .await
        .unwrap();
    let duplicate = [Accepted::No(Refusal::Duplicate)];
    assert_eq!(at(NOW + 179_999).await, duplicate);
    assert_eq!(at(NOW + 180_000).await, [yes(82)]);
}

async fn open_windows_outlast_the_process(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    assert_eq!(kit.accept(&message).await, yes(94));
    let next = Store::open(&kit.target).await.unwrap();
    let at = async |now_ms| {
        next.messages()
            .accept(now_ms, vec![again(kit, &message)])
            .await
    };
    assert_eq!(
        at(NOW + 59_999).await.unwrap(),
        [Accepted::No(Refusal::Duplicate)]
    );
    assert_eq!(at(NOW + 60_000).await.unwrap(), [yes(88)]);
    next.close().await;
}

async fn a_repeat_is_told_as_it_would_be_refused(kit: &Kit) {
    let id = kit.account(5).await;
    let message = sending(id).message(&kit.store);
    let fingerprint = message.draft.fingerprint;
    let is_repeat = async |store: &Store, now_ms| {
        let asked = store.messages().is_repeat(id, fingerprint, now_ms).await;
        asked.unwrap()
    };
    assert!(matches!(kit.accept(&message).await, Accepted::No(_)));
    assert!(!is_repeat(&kit.store, NOW).await, "it was refused");
    kit.credit(id, Component::SmsWallet, 10).await;
    assert_eq!(kit.accept(&message).await, yes(9));
    // One node remembers the window, and the other has not read it yet.
    let next = Store::open(&kit.target).await.unwrap();
    for store in [&kit.store, &next] {
        assert!(is_repeat(store, NOW).await);
        assert!(is_repeat(store, NOW + 59_999).await);
        assert!(!is_repeat(store, NOW + 60_000).await);
    }
    next.close().await;
}

async fn what_was_not_accepted_for_a_fault_leaves_no_window(kit: &Kit) {
    let id = kit.account(100).await;
    let message = sending(id).message(&kit.store);
    kit.accept(&message).await;
    let same_id = another_with_the_id_of(message);
    let other_id = again(kit, &same_id);
    assert!(
        kit.store
            .messages()
            .accept(NOW, vec![same_id])
            .await
            .is_err()
    );
    assert_eq!(kit.accept(&other_id).await, yes(88));
}

async fn the_same_text_twice_in_one_group_is_a_duplicate(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let group = vec![message.clone(), again(kit, &message)];
    let answers = kit.store.messages().accept(NOW, group).await.unwrap();
    assert_eq!(answers, [yes(94), Accepted::No(Refusal::Duplicate)]);
}

async fn the_sandbox_needs_no_wallet(kit: &Kit) {
    let id = kit.account(3).await;
    let sandbox = Sending {
        environment: Environment::Sandbox,
        ..sending(id)
    };
    let message = sandbox.message(&kit.store);
    assert_eq!(kit.accept(&message).await, yes(0));
    assert_eq!(
        kit.accept(&again(kit, &message)).await,
        Accepted::No(Refusal::Duplicate)
    );
    kit.submit(&sandbox.message(&kit.store)).await;
    let refunds = storekit::report(
        vec![],
        vec![storekit::undelivered(message.draft.recipients[0])],
    );
    kit.report(refunds).await;
    assert_eq!(kit.balance(id).await, naira(3));
    assert_eq!(
        kit.store
            .wallets()
            .statement(id, None, 10)
            .await
            .unwrap()
            .len(),
        1
    );
}

async fn a_message_that_costs_nothing_is_accepted(kit: &Kit) {
    let id = kit.account(0).await;
    let message = Sending {
        price: 0,
        ..sending(id)
    }
    .message(&kit.store);
    assert_eq!(kit.accept(&message).await, yes(0));
    assert_eq!(
        kit.store.wallets().statement(id, None, 10).await.unwrap(),
        []
    );
}

async fn messages_without_end_are_accepted_in_one_group(kit: &Kit) {
    let id = kit.account(10_000).await;
    let group: Vec<NewMessage> = (0..300).map(|_| sending(id).message(&kit.store)).collect();
    let answers = kit.store.messages().accept(NOW, group).await.unwrap();
    assert_eq!(answers.len(), 300);
    assert_eq!(answers[299], yes(10_000 - 1_800));
    assert_eq!(kit.balance(id).await, naira(8_200));
}

async fn a_message_id_that_comes_twice_changes_nothing(kit: &Kit) {
    let id = kit.account(100).await;
    let message = sending(id).message(&kit.store);
    kit.accept(&message).await;
    let same_id = another_with_the_id_of(message);
    assert!(
        kit.store
            .messages()
            .accept(NOW, vec![same_id])
            .await
            .is_err()
    );
    assert_eq!(kit.balance(id).await, naira(94));
}
