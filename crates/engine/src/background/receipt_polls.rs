//! Polling: carriers by HTTP that post no receipts are asked for the states of messages.
//!
//! The node that is connected to a carrier asks. The messages to ask for are in the database, so they
//! survive a restart, and another node continues after a take-over.

mod pauses;

use crate::context::carrier::Carrier;
use crate::context::http_client::HttpClient;
use crate::context::http_client::connect::Connector;
use crate::context::metrics::{
    PollOutcome, receipt_poll_delay, receipt_polled, receipt_unreadable,
};
use crate::context::{Context, FAILURE_PAUSE, tls};
use crate::dispatch::http_request;
use crate::settings::{CarrierSettings, PollSettings};
use crate::settle::http_receipts;
use database::Outage;
use domain::http_carrier::HttpReceipt;
use pauses::{Pauses, is_failure};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use store::{DuePoll, PolledCarrier};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};

/// Period of the search for messages that are due, and for carriers that this node is connected to.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Time after the last request in which it is repeated while it fails.
const LATE_MS: i64 = 3_600_000;

/// Outage of the reads and removals of messages, over all carriers.
static POLLS: Outage = Outage::of("messages whose receipts are polled cannot be read");

/// A running poller.
struct Running {
    settings: Arc<CarrierSettings>,
    task: AbortHandle,
}

/// Polls over all carriers that this node is connected to. Runs until it is aborted.
pub(crate) async fn run(context: Arc<Context>) {
    // Dropping the set aborts its tasks.
    let mut tasks = JoinSet::new();
    let mut running: BTreeMap<Arc<str>, Running> = BTreeMap::new();
    loop {
        let wanted = wanted(&context);
        running.retain(|name, one| {
            let is_wanted = wanted.iter().any(|(carrier, settings, _)| {
                carrier.name == *name && Arc::ptr_eq(settings, &one.settings)
            });
            if !is_wanted {
                one.task.abort();
                // Another node may ask now, and sets its own.
                receipt_poll_delay(name, 0);
            }
            is_wanted && !one.task.is_finished()
        });
        for (carrier, settings, poll) in wanted {
            if !running.contains_key(&carrier.name)
                && let Some(poller) = Poller::new(&context, &carrier, &settings, poll)
            {
                let task = tasks.spawn(poller.run());
                let name = Arc::clone(&carrier.name);
                running.insert(name, Running { settings, task });
            }
        }
        while tasks.try_join_next().is_some() {}
        sleep(LOOK_INTERVAL).await;
    }
}

/// A carrier to poll, with its settings.
type Wanted = (Arc<Carrier>, Arc<CarrierSettings>, Arc<PollSettings>);

/// Returns the carriers that this node is connected to and that are to be polled.
fn wanted(context: &Context) -> Vec<Wanted> {
    let live = context.live();
    let connected = live.carriers.iter().filter(|carrier| carrier.is_up());
    let wanted = connected.filter_map(|carrier| {
        let settings = carrier.settings.as_ref()?;
        let poll = settings.http()?.poll.as_ref()?;
        Some((Arc::clone(carrier), Arc::clone(settings), Arc::clone(poll)))
    });
    wanted.collect()
}

/// Returns the outcome of an answer.
fn outcome_of(receipt: Option<&HttpReceipt>) -> PollOutcome {
    match receipt {
        Some(receipt) if receipt.status.is_some() => PollOutcome::Final,
        Some(_) => PollOutcome::Pending,
        None => PollOutcome::WithoutState,
    }
}

/// The poller of one carrier.
struct Poller {
    context: Arc<Context>,
    carrier: Arc<str>,
    client: Arc<HttpClient>,
    poll: Arc<PollSettings>,
    /// Maximum number of requests at once.
    window: usize,
    timeout: Duration,
    /// The limiter of log lines about requests without a state.
    stateless: Arc<Outage>,
}

/// A message after a request for its state.
struct Asked {
    poll: DuePoll,
    /// The receipt, if the state is final.
    receipt: Option<HttpReceipt>,
    /// `true` if the carrier does not answer for any message now.
    is_failed: bool,
}

impl Asked {
    /// Returns `true` if the state is not asked for again.
    fn is_over(&self, now_ms: i64) -> bool {
        let is_repeated = self.is_failed && now_ms < self.poll.ends_at_ms.saturating_add(LATE_MS);
        self.receipt.is_some() || (self.poll.is_last && !is_repeated)
    }
}

impl Poller {
    fn new(
        context: &Arc<Context>,
        carrier: &Carrier,
        settings: &CarrierSettings,
        poll: Arc<PollSettings>,
    ) -> Option<Self> {
        let connector = tls::connector(settings).inspect_err(|error| {
            tracing::error!(carrier.name = &*carrier.name, %error, "carrier: receipts not polled");
        });
        let connector = Connector::configured(Arc::clone(&context.network), connector.ok()?);
        Some(Self {
            context: Arc::clone(context),
            carrier: Arc::clone(&carrier.name),
            client: Arc::new(HttpClient::new(connector, settings.window)),
            poll,
            window: settings.window,
            timeout: settings.response_timeout,
            stateless: Arc::new(Outage::of("states of messages are not answered")),
        })
    }

