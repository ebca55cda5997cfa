//! Accepting sends: those that arrive together are committed together.
//!
//! There is no linger: whatever arrived while the last commit ran is the next group.

use super::queue::{UNAVAILABLE, Waiting};
use crate::admit::velocity::Counted;
use crate::context::CLAIM_MS;
use crate::context::Context;
use crate::context::live::Live;
use crate::context::metrics;
use crate::error::Error;
use domain::{
    Adjustments, Bucket, Draft, Environment, Gateway, MessageId, Money, Refusal, SandboxOutcome,
};

use database::Outage;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Accepted, Batch, Claimed, Content, NewMessage};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Moves of duplicate windows, one before each group of sends while one is due.
static CLOCK: Outage = Outage::of("duplicate windows cannot follow the clock");

/// The answer to an accepted send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Sent {
    /// Its id.
    pub message_id: MessageId,
    /// What was charged; in the sandbox, what would have been.
    pub cost: Money,
    /// What the wallet holds now; in the sandbox, the simulated wallet.
    pub balance: Money,
    /// Recipients.
    pub recipients_count: usize,
    /// The gateway used.
    pub gateway: Gateway,
    /// Whether it is sent as Unicode.
    pub unicode: bool,
    /// Pages billed per recipient, the largest number.
    pub page_count: i64,
    /// What was in the list and is no recipient, the first of it.
    pub invalid_recipients: Vec<String>,
    /// How much of it there was.
    pub invalid_count: usize,
    /// What of the request was changed or not read.
    pub adjustments: Adjustments,
}

/// The steering numbers of the sandbox that refuse a send; `limit` is the rate that such a refusal names.
pub(crate) fn steer(draft: &Draft, limit: u32) -> Result<(), Refusal> {
    if draft.environment == Environment::Live {
        return Ok(());
    }
    let refused =
        draft
            .recipients
            .iter()
            .find_map(|recipient| match recipient.sandbox_outcome()? {
                SandboxOutcome::RefuseFunds => Some(Refusal::InsufficientFunds {
                    needed: draft.cost,
                    available: Money::ZERO,
                }),
                SandboxOutcome::RefuseUnavailable => Some(UNAVAILABLE),
                SandboxOutcome::RefuseRate => Some(Refusal::RateLimited {
                    limit,
                    retry_after_s: 60,
                }),
                SandboxOutcome::Delivered
                | SandboxOutcome::Undelivered
                | SandboxOutcome::Expired
                | SandboxOutcome::Rejected
                | SandboxOutcome::Pending
                | SandboxOutcome::Failed => None,
            });
    refused.map_or(Ok(()), Err)
}

/// A send on its way through the commit.
struct Entering {
    draft: Arc<Draft>,
    live: Arc<Live>,
    id: MessageId,
    batches: Vec<Batch>,
    counted: Option<Counted>,
    answer: oneshot::Sender<Result<Sent, Error>>,
}

/// Accepts a group: in one commit, or in one for each bucket where those may lie on several servers.
pub(crate) async fn accept(shared: &Arc<Context>, group: Vec<Waiting>) {
    let now_ms = match shared.followed_ms().await {
        Ok(now_ms) => {
            CLOCK.worked();
            now_ms
        }
        Err(error) => {
            CLOCK.failed(&error);
            shared.clock.now_ms()
        }
    };
    let mut commits: BTreeMap<Option<Bucket>, Vec<Entering>> = BTreeMap::new();
    let few = group.iter().filter(|one| !one.is_campaign()).count();
    if few > 0 {
        shared.turns.hurry(shared.clock.now_ms(), few);
    }
    for waiting in group {
        let bucket = shared.store.bucket_of(waiting.draft.account);
        let Some(entering) = enter(shared, waiting, bucket, now_ms) else {
            continue;
        };
        let bound = shared.store.bound(bucket);
        commits.entry(bound).or_default().push(entering);
    }
    if commits.len() == 1 {
        for entering in commits.into_values() {
            accept_together(shared, entering, now_ms).await;
        }
        return;
    }
    let mut running = JoinSet::new();
    for entering in commits.into_values() {
        let shared = Arc::clone(shared);
        running.spawn(async move { accept_together(&shared, entering, now_ms).await });
    }
    // Where the process ends they are cancelled, and nobody waits for an answer any more.
    while running.join_next().await.is_some() {}
}

