//! The engine: start, admit, operate, shutdown.

mod admission;
pub mod alerts;
mod answers;
mod carrier_receipts;
mod carriers;
pub mod changes;
mod customer_queries;
pub mod inbound_answers;
pub mod inbound_routes;
mod installation;
mod keyed_change;
pub mod opt_outs;
pub mod otp;
mod payment_desk;
mod reload;
mod report;
mod request;
pub mod sender_ids;
pub mod smpp_user_changes;
mod smpp_users;
mod stages;
pub mod sub_accounts;
pub mod tokens;
pub mod top_ups;
mod upload_sends;
pub mod webhooks;

pub use admission::Admission;
pub use carrier_receipts::{CarrierHook, HookRefusal};
pub use customer_queries::{CustomerQueries, Export, PageFields};
pub use installation::{CarrierState, Installation, NodeState, Queue};
pub use keyed_change::{Changed, KeyedAnswer};
pub use payment_desk::{PaymentDesk, PaymentTerms};
pub use reload::Reloaded;
pub use report::DeliveryReport;
pub use request::{Quoted, SendRequest};
pub use smpp_users::{
    BindRefusal, HeldReceipts, SmppBind, SmppEntrance, SmppReceiver, SubmitRefusal,
};
pub use stages::{Credentials, NotAdmitted, Purpose};
pub use upload_sends::{
    LeftOutCsv, LeftOutRow, UploadLook, UploadReview, UploadSend, UploadSends, UploadStep,
};

use crate::accept;
use crate::admit::{admission::Guards, keys::KeysInUse, rate::Rates};
use crate::admit::{bound_users::BoundUsers, callers::Callers};
use crate::background::{controls, sweeps};
use crate::cluster::{self, takeover};
use crate::contacts::Contacts;
use crate::context::{
    Context, clock_step::ClockFollower, controls::Controls, holds::HeldAccounts, live::Live,
    nodes::Nodes, payments::Payments, plan::Plan, random, request_log::RequestLog,
    stops::StoppedMessages, system::System,
};
use crate::dispatch::report::ReportSink;
use crate::error::StartError;
use crate::notify::Callbacks;
use crate::operators::{Actor, Operations};
use crate::sessions::Sessions;
use crate::sessions::hashing::Hashing;
use crate::settings::Settings;
use crate::settle;
use arc_swap::ArcSwap;
use domain::{AccountId, Environment};
use parking_lot::Mutex;
use stages::Stages;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use store::Store;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// Longest wait of a shutdown for the responses of carriers.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(7);

/// The running engine. A clone shares its state.
#[derive(Clone)]
pub struct Engine {
    stages: Arc<Stages>,
    callbacks: Callbacks,
    reports: ReportSink,
    tasks: Arc<Mutex<Tasks>>,
    /// Serialises reloads.
    reloading: Arc<tokio::sync::Mutex<()>>,
}

/// The background tasks.
#[derive(Default)]
struct Tasks {
    /// The carrier workers, by carrier.
    carriers: Vec<(Arc<str>, JoinHandle<()>)>,
    others: Vec<JoinHandle<()>>,
}

/// Returns the configuration of a start.
fn live(settings: &Settings, payments: Payments, numbers: random::Numbers) -> Live {
    Live {
        plan: Plan::new(settings.rules.clone(), numbers),
        carriers: carriers::carriers(settings.carriers.clone()),
        limits: settings.limits,
        retention: settings.retention,
        inbound: settings.inbound.clone(),
        payments: Arc::new(payments),
        mail: settings.mail.clone(),
        sessions: settings.sessions,
    }
}

/// Starts the tasks that follow accounts, users, rates and uses of tokens, and that send answers.
fn follow(stages: &Arc<Stages>) -> [JoinHandle<()>; 6] {
    let clock = stages.context.clock.clone();
    [
        tokio::spawn(Arc::clone(&stages.callers).follow()),
        tokio::spawn(Arc::clone(&stages.callers).follow_uses()),
        tokio::spawn(Arc::clone(&stages.bound).follow()),
        tokio::spawn(Arc::clone(&stages.bound).publish(stages.context.node)),
        tokio::spawn(Arc::clone(&stages.rates).follow(clock)),
        tokio::spawn(answers::run(Arc::clone(stages))),
    ]
}

