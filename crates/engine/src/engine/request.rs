//! The request of a send: one text for all recipients, or a text for each.

use domain::idempotency::{self, Operation, RequestFingerprint};
use domain::otp::OtpMessage;
use domain::personalised::Rows;
use domain::schedule::SendTimes;
use domain::{
    Customer, Draft, Environment, Fingerprint, Money, Prohibited, Quote, Refusal, Rulebook,
    SendFields, SubmitFields,
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
            Self::Shared(fields) => {
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
            | Self::Personalised(fields, _)
            | Self::Otp(OtpSend { fields, .. }) => {
                SendTimes::parse(fields.send_at.as_deref(), fields.validity.as_deref())
            }
            Self::Submit(..) => Ok(SendTimes::default()),
        }
    }

    /// Checks the request, and returns its draft.
    pub(super) fn draft(
        self,
        customer: &Customer,
        environment: Environment,
        rules: &Rulebook,
        prohibited: &Prohibited,
        now_ms: i64,
    ) -> Result<Draft, Refusal> {
        match self {
            Self::Shared(fields) => {
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
            Self::Personalised(fields, rows) => run_blocking(rows.len(), || {
                let draft = domain::draft_personalised(
                    fields,
                    &rows,
                    customer,
                    environment,
                    rules,
                    prohibited,
                    now_ms,
                )?;
                Ok(draft.into_draft())
            }),
        }
    }

    /// Checks the request, and returns its draft and its price.
    pub(super) fn quote(
        self,
        customer: &Customer,
        environment: Environment,
        rules: &Rulebook,
        prohibited: &Prohibited,
        now_ms: i64,
    ) -> Result<(Draft, Quote), Refusal> {
        match self {
            Self::Shared(fields) => {
                let body = fields.body.clone().unwrap_or_default();
                let draft =
                    domain::draft(fields, customer, environment, rules, prohibited, now_ms)?;
                let quote = Quote::of(&draft, &body, rules);
                Ok((draft, quote))
            }
            request @ (Self::Otp(_) | Self::Submit(..)) => {
                let draft = request.draft(customer, environment, rules, prohibited, now_ms)?;
                let quote = Quote::of(&draft, draft.text.as_str(), rules);
                Ok((draft, quote))
            }
            Self::Personalised(fields, rows) => run_blocking(rows.len(), || {
                let body = fields.body.clone();
                let draft = domain::draft_personalised(
                    fields,
                    &rows,
                    customer,
                    environment,
                    rules,
                    prohibited,
                    now_ms,
                )?;
                let quote = Quote::of_personalised(&draft, &rows, body.as_deref(), rules);
                Ok((draft.into_draft(), quote))
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
