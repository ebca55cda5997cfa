//! PDUs to octets and back, borrowed from the buffer they were read into.
//!
//! Decoding is lax: it takes every PDU whose fields can be told apart, whatever their lengths and
//! letters. Encoding is strict: it refuses what SMPP 3.4 does not allow, and writes nothing then.

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
