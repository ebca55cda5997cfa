//! The state that the pages share.

use crate::http::context::Settings;
use arc_swap::ArcSwap;
use engine::Engine;
use std::sync::Arc;

/// The state that the pages share.
pub struct Console {
    /// The engine.
    pub engine: Engine,
    /// The settings that a reload replaces.
    pub settings: Arc<ArcSwap<Settings>>,
    /// The origin at which browsers reach the service, if the configuration names it.
    pub public_origin: Option<String>,
    /// `true` if browsers use TLS. Cookies are then sent over TLS alone.
    pub is_https: bool,
}
