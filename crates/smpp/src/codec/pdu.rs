//! PDUs of all kinds, borrowed from the read buffer.

use super::fields::{BindFields, BindRespFields, Sm};
use super::requests::{
    CancelFields, Destinations, QueryFields, QueryRespFields, SubmitMultiRespFields,
};
use crate::command::Command;
use crate::pdu::BindKind;

/// A PDU.
#[derive(Clone, Copy, Debug)]
pub enum Pdu<'a> {
    /// `bind_transceiver`, `bind_transmitter` or `bind_receiver`.
    Bind(BindKind, BindFields<'a>),
    /// The response to a bind.
    BindResp(BindKind, BindRespFields<'a>),
    /// `submit_sm`
    Submit(Sm<'a>),
    /// `submit_sm_resp` with its `message_id`, which may be empty.
    SubmitResp(&'a [u8]),
    /// `deliver_sm`
    Deliver(Sm<'a>),
    /// `deliver_sm_resp`
    DeliverResp,
    /// `data_sm`
    Data(Sm<'a>),
    /// `data_sm_resp` with its `message_id`.
    DataResp(&'a [u8]),
    /// `submit_multi`: the message without a destination, and its destinations.
    SubmitMulti(Sm<'a>, Destinations<'a>),
    /// `submit_multi_resp`, which is only encoded.
    SubmitMultiResp(SubmitMultiRespFields<'a>),
    /// `query_sm`
    Query(QueryFields<'a>),
    /// `query_sm_resp`, which is only encoded.
    QueryResp(QueryRespFields<'a>),
    /// `cancel_sm`
    Cancel(CancelFields<'a>),
    /// `enquire_link`
    EnquireLink,
    /// `enquire_link_resp`
    EnquireLinkResp,
    /// `unbind`
    Unbind,
    /// `unbind_resp`
    UnbindResp,
    /// `generic_nack`
    GenericNack,
    /// Any other command with its body.
    Other(Command, &'a [u8]),
}

impl Pdu<'_> {
    /// Returns the command of this PDU.
    pub const fn command(&self) -> Command {
        match self {
            Self::Bind(kind, _) => kind.command(),
            Self::BindResp(kind, _) => kind.command().response(),
            Self::Submit(_) => Command::SUBMIT_SM,
            Self::SubmitResp(_) => Command::SUBMIT_SM.response(),
            Self::Deliver(_) => Command::DELIVER_SM,
            Self::DeliverResp => Command::DELIVER_SM.response(),
            Self::Data(_) => Command::DATA_SM,
            Self::DataResp(_) => Command::DATA_SM.response(),
            Self::SubmitMulti(..) => Command::SUBMIT_MULTI,
            Self::SubmitMultiResp(_) => Command::SUBMIT_MULTI.response(),
            Self::Query(_) => Command::QUERY_SM,
            Self::QueryResp(_) => Command::QUERY_SM.response(),
            Self::Cancel(_) => Command::CANCEL_SM,
            Self::EnquireLink => Command::ENQUIRE_LINK,
            Self::EnquireLinkResp => Command::ENQUIRE_LINK.response(),
            Self::Unbind => Command::UNBIND,
            Self::UnbindResp => Command::UNBIND.response(),
            Self::GenericNack => Command::GENERIC_NACK,
            Self::Other(command, _) => *command,
        }
    }
}

/// The boundaries of the mandatory fields of a PDU are unknown. The PDU can be skipped by its
/// length.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the fields of {0} end too early")]
pub struct Malformed(pub Command);
