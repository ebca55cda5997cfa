//! Wallets and the ledger.

use domain::{AccountId, Component};
use store::{Credited, EntryKind, NewMessage};
use storekit::{Kit, NOW, by, credit, fresh, naira, report, sending, twins, undelivered};

twins!(
    a_reference_credits_once,
    credits_at_the_same_moment_credit_once,
    a_credit_for_nobody_is_refused,
    the_ledger_refuses_update_and_delete,
    a_wallet_never_falls_below_zero,
    the_ledger_takes_each_entry_once,
    a_debit_takes_back_once_and_never_more_than_is_held,
    a_refund_that_the_ledger_has_moves_no_money,
    a_refund_stands_with_the_charge_of_its_message,
);

async fn a_reference_credits_once(kit: &Kit) {
    let (id, other) = (kit.account(0).await, kit.account(0).await);
    let first = credit(id, Component::SmsWallet, 100, "bank-1");
    assert_eq!(
        kit.store.wallets().credit(first, by(NOW)).await.unwrap(),
        Credited::New
    );
    let before = Credited::Before {
        amount: naira(100),
        component: Component::SmsWallet,
    };
    for (component, amount) in [(Component::SmsWallet, 100), (Component::PromoBonus, 250)] {
        let again = credit(id, component, amount, "bank-1");
        assert_eq!(
            kit.store.wallets().credit(again, by(NOW)).await.unwrap(),
            before
        );
    }
    assert_eq!(kit.balance(id).await, naira(100));
    let elsewhere = credit(other, Component::SmsWallet, 100, "bank-1");
    assert_eq!(
        kit.store
            .wallets()
            .credit(elsewhere, by(NOW))
            .await
            .unwrap(),
        Credited::New
    );
}

async fn a_debit_takes_back_once_and_never_more_than_is_held(kit: &Kit) {
    let id = kit.account(100).await;
    let debit = async |naira: i64, reference: &str| {
        let entry = credit(id, Component::SmsWallet, -naira, reference);
        let reason = "credited twice".to_owned();
        kit.store
            .wallets()
            .debit(entry, reason, by(NOW))
            .await
            .unwrap()
    };
    let held = naira(100);
    assert_eq!(debit(101, "back-1").await, Credited::TooLittle { held });
    assert_eq!(debit(40, "back-1").await, Credited::New);
    let before = Credited::Before {
        amount: naira(-40),
        component: Component::SmsWallet,
    };
    assert_eq!(debit(40, "back-1").await, before);
    assert_eq!(kit.balance(id).await, naira(60));
}

async fn credits_at_the_same_moment_credit_once(kit: &Kit) {
    let id = kit.account(0).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = kit.store.clone();
        let entry = credit(id, Component::SmsWallet, 5, "bank-1");
        tasks.spawn(async move { store.wallets().credit(entry, by(NOW)).await.unwrap() });
    }
    let answers = tasks.join_all().await;
    assert_eq!(
        answers
            .iter()
            .filter(|&&answer| answer == Credited::New)
            .count(),
        1
    );
    assert_eq!(kit.balance(id).await, naira(5));
}

async fn a_credit_for_nobody_is_refused(kit: &Kit) {
    let entry = credit(AccountId(fresh()), Component::SmsWallet, 5, "bank-1");
    assert_eq!(
        kit.store.wallets().credit(entry, by(NOW)).await.unwrap(),
        Credited::NoAccount
    );
}

async fn the_ledger_refuses_update_and_delete(kit: &Kit) {
    let id = kit.account(5).await;
    for sql in [
        "update ledger set amount = amount + 1",
        "delete from ledger",
        "update ledger set reference = 'mine' where kind = 'credit'",
    ] {
        let error = kit.run(sql).await.unwrap_err().to_string();
        assert!(error.contains("append-only"), "{error}");
    }
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

async fn a_wallet_never_falls_below_zero(kit: &Kit) {
    kit.account(5).await;
    for &component in &Component::ALL {
        let sql = format!("update wallets set {} = -1", component.as_str());
        assert!(kit.run(&sql).await.is_err());
    }
}

/// Makes the refund of the first recipient of a message by SQL, without the store. No wallet
/// changes.
fn refund(kit: &Kit, message: &NewMessage) -> String {
    let (account, draft) = (message.draft.account, &message.draft);
    let (bucket, to) = (kit.store.bucket_of(account).0, draft.recipients[0].digits());
    let hex = message.id.0.simple().to_string();
    let id = if kit.is_sqlite() {
        format!("x'{hex}'")
    } else {
        format!("'\\x{hex}'::bytea")
    };
    let amount = naira(6).units();
    format!(
        "insert into ledger (bucket, account_id, subject, recipient, kind, component, amount, created_at_ms)
         values ({bucket}, {account}, {id}, {to}, 'refund', 'sms_wallet', {amount}, {NOW})"
    )
}

async fn the_ledger_takes_each_entry_once(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    let receipts = vec![undelivered(message.draft.recipients[0])];
    kit.report(report(vec![], receipts)).await;
    assert!(kit.run(&refund(kit, &message)).await.is_err());
}

async fn a_refund_that_the_ledger_has_moves_no_money(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.submit(&message).await;
    kit.plant(&refund(kit, &message)).await;
    let receipts = vec![undelivered(message.draft.recipients[0])];
    let (settled, _) = kit.report(report(vec![], receipts)).await;
    assert_eq!(settled.outcomes.len(), 1);
    assert_eq!(kit.balance(message.draft.account).await, naira(94));
}

async fn a_refund_stands_with_the_charge_of_its_message(kit: &Kit) {
    let id = kit.account(100).await;
    let message = sending(id).message(&kit.store);
    kit.submit(&message).await;
    let late = report(vec![], vec![undelivered(message.draft.recipients[0])]);
    kit.report(store::CarrierReport {
        now_ms: NOW + 60_000,
        ..late
    })
    .await;
    let statement = kit.store.wallets().statement(id, None, 10).await.unwrap();
    let mut refund = statement.iter();
    let refund = refund.position(|entry| entry.kind == EntryKind::Refund);
    let refund = refund.unwrap();
    assert_eq!(
        statement[refund].recipient,
        Some(message.draft.recipients[0])
    );
    let of_message = &statement[refund..refund + 2];
    assert!(of_message.iter().all(|entry| entry.subject == message.id));
    assert_eq!(of_message[1].kind, EntryKind::Charge);
    assert_eq!(statement.len(), 3, "and the credit");
    assert!(statement.is_sorted_by_key(|entry| std::cmp::Reverse(entry.subject)));
    assert_eq!(
        kit.store.wallets().statement(id, None, 1).await.unwrap(),
        statement[..1]
    );
    let elsewhere = kit.account(0).await;
    assert_eq!(
        kit.store
            .wallets()
            .statement(elsewhere, None, 10)
            .await
            .unwrap(),
        []
    );
}
