//! The log of the real process with all its lines, and its other outputs: metrics and refusals
//! (SECURITY.md: no secret, number or text).

use crate::kit::http::{Request, encoded, try_ask};
use crate::kit::provider::{Kind, Provider};
use crate::kit::receiver::{Reaction, Receiver};
use crate::kit::{AIRTEL, MTN, Ogene, SENDER, Setup, http2, operations, to, until, with};
use serde_json::{Value, json};
use smpp::{Address, DeliverSm, esm_class};
use std::fs::File;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// An installation whose service is the real process, with the log at its highest level.
struct Talkative {
    ogene: Ogene,
    process: Child,
    directory: TempDir,
    /// The signing secret of the callbacks.
    signing: String,
}

impl Talkative {
    async fn start() -> Self {
        Self::of(Setup::new()).await
    }

    async fn of(setup: Setup) -> Self {
        let mut ogene = setup.start().await;
        ogene.stop().await;
        let store = ogene.store().await;
        let made = operations(&store)
            .callbacks()
            .create_secret(ogene.shop.id)
            .await;
        let signing = made.expect("made").signing.secret.text();
        store.close().await;
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("ogene.toml");
        let settings = ogene.settings("log.level = \"trace\"\nhttp.listen = \"127.0.0.1:0\"\n");
        std::fs::write(&file, settings).expect("written");
        let log = File::create(directory.path().join("log")).expect("a log");
        let process = Command::new(env!("CARGO_BIN_EXE_ogene"))
            .args(["serve", "--config"])
            .arg(&file)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("it starts");
        let mut talkative = Self {
            ogene,
            process,
            directory,
            signing,
        };
        talkative.ogene.address = until("it serves", async || {
            let text = talkative.log();
            let (_, rest) = text.split_once("http://")?;
            let address: String = rest
                .chars()
                .take_while(|c| c.is_ascii_digit() || ".:".contains(*c))
                .collect();
            address.parse().ok()
        })
        .await;
        talkative
    }

    fn log(&self) -> String {
        let octets = std::fs::read(self.directory.path().join("log")).expect("a log");
        String::from_utf8_lossy(&octets).into_owned()
    }

    /// Ends the installation. Returns the log.
    async fn end(mut self) -> String {
        self.process.kill().expect("killed");
        self.process.wait().expect("ended");
        let log = self.log();
        self.ogene.end().await;
        log
    }
}

/// Fails if a line has one of the secrets.
fn assert_silent(what: &str, text: &str, secrets: &[&str]) {
    for secret in secrets {
        let line = text.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{what} tells {secret}");
    }
}

#[tokio::test]
async fn tokens_numbers_texts_and_secrets_never_reach_the_log() {
    let talkative = Talkative::start().await;
    let signing = talkative.signing.clone();
    let ogene = &talkative.ogene;
    let receiver = Receiver::start().await;
    let fields = with(
        to(MTN, "Confidential words"),
        json!({"callback_url": receiver.url, "customer_reference": "reference-77"}),
    );
    let id = ogene.sent_id(fields.clone()).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    let call = receiver.called(1).await.remove(0);
    assert!(call.headers.contains_key("webhook-signature"));
    let token = ogene.shop.token.clone();
    let query = format!("/api/v2/balance?api_token={token}");
    assert_eq!(ogene.ask(&Request::get(&query)).await.status, 200);
    assert_eq!(ogene.send(fields).await.code(), "API-2012");
    let otp = ogene.send(to(MTN, "Your OTP is 483920")).await;
    assert_eq!(otp.code(), "API-2013");
    let log = talkative.end().await;
    assert!(log.contains("request answered"), "{log}");
    let bare = &MTN[3..];
    let secrets = [
        &token,
        &signing["whsec_".len()..],
        "Confidential",
        bare,
        "s3cret",
        "483920",
        "reference-77",
        SENDER,
    ];
    assert_silent("the log", &log, &secrets);
}

#[tokio::test]
async fn refused_webhooks_leave_one_line_without_their_content() {
    let provider = Provider::start(Kind::Paystack).await;
    let talkative = Talkative::of(provider.of(Setup::new())).await;
    let refused = "payment webhook: refused";
    let body = provider.hook_body("T-canary-77");
    let unsigned = provider.unsigned(&body);
    let wrong = unsigned
        .clone()
        .header("x-paystack-signature", "c0ffee99c0ffee99");
    for request in [&unsigned, &wrong, &unsigned] {
        let answer = talkative.ogene.ask(request).await;
        assert_eq!(answer.status, 401, "{}", answer.text());
    }
    until("the refusal is logged", async || {
        talkative.log().contains(refused).then_some(())
    })
    .await;
    let log = talkative.end().await;
    let lines = log.lines().filter(|line| line.contains(refused));
    assert_eq!(lines.count(), 1, "{log}");
    assert_silent("the log", &log, &["T-canary-77", "c0ffee99", "s3cret"]);
}

