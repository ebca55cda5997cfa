//! One-time passwords: sent, verified, resent, cancelled (docs/spec/interface.md, section 13).

use crate::kit::http::{Answer, Request};
use crate::kit::wire;
use crate::kit::{GLO, MTN, Ogene, SENDER, until};
use serde_json::{Value, json};
use tokio::task::JoinSet;

const PATH: &str = "/api/v2/otp";

async fn post(ogene: &Ogene, path: &str, fields: &Value) -> Answer {
    let request = Request::post(path).bearer(&ogene.shop.token);
    ogene.ask(&request.json(fields)).await
}

async fn create(ogene: &Ogene, fields: Value) -> Value {
    let answer = post(ogene, PATH, &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"].clone()
}

fn id_of(data: &Value) -> &str {
    data["otp_id"].as_str().expect("an id")
}

/// Returns the code that the phone received.
async fn received_code(ogene: &Ogene, number: &str) -> String {
    until("the code is sent", async || {
        (wire::count(&ogene.smsc().received(), number) > 0).then_some(())
    })
    .await;
    let text = wire::text(&ogene.smsc().received(), number);
    text.split(' ').next().expect("a word").to_owned()
}

async fn verify(ogene: &Ogene, id: &str, code: &str) -> Value {
    let answer = post(
        ogene,
        &format!("{PATH}/{id}/verify"),
        &json!({"code": code}),
    )
    .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["data"].clone()
}

async fn state(ogene: &Ogene, id: &str) -> String {
    let request = Request::get(&format!("{PATH}/{id}")).bearer(&ogene.shop.token);
    let data = ogene.ask(&request).await.json()["data"].clone();
    data["state"].as_str().expect("a state").to_owned()
}

/// Returns another code of the same form.
fn other(code: &str) -> String {
    let turn = |digit: char| if digit == '1' { '2' } else { '1' };
    code.chars().map(turn).collect()
}

#[tokio::test]
async fn the_code_on_the_phone_verifies_once() {
    let ogene = Ogene::start().await;
    let before = ogene.total().await;
    let data = create(&ogene, json!({"to": MTN, "from": SENDER})).await;
    assert!(data["code"].is_null() && data.get("code").is_none());
    assert!((before - ogene.total().await - data["cost"].as_f64().unwrap()).abs() < 1e-9);
    let code = received_code(&ogene, MTN).await;
    assert!(
        code.len() == 6 && code.bytes().all(|byte| byte.is_ascii_digit()),
        "{code}"
    );
    let id = id_of(&data);
    assert_eq!(state(&ogene, id).await, "pending");
    assert_eq!(
        verify(&ogene, id, &other(&code)).await,
        json!({"verified": false, "reason": "wrong", "attempts_left": 2})
    );
    let spaced = format!(" {} {} ", &code[..3], &code[3..]);
    assert_eq!(
        verify(&ogene, id, &spaced).await,
        json!({"verified": true, "reason": null, "attempts_left": 2})
    );
    assert_eq!(
        verify(&ogene, id, &code).await,
        json!({"verified": false, "reason": "already_verified", "attempts_left": 2})
    );
    assert_eq!(state(&ogene, id).await, "verified");
    let late = post(&ogene, &format!("{PATH}/{id}/cancel"), &json!({})).await;
    assert_eq!((late.status, &*late.code()), (409, "API-2019"));
    ogene.end().await;
}

#[tokio::test]
async fn a_code_verifies_once_whatever_arrives_at_once() {
    let ogene = Ogene::start().await;
    let data = create(&ogene, json!({"to": MTN, "from": SENDER})).await;
    let code = received_code(&ogene, MTN).await;
    let id = id_of(&data).to_owned();
    let mut asked = JoinSet::new();
    for _ in 0..20 {
        let path = format!("{PATH}/{id}/verify");
        let request = Request::post(&path).bearer(&ogene.shop.token);
        let (request, address) = (request.json(&json!({"code": code})), ogene.address);
        asked.spawn(async move { crate::kit::http::try_ask(address, &request).await });
    }
    let mut verified = 0;
    while let Some(answer) = asked.join_next().await {
        let answer = answer.unwrap().unwrap().json();
        verified += u32::from(answer["data"]["verified"] == true);
    }
    assert_eq!(verified, 1);
    ogene.end().await;
}

#[tokio::test]
async fn wrong_codes_end_it_and_malformed_ones_do_not_count() {
    let ogene = Ogene::start().await;
    let fields = json!({"to": MTN, "from": SENDER, "max_attempts": 2, "length": 8,
        "kind": "alphanumeric", "body": "Ada: {code} is {code}"});
    let data = create(&ogene, fields).await;
    until("the code is sent", async || {
        (wire::count(&ogene.smsc().received(), MTN) > 0).then_some(())
    })
    .await;
    let text = wire::text(&ogene.smsc().received(), MTN);
    let code = text.rsplit(' ').next().unwrap().to_owned();
    assert_eq!(text, format!("Ada: {code} is {code}"));
    let id = id_of(&data);
    for malformed in ["1234567", "123456789", "12-45678", ""] {
        let path = format!("{PATH}/{id}/verify");
        let answer = post(&ogene, &path, &json!({"code": malformed})).await;
        assert_eq!(
            (answer.status, &*answer.code()),
            (400, "API-2000"),
            "{malformed}"
        );
    }
    assert_eq!(verify(&ogene, id, "00000000").await["attempts_left"], 1);
    assert_eq!(verify(&ogene, id, "00000000").await["reason"], "wrong");
    assert_eq!(
        verify(&ogene, id, &code.to_lowercase()).await,
        json!({"verified": false, "reason": "too_many_attempts", "attempts_left": 0})
    );
    assert_eq!(state(&ogene, id).await, "failed");
    ogene.end().await;
}

#[tokio::test]
async fn a_cancelled_one_is_not_verified_or_sent_again() {
    let ogene = Ogene::start().await;
    let data = create(&ogene, json!({"to": MTN, "from": SENDER})).await;
    let code = received_code(&ogene, MTN).await;
    let id = id_of(&data);
    let soon = post(&ogene, &format!("{PATH}/{id}/resend"), &json!({})).await;
    assert_eq!((soon.status, &*soon.code()), (429, "API-3004"));
    assert!(soon.header("retry-after").is_some());
    let cancelled = post(&ogene, &format!("{PATH}/{id}/cancel"), &json!({})).await;
    assert_eq!(cancelled.json()["data"]["state"], "cancelled");
    assert_eq!(verify(&ogene, id, &code).await["reason"], "cancelled");
    let again = post(&ogene, &format!("{PATH}/{id}/resend"), &json!({})).await;
    assert_eq!((again.status, &*again.code()), (409, "API-2019"));
    ogene.end().await;
}

#[tokio::test]
async fn the_same_code_is_sent_again_and_charged() {
    let ogene = Ogene::start().await;
    let data = create(&ogene, json!({"to": MTN, "from": SENDER})).await;
    let code = received_code(&ogene, MTN).await;
    ogene.sql("update otps set sent_times = '1000'");
    let before = ogene.total().await;
    let again = post(
        &ogene,
        &format!("{PATH}/{}/resend", id_of(&data)),
        &json!({}),
    )
    .await;
    assert_eq!(again.status, 200, "{}", again.text());
    let again = again.json()["data"].clone();
    assert_eq!(again["otp_id"], data["otp_id"]);
    assert_ne!(again["message_id"], data["message_id"]);
    assert_eq!(again["expires_at"], data["expires_at"]);
    assert!(before > ogene.total().await);
    until("it is sent again", async || {
        (wire::count(&ogene.smsc().received(), MTN) == 2).then_some(())
    })
    .await;
    let texts = wire::pages(&ogene.smsc().received(), MTN);
    assert!(texts.iter().all(|text| wire::gsm(text).starts_with(&code)));
    ogene.end().await;
}

#[tokio::test]
async fn a_unicode_text_is_sent_again_unchanged() {
    let ogene = Ogene::start().await;
    let body = "{code} ni kóòdù rẹ";
    let fields = json!({"to": MTN, "from": SENDER, "body": body, "unicode": true});
    let data = create(&ogene, fields).await;
    ogene.sql("update otps set sent_times = '1000'");
    let path = format!("{PATH}/{}/resend", id_of(&data));
    let again = post(&ogene, &path, &json!({})).await;
    assert_eq!(again.status, 200, "{}", again.text());
    assert_eq!(again.json()["data"]["cost"], data["cost"]);
    until("it is sent again", async || {
        (wire::count(&ogene.smsc().received(), MTN) == 2).then_some(())
    })
    .await;
    let pages = wire::pages(&ogene.smsc().received(), MTN);
    assert_eq!(pages.first(), pages.last());
    ogene.end().await;
}

#[tokio::test]
async fn a_number_gets_five_an_hour() {
    let ogene = Ogene::start().await;
    for _ in 0..5 {
        create(&ogene, json!({"to": MTN, "from": SENDER})).await;
    }
    let before = ogene.total().await;
    let sixth = post(&ogene, PATH, &json!({"to": MTN, "from": SENDER})).await;
    assert_eq!((sixth.status, &*sixth.code()), (429, "API-3004"));
    assert!(sixth.header("retry-after").is_some());
    assert!((before - ogene.total().await).abs() < f64::EPSILON);
    create(&ogene, json!({"to": GLO, "from": SENDER})).await;
    ogene.end().await;
}

#[tokio::test]
async fn bad_requests_are_refused_before_a_charge() {
    let ogene = Ogene::start().await;
    let before = ogene.total().await;
    for (fields, code) in [
        (json!({"from": SENDER}), "API-2003"),
        (
            json!({"to": format!("{MTN},{GLO}"), "from": SENDER}),
            "API-2000",
        ),
        (
            json!({"to": format!("{MTN},12345"), "from": SENDER}),
            "API-2000",
        ),
        (
            json!({"to": MTN, "from": SENDER, "body": "no place"}),
            "API-2000",
        ),
        (json!({"to": MTN, "from": SENDER, "length": 11}), "API-2000"),
        (
            json!({"to": MTN, "from": SENDER, "kind": "letters"}),
            "API-2000",
        ),
        (
            json!({"to": MTN, "from": SENDER, "expires_in": 59}),
            "API-2000",
        ),
        (json!({"to": MTN, "from": "Nobody"}), "API-2011"),
    ] {
        let answer = post(&ogene, PATH, &fields).await;
        assert_eq!(answer.code(), code, "{fields}");
    }
    for path in ["/nonsense", "/01a1ee56-5e00-7707-8707-070707070707"] {
        let answer = post(
            &ogene,
            &format!("{PATH}{path}/verify"),
            &json!({"code": "1"}),
        )
        .await;
        assert_eq!((answer.status, &*answer.code()), (404, "API-2007"));
    }
    assert!((before - ogene.total().await).abs() < f64::EPSILON);
    ogene.end().await;
}

#[tokio::test]
async fn the_sandbox_shows_the_code_in_its_first_answer() {
    let ogene = Ogene::start().await;
    let path = "/api/sandbox/v2/otp";
    let ask = async || {
        let request = Request::post(path).bearer(&ogene.shop.token);
        let request = request.header("idempotency-key", "login-1");
        ogene
            .ask(&request.json(&json!({"to": MTN, "from": SENDER})))
            .await
    };
    let first = ask().await.json()["data"].clone();
    let code = first["code"].as_str().expect("a code").to_owned();
    let again = ask().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let again = again.json()["data"].clone();
    assert_eq!(again["otp_id"], first["otp_id"]);
    assert!(again.get("code").is_some_and(Value::is_null));
    let path = format!("{path}/{}/verify", id_of(&first));
    let answer = post(&ogene, &path, &json!({"code": code})).await;
    assert_eq!(answer.json()["data"]["verified"], true);
    ogene.end().await;
}

#[tokio::test]
async fn fields_that_nothing_reads_and_changes_are_named() {
    let ogene = Ogene::start().await;
    let fields = json!({
        "to": MTN, "from": SENDER, "body": "{code}: welcome 😀", "code": "1", "gateway": "direct-refund",
        "send_at": "2020-01-01 10:00:00", "validity": 1, "append_sender": "all", "nobody": 1,
    });
    let data = create(&ogene, fields).await;
    let mut ignored: Vec<&str> = data["ignored_fields"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|name| name.as_str().expect("a name"))
        .collect();
    ignored.sort_unstable();
    let expected = [
        "append_sender",
        "code",
        "gateway",
        "nobody",
        "send_at",
        "validity",
    ];
    assert_eq!(ignored, expected);
    assert_eq!(data["text_changed"], true);
    assert_eq!(data["removed_characters"], 1);
    received_code(&ogene, MTN).await;
    let text = wire::text(&ogene.smsc().received(), MTN);
    assert!(!text.contains(SENDER), "{text}");
    ogene.sql("update otps set sent_times = '1000'");
    let path = format!("{PATH}/{}/resend", id_of(&data));
    let again = post(&ogene, &path, &json!({"body": "Other"})).await;
    let again = again.json()["data"].clone();
    assert_eq!(again["ignored_fields"], json!(["body"]));
    assert_eq!(again["text_changed"], false);
    let plain = create(&ogene, json!({"to": GLO, "from": SENDER})).await;
    assert!(plain.get("ignored_fields").is_none());
    ogene.end().await;
}

async fn keyed(ogene: &Ogene, path: &str, key: &str, fields: &Value) -> Answer {
    let request = Request::post(path).bearer(&ogene.shop.token);
    let request = request.header("idempotency-key", key);
    ogene.ask(&request.json(fields)).await
}

fn assert_replayed(answer: &Answer, first: &Answer) {
    assert_eq!((answer.status, answer.text()), (200, first.text()));
    assert_eq!(answer.header("idempotent-replayed"), Some("true"));
}

#[tokio::test]
async fn a_resend_is_made_once_under_its_key() {
    let ogene = Ogene::start().await;
    let data = create(&ogene, json!({"to": MTN, "from": SENDER})).await;
    received_code(&ogene, MTN).await;
    let path = format!("{PATH}/{}/resend", id_of(&data));
    // A refused request leaves its key free.
    let soon = keyed(&ogene, &path, "again", &json!({})).await;
    assert_eq!((soon.status, &*soon.code()), (429, "API-3004"));
    ogene.sql("update otps set sent_times = '1000'");
    let first = keyed(&ogene, &path, "again", &json!({})).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let charged = ogene.total().await;
    assert_replayed(&keyed(&ogene, &path, "again", &json!({})).await, &first);
    // The answer outlasts the one-time password.
    ogene.sql("delete from otps");
    assert_replayed(&keyed(&ogene, &path, "again", &json!({})).await, &first);
    assert!((charged - ogene.total().await).abs() < f64::EPSILON);
    let messages = ogene.sql("select count(*) from messages");
    assert_eq!(messages.trim(), "2");
    let other = keyed(&ogene, PATH, "again", &json!({"to": GLO, "from": SENDER})).await;
    assert_eq!((other.status, &*other.code()), (422, "API-2016"));
    ogene.end().await;
}

#[tokio::test]
async fn an_attempt_counts_once_under_its_key() {
    let ogene = Ogene::start().await;
    let data = create(&ogene, json!({"to": MTN, "from": SENDER})).await;
    let code = received_code(&ogene, MTN).await;
    let path = format!("{PATH}/{}/verify", id_of(&data));
    let verify = async |key: &str, code: &str| {
        let answer = keyed(&ogene, &path, key, &json!({"code": code})).await;
        (answer.json()["data"].clone(), answer)
    };
    let malformed = verify("wrong", "1").await.1;
    assert_eq!(malformed.code(), "API-2000");
    let (data, wrong) = verify("wrong", &other(&code)).await;
    assert_eq!(data["attempts_left"], 2);
    let again = verify("wrong", &format!(" {} ", other(&code))).await.1;
    assert_replayed(&again, &wrong);
    let used = verify("wrong", &code).await.1;
    assert_eq!((used.status, &*used.code()), (422, "API-2016"));
    let (data, right) = verify("right", &code).await;
    assert_eq!(
        (&data["verified"], &data["attempts_left"]),
        (&json!(true), &json!(2))
    );
    assert_replayed(&verify("right", &code).await.1, &right);
    let (data, _) = verify("later", &code).await;
    assert_eq!(data["reason"], "already_verified");
    ogene.end().await;
}

#[tokio::test]
async fn a_cancellation_is_repeated_under_its_key() {
    let ogene = Ogene::start().await;
    let data = create(&ogene, json!({"to": MTN, "from": SENDER})).await;
    let path = format!("{PATH}/{}/cancel", id_of(&data));
    let first = keyed(&ogene, &path, "one", &json!({})).await;
    assert_eq!(first.json()["data"]["state"], "cancelled");
    assert_replayed(&keyed(&ogene, &path, "one", &json!({})).await, &first);
    let late = keyed(&ogene, &path, "two", &json!({})).await;
    assert_eq!((late.status, &*late.code()), (409, "API-2019"));
    let blank = keyed(&ogene, &path, "two words", &json!({})).await;
    assert_eq!((blank.status, &*blank.code()), (400, "API-2000"));
    ogene.end().await;
}

#[tokio::test]
async fn no_file_of_the_service_has_the_code() {
    let ogene = Ogene::start().await;
    create(&ogene, json!({"to": MTN, "from": SENDER, "length": 10})).await;
    let code = received_code(&ogene, MTN).await;
    for table in [
        "otps",
        "messages",
        "deliveries",
        "outbox",
        "batches",
        "server_keys",
    ] {
        let rows = ogene.sql(&format!("select * from {table}"));
        assert!(!rows.contains(&code), "{table}");
    }
    for file in walk(ogene.data_dir()) {
        let octets = std::fs::read(&file).expect("read");
        let has_it = octets
            .windows(code.len())
            .any(|part| part == code.as_bytes());
        assert!(!has_it, "{}", file.display());
    }
    ogene.end().await;
}

/// Returns the files of a directory. There is none on PostgreSQL.
fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}
