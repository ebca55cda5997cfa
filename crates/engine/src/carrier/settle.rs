//! Back: what the carrier said is committed, and only then answered.

use super::desk::Desk;
use super::done::Done;
use super::link::Wire;
use super::turns::Turn;
use crate::Shared;
use crate::shared::{CLAIM_MS, FAILURE_PAUSE};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{CarrierReport, Settled};

impl Desk {
    /// Commits what came back, one commit at a time.
    pub(super) fn report(&mut self) {
        if self.busy.reporting || (!self.hand.has_news() && self.receipts.is_empty()) {
            return;
        }
        let Some(turn) = self.turn() else {
            return;
        };
        let now_ms = self.shared.clock.now_ms();
        let plan = &self.shared.plan;
        let most = self.shared.turns.most(now_ms);
        let (progress, accounted) = self.hand.progress(plan, now_ms, most);
        let most = self.receipts.len().min(most.max(accounted));
        let (mut receipts, mut answers) = (Vec::with_capacity(most), BTreeMap::new());
        for heard in self.receipts.drain(..most) {
            receipts.push(heard.receipt);
            if let Some(bound) = heard.link.and_then(|link| self.wires.get(&link)) {
                let answers: &mut (Wire, Vec<u32>) = answers
                    .entry(heard.link)
                    .or_insert_with(|| (bound.wire.clone(), Vec::new()));
                answers.1.push(heard.sequence);
            }
        }
        let answers = answers.into_values().collect();
        let report = Arc::new(CarrierReport {
            carrier: Arc::clone(&self.carrier.name),
            now_ms,
            progress,
            first_number: plan.numbers(receipts.len()),
            receipts,
            planner: self.shared.planner(now_ms),
            node: self.shared.node,
            claimed_until_ms: now_ms + CLAIM_MS,
            callback_room: self.shared.callbacks.room(),
        });
        self.busy.reporting = true;
        let (shared, done) = (Arc::clone(&self.shared), self.done.clone());
        tokio::spawn(async move {
            let (result, parked) = commit(&shared, report, turn).await;
            // The desk outlives its steps.
            let _ = done.send(Done::Reported {
                result,
                parked,
                accounted,
                answers,
            });
        });
    }

    /// A turn to report. Where none is free it is told of when it has come.
    fn turn(&mut self) -> Option<Turn> {
        let turn = self.turn.take().or_else(|| self.shared.turns.now());
        if turn.is_none() {
            self.busy.reporting = true;
            let (turns, done) = (self.shared.turns.clone(), self.done.clone());
            tokio::spawn(async move {
                let _ = done.send(Done::Turn(turns.next().await));
            });
        }
        turn
    }
}

/// Commits a report, however often the database has to be asked: what a carrier said is never dropped.
async fn commit(
    shared: &Arc<Shared>,
    report: Arc<CarrierReport>,
    mut turn: Turn,
) -> (Settled, usize) {
    loop {
        let mut settled = Settled::default();
        match shared.store.report(Arc::clone(&report), &mut settled).await {
            Ok(parked) => return (settled, parked),
            Err(error) => {
                shared.settled(settled);
                tracing::error!(%error, carrier.name = &*report.carrier,
                    "what a carrier said could not be kept; trying again");
                // Nobody else waits for what may fail for a reason of its own.
                drop(turn);
                tokio::time::sleep(FAILURE_PAUSE).await;
                turn = shared.turns.next().await;
            }
        }
    }
}
