//! Every code of the table with its HTTP status and its envelope (docs/spec/interface.md, section 5.2).

use crate::kit::http::{Answer, Request, ask_and_stay, try_ask};
use crate::kit::http2;
use crate::kit::{MTN, Ogene, SENDER, Setup, numbers, to, until, with};
use domain::{AccountStatus, SenderStatus};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// An installation on which every refusal is possible, and the refusals by the name of their cause.
async fn refusals(ogene: &Ogene) -> Vec<(&'static str, Answer)> {
    let mut answers = by_standing(ogene).await;
    answers.extend(by_form(ogene).await);
    answers.extend(by_content(ogene).await);
    answers.extend(beyond_limits(ogene).await);
    answers
}

async fn by_standing(ogene: &Ogene) -> Vec<(&'static str, Answer)> {
    let mut answers = Vec::new();
    let balance = || Request::get("/api/v2/balance");
    answers.push(("no token", ogene.ask(&balance()).await));
    answers.push(("junk token", ogene.ask(&balance().bearer("junk")).await));
    let standings = [
        ("disabled", AccountStatus::Disabled),
        ("dormant", AccountStatus::Dormant),
        ("pending", AccountStatus::Pending),
        ("restricted", AccountStatus::Restricted),
    ];
    for (name, status) in standings {
        let customer = ogene.customer("10").await;
        ogene.set_status(&customer, status).await;
        let request = Request::send(&customer.token, &to(MTN, "Hello"));
        answers.push((name, ogene.ask(&request).await));
    }
    answers
}

async fn by_form(ogene: &Ogene) -> Vec<(&'static str, Answer)> {
    let send = |more: Value| ogene.send(with(to(MTN, "Hello"), more));
    let malformed = Request::post("/api/v2/sms")
        .bearer(&ogene.shop.token)
        .body("application/json", "{");
    let unknown = "/api/v2/delivery-reports?message_id=01a1ee56-5e00-7707-8707-070707070707";
    vec![
        ("malformed", ogene.ask(&malformed).await),
        ("from missing", send(json!({"from": null})).await),
        ("body missing", send(json!({"body": ""})).await),
        ("only emoji", send(json!({"body": "😀 🎉"})).await),
        ("to missing", send(json!({"to": []})).await),
        (
            "sender too long",
            send(json!({"from": "TwelveLetter"})).await,
        ),
        ("invalid recipient", send(json!({"to": "12345"})).await),
        (
            "unknown message",
            ogene
                .ask(&Request::get(unknown).bearer(&ogene.shop.token))
                .await,
        ),
        ("unknown gateway", send(json!({"gateway": "premium"})).await),
        (
            "callback_url",
            send(json!({"callback_url": "ftp://example.com/"})).await,
        ),
        (
            "no such path",
            ogene.ask(&Request::get("/api/v2/nothing")).await,
        ),
        (
            "no such method",
            ogene.ask(&Request::new("DELETE", "/api/v2/sms")).await,
        ),
    ]
}

async fn by_content(ogene: &Ogene) -> Vec<(&'static str, Answer)> {
    let send = |more: Value| ogene.send(with(to(MTN, "Hello"), more));
    let foreign = "Abroad";
    ogene
        .sender(&ogene.shop, foreign, true, SenderStatus::Approved)
        .await;
    crate::kit::until("the new sender ID is seen", async || {
        let senders = ogene.read("/sender-ids").await;
        (senders["data"]["total"] == 2).then_some(())
    })
    .await;
    let once = send(json!({"body": "Twice"})).await;
    assert_eq!(once.status, 200, "{}", once.text());
    vec![
        ("too long", send(json!({"body": "x".repeat(1531)})).await),
        (
            "sender not registered",
            send(json!({"from": "Unknown"})).await,
        ),
        ("duplicate", send(json!({"body": "Twice"})).await),
        (
            "transactional",
            send(json!({"body": "Your OTP is 483920. Do not share it."})).await,
        ),
        ("international sender", send(json!({"from": foreign})).await),
        (
            "prohibited",
            send(json!({"body": "DOUBLE your money now"})).await,
        ),
        (
            "too many recipients",
            send(json!({"to": vec![MTN; 10_001]})).await,
        ),
        (
            "insufficient",
            send(json!({"body": "Dear", "gateway": "otp", "to": "08031234567,08031234568"})).await,
        ),
        ("none valid", send(json!({"to": ["1", "2"]})).await),
    ]
}

