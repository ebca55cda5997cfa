//! Sub-accounts: margins, refunds and transfers.

use super::cancelling::cancel;
use domain::resale::{Direction, SubAccountChange, TransferRequest};
use domain::{AccountId, AccountStatus, Component, Money, ObjectRefusal, Queued, Refusal};
use std::sync::Arc;
use store::{Accepted, EntryKind, Outcome, Transfer};
use storekit::{
    Kit, NOW, Sending, by, message_id, naira, report, sending, spread, twins, two_legs, undelivered,
};

twins!(
    a_send_of_a_sub_account_pays_its_parent_the_margin,
    a_refund_takes_the_charge_and_the_margin_back_once,
    each_recipient_takes_its_own_margin_back,
    a_cancel_takes_charge_and_margin_back_on_every_gateway,
    an_unused_second_leg_leaves_the_margin,
    a_parent_below_zero_sends_again_when_it_is_not,
    a_stopped_parent_stops_its_sub_accounts,
    a_transfer_leaves_the_sum_and_counts_once,
    a_transfer_never_gives_more_than_is_held,
    sends_and_transfers_at_the_same_moment_lose_nothing,
    a_parent_changes_its_own_sub_accounts_alone,
    a_parent_cannot_start_what_the_operator_stopped,
    a_sub_account_has_none,
    margins_and_transfers_that_do_not_add_up_are_found,
);

spread!(
    a_send_of_a_sub_account_pays_its_parent_the_margin,
    a_refund_takes_the_charge_and_the_margin_back_once,
    a_transfer_leaves_the_sum_and_counts_once,
);

/// A message of a sub-account for 6 naira, of which its parent gets 2.
fn of_sub(account: AccountId, parent: AccountId) -> Sending {
    Sending {
        parent: Some((parent, 2)),
        ..sending(account)
    }
}

async fn a_send_of_a_sub_account_pays_its_parent_the_margin(kit: &Kit) {
    let parent = kit.account(10).await;
    let sub = kit.sub_account(parent, 100).await;
    let message = kit
        .accepted(&Sending {
            recipients: 3,
            ..of_sub(sub, parent)
        })
        .await;
    assert_eq!(
        (kit.balance(sub).await, kit.balance(parent).await),
        (naira(82), naira(16))
    );
    let entries = kit
        .store
        .wallets()
        .statement(parent, None, 1)
        .await
        .unwrap();
    let entry = &entries[0];
    assert_eq!((entry.subject, entry.kind), (message.id, EntryKind::Margin));
    assert_eq!(
        (entry.amount, entry.component),
        (naira(6), Component::UniversalWallet)
    );
    // Without the money of the sub-account nobody pays.
    let dear = Sending {
        price: 83,
        ..of_sub(sub, parent)
    };
    let answer = kit.accept(&dear.message(&kit.store)).await;
    assert!(
        matches!(answer, Accepted::No(Refusal::InsufficientFunds { .. })),
        "{answer:?}"
    );
    assert_eq!(kit.balance(parent).await, naira(16));
}

async fn a_refund_takes_the_charge_and_the_margin_back_once(kit: &Kit) {
    let parent = kit.account(0).await;
    let sub = kit.sub_account(parent, 100).await;
    let message = Sending {
        recipients: 2,
        ..of_sub(sub, parent)
    };
    let message = message.message(&kit.store);
    kit.submit(&message).await;
    for _ in 0..2 {
        let receipts = vec![undelivered(message.draft.recipients[0])];
        kit.report(report(vec![], receipts)).await;
        assert_eq!(kit.balance(sub).await, naira(94));
        assert_eq!(kit.balance(parent).await, naira(2));
    }
    let entries = kit
        .store
        .wallets()
        .statement(parent, None, 10)
        .await
        .unwrap();
    let amounts: Vec<Money> = entries.iter().map(|entry| entry.amount).collect();
    assert_eq!(amounts, [naira(-2), naira(4)]);
}

