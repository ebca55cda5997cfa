//! Simulated changes: a customer pauses, resumes, reschedules and cancels accepted messages.

use super::checks::Message;
use super::customers::{Send, admit};
use super::dice::Dice;
use super::state::{Outside, State};
use domain::idempotency::IdempotencyKey;
use domain::{DeliveryStatus, Environment, Refusal};
use engine::message_changes::{self, Cancelled, MessageRequest};
use engine::{Admission, Changed, Clock, Engine, Error, KeyedAnswer, Purpose};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Time after the answer to a pause in which submits may still arrive.
const STOP_MS: i64 = 2_000;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Pause,
    Resume,
    Reschedule,
    Cancel,
}

use Kind::{Cancel, Pause, Reschedule, Resume};

/// The changes that customers make. A pause ends with a resume or a cancel.
const PLANS: [&[Kind]; 9] = [
    &[Cancel],
    &[Cancel],
    &[Cancel, Cancel],
    &[Pause, Resume],
    &[Pause, Cancel],
    &[Pause, Pause, Resume, Resume],
    &[Pause, Reschedule, Resume],
    &[Reschedule],
    &[Reschedule, Cancel],
];

/// A planned change.
#[derive(Clone, Debug)]
struct Step {
    kind: Kind,
    is_keyed: bool,
    /// The new due time after the first request, in milliseconds.
    ahead_ms: i64,
    /// The new due time, once it was requested.
    send_at_ms: Option<i64>,
}

/// The changes of a message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// The changes without an answer.
    planned: Vec<Step>,
    /// The number of answers.
    made: usize,
    /// The time of the first answer to a pause that has not ended.
    paused_ms: Option<i64>,
    /// The times of ended pauses, from an answer to a request.
    pauses: Vec<(i64, i64)>,
    /// `true` if a cancel is planned.
    pub(crate) cancels: bool,
    /// `true` if the due time may have changed.
    pub(crate) is_rescheduled: bool,
    /// The number of cancelled recipients in the last answer to a complete cancel.
    cancelled: Option<i64>,
}

impl Changes {
    /// Plans the changes of a send.
    pub(crate) fn plan(dice: &mut Dice) -> Self {
        if !dice.percent(35) {
            return Self::default();
        }
        let kinds = dice.pick(&PLANS);
        let step = |&kind: &Kind| Step {
            kind,
            is_keyed: dice.percent(50),
            ahead_ms: i64::try_from(dice.between(1_000, 20_000)).unwrap(),
            send_at_ms: None,
        };
        Self {
            planned: kinds.iter().map(step).collect(),
            cancels: kinds.contains(&Cancel),
            is_rescheduled: kinds.contains(&Reschedule),
            ..Self::default()
        }
    }
}

/// Returns `true` if a customer still changes the message of a send.
pub(crate) fn is_open(send: &Send) -> bool {
    !send.accepted.is_empty() && !send.changes.planned.is_empty()
}

/// Makes the remaining changes of a send, one after the other. Each is repeated until it has an
/// answer.
pub(crate) async fn make_all(outside: &Outside, engine: &Engine, clock: &Clock, index: usize) {
    loop {
        let pause_ms = {
            let mut state = outside.lock();
            if !is_open(&state.sends[index]) {
                return;
            }
            state.dice.between(1, 4_000)
        };
        sleep(Duration::from_millis(pause_ms)).await;
        make(outside, engine, clock, index).await;
    }
}

/// Records a request. Returns the send and the change.
fn begin(outside: &Outside, now_ms: i64, index: usize) -> (Send, Step) {
    let mut state = outside.lock();
    let changes = &mut state.sends[index].changes;
    if let (Resume | Cancel, Some(since_ms)) = (changes.planned[0].kind, changes.paused_ms) {
        changes.pauses.push((since_ms, now_ms));
        changes.paused_ms = None;
    }
    let step = &mut changes.planned[0];
    step.send_at_ms.get_or_insert(now_ms + step.ahead_ms);
    let step = step.clone();
    let send = state.sends[index].clone();
    state.note(&format!("send {index} asks for {:?}", step.kind));
    (send, step)
}

/// Makes the next change of a send. Nothing is recorded without an answer.
async fn make(outside: &Outside, engine: &Engine, clock: &Clock, index: usize) {
    let (send, step) = begin(outside, clock.now_ms(), index);
    let answer = match admit(engine, &send, Purpose::Read).await {
        Ok(admission) => ask(&admission, &send, &step).await,
        Err(refused) => Err(refused.error),
    };
    let mut state = outside.lock();
    state.note(&match &answer {
        Ok(text) => format!("send {index} {:?}: {text}", step.kind),
        Err(error) => format!("send {index} no {:?}: {error}", step.kind),
    });
    let changes = &mut state.sends[index].changes;
    match answer {
        Ok(text) => {
            if step.kind == Pause {
                changes.paused_ms.get_or_insert(clock.now_ms());
            }
            if step.kind == Cancel {
                changes.cancelled = text.parse().ok();
            }
        }
        Err(
            Error::Store(_)
            | Error::Refused(
                Refusal::KeyInUse { .. }
                | Refusal::Unavailable { .. }
                | Refusal::ChangeUnderWay { .. },
            ),
        ) => return,
        // The message is final, a carrier has some of it, or the clock jumped.
        Err(Error::Refused(Refusal::TooLate(_) | Refusal::Malformed(_))) if step.kind != Cancel => {
        }
        Err(error) => panic!("{error}"),
    }
    changes.planned.remove(0);
    changes.made += 1;
}

