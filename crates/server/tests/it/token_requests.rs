//! Tokens by the interface: `GET`, `POST` and `DELETE /tokens`, and scopes (docs/spec/tokens.md).

use crate::kit::http::{Answer, Request};
use crate::kit::{MTN, Ogene, to, until};
use serde_json::{Value, json};

const TOKENS: &str = "/api/v2/tokens";
const SANDBOX_TOKENS: &str = "/api/sandbox/v2/tokens";

/// Makes a token by another one.
async fn make(ogene: &Ogene, by: &str, fields: Value) -> Answer {
    ogene
        .ask(&Request::post(TOKENS).bearer(by).json(&fields))
        .await
}

/// Returns the text of a token that was made.
async fn made(ogene: &Ogene, fields: Value) -> String {
    let answer = make(ogene, &ogene.shop.token, fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let token = answer.json()["data"]["token"].as_str().map(str::to_owned);
    token.expect("a token")
}

async fn list(ogene: &Ogene, path: &str) -> Value {
    let list = Request::get(path).bearer(&ogene.shop.token);
    ogene.ask(&list).await.json()["data"].take()
}

#[tokio::test]
async fn a_token_is_shown_once_listed_and_revoked() {
    let ogene = Ogene::start().await;
    let post = Request::post(TOKENS).bearer(&ogene.shop.token);
    let fields = json!({
        "name": "reports", "scopes": ["read"], "allow": "127.0.0.0/8,::1",
        "expires_at": "2099-01-31 18:00:00", "per_minute": 60,
    });
    let post = post.header("idempotency-key", "one").json(&fields);
    let first = ogene.ask(&post).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let again = ogene.ask(&post).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    let (mut first, again) = (first.json(), again.json());
    let token = first["data"]["token"].take();
    let token = token.as_str().expect("a token").to_owned();
    assert_eq!(first, again, "a repetition has all but the token");
    let data = &again["data"];
    assert_eq!(data["scopes"], json!(["read"]));
    assert_eq!(data["allow"], json!(["127.0.0.0/8", "::1"]));
    assert_eq!(data["per_minute"], 60);
    let read = Request::get("/api/v2/account").bearer(&token);
    let answer = ogene.ask(&read).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("x-ratelimit-limit"), Some("60"));

    let page = list(&ogene, &format!("{TOKENS}?limit=1")).await;
    assert_eq!(page["items"], json!([data]));
    let sandbox = list(&ogene, &format!("{SANDBOX_TOKENS}?limit=1")).await;
    assert_eq!(sandbox["items"], page["items"], "a token is valid for both");
    assert_eq!(sandbox["sandbox"], true);
    let post = Request::post(SANDBOX_TOKENS).bearer(&ogene.shop.token);
    let refused = ogene.ask(&post.json(&fields)).await;
    assert_eq!(refused.status, 405, "{}", refused.text());
    let cursor = page["next_cursor"].as_str().expect("a cursor");
    let rest = list(&ogene, &format!("{TOKENS}?cursor={cursor}")).await;
    assert_eq!(rest["items"][0]["token_id"], ogene.shop.token_id);
    assert_eq!(rest["items"][0]["scopes"].as_array().map(Vec::len), Some(4));

    let id = data["token_id"].as_str().expect("an id");
    let revoke = Request::new("DELETE", &format!("{TOKENS}/{id}"));
    let revoke = revoke.bearer(&ogene.shop.token);
    assert_eq!(
        ogene.ask(&revoke).await.json()["data"],
        json!({"token_id": id})
    );
    assert_eq!(ogene.ask(&revoke).await.code(), "API-2007");
    until("the token is refused", async || {
        (ogene.ask(&read).await.status == 401).then_some(())
    })
    .await;
    let revoked = list(&ogene, TOKENS).await["items"][0]["revoked_at"].take();
    assert!(revoked.is_string(), "{revoked}");
    ogene.end().await;
}

