//! The traffic of the hour before the demo. The engine accepts, submits and settles it as any other
//! traffic, by a clock that begins an hour ago and is set forward.

mod plan;

use super::super::answer::Failure;
use super::super::context::actor_at;
use super::callbacks::Receiver;
use super::simulator::{self, PENDING, RECEIPT_DELAY, REFUSED};
use crate::logs;
use domain::otp::OtpFields;
use domain::time::lagos_time;
use domain::token::Scopes;
use domain::{AccountId, Component, Environment, MessageId, Money, SendFields};
use engine::operators::Operations;
use engine::{
    Admission, Answered, Clock, Credentials, Engine, Purpose, SendRequest, Sent, Settings, System,
    message_changes, otp,
};
use plan::{Action, Planned, Text};
use smpp::simulator::{Delay, Smsc};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use store::Store;
use tokio::time::{Instant, sleep, timeout};

/// Length of the history.
const HOUR: Duration = Duration::from_hours(1);
/// Length of the history, milliseconds.
pub(super) const LENGTH_MS: i64 = 3_600_000;
const SEED: u64 = 1_114;
/// The delay of a receipt, in which the clock is set to the time of the receipt.
const HISTORY_RECEIPT_DELAY: Delay = Delay::fixed(Duration::from_millis(10));
/// Seconds of the history after which all that was sent is settled.
const STEP_S: i64 = 120;
/// Milliseconds of the history from the last submit of a step to its receipts.
const RECEIPTS_AFTER_MS: i64 = 4_200;
/// The longest wait for the end of a step.
const STEP_TIMEOUT: Duration = Duration::from_secs(30);
/// The interval of checks for the next step.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The parts of the demo that the history needs.
pub(super) struct History<'a> {
    pub(super) smsc: &'a Smsc,
    pub(super) callbacks: &'a Receiver,
    pub(super) account: AccountId,
    pub(super) token: &'a str,
    /// A manual clock, [`LENGTH_MS`] before now.
    pub(super) clock: Clock,
    /// The time at the end of the history.
    pub(super) now_ms: i64,
}

/// The counts of what was sent, and of the events that must follow.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Counts {
    pub(super) messages: u64,
    pub(super) recipients: u64,
    submits: u64,
    receipts: u64,
    callbacks: u64,
}