/// Asks for one change. Returns the count of a complete cancel, or the state.
async fn ask(admission: &Admission, send: &Send, step: &Step) -> Result<String, Error> {
    let id = send.accepted[0].0.to_string();
    let key = format!("change-{}-{}", send.recipients[0], send.changes.made);
    let key = IdempotencyKey::read([key.as_bytes()]).unwrap();
    let key = key.filter(|_| step.is_keyed);
    let request = match (step.kind, step.send_at_ms) {
        (Cancel, _) => {
            let counted = |cancelled: &Cancelled| {
                let count = Some(cancelled.cancelled).filter(|_| cancelled.is_complete);
                count.map_or_else(|| "under way".to_owned(), |count| count.to_string())
            };
            let keyed = key.map(|key| KeyedAnswer {
                key,
                write: Arc::new(counted),
            });
            let answer = message_changes::cancel(admission, &id, keyed).await?;
            return Ok(match answer {
                Changed::First(cancelled) => counted(&cancelled),
                Changed::Replay(kept) => kept.body,
            });
        }
        (Reschedule, Some(send_at_ms)) => MessageRequest::Reschedule { send_at_ms },
        (Pause, _) => MessageRequest::Pause,
        (Resume | Reschedule, _) => MessageRequest::Resume,
    };
    let shown = |message: &engine::Message| message.state.as_str().to_owned();
    let keyed = key.map(|key| KeyedAnswer {
        key,
        write: Arc::new(shown),
    });
    let answer = message_changes::change(admission, &id, request, keyed).await?;
    Ok(match answer {
        Changed::First(message) => shown(&message),
        Changed::Replay(kept) => kept.body,
    })
}

/// Checks that no carrier accepted a page to a cancelled recipient, that the answer to a cancel counts all,
/// and that nothing goes out during a pause.
pub(crate) fn check(state: &State, all: &[Message], wrong: &mut Vec<String>) {
    for message in all {
        let send = &message.send;
        let is_cancelled = |end: &&DeliveryStatus| **end == DeliveryStatus::Cancelled;
        let cancelled = message.ends.values().filter(is_cancelled).count();
        if cancelled > 0 && !send.changes.cancels {
            wrong.push(format!("{} was cancelled by nobody", message.id));
        }
        let is_its_answer = send.accepted.first().is_some_and(|one| one.0 == message.id);
        let told = send.changes.cancelled.filter(|_| is_its_answer);
        if told.is_some_and(|told| usize::try_from(told) != Ok(cancelled)) {
            let id = message.id;
            wrong.push(format!("{cancelled} of {id} are cancelled, not {told:?}"));
        }
        let same = |one: &&Message| one.send.recipients[0] == send.recipients[0];
        if all.iter().filter(same).count() > 1 || send.environment == Environment::Sandbox {
            continue;
        }
        for (recipient, end) in &message.ends {
            // Pages may have come before another page was refused, and before the cancel.
            let pages = 1..=u8::try_from(send.pages).unwrap();
            let mut smscs = state.smscs.iter();
            let is_taken = smscs.any(|smsc| {
                let mut taken = pages.clone().map(|page| (*recipient, page));
                let is_cut = pages.len() > 1 && smsc.refused.contains_key(recipient);
                !is_cut && taken.all(|page| smsc.taken.contains_key(&page))
            });
            if *end == DeliveryStatus::Cancelled && is_taken {
                wrong.push(format!("{recipient} was sent to and cancelled"));
            }
            let submits = state.smscs.iter();
            let submits = submits.filter_map(|smsc| smsc.first_ms.get(recipient));
            let Some(at_ms) = submits.min() else {
                continue;
            };
            let pauses = &mut send.changes.pauses.iter();
            let pause = pauses.find(|(from, until)| (from + STOP_MS..*until).contains(at_ms));
            // One that was in doubt is sent once more, and over the second leg.
            let result_ms = message.results_ms.get(recipient);
            let was_in_doubt = result_ms.is_some_and(|result_ms| result_ms + 1_000 < *at_ms);
            if let Some(pause) = pause.filter(|_| !state.jumped && !was_in_doubt) {
                wrong.push(format!("{recipient} was sent to at {at_ms} in {pause:?}"));
            }
        }
    }
}
