//! The HTTP server: every route, and the way from a request to the engine and back.
//!
//! A handler in `api` does three steps: extract, call the engine, respond. `extract` finds the
//! caller and reads the fields. `respond` holds the envelopes, the one table from refusals to
//! codes, and the request id. `docs` describes the interface. The HTTP server decides nothing about
//! a message, and imports neither SQL nor SMPP.

mod api;
mod carrier_hooks;
mod console;
mod context;
mod docs;
mod extract;
mod head;
mod ops;
mod payments;
mod respond;
mod serve;

pub(crate) use api::messages::{MessageItem, TimelineData};
pub(crate) use api::usage::UsageItem;
pub use console::{Access, Console, Route, SmppServers, routes};
pub use context::{Settings, State};
pub use docs::document::Document;
pub use docs::installation::Installation;
pub use extract::body::memory::BodyMemory;
pub use extract::body::{BodyLimits, read_send};
pub use respond::codes::Codes;
pub(crate) use respond::error::kind as refusal_kind;
pub use serve::{ConnectionLimits, serve};

use api::{
    account, alerts, balance, exports, inbound, inbound_answers, messages, opt_outs, otp, quote,
    reports, send, senders, smpp_users, sub_accounts, tokens, top_ups, usage, wallet, webhooks,
};
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::Redirect;
use axum::routing::{MethodRouter, delete, get, patch, post};
use context::Api;
use docs::page;
use domain::Environment;
use ops::probes;
use payments::{hooks, pages};
use respond::error::Shape;
use respond::{fallback, observe};
use std::sync::Arc;

/// Returns the route of the metrics, for an address of their own.
pub fn metrics_router(state: State) -> Router {
    Router::new()
        .route("/metrics", get(probes::metrics))
        .fallback(fallback::unknown_path)
        .layer(from_fn_with_state(state.codes.clone(), observe::observe))
        .with_state(state)
}

/// Returns all routes, with `/metrics` if it is shared with the API, and the console if it is
/// enabled.
pub fn router(state: State, pages: Option<Console>, shows_metrics: bool) -> Router {
    let live = Api::new(&state, Environment::Live, Shape::V2);
    let sandbox = Api::new(&state, Environment::Sandbox, Shape::V2);
    let legacy = Api::new(&state, Environment::Live, Shape::V1);
    let router = Router::new()
        .merge(interface("/api/v2").with_state(Arc::clone(&live)))
        .merge(live_only().with_state(live))
        .merge(interface("/api/sandbox/v2").with_state(sandbox))
        .route("/api/v1/sms/create", sending().with_state(legacy))
        .route(
            "/hooks/carriers/{name}/{secret}",
            post(carrier_hooks::receive),
        )
        .route("/hooks/payments/{provider}", post(hooks::receive))
        .route("/payments/return/{top_up_id}", get(pages::returned))
        .route(
            "/payments/sandbox/{top_up_id}",
            get(pages::sandbox).post(pages::pay),
        )
        .route("/healthz", get(probes::alive))
        .route("/readyz", get(probes::ready));
    let router = documented(router);
    let router = if shows_metrics {
        router.route("/metrics", get(probes::metrics))
    } else {
        router
    };
    let router = match pages {
        Some(pages) => router.merge(console::router(Arc::new(pages))),
        None => router,
    };
    router
        .fallback(fallback::unknown_path)
        .method_not_allowed_fallback(fallback::method_not_allowed)
        .layer(from_fn_with_state(state.codes.clone(), observe::observe))
        .with_state(state)
}

/// Returns the routes that the sandbox does not have: the changes of what an account owns, and
/// its SMPP users.
fn live_only() -> Router<Arc<Api>> {
    Router::new()
        .route("/api/v2/webhooks/secrets", post(webhooks::make_secret))
        .route(
            "/api/v2/webhooks/secrets/{secret_id}",
            delete(webhooks::revoke_secret),
        )
        .route("/api/v2/webhooks/replay", post(webhooks::replay))
        .route("/api/v2/sub-accounts", post(sub_accounts::make))
        .route(
            "/api/v2/sub-accounts/{sub_account_id}",
            patch(sub_accounts::change),
        )
        .route(
            "/api/v2/sub-accounts/{sub_account_id}/transfer",
            post(sub_accounts::transfer),
        )
        .route("/api/v2/inbound/routes", post(inbound::add_route))
        .route(
            "/api/v2/inbound/routes/{route_id}",
            delete(inbound::remove_route),
        )
        .route("/api/v2/inbound/answers", patch(inbound_answers::change))
        .route("/api/v2/opt-outs", post(opt_outs::add))
        .route("/api/v2/opt-outs/{recipient}", delete(opt_outs::remove))
        .route("/api/v2/alerts", post(alerts::add))
        .route("/api/v2/alerts/{alert_id}", delete(alerts::remove))
        .route("/api/v2/tokens", post(tokens::make))
        .route("/api/v2/tokens/{token_id}", delete(tokens::revoke))
        .route(
            "/api/v2/smpp-users",
            get(smpp_users::list).post(smpp_users::make),
        )
        .route("/api/v2/smpp-users/{system_id}", delete(smpp_users::revoke))
}

