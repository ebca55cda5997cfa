//! The greeting of a running demo.

use super::super::answer::{Answer, Failure};
use super::first_message::{KEYWORD, NUMBER, RECIPIENT, SENDER_ID, Step};
use domain::AccountId;
use serde::Serialize;
use std::net::SocketAddr;
use std::path::Path;

/// The greeting.
pub(super) struct Welcome<'a> {
    pub(super) http: SocketAddr,
    pub(super) smpp: SocketAddr,
    pub(super) callbacks: SocketAddr,
    /// `true` if this start sent the traffic of the hour before.
    pub(super) has_history: bool,
    pub(super) account: AccountId,
    pub(super) token: String,
    /// The secrets of the links for the customer and for the operator.
    pub(super) links: [&'a str; 2],
    pub(super) life: Vec<Step>,
    pub(super) data_dir: &'a Path,
    pub(super) is_temporary: bool,
}

#[derive(Serialize)]
struct WelcomeJson<'a> {
    url: String,
    docs: String,
    /// A link that is signed in as the customer, good once.
    console: &'a str,
    /// A link that is signed in as an operator, good once.
    operator_console: &'a str,
    smpp: SocketAddr,
    user_id: String,
    token: &'a str,
    sender_id: &'static str,
    /// The steps of the message that the demo sent.
    life: &'a [Step],
    data_dir: &'a Path,
    /// A command line that sends.
    send: &'a str,
    /// A command line that reads the report.
    report: &'a str,
}

impl Welcome<'_> {
    pub(super) fn answer(&self) -> Result<Answer, Failure> {
        let (send, report) = (self.send(), self.report());
        let links = self
            .links
            .map(|link| format!("http://{}/links/{link}", self.http));
        let json = WelcomeJson {
            url: format!("http://{}", self.http),
            docs: format!("http://{}/docs", self.http),
            console: &links[0],
            operator_console: &links[1],
            smpp: self.smpp,
            user_id: self.account.to_string(),
            token: &self.token,
            sender_id: SENDER_ID,
            life: &self.life,
            data_dir: self.data_dir,
            send: &send,
            report: &report,
        };
        Answer::new(self.text(&links, &send, &report), &json)
    }

    /// Returns a command line with a new text each time, so that pasting it twice is not refused as
    /// a duplicate. It stores the answer, in which the report finds the message id. It has no pipe,
    /// which would end with 0 if curl is missing.
    fn send(&self) -> String {
        format!(
            "curl -sS http://{}/api/v2/sms -H 'Authorization: Bearer {}' -d from={SENDER_ID} \
             -d to={RECIPIENT} --data-urlencode \"body=Hello from Ogene at $(date +%T)\" \
             -d callback_url=http://{}/ -o {answer} && cat {answer} && echo",
            self.http,
            self.token,
            self.callbacks,
            answer = self.last_answer(),
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

    fn text(&self, [console, operator]: &[String; 2], send: &str, report: &str) -> String {
        let Self {
            http,
            smpp,
            account,
            token,
            ..
        } = self;
        let life: Vec<String> = self.life.iter().map(Step::line).collect();
        let life = life.join("\n");
        let data = self.data_dir.display();
        let history = if self.has_history {
            "The console has the traffic of the last hour: this account sent it while the demo started.\n\n"
        } else {
            ""
        };
        let removed = if self.is_temporary {
            ", removed at the end"
        } else {
            ""
        };
        format!(
            "Ogene runs on http://{http}, its documentation on http://{http}/docs\n\n\
             Open the console as the customer (each link is good once):\n\n{console}\n\n\
             Open the console as the operator:\n\n{operator}\n\n\
             {history}\
             The demo sent a message by itself:\n\n{life}\n\n\
             Send another one:\n\n{send}\n\n\
             Read its delivery report:\n\n{report}\n\n\
             Account {account} has the approved sender ID {SENDER_ID} and the token {token}\n\
             Texts of subscribers to {NUMBER} belong to it, also those with the keyword {KEYWORD}: the console has them under\n\
             Inbound, and GET /api/v2/inbound lists them.\n\
             The SMSC simulator speaks SMPP on {smpp}. Numbers that end in 0002 are not delivered (and refunded),\n\
             0003 expire, 0004 are rejected, 0005 stay pending, 0006 are refused at once; all others are delivered within\n\
             two seconds.\n\
             Callbacks are shown here as they arrive.\n\
             The database is in {data}{removed}. Stop with Ctrl-C.\n"
        )
    }
}
