//! The web console: pages below `/console` for customers and `/operator` for operators.
//!
//! [`pages`] is the one table of its routes. Each names the access that it needs, and [`page`]
//! checks it before the handler runs. So no page decides who may see it, and a test makes each
//! request of the table as each role.

mod background;
mod browser_request;
mod cookies;
mod failure;
mod form;
mod headers;
mod made;
mod origin;
mod page;
mod pages;
mod spool;
mod state;
mod traffic;
mod visitor;

pub use page::Access;
pub use state::{Console, SmppServers};

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::any;
use page::Page;
use std::sync::Arc;

/// A route of the console, for the tests that make each request as each role.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Route {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// The path, with parts such as `{id}`.
    pub path: &'static str,
    /// The access that it needs.
    pub access: Access,
}

/// Returns all routes with the access that each needs.
pub fn routes() -> Vec<Route> {
    let pages = pages::all().into_iter();
    let routes = pages.map(|page| Route {
        method: page.method,
        path: page.path,
        access: page.access,
    });
    routes.collect()
}

/// Returns the routes of the console.
pub(super) fn router<S: Clone + Send + Sync + 'static>(console: Arc<Console>) -> Router<S> {
    let mut router = Router::new();
    for Page { path, route, .. } in pages::all() {
        router = router.route(path, route);
    }
    for path in ["/console/{*path}", "/operator/{*path}"] {
        router = router.route(path, any(page::unknown_page));
    }
    router.layer(from_fn(headers::secure)).with_state(console)
}