/// Adds the routes of the documentation.
fn documented(router: Router<State>) -> Router<State> {
    router
        .route("/", get(|| async { Redirect::temporary("/docs") }))
        .route("/docs", get(page::page))
        .route("/docs/docs.css", get(page::style))
        .route("/docs/docs.js", get(page::script))
        .route("/docs/elements.js", get(page::elements))
        .route("/docs/interface.js", get(page::interface))
        .route("/docs/icon.svg", get(page::icon))
        .route("/openapi.json", get(page::document))
}

/// Returns the routes of docs/spec/interface.md, section 1, with the aliases that existing clients
/// use, and those of docs/spec/finding.md. The routes are not nested, since nesting adds two layers
/// to each.
fn interface(prefix: &str) -> Router<Arc<Api>> {
    let at = |path: &str| format!("{prefix}{path}");
    owned(&at)
        .route(&at("/sms"), sending())
        .route(&at("/sms/create"), sending())
        .route(&at("/sms/quote"), post(quote::quote))
        .route(&at("/sms/personalised"), post(send::send_personalised))
        .route(
            &at("/sms/personalised/quote"),
            post(quote::quote_personalised),
        )
        .route(&at("/otp"), post(otp::create))
        .route(&at("/otp/{otp_id}"), get(otp::read))
        .route(&at("/otp/{otp_id}/verify"), post(otp::verify))
        .route(&at("/otp/{otp_id}/resend"), post(otp::resend))
        .route(&at("/otp/{otp_id}/cancel"), post(otp::cancel))
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
        .route(
            &at("/sender-ids"),
            get(senders::senders).post(senders::request),
        )
        .route(&at("/account"), get(account::account))
        .route(&at("/messages"), get(messages::messages))
        .route(&at("/messages/{message_id}"), get(messages::message))
        .route(&at("/messages/{message_id}/cancel"), post(messages::cancel))
        .route(&at("/messages/{message_id}/pause"), post(messages::pause))
        .route(&at("/messages/{message_id}/resume"), post(messages::resume))
        .route(
            &at("/messages/{message_id}/reschedule"),
            post(messages::reschedule),
        )
        .route(
            &at("/messages/{message_id}/recipients"),
            get(messages::recipients),
        )
        .route(
            &at("/messages/{message_id}/recipients/{recipient}"),
            get(messages::recipient),
        )
}

/// Returns the routes of what an account owns, at the paths of an environment.
fn owned(at: &impl Fn(&str) -> String) -> Router<Arc<Api>> {
    Router::new()
        .route(&at("/inbound"), get(inbound::messages))
        .route(&at("/inbound/routes"), get(inbound::routes))
        .route(&at("/inbound/answers"), get(inbound_answers::read))
        .route(&at("/sub-accounts"), get(sub_accounts::list))
        .route(
            &at("/sub-accounts/{sub_account_id}"),
            get(sub_accounts::read),
        )
        .route(&at("/tokens"), get(tokens::list))
        .route(&at("/webhooks/secrets"), get(webhooks::secrets))
        .route(&at("/webhooks/dead"), get(webhooks::dead))
        .route(&at("/webhooks/attempts"), get(webhooks::attempts))
        .route(&at("/exports/recipients.csv"), get(exports::recipients))
        .route(&at("/exports/wallet.csv"), get(exports::wallet))
        .route(&at("/exports/opt-outs.csv"), get(exports::opt_outs))
        .route(&at("/opt-outs"), get(opt_outs::list))
        .route(&at("/usage"), get(usage::usage))
        .route(&at("/wallet/entries"), get(wallet::entries))
        .route(&at("/alerts"), get(alerts::list))
        .route(&at("/top-ups"), get(top_ups::list).post(top_ups::create))
        .route(&at("/top-ups/{top_up_id}"), get(top_ups::read))
        .route(&at("/top-ups/{top_up_id}/receipt"), get(top_ups::receipt))
}

/// GET and POST send a message. HEAD must not, though a GET handler would answer it.
fn sending() -> MethodRouter<Arc<Api>> {
    get(send::send)
        .post(send::send)
        .head(fallback::send_by_get_or_post)
        .fallback(fallback::send_by_get_or_post)
}
