//! The engine: start, admit, operate, shutdown.

mod reload;
mod report;

pub use reload::Reloaded;
pub use report::Report;

use crate::accept::{self, Door, Sent};
use crate::admit::admission::Guards;
use crate::admit::callers::{Caller, Customers};
use crate::admit::rate::Rates;
use crate::admit::sandbox as simulated;
use crate::background::{retention, sweeps};
use crate::cluster::membership::Nodes;
use crate::cluster::{self, takeover};
use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::clock_step::Follower;
use crate::context::holds::Holds;
use crate::context::live::Live;
use crate::context::plan::{Plan, SANDBOX};
use crate::context::random;
use crate::context::system::World;
use crate::context::tls;
use crate::dispatch::{self, sandbox};
use crate::error::{Error, StartError, within};
use crate::notify::Callbacks;
use crate::settings::Settings;
use crate::settle::group_commit::Turns;
use arc_swap::ArcSwap;
use domain::rate::{Rate, RateKey, RateKind};
use domain::{Environment, Purse, Refusal, SendFields};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use store::Store;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

/// How long a shutdown waits for what is in flight.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(7);

/// The running engine; a clone is the same one.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Context>,
    customers: Arc<Customers>,
    rates: Arc<Rates>,
    guards: Guards,
    door: Door,
    open: Arc<AtomicBool>,
    tasks: Arc<Mutex<Tasks>>,
    /// One reload at a time.
    reloading: Arc<tokio::sync::Mutex<()>>,
}

/// What runs in the background.
#[derive(Default)]
struct Tasks {
    /// With the names of those that they run.
    carriers: Vec<(Arc<str>, JoinHandle<()>)>,
    others: Vec<JoinHandle<()>>,
}

/// Starts the task of each carrier; the sandbox is the last, and speaks no TLS.
fn run_carriers(
    shared: &Arc<Context>,
    connectors: Vec<Option<TlsConnector>>,
) -> Vec<(Arc<str>, JoinHandle<()>)> {
    let connectors = connectors.into_iter().chain([None]);
    let live = shared.live();
    let carriers = live.carriers.iter().zip(connectors);
    carriers
        .map(|(carrier, tls)| {
            let (shared, name) = (Arc::clone(shared), Arc::clone(&carrier.name));
            let running = dispatch::run(shared, Arc::clone(carrier), tls);
            (name, tokio::spawn(running))
        })
        .collect()
}

impl Engine {
    /// Recovers what the last process left, binds to the carriers and begins to work.
    pub async fn start(
        store: Store,
        settings: Settings,
        mut world: World,
    ) -> Result<Self, StartError> {
        if store.is_shared() {
            world.clock = world.clock.led();
        }
        let node = i64::try_from(world.chance.number() >> 2)
            .unwrap_or(0)
            .max(1);
        let connectors = settings.carriers.iter().map(tls::connector);
        let connectors: Vec<_> = connectors.collect::<Result<_, _>>()?;
        let most_guesses = settings.limits.unknown_tokens_per_minute;
        let customers = Arc::new(Customers::new(store.clone(), most_guesses).await?);
        let nodes = Nodes::join(&store, &world.clock, node).await?;
        let (revision, calling) = (customers.revision(), &settings.callbacks);
        let callbacks =
            Callbacks::start(store.clone(), node, calling, world.clone(), revision).await?;
        let numbers = random::Numbers::new(world.clock.now_ms(), &world.chance);
        let sandbox = Arc::new(Carrier::new(SANDBOX.into(), None));
        let named = settings
            .carriers
            .into_iter()
            .map(|carrier| Arc::new(Carrier::new(carrier.name.as_str().into(), Some(carrier))));
        let shared = Arc::new(Context {
            live: ArcSwap::from_pointee(Live {
                plan: Plan::new(settings.rules, numbers),
                carriers: named.chain([sandbox]).collect(),
                limits: settings.limits,
                retention: settings.retention,
            }),
            message_ids: random::MessageIds::new(&world.chance),
            turns: Turns::default(),
            callbacks,
            nodes,
            holds: Holds::default(),
            follower: tokio::sync::Mutex::new(Follower::new(&world.clock)),
            store: store.clone(),
            clock: world.clock,
            chance: world.chance,
            network: world.network,
            node,
        });
        let mut tasks = Tasks::default();
        let changes = customers.revision();
        let guards = Guards::start(&shared, settings.guards, changes, &mut tasks.others).await?;
        takeover::at_start(&shared).await?;
        let rates = Arc::new(Rates::new(&store));
        let (door, accepting) = Door::open(Arc::clone(&shared), settings.limits.accept_queue);
        tasks.carriers = run_carriers(&shared, connectors);
        tasks.others.extend(sweeps::start(&shared, &customers));
        tasks.others.extend(cluster::run::start(&shared, &rates));
        tasks.others.extend([
            accepting,
            tokio::spawn(Arc::clone(&customers).follow()),
            tokio::spawn(Arc::clone(&rates).follow(shared.clock.clone())),
            tokio::spawn(retention::run(Arc::clone(&shared))),
        ]);
        Ok(Self {
            shared,
            customers,
            rates,
            guards,
            door,
            open: Arc::new(AtomicBool::new(true)),
            tasks: Arc::new(Mutex::new(tasks)),
            reloading: Arc::default(),
        })
    }

