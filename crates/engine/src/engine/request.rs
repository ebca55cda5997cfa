//! The request of a send: one text for all recipients, or a text for each.

use domain::idempotency::{self, Operation, RequestFingerprint};
use domain::personalised::Rows;
use domain::schedule::SendTimes;
use domain::{Customer, Draft, Environment, Prohibited, Quote, Refusal, Rulebook, SendFields};
use tokio::runtime::{Handle, RuntimeFlavor};

/// Number of rows from which the work on them leaves the other tasks of its thread to other threads.
const MANY_ROWS: usize = 500;

/// The parsed request of a send.
pub enum SendRequest {
    /// One text for all recipients.
    Shared(SendFields),
    /// A text for each recipient.
    Personalised(SendFields, Rows),
}

impl SendRequest {
    /// Returns the meaning of the request for its idempotency key. A request that cannot be read has
    /// none.
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
            Self::Personalised(fields, rows) => long(rows.len(), || {
                idempotency::of_personalised(fields, rows, times, environment, max_recipients)
            }),
        }
    }

    /// Parses the times of the request.
    fn times(&self) -> Result<SendTimes, Refusal> {
        let (Self::Shared(fields) | Self::Personalised(fields, _)) = self;
        SendTimes::parse(fields.send_at.as_deref(), fields.validity.as_deref())
    }

    /// Judges the request.
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
            Self::Personalised(fields, rows) => long(rows.len(), || {
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

    /// Judges the request, and calculates its price.
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
            Self::Personalised(fields, rows) => long(rows.len(), || {
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

/// Runs work on so many rows. Work on many rows takes milliseconds, so the other tasks of the thread
/// move to other threads.
fn long<T>(rows: usize, work: impl FnOnce() -> T) -> T {
    match Handle::try_current() {
        Ok(handle)
            if rows >= MANY_ROWS && handle.runtime_flavor() == RuntimeFlavor::MultiThread =>
        {
            tokio::task::block_in_place(work)
        }
        _ => work(),
    }
}
