//! Outcomes are posted to the customer's URL (docs/spec/delivery.md, section 4).

use crate::kit::http::Request;
use crate::kit::receiver::{Call, Reaction, Receiver};
use crate::kit::wire::{self, receipt, rule};
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, Setup, operations, to, until, with};
use engine::operators::{PageRequest, Replay};
use serde_json::json;
use smpp::ReceiptState;
use smpp::simulator::{Fate, Script};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::time::Instant;

fn called_back(number: &str, body: &str, receiver: &Receiver) -> serde_json::Value {
    with(to(number, body), json!({"callback_url": receiver.url}))
}

/// Sends a message with so many attempts at its callback that all earlier callbacks are done.
async fn barrier(ogene: &Ogene, number: &str, receiver: &Receiver) {
    let before = receiver.calls().len();
    receiver.react([Reaction::Status(500); 3]);
    let id = ogene
        .sent_id(called_back(number, "The barrier", receiver))
        .await;
    let calls = receiver.called(before + 4).await;
    assert!(
        calls[before..]
            .iter()
            .all(|call| call.field("message_id") == id),
        "only the barrier is called"
    );
}

#[tokio::test]
async fn each_outcome_is_told_exactly_once_with_the_exact_body() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let fields = json!({
        "from": SENDER, "to": "2348031230001", "body": "Hello", "callback_url": receiver.url,
        "customer_reference": "order \"7\" ẹ",
    });
    let id = ogene.sent_id(fields).await;
    let call = receiver.called(1).await.remove(0);
    assert_eq!(call.target, "/delivery?key=s3cret");
    assert_eq!(call.headers["content-type"], "application/json");
    assert!(
        call.headers
            .keys()
            .all(|name| !name.as_str().starts_with("webhook-")),
        "not signed unless asked for"
    );
    let text = call
        .text
        .replace(&id, "[id]")
        .replace(&receiver.url, "[url]");
    insta::assert_snapshot!(testkit::indented(&text), @r#"
    {
      "message_id": "[id]",
      "recipient": "2348031230001",
      "delivery_status": "delivrd",
      "customer_reference": "order \"7\" ẹ",
      "callback_url": "[url]",
      "data": {
        "message_id": "[id]",
        "recipient": "2348031230001",
        "delivery_status": "delivrd",
        "customer_reference": "order \"7\" ẹ"
      }
    }
    "#);
    barrier(&ogene, MTN, &receiver).await;
    ogene.end().await;
}

#[tokio::test]
async fn each_recipient_has_a_callback_of_its_own() {
    let rules = vec![rule("0002", receipt(ReceiptState::Undeliverable))];
    let ogene = Setup::new()
        .script(Script {
            rules,
            ..Script::default()
        })
        .start()
        .await;
    let receiver = Receiver::start().await;
    let id = ogene
        .sent_id(called_back(
            "2348031230001,2348031230002",
            "Hello both",
            &receiver,
        ))
        .await;
    let calls = receiver.called(2).await;
    let mut outcomes: Vec<_> = calls
        .iter()
        .map(|call| (call.field("recipient"), call.field("delivery_status")))
        .collect();
    outcomes.sort();
    let expected = [("2348031230001", "delivrd"), ("2348031230002", "undeliv")];
    assert_eq!(
        outcomes,
        expected.map(|(number, status)| (number.to_owned(), status.to_owned()))
    );
    for call in &calls {
        let body = call.json();
        assert_eq!(body["customer_reference"], json!(null), "it has none");
        for field in [
            "message_id",
            "recipient",
            "delivery_status",
            "customer_reference",
        ] {
            assert_eq!(body["data"][field], body[field]);
        }
        assert_eq!(body["message_id"], id);
    }
    barrier(&ogene, MTN, &receiver).await;
    ogene.end().await;
}

#[tokio::test]
async fn a_callback_is_repeated_until_it_is_taken() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    receiver.react([500, 408, 425, 429, 204].map(Reaction::Status));
    let id = ogene.sent_id(called_back(MTN, "Hello", &receiver)).await;
    let calls = receiver.called(5).await;
    assert!(
        calls.iter().all(|call| call.text == calls[0].text),
        "the same each time"
    );
    assert_eq!(calls[0].field("message_id"), id);
    barrier(&ogene, AIRTEL, &receiver).await;
    ogene.end().await;
}

