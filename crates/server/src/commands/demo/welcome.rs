//! What the demo says once it runs.

use super::super::answer::{Answer, Failure};
use super::SENDER_ID;
use crate::written::Naira;
use domain::{AccountId, Money};
use serde::Serialize;
use std::net::SocketAddr;
use std::path::Path;

/// What there is to say.
pub(super) struct Welcome<'a> {
    pub(super) http: SocketAddr,
    pub(super) smpp: SocketAddr,
    pub(super) callbacks: SocketAddr,
    pub(super) account: AccountId,
    pub(super) token: String,
    pub(super) balance: Money,
    pub(super) data_dir: &'a Path,
    pub(super) is_temporary: bool,
}

#[derive(Serialize)]
struct WelcomeJson<'a> {
    url: String,
    docs: String,
    smpp: SocketAddr,
    user_id: String,
    token: &'a str,
    sender_id: &'static str,
    balance: Naira,
    data_dir: &'a Path,
    /// A command line that sends.
    send: &'a str,
    /// A command line that reads the report.
    report: &'a str,
}

impl Welcome<'_> {
    pub(super) fn answer(&self) -> Result<Answer, Failure> {
        let (send, report) = (self.send(), self.report());
        let json = WelcomeJson {
            url: format!("http://{}", self.http),
            docs: format!("http://{}/docs", self.http),
            smpp: self.smpp,
            user_id: self.account.to_string(),
            token: &self.token,
            sender_id: SENDER_ID,
            balance: Naira(self.balance),
            data_dir: self.data_dir,
            send: &send,
            report: &report,
        };
        Answer::new(self.text(&send, &report), &json)
    }

    /// A new text each time, so that pasting it twice is not refused as a duplicate. The answer is kept for
    /// the report to find its message.
    fn send(&self) -> String {
        format!(
            "curl -sS -w '\\n' http://{}/api/v2/sms -H 'Authorization: Bearer {}' -d from={SENDER_ID} \
             -d to=2348031234567 --data-urlencode \"body=Hello from Ogene at $(date +%T)\" \
             -d callback_url=http://{}/ | tee {}",
            self.http,
            self.token,
            self.callbacks,
            self.last_answer(),
        )
    }

    fn report(&self) -> String {
        format!(
            "curl -sS -w '\\n' -H 'Authorization: Bearer {}' \"http://{}/api/v2/delivery-reports?message_id=$(sed \
             's/.*\"message_id\":\"\\([^\"]*\\)\".*/\\1/' {})\"",
            self.token,
            self.http,
            self.last_answer(),
        )
    }

    fn last_answer(&self) -> String {
        let path = self.data_dir.join("last-answer.json").display().to_string();
        format!("'{}'", path.replace('\'', r"'\''"))
    }

    fn text(&self, send: &str, report: &str) -> String {
        let Self {
            http,
            smpp,
            account,
            token,
            balance,
            ..
        } = self;
        let data = self.data_dir.display();
        let removed = if self.is_temporary {
            ", removed at the end"
        } else {
            ""
        };
        format!(
            "Ogene runs on http://{http}, its documentation on http://{http}/docs\n\n\
             Send a message:\n\n{send}\n\n\
             Read its delivery report:\n\n{report}\n\n\
             Account {account} has {balance} NGN, the approved sender ID {SENDER_ID} and the token {token}\n\
             The SMSC simulator speaks SMPP on {smpp}. Numbers that end in 0002 are not delivered (and refunded),\n\
             0003 expire, 0004 are rejected, 0005 stay pending; all others are delivered within two seconds.\n\
             Callbacks are shown here as they arrive.\n\
             The database is in {data}{removed}. Stop with Ctrl-C.\n"
        )
    }
}