#[tokio::test]
async fn a_request_out_of_scope_is_refused_and_changes_nothing() {
    let ogene = Ogene::start().await;
    let mut tokens = Vec::new();
    for scope in ["send", "read", "wallet", "manage"] {
        tokens.push((
            scope,
            made(&ogene, json!({"name": scope, "scopes": scope})).await,
        ));
    }
    let text = to(MTN, "Scoped");
    let requests = [
        (Request::post("/api/v2/sms").json(&text), "send"),
        (Request::post("/api/v2/sms/quote").json(&text), "send"),
        (Request::get("/api/v2/messages"), "send read"),
        (Request::get("/api/v2/balance"), "read wallet"),
        (Request::get("/api/v2/wallet/entries"), "read wallet"),
        (Request::get("/api/v2/usage"), "read"),
        (Request::get("/api/v2/sender-ids"), "read manage"),
        (Request::get(TOKENS), "read manage"),
        (Request::new("DELETE", "/api/v2/tokens/tok_1"), "manage"),
    ];
    for (request, permitting) in requests {
        for (scope, token) in &tokens {
            let answer = ogene.ask(&request.clone().bearer(token)).await;
            let (is_in, refused) = (permitting.contains(scope), answer.code() == "API-1007");
            assert_eq!(is_in, !refused, "{scope}: {}", answer.text());
            if refused {
                assert_eq!(answer.status, 403);
                let first = permitting.split(' ').next().expect("a scope");
                assert!(answer.text().contains(&format!("`{first}`")));
            }
        }
    }
    let sent = list(&ogene, "/api/v2/messages").await;
    assert_eq!(sent["items"].as_array().map(Vec::len), Some(1));
    ogene.end().await;
}

#[tokio::test]
async fn a_token_makes_no_token_that_permits_more() {
    let ogene = Ogene::start().await;
    let maker = json!({
        "name": "maker", "scopes": ["read", "manage"], "allow": ["127.0.0.0/8", "::/0"], "per_minute": 6000,
        "expires_at": "2099-01-31 18:00:00",
    });
    let maker = made(&ogene, maker).await;
    let fields = |field: &str, value: Value| {
        let mut fields = json!({
            "name": "made", "scopes": ["read"], "allow": ["127.0.0.1"], "per_minute": 60,
            "expires_at": "2098-01-31 18:00:00",
        });
        fields[field] = value;
        fields
    };
    let within = make(&ogene, &maker, fields("name", json!("within"))).await;
    assert_eq!(within.status, 200, "{}", within.text());
    for (field, value, code) in [
        ("scopes", json!(["send"]), "API-1007"),
        ("scopes", Value::Null, "API-1007"),
        ("allow", json!(["10.0.0.1"]), "API-1007"),
        ("allow", json!([]), "API-1007"),
        ("per_minute", json!(6001), "API-1007"),
        ("expires_at", json!("2099-01-31 18:00:01"), "API-1007"),
        ("expires_at", json!("2020-01-31 18:00:00"), "API-2000"),
        ("scopes", json!(["admin"]), "API-2000"),
        ("allow", json!("home"), "API-2000"),
        ("per_minute", json!("fast"), "API-2000"),
        ("name", json!(7), "API-2000"),
        ("name", Value::Null, "API-2000"),
    ] {
        let shown = format!("{field} {value}");
        let refused = make(&ogene, &maker, fields(field, value)).await;
        assert_eq!(refused.code(), code, "{shown}: {}", refused.text());
    }
    let tokens = list(&ogene, TOKENS).await["items"].take();
    assert_eq!(tokens.as_array().map(Vec::len), Some(3));
    ogene.end().await;
}

#[tokio::test]
async fn the_limit_of_a_token_counts_its_requests_alone() {
    let ogene = Ogene::start().await;
    let token = made(&ogene, json!({"name": "slow", "per_minute": "2"})).await;
    let ask = async |token: &str, path: &str| {
        let answer = ogene.ask(&Request::get(path).bearer(token)).await;
        (answer.status, answer.code())
    };
    for path in ["/api/v2/balance", "/api/v2/messages"] {
        assert_eq!(ask(&token, path).await.0, 200);
    }
    let (status, code) = ask(&token, "/api/v2/account").await;
    assert_eq!((status, code.as_str()), (429, "API-3004"));
    assert_eq!(ask(&ogene.shop.token, "/api/v2/account").await.0, 200);
    ogene.end().await;
}
