//! The state that handlers share.

use super::docs::document::Document;
use super::extract::body::BodyLimits;
use super::extract::body::memory::BodyMemory;
use super::respond::codes::Codes;
use super::respond::error::Shape;
use arc_swap::ArcSwap;
use domain::Environment;
use domain::client_address::AddressRange;
use engine::Engine;
use std::sync::Arc;

/// The state behind all routes.
#[derive(Clone)]
pub struct State {
    /// The engine that every request is passed to.
    pub engine: Engine,
    /// The function that writes all metrics as Prometheus text.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// The settings that a reload of the configuration replaces.
    pub settings: Arc<ArcSwap<Settings>>,
    /// The memory budget of all bodies.
    pub memory: BodyMemory,
    /// The form of codes.
    pub codes: Codes,
}

/// The settings of the HTTP server that a reload replaces.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The limits of a request's body.
    pub body: BodyLimits,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<AddressRange>,
    /// The description of the interface as this installation offers it.
    pub document: Document,
}

/// The state of one version of the interface. Live and sandbox share the handlers, and every
/// request holds this state.
pub(super) struct Api {
    pub(super) engine: Engine,
    pub(super) environment: Environment,
    pub(super) shape: Shape,
    pub(super) settings: Arc<ArcSwap<Settings>>,
    pub(super) memory: BodyMemory,
    pub(super) codes: Codes,
}

impl Api {
    pub(super) fn new(state: &State, environment: Environment, shape: Shape) -> Arc<Self> {
        Arc::new(Self {
            engine: state.engine.clone(),
            environment,
            shape,
            settings: Arc::clone(&state.settings),
            memory: state.memory.clone(),
            codes: state.codes.clone(),
        })
    }
}
