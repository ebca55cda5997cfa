//! Top-ups by the interface (docs/spec/payments.md).

use crate::kit::http::{Answer, Request};
use crate::kit::provider::{Kind, Mood, Provider};
use crate::kit::{Ogene, Setup};
use serde_json::{Value, json};

pub(crate) const TOP_UPS: &str = "/api/v2/top-ups";
const SANDBOX: &str = "/api/sandbox/v2/top-ups";

pub(crate) async fn post(ogene: &Ogene, path: &str, fields: Value) -> Answer {
    let request = Request::post(path).bearer(&ogene.shop.token);
    ogene.ask(&request.json(&fields)).await
}

/// Makes a top-up of 1,000 naira. Returns `data`.
pub(crate) async fn created(ogene: &Ogene, path: &str) -> Value {
    let answer = post(ogene, path, json!({"amount": "1000.00"})).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"].take()
}

pub(crate) async fn read(ogene: &Ogene, path: &str) -> Value {
    let request = Request::get(path).bearer(&ogene.shop.token);
    let answer = ogene.ask(&request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"].take()
}

fn id_of(top_up: &Value) -> &str {
    top_up["top_up_id"].as_str().expect("an id")
}

#[tokio::test]
async fn each_provider_makes_the_page_of_a_top_up() {
    for kind in Kind::ALL {
        let provider = Provider::start(kind).await;
        let ogene = provider.of(Setup::new()).start().await;
        let top_up = created(&ogene, TOP_UPS).await;
        assert_eq!(top_up["checkout_url"], "https://checkout.example.com/page");
        assert_eq!(top_up["provider"], kind.name());
        assert_eq!(top_up["state"], "pending");
        let amounts = ["amount", "vat", "total", "bonus"].map(|name| top_up[name].to_string());
        assert_eq!(amounts, ["1000.0", "75.0", "1075.0", "0.0"], "{top_up}");
        assert_eq!(top_up["receipt_number"], Value::Null);
        let asked = provider.created().pop().expect("a request").to_string();
        let back = format!("http://sms.example.ng/payments/return/{}", id_of(&top_up));
        let reference = top_up["reference"].as_str().expect("a reference");
        for expected in [&back, reference, "ada@example.ng", "1075", "NGN"] {
            assert!(asked.contains(expected), "{kind:?} {expected}: {asked}");
        }
        let path = format!("{TOP_UPS}/{}", id_of(&top_up));
        assert_eq!(read(&ogene, &path).await, top_up);
        assert_eq!(read(&ogene, TOP_UPS).await["items"], json!([top_up]));
        ogene.end().await;
    }
}

#[tokio::test]
async fn nothing_is_kept_of_a_top_up_whose_provider_is_down() {
    let provider = Provider::start(Kind::Paystack).await;
    let ogene = provider.of(Setup::new()).start().await;
    let keyed = Request::post(TOP_UPS).bearer(&ogene.shop.token);
    let keyed = keyed
        .header("idempotency-key", "one")
        .json(&json!({"amount": 500}));
    for mood in [Mood::Down, Mood::Silent] {
        provider.be(mood);
        let answer = ogene.ask(&keyed).await;
        assert_eq!((answer.status, &*answer.code()), (502, "API-3006"));
    }
    assert_eq!(read(&ogene, TOP_UPS).await["items"], json!([]));
    provider.be(Mood::Well);
    let first = ogene.ask(&keyed).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let again = ogene.ask(&keyed).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.json(), first.json());
    assert_eq!(provider.created().len(), 1);
    let other = Request::post(TOP_UPS).bearer(&ogene.shop.token);
    let other = other
        .header("idempotency-key", "one")
        .json(&json!({"amount": 501}));
    assert_eq!(ogene.ask(&other).await.code(), "API-2016");
    ogene.end().await;
}

