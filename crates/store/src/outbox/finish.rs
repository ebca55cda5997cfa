//! The results of claimed callbacks.

use super::attempts;
use super::event::{
    AttemptOutcome, CLAIMED, Callback, DEAD, DUE, Finished, insert, insert_as, take,
};
use crate::rows::id_bytes;
use database::{Change, Result, Tx, query};
use domain::NodeId;

pub(super) struct FinishCallbacks {
    pub(super) node: NodeId,
    pub(super) outcomes: Vec<AttemptOutcome>,
}

impl Change for FinishCallbacks {
    type Output = ();

    const DEFERRABLE: bool = true;

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let all: Vec<&Callback> = self
            .outcomes
            .iter()
            .map(|outcome| &outcome.callback)
            .collect();
        // A callback that was released meanwhile waits, or another node has claimed or finished it.
        // To store it here too would duplicate it.
        let held = take(tx, &all, CLAIMED, Some(self.node)).await?;
        let (mut due, mut dead) = (Vec::new(), Vec::new());
        for outcome in &self.outcomes {
            let (callback, finished) = (&outcome.callback, &outcome.finished);
            if !held.contains(&callback.event_id()) {
                continue;
            }
            match *finished {
                Finished::Done => {}
                Finished::Retry { at_ms } => due.push(Callback {
                    due_at_ms: at_ms,
                    attempts: callback.attempts + 1,
                    ..callback.clone()
                }),
                Finished::Untouched => due.push(callback.clone()),
                Finished::GivenUp => dead.push(callback.clone()),
                Finished::Dead | Finished::EndMessage => {
                    dead.push(Callback {
                        attempts: callback.attempts + 1,
                        ..callback.clone()
                    });
                }
            }
        }
        insert(tx, &due, None).await?;
        insert_as(tx, &dead.iter().collect::<Vec<_>>(), DEAD, None).await?;
        for outcome in &self.outcomes {
            if outcome.finished == Finished::EndMessage {
                end_message(tx, &outcome.callback).await?;
            }
        }
        // An attempt is logged, whoever holds the callback now.
        attempts::insert(tx, &self.outcomes).await
    }
}

/// Handles a receiver that answered "gone": waiting callbacks of the message are dead, and no
/// further ones are made.
async fn end_message(tx: &mut Tx, callback: &Callback) -> Result<()> {
    tx.execute(
        query(
            "update outbox set state = $1 where bucket = $2 and state = $3 and account_id = $4
             and sandbox = $5 and destination = $6 and subject = $7",
        )
        .bind(DEAD)
        .bind(callback.bucket.0)
        .bind(DUE)
        .bind(callback.account.0)
        .bind(callback.is_sandbox())
        .bind(&callback.origin)
        .bind(id_bytes(&callback.message)),
    )
    .await?;
    tx.execute(
        query("update messages set callbacks_ended = true where bucket = $1 and message_id = $2")
            .bind(callback.bucket.0)
            .bind(id_bytes(&callback.message)),
    )
    .await?;
    Ok(())
}
