//! Alerts about low balances.

use domain::alert::{Alert, AlertTarget};
use domain::{AccountId, Component, Environment, Money, ObjectRefusal, Refusal, callback_url};
use store::{AttemptOutcome, Finished, Outcome};
use storekit::{Kit, NODE, NOW, Sending, by, naira, sending, twins};

twins!(
    an_alert_is_told_once_when_the_balance_crosses_it,
    a_dead_callback_of_an_alert_is_replayed,
    a_mail_is_due_until_it_is_finished,
    a_mail_that_failed_tells_the_balance_of_now,
    the_alerts_of_an_account_are_listed_newest_first,
);

const URL: &str = "https://ada.example.ng/low";
/// An account that starts with 100 naira is below it after one send.
const THRESHOLD: i64 = 95;

fn alert(account: AccountId, index: i64, target: AlertTarget) -> Alert {
    Alert {
        id: format!("al_{index:016}"),
        account,
        threshold: naira(THRESHOLD),
        target,
        is_below: false,
        created_at_ms: NOW + index,
        told_at_ms: None,
    }
}

async fn add(kit: &Kit, alert: Alert) {
    let added = kit.store.alerts().add(alert, None).await.unwrap();
    assert!(matches!(added, Outcome::Made(_)), "{added:?}");
}

/// Tells what has crossed its threshold. Returns the balances, and whether each was new.
async fn tell(kit: &Kit, account: AccountId, now_ms: i64) -> Vec<(Money, bool)> {
    let alerts = kit.store.alerts();
    let bucket = kit.store.bucket_of(account);
    let mut told = Vec::new();
    for crossed in alerts.crossed(bucket, 10).await.unwrap() {
        let balance = crossed.balance;
        let new = alerts.tell(crossed.clone(), now_ms, [7; 10]).await.unwrap();
        let again = alerts.tell(crossed, now_ms, [8; 10]).await.unwrap();
        assert!(!again, "another node knows that it is told");
        told.push((balance, new));
    }
    told
}

async fn callbacks(kit: &Kit) -> i64 {
    kit.numbers("select count(*) from outbox").await[0]
}

async fn an_alert_is_told_once_when_the_balance_crosses_it(kit: &Kit) {
    let account = kit.account(100).await;
    add(kit, alert(account, 0, AlertTarget::Url(URL.to_owned()))).await;
    assert_eq!(tell(kit, account, NOW).await, []);
    let one = Sending {
        recipients: 1,
        ..sending(account)
    };
    kit.accepted(&one).await;
    assert_eq!(tell(kit, account, NOW).await, [(naira(94), true)]);
    assert_eq!(callbacks(kit).await, 1);
    kit.accepted(&one).await;
    assert_eq!(tell(kit, account, NOW).await, [], "it stays below");
    assert_eq!(callbacks(kit).await, 1);
}

async fn a_dead_callback_of_an_alert_is_replayed(kit: &Kit) {
    let account = kit.account(100).await;
    add(kit, alert(account, 0, AlertTarget::Url(URL.to_owned()))).await;
    kit.accepted(&sending(account)).await;
    assert_eq!(tell(kit, account, NOW).await.len(), 1);
    let claim = async || {
        let bucket = kit.store.bucket_of(account);
        let origin = (
            bucket,
            account,
            Environment::Live,
            callback_url::origin(URL),
        );
        let outbox = kit.store.outbox();
        let claimed = outbox.claim(origin, NOW, 10, NODE, NOW + 30_000).await;
        claimed.unwrap()
    };
    let claimed = claim().await;
    let died = claimed[0].clone();
    let outcome = AttemptOutcome::new(died.clone(), Finished::Dead);
    let finished = kit.store.outbox().finish(NODE, vec![outcome]);
    finished.await.unwrap();
    let dead = kit.store.dead_callbacks();
    let message = died.message;
    assert!(dead.knows(account, message).await.unwrap());
    let origins = dead.origins_of(account, None, 10).await.unwrap();
    let replayed = dead.replay(&origins[0], Some(message), by(NOW)).await;
    assert_eq!(replayed.unwrap(), 1);
    assert_eq!(claim().await, claimed);
    assert!(!dead.knows(account, message).await.unwrap());
}

