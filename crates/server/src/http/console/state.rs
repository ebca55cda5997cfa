//! The state that the pages share.

use super::background::{Counting, Verifying};
use super::traffic::Samples;
use crate::http::context::{Settings, State};
use arc_swap::ArcSwap;
use domain::user::passkey::RelyingParty;
use engine::{Engine, MailSettings};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Maximum number of resets at the sign-in whose mail is under way.
const MAX_RESETS: usize = 64;

/// The addresses at which customers bind by SMPP. Without one, they cannot.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SmppServers {
    /// The address without TLS.
    pub plain: Option<SocketAddr>,
    /// The address with TLS.
    pub secured: Option<SocketAddr>,
}

/// The state that the pages share.
pub struct Console {
    /// The engine.
    pub engine: Engine,
    /// The function that writes all metrics as Prometheus text.
    pub metrics: Arc<dyn Fn() -> String + Send + Sync>,
    /// Samples of the traffic of carriers.
    pub(super) samples: Samples,
    /// The verification of this node.
    pub(super) verifying: Verifying,
    /// The addition of the revenue on this node.
    pub(super) counting: Counting,
    /// The settings that a reload replaces.
    pub settings: Arc<ArcSwap<Settings>>,
    /// The origin at which browsers reach the service, if the configuration names it.
    pub public_origin: Option<String>,
    /// The relying party of passkeys, if browsers allow passkeys at the origin.
    pub(super) relying_party: Option<RelyingParty>,
    /// The SMTP server for one-time links. Then the origin is named as well.
    pub mail: Option<MailSettings>,
    /// The places of resets at the sign-in whose mail is under way.
    pub(super) resets: Arc<Semaphore>,
    /// The addresses at which customers bind by SMPP.
    pub smpp: SmppServers,
    /// `true` if browsers use TLS. Cookies are then sent over TLS alone.
    pub is_https: bool,
}

impl Console {
    /// Returns the state of a console behind the routes of the API.
    pub fn new(
        state: &State,
        public_origin: Option<String>,
        mail: Option<MailSettings>,
        smpp: SmppServers,
        is_https: bool,
    ) -> Self {
        Self {
            engine: state.engine.clone(),
            metrics: Arc::clone(&state.metrics),
            samples: Samples::default(),
            verifying: Verifying::default(),
            counting: Counting::default(),
            settings: Arc::clone(&state.settings),
            relying_party: public_origin.as_deref().and_then(RelyingParty::of),
            public_origin,
            mail,
            resets: Arc::new(Semaphore::new(MAX_RESETS)),
            smpp,
            is_https,
        }
    }
}
