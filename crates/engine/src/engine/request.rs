//! The request of a send: one text for all recipients, or a text for each.

use domain::idempotency::{self, Operation, RequestFingerprint};
use domain::opt_out::Unwanted;
use domain::otp::OtpMessage;
use domain::personalised::Rows;
use domain::schedule::SendTimes;
use domain::{
    Customer, Draft, Environment, Fingerprint, Gateway, Money, PersonalisedDraft, Prohibited,
    Quote, Recipient, Refusal, Rulebook, SendFields, SubmitFields,
};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Rows from which a request is processed as blocking work.
const MIN_BLOCKING_ROWS: usize = 500;

/// The parsed request of a send.
pub enum SendRequest {
    /// One text for all recipients.
    Shared(SendFields),
    /// A text for each recipient.
    Personalised(SendFields, Rows),
    /// The answer to an inbound message. It reaches a recipient who opted out.
    Answer(SendFields),
    /// The message of a one-time password.
    Otp(OtpSend),
    /// A text to one number, submitted by SMPP, with a fingerprint of its own.
    Submit(SubmitFields, Fingerprint),
}

/// The price of a send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Quoted {
    /// The price, and the form of the text.
    pub quote: Quote,
    /// The balance of the wallet.
    pub balance: Money,
    /// The end of the quiet hours that would hold the send, or `None` if it would go out at its time.
    pub held_until_ms: Option<i64>,
}

/// The message of a one-time password.
pub struct OtpSend {
    /// The fields of its send. The body has a place for the code.
    pub(super) fields: SendFields,
    /// The code, and its limits if it is new.
    pub(super) message: OtpMessage,
    /// The meaning of the request for its idempotency key.
    pub(super) meaning: Option<RequestFingerprint>,
}

impl SendRequest {
    /// Returns the fingerprint that an idempotency key is stored with. Returns `None` for an
    /// unreadable request.
    pub(super) fn fingerprint(
        &self,
        operation: Operation,
        environment: Environment,
        max_recipients: usize,
    ) -> Option<RequestFingerprint> {
        let times = self.times().ok()?;
        match self {
            Self::Shared(fields) | Self::Answer(fields) => {
                idempotency::of_send(operation, fields, times, environment, max_recipients)
            }
            Self::Otp(otp) => otp.meaning,
            // A submit has no idempotency key.
            Self::Submit(..) => None,
            Self::Personalised(fields, rows) => run_blocking(rows.len(), || {
                idempotency::of_personalised(fields, rows, times, environment, max_recipients)
            }),
        }
    }

    /// Parses the times of the request.
    fn times(&self) -> Result<SendTimes, Refusal> {
        match self {
            Self::Shared(fields)
            | Self::Answer(fields)
            | Self::Personalised(fields, _)
            | Self::Otp(OtpSend { fields, .. }) => {
                SendTimes::parse(fields.send_at.as_deref(), fields.validity.as_deref())
            }
            Self::Submit(..) => Ok(SendTimes::default()),
        }
    }

    /// Returns the text of a quoted request, as it was written.
    pub(super) fn body(&self) -> Option<String> {
        match self {
            Self::Shared(fields) | Self::Personalised(fields, _) => fields.body.clone(),
            Self::Answer(_) | Self::Otp(_) | Self::Submit(..) => None,
        }
    }

    /// Returns `true` if no recipient is left out: the recipient has just written to the account.
    pub(super) fn is_answer(&self) -> bool {
        matches!(self, Self::Answer(_))
    }

    /// Checks the request, and returns its draft.
    pub(super) fn draft(
        self,
        customer: &Customer,
        environment: Environment,
        rules: &Rulebook,
        prohibited: &Prohibited,
        now_ms: i64,
    ) -> Result<Drafted, Refusal> {
        let draft = match self {
            Self::Shared(fields) | Self::Answer(fields) => {
                domain::draft(fields, customer, environment, rules, prohibited, now_ms)
            }
            Self::Otp(otp) => domain::draft_otp(
                &otp.fields,
                otp.message,
                customer,
                environment,
                rules,
                prohibited,
                now_ms,
            ),
            Self::Submit(submit, fingerprint) => domain::draft_submit(
                submit,
                fingerprint,
                customer,
                environment,
                rules,
                prohibited,
                now_ms,
            ),
            Self::Personalised(fields, rows) => {
                let draft = run_blocking(rows.len(), || {
                    domain::draft_personalised(
                        fields,
                        &rows,
                        customer,
                        environment,
                        rules,
                        prohibited,
                        now_ms,
                    )
                });
                return Ok(Drafted::Personalised(Box::new(draft?), rows));
            }
        };
        Ok(Drafted::Shared(Box::new(draft?)))
    }
}

/// A checked request, some of whose recipients may be left out.
pub(super) enum Drafted {
    /// One text for all recipients.
    Shared(Box<Draft>),
    /// A text for each recipient, and the rows of the request.
    Personalised(Box<PersonalisedDraft>, Rows),
}

impl Drafted {
    /// Returns the gateway and the sender ID.
    pub(super) fn route(&self) -> (Gateway, &str) {
        match self {
            Self::Shared(draft) => (draft.gateway, &draft.sender),
            Self::Personalised(draft, _) => (draft.gateway, &draft.sender),
        }
    }

    /// Returns the recipients.
    pub(super) fn recipients(&self) -> Vec<Recipient> {
        match self {
            Self::Shared(draft) => draft.recipients.clone(),
            Self::Personalised(draft, _) => {
                draft.recipients.iter().map(|one| one.recipient).collect()
            }
        }
    }

    /// Leaves recipients out.
    pub(super) fn leave_out(&mut self, unwanted: &Unwanted) -> Result<(), Refusal> {
        match self {
            Self::Shared(draft) => draft.leave_out(unwanted),
            Self::Personalised(draft, _) => draft.leave_out(unwanted),
        }
    }

    /// Returns the draft of the message.
    pub(super) fn into_draft(self) -> Draft {
        match self {
            Self::Shared(draft) => *draft,
            Self::Personalised(draft, rows) => run_blocking(rows.len(), || draft.into_draft()),
        }
    }

    /// Returns the draft of the message, and its price. `body` is the text as it was written.
    pub(super) fn into_quote(self, body: Option<&str>, rules: &Rulebook) -> (Draft, Quote) {
        match self {
            Self::Shared(draft) => {
                let quote = Quote::of(&draft, body.unwrap_or(draft.text.as_str()), rules);
                (*draft, quote)
            }
            Self::Personalised(draft, rows) => run_blocking(rows.len(), || {
                let quote = Quote::of_personalised(&draft, &rows, body, rules);
                (draft.into_draft(), quote)
            }),
        }
    }
}

/// Runs work on a number of rows. Many rows take milliseconds, so the work is then marked as
/// blocking, and Tokio moves the other tasks of the thread to other threads.
pub(super) fn run_blocking<T>(rows: usize, work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(handle)
            if rows >= MIN_BLOCKING_ROWS
                && handle.runtime_flavor() == RuntimeFlavor::MultiThread =>
        {
            tokio::task::block_in_place(work)
        }
        _ => work(),
    }
}

#[cfg(test)]
mod tests;