#[tokio::test]
async fn a_top_up_that_cannot_be_made_is_refused() {
    let provider = Provider::start(Kind::Paystack).await;
    let ogene = provider.of(Setup::new()).start().await;
    for (fields, word) in [
        (json!({}), "amount"),
        (json!({"amount": "1e3"}), "amount"),
        (json!({"amount": "499.99"}), "at least 500.00"),
        (json!({"amount": "1000.001"}), "two decimals"),
        (json!({"amount": -1000}), "amount"),
        (json!({"amount": ["1000"]}), "amount"),
        (
            json!({"amount": 1000, "provider": "stripe"}),
            "must be one of: paystack",
        ),
        (
            json!({"amount": 1000, "return_url": "javascript:alert(1)"}),
            "return_url",
        ),
    ] {
        let shown = fields.to_string();
        let answer = post(&ogene, TOP_UPS, fields).await;
        assert_eq!(
            (answer.status, &*answer.code()),
            (400, "API-2000"),
            "{shown}"
        );
        assert!(answer.text().contains(word), "{shown}: {}", answer.text());
    }
    assert_eq!(provider.created(), Vec::<Value>::new());
    let unknown = format!("{TOP_UPS}/01a1ee56-5e00-7707-8707-070707070707");
    for path in [
        &unknown,
        &format!("{unknown}/receipt"),
        &format!("{TOP_UPS}/7"),
    ] {
        let answer = ogene
            .ask(&Request::get(path).bearer(&ogene.shop.token))
            .await;
        assert_eq!(
            (answer.status, &*answer.code()),
            (404, "API-2007"),
            "{path}"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn the_page_of_the_sandbox_pays_no_live_top_up() {
    let provider = Provider::start(Kind::Paystack).await;
    let setup = provider.of(Setup::new()).set("payments.sweep", r#""1h""#);
    let ogene = setup.start().await;
    let before = ogene.total().await;
    let top_up = created(&ogene, TOP_UPS).await;
    let page = format!("/payments/sandbox/{}", id_of(&top_up));
    for request in [Request::get(&page), Request::post(&page)] {
        let refused = ogene.ask(&request).await;
        assert_eq!(refused.status, 404, "{}", refused.text());
        assert!(
            !refused.text().contains("<form"),
            "no page pays it: {}",
            refused.text()
        );
    }
    let path = format!("{TOP_UPS}/{}", id_of(&top_up));
    assert_eq!(read(&ogene, &path).await, top_up, "it is pending as before");
    let entries = ogene.sql("select count(*) from ledger where reference like 'ogene-%'");
    assert_eq!(entries, "0");
    assert!(
        (ogene.total().await - before).abs() < 1e-9,
        "nothing was credited"
    );
    ogene.end().await;
}

#[tokio::test]
async fn without_a_provider_only_the_sandbox_has_top_ups() {
    let ogene = Ogene::start().await;
    let answer = post(&ogene, TOP_UPS, json!({"amount": 1000})).await;
    assert_eq!((answer.status, &*answer.code()), (400, "API-2000"));
    assert!(
        answer.text().contains("no payment provider"),
        "{}",
        answer.text()
    );
    let before = ogene.total().await;
    let top_up = created(&ogene, SANDBOX).await;
    assert_eq!(top_up["sandbox"], true);
    let url = top_up["checkout_url"].as_str().expect("a page");
    let page = url.split_once("://").expect("a URL").1;
    let page = &page[page.find('/').expect("a path")..];
    let shown = ogene.ask(&Request::get(page)).await;
    assert_eq!(shown.status, 200);
    assert!(
        shown.text().contains("<form method=\"post\">"),
        "{}",
        shown.text()
    );
    let unpaid = format!("{SANDBOX}/{}/receipt", id_of(&top_up));
    let unpaid = Request::get(&unpaid).bearer(&ogene.shop.token);
    assert_eq!(ogene.ask(&unpaid).await.code(), "API-2019");
    for _ in 0..2 {
        let paid = ogene.ask(&Request::post(page)).await;
        assert_eq!(paid.status, 200);
        assert!(paid.text().contains("Payment received"), "{}", paid.text());
    }
    let path = format!("{SANDBOX}/{}", id_of(&top_up));
    let paid = read(&ogene, &path).await;
    assert_eq!(
        (&paid["state"], &paid["receipt_number"]),
        (&json!("paid"), &json!(1))
    );
    let receipt = Request::get(&format!("{path}/receipt")).bearer(&ogene.shop.token);
    let receipt = ogene.ask(&receipt).await;
    assert_eq!(
        receipt.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    for shown in ["Receipt 1", "1075.00 NGN", "VAT (7.5 %)", "Ada Stores"] {
        assert!(
            receipt.text().contains(shown),
            "{shown}: {}",
            receipt.text()
        );
    }
    assert!(
        (ogene.total().await - before).abs() < 1e-9,
        "no money moved"
    );
    ogene.end().await;
}
