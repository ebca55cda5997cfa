//! The HTTP side: every route, and the way from a request to the engine and back.
//!
//! A handler reads like a sentence: extract (`call`), call the engine, envelope (`envelope`).
//! `call` finds the caller and judges standing and rate before anything of the request is understood,
//! `fields` reads a send from every form that it may have, `error` holds the one table from refusals to
//! codes, `observe` gives every answer its request id, and `openapi` describes all of it.
//! Nothing here decides about a message, and nothing here knows SQL or SMPP.

mod account;
mod balance;
mod body;
mod call;
mod client;
mod codes;
mod docs;
mod envelope;
mod error;
mod fields;
mod form;
mod json;
mod observe;
mod openapi;
mod probes;
mod reports;
mod send;
mod senders;
mod serve;
mod token;

pub use body::room::Rooms;
pub use body::{Limits as BodyLimits, read_send};
pub use codes::Codes;
pub use openapi::{Document, Installation};
pub use serve::{Places, serve};

use arc_swap::ArcSwap;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::Redirect;
use axum::routing::{MethodRouter, get};
use domain::Environment;
use domain::client::AddressRange;
use engine::Engine;
use error::Shape;
use std::sync::Arc;

/// What the handlers need.
#[derive(Clone)]
pub struct State {
    /// Everything that a request can bring about.
    pub engine: Engine,
    /// Writes all metrics as Prometheus text.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// What a reload of the configuration replaces.
    pub settings: Arc<ArcSwap<Settings>>,
    /// How much of all bodies is in memory at once.
    pub rooms: Rooms,
    /// How codes are written.
    pub codes: Codes,
}

/// What holds of the configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is read of a request's body.
    pub body: BodyLimits,
    /// Proxies that are believed when they say whom they speak for.
    pub trusted_proxies: Vec<AddressRange>,
    /// The description of the interface as this installation offers it.
    pub document: Document,
}

/// What the handlers of one version of the interface need: the same functions serve live and sandbox. Every request
/// has a hold of it.
struct Api {
    engine: Engine,
    environment: Environment,
    shape: Shape,
    settings: Arc<ArcSwap<Settings>>,
    rooms: Rooms,
    codes: Codes,
}

impl Api {
    fn new(state: &State, environment: Environment, shape: Shape) -> Arc<Self> {
        Arc::new(Self {
            engine: state.engine.clone(),
            environment,
            shape,
            settings: Arc::clone(&state.settings),
            rooms: state.rooms.clone(),
            codes: state.codes.clone(),
        })
    }
}

/// The metrics alone, for an address of their own.
pub fn metrics_router(state: State) -> Router {
    Router::new()
        .route("/metrics", get(probes::metrics))
        .fallback(error::unknown_path)
        .layer(from_fn_with_state(state.codes.clone(), observe::observe))
        .with_state(state)
}

/// All routes, with `/metrics` where they are shown to everybody.
pub fn router(state: State, shows_metrics: bool) -> Router {
    let live = Api::new(&state, Environment::Live, Shape::V2);
    let sandbox = Api::new(&state, Environment::Sandbox, Shape::V2);
    let legacy = Api::new(&state, Environment::Live, Shape::V1);
    let router = Router::new()
        .merge(interface("/api/v2").with_state(live))
        .merge(interface("/api/sandbox/v2").with_state(sandbox))
        .route("/api/v1/sms/create", sending().with_state(legacy))
        .route("/", get(|| async { Redirect::temporary("/docs") }))
        .route("/docs", get(docs::page))
        .route("/docs/docs.css", get(docs::style))
        .route("/docs/docs.js", get(docs::script))
        .route("/docs/elements.js", get(docs::elements))
        .route("/docs/interface.js", get(docs::interface))
        .route("/docs/icon.svg", get(docs::icon))
        .route("/openapi.json", get(openapi::document))
        .route("/healthz", get(probes::alive))
        .route("/readyz", get(probes::ready));
    let router = if shows_metrics {
        router.route("/metrics", get(probes::metrics))
    } else {
        router
    };
    router
        .fallback(error::unknown_path)
        .method_not_allowed_fallback(error::method_not_allowed)
        .layer(from_fn_with_state(state.codes.clone(), observe::observe))
        .with_state(state)
}

/// The five operations of docs/spec/interface.md, section 1, with the aliases that existing clients use. Not nested: that
/// would put two more layers around each route.
fn interface(prefix: &str) -> Router<Arc<Api>> {
    let at = |path| format!("{prefix}{path}");
    Router::new()
        .route(&at("/sms"), sending())
        .route(&at("/sms/create"), sending())
        .route(&at("/balance"), get(balance::balance))
        .route(&at("/balance/get"), get(balance::balance))
        .route(&at("/delivery-reports"), get(reports::report))
        .route(
            &at("/delivery-reports/{message_id}"),
            get(reports::report_of),
        )
        .route(&at("/sms/delivery-reports"), get(reports::report))
        .route(
            &at("/sms/delivery-reports/{message_id}"),
            get(reports::report_of),
        )
        .route(&at("/delivery"), get(reports::report))
        .route(&at("/sender-ids"), get(senders::senders))
        .route(&at("/account"), get(account::account))
}

/// GET and POST send; HEAD must not, though a GET handler would answer it.
fn sending() -> MethodRouter<Arc<Api>> {
    get(send::send)
        .post(send::send)
        .head(error::send_by_get_or_post)
        .fallback(error::send_by_get_or_post)
}
