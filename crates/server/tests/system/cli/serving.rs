//! The service as its customers see it, run by the real binary.

use super::AN_ACCOUNT;
use crate::installation::Installation;
use crate::process::Process;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;

/// Posts a form with a token. Returns the status and the answer.
fn post(address: &str, path: &str, token: &str, form: &str) -> (u16, Value) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = form.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
    )
    .expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    (
        status.expect("a status"),
        serde_json::from_str(body).expect("JSON"),
    )
}

#[test]
fn without_a_gateway_only_the_sandbox_accepts_sends() {
    let ogene = Installation::new();
    let account = ogene.json(&AN_ACCOUNT);
    let id = account["user_id"].as_str().expect("an id");
    let token = ogene.json(&["token", "create", "--account", id, "--name", "shop"]);
    let token = token["token"].as_str().expect("a token");
    let sender = ["--account", id, "--sender-id", "AdaFoods"];
    ogene.json(
        &[
            &["sender-id", "register", "--purpose", "Orders"],
            &sender[..],
        ]
        .concat(),
    );
    ogene.json(&[&["sender-id", "approve"], &sender[..]].concat());
    ogene.json(&[
        "wallet",
        "credit",
        "--account",
        id,
        "--amount",
        "100",
        "--reference",
        "R",
    ]);

    let mut serving = Process::start(ogene.command(&["serve"]));
    let log: Value = serde_json::from_str(&serving.line_with("serving")).expect("JSON");
    let url = log["http.address"].as_str().expect("an address");
    let address = url.strip_prefix("http://").expect("http");
    let form = "from=AdaFoods&to=2348031234567&body=Kedu";
    let (status, answer) = post(address, "/api/sandbox/v2/sms", token, form);
    assert_eq!(
        (status, &answer["code"]),
        (200, &"API-0000".into()),
        "{answer}"
    );
    for gateway in ["", "otp", "dual-backup"] {
        let form = format!("{form}&gateway={gateway}");
        let (status, answer) = post(address, "/api/v2/sms", token, &form);
        assert_eq!(
            (status, &answer["code"]),
            (400, &"API-2009".into()),
            "{answer}"
        );
    }
    let shown = ogene.json(&["account", "show", "--account", id]);
    assert_eq!(shown["balance"]["total_balance"], 100.0);
    serving.signal("TERM");
    assert_eq!(serving.end().0.code(), Some(0));
}
