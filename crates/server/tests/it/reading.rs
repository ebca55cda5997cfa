//! Balance, sender IDs, account and reports (docs/spec/interface.md, section 6).

use crate::kit::http::{Answer, Request};
use crate::kit::{AIRTEL, MTN, Ogene, SENDER, to, with};
use domain::{Component, SenderStatus};
use serde_json::{Value, json};
use smpp::ReceiptState;
use smpp::simulator::{Fate, Script};

async fn get(ogene: &Ogene, path: &str) -> Answer {
    ogene
        .ask(&Request::get(path).bearer(&ogene.shop.token))
        .await
}

/// Times and the number of the account differ between runs.
fn steady(ogene: &Ogene, answer: &Answer) -> String {
    let text = answer
        .redacted()
        .replace(&ogene.shop.id.to_string(), "[id]");
    let is_time = |octets: &[u8]| {
        octets
            .iter()
            .zip(b"0000-00-00 00:00:00")
            .all(|(octet, form)| match form {
                b'0' => octet.is_ascii_digit(),
                _ => octet == form,
            })
    };
    let mut steady = text;
    let mut at = 0;
    while at + 19 <= steady.len() {
        if is_time(&steady.as_bytes()[at..at + 19]) {
            steady.replace_range(at..at + 19, "[time]");
        }
        at += 1;
    }
    steady
}

