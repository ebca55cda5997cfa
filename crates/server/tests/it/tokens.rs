//! Places of a token, and the answers without one (docs/spec/interface.md, section 3).

use crate::kit::http::{Request, encoded};
use crate::kit::{MTN, Ogene, SENDER, Setup, operations, to, until, with};
use domain::token::TokenTerms;
use engine::Clock;
use serde_json::json;

/// Returns a well-formed token of no account.
fn unknown() -> String {
    domain::token::make(&[7; 64]).expect("a token")
}

fn fields<'a>(token: &'a str, body: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("api_token", token),
        ("from", SENDER),
        ("to", MTN),
        ("body", body),
    ]
}

#[tokio::test]
async fn a_token_is_accepted_in_each_of_four_places() {
    let ogene = Ogene::start().await;
    let token = ogene.shop.token.as_str();
    let post = || Request::post("/api/v2/sms");
    let body = |text| with(to(MTN, text), json!({"api_token": token}));
    let requests = [
        post().bearer(token).json(&to(MTN, "one")),
        post()
            .header("authorization", &format!("bEARER   {token} "))
            .json(&to(MTN, "two")),
        post().header("api_token", token).json(&to(MTN, "three")),
        post()
            .header("Authorization", "Basic QTpC")
            .header("api_token", token)
            .json(&to(MTN, "four")),
        Request::post(&format!("/api/v2/sms?api_token={token}")).json(&to(MTN, "five")),
        post().json(&body("six")),
        post().form(&fields(token, "seven")),
        post().multipart(&fields(token, "eight")),
        Request::get(&format!("/api/v2/sms?{}", encoded(&fields(token, "nine")))),
    ];
    for (number, request) in requests.iter().enumerate() {
        let answer = ogene.ask(request).await;
        assert_eq!(answer.status, 200, "{number}: {}", answer.text());
    }
    let read = Request::get("/api/v2/balance")
        .body("application/json", json!({"api_token": token}).to_string());
    assert_eq!(
        ogene.ask(&read).await.status,
        200,
        "a read takes it from a body too"
    );
    ogene.end().await;
}

#[tokio::test]
async fn the_first_token_present_decides_and_nothing_falls_through() {
    let ogene = Ogene::start().await;
    let good = ogene.shop.token.clone();
    let bad = unknown();
    let ask = async |bearer: Option<&str>,
                     header: Option<&str>,
                     query: Option<&str>,
                     body: Option<&str>| {
        let target = query.map_or_else(
            || "/api/v2/sms".to_owned(),
            |token| format!("/api/v2/sms?api_token={token}"),
        );
        let mut request = Request::post(&target);
        if let Some(token) = bearer {
            request = request.bearer(token);
        }
        if let Some(token) = header {
            request = request.header("api_token", token);
        }
        // An accepted token gets the error of the missing text.
        ogene
            .ask(&request.json(&json!({"from": SENDER, "to": MTN, "api_token": body})))
            .await
            .status
    };
    let (good, bad) = (Some(good.as_str()), Some(bad.as_str()));
    assert_eq!(ask(good, bad, bad, bad).await, 422);
    assert_eq!(ask(None, good, bad, bad).await, 422);
    assert_eq!(ask(None, None, good, bad).await, 422);
    assert_eq!(ask(None, None, None, good).await, 422);
    assert_eq!(ask(bad, good, good, good).await, 401);
    assert_eq!(ask(Some(""), good, good, good).await, 401);
    assert_eq!(ask(None, bad, good, good).await, 401);
    assert_eq!(ask(None, Some(""), good, good).await, 401);
    assert_eq!(ask(None, None, bad, good).await, 401);
    assert_eq!(ask(None, None, Some(""), good).await, 401);
    assert_eq!(ask(None, None, None, bad).await, 401);
    ogene.end().await;
}

