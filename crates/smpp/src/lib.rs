//! SMPP 3.4, written for bulk: many PDUs per read and per write, nothing allocated per PDU but what
//! is handed out.
//!
//! One file per layer, and the lower never knows the upper:
//!
//! | layer | file |
//! |---|---|
//! | where a PDU begins and ends | `frame`, with the numbers in `command` and `status` |
//! | how much of it is kept | `limits` |
//! | what is in it | `pdu` (owned), `tlv`, `codec` (borrowed, octets to PDUs and back) |
//! | the client's connection | `session`: bind, window, timers, outcomes |
//! | what a message means | `receipt` (delivery receipts, ids), `long` (user data headers) |
//! | the other side | `smsc`, the simulator (feature `simulator`) |
//!
//! Strict in what is sent, lax in what is taken: one odd PDU never ends a session; only a `command_length` that no
//! PDU can have does. Wallets, carriers and HTTP are deliberately not known here.

pub mod codec;
mod command;
mod frame;
mod input;
mod limits;
mod long;
mod output;
mod pdu;
pub mod receipt;
mod session;
#[cfg(feature = "simulator")]
pub mod smsc;
mod status;
mod tlv;

pub use command::Command;
pub use frame::{
    BrokenLength, Frame, HEADER_OCTETS, Header, MAX_FRAME_OCTETS, MAX_SEQUENCE,
    MAX_SKIPPED_FRAME_OCTETS, first_frame, next_sequence,
};
pub use limits::{
    MAX_ADDRESS_OCTETS, MAX_MESSAGE_ID_OCTETS, MAX_SYSTEM_ID_OCTETS, MAX_TEXT_OCTETS,
};
pub use long::{Segment, udh};
pub use pdu::{
    Address, Bind, BindKind, DeliverSm, MAX_PASSWORD_OCTETS, MAX_SHORT_MESSAGE_OCTETS,
    ShortMessage, SubmitSm, esm_class,
};
pub use receipt::{Receipt, ReceiptIds, ReceiptState};
pub use session::{
    BindError, BindOptions, CloseReason, Counters, Event, EventStream, MAX_QUEUED, MAX_WINDOW,
    Outcome, Peer, Session, Submit, bind, connect,
};
pub use status::{CommandStatus, StatusClass};
pub use tlv::{Tlv, TlvIter, Tlvs, tag};