impl History<'_> {
    /// Sends the traffic on this database, and closes it. Nothing is sent after `limit`.
    pub(super) async fn send(
        self,
        store: Store,
        settings: Settings,
        limit: Duration,
    ) -> Result<Counts, Failure> {
        logs::print("history: sending the traffic of an hour, so that the console has some");
        let began = Instant::now();
        let system = System {
            clock: self.clock.clone(),
            ..System::from_os()?
        };
        let operations = Operations::new(store.clone(), actor_at(self.clock.clone()));
        let engine = Engine::start(store, settings, system).await?;
        let mut counts = Counts::default();
        let sent = self.run(&engine, &operations, &mut counts, limit).await;
        // Nothing of the history is older or newer than its hour.
        self.clock.set(self.now_ms);
        engine.shutdown().await;
        self.smsc
            .set_script(simulator::script(self.now_ms, RECEIPT_DELAY)?);
        let Counts {
            messages,
            recipients,
            ..
        } = counts;
        let seconds = began.elapsed().as_secs_f64();
        let end = if sent? {
            "complete"
        } else {
            "shortened, since this machine is slow"
        };
        logs::print(&format!(
            "history: {end}, {messages} messages to {recipients} recipients in {seconds:.1} s"
        ));
        Ok(counts)
    }

    /// Runs the plan. Returns `false` if a part of it was left out: orders and one-time passwords
    /// of a step that is late, and everything after the limit.
    async fn run(
        &self,
        engine: &Engine,
        operations: &Operations,
        counts: &mut Counts,
        limit: Duration,
    ) -> Result<bool, Failure> {
        let (began, began_ms) = (Instant::now(), self.now_ms - LENGTH_MS);
        self.smsc
            .set_script(simulator::script(began_ms, HISTORY_RECEIPT_DELAY)?);
        let (mut scheduled, mut is_complete) = (None, true);
        let planned = plan::plan(SEED);
        for step in planned.chunk_by(|one, other| one.at_s / STEP_S == other.at_s / STEP_S) {
            let mut at_ms = began_ms;
            let due = limit.mul_f64(share_of_hour(step));
            let is_late = began.elapsed() > due;
            for one in step {
                if began.elapsed() > limit || (is_late && one.is_routine) {
                    is_complete = false;
                    continue;
                }
                at_ms = began_ms + one.at_s * 1_000;
                self.clock.set(at_ms);
                self.act(engine, operations, &one.action, &mut scheduled, counts)
                    .await?;
            }
            let wait = limit.max(STEP_TIMEOUT);
            match timeout(wait, self.settle(at_ms, counts)).await {
                Ok(settled) => settled?,
                Err(_) => return Ok(false),
            }
        }
        Ok(is_complete)
    }

    /// Waits until all that was sent so far is settled. The clock passes the time of the receipts.
    async fn settle(&self, at_ms: i64, counts: &Counts) -> Result<(), Failure> {
        let receipts_ms = self.clock.now_ms().max(at_ms + RECEIPTS_AFTER_MS);
        while self.smsc.stats().submits < counts.submits {
            sleep(POLL_INTERVAL).await;
        }
        self.clock.set(receipts_ms);
        while self.smsc.stats().answered < counts.receipts
            || self.callbacks.of_history() < counts.callbacks
        {
            sleep(POLL_INTERVAL).await;
        }
        self.smsc
            .set_script(simulator::script(receipts_ms, HISTORY_RECEIPT_DELAY)?);
        Ok(())
    }

    async fn act(
        &self,
        engine: &Engine,
        operations: &Operations,
        action: &Action,
        scheduled: &mut Option<MessageId>,
        counts: &mut Counts,
    ) -> Result<(), Failure> {
        match action {
            Action::Send(text) => {
                let admission = self.admit(engine).await?;
                let request = SendRequest::Shared(self.fields(text));
                counts.add(text, &first(admission.send(request, None).await?)?);
            }
            Action::OneTimePassword(text) => {
                let admission = self.admit(engine).await?;
                let fields = SendFields {
                    body: None,
                    ..self.fields(text)
                };
                let own = OtpFields {
                    body: Some(text.body.clone()),
                    ..OtpFields::default()
                };
                let ready = otp::create(&admission, fields, &own)?;
                counts.add(text, &first(ready.send(&admission, None).await?)?);
            }
            Action::Schedule(text, hours) => {
                let at_ms = self.now_ms + hours * 3_600_000;
                let fields = SendFields {
                    send_at: Some(lagos_time(at_ms)),
                    ..self.fields(text)
                };
                let admission = self.admit(engine).await?;
                let sent = admission.send(SendRequest::Shared(fields), None).await?;
                let sent = first(sent)?;
                *scheduled = Some(sent.message_id);
                counts.messages += 1;
                counts.recipients += sent.recipients_count as u64;
            }
            Action::Cancel => {
                let id = scheduled.take().map(|id| id.to_string());
                let id = id.ok_or_else(|| Failure::new("no scheduled message to cancel"))?;
                let admission = self.admit(engine).await?;
                message_changes::cancel(&admission, &id, None).await?;
            }
            Action::Credit(naira) => {
                let (amount, component) = (Money::from_naira(*naira), Component::SmsWallet);
                let wallets = operations.wallets();
                wallets
                    .credit(self.account, amount, "transfer 0417", component)
                    .await?;
            }
        }
        Ok(())
    }

    async fn admit(&self, engine: &Engine) -> Result<Admission, Failure> {
        let credentials = Credentials {
            token: Some(self.token),
            client: IpAddr::V4(Ipv4Addr::LOCALHOST),
            permitting: Scopes::ALL,
        };
        let admitted = engine.admit(credentials, Environment::Live, Purpose::Send);
        Ok(admitted.await.map_err(|refused| refused.error)?)
    }

    fn fields(&self, text: &Text) -> SendFields {
        let receiver = self.callbacks.address;
        SendFields {
            from: Some(text.from.to_owned()),
            to: Some(text.to.join(",")),
            body: Some(text.body.clone()),
            gateway: Some(text.gateway.as_str().to_owned()),
            unicode: Some(text.unicode.to_string()),
            callback_url: text.callback.map(|path| format!("http://{receiver}{path}")),
            customer_reference: text.reference.clone(),
            ..SendFields::default()
        }
    }
}

impl Counts {
    fn add(&mut self, text: &Text, sent: &Sent) {
        let (recipients, pages) = (sent.recipients_count as u64, sent.page_count.unsigned_abs());
        self.messages += 1;
        self.recipients += recipients;
        self.submits += recipients * pages;
        self.receipts += (recipients - text.count(&[PENDING, REFUSED])) * pages;
        if text.callback.is_some() {
            self.callbacks += recipients - text.count(&[PENDING]);
        }
    }
}

/// Returns the part of the hour that has passed at the end of a step.
fn share_of_hour(step: &[Planned]) -> f64 {
    let last_s = step.last().map_or(0, |one| one.at_s);
    let ends_s = (last_s / STEP_S + 1) * STEP_S;
    Duration::from_secs(ends_s.unsigned_abs()).div_duration_f64(HOUR)
}

fn first(answered: Answered) -> Result<Sent, Failure> {
    match answered {
        Answered::First(sent) => Ok(sent),
        // Nothing of the history has an idempotency key.
        Answered::Replay(_) => Err(Failure::new("a send without a key was a repeated one")),
    }
}

#[cfg(test)]
mod tests;
