//! The audit: each change of an operator has an entry, and no entry can be removed.

use super::plans::all_statements;
use domain::callback::signature::{RANDOM_BYTES, Secret, Signing};
use domain::token::TokenTerms;
use domain::{AccountId, AccountStatus, Component, SenderId, SenderStatus, Verification};
use serde_json::json;
use store::{AuditEntry, CallbackSecret, TokenInfo};
use storekit::{Kit, NOW, account, by, credit, fresh, twins};
use tokio::task::JoinSet;

twins!(
    an_entry_tells_how_it_was_and_how_it_is,
    what_changes_nothing_has_no_entry,
    entries_are_listed_latest_first_all_or_of_one_account,
    entries_made_at_once_are_numbered_without_gaps,
    the_audit_refuses_update_and_delete,
    a_configuration_is_audited_where_it_differs_from_the_last,
);

/// Formats an entry as a line.
fn line(entry: &AuditEntry) -> String {
    let AuditEntry {
        number,
        actor,
        verb,
        object,
        before,
        after,
        ..
    } = entry;
    format!("{number} {actor} {verb} {object}: {before} -> {after}")
}

async fn lines(kit: &Kit, account: AccountId) -> Vec<String> {
    let entries = kit
        .store
        .audit()
        .list(Some(account), None, 100)
        .await
        .unwrap();
    entries.iter().rev().map(line).collect()
}

fn sender() -> SenderId {
    SenderId {
        name: "Acme".to_owned(),
        status: SenderStatus::Pending,
        purpose: "receipts".to_owned(),
        international: false,
        approved_at_ms: None,
        rejection_reason: None,
    }
}

fn token(account: AccountId) -> TokenInfo {
    TokenInfo {
        id: "tok_1".to_owned(),
        account,
        name: "of 08031234567".to_owned(),
        terms: TokenTerms {
            expires_at_ms: Some(NOW + 1),
            allowed: "203.0.113.0/24".parse().unwrap(),
            scopes: "send,read".parse().unwrap(),
            per_minute: Some(60),
        },
        created_at_ms: NOW,
        revoked_at_ms: None,
    }
}

fn secret(account: AccountId) -> CallbackSecret {
    CallbackSecret {
        account,
        created_at_ms: NOW,
        signing: Signing {
            secret: Secret::make(&[7; RANDOM_BYTES]),
            ends_at_ms: None,
        },
    }
}

/// Makes every change of an account, except for replays, which need callbacks.
async fn change_everything(kit: &Kit, id: AccountId) {
    let store = &kit.store;
    store.accounts().create(account(id), by(NOW)).await.unwrap();
    let status = AccountStatus::Restricted;
    assert!(
        store
            .accounts()
            .set_status(id, status, domain::Queued::Hold, by(NOW))
            .await
            .unwrap()
    );
    let level = Verification::Verified;
    assert!(
        store
            .accounts()
            .set_verification(id, level, by(NOW))
            .await
            .unwrap()
    );
    store
        .tokens()
        .add(token(id), [1; 32], by(NOW))
        .await
        .unwrap();
    assert!(store.tokens().revoke("tok_1", by(NOW)).await.unwrap());
    assert!(store.senders().add(id, sender(), by(NOW)).await.unwrap());
    for (status, reason) in [
        (SenderStatus::Approved, None),
        (SenderStatus::Rejected, Some("Call 08031234567")),
        (SenderStatus::Suspended, None),
    ] {
        let set = store
            .senders()
            .set_status(id, "ACME", status, reason, by(NOW));
        assert!(set.await.unwrap());
    }
    let entry = credit(id, Component::SmsWallet, 5, "08031234567");
    store.wallets().credit(entry, by(NOW)).await.unwrap();
    let added = store
        .callback_secrets()
        .add(secret(id), 0..=0, NOW, by(NOW));
    added.await.unwrap();
    let revoked = store.callback_secrets().revoke(id, None, by(NOW)).await;
    assert_eq!(revoked.unwrap(), 1);
}

