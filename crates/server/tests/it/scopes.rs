//! Scopes of tokens, for each documented operation (docs/spec/tokens.md, section 2). A request
//! out of scope is refused, and changes nothing.

use crate::kit::http::{Answer, Request, encoded};
use crate::kit::provider::{Kind, Provider};
use crate::kit::{AIRTEL, GLO, MTN, Ogene, SENDER, Setup, operations, to, until, with};
use engine::operators::RouteFields;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const LIVE: &str = "/api/v2";
const SANDBOX: &str = "/api/sandbox/v2";
const LEGACY: &str = "/api/v1/sms/create";
/// The number of inbound messages that the operator gave to the shop.
const NUMBER: &str = "32811";
const SCOPES: [&str; 4] = ["send", "read", "wallet", "manage"];

/// Every operation: method, path below the environment, and the scopes that permit it. A new
/// operation needs a line here.
const OPERATIONS: &[(&str, &str, &str)] = &[
    ("GET", LEGACY, "send"),
    ("POST", LEGACY, "send"),
    ("GET", "/account", "read"),
    ("GET", "/alerts", "read wallet"),
    ("POST", "/alerts", "wallet"),
    ("DELETE", "/alerts/{alert_id}", "wallet"),
    ("GET", "/balance", "read wallet"),
    ("GET", "/balance/get", "read wallet"),
    ("GET", "/delivery", "send read"),
    ("GET", "/delivery-reports", "send read"),
    ("GET", "/delivery-reports/{message_id}", "send read"),
    ("GET", "/exports/opt-outs.csv", "read manage"),
    ("GET", "/exports/recipients.csv", "send read"),
    ("GET", "/exports/wallet.csv", "read wallet"),
    ("GET", "/inbound", "read manage"),
    ("GET", "/inbound/answers", "read manage"),
    ("PATCH", "/inbound/answers", "manage"),
    ("GET", "/inbound/routes", "read manage"),
    ("POST", "/inbound/routes", "manage"),
    ("DELETE", "/inbound/routes/{route_id}", "manage"),
    ("GET", "/messages", "send read"),
    ("GET", "/messages/{message_id}", "send read"),
    ("POST", "/messages/{message_id}/cancel", "send"),
    ("POST", "/messages/{message_id}/pause", "send"),
    ("GET", "/messages/{message_id}/recipients", "send read"),
    (
        "GET",
        "/messages/{message_id}/recipients/{recipient}",
        "send read",
    ),
    ("POST", "/messages/{message_id}/reschedule", "send"),
    ("POST", "/messages/{message_id}/resume", "send"),
    ("GET", "/opt-outs", "read manage"),
    ("POST", "/opt-outs", "manage"),
    ("DELETE", "/opt-outs/{recipient}", "manage"),
    ("POST", "/otp", "send"),
    ("GET", "/otp/{otp_id}", "send read"),
    ("POST", "/otp/{otp_id}/cancel", "send"),
    ("POST", "/otp/{otp_id}/resend", "send"),
    ("POST", "/otp/{otp_id}/verify", "send"),
    ("GET", "/sender-ids", "read manage"),
    ("POST", "/sender-ids", "manage"),
    ("GET", "/smpp-users", "read manage"),
    ("POST", "/smpp-users", "manage"),
    ("DELETE", "/smpp-users/{system_id}", "manage"),
    ("GET", "/sms", "send"),
    ("POST", "/sms", "send"),
    ("GET", "/sms/create", "send"),
    ("POST", "/sms/create", "send"),
    ("GET", "/sms/delivery-reports", "send read"),
    ("GET", "/sms/delivery-reports/{message_id}", "send read"),
    ("POST", "/sms/personalised", "send"),
    ("POST", "/sms/personalised/quote", "send"),
    ("POST", "/sms/quote", "send"),
    ("GET", "/sub-accounts", "read manage"),
    ("POST", "/sub-accounts", "manage"),
    ("GET", "/sub-accounts/{sub_account_id}", "read manage"),
    ("PATCH", "/sub-accounts/{sub_account_id}", "manage"),
    ("POST", "/sub-accounts/{sub_account_id}/transfer", "wallet"),
    ("GET", "/tokens", "read manage"),
    ("POST", "/tokens", "manage"),
    ("DELETE", "/tokens/{token_id}", "manage"),
    ("GET", "/top-ups", "read wallet"),
    ("POST", "/top-ups", "wallet"),
    ("GET", "/top-ups/{top_up_id}", "read wallet"),
    ("GET", "/top-ups/{top_up_id}/receipt", "read wallet"),
    ("GET", "/usage", "read"),
    ("GET", "/wallet/entries", "read wallet"),
    ("GET", "/webhooks/attempts", "read manage"),
    ("GET", "/webhooks/dead", "read manage"),
    ("POST", "/webhooks/replay", "manage"),
    ("GET", "/webhooks/secrets", "read manage"),
    ("POST", "/webhooks/secrets", "manage"),
    ("DELETE", "/webhooks/secrets/{secret_id}", "manage"),
];

