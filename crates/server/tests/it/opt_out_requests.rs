//! Opt-outs by the interface: `GET`, `POST` and `DELETE /opt-outs`, and their export
//! (docs/spec/inbound.md, section 5).

use crate::exporting::whole;
use crate::kit::http::{Answer, Request, encoded};
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, to, until};
use serde_json::{Value, json};

const OPT_OUTS: &str = "/api/v2/opt-outs";
const EXPORT: &str = "/api/v2/exports/opt-outs.csv";
const CSV: &str = "text/csv";

async fn list(ogene: &Ogene, path: &str) -> Value {
    let list = Request::get(path).bearer(&ogene.shop.token);
    ogene.ask(&list).await.json()["data"].take()
}

async fn post_csv(ogene: &Ogene, file: &str) -> Answer {
    let post = Request::post(OPT_OUTS).bearer(&ogene.shop.token);
    ogene.ask(&post.body(CSV, file.to_owned())).await
}

/// Returns the recipients of the list, newest first.
async fn recipients(ogene: &Ogene) -> Vec<String> {
    let items = list(ogene, OPT_OUTS).await["items"].take();
    let items = items.as_array().expect("items");
    let recipient = |item: &Value| item["recipient"].as_str().expect("a number").to_owned();
    items.iter().map(recipient).collect()
}

#[tokio::test]
async fn an_opt_out_is_added_listed_and_removed() {
    let ogene = Ogene::start().await;
    let post = Request::post(OPT_OUTS).bearer(&ogene.shop.token);
    let fields = json!({"recipient": "0803 123 4567", "sender": SENDER, "reason": " complaint "});
    let keyed = post.clone().header("idempotency-key", "one").json(&fields);
    let first = ogene.ask(&keyed).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let data = first.json()["data"].take();
    assert_eq!(data["recipient"], "2348031234567");
    assert_eq!(data["reason"], "complaint");
    assert_eq!((&data["added"], &data["known"]), (&json!(1), &json!(0)));
    let again = ogene.ask(&keyed).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.text(), first.text());
    let other = post.clone().json(&json!({"recipient": MTN, "reason": "x"}));
    let other = ogene.ask(&other.header("idempotency-key", "one")).await;
    assert_eq!(other.code(), "API-2016");
    let form = encoded(&[("recipient", AIRTEL)]);
    let form = post.clone().body("application/x-www-form-urlencoded", form);
    assert_eq!(ogene.ask(&form).await.status, 200);
    let known = ogene.ask(&form).await.json()["data"].take();
    assert_eq!((&known["added"], &known["known"]), (&json!(0), &json!(1)));

    let page = list(&ogene, &format!("{OPT_OUTS}?limit=1")).await;
    assert_eq!(page["items"][0]["recipient"], AIRTEL);
    assert_eq!(page["items"][0]["sender"], Value::Null);
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let rest = list(&ogene, &format!("{OPT_OUTS}?cursor={cursor}")).await;
    assert_eq!(rest["items"][0]["created_at"], data["created_at"]);
    assert_eq!(rest["next_cursor"], Value::Null);

    until("the opt-out holds", async || {
        let refused = ogene.send(to(AIRTEL, "Hello")).await;
        (refused.code() == "API-2021").then_some(())
    })
    .await;
    for (path, status) in [
        (format!("{OPT_OUTS}/0803%20123%204567"), 200),
        (format!("{OPT_OUTS}/{AIRTEL}"), 200),
        (format!("{OPT_OUTS}/{AIRTEL}"), 404),
        (format!("{OPT_OUTS}/nobody"), 404),
    ] {
        let remove = Request::new("DELETE", &path).bearer(&ogene.shop.token);
        let removed = ogene.ask(&remove).await;
        assert_eq!(removed.status, status, "{path}: {}", removed.text());
    }
    assert_eq!(recipients(&ogene).await, [""; 0]);
    ogene.sent(to(AIRTEL, "Hello once more")).await;
    ogene.end().await;
}

