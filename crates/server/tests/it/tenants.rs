//! No account learns anything of another. For every path, one account requests data of the other
//! with its own token. The answer must be the same as if that data did not exist.

use crate::kit::http::{Answer, Request, encoded};
use crate::kit::{AIRTEL, Customer, GLO, MTN, Ogene, SENDER, operations, to, until};
use domain::SenderStatus;
use engine::operators::RouteFields;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The access policy of a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Policy {
    /// The answer is the same for all, with or without a token.
    Public,
    /// The path reads the account of the token, and takes no id.
    Own,
    /// The path reads the message that the request names.
    Message,
    /// The path sends, or calculates the price of a send, by a sender ID of the account.
    Send,
    /// The path uses the one-time password that it names.
    Otp,
    /// The path removes the route of inbound messages that it names.
    Route,
    /// The path removes the opt-outs of the number that it names.
    OptOut,
    /// The path revokes the token that it names.
    Token,
    /// The path reads the top-up that it names.
    TopUp,
    /// The path revokes the SMPP user that it names.
    SmppUser,
    /// The path revokes the secret of callbacks that it names.
    Secret,
    /// The path replays the callbacks of the message that its fields name.
    Replay,
    /// The path reads, changes or pays the sub-account that it names.
    SubAccount,
    /// The path removes the alert that it names.
    Alert,
}

