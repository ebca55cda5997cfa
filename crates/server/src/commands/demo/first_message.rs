//! The first message of the demo, from its acceptance over the API to its callback, and the first
//! inbound message.

use super::callbacks::Receiver;
use crate::format::lagos_time;
use serde::Serialize;
use serde_json::{Value, json};
use smpp::simulator::{Inbound, InboundForm, Smsc};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// The sender ID of the demo.
pub(super) const SENDER_ID: &str = "Ogene";
/// The `system_id` of the service at the simulator.
pub(super) const SYSTEM_ID: &str = "ogene";
/// The number of the account for inbound messages, and the keyword of a campaign on it.
pub(super) const NUMBER: &str = "32811";
pub(super) const KEYWORD: &str = "PROMO";
/// The recipient of the demo.
pub(super) const RECIPIENT: &str = "2348031234567";
/// The time limit for the whole life. A machine that is busy with a build needs some seconds.
const LIFE_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval of checks for the next step.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// One event of the message.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    /// Seconds since the message was sent, with two decimals.
    at: String,
    what: &'static str,
    about: String,
}

impl Step {
    /// Returns the line to show.
    pub(super) fn line(&self) -> String {
        format!("  {:>5} s  {:<10} {}", self.at, self.what, self.about)
    }
}

/// The address of the service, and the token of the caller.
pub(super) struct Caller<'a> {
    pub(super) http: SocketAddr,
    pub(super) token: &'a str,
}

/// Sends a message and follows it until its callback arrives. Its recipient then writes back, and
/// the account reads that. If the message is refused, or has no outcome in time, the last step names
/// the reason.
pub(super) async fn send_and_follow(
    caller: &Caller<'_>,
    smsc: &Smsc,
    callbacks: Receiver,
    now_ms: i64,
) -> Vec<Step> {
    let mut steps = Steps {
        started: Instant::now(),
        steps: Vec::new(),
    };
    let message = json!({
        "from": SENDER_ID,
        "to": RECIPIENT,
        // The text differs each time, since the same one would be refused as a duplicate.
        "body": format!("Hello from Ogene at {}", lagos_time(now_ms)),
        "callback_url": format!("http://{}/", callbacks.address),
    });
    let life = async {
        until_callback(caller, smsc, &message, callbacks, &mut steps).await?;
        until_inbound(caller, smsc, now_ms, &mut steps).await
    };
    let lived = timeout(LIFE_TIMEOUT, life).await;
    match lived {
        Ok(Ok(())) => {}
        Ok(Err(error)) => steps.add("failed", error.to_string()),
        Err(_) => steps.add(
            "failed",
            "the next step did not come within 30 s".to_owned(),
        ),
    }
    steps.steps
}

struct Steps {
    started: Instant,
    steps: Vec<Step>,
}

impl Steps {
    fn add(&mut self, what: &'static str, about: String) {
        let at = format!("{:.2}", self.started.elapsed().as_secs_f64());
        self.steps.push(Step { at, what, about });
    }
}

async fn until_callback(
    caller: &Caller<'_>,
    smsc: &Smsc,
    message: &Value,
    mut callbacks: Receiver,
    steps: &mut Steps,
) -> io::Result<()> {
    caller.until_ready().await?;
    let accepted_before = smsc.stats().accepted;
    steps.started = Instant::now();
    let sent = caller
        .ask("POST", "/api/v2/sms", &message.to_string())
        .await?;
    let id = sent["data"]["message_id"]
        .as_str()
        .ok_or_else(|| io::Error::other(format!("it was refused: {sent}")))?;
    let amount = |name: &str| format!("{:.2} NGN", sent["data"][name].as_f64().unwrap_or_default());
    let (cost, balance) = (amount("cost"), amount("balance"));
    let about = format!("message {id} to {RECIPIENT}; {cost} were charged, {balance} are left");
    steps.add("accepted", about);

    while smsc.stats().accepted == accepted_before {
        sleep(POLL_INTERVAL).await;
    }
    steps.add(
        "submitted",
        "the SMSC simulator took it over SMPP".to_owned(),
    );

    let report = format!("/api/v2/delivery-reports?message_id={id}");
    let delivered = loop {
        let answer = caller.ask("GET", &report, "").await?;
        let status = answer["data"]["reports"][0]["delivery_status"].as_str();
        match status {
            Some("sent awaiting status") | None => sleep(POLL_INTERVAL * 10).await,
            Some(status) => break status.to_owned(),
        }
    };
    steps.add(
        "receipt",
        format!("the delivery report has {RECIPIENT} as {delivered}"),
    );

    let outcome = loop {
        let outcome = callbacks.outcomes.recv().await;
        let outcome = outcome.ok_or(io::ErrorKind::BrokenPipe)?;
        // A message of an earlier start may have its outcome now.
        if outcome.message_id == id {
            break outcome;
        }
    };
    let (url, to, status) = (
        message["callback_url"].as_str().unwrap_or_default(),
        outcome.recipient,
        outcome.delivery_status,
    );
    let about = format!("POST {url} came with {to} {status}");
    steps.add("callback", about);
    Ok(())
}

/// Lets a subscriber write to the number of the account, and waits until the account can read it.
async fn until_inbound(
    caller: &Caller<'_>,
    smsc: &Smsc,
    now_ms: i64,
    steps: &mut Steps,
) -> io::Result<()> {
    let message = Inbound {
        from: RECIPIENT.to_owned(),
        to: NUMBER.to_owned(),
        // A second start within a minute would send a repetition without the time.
        text: format!("{KEYWORD} yes please, at {}", lagos_time(now_ms)),
    };
    for page in message.pages(InboundForm::Whole, 1) {
        smsc.send(SYSTEM_ID, page);
    }
    loop {
        let list = "/api/v2/inbound?limit=10";
        let answer = caller.ask("GET", list, "").await?;
        let items = answer["data"]["items"].as_array();
        let mut items = items.into_iter().flatten();
        if items.any(|item| item["body"] == message.text.as_str()) {
            break;
        }
        sleep(POLL_INTERVAL * 10).await;
    }
    let about = format!(
        "{RECIPIENT} wrote \"{}\" to {NUMBER}, and GET /api/v2/inbound has it",
        message.text
    );
    steps.add("inbound", about);
    Ok(())
}

impl Caller<'_> {
    async fn until_ready(&self) -> io::Result<()> {
        while !self.exchange("GET", "/readyz", "").await?.0 {
            sleep(POLL_INTERVAL).await;
        }
        Ok(())
    }

    /// Returns the JSON of an answer, whatever its status.
    async fn ask(&self, method: &str, target: &str, body: &str) -> io::Result<Value> {
        let (_, text) = self.exchange(method, target, body).await?;
        serde_json::from_str(&text).map_err(io::Error::other)
    }

    /// Makes one request of HTTP/1.0, so that the answer ends with the connection. Returns whether
    /// it succeeded, and the body.
    async fn exchange(&self, method: &str, target: &str, body: &str) -> io::Result<(bool, String)> {
        let request = format!(
            "{method} {target} HTTP/1.0\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.token,
            body.len(),
        );
        let mut connection = TcpStream::connect(self.http).await?;
        connection.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).await?;
        let (head, body) = answer
            .split_once("\r\n\r\n")
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        let is_success = head.split(' ').nth(1) == Some("200");
        Ok((is_success, body.to_owned()))
    }
}