impl Engine {
    /// Recovers the claims of a previous process, binds to the carriers and starts all tasks.
    pub async fn start(
        store: Store,
        settings: Settings,
        mut system: System,
    ) -> Result<Self, StartError> {
        if store.is_shared() {
            system.clock = system.clock.following();
        }
        let node = system.random.node();
        let connectors = carriers::connectors(&settings.carriers)?;
        let payments = Payments::new(settings.payments.clone(), &system.network)?;
        let max_guesses = settings.limits.unknown_tokens_per_minute;
        let callers = Arc::new(Callers::new(store.clone(), max_guesses).await?);
        let nodes = Nodes::join(&store, &system.clock, node).await?;
        let (revision, calling) = (callers.revision(), &settings.callbacks);
        let callbacks =
            Callbacks::start(store.clone(), node, calling, system.clone(), revision).await?;
        let numbers = random::Numbers::new(system.clock.now_ms(), &system.random);
        let context = Arc::new(Context {
            live: ArcSwap::from_pointee(live(&settings, payments, numbers)),
            message_ids: random::MessageIds::new(&system.random),
            otp_key: store.otps().server_key(system.random.bytes()).await?,
            commit_share: Arc::default(),
            receipts: crate::context::receipt_hints::ReceiptHints::default(),
            requests: RequestLog::new(system.clock.clone()),
            callbacks: Arc::new(callbacks.clone()),
            nodes,
            inbound: tokio::sync::Notify::new(),
            answers: tokio::sync::Notify::new(),
            holds: HeldAccounts::default(),
            controls: Controls::default(),
            stops: StoppedMessages::default(),
            follower: tokio::sync::Mutex::new(ClockFollower::new(&system.clock)),
            store: store.clone(),
            clock: system.clock,
            random: system.random,
            network: system.network,
            node,
        });
        let mut tasks = Tasks::default();
        let changes = callers.revision();
        let guards = Guards::start(&context, settings.guards, changes, &mut tasks.others).await?;
        takeover::at_start(&context).await?;
        // A paused carrier submits nothing after a restart either.
        controls::load(&context).await?;
        let rates = Arc::new(Rates::new(&store));
        let bound = Arc::new(BoundUsers::new(store, Arc::clone(&callers)));
        let (queue, accepting) = accept::start(Arc::clone(&context), settings.limits.accept_queue);
        let reports = settle::sink(&context);
        tasks.carriers = carriers::run(&context, &reports, connectors);
        tasks.others.extend(sweeps::start(&context, &callers));
        tasks.others.extend(cluster::run::start(&context, &rates));
        tasks.others.push(accepting);
        let stages = Arc::new(Stages {
            context,
            callers,
            bound,
            rates,
            guards,
            keys: KeysInUse::default(),
            queue,
            hashing: Arc::new(Hashing::new()),
            overviews: Arc::default(),
            is_open: AtomicBool::new(true),
        });
        tasks.others.extend(follow(&stages));
        Ok(Self {
            stages,
            callbacks,
            reports,
            tasks: Arc::new(Mutex::new(tasks)),
            reloading: Arc::default(),
        })
    }

    /// Admits a request. The admission then acts for its caller.
    pub async fn admit(
        &self,
        credentials: Credentials<'_>,
        environment: Environment,
        purpose: Purpose,
    ) -> Result<Admission, NotAdmitted> {
        let admitted = self.stages.admit(credentials, environment, purpose).await?;
        Ok(Admission::new(
            Arc::clone(&self.stages),
            admitted,
            environment,
        ))
    }

    /// Admits a request of a user of the console, who is signed in. It counts against the same rate
    /// limit as requests with a token.
    pub async fn admit_member(
        &self,
        account: AccountId,
        environment: Environment,
        purpose: Purpose,
    ) -> Result<Admission, NotAdmitted> {
        Admission::of_member(&self.stages, account, environment, purpose).await
    }

    /// Returns the entrance of customers who bind by SMPP.
    pub fn smpp(&self) -> SmppEntrance {
        SmppEntrance::new(Arc::clone(&self.stages))
    }

    /// Returns the entrance of payment providers and of customers who pay.
    pub fn payments(&self) -> PaymentDesk {
        let context = Arc::clone(&self.stages.context);
        PaymentDesk { context }
    }

    /// Returns the hook of a carrier for receipts, if this is its secret.
    pub fn carrier_hook(&self, carrier: &str, secret: &str) -> Option<CarrierHook> {
        CarrierHook::open(&self.stages.context, carrier, secret)
    }

    /// Returns the operations for an operator, on the database of this engine.
    pub fn operate(&self, actor: Actor) -> Operations {
        Operations::new(self.stages.context.store.clone(), actor)
    }

    /// Returns the log of refused requests.
    pub fn request_log(&self) -> &RequestLog {
        &self.stages.context.requests
    }

