//! How a client binds, and how its session behaves.

use crate::pdu::BindKind;
use std::fmt;
use std::time::Duration;

/// The largest window that is granted: more unanswered requests than this serve no carrier.
pub const MAX_WINDOW: usize = 10_000;

/// How to bind, and how to behave then.
#[derive(Clone)]
pub struct BindOptions {
    /// The kind of the connection.
    pub kind: BindKind,
    /// The name of this client; at most 15 octets.
    pub system_id: String,
    /// At most [`MAX_PASSWORD_OCTETS`](crate::MAX_PASSWORD_OCTETS).
    pub password: String,
    /// Usually empty; at most 12 octets.
    pub system_type: String,
    /// Type of number of the addresses served; 0 normally.
    pub addr_ton: u8,
    /// Numbering plan of the addresses served; 0 normally.
    pub addr_npi: u8,
    /// Usually empty; at most 40 octets.
    pub address_range: String,
    /// How many requests may be unanswered at a time: 1 to [`MAX_WINDOW`].
    pub window: usize,
    /// After how long a silence the link is probed; zero: never. Sooner where a response was missed in silence. Until
    /// something comes nothing more is submitted.
    pub enquire_link: Duration,
    /// How long a response, also to a probe, is waited for.
    pub response_timeout: Duration,
    /// How long the response to the bind is waited for, and by [`crate::connect`] the connection before it.
    pub bind_timeout: Duration,
    /// Send optional parameters also to a peer that does not announce version 3.4.
    pub always_send_tlvs: bool,
}

impl Default for BindOptions {
    fn default() -> Self {
        Self {
            kind: BindKind::Transceiver,
            system_id: String::new(),
            password: String::new(),
            system_type: String::new(),
            addr_ton: 0,
            addr_npi: 0,
            address_range: String::new(),
            window: 10,
            enquire_link: Duration::from_secs(30),
            response_timeout: Duration::from_mins(1),
            bind_timeout: Duration::from_secs(10),
            always_send_tlvs: false,
        }
    }
}

/// Without the password.
impl fmt::Debug for BindOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BindOptions")
            .field("kind", &self.kind)
            .field("system_id", &self.system_id)
            .field("window", &self.window)
            .field("enquire_link", &self.enquire_link)
            .field("response_timeout", &self.response_timeout)
            .finish_non_exhaustive()
    }
}
