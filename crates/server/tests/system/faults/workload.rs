//! The reference workload: credit, sends, receipts, refunds and callbacks. Its customer records all
//! answers.

use super::daemon::Daemon;
use crate::customer::{Answer, Client, Customer};
use crate::installation::Installation;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The place of a send that is made twice at once.
const TWICE: usize = 1;
/// Time in which a repeated send is surely refused as a duplicate.
const KNOWN: Duration = Duration::from_secs(50);
/// The price of a page in kobo, with a refund and without.
const REFUNDING: i64 = 600;
const CORPORATE: i64 = 750;
/// The credit that is added during the workload.
const MORE: &str = "100.00";
/// All credit at the end, in kobo.
const CREDITED: i64 = 40_000;

/// Sends, most of them to a single recipient.
const SENDS: u64 = 38;

/// The last digit of a number determines its outcome.
pub(crate) const REACHED: u64 = 1;
pub(crate) const UNREACHED: u64 = 2;
pub(crate) const REFUSED: u64 = 3;

/// A send that is made and repeated.
#[derive(Debug)]
pub(crate) struct Sending {
    text: String,
    pub(crate) numbers: Vec<u64>,
    gateway: &'static str,
    pub(crate) is_sandbox: bool,
    pub(crate) has_callback: bool,
    /// `true` if the credit does not cover its cost.
    pub(crate) is_dear: bool,
    /// The idempotency key of all attempts, if they have one.
    key: Option<String>,
    /// The due time of a message that is cancelled before it, by a change with a key of its own.
    send_at: Option<String>,
    pages: i64,
    price: i64,
    /// The result of each attempt.
    pub(crate) attempts: Vec<Attempt>,
    /// The message, once it is known.
    pub(crate) message: Option<String>,
}

/// The result of a request to send.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Attempt {
    /// 200 with this cost in kobo.
    Accepted { cost: i64 },
    /// 200 with this cost, replayed for the same key.
    Replayed { cost: i64 },
    /// API-2012.
    Duplicate,
    /// API-3001.
    TooDear,
    /// API-5003, or API-2018 while an earlier attempt is handled.
    Unavailable,
    /// No answer, or an unknown outcome. The repeated send shows the outcome.
    Silence,
}

impl Sending {
    pub(crate) fn new(place: u64, fates: &[u64]) -> Self {
        let number = |(at, fate): (u64, &u64)| 2_348_031_000_000 + place * 1_000 + at * 10 + fate;
        Self {
            text: format!("Your parcel {place} is on its way"),
            numbers: (0..).zip(fates).map(number).collect(),
            gateway: "direct-refund",
            is_sandbox: false,
            has_callback: true,
            is_dear: false,
            key: None,
            send_at: None,
            pages: 1,
            price: REFUNDING,
            attempts: Vec::new(),
            message: None,
        }
    }

    /// The text has two pages.
    pub(crate) fn long(self) -> Self {
        let more = " and with us all is as well as can be;".repeat(5);
        Self {
            text: self.text + &more,
            pages: 2,
            ..self
        }
    }

    /// Rate x pages x recipients.
    pub(crate) fn cost(&self) -> i64 {
        self.price * self.pages * i64::try_from(self.numbers.len()).expect("few")
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.send_at.is_some()
    }

    /// Returns the refund: the price of an undelivered recipient, if the gateway refunds, or of a
    /// cancelled one.
    pub(crate) fn refund(&self, number: u64) -> i64 {
        let is_unreached = number % 10 != REACHED || self.is_cancelled();
        let is_owed = self.price == REFUNDING && !self.is_sandbox && is_unreached;
        if is_owed { self.price * self.pages } else { 0 }
    }

    pub(crate) fn accepted(&self) -> bool {
        let taken = |attempt: &Attempt| {
            matches!(
                attempt,
                Attempt::Accepted { .. } | Attempt::Replayed { .. } | Attempt::Duplicate
            )
        };
        self.attempts.iter().any(taken)
    }

    pub(crate) fn is_live(&self) -> bool {
        !self.is_sandbox && self.accepted()
    }

