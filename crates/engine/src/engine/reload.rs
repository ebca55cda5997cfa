//! A reload of the configuration, which replaces all settings at one moment.
//!
//! A carrier with unchanged settings keeps its worker, its connections and its claimed batches. The
//! worker of a changed carrier finishes its submits and unbinds before its successor binds, because
//! carriers often limit the number of connections. Queued work of a removed carrier is moved as
//! after a restart (`dispatch/failover.rs`).

use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::live::Live;
use crate::context::retry_read;
use crate::context::tls;
use crate::dispatch;
use crate::dispatch::report::ReportSink;
use crate::error::StartError;
use crate::settings::CarrierSettings;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

/// The carriers that a reload changed, by name.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Reloaded {
    /// New carriers.
    pub added: Vec<String>,
    /// Carriers with other settings. They unbind and bind again.
    pub changed: Vec<String>,
    /// Removed carriers. They unbind.
    pub removed: Vec<String>,
}

/// A new carrier and the TLS connector of its connections.
pub(super) struct New {
    carrier: Arc<Carrier>,
    tls: Option<TlsConnector>,
}

/// The tasks of the carriers, by name.
pub(super) type CarrierTasks = Vec<(Arc<str>, JoinHandle<()>)>;

/// Closes the carriers that are no longer configured, and starts the new ones.
pub(super) fn replace_carriers(
    context: &Arc<Context>,
    reports: &ReportSink,
    tasks: &mut CarrierTasks,
    (before, after): (&Live, &Live),
    new: Vec<New>,
) -> Reloaded {
    let closed = before.carriers.iter().filter(|one| !after.runs(one));
    closed.clone().for_each(|one| one.close());
    // The task of a closed carrier is passed to its successor, if there is one.
    let mut predecessor = |name: &str| {
        let index = tasks.iter().position(|(of, _)| &**of == name)?;
        Some(tasks.swap_remove(index).1)
    };
    let removed = closed.filter(|one| after.carrier(&one.name).is_none());
    let mut reloaded = Reloaded {
        removed: removed.map(|one| one.name.to_string()).collect(),
        ..Reloaded::default()
    };
    let mut started = Vec::new();
    for name in &reloaded.removed {
        if let Some(predecessor) = predecessor(name) {
            let leaving = leave(Arc::clone(context), name.clone(), predecessor);
            started.push((name.as_str().into(), tokio::spawn(leaving)));
        }
    }
    for New { carrier, tls } in new {
        let name = Arc::clone(&carrier.name);
        let list = match before.carrier(&name) {
            Some(_) => &mut reloaded.changed,
            None => &mut reloaded.added,
        };
        list.push(name.to_string());
        if !context.nodes.is_shared() {
            carrier.hold_all();
        }
        let running = dispatch::run(Arc::clone(context), carrier, tls, Arc::clone(reports));
        let running = succeed(
            predecessor(&name),
            Arc::clone(context),
            Arc::clone(&name),
            running,
        );
        started.push((name, tokio::spawn(running)));
    }
    tasks.extend(started);
    reloaded
}

/// Builds the list of carriers: unchanged ones from before, and new ones to start. The sandbox
/// stays the last.
pub(super) fn merge_carriers(
    before: &Live,
    settings: Vec<CarrierSettings>,
) -> Result<(Vec<Arc<Carrier>>, Vec<New>), StartError> {
    let (mut carriers, mut new) = (Vec::new(), Vec::new());
    for settings in settings {
        let held = before.carrier(&settings.name);
        let same = held.filter(|held| held.settings.as_deref() == Some(&settings));
        if let Some(same) = same {
            carriers.push(Arc::clone(same));
            continue;
        }
        let tls = tls::connector(&settings)?;
        let carrier = Carrier::new(settings.name.as_str().into(), Some(settings));
        let carrier = Arc::new(carrier);
        carriers.push(Arc::clone(&carrier));
        new.push(New { carrier, tls });
    }
    let sandbox = before.carriers.iter().filter(|one| one.settings.is_none());
    carriers.extend(sandbox.cloned());
    Ok((carriers, new))
}

/// Waits for the end of the previous worker of a carrier, and then runs the new one.
async fn succeed(
    predecessor: Option<JoinHandle<()>>,
    context: Arc<Context>,
    name: Arc<str>,
    running: impl Future<Output = ()>,
) {
    if let Some(predecessor) = predecessor {
        wait_for(predecessor).await;
        release_binds(&context, &name).await;
    }
    running.await;
}

/// Waits for the end of a removed carrier. Its connections are released only then, because other
/// nodes do not move its work before.
async fn leave(context: Arc<Context>, name: String, predecessor: JoinHandle<()>) {
    wait_for(predecessor).await;
    release_binds(&context, &name).await;
}

/// Releases the connections of a carrier that this node held.
async fn release_binds(context: &Context, carrier: &str) {
    if !context.nodes.is_shared() {
        return;
    }
    let free = async || {
        let binds = context.store.nodes().binds().await?;
        let ours = binds.get(carrier).into_iter().flatten();
        for bind in ours.filter(|bind| bind.node == Some(context.node)) {
            context.store.nodes().free_bind(bind.clone()).await?;
        }
        Ok(())
    };
    retry_read("connections cannot be released", free).await;
}

async fn wait_for(task: JoinHandle<()>) {
    if task.await.is_err() {
        tracing::error!("carrier worker: ended by a panic");
    }
}