    /// The account behind a token, for a request that comes from `client`.
    pub async fn caller(&self, token: Option<&str>, client: IpAddr) -> Result<Arc<Caller>, Error> {
        let now_ms = self.shared.clock.now_ms();
        within(self.customers.caller(token, client, now_ms)).await
    }

    /// The account behind a token that was just refused, where it is one: for the log.
    pub fn refused_caller(&self, token: &str) -> Option<Arc<Caller>> {
        self.customers.remembered(token)
    }

    /// Counts a request against its limit.
    pub async fn check_rate(
        &self,
        caller: &Caller,
        environment: Environment,
        kind: RateKind,
    ) -> Result<Rate, Error> {
        let limits = self.shared.live().limits;
        let limit = match kind {
            RateKind::Send => limits.sends_per_minute,
            RateKind::Report => limits.reports_per_minute,
            RateKind::Read => limits.reads_per_minute,
            RateKind::Recipient => limits.sandbox.recipients_per_minute,
            RateKind::Callback => limits.sandbox.callbacks_per_minute,
        };
        let key = RateKey {
            account: caller.customer.account.id,
            environment,
            kind,
        };
        within(self.rates.count(key, limit, &self.shared.clock)).await
    }

    /// Refuses a send that is not parsed yet while the accept queue is full.
    pub fn check_room(&self) -> Result<(), Refusal> {
        self.door.check_room()
    }

    /// Accepts a send: when this gives a message, it is durable and paid for.
    pub async fn send(
        &self,
        caller: &Caller,
        environment: Environment,
        fields: SendFields,
    ) -> Result<Sent, Error> {
        caller.customer.account.check_send(environment)?;
        if !self.open.load(Ordering::Relaxed) {
            return Err(Refusal::Unavailable { retry_after_s: 5 }.into());
        }
        let live = self.shared.live.load_full();
        let draft = domain::draft(
            fields,
            &caller.customer,
            environment,
            &live.plan.rules,
            &self.guards.prohibited(),
        )?;
        accept::steer(&draft, live.limits.sends_per_minute)?;
        let (limits, clock) = (live.limits.sandbox, &self.shared.clock);
        within(simulated::count(&draft, limits, &self.rates, clock)).await?;
        self.guards.pass(draft, live, &self.door).await
    }

    /// What the wallet holds; the sandbox has a simulated one.
    pub async fn balance(&self, caller: &Caller, environment: Environment) -> Result<Purse, Error> {
        match environment {
            Environment::Sandbox => Ok(sandbox::purse()),
            Environment::Live => {
                let wallet = self.shared.store.wallet(caller.customer.account.id);
                let wallet = within(async { Ok(wallet.await?) }).await?;
                Ok(wallet.unwrap_or_default())
            }
        }
    }

    /// One page of a message's delivery report.
    pub async fn report(
        &self,
        caller: &Caller,
        environment: Environment,
        message_id: &str,
        page: u32,
        per_page: u32,
    ) -> Result<Report, Error> {
        let account = caller.customer.account.id;
        within(report::report(
            &self.shared.store,
            account,
            environment,
            message_id,
            page,
            per_page,
        ))
        .await
    }

    /// Whether sends are taken: no end was asked for, and the database was reached in the last seconds.
    pub fn is_ready(&self) -> bool {
        self.open.load(Ordering::Relaxed) && self.shared.nodes.holds()
    }

    fn tasks(&self) -> MutexGuard<'_, Tasks> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes no more sends, finishes what is in flight, unbinds, and closes the database.
    pub async fn shutdown(&self) {
        self.open.store(false, Ordering::Relaxed);
        let tasks = {
            // A reload either starts its carriers before this, or finds that it is too late.
            let mut tasks = self.tasks();
            self.shared
                .live()
                .carriers
                .iter()
                .for_each(|one| one.close());
            std::mem::take(&mut *tasks)
        };
        let carriers = async {
            for (_, task) in tasks.carriers {
                if task.await.is_err() {
                    tracing::error!("the task of a carrier ended in a panic");
                }
            }
        };
        if tokio::time::timeout(SHUTDOWN_PATIENCE, carriers)
            .await
            .is_err()
        {
            tracing::warn!("carriers did not answer in time: what they have is in doubt");
        }
        self.shared.callbacks.shutdown().await;
        for task in tasks.others {
            task.abort();
            // An error tells that it was aborted, as it should be.
            let _ = task.await;
        }
        if let Err(error) = self.shared.store.leave(self.shared.node).await {
            tracing::warn!(%error, "the other nodes were not told; they find out in some seconds");
        }
        self.shared.store.close().await;
    }
}