async fn a_mail_is_due_until_it_is_finished(kit: &Kit) {
    let account = kit.account(100).await;
    let target = AlertTarget::Email("ada@example.ng".to_owned());
    add(kit, alert(account, 0, target)).await;
    kit.accepted(&sending(account)).await;
    assert_eq!(tell(kit, account, NOW).await.len(), 1);
    assert_eq!(callbacks(kit).await, 0);
    let alerts = kit.store.alerts();
    let take = async |now_ms| alerts.take_mails(now_ms, now_ms + 10, 10).await.unwrap();
    assert_eq!(take(NOW).await.len(), 1);
    assert_eq!(take(NOW).await.len(), 0, "another node has it");
    assert_eq!(take(NOW + 10).await.len(), 1, "it was not finished");
    alerts
        .finish_mail(&alert(account, 0, AlertTarget::Url(String::new())).id, NOW)
        .await
        .unwrap();
    assert_eq!(take(NOW + 20).await.len(), 0);
}

async fn a_mail_that_failed_tells_the_balance_of_now(kit: &Kit) {
    let account = kit.account(100).await;
    let target = AlertTarget::Email("ada@example.ng".to_owned());
    add(kit, alert(account, 0, target)).await;
    let alerts = kit.store.alerts();
    let told = async |now_ms| {
        let taken = alerts.take_mails(now_ms, now_ms + 10, 10).await.unwrap();
        taken.iter().map(|due| due.balance).collect::<Vec<_>>()
    };
    kit.accepted(&sending(account)).await;
    assert_eq!(tell(kit, account, NOW).await.len(), 1);
    let first = kit.balance(account).await;
    assert_eq!(told(NOW).await, [first]);
    kit.accepted(&sending(account)).await;
    let second = kit.balance(account).await;
    assert!(second < first);
    assert_eq!(told(NOW + 10).await, [second]);
    kit.credit(account, Component::SmsWallet, 100).await;
    assert_eq!(told(NOW + 20).await, [], "it is above the threshold");
    kit.accepted(&Sending {
        price: 100,
        ..sending(account)
    })
    .await;
    assert_eq!(told(NOW + 30).await, [], "a new fall has a mail of its own");
}

async fn the_alerts_of_an_account_are_listed_newest_first(kit: &Kit) {
    let (account, other) = (kit.account(100).await, kit.account(100).await);
    for index in 0..3 {
        add(kit, alert(account, index, AlertTarget::Url(URL.to_owned()))).await;
    }
    let alerts = kit.store.alerts();
    let ids = async |of, behind, limit| {
        let listed: Vec<Alert> = alerts.list(of, behind, limit).await.unwrap();
        let created: Vec<i64> = listed.iter().map(|one| one.created_at_ms - NOW).collect();
        created
    };
    assert_eq!(ids(account, None, 2).await, [2, 1]);
    let last = alert(account, 1, AlertTarget::Url(String::new()));
    let behind = Some((last.created_at_ms, last.id.clone()));
    assert_eq!(ids(account, behind, 2).await, [0]);
    assert_eq!(ids(other, None, 2).await, [0_i64; 0]);
    let strange = alerts.remove(other, &last.id, None, NOW).await.unwrap();
    let unknown = Refusal::Object(ObjectRefusal::UnknownAlert);
    assert!(
        matches!(&strange, Outcome::Refused(refusal) if *refusal == unknown),
        "{strange:?}"
    );
    let removed = alerts.remove(account, &last.id, None, NOW).await.unwrap();
    assert!(matches!(removed, Outcome::Made(_)), "{removed:?}");
    assert_eq!(ids(account, None, 3).await, [2, 0]);
}
