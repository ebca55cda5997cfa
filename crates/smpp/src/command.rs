//! Command ids (SMPP 3.4, section 5.1.2.1).

use std::fmt;

/// The `command_id` of a PDU. Unknown values are allowed.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Command(pub u32);

/// The bit that marks the id of a response.
const RESPONSE: u32 = 0x8000_0000;

/// Declares the known commands with their names.
macro_rules! commands {
    ($($name:ident = $id:literal, $text:literal;)*) => {
        impl Command {
            $(#[doc = concat!("`", $text, "`")] pub const $name: Self = Self($id);)*

            /// Returns the name in the protocol, or `unknown`.
            pub const fn name(self) -> &'static str {
                match self.0 {
                    $($id => $text,)*
                    _ => "unknown",
                }
            }

            /// Returns `true` if SMPP 3.4 defines the command.
            pub const fn is_known(self) -> bool {
                matches!(self.0, $($id)|*)
            }
        }
    };
}

commands! {
    GENERIC_NACK = 0x8000_0000, "generic_nack";
    BIND_RECEIVER = 0x0000_0001, "bind_receiver";
    BIND_RECEIVER_RESP = 0x8000_0001, "bind_receiver_resp";
    BIND_TRANSMITTER = 0x0000_0002, "bind_transmitter";
    BIND_TRANSMITTER_RESP = 0x8000_0002, "bind_transmitter_resp";
    QUERY_SM = 0x0000_0003, "query_sm";
    QUERY_SM_RESP = 0x8000_0003, "query_sm_resp";
    SUBMIT_SM = 0x0000_0004, "submit_sm";
    SUBMIT_SM_RESP = 0x8000_0004, "submit_sm_resp";
    DELIVER_SM = 0x0000_0005, "deliver_sm";
    DELIVER_SM_RESP = 0x8000_0005, "deliver_sm_resp";
    UNBIND = 0x0000_0006, "unbind";
    UNBIND_RESP = 0x8000_0006, "unbind_resp";
    REPLACE_SM = 0x0000_0007, "replace_sm";
    REPLACE_SM_RESP = 0x8000_0007, "replace_sm_resp";
    CANCEL_SM = 0x0000_0008, "cancel_sm";
    CANCEL_SM_RESP = 0x8000_0008, "cancel_sm_resp";
    BIND_TRANSCEIVER = 0x0000_0009, "bind_transceiver";
    BIND_TRANSCEIVER_RESP = 0x8000_0009, "bind_transceiver_resp";
    OUTBIND = 0x0000_000B, "outbind";
    ENQUIRE_LINK = 0x0000_0015, "enquire_link";
    ENQUIRE_LINK_RESP = 0x8000_0015, "enquire_link_resp";
    SUBMIT_MULTI = 0x0000_0021, "submit_multi";
    SUBMIT_MULTI_RESP = 0x8000_0021, "submit_multi_resp";
    ALERT_NOTIFICATION = 0x0000_0102, "alert_notification";
    DATA_SM = 0x0000_0103, "data_sm";
    DATA_SM_RESP = 0x8000_0103, "data_sm_resp";
}

impl Command {
    /// Returns `true` if the command is a response, including `generic_nack`.
    pub const fn is_response(self) -> bool {
        self.0 & RESPONSE != 0
    }

    /// Returns the response to this request.
    #[must_use]
    pub const fn response(self) -> Self {
        Self(self.0 | RESPONSE)
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({:#010x})", self.name(), self.0)
    }
}