/// Returns malformed tokens: the form or the checksum is wrong.
fn junk(good: &str) -> [String; 6] {
    let (head, last) = good.split_at(good.len() - 1);
    [
        format!("{head}{}", if last == "0" { "1" } else { "0" }),
        format!("{good}0"),
        good.to_lowercase(),
        "ogl_".to_owned(),
        "null".to_owned(),
        "x".repeat(6_000),
    ]
}

#[tokio::test]
async fn junk_and_unknown_tokens_are_refused_alike() {
    let ogene = Ogene::start().await;
    for token in [unknown()].into_iter().chain(junk(&ogene.shop.token)) {
        let answer = ogene
            .ask(&Request::get("/api/v2/balance").bearer(&token))
            .await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (401, "API-1001"),
            "{token}"
        );
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        assert!(!answer.text().contains(&token) || token == "null");
    }
    ogene.end().await;
}

#[tokio::test]
async fn junk_tokens_are_refused_without_the_database() {
    let ogene = Ogene::start().await;
    let status = async |token: &str| {
        let request = Request::get("/api/v2/balance").bearer(token);
        ogene.ask(&request).await.status
    };
    ogene.sql("alter table tokens rename to hidden");
    assert_eq!(status(&unknown()).await, 500, "whatever is looked up fails");
    for token in junk(&ogene.shop.token) {
        assert_eq!(status(&token).await, 401, "{token}");
    }
    ogene.sql("alter table hidden rename to tokens");
    assert_eq!(status(&unknown()).await, 401);
    ogene.end().await;
}

#[tokio::test]
async fn without_a_token_a_body_that_cannot_be_parsed_is_answered_401() {
    let ogene = Ogene::start().await;
    let post = |target: &str| Request::post(target);
    let token = &ogene.shop.token;
    for request in [
        post("/api/v2/sms").body("application/json", "{"),
        post("/api/v2/sms").body(
            "application/json",
            format!("{{\"api_token\": \"{token}\", "),
        ),
        post("/api/v2/sms").body("text/plain", "hello"),
        post("/api/v2/sms").body("application/json", b"\xFF".as_slice()),
        post("/api/v2/sms").body("application/json", vec![b' '; (10 << 20) + 1]),
        post("/api/v1/sms/create").body("application/json", "{"),
        post("/api/sandbox/v2/sms").body("application/json", "{"),
        Request::get("/api/v2/sms?body=%FF"),
        Request::get("/api/v2/delivery-reports"),
    ] {
        let answer = ogene.ask(&request).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (401, "API-1001"),
            "{}",
            answer.text()
        );
    }
    let large = post("/api/v2/sms").body("application/json", vec![b' '; (10 << 20) + 1]);
    let told = ogene.ask(&large).await.json()["error"]["message"].to_string();
    assert!(told.contains("larger than 10 MiB"), "{told}");
    // With one, the body is what is wrong.
    let known = post(&format!("/api/v2/sms?api_token={token}")).body("application/json", "{");
    assert_eq!(ogene.ask(&known).await.code(), "API-2000");
    ogene.end().await;
}