/// Every path of the service. A new path needs a policy here.
const POLICIES: &[(&str, Policy)] = &[
    ("/", Policy::Public),
    ("/docs", Policy::Public),
    ("/docs/docs.css", Policy::Public),
    ("/docs/docs.js", Policy::Public),
    ("/docs/elements.js", Policy::Public),
    ("/docs/interface.js", Policy::Public),
    ("/docs/icon.svg", Policy::Public),
    ("/openapi.json", Policy::Public),
    ("/healthz", Policy::Public),
    ("/readyz", Policy::Public),
    ("/metrics", Policy::Public),
    ("/hooks/carriers/{name}/{secret}", Policy::Public),
    ("/hooks/payments/{provider}", Policy::Public),
    ("/payments/return/{top_up_id}", Policy::Public),
    ("/payments/sandbox/{top_up_id}", Policy::Public),
    ("/api/v1/sms/create", Policy::Send),
    ("/api/v2/sms", Policy::Send),
    ("/api/v2/sms/create", Policy::Send),
    ("/api/v2/sms/quote", Policy::Send),
    ("/api/v2/sms/personalised", Policy::Send),
    ("/api/v2/sms/personalised/quote", Policy::Send),
    ("/api/v2/otp", Policy::Send),
    ("/api/v2/otp/{otp_id}", Policy::Otp),
    ("/api/v2/otp/{otp_id}/verify", Policy::Otp),
    ("/api/v2/otp/{otp_id}/resend", Policy::Otp),
    ("/api/v2/otp/{otp_id}/cancel", Policy::Otp),
    ("/api/v2/messages", Policy::Own),
    ("/api/v2/messages/{message_id}", Policy::Message),
    ("/api/v2/messages/{message_id}/cancel", Policy::Message),
    ("/api/v2/messages/{message_id}/pause", Policy::Message),
    ("/api/v2/messages/{message_id}/resume", Policy::Message),
    ("/api/v2/messages/{message_id}/reschedule", Policy::Message),
    ("/api/v2/messages/{message_id}/recipients", Policy::Message),
    (
        "/api/v2/messages/{message_id}/recipients/{recipient}",
        Policy::Message,
    ),
    ("/api/v2/inbound", Policy::Own),
    ("/api/v2/inbound/routes", Policy::Own),
    ("/api/v2/inbound/routes/{route_id}", Policy::Route),
    ("/api/v2/inbound/answers", Policy::Own),
    ("/api/v2/opt-outs", Policy::Own),
    ("/api/v2/opt-outs/{recipient}", Policy::OptOut),
    ("/api/v2/exports/opt-outs.csv", Policy::Own),
    ("/api/v2/smpp-users", Policy::Own),
    ("/api/v2/smpp-users/{system_id}", Policy::SmppUser),
    ("/api/v2/tokens", Policy::Own),
    ("/api/v2/tokens/{token_id}", Policy::Token),
    ("/api/v2/sub-accounts", Policy::Own),
    ("/api/v2/sub-accounts/{sub_account_id}", Policy::SubAccount),
    (
        "/api/v2/sub-accounts/{sub_account_id}/transfer",
        Policy::SubAccount,
    ),
    ("/api/v2/webhooks/secrets", Policy::Own),
    ("/api/v2/webhooks/secrets/{secret_id}", Policy::Secret),
    ("/api/v2/webhooks/dead", Policy::Own),
    ("/api/v2/webhooks/replay", Policy::Replay),
    ("/api/v2/webhooks/attempts", Policy::Own),
    ("/api/v2/exports/recipients.csv", Policy::Own),
    ("/api/v2/exports/wallet.csv", Policy::Own),
    ("/api/v2/usage", Policy::Own),
    ("/api/v2/wallet/entries", Policy::Own),
    ("/api/v2/alerts", Policy::Own),
    ("/api/v2/alerts/{alert_id}", Policy::Alert),
    ("/api/v2/top-ups", Policy::Own),
    ("/api/v2/top-ups/{top_up_id}", Policy::TopUp),
    ("/api/v2/top-ups/{top_up_id}/receipt", Policy::TopUp),
    ("/api/v2/balance", Policy::Own),
    ("/api/v2/balance/get", Policy::Own),
    ("/api/v2/delivery-reports", Policy::Message),
    ("/api/v2/delivery-reports/{message_id}", Policy::Message),
    ("/api/v2/sms/delivery-reports", Policy::Message),
    ("/api/v2/sms/delivery-reports/{message_id}", Policy::Message),
    ("/api/v2/delivery", Policy::Message),
    ("/api/v2/sender-ids", Policy::Own),
    ("/api/v2/account", Policy::Own),
    ("/api/sandbox/v2/sms", Policy::Send),
    ("/api/sandbox/v2/sms/create", Policy::Send),
    ("/api/sandbox/v2/sms/quote", Policy::Send),
    ("/api/sandbox/v2/sms/personalised", Policy::Send),
    ("/api/sandbox/v2/sms/personalised/quote", Policy::Send),
    ("/api/sandbox/v2/otp", Policy::Send),
    ("/api/sandbox/v2/otp/{otp_id}", Policy::Otp),
    ("/api/sandbox/v2/otp/{otp_id}/verify", Policy::Otp),
    ("/api/sandbox/v2/otp/{otp_id}/resend", Policy::Otp),
    ("/api/sandbox/v2/otp/{otp_id}/cancel", Policy::Otp),
    ("/api/sandbox/v2/messages", Policy::Own),
    ("/api/sandbox/v2/messages/{message_id}", Policy::Message),
    (
        "/api/sandbox/v2/messages/{message_id}/cancel",
        Policy::Message,
    ),
    (
        "/api/sandbox/v2/messages/{message_id}/pause",
        Policy::Message,
    ),
    (
        "/api/sandbox/v2/messages/{message_id}/resume",
        Policy::Message,
    ),
    (
        "/api/sandbox/v2/messages/{message_id}/reschedule",
        Policy::Message,
    ),
    (
        "/api/sandbox/v2/messages/{message_id}/recipients",
        Policy::Message,
    ),
    (
        "/api/sandbox/v2/messages/{message_id}/recipients/{recipient}",
        Policy::Message,
    ),
    ("/api/sandbox/v2/inbound", Policy::Own),
    ("/api/sandbox/v2/inbound/routes", Policy::Own),
    ("/api/sandbox/v2/inbound/answers", Policy::Own),
    ("/api/sandbox/v2/opt-outs", Policy::Own),
    ("/api/sandbox/v2/exports/opt-outs.csv", Policy::Own),
    ("/api/sandbox/v2/tokens", Policy::Own),
    ("/api/sandbox/v2/sub-accounts", Policy::Own),
    (
        "/api/sandbox/v2/sub-accounts/{sub_account_id}",
        Policy::SubAccount,
    ),
    ("/api/sandbox/v2/webhooks/secrets", Policy::Own),
    ("/api/sandbox/v2/webhooks/dead", Policy::Own),
    ("/api/sandbox/v2/webhooks/attempts", Policy::Own),
    ("/api/sandbox/v2/exports/recipients.csv", Policy::Own),
    ("/api/sandbox/v2/exports/wallet.csv", Policy::Own),
    ("/api/sandbox/v2/usage", Policy::Own),
    ("/api/sandbox/v2/wallet/entries", Policy::Own),
    ("/api/sandbox/v2/alerts", Policy::Own),
    ("/api/sandbox/v2/top-ups", Policy::Own),
    ("/api/sandbox/v2/top-ups/{top_up_id}", Policy::TopUp),
    ("/api/sandbox/v2/top-ups/{top_up_id}/receipt", Policy::TopUp),
    ("/api/sandbox/v2/balance", Policy::Own),
    ("/api/sandbox/v2/balance/get", Policy::Own),
    ("/api/sandbox/v2/delivery-reports", Policy::Message),
    (
        "/api/sandbox/v2/delivery-reports/{message_id}",
        Policy::Message,
    ),
    ("/api/sandbox/v2/sms/delivery-reports", Policy::Message),
    (
        "/api/sandbox/v2/sms/delivery-reports/{message_id}",
        Policy::Message,
    ),
    ("/api/sandbox/v2/delivery", Policy::Message),
    ("/api/sandbox/v2/sender-ids", Policy::Own),
    ("/api/sandbox/v2/account", Policy::Own),
];

