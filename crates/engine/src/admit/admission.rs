//! Guards that can change at run time: content rules and velocity limits.

use super::content::Content;
use super::velocity::{Counted, Velocity};
use crate::context::Context;
use crate::error::Error;
use crate::settings::GuardSettings;
use arc_swap::ArcSwapOption;
use domain::{Draft, Environment, Prohibited, Refusal, Rulebook, redact};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use store::{By, Revision};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// The checks of a draft before it enters the accept queue.
#[derive(Clone)]
pub(crate) struct Guards {
    content: Arc<Content>,
    /// `None` while no velocity limit is configured.
    velocity: Arc<ArcSwapOption<Velocity>>,
    revision: watch::Receiver<Revision>,
}

impl Guards {
    /// Loads both guards and starts the tasks that reload them at each new revision.
    pub(crate) async fn start(
        context: &Context,
        settings: GuardSettings,
        revision: watch::Receiver<Revision>,
        tasks: &mut Vec<JoinHandle<()>>,
    ) -> database::Result<Self> {
        let store = &context.store;
        log_rules(context, &settings, &context.live().plan.rules).await?;
        let phrases = Content::load(store, settings.prohibited).await?;
        let velocity =
            Velocity::load(store, settings.velocity, &context.clock, context.node).await?;
        let following = Arc::clone(&phrases).follow(store.clone(), revision.clone());
        tasks.push(tokio::spawn(following));
        if let Some(velocity) = &velocity {
            tasks.push(tokio::spawn(Arc::clone(velocity).follow(revision.clone())));
        }
        Ok(Self {
            content: phrases,
            velocity: Arc::new(ArcSwapOption::new(velocity)),
            revision,
        })
    }

    /// Replaces the settings of both guards. Returns a task that follows paused blocks if velocity
    /// limits were off until now.
    pub(crate) async fn reload(
        &self,
        context: &Context,
        settings: GuardSettings,
        rules: &Rulebook,
    ) -> database::Result<Option<JoinHandle<()>>> {
        let (store, limits) = (&context.store, settings.velocity);
        log_rules(context, &settings, rules).await?;
        let held = self.velocity.load_full();
        let added = match (&held, limits.are_set()) {
            (None, true) => Velocity::load(store, limits, &context.clock, context.node).await?,
            (None, false) | (Some(_), _) => None,
        };
        self.content.configure(store, settings.prohibited).await?;
        let following = added
            .clone()
            .map(|added| added.follow(self.revision.clone()));
        match held {
            Some(held) if limits.are_set() => held.limit(limits),
            Some(_) | None => self.velocity.store(added),
        }
        Ok(following.map(tokio::spawn))
    }

    /// Returns the phrases that no text may contain.
    pub(crate) fn prohibited(&self) -> Arc<Prohibited> {
        self.content.prohibited()
    }

    /// Returns the prohibited phrases of the configuration.
    pub(crate) fn configured_phrases(&self) -> Prohibited {
        self.content.configured()
    }

    /// Returns `true` if live sends are counted.
    pub(crate) fn counts(&self) -> bool {
        self.velocity.load().is_some()
    }

    /// Refuses a live draft that is over a velocity limit, and counts nothing.
    pub(crate) fn check(&self, draft: &Draft) -> Result<(), Refusal> {
        match (&*self.velocity.load(), draft.environment) {
            (Some(velocity), Environment::Live) => {
                velocity.would_allow(draft.account, &draft.recipients)
            }
            (None, _) | (_, Environment::Sandbox) => Ok(()),
        }
    }

    /// Counts the recipients of a live draft against the velocity limits, or refuses the draft.
    /// Returns `None` if no limit is configured or the draft is for the sandbox.
    pub(crate) async fn count(&self, draft: &Draft) -> Result<Option<Counted>, Error> {
        match (self.velocity.load_full(), draft.environment) {
            (Some(velocity), Environment::Live) => {
                let counted = velocity.check(draft.account, &draft.recipients, draft.fingerprint);
                Ok(Some(counted.await?))
            }
            (None, _) | (_, Environment::Sandbox) => Ok(None),
        }
    }
}

/// Writes the current settings of the guards to the audit list.
async fn log_rules(
    context: &Context,
    settings: &GuardSettings,
    rules: &Rulebook,
) -> database::Result<bool> {
    let by = By {
        actor: format!("node:{}", context.node).into(),
        at_ms: context.clock.now_ms(),
    };
    let limits = limits(settings, rules);
    context.store.audited_limits().record(limits, by).await
}

/// Returns the settings of all guards by configuration key, for the audit list.
fn limits(settings: &GuardSettings, rules: &Rulebook) -> Value {
    let velocity = settings.velocity;
    let quiet_hours = rules.gateways.iter().filter_map(|rules| {
        let hours = rules.quiet_hours?.to_string();
        Some((rules.gateway.as_str().to_owned(), hours.into()))
    });
    let quiet_hours: Map<_, _> = quiet_hours.collect();
    let phrases: Vec<_> = settings.prohibited.phrases().map(redact).collect();
    let mut limits = Map::new();
    let mut set = |key: &str, value: Value, is_set: bool| {
        if is_set {
            limits.insert(key.to_owned(), value);
        }
    };
    set(
        "velocity",
        json!({
            "per_recipient_per_hour": velocity.per_recipient,
            "per_block_per_hour": velocity.per_block,
            "pause_ms": velocity.pause_ms,
        }),
        velocity.are_set(),
    );
    set("prohibited", json!(phrases), !phrases.is_empty());
    set("quiet_hours", json!(quiet_hours), !quiet_hours.is_empty());
    limits.into()
}