async fn an_entry_tells_how_it_was_and_how_it_is(kit: &Kit) {
    let id = AccountId(4_711);
    change_everything(kit, id).await;
    let all = lines(kit, id).await;
    insta::assert_snapshot!(all.join("\n"), @r#"
    1 cli:ada account.create : null -> {"name":"Example","status":"active","verification":"unverified"}
    2 cli:ada account.set-status : {"queued":"send","status":"active"} -> {"queued":"hold","status":"restricted"}
    3 cli:ada account.set-verification : {"verification":"unverified"} -> {"verification":"verified"}
    4 cli:ada token.create tok_1: null -> {"allowed":"203.0.113.0/24","expires_at_ms":1795000000001,"name":"of 0803123****","per_minute":60,"scopes":"send,read"}
    5 cli:ada token.revoke tok_1: {"allowed":"203.0.113.0/24","expires_at_ms":1795000000001,"name":"of 0803123****","per_minute":60,"scopes":"send,read"} -> null
    6 cli:ada sender-id.register Acme: null -> {"international":false,"status":"pending"}
    7 cli:ada sender-id.approve Acme: {"status":"pending"} -> {"reason":null,"status":"approved"}
    8 cli:ada sender-id.reject Acme: {"status":"approved"} -> {"reason":"Call 0803123****","status":"rejected"}
    9 cli:ada sender-id.suspend Acme: {"status":"rejected"} -> {"reason":null,"status":"suspended"}
    10 cli:ada wallet.credit 0803123****: {"sms_wallet":"0.00"} -> {"sms_wallet":"5.00"}
    11 cli:ada callback.secret.create sec_7605e0531442bca6: null -> {"ends_at_ms":null}
    12 cli:ada callback.secret.revoke : {"secrets":1} -> null
    "#);
    let secret = secret(id).signing.secret.text();
    let rows = "select actor || verb || object || before || after from audit";
    for row in kit.texts(rows).await {
        assert!(
            !row.contains("08031234567") && !row.contains(&secret),
            "{row}"
        );
    }
}

async fn what_changes_nothing_has_no_entry(kit: &Kit) {
    let (id, nobody) = (kit.account(5).await, AccountId(fresh()));
    let store = &kit.store;
    assert!(store.senders().add(id, sender(), by(NOW)).await.unwrap());
    let before = kit.store.audit().list(None, None, 100).await.unwrap();
    let status = AccountStatus::Disabled;
    assert!(
        !store
            .accounts()
            .set_status(nobody, status, domain::Queued::Hold, by(NOW))
            .await
            .unwrap()
    );
    assert!(!store.tokens().revoke("none", by(NOW)).await.unwrap());
    assert!(!store.senders().add(id, sender(), by(NOW)).await.unwrap());
    let set = store
        .senders()
        .set_status(id, "Nix", SenderStatus::Approved, None, by(NOW));
    assert!(!set.await.unwrap());
    let revoked = store.callback_secrets().revoke(id, None, by(NOW)).await;
    assert_eq!(revoked.unwrap(), 0);
    assert!(store.accounts().create(account(id), by(NOW)).await.is_err());
    let entry = credit(nobody, Component::SmsWallet, 5, "bank-1");
    store.wallets().credit(entry, by(NOW)).await.unwrap();
    assert_eq!(
        kit.store.audit().list(None, None, 100).await.unwrap(),
        before
    );
}

async fn entries_are_listed_latest_first_all_or_of_one_account(kit: &Kit) {
    let (one, two) = (kit.account(5).await, kit.account(5).await);
    let numbers = async |account, limit| {
        let entries = kit.store.audit().list(account, None, limit).await.unwrap();
        let numbers = entries.iter().map(|entry| entry.number);
        numbers.collect::<Vec<_>>()
    };
    assert_eq!(numbers(None, 9).await, [4, 3, 2, 1]);
    assert_eq!(numbers(None, 3).await, [4, 3, 2]);
    assert_eq!(numbers(Some(one), 9).await, [2, 1]);
    assert_eq!(numbers(Some(two), 1).await, [4]);
}

async fn entries_made_at_once_are_numbered_without_gaps(kit: &Kit) {
    let mut credits = JoinSet::new();
    for count in 0..20 {
        let (store, id) = (kit.store.clone(), kit.account(0).await);
        let entry = credit(id, Component::SmsWallet, 5, &format!("bank-{count}"));
        credits.spawn(async move { store.wallets().credit(entry, by(NOW)).await.unwrap() });
    }
    credits.join_all().await;
    let entries = kit.store.audit().list(None, None, 100).await.unwrap();
    let numbers: Vec<_> = entries.iter().rev().map(|entry| entry.number).collect();
    assert_eq!(numbers, (1..=40).collect::<Vec<_>>());
}

async fn the_audit_refuses_update_and_delete(kit: &Kit) {
    let id = kit.account(5).await;
    for sql in ["update audit set actor = 'nobody'", "delete from audit"] {
        let error = kit.run(sql).await.unwrap_err().to_string();
        assert!(error.contains("append-only"), "{error}");
    }
    assert_eq!(lines(kit, id).await.len(), 2);
}

async fn a_configuration_is_audited_where_it_differs_from_the_last(kit: &Kit) {
    let quiet = json!({ "quiet_hours": { "otp": "20:00-08:00" } });
    for (limits, told) in [
        (json!({}), false),
        (quiet.clone(), true),
        (quiet, false),
        (json!({}), true),
        (json!({}), false),
    ] {
        let configured = kit.store.audited_limits().record(limits, by(NOW)).await;
        assert_eq!(configured.unwrap(), told);
    }
    let all = kit.store.audit().list(None, None, 9).await.unwrap();
    let all: Vec<_> = all.iter().rev().map(line).collect();
    insta::assert_snapshot!(all.join("\n"), @r#"
    1 cli:ada limits.configure : null -> {"quiet_hours":{"otp":"20:00-08:00"}}
    2 cli:ada limits.configure : {"quiet_hours":{"otp":"20:00-08:00"}} -> {}
    "#);
}

#[test]
fn no_statement_of_ours_changes_or_removes_an_entry() {
    for statement in all_statements() {
        let text = &statement.text;
        let changes = text.contains("update audit") || text.contains("delete from audit");
        assert!(!changes, "{}: {text}", statement.place);
    }
}
