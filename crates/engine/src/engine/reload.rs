//! A reload of the configuration: other settings take the place of those that hold, all at one moment.
//!
//! A carrier whose settings are the same keeps its task, its connections and what it has in hand. Another one finishes what
//! is in flight and unbinds, and only then does the one that takes its place bind: a carrier often allows no more connections
//! than it was configured with. What waits for a carrier that is gone is moved as after a restart (`dispatch/failover.rs`).

use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::live::Live;
use crate::context::read_at_last;
use crate::context::tls;
use crate::dispatch;
use crate::engine::Engine;
use crate::error::StartError;
use crate::settings::CarrierSettings;
use crate::settings::Settings;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

/// What became of the carriers, by their names.
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
struct New {
    carrier: Arc<Carrier>,
    tls: Option<TlsConnector>,
}

impl Engine {
    /// Counts how often an operator has asked all nodes to read their configuration again.
    pub fn reloads(&self) -> watch::Receiver<i64> {
        self.customers.reloads()
    }

    /// Puts other settings in the place of those that hold. What is only read at a start stays as it is: callbacks, and how
    /// many sends may wait for a commit.
    ///
    /// # Errors
    /// A carrier cannot be reached by TLS, or the database failed; then nothing has changed.
    pub async fn reload(&self, settings: Settings) -> Result<Reloaded, StartError> {
        let shared = &self.shared;
        let _one = self.reloading.lock().await;
        let before = shared.live.load_full();
        let (carriers, new) = take_over(&before, settings.carriers)?;
        let plan = before.plan.with(settings.rules);
        let guards = self.guards.reload(shared, settings.guards, &plan.rules);
        let following = guards.await?;
        let after = Arc::new(Live {
            plan,
            carriers,
            limits: settings.limits,
            retention: settings.retention,
        });
        self.customers
            .limit_guesses(settings.limits.unknown_tokens_per_minute);

        let mut tasks = self.tasks();
        tasks.others.extend(following);
        if !self.open.load(Ordering::Relaxed) {
            return Ok(Reloaded::default());
        }
        shared.live.store(Arc::clone(&after));
        let gone = before.carriers.iter().filter(|one| !after.runs(one));
        gone.clone().for_each(|one| one.close());
        // Those that have ended are taken along by their successor, if there is one.
        let mut ending = |name: &str| {
            let place = tasks.carriers.iter().position(|(of, _)| &**of == name)?;
            Some(tasks.carriers.swap_remove(place).1)
        };
        let removed = gone.filter(|one| after.carrier(&one.name).is_none());
        let mut told = Reloaded {
            removed: removed.map(|one| one.name.to_string()).collect(),
            ..Reloaded::default()
        };
        let mut started = Vec::new();
        for name in &told.removed {
            if let Some(ending) = ending(name) {
                let leaving = leave(Arc::clone(shared), name.clone(), ending);
                started.push((name.as_str().into(), tokio::spawn(leaving)));
            }
        }
        for New { carrier, tls } in new {
            let name = Arc::clone(&carrier.name);
            let list = match before.carrier(&name) {
                Some(_) => &mut told.changed,
                None => &mut told.added,
            };
            list.push(name.to_string());
            if !shared.nodes.is_shared() {
                carrier.hold_all();
            }
            let running = succeed(ending(&name), Arc::clone(shared), carrier, tls);
            started.push((name, tokio::spawn(running)));
        }
        tasks.carriers.extend(started);
        Ok(told)
    }
}

impl Live {
    /// Whether this very carrier is one of them.
    fn runs(&self, carrier: &Arc<Carrier>) -> bool {
        self.carriers.iter().any(|one| Arc::ptr_eq(one, carrier))
    }
}

/// The carriers by other settings: those that are the same as before, and new ones, which are to be run. The sandbox stays
/// the last.
fn take_over(
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
    shared: Arc<Context>,
    carrier: Arc<Carrier>,
    tls: Option<TlsConnector>,
) {
    if let Some(ending) = ending {
        ended(ending).await;
        give_back(&shared, &carrier.name).await;
    }
    dispatch::run(shared, carrier, tls).await;
}

/// Waits for the end of a carrier that is not configured any more. Until its connections are given back other nodes take it to
/// be in use here, and do not move what waits for it.
async fn leave(shared: Arc<Context>, name: String, ending: JoinHandle<()>) {
    ended(ending).await;
    give_back(&shared, &name).await;
}

/// Gives the connections of a carrier back that this node held until it ended.
async fn give_back(shared: &Context, carrier: &str) {
    if !shared.nodes.is_shared() {
        return;
    }
    let free = async || {
        let binds = shared.store.binds().await?;
        let ours = binds.get(carrier).into_iter().flatten();
        for bind in ours.filter(|bind| bind.node == shared.node) {
            shared.store.free_bind(bind.clone()).await?;
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