async fn accept_together(shared: &Arc<Context>, entering: Vec<Entering>, now_ms: i64) {
    let messages = entering
        .iter()
        .map(|entering| NewMessage {
            id: entering.id,
            draft: Arc::clone(&entering.draft),
            terms: entering.live.plan.terms(entering.draft.gateway),
            batches: entering.batches.clone(),
        })
        .collect();
    metrics::accept_group(entering.len());
    match shared.store.accept(now_ms, messages).await {
        Ok(answers) => {
            let both = entering.iter().zip(&answers);
            let accepted = both.filter(|(_, answer)| matches!(answer, Accepted::Yes { .. }));
            metrics::accepted(
                accepted.map(|(entering, _)| &*entering.draft),
                shared.clock.now_ms() - now_ms,
            );
            for (entering, answer) in entering.into_iter().zip(answers) {
                answered(shared, entering, answer);
            }
        }
        // The process is about to end, and the next one will know: no answer is the true one.
        Err(error) if error.is_unknown() => std::future::pending().await,
        Err(error) => {
            let error = Arc::new(error);
            for entering in entering {
                give_back(shared, &entering.live, &entering.batches);
                drop(entering.counted);
                let _ = entering.answer.send(Err(Error::Store(Arc::clone(&error))));
            }
        }
    }
}

/// Makes the batches of a send. Those for which their carrier has room now are claimed with the commit
/// itself, and go out as soon as it is durable. There are none of a send whose time is over.
fn enter(shared: &Context, waiting: Waiting, bucket: Bucket, now_ms: i64) -> Option<Entering> {
    let (draft, live) = (waiting.draft, waiting.live);
    let id = shared.message_ids.next(now_ms);
    if !waiting.turn.begin(id) {
        return None;
    }
    let mut batches = live.plan.batches(&draft, bucket, id, now_ms);
    for batch in &mut batches {
        let carrier = live.carrier(&batch.carrier);
        let able = batch.due_at_ms <= now_ms && shared.nodes.holds();
        if able && carrier.is_some_and(|carrier| carrier.try_take(batch)) {
            batch.claimed_by = shared.node;
            batch.claimed_until_ms = now_ms + CLAIM_MS;
        }
    }
    Some(Entering {
        draft: Arc::new(draft),
        live,
        id,
        batches,
        counted: waiting.counted,
        answer: waiting.answer,
    })
}

fn answered(shared: &Arc<Context>, entering: Entering, answer: Accepted) {
    let Entering {
        draft,
        live,
        id,
        batches,
        counted,
        answer: sender,
    } = entering;
    let balance = match answer {
        Accepted::No(refusal) => {
            give_back(shared, &live, &batches);
            drop(counted);
            let _ = sender.send(Err(refusal.into()));
            return;
        }
        Accepted::Yes { balance } => balance,
    };
    if let Some(counted) = counted {
        counted.keep();
    }
    dispatch(shared, &live, &draft, batches);
    let sandbox = draft.environment == Environment::Sandbox;
    let sent = Sent {
        message_id: id,
        cost: draft.cost,
        balance: if sandbox {
            crate::dispatch::sandbox::purse().total()
        } else {
            balance
        },
        recipients_count: draft.recipients.len(),
        gateway: draft.gateway,
        unicode: draft.text.alphabet() == domain::Alphabet::Ucs2,
        page_count: draft.page_count,
        invalid_recipients: draft.invalid.clone(),
        invalid_count: draft.invalid_count,
        adjustments: draft.adjustments.clone(),
    };
    // Whoever asked may have gone; the message stands all the same.
    let _ = sender.send(Ok(sent));
}

/// Hands over what was claimed to the carriers that had room for it, and tells of the rest those that there are by now.
fn dispatch(shared: &Arc<Context>, live: &Live, draft: &Draft, batches: Vec<Batch>) {
    let content = Arc::new(Content {
        account: draft.account,
        environment: draft.environment,
        gateway: draft.gateway,
        sender: draft.sender.clone(),
        body: draft.text.as_str().to_owned(),
    });
    for batch in batches {
        if batch.claimed_by == shared.node
            && let Some(carrier) = live.carrier(&batch.carrier)
        {
            let content = Arc::clone(&content);
            if let Err(left) = carrier.hand(Claimed { batch, content }) {
                shared.release(vec![left.batch], shared.clock.now_ms(), None);
            }
        } else if let Some(carrier) = shared.carrier(&batch.carrier) {
            shared.arrived(&carrier);
        }
    }
}

fn give_back(shared: &Context, live: &Live, batches: &[Batch]) {
    for batch in batches
        .iter()
        .filter(|batch| batch.claimed_by == shared.node)
    {
        if let Some(carrier) = live.carrier(&batch.carrier) {
            carrier.budget.give(batch.recipients.len());
        }
    }
}