async fn beyond_limits(ogene: &Ogene) -> Vec<(&'static str, Answer)> {
    let large = Request::post("/api/v2/sms").bearer(&ogene.shop.token);
    let large = large.body("application/json", vec![b' '; (10 << 20) + 1]);
    let sandbox = |number: &str| {
        let request = Request::post("/api/sandbox/v2/sms").bearer(&ogene.shop.token);
        request.json(&to(number, "Hello"))
    };
    vec![
        ("too large", ogene.ask(&large).await),
        ("too many headers", ogene.ask(&with_headers(257)).await),
        ("rate limit", ogene.ask(&sandbox("2348000000009")).await),
        ("overloaded", ogene.ask(&sandbox("2348000000008")).await),
    ]
}

/// Returns a request with so many headers, including those of every request.
fn with_headers(count: usize) -> Request {
    (2..count).fold(Request::get("/api/v2/balance"), |request, number| {
        request.header(&format!("X-Proxy-{number}"), "1")
    })
}

async fn poor() -> Ogene {
    let setup = Setup::new().set("content.prohibited", r#"["double your money"]"#);
    let mut ogene = setup.start().await;
    ogene.shop = ogene.customer("10.00").await;
    ogene
}

#[tokio::test]
async fn each_error_code_has_its_status_and_envelope() {
    let ogene = poor().await;
    let answers = refusals(&ogene).await;
    let lines: Vec<_> = answers
        .iter()
        .map(|(name, answer)| format!("{name}: {}", answer.redacted()))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
        no token: 401 {"status":"error","code":"API-1001","message":"No API token was given. Send it as `Authorization: Bearer <token>`, in an `api_token` header, in the query string, or as the field `api_token`.","error":{"message":"No API token was given. Send it as `Authorization: Bearer <token>`, in an `api_token` header, in the query string, or as the field `api_token`.","code":"API-1001","description":"Missing API token"}}
        junk token: 401 {"status":"error","code":"API-1001","message":"The API token is not valid. Check that it was copied whole, and has not been revoked or expired.","error":{"message":"The API token is not valid. Check that it was copied whole, and has not been revoked or expired.","code":"API-1001","description":"Invalid API token"}}
        disabled: 401 {"status":"error","code":"API-1002","message":"This account is disabled. Contact support.","error":{"message":"This account is disabled. Contact support.","code":"API-1002","description":"Account disabled"}}
        dormant: 401 {"status":"error","code":"API-1003","message":"This account is dormant. Contact support to have it reactivated.","error":{"message":"This account is dormant. Contact support to have it reactivated.","code":"API-1003","description":"Account dormant"}}
        pending: 403 {"status":"error","code":"API-1007","message":"This account is not activated yet: use the sandbox until then.","error":{"message":"This account is not activated yet: use the sandbox until then.","code":"API-1007","description":"API access restricted"}}
        restricted: 403 {"status":"error","code":"API-1007","message":"This account is restricted: it can read, but not send. Contact support.","error":{"message":"This account is restricted: it can read, but not send. Contact support.","code":"API-1007","description":"API access restricted"}}
        malformed: 400 {"status":"error","code":"API-2000","message":"The JSON body could not be read: EOF while parsing an object at line 1 column 1.","error":{"message":"The JSON body could not be read: EOF while parsing an object at line 1 column 1.","code":"API-2000","description":"Malformed request"}}
        from missing: 400 {"status":"error","code":"API-2001","message":"The field `from` is missing: give the sender ID.","error":{"message":"The field `from` is missing: give the sender ID.","code":"API-2001","description":"Sender ID missing"}}
        body missing: 422 {"status":"error","code":"API-2002","message":"The message text is missing, or nothing is left of it once emoji and characters without a plain equivalent are removed. Give a `body`, or set `unicode` to true to send it as written.","error":{"message":"The message text is missing, or nothing is left of it once emoji and characters without a plain equivalent are removed. Give a `body`, or set `unicode` to true to send it as written.","code":"API-2002","description":"Message text missing"}}
        only emoji: 422 {"status":"error","code":"API-2002","message":"The message text is missing, or nothing is left of it once emoji and characters without a plain equivalent are removed. Give a `body`, or set `unicode` to true to send it as written.","error":{"message":"The message text is missing, or nothing is left of it once emoji and characters without a plain equivalent are removed. Give a `body`, or set `unicode` to true to send it as written.","code":"API-2002","description":"Message text missing"}}
        to missing: 400 {"status":"error","code":"API-2003","message":"The field `to` is missing: give one or more phone numbers.","error":{"message":"The field `to` is missing: give one or more phone numbers.","code":"API-2003","description":"Recipient missing"}}
        sender too long: 400 {"status":"error","code":"API-2004","message":"The sender ID in `from` must be 1 to 11 printable characters.","error":{"message":"The sender ID in `from` must be 1 to 11 printable characters.","code":"API-2004","description":"Malformed sender ID"}}
        invalid recipient: 422 {"status":"error","code":"API-2006","message":"The number in `to` is not a valid mobile number. Use the international format, such as 2348031234567.","error":{"message":"The number in `to` is not a valid mobile number. Use the international format, such as 2348031234567.","code":"API-2006","description":"Invalid recipient"}}
        unknown message: 404 {"status":"error","code":"API-2007","message":"There is no message with this message_id on this account.","error":{"message":"There is no message with this message_id on this account.","code":"API-2007","description":"Unknown message"}}
        unknown gateway: 400 {"status":"error","code":"API-2009","message":"There is no such gateway here. Use one of: direct-corporate, direct-refund, international, otp, dual-backup.","error":{"message":"There is no such gateway here. Use one of: direct-corporate, direct-refund, international, otp, dual-backup.","code":"API-2009","description":"Unknown gateway"}}
        callback_url: 400 {"status":"error","code":"API-2015","message":"`callback_url` is not usable: it is not an http or https URL.","error":{"message":"`callback_url` is not usable: it is not an http or https URL.","code":"API-2015","description":"Unusable callback URL"}}
        no such path: 404 {"status":"error","code":"API-4040","message":"There is no such path. See /docs.","error":{"message":"There is no such path. See /docs.","code":"API-4040","description":"No such path"}}
        no such method: 405 {"status":"error","code":"API-4050","message":"This path does not answer this method. See /docs.","error":{"message":"This path does not answer this method. See /docs.","code":"API-4050","description":"Method not allowed"}}
        too long: 422 {"status":"error","code":"API-2008","message":"The message text has 1531 characters; at most 1530 are allowed.","error":{"message":"The message text has 1531 characters; at most 1530 are allowed.","code":"API-2008","description":"Message too long"}}
        sender not registered: 403 {"status":"error","code":"API-2011","message":"The sender ID in `from` is not registered and approved on this account. Register it and wait for approval.","error":{"message":"The sender ID in `from` is not registered and approved on this account. Register it and wait for approval.","code":"API-2011","description":"Sender ID not approved"}}
        duplicate: 409 {"status":"error","code":"API-2012","message":"The same text was sent to the same recipients within the last minute. This one was not sent and not charged; do not retry it.","error":{"message":"The same text was sent to the same recipients within the last minute. This one was not sent and not charged; do not retry it.","code":"API-2012","description":"Duplicate message"}}
        transactional: 422 {"status":"error","code":"API-2013","message":"The text looks transactional (`OTP`), which the gateway direct-refund does not carry. Send it over `direct-corporate` or `otp`. It was not sent and not charged.","error":{"message":"The text looks transactional (`OTP`), which the gateway direct-refund does not carry. Send it over `direct-corporate` or `otp`. It was not sent and not charged.","code":"API-2013","description":"Message not permitted on this route"}}
        international sender: 422 {"status":"error","code":"API-2013","message":"The sender ID `Abroad` is international, which this gateway does not carry. Send it over `international`. It was not sent and not charged.","error":{"message":"The sender ID `Abroad` is international, which this gateway does not carry. Send it over `international`. It was not sent and not charged.","code":"API-2013","description":"Message not permitted on this route"}}
        prohibited: 422 {"status":"error","code":"API-2010","message":"The text contains the prohibited phrase `double your money`. It was not sent and not charged; send it without the phrase.","error":{"message":"The text contains the prohibited phrase `double your money`. It was not sent and not charged; send it without the phrase.","code":"API-2010","description":"Prohibited content"}}
        too many recipients: 422 {"status":"error","code":"API-2014","message":"At most 10000 recipients are allowed in a request. Split the list.","error":{"message":"At most 10000 recipients are allowed in a request. Split the list.","code":"API-2014","description":"Too many recipients"}}
        insufficient: 402 {"status":"error","code":"API-3001","message":"Insufficient wallet balance: 16.00 NGN are needed, 4.00 NGN are available. Add credit.","error":{"message":"Insufficient wallet balance: 16.00 NGN are needed, 4.00 NGN are available. Add credit.","code":"API-3001","description":"Insufficient wallet balance"}}
        none valid: 422 {"status":"error","code":"API-3002","message":"None of the numbers in `to` is a valid mobile number. Use the international format, such as 2348031234567.","error":{"message":"None of the numbers in `to` is a valid mobile number. Use the international format, such as 2348031234567.","code":"API-3002","description":"No valid recipient"}}
        too large: 413 {"status":"error","code":"API-2017","message":"The request body is larger than 10 MiB. Send less in one request.","error":{"message":"The request body is larger than 10 MiB. Send less in one request.","code":"API-2017","description":"Request body too large"}}
        too many headers: 431 {"status":"error","code":"API-2023","message":"The head of the request is larger than 64 KiB, or has more than 256 headers. Send long texts in the body.","error":{"message":"The head of the request is larger than 64 KiB, or has more than 256 headers. Send long texts in the body.","code":"API-2023","description":"Request head too large"}}
        rate limit: 429 {"status":"error","code":"API-3004","message":"The rate limit of 1000 requests a minute is reached. Retry after 60 s.","error":{"message":"The rate limit of 1000 requests a minute is reached. Retry after 60 s.","code":"API-3004","description":"Rate limit exceeded"}}
        overloaded: 503 {"status":"error","code":"API-5003","message":"The service is overloaded or not ready. Nothing was sent or charged; retry after 1 s.","error":{"message":"The service is overloaded or not ready. Nothing was sent or charged; retry after 1 s.","code":"API-5003","description":"Service unavailable"}}
        "#);
    ogene.end().await;
}

#[tokio::test]
async fn every_error_has_its_message_at_the_top_level_too() {
    let ogene = poor().await;
    let mut answers = refusals(&ogene).await;
    let legacy = Request::post("/api/v1/sms/create");
    answers.push(("legacy", ogene.ask(&legacy).await));
    for (name, answer) in answers {
        let answer = answer.json();
        assert!(answer["message"].is_string(), "{name}");
        assert_eq!(answer["message"], answer["error"]["message"], "{name}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn every_code_of_the_documentation_is_answered_and_no_other() {
    let ogene = poor().await;
    let document = ogene.ask(&Request::get("/openapi.json")).await.json();
    let documented: BTreeSet<_> = document["x-errors"]
        .as_array()
        .expect("the codes")
        .iter()
        .map(|row| row["code"].as_str().expect("a code").to_owned())
        .collect();
    let mut answered: BTreeSet<_> = refusals(&ogene)
        .await
        .iter()
        .map(|(_, answer)| answer.code())
        .collect();
    // `our_own_failure_tells_nothing_of_its_cause` has this answer.
    answered.insert("API-5001".to_owned());
    // `idempotency`, `personalised`, `otp`, `opting_out`, `sub_accounts` and `top_ups` have these.
    let others = [
        "API-2016", "API-2018", "API-2019", "API-2020", "API-2021", "API-2022", "API-3006",
    ];
    answered.extend(others.map(str::to_owned));
    assert_eq!(answered, documented);
    ogene.end().await;
}

#[tokio::test]
async fn the_first_fault_in_the_order_of_the_checks_is_the_answer() {
    let ogene = poor().await;
    let restricted = ogene.customer("0").await;
    ogene
        .set_status(&restricted, AccountStatus::Restricted)
        .await;
    ogene.send(to("08031234567, 08031234568", "Hello")).await;
    // Everything is wrong at first, and each step corrects the reported fault.
    let everything = json!({
        "from": "", "to": "", "body": "", "gateway": "premium", "unicode": "maybe", "append_sender": "x",
        "callback_url": "ftp:x",
    });
    let long = "x".repeat(1531);
    let steps = [
        (json!({}), "API-2001"),
        (json!({"from": "TwelveLetter"}), "API-2003"),
        (json!({"to": "1"}), "API-2002"),
        (json!({"body": long}), "API-2004"),
        (json!({"from": "Unknown"}), "API-2011"),
        (json!({"from": SENDER}), "API-2009"),
        (json!({"gateway": "direct-refund"}), "API-2000"),
        (json!({"unicode": 0}), "API-2000"),
        (json!({"append_sender": "none"}), "API-2015"),
        (json!({"callback_url": null}), "API-2006"),
        (json!({"to": "08031234567, 08031234568"}), "API-2008"),
        (json!({"body": "Your OTP is 483920"}), "API-2013"),
        (
            json!({"body": "Dear customer", "gateway": "otp"}),
            "API-3001",
        ),
    ];
    let mut fields = everything;
    for (step, code) in steps {
        fields = with(fields, step.clone());
        assert_eq!(ogene.send(fields.clone()).await.code(), code, "{step}");
    }
    // These faults are found before the body is parsed.
    let post = |token: &str| {
        Request::post("/api/v2/sms")
            .bearer(token)
            .body("application/json", "{")
    };
    assert_eq!(ogene.ask(&post("junk")).await.code(), "API-1001");
    let answer = ogene.ask(&post(&restricted.token)).await;
    assert_eq!(answer.code(), "API-1007");
    // Every answer to a known account has the rate headers.
    assert_eq!(answer.header("x-ratelimit-limit"), Some("1000"));
    assert!(answer.header("x-ratelimit-remaining").is_some());
    ogene.end().await;
}

#[tokio::test]
async fn a_path_or_method_that_does_not_exist_is_told_in_json() {
    let ogene = Ogene::start().await;
    let sending = [
        "/api/v2/sms",
        "/api/v2/sms/create",
        "/api/sandbox/v2/sms",
        "/api/v1/sms/create",
    ];
    let reading = [
        "/api/v2/balance",
        "/api/v2/delivery-reports",
        "/api/v2/account",
    ];
    for path in [
        "/api",
        "/api/",
        "/api/v2",
        "/api/v3/sms",
        "/api/v2/sms/",
        "/api/v1/sms",
        "/nowhere",
        "/api/v2//sms",
    ] {
        let answer = ogene
            .ask(&Request::post(path).bearer(&ogene.shop.token))
            .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (404, "API-4040"),
            "{path}"
        );
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "{path}"
        );
    }
    for path in sending {
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
            let answer = ogene
                .ask(&Request::new(method, path).bearer(&ogene.shop.token))
                .await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (405, "API-4050"),
                "{method} {path}"
            );
            assert_eq!(answer.header("allow"), Some("GET, POST"), "{method} {path}");
        }
    }
    for path in reading {
        for method in ["POST", "PUT", "DELETE"] {
            let answer = ogene
                .ask(&Request::new(method, path).bearer(&ogene.shop.token))
                .await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (405, "API-4050"),
                "{method} {path}"
            );
            assert!(
                answer
                    .header("allow")
                    .is_some_and(|allow| allow.contains("GET")),
                "{method} {path}"
            );
        }
    }
    ogene.end().await;
}

