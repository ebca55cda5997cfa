//! The outcome of a submit, in the same form for each protocol of a carrier.

use domain::SubmitFault;
use smpp::{CommandStatus, StatusClass, SubmitOutcome};

/// The outcome of a submit. `NotSent` and `Unknown` must never be confused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Outcome {
    /// The carrier accepted the submit, under this id. The id is empty if the carrier named none.
    Accepted { message_id: String },
    /// The carrier rejected the submit.
    Rejected(Rejection),
    /// No octet of the submit was sent, so a repetition cannot be a duplicate.
    NotSent,
    /// The carrier refused a request with several recipients and accepted none of them. It did not
    /// name the recipient that it refuses.
    RefusedTogether,
    /// The submit was sent at least in part, and no response arrived. The carrier may have it.
    Unknown,
}

impl From<SubmitOutcome> for Outcome {
    fn from(outcome: SubmitOutcome) -> Self {
        match outcome {
            SubmitOutcome::Accepted { message_id } => Self::Accepted { message_id },
            SubmitOutcome::Rejected(status) => Self::Rejected(Rejection::Smpp(status)),
            SubmitOutcome::NotSent => Self::NotSent,
            SubmitOutcome::Unknown => Self::Unknown,
        }
    }
}

/// The rejection of a submit, in the words of its carrier.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Rejection {
    /// The `command_status` of a response.
    Smpp(CommandStatus),
    /// The answer to a request.
    Http(HttpRejection),
}

/// A rejecting answer to a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct HttpRejection {
    pub(crate) fault: SubmitFault,
    /// The carrier's word.
    pub(crate) error: String,
    /// The label for metrics, from a small set.
    pub(crate) label: String,
}

impl Rejection {
    /// Returns the fault, which decides the next step.
    pub(crate) const fn fault(&self) -> SubmitFault {
        match self {
            Self::Smpp(status) => fault(*status),
            Self::Http(rejection) => rejection.fault,
        }
    }

    /// Returns the error that is stored with a rejected recipient.
    pub(crate) fn error(&self) -> String {
        match self {
            Self::Smpp(status) if status.is_vendor() => self.label(),
            Self::Smpp(status) => status.name().to_owned(),
            Self::Http(rejection) => rejection.error.clone(),
        }
    }

    /// Returns the label for metrics and logs.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Smpp(status) => status_word(*status),
            Self::Http(rejection) => rejection.label.clone(),
        }
    }
}

/// Returns the fault for a `command_status`.
const fn fault(status: CommandStatus) -> SubmitFault {
    match status.class() {
        StatusClass::Throttled => SubmitFault::Throttled,
        StatusClass::QueueFull => SubmitFault::QueueFull,
        StatusClass::Temporary => SubmitFault::Temporary,
        StatusClass::Ok | StatusClass::Ambiguous => SubmitFault::Ambiguous,
        StatusClass::RecipientRejected => SubmitFault::RecipientRejected,
        StatusClass::SourceRejected => SubmitFault::SenderRejected,
        StatusClass::OurFault => SubmitFault::OurFault,
        StatusClass::BindState | StatusClass::BindRefused => SubmitFault::NotBound,
    }
}

/// Returns the label of a status. A carrier may invent any number of codes, and each label is kept
/// for ever. So undefined codes share the label `other`.
pub(crate) fn status_word(status: CommandStatus) -> String {
    if status.is_known() || status.is_vendor() {
        format!("{} (0x{:X})", status.name(), status.0)
    } else {
        "other".to_owned()
    }
}