async fn each_recipient_takes_its_own_margin_back(kit: &Kit) {
    let parent = kit.account(0).await;
    let sub = kit.sub_account(parent, 100).await;
    let message = Sending {
        recipients: 3,
        ..of_sub(sub, parent)
    };
    let mut message = message.message(&kit.store);
    // The last two are of another network, over which the parent pays 1 naira more.
    let draft = Arc::make_mut(&mut message.draft);
    let mut dearer = draft.classes[0].clone();
    dearer.margin = naira(1);
    dearer.recipients = draft.classes[0].recipients.split_off(1);
    draft.classes.push(dearer);
    kit.submit(&message).await;
    assert_eq!(kit.balance(parent).await, naira(4));
    for (place, of_parent, of_sub) in [(1, 3, 88), (0, 1, 94), (2, 0, 100)] {
        let receipts = vec![undelivered(message.draft.recipients[place])];
        kit.report(report(vec![], receipts)).await;
        assert_eq!(kit.balance(parent).await, naira(of_parent));
        assert_eq!(kit.balance(sub).await, naira(of_sub));
    }
}

async fn a_cancel_takes_charge_and_margin_back_on_every_gateway(kit: &Kit) {
    let parent = kit.account(0).await;
    let sub = kit.sub_account(parent, 100).await;
    let corporate = domain::Terms {
        refund_undelivered: false,
        two_legs: false,
    };
    for one in [
        Sending {
            terms: corporate,
            ..sending(sub)
        },
        two_legs(sub),
    ] {
        let three = Sending {
            recipients: 3,
            parent: Some((parent, 2)),
            ..one
        };
        let message = kit.accepted(&three).await;
        assert_eq!(kit.balance(parent).await, naira(6));
        cancel(kit, &message).await;
        assert_eq!(
            (kit.balance(sub).await, kit.balance(parent).await),
            (naira(100), naira(0))
        );
    }
}

async fn an_unused_second_leg_leaves_the_margin(kit: &Kit) {
    let parent = kit.account(0).await;
    let sub = kit.sub_account(parent, 100).await;
    let message = Sending {
        parent: Some((parent, 2)),
        ..two_legs(sub)
    };
    let message = message.message(&kit.store);
    kit.submit(&message).await;
    let receipts = vec![storekit::delivered(message.draft.recipients[0])];
    kit.report(report(vec![], receipts)).await;
    assert_eq!(
        (kit.balance(sub).await, kit.balance(parent).await),
        (naira(94), naira(2))
    );
}

async fn a_parent_below_zero_sends_again_when_it_is_not(kit: &Kit) {
    let parent = kit.account(6).await;
    let sub = kit.sub_account(parent, 100).await;
    let message = of_sub(sub, parent).message(&kit.store);
    kit.submit(&message).await;
    // The parent spends the margin before it is taken back.
    let own = Sending {
        price: 8,
        ..sending(parent)
    };
    kit.accepted(&own).await;
    let receipts = vec![undelivered(message.draft.recipients[0])];
    kit.report(report(vec![], receipts)).await;
    assert_eq!(kit.balance(parent).await, naira(-2));
    let free = Sending {
        price: 1,
        ..sending(parent)
    };
    let answer = kit.accept(&free.message(&kit.store)).await;
    assert!(
        matches!(answer, Accepted::No(Refusal::InsufficientFunds { .. })),
        "{answer:?}"
    );
    kit.credit(parent, Component::SmsWallet, 3).await;
    kit.accepted(&free).await;
    assert_eq!(kit.balance(parent).await, naira(0));
}

async fn a_stopped_parent_stops_its_sub_accounts(kit: &Kit) {
    let parent = kit.account(0).await;
    let sub = kit.sub_account(parent, 100).await;
    let set = async |status| {
        let accounts = kit.store.accounts();
        let set = accounts
            .set_status(parent, status, Queued::Hold, by(NOW))
            .await;
        assert!(set.unwrap());
    };
    set(AccountStatus::Restricted).await;
    let answer = kit.accept(&of_sub(sub, parent).message(&kit.store)).await;
    assert_eq!(answer, Accepted::No(Refusal::AccountRestricted));
    assert_eq!(kit.balance(sub).await, naira(100));
    set(AccountStatus::Active).await;
    kit.accepted(&of_sub(sub, parent)).await;
}

