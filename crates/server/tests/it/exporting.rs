//! Entries of the wallet, usage, and exports (docs/spec/finding.md).

use crate::kit::http::{Answer, Request};
use crate::kit::wire::{receipt, rule};
use crate::kit::{AIRTEL, MTN, Ogene, Setup, numbers, to, until, with};
use domain::Component;
use serde_json::{Value, json};
use smpp::ReceiptState;
use smpp::simulator::Script;

async fn get(ogene: &Ogene, path: &str) -> Answer {
    let answer = ogene
        .ask(&Request::get(path).bearer(&ogene.shop.token))
        .await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer
}

async fn items(ogene: &Ogene, path: &str) -> Vec<Value> {
    let answer = get(ogene, path).await.json();
    answer["data"]["items"].as_array().expect("items").clone()
}

/// Returns the whole of a chunked body.
pub(crate) fn whole(chunked: &str) -> String {
    let (mut left, mut csv) = (chunked, String::new());
    loop {
        let (size, rest) = left.split_once("\r\n").expect("a size");
        let size = usize::from_str_radix(size, 16).expect("a number");
        if size == 0 {
            break;
        }
        csv.push_str(&rest[..size]);
        left = &rest[size + 2..];
    }
    csv
}

/// Returns the rows of an export, whose body is chunked.
async fn rows(ogene: &Ogene, path: &str) -> Vec<String> {
    let answer = get(ogene, path).await;
    assert_eq!(
        answer.header("content-type"),
        Some("text/csv; charset=utf-8")
    );
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
    let csv = whole(answer.text());
    csv.split_terminator("\r\n").map(str::to_owned).collect()
}

/// An installation with one delivered and one undelivered recipient.
async fn settled() -> (Ogene, String) {
    let script = Script {
        rules: vec![rule(AIRTEL, receipt(ReceiptState::Undeliverable))],
        ..Script::default()
    };
    let ogene = Setup::new().script(script).start().await;
    let fields = json!({ "to": [MTN, AIRTEL], "customer_reference": "=1+1" });
    let id = ogene.sent_id(with(to(MTN, "Hello"), fields)).await;
    until("the message is completed", async || {
        (ogene.report(&id).await["summary"]["pending"] == 0).then_some(())
    })
    .await;
    (ogene, id)
}

#[tokio::test]
async fn wallet_entries_have_the_balance_after_each() {
    let (ogene, id) = settled().await;
    ogene.credit(&ogene.shop, "50", Component::PromoBonus).await;
    let all = items(&ogene, "/api/v2/wallet/entries").await;
    let shown: Vec<Value> = all
        .iter()
        .map(|entry| {
            json!([
                entry["kind"],
                entry["amount"],
                entry["component"],
                entry["balance_after"]
            ])
        })
        .collect();
    let expected = json!([
        ["credit", 50.0, "promo_bonus", 50.0],
        ["refund", 6.0, "sms_wallet", 994.0],
        ["charge", -12.0, "sms_wallet", 988.0],
        ["credit", 1000.0, "sms_wallet", 1000.0],
    ]);
    assert_eq!(json!(shown), expected);
    assert_eq!(
        (&all[1]["recipient"], &all[2]["message_id"]),
        (&json!(AIRTEL), &json!(id))
    );

    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/v2/wallet/entries?limit=1&cursor={cursor}");
        let page = get(&ogene, &path).await.json()["data"].clone();
        paged.extend(page["items"].as_array().expect("items").clone());
        match page["next_cursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    assert_eq!(paged, all);
    for (query, count) in [
        ("kind=refund", 1),
        ("kind=credit", 2),
        ("kind=transfer", 0),
        (&format!("message_id={id}"), 2),
        ("until=2020-01-01+00:00:00", 0),
    ] {
        let found = items(&ogene, &format!("/api/v2/wallet/entries?{query}")).await;
        assert_eq!(found.len(), count, "{query}");
        assert!(found.iter().all(|entry| all.contains(entry)), "{query}");
    }
    assert!(
        items(&ogene, "/api/sandbox/v2/wallet/entries")
            .await
            .is_empty()
    );
    ogene.end().await;
}

#[tokio::test]
async fn usage_counts_a_message_in_each_group_it_touches() {
    let (ogene, _) = settled().await;
    let group = |key: &str, delivered: u32, failed: u32| {
        let recipients = delivered + failed;
        json!({
            "key": key,
            "messages": 1,
            "recipients": recipients,
            "delivered": delivered,
            "failed": failed,
            "pending": 0,
            "pages": recipients,
            "cost": 6.0 * f64::from(recipients),
            "refunded": 6.0 * f64::from(failed),
        })
    };
    for (by, groups) in [
        ("gateway", vec![group("direct-refund", 1, 1)]),
        ("sender", vec![group("AdaStores", 1, 1)]),
        ("network", vec![group("airtel", 0, 1), group("mtn", 1, 0)]),
    ] {
        let found = items(&ogene, &format!("/api/v2/usage?by={by}")).await;
        assert_eq!(found, groups, "{by}");
    }
    for (by, length) in [("day", 10), ("hour", 19)] {
        let found = items(&ogene, &format!("/api/v2/usage?by={by}")).await;
        let key = found[0]["key"].as_str().expect("a key");
        assert_eq!((found.len(), key.len()), (1, length), "{by}");
    }
    assert!(
        items(&ogene, "/api/v2/usage?until=2020-01-01+00:00:00")
            .await
            .is_empty()
    );
    ogene.end().await;
}

#[tokio::test]
async fn an_export_has_a_row_for_each_recipient() {
    let (ogene, id) = settled().await;
    let all = rows(&ogene, "/api/v2/exports/recipients.csv").await;
    assert_eq!(all.len(), 3);
    assert!(all[0].starts_with("message_id,created_at,sender,gateway,customer_reference,"));
    let delivered = format!("AdaStores,direct-refund,'=1+1,{MTN},mtn,delivrd,,1,6.00,0.00,");
    assert!(
        all[1].starts_with(&id) && all[1].contains(&delivered),
        "{}",
        all[1]
    );
    assert!(
        all[2].contains(&format!("{AIRTEL},airtel,undeliv,")),
        "{}",
        all[2]
    );

    let failed = "/api/v2/exports/recipients.csv?delivery_status=undeliv";
    let failed = rows(&ogene, failed).await;
    assert_eq!(failed, [all[0].clone(), all[2].clone()]);
    let wallet = rows(&ogene, "/api/v2/exports/wallet.csv").await;
    assert_eq!(wallet.len(), 4);
    assert!(
        wallet[2].contains(",charge,-12.00,sms_wallet,988.00,"),
        "{}",
        wallet[2]
    );
    ogene.end().await;
}

#[tokio::test]
async fn an_export_of_many_recipients_is_whole() {
    let ogene = Ogene::start().await;
    ogene
        .credit(&ogene.shop, "100000", Component::SmsWallet)
        .await;
    let mut expected = numbers(2_500);
    let fields = json!({ "to": expected });
    ogene.sent_id(with(to(MTN, "Hello"), fields)).await;
    ogene.sent_id(to(AIRTEL, "Hello")).await;
    let mut found: Vec<String> = rows(&ogene, "/api/v2/exports/recipients.csv")
        .await
        .iter()
        .skip(1)
        .map(|row| row.split(',').nth(5).expect("a number").to_owned())
        .collect();
    expected.push(AIRTEL.to_owned());
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    ogene.end().await;
}
