//! Simulated top-ups: a customer pays, and webhooks, return pages and the search report it.

use super::customers::{LAST_SEND_MS, PAYERS, admit_as};
use super::provider;
use super::state::{Outside, State};
use domain::idempotency::IdempotencyKey;
use domain::payment::{TopUp, TopUpFields, TopUpState};
use domain::{AccountId, Environment, Refusal};
use engine::{Changed, Engine, Error, KeyedAnswer, Purpose, WebhookRefusal, top_ups};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use store::{EntryKind, LedgerEntry, Store};
use tokio::time::{sleep, sleep_until};

/// A step of a customer or of the provider. It is repeated until it succeeds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    Make,
    Pay,
    Webhook,
    /// A webhook of somebody else.
    Forged,
    ReturnPage,
}

/// The amount that is paid.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Paid {
    Whole,
    TooLittle,
    Nothing,
}

/// A top-up of the simulation.
#[derive(Clone, Debug)]
pub(crate) struct PlannedTopUp {
    at_ms: u64,
    account: AccountId,
    amount: u64,
    paid: Paid,
    /// The steps without success yet.
    steps: Vec<Step>,
    /// Its id and its reference, once they are known.
    made: Option<(String, String)>,
}

impl PlannedTopUp {
    pub(crate) fn is_open(&self) -> bool {
        !self.steps.is_empty()
    }
}

/// Plans the top-ups.
pub(crate) fn plan(state: &mut State) {
    let dice = &mut state.dice;
    let mut all = Vec::new();
    for _ in 0..dice.below(7) {
        let paid = dice.pick(&[
            Paid::Whole,
            Paid::Whole,
            Paid::Whole,
            Paid::TooLittle,
            Paid::Nothing,
        ]);
        let mut steps = vec![Step::Make];
        let any = [Step::Webhook, Step::Forged, Step::ReturnPage];
        // A report may come before the payment, and come again after it.
        steps.extend((0..dice.below(2)).map(|_| Step::ReturnPage));
        if paid == Paid::Nothing {
            steps.push(Step::Forged);
        } else {
            steps.push(Step::Pay);
            steps.extend((0..dice.below(4)).map(|_| dice.pick(&any)));
            steps.push(Step::Webhook);
        }
        all.push(PlannedTopUp {
            at_ms: dice.below(LAST_SEND_MS),
            account: dice.pick(&PAYERS),
            amount: dice.between(5, 200),
            paid,
            steps,
            made: None,
        });
    }
    state.top_ups = all;
}

/// Starts the remaining steps as tasks of this process.
pub(crate) fn run_all(outside: &Outside, engine: &Engine) {
    let state = outside.lock();
    let open = state.top_ups.iter().enumerate();
    for (index, top_up) in open.filter(|(_, top_up)| top_up.is_open()) {
        let at = state.instant(top_up.at_ms);
        let (outside, engine) = (outside.clone(), engine.clone());
        tokio::spawn(async move {
            sleep_until(at).await;
            while let Some(step) = next(&outside, index) {
                let pause_ms = outside.lock().dice.between(1, 3_000);
                sleep(Duration::from_millis(pause_ms)).await;
                take(&outside, &engine, index, step).await;
            }
        });
    }
}

fn next(outside: &Outside, index: usize) -> Option<Step> {
    outside.lock().top_ups[index].steps.first().copied()
}

/// Takes a step, and removes it after a success.
async fn take(outside: &Outside, engine: &Engine, index: usize, step: Step) {
    let top_up = outside.lock().top_ups[index].clone();
    let is_done = match (step, &top_up.made) {
        (Step::Make, _) => make(outside, engine, index, &top_up).await,
        (_, None) => unreachable!("it is made first"),
        (Step::Pay, Some((_, reference))) => {
            let is_whole = top_up.paid == Paid::Whole;
            outside.lock().book.pay(reference, is_whole);
            true
        }
        (Step::Webhook, Some((id, reference))) => {
            // The provider sends two at once, and the customer comes back meanwhile.
            let desk = engine.payments();
            let (one, other, _) = tokio::join!(
                webhook(engine, reference, provider::SIGNATURE.1),
                webhook(engine, reference, provider::SIGNATURE.1),
                desk.returned(id)
            );
            let may_fail = [WebhookRefusal::NotConfirmed, WebhookRefusal::NotStored];
            for refused in [one, other].into_iter().filter_map(Result::err) {
                assert!(may_fail.contains(&refused), "{refused}");
            }
            one.is_ok()
        }
        (Step::Forged, Some((_, reference))) => {
            let answer = webhook(engine, reference, "another hash").await;
            assert_eq!(answer, Err(WebhookRefusal::Unsigned));
            true
        }
        (Step::ReturnPage, Some((id, _))) => match engine.payments().returned(id).await {
            Ok(found) => {
                assert!(found.is_some(), "{id} is there");
                true
            }
            Err(error) => {
                assert!(
                    matches!(error, Error::Store(_) | Error::Refused(_)),
                    "{error}"
                );
                false
            }
        },
    };
    let mut state = outside.lock();
    state.note(&format!("top-up {index} {step:?}: {is_done}"));
    if is_done {
        state.top_ups[index].steps.remove(0);
    }
}