#[tokio::test]
async fn a_receiver_that_says_when_is_not_asked_before() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    receiver.react([Reaction::Later(2)]);
    ogene.sent(called_back(MTN, "Hello", &receiver)).await;
    receiver.called(1).await;
    let first = Instant::now();
    receiver.called(2).await;
    assert!(
        first.elapsed() >= Duration::from_millis(1_500),
        "{:?}",
        first.elapsed()
    );
    ogene.end().await;
}

#[tokio::test]
async fn an_answer_of_256_headers_is_read() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    receiver.react([Reaction::Headers(256)]);
    ogene.sent(called_back(MTN, "Hello", &receiver)).await;
    receiver.called(1).await;
    // The callback is not repeated.
    barrier(&ogene, AIRTEL, &receiver).await;
    ogene.end().await;
}

#[tokio::test]
async fn redirects_and_refusals_end_a_callback() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let endings = [
        Reaction::Status(400),
        Reaction::Status(401),
        Reaction::Status(404),
        Reaction::Status(422),
        Reaction::Redirect,
    ];
    for (number, reaction) in endings.into_iter().enumerate() {
        receiver.react([reaction]);
        ogene
            .sent(called_back(MTN, &format!("Text {number}"), &receiver))
            .await;
        assert_eq!(receiver.called(number + 1).await.len(), number + 1);
    }
    barrier(&ogene, AIRTEL, &receiver).await;
    ogene.end().await;
}

#[tokio::test]
async fn a_dead_callback_is_kept_until_an_operator_replays_it() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    receiver.react([Reaction::Status(404)]);
    let id = ogene
        .sent_id(called_back(MTN, "Hello again", &receiver))
        .await;
    let refused = receiver.called(1).await.remove(0);
    let store = ogene.store().await;
    let dead = until("the callback is dead", async || {
        operations(&store)
            .callbacks()
            .dead_origins(&PageRequest::default())
            .await
            .unwrap()
            .items
            .pop()
    })
    .await;
    assert_eq!((dead.account, dead.callbacks), (ogene.shop.id, 1));
    let which = Replay {
        message: Some(id.parse().expect("an id")),
        ..Replay::default()
    };
    let replayed = operations(&store).callbacks().replay(&which).await;
    assert_eq!(replayed.unwrap(), 1);
    let again = receiver.called(2).await.remove(1);
    assert_eq!(again.text, refused.text);
    let dead = operations(&store).callbacks();
    let dead = dead.dead_origins(&PageRequest::default()).await.unwrap();
    assert_eq!(dead.items, []);
    store.close().await;
    ogene.end().await;
}

/// Returns the signature of a callback as Python computes it.
pub(crate) fn hmac(secret: &str, call: &Call) -> String {
    const RUN: &str = "import base64, hmac, sys; key, signed = sys.argv[1], sys.stdin.buffer.read(); \
        print(base64.b64encode(hmac.digest(base64.b64decode(key), signed, 'sha256')).decode())";
    let header = |name: &str| call.headers[name].to_str().expect("text").to_owned();
    let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
    let key = secret.strip_prefix("whsec_").expect("the form of a secret");
    let mut python = Command::new("python3")
        .args(["-c", RUN, key])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python");
    let mut signed = python.stdin.take().expect("a pipe");
    write!(signed, "{id}.{at}.{}", call.text).expect("written");
    drop(signed);
    let output = python.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("base64");
    format!("v1,{}", text.trim())
}

/// Returns the signatures of a callback, each once.
pub(crate) fn signatures(call: &Call) -> BTreeSet<String> {
    let header = call.headers.get("webhook-signature");
    let text = header.map_or("", |value| value.to_str().expect("text"));
    text.split_whitespace().map(str::to_owned).collect()
}

/// Sends until a callback has so many signatures.
pub(crate) async fn signed(ogene: &Ogene, receiver: &Receiver, count: usize) -> Call {
    let since = Instant::now();
    for turn in 0.. {
        let before = receiver.calls().len();
        let text = format!("Turn {turn} of {count}, after {before}");
        ogene.sent(called_back(MTN, &text, receiver)).await;
        let call = receiver.called(before + 1).await.remove(before);
        if signatures(&call).len() == count {
            return call;
        }
        assert!(since.elapsed() < Duration::from_secs(5), "seen in a second");
    }
    unreachable!()
}