/// A valid id without a message.
const UNKNOWN: &str = "01a1ee56-5e00-7707-8707-070707070707";

fn of_policy(policy: Policy) -> impl Iterator<Item = &'static str> {
    POLICIES
        .iter()
        .filter(move |(_, of)| *of == policy)
        .map(|(path, _)| *path)
}

/// The calls that give a router its paths, with their possible continuations. A router cannot list
/// its paths, so the test reads them from the sources. An unreadable call must not exist.
const ROUTING: [(&str, &[&str]); 7] = [
    (".route(", &["\"", "&at(\""]),
    (".merge(", &["interface(\"", "console::", "live_only("]),
    (".fallback(", &["fallback::"]),
    (".route_service(", &[]),
    (".nest(", &[]),
    (".nest_service(", &[]),
    (".fallback_service(", &[]),
];

/// Returns the sources of the service that name a router, without white space and tests. The
/// receiver of the demo belongs to a customer. The console has a table of its routes with the
/// access that each needs.
fn routers(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(routers(&path));
        } else if !path.ends_with("commands/demo/callbacks.rs")
            && !path.ends_with("http/console.rs")
        {
            let text = std::fs::read_to_string(&path).expect("a source");
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            found.extend(
                text.contains("Router")
                    .then(|| text.replace([' ', '\n'], "")),
            );
        }
    }
    found
}

/// Returns the paths that the routers name.
fn routed() -> BTreeSet<String> {
    let mut named: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for text in routers(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        for (call, known) in ROUTING {
            for rest in text.split(call).skip(1) {
                let before = known.iter().find(|before| rest.starts_with(**before));
                let before = before.unwrap_or_else(|| panic!("{call}{rest:.60}: not known here"));
                let path = rest[before.len()..].split('"').next().expect("a path");
                named.entry(before).or_default().push(path.to_owned());
            }
        }
    }
    let mut all: BTreeSet<String> = named["\""].iter().cloned().collect();
    for root in &named["interface(\""] {
        let within = named["&at(\""].iter();
        all.extend(within.map(|path| format!("{root}{path}")));
    }
    all
}