/// Everything that an operation could change, as the shop reads it.
const STATE: [&str; 13] = [
    "/balance",
    "/messages",
    "/tokens",
    "/sender-ids",
    "/inbound/routes",
    "/inbound/answers",
    "/opt-outs",
    "/sub-accounts",
    "/alerts",
    "/top-ups",
    "/webhooks/secrets",
    "/wallet/entries",
    "/otp/{otp_id}",
];

/// Returns the path of an operation in an environment.
fn in_environment(root: &str, path: &str) -> String {
    if path == LEGACY {
        path.to_owned()
    } else {
        format!("{root}{path}")
    }
}

/// Returns each documented operation as method and path.
async fn documented(ogene: &Ogene) -> BTreeSet<String> {
    let document = ogene.ask(&Request::get("/openapi.json")).await.json();
    let mut all = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        let methods = item.as_object().expect("an item").keys();
        all.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    all
}

/// An account with something of each kind, so that a request that slips through has an effect.
struct Scene {
    ogene: Ogene,
    _provider: Provider,
    /// The ids of the live environment and of the sandbox, by their places in paths.
    ids: [Vec<(&'static str, String)>; 2],
    /// A token of each scope.
    tokens: Vec<(&'static str, String)>,
}

impl Scene {
    async fn start() -> Self {
        let provider = Provider::start(Kind::Paystack).await;
        let setup = provider.of(Setup::new());
        let setup = setup
            .set("payments.sweep", r#""1h""#)
            .set("limits.reads_per_minute", "100000");
        let ogene = setup.start().await;
        let store = ogene.store().await;
        let given = RouteFields {
            number: NUMBER.to_owned(),
            ..RouteFields::default()
        };
        let inbound = operations(&store).inbound();
        inbound
            .add_route(ogene.shop.id, &given)
            .await
            .expect("a route");
        store.close().await;
        let mut scene = Self {
            ogene,
            _provider: provider,
            ids: [Vec::new(), Vec::new()],
            tokens: Vec::new(),
        };
        scene.add_owned().await;
        scene.add_messages().await;
        for scope in SCOPES {
            let fields = json!({"name": scope, "scopes": scope});
            let token = scene.made("/api/v2/tokens", fields).await;
            let token = token["token"].as_str().expect("a token").to_owned();
            scene.tokens.push((scope, token));
        }
        scene
    }

    /// Makes an object by the token of the shop. Returns `data`.
    async fn made(&self, path: &str, fields: Value) -> Value {
        let post = Request::post(path).bearer(&self.ogene.shop.token);
        let answer = self.ogene.ask(&post.json(&fields)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.json()["data"].take()
    }

    /// Adds what the account owns in both environments.
    async fn add_owned(&mut self) {
        let alert = json!({"threshold": 1, "url": "https://shop.example.ng/low"});
        let sub = json!({"name": "Below", "email": "b@example.ng"});
        let route = json!({"number": NUMBER, "keyword": "yes"});
        self.made("/api/v2/opt-outs", json!({"recipient": GLO}))
            .await;
        for (path, fields, name) in [
            ("/alerts", alert, "alert_id"),
            ("/inbound/routes", route, "route_id"),
            ("/smpp-users", json!({}), "system_id"),
            ("/sub-accounts", sub, "sub_account_id"),
            ("/tokens", json!({"name": "spare"}), "token_id"),
            ("/webhooks/secrets", json!({}), "secret_id"),
        ] {
            let made = self.made(&format!("{LIVE}{path}"), fields).await;
            let id = made[name].as_str().expect("an id").to_owned();
            for ids in &mut self.ids {
                ids.push((name, id.clone()));
            }
        }
    }

    /// Adds a scheduled message, a one-time password that was sent, and a top-up to each
    /// environment.
    async fn add_messages(&mut self) {
        let in_an_hour = (Timestamp::now() + 1.hour()).to_string();
        let later = with(to(MTN, "Later"), json!({"send_at": in_an_hour}));
        for (place, root) in [LIVE, SANDBOX].into_iter().enumerate() {
            let message = self.made(&format!("{root}/sms"), later.clone()).await;
            let code = json!({"from": SENDER, "to": MTN});
            let otp = self.made(&format!("{root}/otp"), code).await;
            let amount = json!({"amount": "1000.00"});
            let top_up = self.made(&format!("{root}/top-ups"), amount).await;
            for (name, data) in [
                ("message_id", &message),
                ("otp_id", &otp),
                ("top_up_id", &top_up),
            ] {
                let id = data[name].as_str().expect("an id").to_owned();
                self.ids[place].push((name, id));
            }
            let sent = otp["message_id"].as_str().expect("an id");
            let path = format!("{root}/messages/{sent}");
            until("the code is delivered", async || {
                let found = self.read(&path).await.json();
                (found["data"]["state"] == "completed").then_some(())
            })
            .await;
        }
    }

    async fn read(&self, path: &str) -> Answer {
        let read = Request::get(path).bearer(&self.ogene.shop.token);
        let answer = self.ogene.ask(&read).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer
    }

    /// Returns a path with the ids of the environment.
    fn filled(&self, place: usize, path: &str) -> String {
        let recipient = if path.contains("/opt-outs") { GLO } else { MTN };
        let path = path.replace("{recipient}", recipient);
        self.ids[place].iter().fold(path, |path, (name, id)| {
            path.replace(&format!("{{{name}}}"), id)
        })
    }

    /// Returns the answers about everything that could change.
    async fn state(&self) -> Vec<String> {
        let mut all = vec![self.read("/api/v2/smpp-users").await.text().to_owned()];
        for (place, root) in [LIVE, SANDBOX].into_iter().enumerate() {
            for path in STATE {
                let path = self.filled(place, &format!("{root}{path}"));
                let answer = self.read(&path).await;
                all.push(format!("{path}: {}", answer.text()));
            }
        }
        all
    }

    /// Returns a request that has an effect, or an answer, if the token permits it.
    fn effective(&self, place: usize, root: &str, operation: (&str, &str), scope: &str) -> Request {
        let (method, path) = operation;
        let target = self.filled(place, &in_environment(root, path));
        if method == "GET" {
            let send = [("from", SENDER), ("to", AIRTEL), ("body", "Scoped")];
            let id = self.filled(place, "{message_id}");
            let of_message = [("message_id", id.as_str())];
            return match path {
                "/sms" | "/sms/create" | LEGACY => {
                    Request::get(&format!("{target}?{}", encoded(&send)))
                }
                "/delivery" | "/delivery-reports" | "/sms/delivery-reports" => {
                    Request::get(&format!("{target}?{}", encoded(&of_message)))
                }
                _ => Request::get(&target),
            };
        }
        Request::new(method, &target).json(&fields(path, scope))
    }
}

/// Returns the fields of a change.
fn fields(path: &str, scope: &str) -> Value {
    let in_two_hours = (Timestamp::now() + 2.hours()).to_string();
    match path {
        "/sms" | "/sms/create" | "/sms/quote" | LEGACY => to(AIRTEL, "Scoped"),
        "/sms/personalised" | "/sms/personalised/quote" => {
            json!({"from": SENDER, "body": "Scoped", "messages": [{"to": AIRTEL}]})
        }
        "/otp" => json!({"from": SENDER, "to": AIRTEL}),
        "/otp/{otp_id}/verify" => json!({"code": "000000"}),
        "/messages/{message_id}/reschedule" => json!({"send_at": in_two_hours}),
        "/opt-outs" => json!({"recipient": AIRTEL}),
        "/inbound/answers" => json!({"stop": "Bye"}),
        "/inbound/routes" => json!({"number": NUMBER, "keyword": "more"}),
        "/alerts" => json!({"threshold": 2, "url": "https://shop.example.ng/low"}),
        "/top-ups" => json!({"amount": "1000.00"}),
        "/sender-ids" => json!({"sender_id": "Scoped", "purpose": "Orders"}),
        // A token may make one of its own scope.
        "/tokens" => json!({"name": "more", "scopes": scope}),
        "/sub-accounts" => json!({"name": "More", "email": "m@example.ng"}),
        "/sub-accounts/{sub_account_id}" => json!({"daily_limit": "7"}),
        "/sub-accounts/{sub_account_id}/transfer" => {
            json!({"amount": "1", "direction": "to_sub", "reference": "scoped"})
        }
        _ => json!({}),
    }
}

/// Returns the operations of an environment, with the scopes that permit them.
fn operations_of<'a>(
    documented: &'a BTreeSet<String>,
    root: &'a str,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> + 'a {
    let is_there = move |(method, path, _): &(&'static str, &'static str, &'static str)| {
        // The older path belongs to the live environment.
        let is_here = *path != LEGACY || root == LIVE;
        is_here && documented.contains(&format!("{method} {}", in_environment(root, path)))
    };
    OPERATIONS.iter().copied().filter(is_there)
}

#[tokio::test]
async fn each_operation_refuses_each_scope_that_does_not_permit_it() {
    let scene = Scene::start().await;
    let all = documented(&scene.ogene).await;
    let mut listed = BTreeSet::new();
    let before = scene.state().await;
    for (place, root) in [LIVE, SANDBOX].into_iter().enumerate() {
        for (method, path, permitting) in operations_of(&all, root) {
            listed.insert(format!("{method} {}", in_environment(root, path)));
            for (scope, token) in &scene.tokens {
                if permitting.split(' ').any(|one| one == *scope) {
                    continue;
                }
                let request = scene.effective(place, root, (method, path), scope);
                let answer = scene.ogene.ask(&request.bearer(token)).await;
                let shown = format!("{method} {root} {path} by {scope}: {}", answer.text());
                assert_eq!(answer.status, 403, "{shown}");
                assert_eq!(answer.code(), "API-1007", "{shown}");
            }
        }
    }
    assert_eq!(listed, all, "each documented operation needs its scopes");
    assert_eq!(scene.state().await, before, "nothing has changed");
    let texts = scene.ogene.smsc().received();
    assert_eq!(texts.len(), 1, "only the code was sent");
    scene.ogene.end().await;
}

#[tokio::test]
async fn each_operation_permits_each_of_its_scopes() {
    let scene = Scene::start().await;
    let all = documented(&scene.ogene).await;
    for root in [LIVE, SANDBOX] {
        for (method, path, permitting) in operations_of(&all, root) {
            for (scope, token) in &scene.tokens {
                if !permitting.split(' ').any(|one| one == *scope) {
                    continue;
                }
                // Unknown ids and fields that are missing are found after the scope.
                let target = in_environment(root, path).replace(['{', '}'], "");
                let request = Request::new(method, &target).bearer(token);
                let request = match path {
                    "/tokens" if method == "POST" => request.json(&fields(path, scope)),
                    _ if method == "GET" => request,
                    _ => request.json(&json!({})),
                };
                let answer = scene.ogene.ask(&request).await;
                let shown = format!("{method} {root} {path} by {scope}: {}", answer.text());
                assert!(![401, 403, 405].contains(&answer.status), "{shown}");
            }
        }
    }
    scene.ogene.end().await;
}
