//! SMPP 3.4 for bulk traffic. Reads and writes carry many PDUs, and only PDUs that are returned to
//! the caller are allocated.
//!
//! Each layer is a file. A lower layer does not know the layers above it:
//!
//! | layer | file |
//! |---|---|
//! | where a PDU begins and ends | `frame`, with the numbers in `command` and `status` |
//! | how much of it is kept | `limits` |
//! | what is in it | `pdu` (owned), `tlv`, `codec` (borrowed, octets to PDUs and back) |
//! | what an operator sees of it | `pdu_log`: the last PDUs, masked |
//! | the client's connection | `client`: bind, window, timers, outcomes |
//! | the server's connection | `server`: the same for clients of ours |
//! | what a message means | `receipt` (delivery receipts, ids), `long` (user data headers) |
//! | an SMSC for tests | `simulator`, a script on top of `server` (feature `simulator`) |
//!
//! Encoding is strict and decoding is lenient. A malformed PDU never ends a session, only an
//! impossible `command_length` does. This crate knows no wallets, carriers or HTTP.

mod client;
pub mod codec;
mod command;
mod frame;
mod frame_buffer;
mod limits;
mod long;
mod output;
mod pdu;
mod pdu_log;
mod probe;
pub mod receipt;
pub mod server;
#[cfg(feature = "simulator")]
pub mod simulator;
mod status;
mod tlv;

pub use client::{
    BindError, BindOptions, CloseReason, Counters, Event, EventStream, MAX_QUEUED, MAX_WINDOW,
    Peer, Session, Submit, SubmitOutcome, bind, connect,
};
pub use command::Command;
pub use frame::{
    BrokenLength, Frame, HEADER_OCTETS, Header, MAX_FRAME_OCTETS, MAX_SEQUENCE,
    MAX_SKIPPED_FRAME_OCTETS, first_frame, next_sequence,
};
pub use frame_buffer::FrameBuffer;
pub use limits::{
    MAX_ADDRESS_OCTETS, MAX_MESSAGE_ID_OCTETS, MAX_SYSTEM_ID_OCTETS, MAX_TEXT_OCTETS,
};
pub use long::{Segment, content, udh};
pub use pdu::{
    Address, Bind, BindKind, DeliverSm, MAX_PASSWORD_OCTETS, MAX_SHORT_MESSAGE_OCTETS,
    ShortMessage, SubmitSm, esm_class,
};
pub use pdu_log::{Direction, LoggedPdu, MaskedAddress, PDU_LOG_ROWS, PduLog};
pub use receipt::{Receipt, ReceiptIds, ReceiptState};
pub use status::{CommandStatus, StatusClass};
pub use tlv::{Tlv, TlvIter, Tlvs, tag};