    async fn run(self) {
        let mut requests = JoinSet::new();
        // A message is due again while a slow carrier has not answered for it.
        let mut open = HashSet::new();
        let mut next_look = Instant::now();
        let mut pauses = Pauses::new(next_look);
        loop {
            let free = pauses.window(self.window).saturating_sub(requests.len());
            let begin = next_look.max(pauses.end);
            if free > 0 && begin <= Instant::now() {
                let due = self.take(free).await;
                if due.len() < free {
                    // Nothing else is due now.
                    next_look = Instant::now() + LOOK_INTERVAL;
                }
                for poll in due {
                    if open.insert(poll.id.clone()) {
                        requests.spawn(self.ask(poll));
                    }
                }
                self.client.sweep();
                continue;
            }
            tokio::select! {
                Some(asked) = requests.join_next() => {
                    let mut all: Vec<Asked> = asked.into_iter().collect();
                    while let Some(asked) = requests.try_join_next() {
                        all.extend(asked);
                    }
                    for asked in &all {
                        open.remove(&asked.poll.id);
                        pauses.note(asked.is_failed, Instant::now(), &self.context.random);
                    }
                    self.settle(all).await;
                }
                () = sleep_until(begin), if free > 0 => {}
            }
        }
    }

    /// Takes messages that are due, the oldest first.
    async fn take(&self, limit: usize) -> Vec<DuePoll> {
        let polled = PolledCarrier {
            carrier: Arc::clone(&self.carrier),
            times: self.poll.times,
        };
        let (polls, now_ms) = (
            self.context.store.receipt_polls(),
            self.context.clock.now_ms(),
        );
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let taken = POLLS.note(polls.take(polled, now_ms, limit).await);
        let Some(due) = taken else {
            sleep(FAILURE_PAUSE).await;
            return Vec::new();
        };
        let longest = due.iter().map(|poll| now_ms - poll.due_at_ms).max();
        receipt_poll_delay(&self.carrier, longest.unwrap_or_default());
        due
    }

    /// Returns the request for the state of a message.
    fn ask(&self, poll: DuePoll) -> impl Future<Output = Asked> + use<> {
        let (client, rules) = (Arc::clone(&self.client), Arc::clone(&self.poll));
        let (carrier, timeout) = (Arc::clone(&self.carrier), self.timeout);
        let stateless = Arc::clone(&self.stateless);
        async move {
            let name = &*carrier;
            let (mut receipt, mut failure, mut is_failed) = (None, None, false);
            let mut outcome = PollOutcome::Unanswered;
            if let Some((url, request)) = http_request(rules.poll.request(&poll.id)) {
                match client.send(&url, request, timeout).await {
                    Ok(answered) => {
                        let status = answered.status;
                        receipt = rules.poll.receipt(&poll.id, status, &answered.body);
                        outcome = outcome_of(receipt.as_ref());
                        is_failed = is_failure(status);
                        if receipt.is_none() {
                            receipt_unreadable(name);
                            failure = Some(format!("HTTP {status} without a state"));
                        }
                    }
                    Err(unanswered) => {
                        is_failed = true;
                        failure = Some(unanswered.error().to_string());
                    }
                }
            }
            receipt_polled(name, outcome);
            // A carrier that is down fails many requests a second.
            if let Some(error) = failure
                && let Some(unlogged) = stateless.is_to_log()
            {
                tracing::warn!(
                    carrier.name = name,
                    %error,
                    unlogged,
                    "carrier: no state, asking again, logged at most once a minute"
                );
            }
            Asked {
                poll,
                receipt: receipt.filter(|receipt| receipt.status.is_some()),
                is_failed,
            }
        }
    }

    /// Commits final states. A state that cannot be stored is asked for again.
    async fn settle(&self, all: Vec<Asked>) {
        let (mut over, mut receipts) = (Vec::new(), Vec::new());
        let now_ms = self.context.clock.now_ms();
        for asked in all {
            if asked.is_over(now_ms) {
                over.push(asked.poll.id);
            }
            receipts.extend(asked.receipt);
        }
        if over.is_empty() {
            return;
        }
        let stored = http_receipts::commit(&self.context, &self.carrier, receipts);
        if stored.await.is_ok() {
            let polls = self.context.store.receipt_polls();
            POLLS.note(polls.finish(Arc::clone(&self.carrier), over).await);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_last_request_is_repeated_for_a_while() {
        let asked = |is_last, is_failed| Asked {
            poll: DuePoll {
                id: "1".to_owned(),
                due_at_ms: 5,
                ends_at_ms: 5,
                is_last,
            },
            receipt: None,
            is_failed,
        };
        for (is_last, is_failed, now_ms, expected) in [
            (false, false, 5, false),
            (false, true, 5, false),
            (true, false, 5, true),
            (true, true, 5, false),
            (true, true, 4 + LATE_MS, false),
            (true, true, 5 + LATE_MS, true),
        ] {
            let is_over = asked(is_last, is_failed).is_over(now_ms);
            assert_eq!(is_over, expected, "{is_last} {is_failed} {now_ms}");
        }
    }
}