#[tokio::test]
async fn every_path_has_a_policy() {
    let stated: BTreeSet<String> = POLICIES
        .iter()
        .map(|(path, _)| (*path).to_owned())
        .collect();
    assert_eq!(routed(), stated, "each path of the router needs its policy");
    let ogene = Ogene::start().await;
    let document = ogene.ask(&Request::get("/openapi.json")).await.json();
    let documented = document["paths"].as_object().expect("paths").keys();
    let documented: BTreeSet<String> = documented.cloned().collect();
    let public: BTreeSet<String> = of_policy(Policy::Public).map(str::to_owned).collect();
    assert_eq!(
        documented,
        &stated - &public,
        "each documented path needs its policy, and the other way round"
    );
    ogene.end().await;
}

/// Two accounts. Each has a message in both environments, and a sender ID that the other does not
/// have. The messages are final, so that two answers about one of them are equal.
struct Two {
    ogene: Ogene,
    accounts: [Tenant; 2],
}

struct Tenant {
    customer: Customer,
    live: String,
    sandbox: String,
    sender: &'static str,
    number: String,
}

impl Two {
    async fn start() -> Self {
        let ogene = Ogene::start().await;
        let other = ogene.customer("77.25").await;
        let first = Self::tenant(&ogene, ogene.shop.clone(), "OnlyFirst", MTN).await;
        let second = Self::tenant(&ogene, other, "OnlySecond", AIRTEL).await;
        Self {
            ogene,
            accounts: [first, second],
        }
    }

    async fn tenant(
        ogene: &Ogene,
        customer: Customer,
        sender: &'static str,
        number: &str,
    ) -> Tenant {
        ogene
            .sender(&customer, sender, false, SenderStatus::Approved)
            .await;
        let sent = async |path: &str| {
            let request = Request::post(path).bearer(&customer.token);
            let answer = ogene.ask(&request.json(&to(number, "Mine"))).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let id = answer.json()["data"]["message_id"].clone();
            let id = id.as_str().expect("an id").to_owned();
            Self::final_state(ogene, &customer, path.replace("/sms", "/messages"), &id).await;
            id
        };
        Tenant {
            live: sent("/api/v2/sms").await,
            sandbox: sent("/api/sandbox/v2/sms").await,
            customer,
            sender,
            number: number.to_owned(),
        }
    }

    /// Waits until a message has its final state. `messages` is the path of its environment.
    async fn final_state(ogene: &Ogene, customer: &Customer, messages: String, id: &str) {
        let request = Request::get(&format!("{messages}/{id}")).bearer(&customer.token);
        until("the final state of a message", async || {
            let answer = ogene.ask(&request).await.json();
            (answer["data"]["state"] == "completed").then_some(())
        })
        .await;
    }

    /// Pairs each account with the other.
    fn pairs(&self) -> [(&Tenant, &Tenant); 2] {
        let [first, second] = &self.accounts;
        [(first, second), (second, first)]
    }
}

/// Changes that a message in its final state refuses. A cancel has no effect then.
const REFUSED_AT_THE_END: [&str; 3] = ["/pause", "/resume", "/reschedule"];

fn ends_with_one_of(path: &str, ends: &[&str]) -> bool {
    ends.iter().any(|end| path.ends_with(end))
}

/// Returns an answer without its request id.
fn told(answer: &Answer) -> (u16, String, Option<String>) {
    let kind = answer.header("content-type").map(str::to_owned);
    (answer.status, answer.text().to_owned(), kind)
}

/// Requests a message in the form of the path.
fn about(path: &str, me: &Tenant, id: &str) -> Request {
    let token = &me.customer.token;
    if path.contains("{message_id}") {
        let path = path.replace("{message_id}", id);
        let path = path.replace("{recipient}", &me.number);
        if path.ends_with("/cancel") || ends_with_one_of(&path, &REFUSED_AT_THE_END) {
            let send_at = Timestamp::now() + 1.hour();
            let body = json!({ "send_at": send_at.to_string() });
            return Request::post(&path).bearer(token).json(&body);
        }
        Request::get(&path).bearer(token)
    } else {
        Request::get(&format!("{path}?message_id={id}")).bearer(token)
    }
}