#[tokio::test]
async fn callbacks_are_signed_as_standard_webhooks_verify_them() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    let store = ogene.store().await;
    let first = operations(&store)
        .callbacks()
        .create_secret(ogene.shop.id)
        .await;
    let first = first.expect("made").signing.secret.text();
    let call = signed(&ogene, &receiver, 1).await;
    assert_eq!(signatures(&call), [hmac(&first, &call)].into());
    // Another attempt has the id of the same update, and its own time.
    receiver.react([Reaction::Later(1)]);
    let before = receiver.calls().len();
    ogene.sent(called_back(AIRTEL, "Again", &receiver)).await;
    let calls = receiver.called(before + 2).await;
    let (one, two) = (&calls[before], &calls[before + 1]);
    assert_eq!(one.headers["webhook-id"], two.headers["webhook-id"]);
    assert_ne!(one.headers["webhook-id"], call.headers["webhook-id"]);
    assert_ne!(
        one.headers["webhook-timestamp"],
        two.headers["webhook-timestamp"]
    );
    assert_eq!(signatures(two), [hmac(&first, two)].into());
    // Both secrets sign during the rotation, and none after the revocation.
    let overlap = Duration::from_hours(24);
    let second = operations(&store)
        .callbacks()
        .rotate_secret(ogene.shop.id, overlap)
        .await;
    let second = second.expect("made").signing.secret.text();
    let call = signed(&ogene, &receiver, 2).await;
    let both = [hmac(&first, &call), hmac(&second, &call)];
    assert_eq!(signatures(&call), both.into());
    let revoked = operations(&store)
        .callbacks()
        .revoke_secrets(ogene.shop.id, None)
        .await;
    assert_eq!(revoked.expect("revoked"), 2);
    let call = signed(&ogene, &receiver, 0).await;
    let names = call.headers.keys();
    let of_signatures = names.filter(|name| name.as_str().starts_with("webhook-"));
    assert_eq!(of_signatures.count(), 0);
    store.close().await;
    ogene.end().await;
}

#[tokio::test]
async fn failed_attempts_are_kept_with_the_final_one() {
    let ogene = Ogene::start().await;
    let receiver = Receiver::start().await;
    ogene.sent(called_back(MTN, "At once", &receiver)).await;
    receiver.called(1).await;
    receiver.react([Reaction::Status(500), Reaction::Status(503)]);
    let id = ogene.sent_id(called_back(MTN, "Late", &receiver)).await;
    receiver.called(4).await;
    let closed = with(
        to(AIRTEL, "Nobody"),
        json!({"callback_url": "http://127.0.0.1:1/"}),
    );
    let nobody = ogene.sent_id(closed).await.parse().expect("an id");
    let store = ogene.store().await;
    let kept = async |message, count| {
        until("the attempts are kept", async || {
            let kept = operations(&store)
                .callbacks()
                .attempts(ogene.shop.id, message, &PageRequest::default())
                .await;
            let kept = kept.expect("an answer").items;
            (kept.len() >= count).then_some(kept)
        })
        .await
    };
    let refused = kept(Some(nobody), 1).await.remove(0);
    assert_eq!(refused.attempted.result, "unreachable");
    let late = kept(Some(id.parse().expect("an id")), 3).await;
    let shown: Vec<_> = late
        .iter()
        .map(|kept| (kept.attempt, kept.attempted.result.as_str()))
        .collect();
    assert_eq!(shown, [(3, "200"), (2, "503"), (1, "500")]);
    let all = kept(None, 4).await;
    let known = [refused.message, late[0].message];
    assert!(all.iter().all(|kept| known.contains(&kept.message)));
    store.close().await;
    ogene.end().await;
}

#[tokio::test]
async fn gone_ends_all_callbacks_of_the_message_and_of_no_other() {
    let rules = vec![rule(AIRTEL, Fate::Pending), rule(GLO, Fate::Pending)];
    let ogene = Setup::new()
        .script(Script {
            rules,
            ..Script::default()
        })
        .start()
        .await;
    let receiver = Receiver::start().await;
    receiver.react([Reaction::Status(410)]);
    let id = ogene
        .sent_id(called_back(
            &[MTN, AIRTEL, GLO].join(","),
            "Hello",
            &receiver,
        ))
        .await;
    receiver.called(1).await;
    barrier(&ogene, "2348031230001", &receiver).await;
    // The others are delivered later, without a callback.
    for received in &ogene.received(3).await[..3] {
        if received.submit.destination.digits != MTN {
            ogene
                .smsc()
                .send("ogene", wire::written(received, "DELIVRD"));
        }
    }
    assert_eq!(ogene.outcome(&id).await, ["delivrd"; 3]);
    barrier(&ogene, "2348031230002", &receiver).await;
    let of_it = receiver
        .calls()
        .iter()
        .filter(|call| call.field("message_id") == id)
        .count();
    assert_eq!(of_it, 1);
    ogene.end().await;
}

