//! The options of a server's session.

use std::time::Duration;

/// The options of a server's session.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The `system_id` in bind responses, at most 15 octets.
    pub system_id: String,
    /// The version in bind responses. `None` leaves it out, like servers of version 3.3.
    pub interface_version: Option<u8>,
    /// Timeout of the client's bind. Zero is no timeout.
    pub bind_timeout: Duration,
    /// Idle time after which an `enquire_link` is sent. Zero is never.
    pub enquire_link: Duration,
    /// Timeout of the client's answer to `deliver_sm`, `enquire_link` and `unbind`. Zero is no
    /// timeout.
    pub response_timeout: Duration,
    /// Longest delay of the end of a session, and of the response to the client's `unbind`, while
    /// requests are unanswered. Zero ends it at once.
    pub unbind_timeout: Duration,
    /// Maximum number of unanswered requests of the client. Further ones are rejected with
    /// `ESME_RTHROTTLED`.
    pub max_pending: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            system_id: "ogene".to_owned(),
            interface_version: Some(INTERFACE_VERSION),
            bind_timeout: Duration::from_secs(10),
            enquire_link: Duration::from_secs(30),
            response_timeout: Duration::from_mins(1),
            unbind_timeout: Duration::from_secs(10),
            max_pending: 1_000,
        }
    }
}

/// The version of this implementation, SMPP 3.4. A client of version 5.0 falls back to it.
pub const INTERFACE_VERSION: u8 = 0x34;