#[tokio::test]
async fn the_balance_is_told_by_component_in_plain_numbers() {
    let ogene = Ogene::start().await;
    ogene
        .credit(&ogene.shop, "50.5", Component::PromoBonus)
        .await;
    ogene
        .credit(&ogene.shop, "0.0625", Component::UniversalWallet)
        .await;
    insta::assert_snapshot!(testkit::indented(&get(&ogene, "/api/v2/balance").await.redacted()), @r#"
    200 {
      "status": "success",
      "code": "API-0000",
      "message": "Wallet balance retrieved.",
      "data": {
        "status": "success",
        "message": "Wallet balance retrieved.",
        "balance": 1050.5625,
        "total_balance": 1050.5625,
        "currency": "NGN",
        "formatted": "NGN 1050.5625"
      },
      "balance": {
        "total_balance": 1050.5625,
        "universal_wallet": 0.0625,
        "sms_wallet": 1000.00,
        "sms_bonus": 0.00,
        "main_balance": 0.00,
        "volume_bonus": 0.00,
        "promo_bonus": 50.50
      }
    }
    "#);
    ogene.sent(to(MTN, "Hello")).await;
    let balance = ogene.read("/balance/get").await["balance"].clone();
    assert_eq!(
        (&balance["promo_bonus"], &balance["sms_wallet"]),
        (&json!(44.5), &json!(1000.0))
    );
    ogene.end().await;
}

#[tokio::test]
async fn the_total_of_the_balance_is_in_data_too() {
    let ogene = Ogene::start().await;
    for path in ["/api/v2/balance", "/api/sandbox/v2/balance"] {
        let answer = get(&ogene, path).await.json();
        let (data, total) = (&answer["data"], &answer["balance"]["total_balance"]);
        assert!(total.is_number(), "{path}");
        assert_eq!((&data["balance"], &data["total_balance"]), (total, total));
        assert_eq!(data["currency"], "NGN", "{path}");
        let formatted = format!("NGN {:.2}", total.as_f64().expect("a number"));
        assert_eq!(data["formatted"], formatted, "{path}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn the_account_is_told_as_in_section_2_6() {
    let ogene = Ogene::start().await;
    let answer = get(&ogene, "/api/v2/account").await;
    insta::assert_snapshot!(testkit::indented(&steady(&ogene, &answer)), @r#"
    200 {
      "status": "success",
      "code": "API-0000",
      "message": "Account retrieved.",
      "data": {
        "user_id": "[id]",
        "email": "ada@example.ng",
        "name": "Ada Stores",
        "account_status": "active",
        "verification_level": "unverified",
        "balance": 1000.00,
        "currency": "NGN",
        "created_at": "[time]"
      }
    }
    "#);
    let id = answer.json()["data"]["user_id"].clone();
    assert_eq!(id, Value::String(ogene.shop.id.to_string()), "a string");
    ogene.end().await;
}

/// Starts a service whose customer has a sender ID in each status.
async fn with_sender_ids() -> Ogene {
    let ogene = Ogene::start().await;
    ogene
        .sender(&ogene.shop, "Pending", false, SenderStatus::Pending)
        .await;
    ogene
        .sender(&ogene.shop, "Rejected", false, SenderStatus::Rejected)
        .await;
    ogene
        .sender(&ogene.shop, "Suspended", true, SenderStatus::Suspended)
        .await;
    crate::kit::until("all are seen", async || {
        (ogene.read("/sender-ids").await["data"]["total"] == 4).then_some(())
    })
    .await;
    ogene
}

#[tokio::test]
async fn sender_ids_are_listed_with_their_status() {
    let ogene = with_sender_ids().await;
    let answer = get(&ogene, "/api/v2/sender-ids").await;
    insta::assert_snapshot!(testkit::indented(&steady(&ogene, &answer)), @r#"
    200 {
      "status": "success",
      "code": "API-0000",
      "message": "Sender IDs retrieved.",
      "data": {
        "sender_ids": [
          {
            "sender_id": "AdaStores",
            "status": "approved",
            "purpose": "Orders",
            "approved_at": "[time]",
            "rejection_reason": null
          },
          {
            "sender_id": "Pending",
            "status": "pending",
            "purpose": "Orders",
            "approved_at": null,
            "rejection_reason": null
          },
          {
            "sender_id": "Rejected",
            "status": "rejected",
            "purpose": "Orders",
            "approved_at": null,
            "rejection_reason": "Unclear"
          },
          {
            "sender_id": "Suspended",
            "status": "suspended",
            "purpose": "Orders",
            "approved_at": null,
            "rejection_reason": null
          }
        ],
        "total": 4
      }
    }
    "#);
    ogene.end().await;
}

#[tokio::test]
async fn only_an_approved_sender_id_sends() {
    let ogene = with_sender_ids().await;
    for (name, status) in [
        ("Pending", 403),
        ("Rejected", 403),
        ("Suspended", 403),
        ("ADASTORES", 200),
    ] {
        let answer = ogene
            .send(with(to(MTN, "Hello"), json!({"from": name})))
            .await;
        assert_eq!(answer.status, status, "{name}: {}", answer.text());
    }
    let received = ogene.received(1).await;
    assert_eq!(
        received[0].submit.source.digits, SENDER,
        "sent as registered"
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_report_tells_every_recipient_in_the_order_of_the_send() {
    let rules = vec![
        crate::kit::wire::rule("02", Fate::Receipt(ReceiptState::Undeliverable)),
        crate::kit::wire::rule("03", Fate::Pending),
    ];
    let script = Script {
        rules,
        ..Script::default()
    };
    let ogene = crate::kit::Setup::new().script(script).start().await;
    let numbers = "2348031230003,2348031230002,2348031230001";
    let id = ogene
        .sent_id(with(
            to(numbers, "Hello"),
            json!({"customer_reference": "order-7"}),
        ))
        .await;
    crate::kit::until("all that comes has come", async || {
        (ogene.report(&id).await["summary"]["pending"] == 1).then_some(())
    })
    .await;
    let answer = get(&ogene, &format!("/api/v2/delivery-reports?message_id={id}")).await;
    insta::assert_snapshot!(testkit::indented(&answer.redacted()), @r#"
    200 {
      "status": "success",
      "code": "API-0000",
      "message": "Delivery report retrieved.",
      "data": {
        "message_id": "[uuid]",
        "customer_reference": "order-7",
        "scheduled_for": null,
        "state": "sending",
        "summary": {
          "total": 3,
          "delivered": 1,
          "pending": 1,
          "failed": 1
        },
        "reports": [
          {
            "recipient": "2348031230003",
            "delivery_status": "sent awaiting status"
          },
          {
            "recipient": "2348031230002",
            "delivery_status": "undeliv"
          },
          {
            "recipient": "2348031230001",
            "delivery_status": "delivrd"
          }
        ],
        "pagination": {
          "current_page": 1,
          "per_page": 100,
          "total": 3,
          "last_page": 1
        }
      }
    }
    "#);
    for alias in [
        format!("/api/v2/delivery-reports/{id}"),
        format!("/api/v2/delivery-reports/{}", id.to_uppercase()),
        format!("/api/v2/delivery-reports?message_id=%20{id}&page=&per_page="),
    ] {
        assert_eq!(get(&ogene, &alias).await.json(), answer.json(), "{alias}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_report_is_read_at_every_alias_and_by_a_body_of_a_get() {
    let ogene = Ogene::start().await;
    let token = ogene.shop.token.as_str();
    let paths = ["delivery-reports", "sms/delivery-reports"];
    for root in ["/api/v2", "/api/sandbox/v2"] {
        let request = Request::post(&format!("{root}/sms")).bearer(token);
        let accepted = ogene.ask(&request.json(&to(MTN, "Hello"))).await.json();
        let id = accepted["data"]["message_id"].as_str().expect("an id");
        let by_query = |path| Request::get(&format!("{root}/{path}?%20message_id={id}"));
        let by_body = |path, fields| Request::get(&format!("{root}/{path}")).json(&fields);
        let mut requests = vec![
            by_query("delivery").bearer(token),
            by_body("delivery", json!({"api_token": token, "message_id": id})),
            by_body("delivery", json!({"message_id": id, "page": 1})).bearer(token),
            // An unneeded field is not read.
            by_query("delivery")
                .bearer(token)
                .body("application/json", "[]"),
        ];
        for path in paths {
            requests.push(by_query(path).bearer(token));
            requests.push(Request::get(&format!("{root}/{path}/{id}")).bearer(token));
            requests.push(by_body(path, json!({"api_token": token, "message_id": id})));
        }
        for (number, request) in requests.iter().enumerate() {
            let answer = ogene.ask(request).await;
            assert_eq!(answer.status, 200, "{root} {number}: {}", answer.text());
            assert_eq!(answer.json()["data"]["message_id"], id, "{root} {number}");
        }
        let balance = Request::get(&format!("{root}/balance")).json(&json!({"api_token": token}));
        assert_eq!(ogene.ask(&balance).await.status, 200, "{root}");
        let broken = Request::get(&format!("{root}/delivery")).bearer(token);
        let answer = ogene.ask(&broken.body("application/json", "{")).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "API-2000"));
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_report_is_read_page_by_page() {
    let ogene = Ogene::start().await;
    let numbers: Vec<u64> = (0..25).map(|last| 2_348_031_230_000 + last).collect();
    let id = ogene
        .sent_id(json!({"from": SENDER, "to": numbers, "body": "Hello"}))
        .await;
    let ask = async |query: &str| {
        let path = format!("/api/v2/delivery-reports?message_id={id}&{query}");
        get(&ogene, &path).await
    };
    let page = async |query: &str| {
        let answer = ask(query).await;
        assert_eq!(answer.status, 200, "{query}: {}", answer.text());
        answer.json()["data"].clone()
    };
    let mut seen = Vec::new();
    for number in 1..=3 {
        let data = page(&format!("page={number}&per_page=10")).await;
        let expected = json!({"current_page": number, "per_page": 10, "total": 25, "last_page": 3});
        assert_eq!(data["pagination"], expected);
        assert_eq!(data["summary"]["total"], 25, "the summary counts all pages");
        let reports = data["reports"].as_array().expect("a list");
        seen.extend(reports.iter().map(|one| {
            one["recipient"]
                .as_str()
                .expect("text")
                .parse::<u64>()
                .expect("digits")
        }));
    }
    assert_eq!(seen, numbers);
    let table = [
        ("", 1, 100, 25),
        ("page=1&per_page=1000", 1, 1000, 25),
        ("per_page=1001", 1, 1000, 25),
        ("per_page=99999999999999999999999999", 1, 1000, 25),
        ("page=4&per_page=10", 4, 10, 0),
        ("page=999999", 999_999, 100, 0),
        ("page=1000001&per_page=1000", 1_000_001, 1000, 0),
        ("page=99999999999999999999", 4_294_967_295_u64, 100, 0),
    ];
    for (query, current, per_page, count) in table {
        let data = page(query).await;
        let pagination = &data["pagination"];
        assert_eq!(pagination["current_page"], current, "{query}");
        assert_eq!(pagination["per_page"], per_page, "{query}");
        assert_eq!(pagination["total"], 25, "{query}");
        assert_eq!(
            data["reports"].as_array().map(Vec::len),
            Some(count),
            "{query}"
        );
    }
    for wrong in [
        "page=0",
        "page=-1",
        "page=x",
        "page=1e9",
        "per_page=0",
        "per_page=1.5",
    ] {
        let answer = ask(wrong).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2000"),
            "{wrong}"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn another_accounts_message_and_none_at_all_are_answered_alike() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    let other = ogene.customer("10").await;
    let ask = async |id: &str, token: &str, root: &str| {
        let request =
            Request::get(&format!("{root}/delivery-reports?message_id={id}")).bearer(token);
        ogene.ask(&request).await
    };
    let theirs = ask(&id, &other.token, "/api/v2").await;
    let nobodys = ask(
        "01a1ee56-5e00-7707-8707-070707070707",
        &other.token,
        "/api/v2",
    )
    .await;
    let no_id = ask("%F0%9F%98%80", &other.token, "/api/v2").await;
    let in_sandbox = ask(&id, &ogene.shop.token, "/api/sandbox/v2").await;
    assert_eq!((theirs.status, theirs.code().as_str()), (404, "API-2007"));
    for answer in [nobodys, no_id, in_sandbox] {
        assert_eq!((answer.status, answer.text()), (404, theirs.text()));
    }
    let missing = get(&ogene, "/api/v2/delivery-reports").await;
    assert_eq!((missing.status, missing.code().as_str()), (400, "API-2000"));
    ogene.end().await;
}

#[tokio::test]
async fn wallet_components_pay_in_order_and_are_refunded_alike() {
    let rules = vec![crate::kit::wire::rule(
        "7",
        Fate::Receipt(ReceiptState::Undeliverable),
    )];
    let mut ogene = crate::kit::Setup::new()
        .script(Script {
            rules,
            ..Script::default()
        })
        .start()
        .await;
    ogene.shop = ogene.customer("0").await;
    for component in Component::ALL {
        ogene.credit(&ogene.shop, "1.00", component).await;
    }
    let names = [
        "promo_bonus",
        "volume_bonus",
        "sms_bonus",
        "sms_wallet",
        "main_balance",
        "universal_wallet",
    ];
    let wallet = async || {
        let balance = ogene.read("/balance").await["balance"].clone();
        names.map(|name| balance[name].as_f64().expect("a number").to_string())
    };
    // The balance is exactly 6.00.
    let failing = ogene.sent_id(to("2348031234567", "Hello")).await;
    assert_eq!(ogene.outcome(&failing).await, ["undeliv"]);
    assert_eq!(wallet().await, ["1", "1", "1", "1", "1", "1"]);
    ogene
        .credit(&ogene.shop, "3.50", Component::UniversalWallet)
        .await;
    let delivered = ogene
        .sent_id(to(AIRTEL.replace('7', "8").as_str(), "Hello"))
        .await;
    assert_eq!(ogene.outcome(&delivered).await, ["delivrd"]);
    assert_eq!(wallet().await, ["0", "0", "0", "0", "0", "3.5"]);
    ogene.end().await;
}
