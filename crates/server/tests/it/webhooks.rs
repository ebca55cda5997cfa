//! Callbacks by the interface: secrets, dead callbacks, replay and attempts (docs/spec/webhooks.md).

use crate::kit::http::{Answer, Request};
use crate::kit::receiver::{Reaction, Receiver};
use crate::kit::{AIRTEL, Customer, MTN, Ogene, SENDER, to, until, with};
use serde_json::{Value, json};

const SECRETS: &str = "/api/v2/webhooks/secrets";
const DEAD: &str = "/api/v2/webhooks/dead";
const ATTEMPTS: &str = "/api/v2/webhooks/attempts";
const REPLAY: &str = "/api/v2/webhooks/replay";

async fn read(ogene: &Ogene, path: &str) -> Value {
    let read = Request::get(path).bearer(&ogene.shop.token);
    ogene.ask(&read).await.json()["data"].take()
}

async fn items(ogene: &Ogene, path: &str) -> Vec<Value> {
    let list = read(ogene, path).await;
    list["items"].as_array().cloned().unwrap_or_default()
}

async fn post(ogene: &Ogene, by: &Customer, path: &str, fields: Value) -> Answer {
    let post = Request::post(path).bearer(&by.token).json(&fields);
    ogene.ask(&post).await
}

/// Sends a message whose callback is dead at once. Returns its id.
async fn dead(ogene: &Ogene, path: &str, number: &str, receiver: &Receiver) -> String {
    let before = items(ogene, DEAD).await.len();
    receiver.react([Reaction::Status(404)]);
    let text = format!("To {number} by {path}");
    let fields = with(to(number, &text), json!({"callback_url": receiver.url}));
    let sent = post(ogene, &ogene.shop, path, fields).await.json();
    until("the callback is dead", async || {
        (items(ogene, DEAD).await.len() > before).then_some(())
    })
    .await;
    let id = sent["data"]["message_id"].as_str().map(str::to_owned);
    id.expect("an id")
}

#[tokio::test]
async fn a_customer_lists_and_replays_dead_callbacks() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let live = dead(&ogene, "/api/v2/sms", MTN, &receiver).await;
    let sandbox = dead(&ogene, "/api/sandbox/v2/sms", AIRTEL, &receiver).await;
    let listed = items(&ogene, DEAD).await;
    assert_eq!(listed[0]["message_id"], sandbox);
    assert_eq!(listed[0]["environment"], "sandbox");
    let last = &listed[1];
    assert_eq!(last["message_id"], live);
    let shown = [
        "recipient",
        "event",
        "delivery_status",
        "environment",
        "callback_url",
    ];
    let shown = shown.map(|name| last[name].clone());
    let expected = [
        MTN,
        "delivery_status",
        "delivrd",
        "live",
        receiver.url.as_str(),
    ];
    assert_eq!(shown, expected.map(Value::from));
    assert_eq!(items(&ogene, "/api/sandbox/v2/webhooks/dead").await, listed);
    // The pages of the list have each once.
    let page = read(&ogene, &format!("{DEAD}?limit=1")).await;
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let rest = read(&ogene, &format!("{DEAD}?limit=1&cursor={cursor}")).await;
    assert_eq!((&page["items"][0], &rest["items"][0]), (&listed[0], last));
    assert_eq!(rest["next_cursor"], Value::Null);

    let attempts = items(&ogene, &format!("{ATTEMPTS}?message_id={live}")).await;
    assert_eq!(attempts.len(), 1);
    assert_eq!(
        (&attempts[0]["attempt"], &attempts[0]["result"]),
        (&json!(1), &json!("404"))
    );
    assert_eq!(items(&ogene, ATTEMPTS).await.len(), 2);

    let replay = Request::post(REPLAY).bearer(&ogene.shop.token);
    let replay = replay.header("idempotency-key", "again");
    let replay = replay.json(&json!({ "message_id": live }));
    let first = ogene.ask(&replay).await;
    assert_eq!(
        first.json()["data"],
        json!({"replayed": 1}),
        "{}",
        first.text()
    );
    let again = receiver.called(3).await.remove(2);
    assert_eq!(again.field("message_id"), live);
    // The same request is answered as before, and replays nothing.
    let repeated = ogene.ask(&replay).await;
    assert_eq!(repeated.header("idempotent-replayed"), Some("true"));
    assert_eq!(repeated.text(), first.text());
    let all = post(&ogene, &ogene.shop, REPLAY, json!({})).await.json();
    assert_eq!(all["data"], json!({"replayed": 1}));
    assert_eq!(
        receiver.called(4).await.remove(3).field("message_id"),
        sandbox
    );
    assert_eq!(items(&ogene, DEAD).await, Vec::<Value>::new());
    ogene.end().await;
}

