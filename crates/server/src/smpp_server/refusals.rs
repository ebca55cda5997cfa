//! The status of each refusal. Only statuses of SMPP 3.4 are used, since some clients drop a
//! connection on others.

use crate::http::refusal_kind;
use domain::{DeliveryStatus, ObjectRefusal, Refusal};
use engine::{BindRefusal, Error, SubmitRefusal};
use smpp::{CommandStatus, ReceiptState};
use std::borrow::Cow;

/// The vendor statuses.
const NO_MONEY: CommandStatus = CommandStatus(0x0400);
const NOT_PERMITTED: CommandStatus = CommandStatus(0x0401);
pub(super) const LEFT_OUT: CommandStatus = CommandStatus(0x0402);

/// A refused request, for the answer and for the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Refused {
    /// The status of the answer.
    pub(super) status: CommandStatus,
    /// The status for clients that understand vendor statuses, if there is one of the refusal.
    pub(super) vendor: Option<CommandStatus>,
    /// The code of the same refusal in the API, if it has one.
    pub(super) code: &'static str,
    /// The reason for the log.
    pub(super) reason: Cow<'static, str>,
}

impl Refused {
    /// Returns the refusal of a submit.
    pub(super) fn of(refusal: &SubmitRefusal) -> Self {
        let (status, code, reason) = match refusal {
            SubmitRefusal::TooFast => (
                CommandStatus::RTHROTTLED,
                "",
                "the per_second of the user is exceeded",
            ),
            SubmitRefusal::Ended => (
                CommandStatus::RINVBNDSTS,
                "",
                "the user is revoked, or its account may not be used",
            ),
            SubmitRefusal::Failed(Error::Refused(refusal)) => {
                let kind = refusal_kind(refusal);
                (status_of(refusal), kind.code, kind.description)
            }
            SubmitRefusal::Failed(Error::Store(error)) => {
                tracing::error!(%error, "SMPP request: failed in the database");
                (CommandStatus::RSYSERR, "API-5001", "the database failed")
            }
        };
        Self {
            status,
            vendor: vendor_status(refusal),
            code,
            reason: reason.into(),
        }
    }

    /// Returns the refusal of a cancel that comes too late.
    pub(super) const fn too_late() -> Self {
        Self {
            status: CommandStatus::RCANCELFAIL,
            vendor: None,
            code: "API-2019",
            reason: Cow::Borrowed("a carrier has the message, or it has ended"),
        }
    }

    /// Returns the refusal of a cancel.
    pub(super) fn of_cancel(refusal: &SubmitRefusal) -> Self {
        let refused = Self::of(refusal);
        let status = match refusal {
            SubmitRefusal::Failed(Error::Refused(Refusal::UnknownMessage)) => {
                CommandStatus::RINVMSGID
            }
            SubmitRefusal::Failed(_) => CommandStatus::RCANCELFAIL,
            SubmitRefusal::TooFast | SubmitRefusal::Ended => refused.status,
        };
        Self { status, ..refused }
    }

    /// Returns the refusal of a query.
    pub(super) fn of_query(refusal: &SubmitRefusal) -> Self {
        let refused = Self::of(refusal);
        let status = match refusal {
            SubmitRefusal::Failed(Error::Refused(_)) => CommandStatus::RINVMSGID,
            SubmitRefusal::Failed(Error::Store(_)) => CommandStatus::RQUERYFAIL,
            SubmitRefusal::TooFast | SubmitRefusal::Ended => refused.status,
        };
        Self { status, ..refused }
    }
}

/// Returns the vendor status of a refused submit: no money, a text that is not permitted, or a number
/// that opted out or is on DND.
const fn vendor_status(refusal: &SubmitRefusal) -> Option<CommandStatus> {
    let SubmitRefusal::Failed(Error::Refused(refusal)) = refusal else {
        return None;
    };
    match refusal {
        Refusal::InsufficientFunds { .. }
        | Refusal::DailyLimit { .. }
        | Refusal::Object(ObjectRefusal::SubAccountLimit { .. }) => Some(NO_MONEY),
        Refusal::Prohibited(_) | Refusal::Transactional { .. } => Some(NOT_PERMITTED),
        Refusal::NobodyLeft => Some(LEFT_OUT),
        _ => None,
    }
}

/// Returns the status of a refused bind. It does not reveal whether the user exists.
pub(super) const fn status_of_bind(refusal: &BindRefusal) -> CommandStatus {
    match refusal {
        BindRefusal::Unknown
        | BindRefusal::Password
        | BindRefusal::Address
        | BindRefusal::Guessing => CommandStatus::RINVPASWD,
        BindRefusal::TooMany => CommandStatus::RALYBND,
        BindRefusal::Account => CommandStatus::RBINDFAIL,
        BindRefusal::Busy | BindRefusal::Failed(_) => CommandStatus::RSYSERR,
    }
}

/// Returns the `message_state` of a recipient. Without a final status it is ENROUTE.
pub(super) const fn message_state(status: Option<DeliveryStatus>) -> u8 {
    let state = match status {
        None | Some(DeliveryStatus::Sent | DeliveryStatus::InDoubt) => ReceiptState::Enroute,
        Some(DeliveryStatus::Delivered) => ReceiptState::Delivered,
        Some(DeliveryStatus::Expired) => ReceiptState::Expired,
        Some(DeliveryStatus::Cancelled) => ReceiptState::Deleted,
        Some(DeliveryStatus::Undelivered | DeliveryStatus::Failed) => ReceiptState::Undeliverable,
        Some(DeliveryStatus::Rejected) => ReceiptState::Rejected,
    };
    state.number()
}