fn transfer(account: AccountId, amount: i64, direction: Direction, reference: &str) -> Transfer {
    Transfer {
        id: message_id(NOW),
        account,
        request: TransferRequest {
            amount: naira(amount),
            direction,
            reference: reference.to_owned(),
        },
        created_at_ms: NOW,
    }
}

async fn moved(kit: &Kit, parent: AccountId, transfer: Transfer) -> Outcome<Transfer> {
    let accounts = kit.store.sub_accounts();
    accounts
        .transfer(parent, transfer, None, by(NOW))
        .await
        .unwrap()
}

async fn a_transfer_leaves_the_sum_and_counts_once(kit: &Kit) {
    let parent = kit.account(100).await;
    kit.credit(parent, Component::PromoBonus, 5).await;
    let sub = kit.sub_account(parent, 0).await;
    let given = transfer(sub, 30, Direction::ToSub, "june");
    assert_eq!(
        moved(kit, parent, given.clone()).await,
        Outcome::Made(given.clone())
    );
    let again = transfer(sub, 30, Direction::ToSub, "june");
    assert_eq!(moved(kit, parent, again).await, Outcome::Made(given));
    // Each component moves into the same one.
    let purse = kit.store.wallets().find(sub).await.unwrap().unwrap();
    assert_eq!(purse.get(Component::PromoBonus), naira(5));
    assert_eq!(purse.get(Component::SmsWallet), naira(25));
    let used = Outcome::Refused(Refusal::Object(ObjectRefusal::ReferenceUsed));
    for other in [
        transfer(sub, 31, Direction::ToSub, "june"),
        transfer(sub, 30, Direction::FromSub, "june"),
        transfer(
            kit.sub_account(parent, 0).await,
            30,
            Direction::ToSub,
            "june",
        ),
    ] {
        assert_eq!(moved(kit, parent, other).await, used);
    }
    let back = transfer(sub, 30, Direction::FromSub, "back");
    assert_eq!(moved(kit, parent, back.clone()).await, Outcome::Made(back));
    assert_eq!(
        (kit.balance(parent).await, kit.balance(sub).await),
        (naira(105), naira(0))
    );
}

async fn a_transfer_never_gives_more_than_is_held(kit: &Kit) {
    let (parent, other) = (kit.account(20).await, kit.account(20).await);
    let sub = kit.sub_account(parent, 5).await;
    for (direction, amount, available) in [(Direction::ToSub, 21, 20), (Direction::FromSub, 6, 5)] {
        let [needed, available] = [amount, available].map(naira);
        let refusal = Refusal::InsufficientFunds { needed, available };
        let refused = moved(kit, parent, transfer(sub, amount, direction, "much")).await;
        assert_eq!(refused, Outcome::Refused(refusal));
    }
    let foreign = moved(kit, other, transfer(sub, 1, Direction::FromSub, "theirs")).await;
    let unknown = Refusal::Object(ObjectRefusal::UnknownSubAccount);
    assert_eq!(foreign, Outcome::Refused(unknown));
    assert_eq!(
        (kit.balance(parent).await, kit.balance(sub).await),
        (naira(20), naira(5))
    );
}

