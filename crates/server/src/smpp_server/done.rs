//! The results of work that runs beside a conversation.

use super::destinations::List;
use super::refusals::Refused;
use domain::Recipient;
use engine::{Error, HeldReceipts, OpenSubmit, RecipientState, SmppBind};
use smpp::server::Request;
use smpp::{BindKind, CommandStatus};

/// The result of the work for a request.
pub(super) enum Done {
    /// A bind was decided on. The number is the version of the client.
    Bind(Request, BindKind, u8, Result<SmppBind, CommandStatus>),
    /// A message was accepted.
    Accepted(Request, String, OpenSubmit),
    /// A message to a list was accepted.
    AcceptedList(Request, AcceptedList, OpenSubmit),
    /// A request was refused.
    Refused(Request, Refused),
    /// A message was cancelled.
    Cancelled(Request),
    /// A message was queried by this id.
    Queried(Request, String, RecipientState),
    /// So many receipts were claimed at most.
    Claimed(usize, Result<HeldReceipts, Error>),
    /// The outcomes of so many receipts are committed.
    Finished(usize),
}

/// A message to a list.
pub(super) struct AcceptedList {
    /// Its id.
    pub(super) id: String,
    pub(super) list: List,
    /// Its recipients, or `None` if they could not be read.
    pub(super) recipients: Option<Vec<Recipient>>,
    pub(super) takes_vendor_statuses: bool,
}
