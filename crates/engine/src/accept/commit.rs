//! The accept commit: one transaction for a group of sends.

use super::keyed::{Answered, PendingKey};
use super::queued_send::QueuedSend;
use super::sent::Sent;
use crate::admit::velocity::Counted;
use crate::context::CLAIM_MS;
use crate::context::Context;
use crate::context::live::Live;
use crate::context::metrics;
use crate::error::Error;
use domain::{Draft, MessageId, RecipientTexts};

use database::Outage;
use std::sync::Arc;
use store::{Accepted, Batch, Body, Claimed, Content, NewMessage, QueueState};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// Outage of the updates that move open duplicate windows after a clock step.
static CLOCK: Outage = Outage::of("duplicate windows cannot follow the clock");

/// A send that is part of a commit.
struct PendingAccept {
    draft: Arc<Draft>,
    live: Arc<Live>,
    id: MessageId,
    batches: Vec<Batch>,
    counted: Option<Counted>,
    key: Option<PendingKey>,
    answer: oneshot::Sender<Result<Answered, Error>>,
}

/// Accepts a group, in one commit if one transaction may contain it.
pub(crate) async fn accept(context: &Arc<Context>, group: Vec<QueuedSend>) {
    let now_ms = match context.followed_ms().await {
        Ok(now_ms) => {
            CLOCK.worked();
            now_ms
        }
        Err(error) => {
            CLOCK.failed(&error);
            context.clock.now_ms()
        }
    };
    let urgent = group.iter().filter(|one| !one.is_campaign()).count();
    if urgent > 0 {
        context
            .commit_share
            .note_urgent(context.clock.now_ms(), urgent);
    }
    let pending = group.into_iter();
    let pending = pending.filter_map(|send| prepare(context, send, now_ms));
    let bucket = |pending: &PendingAccept| context.store.bucket_of(pending.draft.account);
    let mut commits = context.store.split_by_transaction(pending, bucket);
    // The usual group is a single commit, and needs no task of its own.
    let Some(last) = commits.pop() else {
        return;
    };
    let mut running = JoinSet::new();
    for pending in commits {
        let context = Arc::clone(context);
        running.spawn(async move { accept_together(&context, pending, now_ms).await });
    }
    accept_together(context, last, now_ms).await;
    // If the process ends, these tasks are cancelled together with their clients.
    while running.join_next().await.is_some() {}
}

async fn accept_together(context: &Arc<Context>, pending: Vec<PendingAccept>, now_ms: i64) {
    let messages = pending
        .iter()
        .map(|pending| NewMessage {
            id: pending.id,
            draft: Arc::clone(&pending.draft),
            terms: pending.live.plan.terms(pending.draft.gateway),
            batches: pending.batches.clone(),
            key: pending
                .key
                .as_ref()
                .map(|key| key.of_send(&pending.draft, pending.id)),
        })
        .collect();
    metrics::accept_group(pending.len());
    match context.store.messages().accept(now_ms, messages).await {
        Ok(answers) => {
            let both = pending.iter().zip(&answers);
            let accepted = both.filter(|(_, answer)| matches!(answer, Accepted::Yes { .. }));
            metrics::accepted(
                accepted.map(|(pending, _)| &*pending.draft),
                context.clock.now_ms() - now_ms,
            );
            for (pending, answer) in pending.into_iter().zip(answers) {
                answered(context, pending, answer);
            }
        }
        // The commit may have succeeded, and only the next process can know. So the client gets no
        // answer.
        Err(error) if error.is_unknown() => std::future::pending().await,
        Err(error) => {
            let error = Arc::new(error);
            for pending in pending {
                give_back(context, &pending.live, &pending.batches);
                drop((pending.counted, pending.key));
                let _ = pending.answer.send(Err(Error::Store(Arc::clone(&error))));
            }
        }
    }
}