fn status_of(refusal: &Refusal) -> CommandStatus {
    match refusal {
        Refusal::FromMissing
        | Refusal::SenderForm
        | Refusal::SenderNotApproved
        | Refusal::InternationalSender { .. } => CommandStatus::RINVSRCADR,
        Refusal::ToMissing
        | Refusal::RecipientInvalid
        | Refusal::NoValidRecipient
        | Refusal::TooManyRecipients { .. } => CommandStatus::RINVDSTADR,
        Refusal::BodyMissing | Refusal::TooLong { .. } => CommandStatus::RINVMSGLEN,
        Refusal::UnknownGateway { .. } => CommandStatus::RINVSERTYP,
        Refusal::RateLimited { .. } | Refusal::SandboxLimited { .. } => CommandStatus::RTHROTTLED,
        Refusal::Unavailable { .. } => CommandStatus::RMSGQFUL,
        // The message may be accepted, so the client must not take this for a refusal.
        Refusal::OutcomeUnknown { .. } | Refusal::ChangeUnknown { .. } => CommandStatus::RSYSERR,
        Refusal::TokenMissing
        | Refusal::TokenUnread(_)
        | Refusal::TokenInvalid
        | Refusal::TokensGuessed { .. }
        | Refusal::AddressNotAllowed(_)
        | Refusal::OutOfScope(_)
        | Refusal::Object(_)
        | Refusal::AccountDisabled
        | Refusal::AccountDormant
        | Refusal::AccountPending
        | Refusal::AccountRestricted
        | Refusal::Malformed(_)
        | Refusal::UnknownMessage
        | Refusal::Duplicate
        | Refusal::NobodyLeft
        | Refusal::Prohibited(_)
        | Refusal::Transactional { .. }
        | Refusal::CallbackUrl(_)
        | Refusal::BodyTooLarge { .. }
        | Refusal::HeadTooLarge { .. }
        | Refusal::InsufficientFunds { .. }
        | Refusal::DailyLimit { .. }
        | Refusal::RecipientTooOften { .. }
        | Refusal::BlockPaused { .. }
        | Refusal::SandboxTooMany { .. }
        | Refusal::UnknownPath
        | Refusal::MethodNotAllowed
        | Refusal::ChangeUnderWay { .. }
        | Refusal::KeyUsed
        | Refusal::KeyInUse { .. }
        | Refusal::TooLate(_)
        | Refusal::Rows(_)
        | Refusal::OtpTooOften { .. }
        | Refusal::OtpResendTooSoon { .. }
        | Refusal::OtpResendsUsed { .. } => CommandStatus::RSUBMITFAIL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Money;

    #[test]
    fn each_refusal_has_a_status_of_the_protocol() {
        let table = [
            (Refusal::SenderNotApproved, CommandStatus::RINVSRCADR),
            (Refusal::RecipientInvalid, CommandStatus::RINVDSTADR),
            (Refusal::BodyMissing, CommandStatus::RINVMSGLEN),
            (
                Refusal::Unavailable { retry_after_s: 1 },
                CommandStatus::RMSGQFUL,
            ),
            (
                Refusal::Prohibited("casino".to_owned()),
                CommandStatus::RSUBMITFAIL,
            ),
            (Refusal::AccountRestricted, CommandStatus::RSUBMITFAIL),
        ];
        for (refusal, status) in table {
            let refused = Refused::of(&SubmitRefusal::from(refusal));
            assert_eq!(refused.status, status);
            assert!(refused.code.starts_with("API-"), "{refused:?}");
        }
        assert_eq!(Refused::of(&SubmitRefusal::TooFast).status.0, 0x58);
        let [limit, left, needed] = [50, 4, 6].map(Money::from_naira);
        let beyond = ObjectRefusal::SubAccountLimit {
            limit,
            left,
            needed,
        };
        for (refusal, status) in [
            (Refusal::Object(beyond), Some(0x0400)),
            (Refusal::Prohibited("casino".to_owned()), Some(0x0401)),
            (Refusal::NobodyLeft, Some(0x0402)),
            (Refusal::AccountRestricted, None),
        ] {
            let refused = Refused::of(&SubmitRefusal::from(refusal));
            assert_eq!(refused.vendor.map(|vendor| vendor.0), status);
        }
    }

    #[test]
    fn an_unknown_user_looks_like_a_wrong_password() {
        let unknown = status_of_bind(&BindRefusal::Unknown);
        assert_eq!(unknown, CommandStatus::RINVPASWD);
        assert_eq!(status_of_bind(&BindRefusal::Password), unknown);
        assert_eq!(status_of_bind(&BindRefusal::Address), unknown);
        assert_eq!(
            status_of_bind(&BindRefusal::TooMany),
            CommandStatus::RALYBND
        );
    }

    #[test]
    fn each_status_has_its_message_state() {
        let table = [
            (None, 1),
            (Some(DeliveryStatus::InDoubt), 1),
            (Some(DeliveryStatus::Delivered), 2),
            (Some(DeliveryStatus::Expired), 3),
            (Some(DeliveryStatus::Cancelled), 4),
            (Some(DeliveryStatus::Undelivered), 5),
            (Some(DeliveryStatus::Rejected), 8),
        ];
        for (status, state) in table {
            assert_eq!(message_state(status), state, "{status:?}");
        }
    }
}