#[tokio::test]
async fn another_accounts_message_is_answered_as_an_unknown_one() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        for path in of_policy(Policy::Message) {
            let sandbox = path.starts_with("/api/sandbox");
            let ask = async |id: &str| told(&two.ogene.ask(&about(path, me, id)).await);
            let unknown = ask(UNKNOWN).await;
            assert_eq!(unknown.0, 404, "{path}");
            // The ids are those of the other account in both environments, and the own one of the
            // other environment.
            let mine = if sandbox {
                (&me.sandbox, &me.live)
            } else {
                (&me.live, &me.sandbox)
            };
            let own = ask(mine.0).await.0;
            let may_be_late = ends_with_one_of(path, &REFUSED_AT_THE_END);
            assert!(own == 200 || (own == 409 && may_be_late), "{path}: {own}");
            for id in [&other.live, &other.sandbox, mine.1] {
                assert_eq!(ask(id).await, unknown, "{path}");
            }
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn another_accounts_code_is_answered_as_an_unknown_one() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        for root in ["/api/v2", "/api/sandbox/v2"] {
            let made = Request::post(&format!("{root}/otp")).bearer(&other.customer.token);
            let made = made.json(&json!({"from": other.sender, "to": other.number}));
            let made = two.ogene.ask(&made).await.json();
            let id = made["data"]["otp_id"].as_str().expect("an id").to_owned();
            for path in of_policy(Policy::Otp).filter(|path| path.starts_with(root)) {
                let method = if path.ends_with('}') { "GET" } else { "POST" };
                let ask = async |token: &str, id: &str| {
                    let request = Request::new(method, &path.replace("{otp_id}", id)).bearer(token);
                    told(
                        &two.ogene
                            .ask(&request.json(&json!({"code": "123456"})))
                            .await,
                    )
                };
                let unknown = ask(&me.customer.token, UNKNOWN).await;
                assert_eq!(unknown.0, 404, "{path}");
                assert_eq!(ask(&me.customer.token, &id).await, unknown, "{path}");
                assert_ne!(ask(&other.customer.token, &id).await.0, 404, "{path}");
            }
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn what_is_ones_own_stays_so_whatever_else_is_named() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        let id = other.customer.id.to_string();
        let named: Vec<(&str, &str)> = ["account", "account_id", "user_id", "id", "user", "tenant"]
            .into_iter()
            .map(|name| (name, id.as_str()))
            .chain([("message_id", &*other.live), ("from", other.sender)])
            .collect();
        for path in of_policy(Policy::Own) {
            let plain = Request::get(path).bearer(&me.customer.token);
            // The entries of a wallet have a filter of this name.
            let is_read =
                |(name, _): &(&str, &str)| !(path.contains("wallet") && *name == "message_id");
            let named: Vec<_> = named.iter().copied().filter(is_read).collect();
            let naming = Request::get(&format!("{path}?{}", encoded(&named)))
                .bearer(&me.customer.token)
                .header("X-Account-Id", &id)
                .header("X-User-Id", &id)
                .body("application/json", json!({"user_id": id}).to_string());
            let (plain, naming) = (two.ogene.ask(&plain).await, two.ogene.ask(&naming).await);
            assert_eq!(plain.status, 200, "{path}");
            assert_eq!(told(&plain), told(&naming), "{path}");
            for foreign in [id.as_str(), other.sender, &other.live, &other.sandbox] {
                assert!(!plain.text().contains(foreign), "{path}: {}", plain.text());
            }
        }
    }
    two.ogene.end().await;
}