/// Creates the message id and the batches of a send. Batches that fit into the budget of their
/// carrier are claimed in the same commit, and are dispatched right after it. Returns `None` if the
/// send timed out.
fn prepare(context: &Context, send: QueuedSend, now_ms: i64) -> Option<PendingAccept> {
    let (mut draft, live) = (send.draft, send.live);
    let id = context.message_ids.next(now_ms);
    if !send.race.begin(id) {
        return None;
    }
    let bucket = context.store.bucket_of(draft.account);
    draft.due_at_ms = live.plan.scheduled_for(&draft, now_ms);
    let mut batches = live.plan.batches(&draft, bucket, id, now_ms);
    for batch in &mut batches {
        let carrier = live.carrier(&batch.carrier);
        let carrier = carrier.filter(|one| context.controls.of(&one.name).submits());
        let able = batch.due_at_ms <= now_ms && context.nodes.holds();
        if able && carrier.is_some_and(|carrier| carrier.try_take(batch)) {
            batch.state = QueueState::Claimed(context.node);
            batch.claimed_until_ms = now_ms + CLAIM_MS;
        }
    }
    Some(PendingAccept {
        draft: Arc::new(draft),
        live,
        id,
        batches,
        counted: send.counted,
        key: send.key,
        answer: send.answer,
    })
}

fn answered(context: &Arc<Context>, pending: PendingAccept, answer: Accepted) {
    let PendingAccept {
        draft,
        live,
        id,
        batches,
        counted,
        key,
        answer: sender,
    } = pending;
    // The key is released before the answer, so that the client can use the key again at once.
    drop(key);
    let balance = match answer {
        Accepted::Yes { balance } => Ok(balance),
        Accepted::Replay(answer) => Err(Ok(Answered::Replay(answer))),
        Accepted::No(refusal) => Err(Err(refusal.into())),
    };
    let balance = match balance {
        Ok(balance) => balance,
        Err(nothing_accepted) => {
            give_back(context, &live, &batches);
            drop(counted);
            let _ = sender.send(nothing_accepted);
            return;
        }
    };
    if let Some(counted) = counted {
        counted.keep();
    }
    dispatch(context, &live, &draft, batches);
    let sent = Sent::new(&draft, id, balance);
    // The client may have hung up. The message is accepted all the same.
    let _ = sender.send(Ok(Answered::First(sent)));
}

/// Passes claimed batches to their carriers, and notifies the carriers of the others.
fn dispatch(context: &Arc<Context>, live: &Live, draft: &Draft, batches: Vec<Batch>) {
    let with_body = |body| {
        Arc::new(Content {
            account: draft.account,
            environment: draft.environment,
            gateway: draft.gateway,
            sender: draft.sender.clone(),
            body,
        })
    };
    let text = draft.text.as_str().to_owned();
    let shared = with_body(match (&draft.otp, draft.text.raw_page()) {
        (Some(otp), _) => Body::OneTimePassword(text, otp.text),
        (None, Some(page)) => Body::Page(page.clone()),
        (None, None) => Body::Shared(text),
    });
    for batch in batches {
        if batch.state == QueueState::Claimed(context.node)
            && let Some(carrier) = live.carrier(&batch.carrier)
        {
            let its_own = match &draft.texts {
                Some(texts) => with_body(personalised(texts, &batch)),
                None => Arc::clone(&shared),
            };
            let claimed = Claimed {
                batch,
                content: its_own,
            };
            if let Err(left) = carrier.enqueue(claimed) {
                context.release(vec![left.batch], context.clock.now_ms(), None);
            }
        } else if let Some(carrier) = context.carrier(&batch.carrier) {
            context.arrived(&carrier);
        }
    }
}

/// Returns the texts of the recipients of a batch.
fn personalised(texts: &RecipientTexts, batch: &Batch) -> Body {
    let recipients = batch.recipients.iter();
    let own = recipients.filter_map(|&to| Some((to, texts.text(to)?.to_owned())));
    Body::Personalised(own.collect())
}

fn give_back(context: &Context, live: &Live, batches: &[Batch]) {
    for batch in batches
        .iter()
        .filter(|batch| batch.state == QueueState::Claimed(context.node))
    {
        if let Some(carrier) = live.carrier(&batch.carrier) {
            carrier.budget.put(batch.recipients.len());
        }
    }
}
