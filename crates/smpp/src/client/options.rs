//! The options of a bind and its session.

use crate::pdu::BindKind;
use crate::pdu_log::PduLog;
use std::fmt;
use std::time::Duration;

/// Largest allowed window. No carrier accepts more unanswered requests.
pub const MAX_WINDOW: usize = 10_000;

/// The options of a bind and its session.
#[derive(Clone)]
pub struct BindOptions {
    /// The kind of the connection.
    pub kind: BindKind,
    /// The `system_id` of this client, at most 15 octets.
    pub system_id: String,
    /// The password, at most [`MAX_PASSWORD_OCTETS`](crate::MAX_PASSWORD_OCTETS).
    pub password: String,
    /// The `system_type`, usually empty, at most 12 octets.
    pub system_type: String,
    /// Type of number of the served addresses, usually 0.
    pub addr_ton: u8,
    /// Numbering plan of the served addresses, usually 0.
    pub addr_npi: u8,
    /// The served addresses, usually empty, at most 40 octets.
    pub address_range: String,
    /// Size of the in-flight window, from 1 to [`MAX_WINDOW`].
    pub window: usize,
    /// Idle time after which an `enquire_link` is sent, or zero for never. It is sent earlier after
    /// a missed response. No further submits are sent until the peer answers.
    pub enquire_link: Duration,
    /// Timeout of a response, also to an `enquire_link`.
    pub response_timeout: Duration,
    /// Timeout of the response to the bind. With [`crate::connect`], it is also the timeout of the
    /// connection.
    pub bind_timeout: Duration,
    /// `true` sends optional parameters also to a peer that does not announce version 3.4.
    pub always_send_tlvs: bool,
    /// The log of the last PDUs. Connections of one carrier share it.
    pub pdus: PduLog,
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
            pdus: PduLog::default(),
        }
    }
}

/// The password is left out.
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
