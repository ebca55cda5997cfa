//! The codec of PDUs. Decoded PDUs borrow from the read buffer.
//!
//! Decoding is lenient: it accepts every PDU whose fields have clear boundaries, whatever their
//! lengths and contents. Encoding is strict: it rejects a PDU that SMPP 3.4 does not allow, and
//! writes nothing.

mod decode;
mod encode;
mod fields;
mod pdu;
mod reader;
mod requests;

pub use decode::decode;
pub use encode::{encode, encode_empty};
pub(crate) use fields::text;
pub use fields::{AddressFields, BindFields, BindRespFields, Sm};
pub use pdu::{Malformed, Pdu};
pub use requests::{
    CancelFields, Destination, DestinationIter, Destinations, FailedDestination, MAX_DESTINATIONS,
    QueryFields, QueryRespFields, SubmitMultiRespFields,
};

#[cfg(test)]
mod tests;