#[tokio::test]
async fn the_token_is_judged_before_a_field_that_is_wrong() {
    let ogene = Ogene::start().await;
    let json = |token: &str| {
        let body = format!(r#"{{"body": ["Hello"], "api_token": " {token}\n"}}"#);
        Request::post("/api/v2/sms").body("application/json", body.replace('\n', "\\n"))
    };
    let query = |token: &str| Request::get(&format!("/api/v2/sms?body=%FF&api_token=%20{token}"));
    let header = |token: &str| {
        let broken = Request::post("/api/v2/sms").body("text/plain", "hello");
        broken.header("api_token", token)
    };
    for request in [json, query, header] as [fn(&str) -> Request; 3] {
        for (token, status, code) in [
            (ogene.shop.token.as_str(), 400, "API-2000"),
            (unknown().as_str(), 401, "API-1001"),
            ("junk", 401, "API-1001"),
        ] {
            let answer = ogene.ask(&request(token)).await;
            let told = (answer.status, answer.code());
            assert_eq!(told, (status, code.to_owned()), "{}", answer.text());
        }
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_hundred_tokens_in_one_request_are_one_decision() {
    let ogene = Ogene::start().await;
    let good = ogene.shop.token.clone();
    let bad = unknown();
    let many = |mut request: Request, first: &str| {
        request = request.bearer(first);
        for _ in 0..90 {
            request = request.bearer(&bad);
        }
        request
    };
    let answer = ogene
        .ask(&many(Request::get("/api/v2/balance"), &good))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = ogene
        .ask(&many(Request::get("/api/v2/balance"), &unknown()))
        .await;
    assert_eq!(answer.status, 401);
    let query: Vec<_> = std::iter::repeat_n(("api_token", good.as_str()), 100).collect();
    let answer = ogene
        .ask(&Request::get(&format!(
            "/api/v2/balance?{}",
            encoded(&query)
        )))
        .await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let body = format!(
        "{{{}\"from\": \"x\"}}",
        format!("\"api_token\": \"{good}\", ").repeat(100)
    );
    let answer = ogene
        .ask(&Request::post("/api/v2/sms").body("application/json", body))
        .await;
    assert_eq!(answer.code(), "API-2003", "{}", answer.text());
    // More headers than the server takes are refused by it, and the next request is served.
    let mut request = Request::get("/api/v2/balance").bearer(&good);
    for number in 0..500 {
        request = request.header(&format!("x-{number}"), "x");
    }
    assert_eq!(ogene.ask(&request).await.status, 431);
    assert_eq!(
        ogene
            .ask(&Request::get("/api/v2/balance").bearer(&good))
            .await
            .status,
        200
    );
    ogene.end().await;
}

#[tokio::test]
async fn a_revoked_token_is_refused_within_a_second() {
    let ogene = Ogene::start().await;
    let request = Request::get("/api/v2/balance").bearer(&ogene.shop.token);
    assert_eq!(ogene.ask(&request).await.status, 200);
    let store = ogene.store().await;
    operations(&store)
        .tokens()
        .revoke(&ogene.shop.token_id)
        .await
        .expect("revoked");
    let revoked = tokio::time::Instant::now();
    let answer = until("the token is refused", async || {
        let answer = ogene.ask(&request).await;
        (answer.status != 200).then_some(answer)
    })
    .await;
    assert!(
        revoked.elapsed().as_millis() < 1_000,
        "{:?}",
        revoked.elapsed()
    );
    assert_eq!((answer.status, answer.code().as_str()), (401, "API-1001"));
    store.close().await;
    ogene.end().await;
}

/// A token of the shop on terms.
async fn token_on(ogene: &Ogene, expires_at_ms: Option<i64>, allowed: &str) -> String {
    let store = ogene.store().await;
    let terms = TokenTerms {
        expires_at_ms,
        allowed: allowed.parse().expect("ranges"),
        ..TokenTerms::default()
    };
    let made = operations(&store)
        .tokens()
        .create(ogene.shop.id, "terms", terms)
        .await;
    store.close().await;
    made.expect("a token").1
}

#[tokio::test]
async fn an_expired_token_is_refused_like_an_unknown_one() {
    let ogene = Ogene::start().await;
    let expires_at_ms = Clock::system().now_ms() + 3_000;
    let token = token_on(&ogene, Some(expires_at_ms), "").await;
    let request = Request::get("/api/v2/balance").bearer(&token);
    assert_eq!(ogene.ask(&request).await.status, 200);
    let answer = until("the token is refused", async || {
        let answer = ogene.ask(&request).await;
        (answer.status != 200).then_some(answer)
    })
    .await;
    let refused_at_ms = Clock::system().now_ms();
    assert!(
        (expires_at_ms..expires_at_ms + 1_000).contains(&refused_at_ms),
        "{refused_at_ms} {expires_at_ms}"
    );
    let unknown = ogene
        .ask(&Request::get("/api/v2/balance").bearer(&unknown()))
        .await;
    assert_eq!(unknown.status, 401);
    assert_eq!(answer.redacted(), unknown.redacted());
    ogene.end().await;
}

#[tokio::test]
async fn a_token_is_good_only_from_the_addresses_on_its_list() {
    let ogene = Ogene::start().await;
    let ask = async |token: &str, path: &str| {
        let request = Request::get(path).bearer(token).header(
            "X-Forwarded-For",
            "203.0.113.9", // Nobody is believed unless the operator says so.
        );
        ogene.ask(&request).await
    };
    let here = token_on(&ogene, None, "127.0.0.0/8").await;
    let there = token_on(&ogene, None, "203.0.113.0/24,2001:db8::/32").await;
    assert_eq!(ask(&here, "/api/v2/balance").await.status, 200);
    for path in [
        "/api/v2/balance",
        "/api/sandbox/v2/account",
        "/api/v2/sms",
        "/api/v1/sms/create",
    ] {
        let answer = ask(&there, path).await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (403, "API-1007"),
            "{path}"
        );
        assert!(answer.text().contains("127.0.0.1"), "{}", answer.text());
    }
    ogene.end().await;
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_client_is_whom_the_proxy_names() {
    let ogene = Setup::new()
        .set("http.trusted_proxies", r#"["127.0.0.1", "10.0.0.0/8"]"#)
        .start()
        .await;
    let there = token_on(&ogene, None, "203.0.113.0/24").await;
    let table: [(&[&str], u16); 7] = [
        (&["203.0.113.9"], 200),
        (&["8.8.8.8, 203.0.113.9, 10.0.0.7"], 200),
        (&["8.8.8.8", "203.0.113.9:4711", "10.0.0.7"], 200),
        // The client's own entry does not count.
        (&["203.0.113.9, 8.8.8.8"], 403),
        (&["203.0.113.9", "8.8.8.8"], 403),
        (&["203.0.113.9, nonsense"], 403),
        (&[], 403),
    ];
    for (lines, status) in table {
        let request = Request::get("/api/v2/balance").bearer(&there);
        let request = lines.iter().fold(request, |request, line| {
            request.header("X-Forwarded-For", line)
        });
        assert_eq!(ogene.ask(&request).await.status, status, "{lines:?}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn guessing_tokens_is_slowed_and_valid_tokens_are_served() {
    let ogene = Setup::new()
        .set("limits.unknown_tokens_per_minute", "5")
        .set("limits.reads_per_minute", "1000000")
        .set("http.trusted_proxies", r#"["127.0.0.1"]"#)
        .start()
        .await;
    let ask = async |client: &str, token: &str| {
        let request = Request::get("/api/v2/balance").bearer(token);
        ogene.ask(&request.header("X-Forwarded-For", client)).await
    };
    let guess = |number: u8| {
        let mut chance = [9; 64];
        chance[0] = number;
        domain::token::make(&chance).expect("a token")
    };
    // The minute of the clock may change in between, and then it begins anew.
    let mut guesses = 0..200;
    let slowed = until("guesses are slowed", async || {
        let answer = ask("203.0.113.9", &guess(guesses.next()?)).await;
        let valid = ask("203.0.113.9", &ogene.shop.token).await;
        assert_eq!(valid.status, 200, "{}", valid.text());
        (answer.status != 401).then_some(answer)
    })
    .await;
    assert!(guesses.start >= 6, "{guesses:?}");
    assert_eq!((slowed.status, slowed.code().as_str()), (429, "API-3004"));
    let wait: u64 = slowed.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    // Others are not concerned, nor is junk, which costs nothing.
    assert_eq!(ask("203.0.113.10", &guess(250)).await.status, 401);
    assert_eq!(ask("203.0.113.9", "junk").await.status, 401);
    assert_eq!(ask("203.0.113.9", &ogene.shop.token).await.status, 200);
    ogene.end().await;
}