#[tokio::test]
async fn a_customer_makes_rotates_and_revokes_secrets() {
    let ogene = Ogene::start().await;
    let make = Request::post(SECRETS).bearer(&ogene.shop.token);
    let make = make.header("idempotency-key", "one").json(&json!({}));
    let (first, again) = (ogene.ask(&make).await, ogene.ask(&make).await);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let (mut first, again) = (first.json(), again.json());
    let secret = first["data"]["secret"].take();
    assert!(secret.as_str().expect("a secret").starts_with("whsec_"));
    assert_eq!(first, again, "a repetition has all but the secret");
    assert_eq!(items(&ogene, SECRETS).await, [first["data"].clone()]);
    assert_eq!(first["data"]["ends_at"], Value::Null);
    // Callbacks are signed within a second.
    let receiver = Receiver::start().await;
    let mut sent = 0;
    until("a callback is signed", async || {
        sent += 1;
        let fields = json!({"from": SENDER, "to": MTN, "body": format!("Hello {sent}"),
            "callback_url": receiver.url});
        ogene.sent_id(fields).await;
        let call = receiver.called(sent).await.pop()?;
        call.headers.contains_key("webhook-signature").then_some(())
    })
    .await;

    // A rotation ends the first one, and at most four sign at once.
    let rotate = async |overlap: Value| {
        post(&ogene, &ogene.shop, SECRETS, json!({ "overlap": overlap })).await
    };
    assert_eq!(rotate(json!("600")).await.status, 200);
    let listed = items(&ogene, SECRETS).await;
    assert_eq!(listed[1]["secret_id"], first["data"]["secret_id"]);
    assert!(listed[1]["ends_at"].is_string() && listed[0]["ends_at"].is_null());
    for _ in 0..2 {
        assert_eq!(rotate(json!(604_800)).await.status, 200);
    }
    assert_eq!(rotate(Value::Null).await.code(), "API-3004");
    assert_eq!(rotate(json!(604_801)).await.code(), "API-2000");
    assert_eq!(items(&ogene, SECRETS).await.len(), 4);

    for secret in &listed {
        let id = secret["secret_id"].as_str().expect("an id");
        let revoke = Request::new("DELETE", &format!("{SECRETS}/{id}"));
        let revoke = revoke.bearer(&ogene.shop.token);
        let revoked = ogene.ask(&revoke).await.json();
        assert_eq!(revoked["data"], json!({ "secret_id": id }));
        assert_eq!(ogene.ask(&revoke).await.code(), "API-2007");
    }
    assert_eq!(items(&ogene, SECRETS).await.len(), 2);
    ogene.end().await;
}

#[tokio::test]
async fn another_accounts_callbacks_are_unknown() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let id = dead(&ogene, "/api/v2/sms", MTN, &receiver).await;
    let made = post(&ogene, &ogene.shop, SECRETS, json!({})).await.json();
    let secret = made["data"]["secret_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let other = ogene.customer("5.00").await;
    for path in [
        SECRETS,
        DEAD,
        ATTEMPTS,
        &format!("{ATTEMPTS}?message_id={id}"),
    ] {
        let list = Request::get(path).bearer(&other.token);
        let list = ogene.ask(&list).await.json();
        assert_eq!(list["data"]["items"], json!([]), "{path}");
    }
    let unknown = "019a5c1e-9f00-7abc-8000-000000000001";
    for (id, code) in [
        (id.as_str(), "API-2007"),
        (unknown, "API-2007"),
        ("7", "API-2007"),
    ] {
        let replay = post(&ogene, &other, REPLAY, json!({ "message_id": id })).await;
        assert_eq!(replay.code(), code, "{id}");
    }
    let replay = post(&ogene, &other, REPLAY, json!({})).await.json();
    assert_eq!(replay["data"]["replayed"], 0);
    let revoke = Request::new("DELETE", &format!("{SECRETS}/{secret}"));
    let revoke = ogene.ask(&revoke.bearer(&other.token)).await;
    assert_eq!(revoke.code(), "API-2007");
    assert_eq!(items(&ogene, DEAD).await.len(), 1);
    assert_eq!(items(&ogene, SECRETS).await.len(), 1);
    ogene.end().await;
}