/// Returns the fields of a send in the form of the path.
fn fields_of(path: &str, fields: &Value) -> Value {
    let mut fields = fields.clone();
    let object = fields.as_object_mut().expect("fields");
    if path.contains("/personalised") {
        let to = object.remove("to");
        object.insert("messages".to_owned(), json!([{"to": to}]));
    }
    if path.ends_with("/otp") {
        object.remove("body");
    }
    fields
}

#[tokio::test]
async fn accounts_share_no_sender_wallet_or_duplicate_window() {
    let two = Two::start().await;
    let total = async |tenant: &Tenant| {
        let request = Request::get("/api/v2/balance").bearer(&tenant.customer.token);
        two.ogene.ask(&request).await.json()["balance"]["total_balance"].clone()
    };
    for (number, (me, other)) in two.pairs().into_iter().enumerate() {
        for path in of_policy(Policy::Send) {
            let send = async |fields: &Value| {
                let post = Request::post(path).bearer(&me.customer.token);
                let answer = two.ogene.ask(&post.json(&fields_of(path, fields))).await;
                told(&answer)
            };
            let by = |sender: &str| json!({"from": sender, "to": GLO, "body": "Whose?"});
            let before = total(other).await;
            let (unknown, foreign) = (send(&by("Nobodys")).await, send(&by(other.sender)).await);
            assert_eq!(unknown.0, 403, "{path}: {}", unknown.1);
            assert_eq!(unknown, foreign, "{path}");
            // If both send the same text to the same number, only the own send is a duplicate.
            let same = json!({"from": SENDER, "to": GLO, "body": format!("Same by {path}")});
            let (status, text, _) = send(&same).await;
            assert_eq!(status, 200, "{path}, {number}: {text}");
            assert_eq!(total(other).await, before, "{path}");
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn what_is_public_is_the_same_for_everybody() {
    let two = Two::start().await;
    for path in of_policy(Policy::Public).filter(|path| *path != "/metrics") {
        let nobody = two.ogene.ask(&Request::get(path)).await;
        for tenant in &two.accounts {
            let request = Request::get(path).bearer(&tenant.customer.token);
            assert_eq!(
                told(&two.ogene.ask(&request).await),
                told(&nobody),
                "{path}"
            );
        }
    }
    // Figures change at any moment, and must belong to no account.
    let metrics = two.ogene.ask(&Request::get("/metrics")).await;
    for tenant in &two.accounts {
        let id = tenant.customer.id.to_string();
        for own in [&*id, tenant.sender, &tenant.live, &tenant.customer.token_id] {
            assert!(!metrics.text().contains(own), "{own}");
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn another_accounts_token_is_answered_as_an_unknown_one() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        for path in of_policy(Policy::Token) {
            let revoke = async |id: &str| {
                let path = path.replace("{token_id}", id);
                let revoke = Request::new("DELETE", &path).bearer(&me.customer.token);
                told(&two.ogene.ask(&revoke).await)
            };
            let unknown = revoke("tok_0000000000000000").await;
            assert_eq!(unknown.0, 404, "{path}");
            assert_eq!(revoke(&other.customer.token_id).await, unknown, "{path}");
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn another_accounts_smpp_user_is_answered_as_an_unknown_one() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        let post = Request::post("/api/v2/smpp-users").bearer(&other.customer.token);
        let made = two.ogene.ask(&post.json(&json!({}))).await.json();
        let system_id = made["data"]["system_id"].as_str().expect("a system id");
        for path in of_policy(Policy::SmppUser) {
            let revoke = async |token: &str, id: &str| {
                let path = path.replace("{system_id}", id);
                let revoke = Request::new("DELETE", &path).bearer(token);
                told(&two.ogene.ask(&revoke).await)
            };
            let unknown = revoke(&me.customer.token, "ogaaaaaaaa").await;
            assert_eq!(unknown.0, 404, "{path}");
            assert_eq!(
                revoke(&me.customer.token, system_id).await,
                unknown,
                "{path}"
            );
            assert_eq!(
                revoke(&other.customer.token, system_id).await.0,
                200,
                "{path}"
            );
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn another_accounts_secret_is_answered_as_an_unknown_one() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        for path in of_policy(Policy::Secret) {
            let post = Request::post("/api/v2/webhooks/secrets").bearer(&other.customer.token);
            let made = two.ogene.ask(&post.json(&json!({}))).await.json();
            let id = made["data"]["secret_id"].as_str().expect("an id");
            let revoke = async |token: &str, id: &str| {
                let path = path.replace("{secret_id}", id);
                let revoke = Request::new("DELETE", &path).bearer(token);
                told(&two.ogene.ask(&revoke).await)
            };
            let unknown = revoke(&me.customer.token, "sec_0000000000000000").await;
            assert_eq!(unknown.0, 404, "{path}");
            assert_eq!(revoke(&me.customer.token, id).await, unknown, "{path}");
            assert_eq!(revoke(&other.customer.token, id).await.0, 200, "{path}");
        }
        for path in of_policy(Policy::Replay) {
            let replay = async |token: &str, id: &str| {
                let replay = Request::post(path).bearer(token);
                let fields = json!({ "message_id": id });
                told(&two.ogene.ask(&replay.json(&fields)).await)
            };
            let unknown = replay(&me.customer.token, UNKNOWN).await;
            assert_eq!(unknown.0, 404, "{path}");
            for id in [&other.live, &other.sandbox] {
                assert_eq!(replay(&me.customer.token, id).await, unknown, "{path}");
                assert_eq!(replay(&other.customer.token, id).await.0, 200, "{path}");
            }
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn another_accounts_sub_account_is_answered_as_an_unknown_one() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        let post = Request::post("/api/v2/sub-accounts").bearer(&other.customer.token);
        let post = post.json(&json!({"name": "Theirs", "email": "a@example.ng"}));
        let made = two.ogene.ask(&post).await.json();
        let id = made["data"]["sub_account_id"].as_str().expect("an id");
        for path in of_policy(Policy::SubAccount) {
            let methods: &[&str] = match path {
                path if path.ends_with("/transfer") => &["POST"],
                path if path.starts_with("/api/sandbox") => &["GET"],
                _ => &["GET", "PATCH"],
            };
            for method in methods {
                let ask = async |token: &str, id: &str| {
                    let path = path.replace("{sub_account_id}", id);
                    let fields = json!({"status": "active", "amount": "1", "direction": "to_sub",
                        "reference": path});
                    let request = Request::new(method, &path).bearer(token);
                    let request = match *method {
                        "GET" => request,
                        _ => request.json(&fields),
                    };
                    told(&two.ogene.ask(&request).await)
                };
                let unknown = ask(&me.customer.token, "1882399170363392").await;
                assert_eq!(unknown.0, 404, "{path}");
                // An account is no sub-account of itself or of another.
                for id in [
                    id,
                    &other.customer.id.to_string(),
                    &me.customer.id.to_string(),
                ] {
                    assert_eq!(
                        ask(&me.customer.token, id).await,
                        unknown,
                        "{method} {path}"
                    );
                }
                assert_eq!(
                    ask(&other.customer.token, id).await.0,
                    200,
                    "{method} {path}"
                );
            }
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn another_accounts_route_is_answered_as_an_unknown_one() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        let (token, number) = (&me.customer.token, &other.number);
        let fields = RouteFields {
            number: number.clone(),
            ..RouteFields::default()
        };
        let store = two.ogene.store().await;
        let given = operations(&store).inbound();
        given
            .add_route(other.customer.id, &fields)
            .await
            .expect("a route");
        store.close().await;
        let add = async |token: &str, number: &str| {
            let fields = json!({"number": number, "keyword": "yes"});
            let add = Request::post("/api/v2/inbound/routes").bearer(token);
            two.ogene.ask(&add.json(&fields)).await
        };
        let added = add(&other.customer.token, number).await;
        let id = added.json()["data"]["route_id"].as_str().map(str::to_owned);
        let id = id.expect("an id");
        assert_eq!(
            told(&add(token, number).await),
            told(&add(token, "99999").await)
        );
        for path in of_policy(Policy::Route) {
            let remove = async |token: &str, id: &str| {
                let path = path.replace("{route_id}", id);
                let remove = Request::new("DELETE", &path).bearer(token);
                told(&two.ogene.ask(&remove).await)
            };
            let unknown = remove(token, "rt_0000000000000000").await;
            assert_eq!(unknown.0, 404, "{path}");
            assert_eq!(remove(token, &id).await, unknown, "{path}");
            assert_eq!(remove(&other.customer.token, &id).await.0, 200, "{path}");
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn another_accounts_opt_out_is_answered_as_an_unknown_one() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        let add = Request::post("/api/v2/opt-outs").bearer(&other.customer.token);
        let added = two.ogene.ask(&add.json(&json!({"recipient": GLO}))).await;
        assert_eq!(added.status, 200, "{}", added.text());
        for path in of_policy(Policy::OptOut) {
            let remove = async |token: &str, recipient: &str| {
                let path = path.replace("{recipient}", recipient);
                let remove = Request::new("DELETE", &path).bearer(token);
                told(&two.ogene.ask(&remove).await)
            };
            let unknown = remove(&me.customer.token, MTN).await;
            assert_eq!(unknown.0, 404, "{path}");
            assert_eq!(remove(&me.customer.token, GLO).await, unknown, "{path}");
            assert_eq!(remove(&other.customer.token, GLO).await.0, 200, "{path}");
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn another_accounts_top_up_is_answered_as_an_unknown_one() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        let create = Request::post("/api/sandbox/v2/top-ups").bearer(&other.customer.token);
        let created = two.ogene.ask(&create.json(&json!({"amount": 500}))).await;
        let data = created.json()["data"].take();
        let id = data["top_up_id"].as_str().expect("an id").to_owned();
        let pay = Request::post(&format!("/payments/sandbox/{id}"));
        assert_eq!(two.ogene.ask(&pay).await.status, 200);
        for path in of_policy(Policy::TopUp) {
            let read = async |token: &str, id: &str| {
                let path = path.replace("{top_up_id}", id);
                told(&two.ogene.ask(&Request::get(&path).bearer(token)).await)
            };
            let unknown = read(&me.customer.token, UNKNOWN).await;
            assert_eq!(unknown.0, 404, "{path}");
            assert_eq!(read(&me.customer.token, &id).await, unknown, "{path}");
            // The live interface does not show top-ups of the sandbox either.
            let own = if path.contains("sandbox") { 200 } else { 404 };
            assert_eq!(read(&other.customer.token, &id).await.0, own, "{path}");
        }
    }
    two.ogene.end().await;
}

#[tokio::test]
async fn another_accounts_alert_is_answered_as_an_unknown_one() {
    let two = Two::start().await;
    for (me, other) in two.pairs() {
        let add = Request::post("/api/v2/alerts").bearer(&other.customer.token);
        let fields = json!({"threshold": 1, "url": "https://shop.example.ng/low"});
        let added = two.ogene.ask(&add.json(&fields)).await;
        let id = added.json()["data"]["alert_id"].as_str().map(str::to_owned);
        let id = id.expect("an id");
        for path in of_policy(Policy::Alert) {
            let remove = async |token: &str, id: &str| {
                let path = path.replace("{alert_id}", id);
                let remove = Request::new("DELETE", &path).bearer(token);
                told(&two.ogene.ask(&remove).await)
            };
            let unknown = remove(&me.customer.token, "al_0000000000000000").await;
            assert_eq!(unknown.0, 404, "{path}");
            assert_eq!(remove(&me.customer.token, &id).await, unknown, "{path}");
            assert_eq!(remove(&other.customer.token, &id).await.0, 200, "{path}");
        }
    }
    two.ogene.end().await;
}
