//! The state of the installation for operators: carriers, nodes and queues.

use crate::background::gauges;
use crate::context::Context;
use crate::context::carrier::Carrier;
use crate::context::live::Live;
use crate::context::metrics::Depths;
use crate::error::{Error, within};
use crate::queries::overviews::{Overviews, UsageOverview};
use crate::queries::scope::Scope;
use domain::carrier_control::CarrierControl;
use domain::search::UsageBy;
use domain::{Environment, Rulebook};
use smpp::LoggedPdu;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Bind, Doubtful};
use tokio::time::Instant;

/// Maximum number of recipients in doubt that are listed.
const MAX_DOUBTFUL: u32 = 100;

/// The state of a carrier over all nodes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CarrierState {
    /// The name in the configuration.
    pub name: String,
    /// Host and port, or the URL of a server of HTTP.
    pub address: String,
    /// The `system_id` of the bind. A carrier by HTTP has none.
    pub system_id: Option<String>,
    /// Number of configured connections.
    pub binds: usize,
    /// Number of bound connections.
    pub bound: usize,
    /// Size of the in-flight window of a connection.
    pub window: usize,
    /// Maximum number of submits a second.
    pub max_per_second: Option<u32>,
    /// The control by operators.
    pub control: CarrierControl,
    /// Recipients that wait for the carrier.
    pub queue: Queue,
}

/// The recipients that wait for a carrier.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Queue {
    /// All of them.
    pub waiting: u64,
    /// The ones of `waiting` that quiet hours or the status of their account hold.
    pub held: u64,
    /// Recipients in doubt.
    pub in_doubt: u64,
    /// The due time of the oldest that no node has claimed.
    pub oldest_due_ms: Option<i64>,
}

/// A node of the installation.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NodeState {
    /// Host and process, such as `host:1234`.
    pub name: String,
    /// `true` for the node that answers.
    pub is_this: bool,
}

/// The installation. It is read by operators alone.
#[derive(Clone)]
pub struct Installation {
    pub(super) context: Arc<Context>,
    pub(super) live: Arc<Live>,
    pub(super) overviews: Arc<Overviews>,
}

impl Installation {
    /// Returns the rules of the configuration: gateways, prices and carriers.
    pub fn rules(&self) -> &Rulebook {
        &self.live.plan.rules
    }

    /// Returns the carriers in the order of the configuration.
    pub async fn carriers(&self) -> Result<Vec<CarrierState>, Error> {
        let ((depths, oldest), binds, controls) = within(async {
            let store = &self.context.store;
            let queues = self.queues().await?;
            let binds = store.nodes().binds().await?;
            let controls = store.carrier_controls().all().await?.into_iter();
            let controls = controls.map(|one| (one.carrier, one.control));
            Ok((queues, binds, controls.collect::<BTreeMap<_, _>>()))
        })
        .await?;
        let states = self.live.carriers.iter().filter_map(|carrier| {
            let settings = carrier.settings.as_ref()?;
            let of = |counts: &BTreeMap<String, i64>| {
                let count = counts.get(&settings.name).copied();
                count.unwrap_or_default().unsigned_abs()
            };
            Some(CarrierState {
                name: settings.name.clone(),
                address: settings.address().to_owned(),
                system_id: settings.smpp().map(|smpp| smpp.system_id.clone()),
                binds: settings.binds,
                bound: self.bound(carrier, &binds),
                window: settings.window,
                max_per_second: settings.max_per_second,
                control: controls.get(&settings.name).copied().unwrap_or_default(),
                queue: Queue {
                    waiting: of(&depths.queued),
                    held: of(&depths.held),
                    in_doubt: of(&depths.in_doubt),
                    oldest_due_ms: oldest.get(&settings.name).copied(),
                },
            })
        });
        Ok(states.collect())
    }

    /// Returns the last PDUs between this node and a carrier with their times in Unix milliseconds,
    /// the newest first.
    pub fn last_pdus(&self, carrier: &str) -> Vec<(i64, LoggedPdu)> {
        let Some(carrier) = self.live.carrier(carrier) else {
            return Vec::new();
        };
        let (now, now_ms) = (Instant::now(), self.context.clock.now_ms());
        let pdus = carrier.pdus.newest_first().into_iter();
        let timed = pdus.map(|pdu| {
            let age = now.saturating_duration_since(pdu.at).as_millis();
            (now_ms - i64::try_from(age).unwrap_or_default(), pdu)
        });
        timed.collect()
    }

    /// Returns the nodes.
    pub async fn nodes(&self) -> Result<Vec<NodeState>, Error> {
        let names = self.context.store.nodes().names();
        let names = within(async { Ok(names.await?) }).await?;
        let nodes = names.into_iter().map(|(node, name)| NodeState {
            name,
            is_this: node == self.context.node,
        });
        Ok(nodes.collect())
    }

    /// Returns some recipients in doubt, the oldest of them first.
    pub async fn doubtful(&self) -> Result<Vec<Doubtful>, Error> {
        within(async {
            let mut all = Vec::new();
            for bucket in self.context.store.buckets() {
                let queues = self.context.store.queues();
                all.extend(queues.doubtful(bucket, MAX_DOUBTFUL).await?);
            }
            all.sort_by_key(|one| one.submitted_at_ms);
            all.truncate(MAX_DOUBTFUL as usize);
            Ok(all)
        })
        .await
    }

    /// Returns the number of callbacks by state.
    pub async fn callbacks(&self) -> Result<BTreeMap<String, i64>, Error> {
        within(async {
            let mut counts = BTreeMap::new();
            for bucket in self.context.store.buckets() {
                gauges::add_callbacks(&self.context.store, bucket, &mut counts).await?;
            }
            Ok(counts)
        })
        .await
    }

    /// Returns the usage of all accounts since a time, within the limits of an overview.
    pub async fn usage_overview(&self, since_ms: i64, by: UsageBy) -> Result<UsageOverview, Error> {
        let scope = Scope {
            store: &self.context.store,
            account: None,
            environment: Environment::Live,
            now_ms: self.context.clock.now_ms(),
            plan: &self.live.plan.rules.plan,
            rules: None,
        };
        within(self.overviews.read(&scope, since_ms, by)).await
    }

    /// Returns the number of bound connections. A process that is alone keeps them in memory.
    fn bound(&self, carrier: &Carrier, binds: &BTreeMap<String, Vec<Bind>>) -> usize {
        if !self.context.nodes.is_shared() {
            return carrier.bound().len();
        }
        let rows = binds.get(&*carrier.name).map_or(&[][..], Vec::as_slice);
        rows.iter().filter(|bind| bind.bound).count()
    }

    /// Returns the lengths of the queues, and the due time of the oldest batch of each carrier.
    async fn queues(&self) -> database::Result<(Depths, BTreeMap<String, i64>)> {
        let store = &self.context.store;
        let quiet_until_ms = self.live.plan.quiet_until(self.context.clock.now_ms());
        let mut depths = Depths::default();
        for bucket in store.buckets() {
            gauges::add_queues(store, bucket, quiet_until_ms, &mut depths).await?;
        }
        let mut oldest = BTreeMap::new();
        for (carrier, due_at_ms) in store.queues().next_due().await? {
            let known = oldest.entry(carrier).or_insert(due_at_ms);
            *known = due_at_ms.min(*known);
        }
        Ok((depths, oldest))
    }
}