async fn webhook(engine: &Engine, reference: &str, hash: &str) -> Result<(), WebhookRefusal> {
    let header = |name: &str| (name == provider::SIGNATURE.0).then_some(hash);
    let body = provider::webhook(reference);
    let desk = engine.payments();
    desk.take_webhook(provider::NAME, &header, body.as_bytes())
        .await
}

/// Makes a top-up. Returns `false` if it must be requested again.
async fn make(outside: &Outside, engine: &Engine, index: usize, top_up: &PlannedTopUp) -> bool {
    let (account, environment) = (top_up.account, Environment::Live);
    let Ok(admission) = admit_as(engine, account, environment, Purpose::Read).await else {
        return false;
    };
    let fields = TopUpFields {
        amount: Some(top_up.amount.to_string()),
        ..TopUpFields::default()
    };
    let key = format!("top-up-{index}");
    let keyed = KeyedAnswer {
        key: IdempotencyKey::read([key.as_bytes()]).unwrap().unwrap(),
        write: Arc::new(|top_up: &TopUp| format!("{} {}", top_up.id, top_up.reference)),
    };
    let text = match top_ups::create_top_up(&admission, &fields, Some(keyed)).await {
        Ok(Changed::First(top_up)) => format!("{} {}", top_up.id, top_up.reference),
        Ok(Changed::Replay(kept)) => kept.body,
        Err(
            Error::Store(_)
            | Error::Refused(
                Refusal::KeyInUse { .. }
                | Refusal::Unavailable { .. }
                | Refusal::OutcomeUnknown { .. }
                | Refusal::Object(_),
            ),
        ) => return false,
        Err(error) => panic!("{error}"),
    };
    let (id, reference) = text.split_once(' ').unwrap();
    let made = Some((id.to_owned(), reference.to_owned()));
    outside.lock().top_ups[index].made = made;
    true
}

/// Checks that each payment has its one effect at the end.
pub(crate) async fn check(
    outside: &Outside,
    store: &Store,
    ledger: &[LedgerEntry],
    wrong: &mut Vec<String>,
) {
    let mut states: BTreeMap<String, TopUp> = BTreeMap::new();
    for account in PAYERS {
        let listed = store
            .top_ups()
            .list(account, Environment::Live, None, 1_000);
        let listed = listed.await.unwrap().into_iter();
        states.extend(listed.map(|top_up| (top_up.reference.clone(), top_up)));
    }
    let state = outside.lock();
    let planned = state.top_ups.iter();
    for planned in planned {
        let (_, reference) = planned.made.as_ref().unwrap();
        let found = states.remove(reference);
        let is_right = match (planned.paid, found.as_ref().map(|found| found.state)) {
            (Paid::Whole, found) => found == Some(TopUpState::Paid),
            (Paid::TooLittle, found) => found == Some(TopUpState::Mismatch),
            (Paid::Nothing, found) => {
                matches!(found, Some(TopUpState::Pending | TopUpState::Expired))
            }
        };
        let is_its = |entry: &&LedgerEntry| {
            let credit = entry.kind == EntryKind::Credit;
            credit && entry.reference.as_ref() == Some(reference)
        };
        let credits = ledger.iter().filter(is_its).count();
        if !is_right || credits != usize::from(planned.paid == Paid::Whole) {
            wrong.push(format!("{planned:?} is {found:?} with {credits} credits"));
        }
    }
    if !states.is_empty() {
        wrong.push(format!("nobody asked for {states:?}"));
    }
}
