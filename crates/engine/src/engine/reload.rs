//! A reload of the configuration: other settings take the place of those that hold, all at one moment.
//!
//! A carrier whose settings are the same keeps its task, its connections and what it has in hand. Another one finishes what
//! is in flight and unbinds, and only then does the one that takes its place bind: a carrier often allows no more connections
//! than it was configured with. The work that waits for a carrier that is gone is moved as after a restart (`dispatch/failover.rs`).

use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::live::Live;
use crate::context::read_at_last;
use crate::context::tls;
use crate::dispatch;
use crate::dispatch::report::ReportSink;
use crate::error::StartError;
use crate::settings::CarrierSettings;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

/// The outcome of the carriers, by their names.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Reloaded {
    /// They were not configured before.
    pub added: Vec<String>,
    /// They unbind, and bind again as they are configured now.
    pub changed: Vec<String>,
    /// They unbind.
    pub removed: Vec<String>,
}

/// A carrier that is to be run, and with what it is connected to.
pub(super) struct New {
    carrier: Arc<Carrier>,
    tls: Option<TlsConnector>,
}

/// The tasks of carriers, each with the name of the one that it runs.
pub(super) type CarrierTasks = Vec<(Arc<str>, JoinHandle<()>)>;

/// Closes the carriers that are configured no more, and starts the new ones.
pub(super) fn replace_carriers(
    context: &Arc<Context>,
    reports: &ReportSink,
    tasks: &mut CarrierTasks,
    (before, after): (&Live, &Live),
    new: Vec<New>,
) -> Reloaded {
    let gone = before.carriers.iter().filter(|one| !after.runs(one));
    gone.clone().for_each(|one| one.close());
    // A task that has ended is passed to its successor, if there is one.
    let mut ending = |name: &str| {
        let place = tasks.iter().position(|(of, _)| &**of == name)?;
        Some(tasks.swap_remove(place).1)
    };
    let removed = gone.filter(|one| after.carrier(&one.name).is_none());
    let mut reloaded = Reloaded {
        removed: removed.map(|one| one.name.to_string()).collect(),
        ..Reloaded::default()
    };
    let mut started = Vec::new();
    for name in &reloaded.removed {
        if let Some(ending) = ending(name) {
            let leaving = leave(Arc::clone(context), name.clone(), ending);
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
            ending(&name),
            Arc::clone(context),
            Arc::clone(&name),
            running,
        );
        started.push((name, tokio::spawn(running)));
    }
    tasks.extend(started);
    reloaded
}

/// The carriers by other settings: those that are the same as before, and new ones, which are to be run. The sandbox stays
/// the last.
pub(super) fn take_over(
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

/// Runs a carrier once the one whose place it takes has ended.
async fn succeed(
    ending: Option<JoinHandle<()>>,
    context: Arc<Context>,
    name: Arc<str>,
    running: impl Future<Output = ()>,
) {
    if let Some(ending) = ending {
        ended(ending).await;
        give_back(&context, &name).await;
    }
    running.await;
}

/// Waits for the end of a carrier that is not configured any more. Until its connections are given back other nodes take it to
/// be in use here, and do not move what waits for it.
async fn leave(context: Arc<Context>, name: String, ending: JoinHandle<()>) {
    ended(ending).await;
    give_back(&context, &name).await;
}

/// Gives the connections of a carrier back that this node held until it ended.
async fn give_back(context: &Context, carrier: &str) {
    if !context.nodes.is_shared() {
        return;
    }
    let free = async || {
        let binds = context.store.binds().await?;
        let ours = binds.get(carrier).into_iter().flatten();
        for bind in ours.filter(|bind| bind.node == context.node) {
            context.store.free_bind(bind.clone()).await?;
        }
        Ok(())
    };
    read_at_last("connections cannot be given back", free).await;
}

async fn ended(task: JoinHandle<()>) {
    if task.await.is_err() {
        tracing::error!("the task of a carrier ended in a panic");
    }
}