#[tokio::test]
async fn a_receiver_that_was_down_is_told_when_it_is_back() {
    let ogene = Ogene::start().await;
    let away = Receiver::start().await;
    let (url, port) = (away.url.clone(), away.port);
    drop(away);
    let id = ogene
        .sent_id(with(to(MTN, "Hello"), json!({"callback_url": url})))
        .await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    until("an attempt has failed", async || {
        let metrics = ogene.ask(&Request::get("/metrics")).await;
        metrics.text().contains("unreachable").then_some(())
    })
    .await;
    let back = Receiver::start_on(port).await;
    assert_eq!(back.called(1).await[0].field("message_id"), id);
    ogene.end().await;
}

#[tokio::test]
async fn a_callback_outlives_a_restart() {
    let mut ogene = Setup::new()
        .set("callbacks.retry_delays", r#"["1s", "1s", "1s", "1s"]"#)
        .start()
        .await;
    let receiver = Receiver::start().await;
    receiver.always(Some(Reaction::Status(500)));
    let id = ogene.sent_id(called_back(MTN, "Hello", &receiver)).await;
    receiver.called(1).await;
    ogene.stop().await;
    receiver.always(None);
    let before = receiver.calls().len();
    ogene.serve().await;
    let calls = receiver.called(before + 1).await;
    assert_eq!(calls[before].field("message_id"), id);
    ogene.end().await;
}

#[tokio::test]
async fn a_receiver_that_never_answers_holds_up_nobody_else() {
    let ogene = Ogene::start().await;
    let (silent, quick) = (Receiver::start().await, Receiver::start().await);
    silent.always(Some(Reaction::Silence));
    let numbers: Vec<_> = (0..30)
        .map(|last| format!("23480312300{last:02}"))
        .collect();
    ogene
        .sent(called_back(&numbers.join(","), "Hello", &silent))
        .await;
    silent.called(1).await;
    ogene.sent(called_back(MTN, "Hello", &quick)).await;
    let since = Instant::now();
    quick.called(1).await;
    assert!(
        since.elapsed() < Duration::from_secs(5),
        "{:?}",
        since.elapsed()
    );
    assert!(silent.calls().len() <= 8, "so many at once to one origin");
    ogene.end().await;
}

#[tokio::test]
async fn private_targets_are_refused_unless_the_operator_allows_them() {
    let ogene = Setup::new()
        .set("callbacks.allow_private_targets", "false")
        .start()
        .await;
    let receiver = Receiver::start().await;
    let literals = [
        receiver.url.as_str(),
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://169.254.169.254/latest/meta-data",
        "http://192.168.1.1/",
        "http://0.0.0.0/",
    ];
    for url in literals {
        let answer = ogene
            .send(with(to(MTN, "Hello"), json!({"callback_url": url})))
            .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2015"),
            "{url}"
        );
    }
    for url in [
        "ftp://example.com/",
        "example.com/x",
        "http://",
        "javascript:alert(1)",
        "/path",
        "http:// /",
    ] {
        let answer = ogene
            .send(with(to(MTN, "Hello"), json!({"callback_url": url})))
            .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2015"),
            "{url}"
        );
    }
    // A name that resolves to a private address is refused at the connect.
    let named = receiver.url.replace("127.0.0.1", "localhost");
    let id = ogene
        .sent_id(with(to(MTN, "Hello"), json!({"callback_url": named})))
        .await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    until("the attempt is refused", async || {
        let metrics = ogene.ask(&Request::get("/metrics")).await;
        metrics.text().contains("forbidden").then_some(())
    })
    .await;
    assert_eq!(receiver.calls().len(), 0);
    ogene.end().await;
}

#[tokio::test]
async fn a_state_that_no_callback_is_in_is_told_too() {
    let ogene = Ogene::start().await;
    until("all states are told", async || {
        let metrics = ogene.ask(&Request::get("/metrics")).await;
        let states = ["due", "claimed", "dead"];
        let none = |state: &&str| format!("ogene_callbacks{{state=\"{state}\"}} 0\n");
        let told = |state: &&str| metrics.text().contains(&none(state));
        states.iter().all(told).then_some(())
    })
    .await;
    ogene.end().await;
}
