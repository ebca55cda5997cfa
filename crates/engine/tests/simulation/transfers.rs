//! Simulated transfers between an account and its sub-account.

use super::customers::{LAST_SEND_MS, PARENT, SUB, admit_as};
use super::state::{Outside, State};
use domain::resale::TransferFields;
use domain::{Environment, MessageId, Money, Refusal};
use engine::{Changed, Engine, Error, Purpose, sub_accounts};
use std::collections::BTreeMap;
use std::time::Duration;
use store::{EntryKind, LedgerEntry};
use tokio::time::{sleep, sleep_until};

/// A transfer of the simulation.
#[derive(Clone, Debug)]
pub(crate) struct PlannedTransfer {
    at_ms: u64,
    direction: &'static str,
    amount: u64,
    /// The number of requests with the same reference that are still to be answered.
    requests: u64,
    /// The answers that made it.
    made: Vec<MessageId>,
}

impl PlannedTransfer {
    pub(crate) fn is_open(&self) -> bool {
        self.requests > 0
    }
}

/// Plans the transfers.
pub(crate) fn plan(state: &mut State) {
    let dice = &mut state.dice;
    let count = dice.below(8);
    let transfers = (0..count).map(|_| PlannedTransfer {
        at_ms: dice.below(LAST_SEND_MS),
        direction: dice.pick(&["to_sub", "to_sub", "from_sub"]),
        amount: dice.between(1, 150),
        requests: dice.between(1, 4),
        made: Vec::new(),
    });
    state.transfers = transfers.collect();
}

/// Starts the remaining requests as tasks of this process.
pub(crate) fn run_all(outside: &Outside, engine: &Engine) {
    let state = outside.lock();
    let open = state.transfers.iter().enumerate();
    for (index, transfer) in open.filter(|(_, transfer)| transfer.is_open()) {
        let at = state.instant(transfer.at_ms);
        let (outside, engine) = (outside.clone(), engine.clone());
        tokio::spawn(async move {
            sleep_until(at).await;
            while outside.lock().transfers[index].is_open() {
                request(&outside, &engine, index).await;
                let pause_ms = outside.lock().dice.between(1, 3_000);
                sleep(Duration::from_millis(pause_ms)).await;
            }
        });
    }
}

async fn request(outside: &Outside, engine: &Engine, index: usize) {
    let planned = outside.lock().transfers[index].clone();
    let admission = admit_as(engine, PARENT, Environment::Live, Purpose::Read).await;
    let Ok(admission) = admission else {
        return;
    };
    let fields = TransferFields {
        amount: Some(planned.amount.to_string()),
        direction: Some(planned.direction.to_owned()),
        reference: Some(format!("order {index}")),
    };
    let answer = sub_accounts::transfer(&admission, &SUB.to_string(), &fields, None).await;
    let mut state = outside.lock();
    match answer {
        Ok(Changed::First(transfer)) => {
            state.note(&format!("transfer {index} made as {}", transfer.id));
            state.transfers[index].made.push(transfer.id);
        }
        Ok(Changed::Replay(kept)) => panic!("{kept:?}, without a key"),
        Err(Error::Refused(Refusal::InsufficientFunds { .. })) => {
            state.note(&format!("transfer {index} refused"));
            assert!(planned.made.is_empty(), "it was made before: {planned:?}");
        }
        Err(
            Error::Store(_)
            | Error::Refused(Refusal::Unavailable { .. } | Refusal::OutcomeUnknown { .. }),
        ) => return,
        Err(error) => panic!("{error}"),
    }
    state.transfers[index].requests -= 1;
}

/// Checks that each reference counts once, that both wallets keep their sum, and that margins come
/// and go with charges and refunds.
pub(crate) fn check(outside: &Outside, ledger: &[LedgerEntry], wrong: &mut Vec<String>) {
    let state = outside.lock();
    for (index, planned) in state.transfers.iter().enumerate() {
        let reference = format!("order {index}");
        let is_its = |entry: &&LedgerEntry| {
            entry.kind == EntryKind::Transfer && entry.reference.as_ref() == Some(&reference)
        };
        let mut moved: BTreeMap<_, Money> = BTreeMap::new();
        for entry in ledger.iter().filter(is_its) {
            *moved.entry(entry.account.0).or_insert(Money::ZERO) += entry.amount;
        }
        let sign = if planned.direction == "to_sub" { 1 } else { -1 };
        let given = Money::from_naira(i64::try_from(planned.amount).unwrap()) * sign;
        let once = BTreeMap::from([(PARENT.0, -given), (SUB.0, given)]);
        let is_once = moved == once || (moved.is_empty() && planned.made.is_empty());
        let is_same = planned.made.windows(2).all(|two| two[0] == two[1]);
        if !is_once || !is_same {
            wrong.push(format!("{planned:?} moved {moved:?}"));
        }
    }
}
