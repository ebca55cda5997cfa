//! The log of the real process, with everything in it that it can say (design.md: no secret, number or text).

use crate::kit::receiver::Receiver;
use crate::kit::{MTN, Ogene, SENDER, to, with};
use engine::{Clock, admin};
use serde_json::json;
use std::fs::File;
use std::process::{Command, Stdio};

#[tokio::test]
async fn tokens_numbers_texts_and_callback_secrets_never_reach_the_log() {
    let mut ogene = Ogene::start().await;
    ogene.stop().await;
    let (store, clock) = (ogene.store().await, Clock::system());
    let signing = admin::create_secret(&store, &clock, ogene.shop.id).await;
    let signing = signing.expect("made").signing.secret.text();
    store.close().await;
    let directory = tempfile::tempdir().expect("a directory");
    let (file, log) = (
        directory.path().join("ogene.toml"),
        directory.path().join("log"),
    );
    let settings = ogene.settings("log.level = \"trace\"\nhttp.listen = \"127.0.0.1:0\"\n");
    std::fs::write(&file, settings).expect("written");
    let mut process = Command::new(env!("CARGO_BIN_EXE_ogene"))
        .args(["serve", "--config"])
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(File::create(&log).expect("a log"))
        .spawn()
        .expect("it starts");
    let read = || std::fs::read_to_string(&log).expect("text");
    ogene.address = crate::kit::until("it serves", async || {
        let text = read();
        let (_, rest) = text.split_once("http://")?;
        let address: String = rest
            .chars()
            .take_while(|c| c.is_ascii_digit() || ".:".contains(*c))
            .collect();
        address.parse().ok()
    })
    .await;

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
    let request = crate::kit::http::Request::get(&query);
    assert_eq!(ogene.ask(&request).await.status, 200);
    assert_eq!(ogene.send(fields).await.code(), "API-2012");
    let otp = ogene.send(to(MTN, "Your OTP is 483920")).await;
    assert_eq!(otp.code(), "API-2013");
    process.kill().expect("killed");
    process.wait().expect("ended");

    let text = read();
    assert!(text.contains("Answered"), "{text}");
    let bare = &MTN[3..];
    for secret in [
        &token,
        &signing["whsec_".len()..],
        "Confidential",
        bare,
        "s3cret",
        "483920",
        "reference-77",
        SENDER,
    ] {
        let line = text.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }
    ogene.end().await;
}
