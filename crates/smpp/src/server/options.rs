//! How a server treats its clients.

use std::time::Duration;

/// How a server treats its clients.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The name of the server in its bind responses; at most 15 octets.
    pub system_id: String,
    /// The version in bind responses. `None` leaves it out, as servers of version 3.3 do.
    pub interface_version: Option<u8>,
    /// How long a client may take to bind; zero is for ever.
    pub bind_timeout: Duration,
    /// After how long a silence a bound client is probed; zero is never.
    pub enquire_link: Duration,
    /// How long a client may take to answer a `deliver_sm`, a probe or an `unbind`; zero is for ever.
    pub response_timeout: Duration,
    /// How long the response to the client's `unbind` waits for the answers that it is still owed.
    pub unbind_timeout: Duration,
    /// How many requests of the client may wait for their answer. Others are refused with
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
            unbind_timeout: Duration::from_secs(1),
            max_pending: 1_000,
        }
    }
}

/// The version that is spoken: SMPP 3.4. A client of version 5.0 is answered with it and falls back to it.
pub const INTERFACE_VERSION: u8 = 0x34;