#[tokio::test]
async fn our_own_failures_are_logged_with_the_id_of_their_request() {
    let talkative = Talkative::start().await;
    let ogene = &talkative.ogene;
    let id = ogene.sent_id(to(MTN, "Hello")).await;
    ogene.hide("messages");
    let path = format!("/api/v2/delivery-reports/{id}");
    let request = Request::get(&path)
        .bearer(&ogene.shop.token)
        .header("X-Request-Id", "hidden-1");
    assert_eq!(ogene.ask(&request).await.code(), "API-5001");
    ogene.show("messages");
    let log = talkative.end().await;
    for message in ["store: request failed", "\"request failed\""] {
        let is_told = |line: &str| line.contains(message) && line.contains("hidden-1");
        assert!(log.lines().any(is_told), "{message}: {log}");
    }
}

/// The canaries: a text, a number, and an invalid token.
const TEXT: &str = "Canary";
const NUMBER: &str = "2348031239876";
const JUNK: &str = "ogl_Canary0000000000000000000000000000000";

/// Strings that must be in no output. A number is the part that all its notations share.
const CANARIES: [&str; 5] = ["Canary", "canary", "CANARY", "8031239876", "Q2FuYXJ5"];

/// All contents of a request, with one that is not allowed.
const FIELDS: [&str; 14] = [
    "api_token",
    "from",
    "to",
    "body",
    "gateway",
    "dnd",
    "unicode",
    "append_sender",
    "callback_url",
    "customer_reference",
    "message_id",
    "page",
    "per_page",
    "Canary",
];

const PATHS: [&str; 6] = [
    "/api/v2/sms",
    "/api/sandbox/v2/sms",
    "/api/v1/sms/create",
    "/api/v2/delivery-reports",
    "/api/v2/balance",
    "/Canary/8031239876",
];

/// Returns a send that is valid except for one field, in every form of a request.
fn in_each_form(path: &str, token: &str, field: &str, canary: &Value) -> Vec<Request> {
    let mut good = to("2348000000001", "Hello");
    good[field] = canary.clone();
    let as_text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let texts: Vec<(String, String)> = good
        .as_object()
        .expect("fields")
        .iter()
        .map(|(name, value)| (name.clone(), as_text(value)))
        .collect();
    let pairs: Vec<(&str, &str)> = texts
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    let post = || match field {
        // If the token itself is the canary, nothing else may decide.
        "api_token" => Request::post(path),
        _ => Request::post(path).bearer(token),
    };
    let query = format!("{path}?{}", encoded(&pairs));
    let get = Request::get(&query);
    let get = if field == "api_token" {
        get
    } else {
        get.bearer(token)
    };
    vec![
        post().json(&good),
        post().form(&pairs),
        post().multipart(&pairs),
        get,
    ]
}

/// Returns requests that are wrong as a whole, with canaries in all their parts.
fn broken(token: &str) -> Vec<Request> {
    let post = || Request::post("/api/v2/sms").bearer(token);
    let multipart = "multipart/form-data; boundary=Canary";
    let part = "--Canary\r\nContent-Disposition: form-data; name=\"Canary\"\r\n\r\n2348031239876";
    vec![
        post().body("application/json", format!("\"{TEXT}\"")),
        post().body("application/json", NUMBER),
        post().body("application/json", format!("[\"{TEXT}\", {NUMBER}]")),
        post().body("application/json", format!("{{\"body\": \"{TEXT} {NUMBER}")),
        post().body("application/json", format!("{{\"{TEXT}\" {NUMBER}}}")),
        post().body(
            "application/json",
            format!("{{\"to\": {{\"{TEXT}\": {NUMBER}}}}}"),
        ),
        post().body(
            "application/json",
            format!("{{\"to\": [[{NUMBER}, \"{TEXT}\"]]}}"),
        ),
        post().body("application/json", format!("{NUMBER}Canary")),
        post().body("Canary/canary", TEXT),
        post().body("text/plain; charset=Canary", NUMBER),
        post().body(multipart, part),
        post().body(multipart, format!("{part}\r\n--Canary--\r\n")),
        post().body("multipart/form-data", part),
        Request::new("CANARY", "/api/v2/sms").bearer(token),
        Request::new("CANARY", "/api/v2/Canary").bearer(JUNK),
        Request::get("/api/v2/delivery-reports/Canary").bearer(token),
        Request::get("/api/v2/delivery-reports/2348031239876?page=Canary").bearer(token),
        Request::get("/api/v2/balance").header("Authorization", "Basic Q2FuYXJ5OmNhbmFyeQ=="),
        Request::get("/api/v2/balance").header("Authorization", "Bearer 2348031239876"),
        Request::get("/api/v2/balance").header("api_token", JUNK),
        Request::get("/api/v2/balance")
            .bearer(token)
            .header("User-Agent", "Canary 2348031239876")
            .header("Referer", "https://canary.example/?to=2348031239876")
            .header("X-Forwarded-For", "Canary")
            // This id has forbidden characters.
            .header("X-Request-Id", "Canary 2348031239876")
            .header("Cookie", "canary=Canary"),
        // These requests are no HTTP.
        Request::new("Canary\u{1}", "2348031239876"),
        Request::get("/Canary 2348031239876"),
        Request::get("/").header("Canary\u{7F}", "Canary"),
        Request::get("/").header("Content-Length", "Canary"),
    ]
}