    /// Returns the sessions of the console.
    pub fn sessions(&self) -> Sessions {
        Sessions::new(
            Arc::clone(&self.stages.context),
            Arc::clone(&self.stages.hashing),
        )
    }

    /// Returns the queries of an account for the console, which has checked the session.
    pub fn customer_queries(
        &self,
        account: AccountId,
        environment: Environment,
    ) -> CustomerQueries {
        self.stages.queries(account, environment)
    }

    /// Returns the state of the installation for an operator of the console.
    pub fn installation(&self) -> Installation {
        self.stages.installation()
    }

    /// Returns the prohibited phrases of the configuration. The database has further ones.
    pub fn configured_phrases(&self) -> domain::Prohibited {
        self.stages.guards.configured_phrases()
    }

    /// Returns the groups of contacts of an account, for the console.
    pub fn contacts(&self, account: AccountId) -> Contacts {
        Contacts::new(Arc::clone(&self.stages.context), account)
    }

    /// Returns the sends of an account to its uploads, for the console.
    pub fn upload_sends(&self, account: AccountId, environment: Environment) -> UploadSends {
        UploadSends::new(Arc::clone(&self.stages), account, environment)
    }

    /// Returns `true` if sends are accepted: no shutdown has begun, and the heartbeat of this node
    /// is current.
    pub fn is_ready(&self) -> bool {
        self.stages.is_open.load(Ordering::Relaxed) && self.stages.context.nodes.holds()
    }

    /// Subscribes to the number of requested configuration reloads.
    pub fn reloads(&self) -> watch::Receiver<i64> {
        self.stages.callers.reloads()
    }

    /// Replaces the settings. The callbacks and the length of the accept queue keep their values
    /// until a restart.
    ///
    /// # Errors
    /// Fails if the TLS settings of a carrier are unusable or the database failed. Nothing has
    /// changed then.
    pub async fn reload(&self, settings: Settings) -> Result<Reloaded, StartError> {
        let context = &self.stages.context;
        let _one = self.reloading.lock().await;
        let before = context.live.load_full();
        let (carriers, new) = reload::merge_carriers(&before, settings.carriers)?;
        let payments = Payments::new(settings.payments, &context.network)?;
        let plan = before.plan.with(settings.rules);
        let guards = self
            .stages
            .guards
            .reload(context, settings.guards, &plan.rules);
        let following = guards.await?;
        let after = Arc::new(Live {
            plan,
            carriers,
            limits: settings.limits,
            retention: settings.retention,
            inbound: settings.inbound.clone(),
            payments: Arc::new(payments),
            mail: settings.mail,
            sessions: settings.sessions,
        });
        self.stages
            .callers
            .limit_guesses(settings.limits.unknown_tokens_per_minute);

        let mut tasks = self.tasks.lock();
        tasks.others.extend(following);
        if !self.stages.is_open.load(Ordering::Relaxed) {
            return Ok(Reloaded::default());
        }
        context.live.store(Arc::clone(&after));
        let both = (&*before, &*after);
        let carriers = &mut tasks.carriers;
        Ok(reload::replace_carriers(
            context,
            &self.reports,
            carriers,
            both,
            new,
        ))
    }

    /// Refuses further sends, finishes pending submits, unbinds, and closes the database.
    pub async fn shutdown(&self) {
        self.stages.is_open.store(false, Ordering::Relaxed);
        let tasks = {
            // A reload either starts its carriers before this, or finds that the engine is closed.
            let mut tasks = self.tasks.lock();
            self.stages
                .context
                .live()
                .carriers
                .iter()
                .for_each(|one| one.close());
            std::mem::take(&mut *tasks)
        };
        let carriers = async {
            for (_, task) in tasks.carriers {
                if task.await.is_err() {
                    tracing::error!("carrier worker: ended by a panic");
                }
            }
        };
        if tokio::time::timeout(SHUTDOWN_TIMEOUT, carriers)
            .await
            .is_err()
        {
            tracing::warn!(
                "carriers: no response before shutdown, unanswered submits are in doubt"
            );
        }
        self.callbacks.shutdown().await;
        for task in tasks.others {
            task.abort();
            // The error only reports that the task was aborted.
            let _ = task.await;
        }
        if let Err(error) = self
            .stages
            .context
            .store
            .nodes()
            .leave(self.stages.context.node)
            .await
        {
            tracing::warn!(%error, "shutdown: other nodes not notified, they notice within seconds");
        }
        self.stages.context.store.close().await;
    }
}