    fn base(&self) -> &'static str {
        if self.is_sandbox {
            "/api/sandbox/v2"
        } else {
            "/api/v2"
        }
    }

    /// Tries to send.
    pub(crate) fn attempt(&mut self, client: &mut Client, callback_url: &str) {
        let to: Vec<String> = self.numbers.iter().map(u64::to_string).collect();
        let mut fields =
            json!({"from": "AdaFoods", "to": to, "body": self.text, "gateway": self.gateway});
        if self.has_callback {
            fields["callback_url"] = callback_url.into();
        }
        if let Some(send_at) = &self.send_at {
            fields["send_at"] = send_at.as_str().into();
        }
        let (line, body) = (format!("POST {}/sms", self.base()), fields.to_string());
        let answer = match &self.key {
            Some(key) => client.keyed(&line, key, &body),
            None => client.request(&line, &body),
        };
        let attempt = match answer.map(|answer| self.understand(&answer)) {
            Ok(attempt) => attempt,
            Err(_) => Attempt::Silence,
        };
        self.attempts.push(attempt);
        if self.is_cancelled() {
            self.cancel(client);
        }
    }

    /// Tries to cancel the message, if it is known. A repeated cancel has the first answer.
    fn cancel(&self, client: &mut Client) {
        let (Some(message), Some(key)) = (&self.message, &self.key) else {
            return;
        };
        let line = format!("POST {}/messages/{message}/cancel", self.base());
        let Ok(answer) = client.keyed(&line, &format!("cancel-{key}"), "") else {
            return;
        };
        // It may be unavailable, or an earlier attempt is handled.
        let is_known = [200, 503, 409].contains(&answer.status);
        assert!(is_known, "{}", answer.body);
    }

    fn understand(&mut self, answer: &Answer) -> Attempt {
        match (answer.status, answer.body["code"].as_str()) {
            (200, _) => {
                let message = answer.message_id();
                let known = self.message.replace(message.clone());
                let cost = kobo(&answer.body["data"]["cost"]);
                if answer.replayed {
                    assert!(self.key.is_some() && known.is_none_or(|known| known == message));
                    Attempt::Replayed { cost }
                } else {
                    Attempt::Accepted { cost }
                }
            }
            (409, Some("API-2018")) => Attempt::Unavailable,
            (409, Some("API-2012")) => Attempt::Duplicate,
            (402, Some("API-3001")) => Attempt::TooDear,
            (503, Some("API-5003")) => match answer.body["error"]["description"].as_str() {
                Some("Outcome unknown") => Attempt::Silence,
                _ => Attempt::Unavailable,
            },
            other => panic!("{other:?} is no answer to a send: {}", answer.body),
        }
    }

    /// Returns the status of each recipient, if the report of the message can be read.
    pub(crate) fn report(&self, client: &mut Client) -> Option<Report> {
        let message = self.message.as_ref()?;
        let base = self.base();
        let line = format!("GET {base}/delivery-reports?message_id={message}&per_page=1000");
        let answer = client.request(&line, "").ok()?;
        if answer.status == 503 {
            return None;
        }
        assert_eq!(answer.status, 200, "{}", answer.body);
        let data = &answer.body["data"];
        let statuses = data["reports"].as_array().expect("reports").iter();
        let statuses = statuses.map(|report| {
            let field = |name: &str| report[name].as_str().expect("text").to_owned();
            (
                field("recipient").parse().expect("digits"),
                field("delivery_status"),
            )
        });
        Some(Report {
            statuses: statuses.collect(),
            summary: data["summary"].clone(),
        })
    }
}

/// A delivery report.
pub(crate) struct Report {
    pub(crate) statuses: HashMap<u64, String>,
    pub(crate) summary: Value,
}

/// The requests of the customer and their answers.
pub(crate) struct Workload {
    pub(crate) sendings: Vec<Sending>,
    /// Balances in kobo, in the order of reading.
    pub(crate) balances: Vec<i64>,
    /// Outcomes that were reported before the end.
    pub(crate) outcomes: HashMap<u64, String>,
    /// All credit of the customer, in kobo.
    pub(crate) credited: i64,
    began: Instant,
}