async fn sends_and_transfers_at_the_same_moment_lose_nothing(kit: &Kit) {
    const TURNS: i64 = 8;
    let parent = kit.account(500).await;
    let subs = [
        kit.sub_account(parent, 100).await,
        kit.sub_account(parent, 100).await,
    ];
    let mut tasks = tokio::task::JoinSet::new();
    for turn in 0..TURNS {
        for sub in subs {
            let sends = [of_sub(sub, parent), sending(parent)];
            let messages = sends.map(|sending| sending.message(&kit.store));
            let store = kit.store.clone();
            tasks.spawn(async move {
                for message in messages {
                    let accepted = store.messages().accept(NOW, vec![message]).await.unwrap();
                    assert!(matches!(accepted[0], Accepted::Yes { .. }), "{accepted:?}");
                }
            });
            for direction in [Direction::ToSub, Direction::FromSub] {
                let reference = format!("{turn} {sub} {}", direction.as_str());
                let transfer = transfer(sub, 1, direction, &reference);
                let store = kit.store.clone();
                tasks.spawn(async move {
                    let accounts = store.sub_accounts();
                    let made = accounts.transfer(parent, transfer, None, by(NOW)).await;
                    assert!(matches!(made.unwrap(), Outcome::Made(_)));
                });
            }
        }
    }
    tasks.join_all().await;
    // Each turn has two sends for 6 naira of the parent, and earns it 2 naira twice.
    assert_eq!(kit.balance(parent).await, naira(500 - TURNS * (12 - 4)));
    for sub in subs {
        assert_eq!(kit.balance(sub).await, naira(100 - TURNS * 6));
    }
}

async fn a_parent_cannot_start_what_the_operator_stopped(kit: &Kit) {
    let parent = kit.account(0).await;
    let sub = kit.sub_account(parent, 0).await;
    let by_operator = async |status| {
        let accounts = kit.store.accounts();
        let set = accounts.set_status(sub, status, Queued::Hold, by(NOW));
        assert!(set.await.unwrap());
    };
    let by_parent = async |status| {
        let change = SubAccountChange {
            status: Some(status),
            daily_limit: None,
            prices: Vec::new(),
        };
        let accounts = kit.store.sub_accounts();
        let changed = accounts.change((parent, sub), change, None, by(NOW));
        changed.await.unwrap()
    };
    let stopped = Outcome::Refused(Refusal::Object(ObjectRefusal::SubAccountStopped));
    // The operator's stop wins, also over one of the parent.
    assert!(matches!(
        by_parent(AccountStatus::Disabled).await,
        Outcome::Made(_)
    ));
    by_operator(AccountStatus::Disabled).await;
    for status in [AccountStatus::Active, AccountStatus::Disabled] {
        assert_eq!(by_parent(status).await, stopped);
    }
    by_operator(AccountStatus::Active).await;
    for status in [AccountStatus::Disabled, AccountStatus::Active] {
        let changed = by_parent(status).await;
        assert!(matches!(changed, Outcome::Made(_)), "{changed:?}");
    }
}