#[tokio::test]
async fn head_never_sends() {
    let ogene = Ogene::start().await;
    let query = crate::kit::http::encoded(&[("from", SENDER), ("to", MTN), ("body", "Hello")]);
    for path in [
        "/api/v2/sms",
        "/api/v2/sms/create",
        "/api/v1/sms/create",
        "/api/sandbox/v2/sms",
    ] {
        let request = Request::new("HEAD", &format!("{path}?{query}")).bearer(&ogene.shop.token);
        assert_eq!(ogene.ask(&request).await.status, 405, "{path}");
    }
    assert_eq!(ogene.total().await.to_string(), "1000");
    // The send opened no duplicate window either: the same send by GET is accepted.
    let request = Request::get(&format!("/api/v2/sms?{query}")).bearer(&ogene.shop.token);
    assert_eq!(ogene.ask(&request).await.status, 200);
    assert_eq!(ogene.received(1).await.len(), 1);
    ogene.end().await;
}

#[tokio::test]
async fn every_answer_has_a_request_id_or_the_callers_valid_one() {
    let ogene = Ogene::start().await;
    let paths = [
        "/api/v2/balance",
        "/api/v2/sms",
        "/api/nothing",
        "/healthz",
        "/openapi.json",
        "/",
    ];
    let mut seen = BTreeSet::new();
    for path in paths {
        let answer = ogene.ask(&Request::get(path)).await;
        let id = answer.header("x-request-id").expect("an id").to_owned();
        assert!(!id.is_empty() && seen.insert(id), "{path}");
        let given = ogene
            .ask(&Request::get(path).header("X-Request-Id", "order-42.a_b"))
            .await;
        assert_eq!(given.header("x-request-id"), Some("order-42.a_b"), "{path}");
        let harmful = ogene
            .ask(&Request::get(path).header("X-Request-Id", "a b\"<script>"))
            .await;
        assert_ne!(
            harmful.header("x-request-id"),
            Some("a b\"<script>"),
            "{path}"
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn answers_of_the_api_are_private_json() {
    let ogene = Ogene::start().await;
    for path in ["/api/v2/balance", "/api/v2/account", "/api/v2/nothing"] {
        let answer = ogene
            .ask(&Request::get(path).bearer(&ogene.shop.token))
            .await;
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "{path}"
        );
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_gateway_that_is_not_configured_is_unknown() {
    let ogene = Setup::new()
        .without("gateways.international")
        .without("gateways.otp")
        .start()
        .await;
    for gateway in ["international", "otp", "7", "8"] {
        let answer = ogene
            .send(with(to(MTN, "Hello"), json!({"gateway": gateway})))
            .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (400, "API-2009"),
            "{gateway}"
        );
        assert!(
            !answer.text().contains("otp, "),
            "only what there is is named: {}",
            answer.text()
        );
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_full_queue_refuses_before_any_charge() {
    let ogene = Setup::new().set("limits.accept_queue", "1").start().await;
    let mut accepted = 0_u32;
    let mut refused = 0;
    while refused == 0 {
        let number = |i: u32| format!("23480300{:05}", accepted + i);
        let answers = (0..40).map(|i| {
            let request = Request::send(&ogene.shop.token, &to(&number(i), "Hello"));
            let address = ogene.address;
            tokio::spawn(async move { try_ask(address, &request).await.expect("an answer") })
        });
        let mut before = 0;
        for answer in answers.collect::<Vec<_>>() {
            let answer = answer.await.expect("no panic");
            match answer.status {
                200 => before += 1,
                503 => {
                    refused += 1;
                    assert_eq!(answer.code(), "API-5003");
                    assert!(answer.header("retry-after").is_some());
                }
                other => panic!("{other}: {}", answer.text()),
            }
        }
        accepted += before.max(40);
        assert_eq!(
            ogene.total().await.to_string(),
            (1_000 - 6 * before).to_string()
        );
        assert!(refused > 0, "forty at once find room for one");
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_queue_full_of_campaigns_still_serves_small_sends() {
    let ogene = Setup::new()
        .set("limits.max_recipients", "100000")
        .start()
        .await;
    // The account cannot pay for them, so all of them end quickly.
    let poor = ogene.customer("0").await;
    let list = numbers(100_000).join(",");
    let campaign = |text: &str| Request::send(&poor.token, &to(&list, text));
    let address = ogene.address;
    let ask =
        move |request: Request| async move { try_ask(address, &request).await.expect("an answer") };
    let held = ogene.hold_commits();
    // One campaign is in the commit, five wait for it, and the seventh is refused. Campaigns before
    // the hold of the commits are answered 402. The one in the commit has an unknown outcome if
    // this takes long.
    let (mut waiting, mut sale) = (JoinSet::new(), 0);
    let refused = loop {
        while waiting.len() < 7 {
            sale += 1;
            waiting.spawn(ask(campaign(&format!("Sale {sale}"))));
        }
        let answer = waiting.join_next().await.expect("one").expect("no panic");
        if answer.status != 402 && answer.header("retry-after") == Some("1") {
            break answer;
        }
    };
    assert_eq!((refused.status, refused.code().as_str()), (503, "API-5003"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(refused.header("x-ratelimit-remaining").is_some());

    let few = |text: &str| ask(Request::send(&ogene.shop.token, &to(MTN, text)));
    let first = tokio::spawn(few("Few"));
    // Commits are still held, so this refusal did not wait for the queue.
    let small = Request::send(&poor.token, &to(&numbers(11).join(","), "Small"));
    let again = ask(small.clone()).await;
    assert_eq!((again.status, again.code().as_str()), (503, "API-5003"));
    assert!(!first.is_finished(), "a small send waits for its commit");
    drop(held);
    // The wait is limited, so a slow machine may need another send.
    let mut status = first.await.expect("no panic").status;
    let mut tries = 1;
    while status == 503 && tries < 10 {
        tries += 1;
        status = few(&format!("Few {tries}")).await.status;
    }
    assert_eq!(status, 200);
    let answer = until("there is room again", async || {
        let answer = ask(small.clone()).await;
        (answer.status != 503).then_some(answer)
    })
    .await;
    assert_eq!((answer.status, answer.code().as_str()), (402, "API-3001"));
    ogene.end().await;
}

#[tokio::test]
async fn our_own_failure_tells_nothing_of_its_cause() {
    let ogene = Ogene::start().await;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    ogene.hide("messages");
    let path = format!("/api/v2/delivery-reports/{id}");
    let request = Request::get(&path)
        .bearer(&ogene.shop.token)
        .header("X-Request-Id", "hidden-1");
    let answer = ogene.ask(&request).await;
    insta::assert_snapshot!(testkit::indented(&answer.redacted()), @r#"
    500 {
      "status": "error",
      "code": "API-5001",
      "message": "Something went wrong on our side. Retry, and name the X-Request-Id of this answer if it stays.",
      "error": {
        "message": "Something went wrong on our side. Retry, and name the X-Request-Id of this answer if it stays.",
        "code": "API-5001",
        "description": "Server error"
      }
    }
    "#);
    assert_eq!(answer.header("x-request-id"), Some("hidden-1"));
    ogene.show("messages");
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    ogene.end().await;
}

#[tokio::test]
async fn codes_have_the_configured_prefix_wherever_they_leave() {
    let ogene = Setup::new().set("http.code_prefix", r#""SMS-NG.""#);
    let ogene = ogene.start().await;
    let sent = ogene.send(to(MTN, "Hello")).await;
    assert_eq!(sent.code(), "SMS-NG.0000", "{}", sent.text());
    let legacy = Request::post("/api/v1/sms/create").bearer(&ogene.shop.token);
    let requests = [
        legacy.json(&to(MTN, "Hello again")),
        Request::get("/api/v2/balance").bearer(&ogene.shop.token),
        Request::get("/api/v2/account").bearer(&ogene.shop.token),
        Request::get("/api/v2/account"),
        Request::get("/api/v2/nothing"),
        Request::new("PUT", "/api/v2/sms"),
        Request::new("PUT", "/api/v2/account"),
        Request::send(&ogene.shop.token, &to("1", "Hello")),
        Request::get("/docs"),
        Request::get("/openapi.json"),
    ];
    for request in &requests {
        let answer = ogene.ask(request).await;
        assert!(answer.text().contains("SMS-NG."), "{}", answer.text());
        let standard = answer.text().split("API-").skip(1);
        let codes = standard.filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        assert_eq!(codes.count(), 0, "{}", answer.text());
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_request_may_have_256_headers() {
    let ogene = Ogene::start().await;
    let request = with_headers(255).bearer(&ogene.shop.token);
    let answer = ogene.ask(&request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    ogene.end().await;
}

#[tokio::test]
async fn a_request_by_http_2_may_have_256_headers() {
    let ogene = Ogene::start().await;
    for (count, status) in [(256, 401), (257, 431)] {
        let fields = vec![("x-proxy", "1"); count];
        let answered = http2::ask(ogene.address, "/api/v2/balance", &fields).await;
        assert_eq!(answered, status, "{count}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn what_never_reaches_the_router_is_refused_in_json_too() {
    let ogene = Setup::new().set("http.code_prefix", r#""SMS-""#);
    let ogene = ogene.start().await;
    let long = "x".repeat(70_000);
    let get = Request::get("/api/v2/balance");
    let table = [
        (with_headers(257), 431, "SMS-2023"),
        (with_headers(3_000), 431, "SMS-2023"),
        (get.clone().header("X-Long", &long), 431, "SMS-2023"),
        (
            Request::get(&format!("/api/v2/sms?body={long}")),
            431,
            "SMS-2023",
        ),
        (get.clone().header("X Y", "1"), 400, "SMS-2000"),
        (Request::new("G\u{1}T", "/api/v2/balance"), 400, "SMS-2000"),
    ];
    let mut ids = BTreeSet::new();
    for (request, status, code) in table {
        let answer = ogene.ask(&request).await;
        assert_eq!((answer.status, answer.code().as_str()), (status, code));
        let answered = answer.json();
        assert_eq!(answered["message"], answered["error"]["message"]);
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert!(ids.insert(answer.header("x-request-id").expect("an id").to_owned()));
    }
    // The same holds after an answer on the same connection.
    let mut stream = TcpStream::connect(ogene.address)
        .await
        .expect("a connection");
    let known = get.clone().bearer(&ogene.shop.token);
    assert_eq!(ask_and_stay(&mut stream, &known).await.status, 200);
    assert_eq!(
        ask_and_stay(&mut stream, &with_headers(300)).await.code(),
        "SMS-2023"
    );
    ogene.end().await;
}
