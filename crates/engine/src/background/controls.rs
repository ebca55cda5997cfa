//! The control of carriers: its reload at each change by an operator.

use crate::context::Context;
use crate::context::retry_read;
use std::sync::Arc;
use store::Revision;
use tokio::sync::watch;

/// Reads the control of all carriers, and passes each change to the worker of its carrier.
pub(crate) async fn load(context: &Context) -> database::Result<()> {
    let controls = context.store.carrier_controls().all().await?;
    let controls = controls.into_iter().map(|one| (one.carrier, one.control));
    for name in context.controls.set(controls.collect()) {
        let control = context.controls.of(&name);
        let limit = control.max_per_second;
        tracing::info!(
            carrier.name = name,
            carrier.mode = control.mode.as_str(),
            carrier.max_per_second = limit,
            "carrier: control changed by an operator"
        );
        if let Some(carrier) = context.carrier(&name) {
            carrier.note_control(control.submits());
        }
    }
    Ok(())
}

/// Reloads the control at each new revision. Runs until the engine ends.
pub(crate) async fn follow(context: Arc<Context>, mut revision: watch::Receiver<Revision>) {
    loop {
        retry_read("the control of carriers cannot be read", || load(&context)).await;
        if revision.changed().await.is_err() {
            return;
        }
    }
}