/// An unreadable receipt, which the log names.
async fn tell_unreadable(talkative: &Talkative) {
    let receipt = DeliverSm {
        source: Address::international(NUMBER),
        destination: Address::alphanumeric(TEXT),
        esm_class: esm_class::RECEIPT,
        short_message: format!("{TEXT} id:{NUMBER}").into(),
        ..DeliverSm::default()
    };
    talkative.ogene.smsc().send("ogene", receipt);
    until("the receipt is told of", async || {
        talkative
            .log()
            .contains("receipt dropped, it names no")
            .then_some(())
    })
    .await;
}

/// Callbacks that fail, with a URL full of secrets.
async fn fail_callbacks(talkative: &Talkative) {
    let ogene = &talkative.ogene;
    let receiver = Receiver::start().await;
    receiver.react([
        Reaction::Status(500),
        Reaction::Later(1),
        Reaction::Status(404),
    ]);
    let secretive = |port: u16| format!("http://Canary:canary@127.0.0.1:{port}/Canary?to={NUMBER}");
    let mut fields = to(&format!("{NUMBER},{AIRTEL}"), TEXT);
    fields["callback_url"] = json!(secretive(receiver.port));
    fields["customer_reference"] = json!(TEXT);
    let id = ogene.sent_id(fields).await;
    ogene.outcome(&id).await;
    receiver.called(3).await;
    // The third is dead after the second attempt of its callback.
    let dead = until("a callback is dead", async || {
        let log = talkative.log();
        let line = log.lines().find(|line| line.contains("callback: dead"))?;
        serde_json::from_str::<Value>(line).ok()
    })
    .await;
    let figures = [
        &dead["callback.attempts"],
        &dead["http.status"],
        &dead["account.id"],
    ];
    assert_eq!(figures, [&json!(2), &json!(404), &json!(ogene.shop.id.0)]);
    let nowhere = with(
        to(NUMBER, "Canary 2"),
        json!({"callback_url": secretive(9)}),
    );
    let id = ogene.sent_id(nowhere).await;
    ogene.outcome(&id).await;
}

#[tokio::test]
async fn canaries_reach_no_log_no_metric_and_no_refusal() {
    let talkative = Talkative::start().await;
    let ogene = &talkative.ogene;
    let (address, token) = (ogene.address, ogene.shop.token.clone());
    let unknown = domain::token::make(&[11; 64]).expect("a token");
    let mut requests = broken(&token);
    let canaries = [
        json!(format!("{TEXT} {NUMBER}")),
        json!(NUMBER),
        json!(8_031_239_876_u64),
        json!(unknown),
        json!(JUNK),
        json!([TEXT, NUMBER, {TEXT: TEXT}]),
    ];
    for path in PATHS {
        for field in FIELDS {
            for canary in &canaries {
                requests.extend(in_each_form(path, &token, field, canary));
            }
        }
    }
    let mut refused = 0;
    for request in &requests {
        // Some are cut off without an answer, which shows nothing either.
        let Ok(answer) = try_ask(address, request).await else {
            continue;
        };
        if answer.status != 200 {
            refused += 1;
            let whole = answer.whole();
            assert_silent(&format!("the answer to {request:?}"), &whole, &CANARIES);
            assert_silent("a refusal", &whole, &[&unknown]);
        }
    }
    assert!(refused > requests.len() / 2, "{refused}");

    // The same over HTTP/2, whose library logs its frames.
    let fields = [
        ("authorization", JUNK),
        ("canary", "Canary"),
        ("user-agent", NUMBER),
    ];
    let status = http2::ask(address, "/api/v2/sms?to=2348031239876&body=Canary", &fields).await;
    assert_eq!(status, 401);

    fail_callbacks(&talkative).await;
    tell_unreadable(&talkative).await;
    let metrics = ogene.ask(&Request::get("/metrics")).await;
    assert_eq!(metrics.status, 200);
    assert_silent("/metrics", metrics.text(), &CANARIES);
    let log = talkative.end().await;
    assert!(log.contains("request answered"), "{log}");
    assert_silent("the log", &log, &CANARIES);
    assert_silent("the log", &log, &[&token, &unknown, "ogl_"]);
}