async fn a_parent_changes_its_own_sub_accounts_alone(kit: &Kit) {
    let (parent, other) = (kit.account(0).await, kit.account(0).await);
    let revision = async || kit.store.revisions().current().await.unwrap();
    let changed_since = async |then| {
        let now = revision().await;
        let changed = kit.store.revisions().changed_accounts(then, now).await;
        changed.unwrap()
    };
    let before = revision().await;
    let sub = kit.sub_account(parent, 0).await;
    assert_eq!(changed_since(before).await, Some([sub].into()));
    let accounts = || kit.store.sub_accounts();
    let change = |status| SubAccountChange {
        status: Some(status),
        daily_limit: Some(Some(naira(50))),
        prices: Vec::new(),
    };
    let before = revision().await;
    let foreign = accounts().change((other, sub), change(AccountStatus::Disabled), None, by(NOW));
    let unknown = Outcome::Refused(Refusal::Object(ObjectRefusal::UnknownSubAccount));
    assert_eq!(foreign.await.unwrap(), unknown);
    assert_eq!(revision().await, before, "no cache is dropped for it");
    let own = accounts().change(
        (parent, sub),
        change(AccountStatus::Disabled),
        None,
        by(NOW),
    );
    let Outcome::Made(changed) = own.await.unwrap() else {
        panic!("it is refused")
    };
    assert_eq!(changed_since(before).await, Some([sub].into()));
    assert_eq!(changed.account.status, AccountStatus::Disabled);
    assert_eq!(changed.per_day, Some(naira(50)));
    assert_eq!(accounts().find(parent, sub).await.unwrap(), Some(changed));
    assert_eq!(accounts().find(other, sub).await.unwrap(), None);
    let held =
        kit.store
            .accounts()
            .set_status(sub, AccountStatus::Restricted, Queued::Hold, by(NOW));
    assert!(held.await.unwrap());
    let stopped = accounts().change((parent, sub), change(AccountStatus::Active), None, by(NOW));
    let refusal = Refusal::Object(ObjectRefusal::SubAccountStopped);
    assert_eq!(stopped.await.unwrap(), Outcome::Refused(refusal));
    let second = kit.sub_account(parent, 7).await;
    let listed = accounts().list(parent, None, 10).await.unwrap();
    let listed: Vec<_> = listed
        .iter()
        .map(|sub| (sub.account.id, sub.balance))
        .collect();
    assert_eq!(listed, [(second, naira(7)), (sub, naira(0))]);
    let rest = accounts().list(parent, Some(second.0), 10).await.unwrap();
    assert_eq!(rest.len(), 1);
    let terms = accounts().terms(sub).await.unwrap().unwrap();
    assert_eq!(
        (terms.parent, terms.parent_status),
        (parent, AccountStatus::Active)
    );
    assert_eq!(accounts().terms(parent).await.unwrap(), None);
}

async fn a_sub_account_has_none(kit: &Kit) {
    let parent = kit.account(0).await;
    let sub = kit.sub_account(parent, 0).await;
    assert_eq!(kit.store.bucket_of(sub), kit.store.bucket_of(parent));
    let below = AccountId::of_sub(sub, NOW + 1_000_000, 0);
    let token = store::TokenInfo {
        id: "tok_below".to_owned(),
        account: below,
        name: "first token".to_owned(),
        terms: domain::token::TokenTerms::default(),
        created_at_ms: NOW,
        revoked_at_ms: None,
    };
    let request = domain::resale::SubAccountRequest {
        name: "Ben".to_owned(),
        email: "ben@example.ng".to_owned(),
    };
    let before = kit.store.revisions().current().await.unwrap();
    let accounts = kit.store.sub_accounts();
    let made = accounts.request((sub, request), (token, [9; 32]), None, by(NOW));
    let refusal = Refusal::Object(ObjectRefusal::IsSubAccount);
    assert_eq!(made.await.unwrap(), Outcome::Refused(refusal));
    let after = kit.store.revisions().current().await.unwrap();
    assert_eq!(after, before, "no cache is dropped for it");
}

async fn margins_and_transfers_that_do_not_add_up_are_found(kit: &Kit) {
    let parent = kit.account(50).await;
    let sub = kit.sub_account(parent, 20).await;
    kit.accepted(&of_sub(sub, parent)).await;
    moved(kit, parent, transfer(sub, 5, Direction::ToSub, "june")).await;
    let sound = kit.store.upkeep().verify().await.unwrap();
    assert_eq!(sound.violations, Vec::<String>::new());
    let transfer = "changed the sum of both wallets, or is not what was asked for";
    for (sql, part) in [
        (
            "update messages set parent_cost = parent_cost - 1",
            "did not get exactly its margin",
        ),
        ("update transfers set direction = 'from_sub'", transfer),
        (
            "update transfers set direction = 'to_sub', amount = amount + 1",
            transfer,
        ),
        ("delete from transfers", "that nobody asked for"),
        (
            "update sub_accounts set parent_id = account_id",
            "is a sub-account, has another bucket, or is newer",
        ),
    ] {
        kit.plant(sql).await;
        let found = kit.store.upkeep().verify().await.unwrap().violations;
        assert!(
            found.iter().any(|one| one.contains(part)),
            "{part}: {found:?}"
        );
    }
}
