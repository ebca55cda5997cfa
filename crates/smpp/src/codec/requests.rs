//! The other requests of clients: `submit_multi`, `query_sm` and `cancel_sm`.

use super::fields::AddressFields;
use super::reader::Reader;
use crate::status::CommandStatus;

/// Maximum number of destinations of a `submit_multi` (SMPP 3.4, section 4.5.1).
pub const MAX_DESTINATIONS: usize = 254;

/// The `dest_flag` of an address.
const ADDRESS_FLAG: u8 = 1;
/// The `dest_flag` of a distribution list.
const LIST_FLAG: u8 = 2;

/// One destination of a `submit_multi`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Destination<'a> {
    /// A number.
    Address(AddressFields<'a>),
    /// The name of a distribution list of the server.
    List(&'a [u8]),
}

/// The destinations of a `submit_multi`: their number and encoded fields.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Destinations<'a> {
    pub(super) count: u8,
    pub(super) octets: &'a [u8],
}

/// An iterator over destinations.
#[derive(Clone, Debug)]
pub struct DestinationIter<'a> {
    left: u8,
    fields: Reader<'a>,
}

/// The fields of a `query_sm`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct QueryFields<'a> {
    /// The message id of the server.
    pub message_id: &'a [u8],
    /// The sender of the message.
    pub source: AddressFields<'a>,
}

/// The fields of a `query_sm_resp`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct QueryRespFields<'a> {
    /// The id of the request.
    pub message_id: &'a [u8],
    /// The time of the final state in 16 characters, empty before it.
    pub final_date: &'a [u8],
    /// The `message_state`, see [`ReceiptState::number`](crate::ReceiptState::number).
    pub message_state: u8,
    /// The error code of the network, 0 for none.
    pub error_code: u8,
}

/// The fields of a `cancel_sm`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CancelFields<'a> {
    /// See [`ShortMessage::service_type`](crate::ShortMessage::service_type).
    pub service_type: &'a [u8],
    /// The id of the message. If it is empty, all messages from the source to the destination are
    /// meant.
    pub message_id: &'a [u8],
    /// The sender of the message.
    pub source: AddressFields<'a>,
    /// The recipient of the message.
    pub destination: AddressFields<'a>,
}

/// The fields of a `submit_multi_resp`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SubmitMultiRespFields<'a> {
    /// The id of the message.
    pub message_id: &'a [u8],
    /// The rejected destinations.
    pub failed: &'a [FailedDestination<'a>],
}

/// A rejected destination of a `submit_multi`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FailedDestination<'a> {
    /// The number.
    pub address: AddressFields<'a>,
    /// The reason.
    pub status: CommandStatus,
}

impl<'a> Destinations<'a> {
    /// Appends the encoded fields of one destination, for [`Self::of`].
    pub fn push(octets: &mut Vec<u8>, destination: Destination<'_>) {
        match destination {
            Destination::Address(address) => {
                octets.extend_from_slice(&[ADDRESS_FLAG, address.ton, address.npi]);
                octets.extend_from_slice(address.digits);
            }
            Destination::List(name) => {
                octets.push(LIST_FLAG);
                octets.extend_from_slice(name);
            }
        }
        octets.push(0);
    }

    /// Returns `count` destinations with these encoded fields.
    pub const fn of(count: u8, octets: &'a [u8]) -> Self {
        Self { count, octets }
    }

    /// Returns the number of destinations.
    pub fn count(self) -> usize {
        self.count.into()
    }
}

impl<'a> IntoIterator for Destinations<'a> {
    type Item = Destination<'a>;
    type IntoIter = DestinationIter<'a>;

    fn into_iter(self) -> DestinationIter<'a> {
        DestinationIter {
            left: self.count,
            fields: Reader(self.octets),
        }
    }
}

impl<'a> Iterator for DestinationIter<'a> {
    type Item = Destination<'a>;

    fn next(&mut self) -> Option<Destination<'a>> {
        self.left = self.left.checked_sub(1)?;
        destination(&mut self.fields)
    }
}

/// Reads the destinations of a `submit_multi`. Returns `None` if the boundaries between them are
/// unknown.
pub(super) fn destinations<'a>(fields: &mut Reader<'a>) -> Option<Destinations<'a>> {
    let [count] = fields.octets()?;
    let start = fields.0;
    for _ in 0..count {
        destination(fields)?;
    }
    let octets = start.get(..start.len() - fields.0.len())?;
    Some(Destinations { count, octets })
}

pub(super) fn query<'a>(fields: &mut Reader<'a>) -> Option<QueryFields<'a>> {
    Some(QueryFields {
        message_id: fields.text()?,
        source: fields.last_address()?,
    })
}

pub(super) fn cancel<'a>(fields: &mut Reader<'a>) -> Option<CancelFields<'a>> {
    Some(CancelFields {
        service_type: fields.text()?,
        message_id: fields.text()?,
        source: fields.address()?,
        destination: fields.last_address()?,
    })
}

/// Reads one destination of a `submit_multi`.
fn destination<'a>(fields: &mut Reader<'a>) -> Option<Destination<'a>> {
    match fields.octets()? {
        [ADDRESS_FLAG] => fields.address().map(Destination::Address),
        [LIST_FLAG] => fields.text().map(Destination::List),
        _ => None,
    }
}