#[tokio::test]
async fn a_csv_is_added_whole_or_not_at_all() {
    let ogene = Ogene::start().await;
    for (file, named) in [
        ("sender\nOgene\n".to_owned(), "`recipient`"),
        ("recipient\n".to_owned(), "no rows"),
        (
            format!("recipient,sender\n{MTN},\n{GLO},much too long\n"),
            "Row 2, column 2 (`sender`)",
        ),
        (
            format!("reason;recipient\n;{MTN}\n;twelve\n"),
            "Row 2, column 2 (`recipient`)",
        ),
    ] {
        let refused = post_csv(&ogene, &file).await;
        assert_eq!(refused.code(), "API-2000", "{file}");
        assert!(refused.text().contains(named), "{}", refused.text());
    }
    assert_eq!(recipients(&ogene).await, [""; 0], "nothing is kept");
    let file = format!("recipient,sender,reason\n{MTN},,\"a, b\"\n{GLO},{SENDER},\n{MTN},,c\n");
    let added = post_csv(&ogene, &file).await;
    assert_eq!(added.status, 200, "{}", added.text());
    let data = added.json()["data"].take();
    assert_eq!((&data["added"], &data["known"]), (&json!(2), &json!(1)));
    assert_eq!(data["recipient"], Value::Null);
    let items = list(&ogene, OPT_OUTS).await["items"].take();
    let reasons: Vec<&Value> = items.as_array().expect("items").iter().collect();
    let reason =
        |of: &str| reasons.iter().find(|one| one["recipient"] == of).unwrap()["reason"].clone();
    assert_eq!((reason(MTN), reason(GLO)), (json!("a, b"), Value::Null));
    ogene.end().await;
}

#[tokio::test]
async fn an_export_has_the_rows_that_a_csv_takes() {
    let ogene = Ogene::start().await;
    let header = "recipient,sender,reason";
    let file = format!("{header}\n{MTN},{SENDER},\"=1+1, he said\"\n");
    assert_eq!(post_csv(&ogene, &file).await.status, 200);
    let export = Request::get(EXPORT).bearer(&ogene.shop.token);
    let exported = ogene.ask(&export).await;
    assert_eq!(
        exported.header("content-type"),
        Some("text/csv; charset=utf-8")
    );
    let text = whole(exported.text());
    let row = format!("{header},created_at\r\n{MTN},{SENDER},\"'=1+1, he said\",");
    assert!(text.starts_with(&row), "{text}");
    let known = post_csv(&ogene, &text).await.json()["data"].take();
    assert_eq!((&known["added"], &known["known"]), (&json!(0), &json!(1)));
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_has_no_opt_outs_and_adds_none() {
    let ogene = Ogene::start().await;
    let token = &ogene.shop.token;
    let fields = json!({"recipient": MTN});
    let added = Request::post(OPT_OUTS).bearer(token).json(&fields);
    assert_eq!(ogene.ask(&added).await.status, 200);
    let empty = list(&ogene, "/api/sandbox/v2/opt-outs").await;
    assert_eq!(
        empty,
        json!({"items": [], "next_cursor": null, "sandbox": true})
    );
    let export = Request::get("/api/sandbox/v2/exports/opt-outs.csv").bearer(token);
    let export = ogene.ask(&export).await;
    let header = "recipient,sender,reason,created_at\r\n";
    assert_eq!(whole(export.text()), header);
    let add = Request::post("/api/sandbox/v2/opt-outs").bearer(token);
    assert_eq!(ogene.ask(&add.json(&fields)).await.status, 405);
    for (request, code) in [
        (Request::post(OPT_OUTS).json(&json!({})), "API-2000"),
        (
            Request::post(OPT_OUTS).json(&json!({"recipient": "1"})),
            "API-2000",
        ),
        (
            Request::post(OPT_OUTS).body("text/plain", MTN.to_owned()),
            "API-2000",
        ),
        (Request::get("/api/v2/opt-outs?cursor=x"), "API-2000"),
        (
            Request::post(OPT_OUTS).body(
                "application/json",
                format!("{{\"reason\": \"{}\"}}", "x".repeat(70_000)),
            ),
            "API-2017",
        ),
    ] {
        let refused = ogene.ask(&request.bearer(token)).await;
        assert_eq!(refused.code(), code, "{}", refused.text());
    }
    ogene.end().await;
}