impl Workload {
    pub(crate) fn new() -> Self {
        let single = |place| Sending::new(place, &[REACHED]);
        let long = "Your order is on its way, and with us all is as well as can be. ";
        let sandbox = Sending {
            is_sandbox: true,
            ..single(0)
        };
        let several = Sending::new(1, &[REACHED, UNREACHED, REFUSED]);
        let pages = Sending {
            text: long.repeat(4),
            pages: 2,
            ..Sending::new(2, &[REACHED, UNREACHED])
        };
        let corporate = Sending {
            gateway: "direct-corporate",
            price: CORPORATE,
            has_callback: false,
            ..Sending::new(3, &[UNREACHED])
        };
        let dear = Sending {
            text: long.repeat(3),
            is_dear: true,
            pages: 2,
            ..Sending::new(4, &[REACHED; 40])
        };
        let cancelled = Sending {
            send_at: Some((Timestamp::now() + 1.hours()).to_string()),
            ..Sending::new(SENDS, &[REACHED, UNREACHED, REFUSED])
        };
        let sendings = [sandbox, several, pages, corporate, dear, cancelled];
        let sendings = sendings.into_iter().chain((5..SENDS).map(single));
        let keyed = sendings.map(|sending| Sending {
            key: (sending.numbers[0] / 1_000 % 2 == 0).then(|| sending.numbers[0].to_string()),
            ..sending
        });
        Self::of(keyed.collect(), CREDITED)
    }

    /// Returns other sends, of a customer who already has this credit.
    pub(crate) fn of(sendings: Vec<Sending>, credited: i64) -> Self {
        Self {
            sendings,
            balances: Vec::new(),
            outcomes: HashMap::new(),
            credited,
            began: Instant::now(),
        }
    }

    /// Makes all sends, and some of them twice.
    pub(crate) fn send(&mut self, client: &mut Client, callback_url: &str) {
        for place in 0..self.sendings.len() {
            self.sendings[place].attempt(client, callback_url);
            if place == TWICE + 1 {
                self.sendings[TWICE].attempt(client, callback_url);
                self.read_balance(client);
            }
        }
    }

    /// Returns `true` if the duplicate window is still open.
    pub(crate) fn is_recent(&self) -> bool {
        self.began.elapsed() < KNOWN
    }

    /// Makes all sends once more.
    pub(crate) fn send_again(&mut self, client: &mut Client, callback_url: &str) {
        for sending in &mut self.sendings {
            sending.attempt(client, callback_url);
        }
    }

    pub(crate) fn read_balance(&mut self, client: &mut Client) {
        let Ok(answer) = client.request("GET /api/v2/balance", "") else {
            return;
        };
        if answer.status != 503 {
            self.balances
                .push(kobo(&answer.body["balance"]["total_balance"]));
        }
    }

    /// Records the current outcomes.
    pub(crate) fn read_reports(&mut self, client: &mut Client) {
        for sending in &self.sendings {
            let report = sending.report(client);
            let statuses = report.into_iter().flat_map(|report| report.statuses);
            self.outcomes
                .extend(statuses.filter(|(_, status)| is_final(status)));
        }
    }

    /// Returns the recipients that need a callback.
    pub(crate) fn to_be_told(&self) -> Vec<u64> {
        let told = |sending: &&Sending| sending.has_callback && sending.accepted();
        let sendings = self.sendings.iter().filter(told);
        sendings
            .flat_map(|sending| sending.numbers.clone())
            .collect()
    }
}

pub(crate) fn is_final(status: &str) -> bool {
    status != "sent awaiting status"
}

/// Starts a credit by an operator while the service runs.
pub(crate) fn credit(ogene: &Installation, customer: &Customer) -> Child {
    let mut command = ogene.command(&["wallet", "credit", "--amount", MORE]);
    command.args(["--reference", "bank-2", "--account", &customer.account]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("it starts")
}

/// Adds the credit, unless it was added before.
pub(crate) fn credit_again(ogene: &Installation, customer: &Customer) -> Value {
    let credit = [
        "wallet",
        "credit",
        "--amount",
        MORE,
        "--reference",
        "bank-2",
    ];
    ogene.json(&[&credit[..], &["--account", &customer.account]].concat())
}

/// Returns `true` if the service still answers the customer.
pub(crate) fn lives(service: &mut Daemon) -> bool {
    service.address.is_some() && !service.has_ended()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "some thousands with two decimals"
)]
pub(crate) fn kobo(amount: &Value) -> i64 {
    (amount.as_f64().expect("a number") * 100.0).round() as i64
}
