//! Delivery reports.

use crate::error::Error;
use domain::schedule::{self, MessageState, Progress};
use domain::{AccountId, Environment, MessageId, PENDING, Recipient, Refusal};
use store::Store;

/// One page of a message's report (docs/spec/interface.md, section 6.3).
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeliveryReport {
    /// The id of the message.
    pub message_id: MessageId,
    /// The reference that the caller gave the message.
    pub customer_reference: Option<String>,
    /// The number of recipients.
    pub total: u64,
    /// The number of delivered recipients.
    pub delivered: u64,
    /// The number of recipients without a final status.
    pub pending: u64,
    /// The number of all other recipients.
    pub failed: u64,
    /// The due time, Unix milliseconds, or `None` if the message was due at once.
    pub scheduled_for_ms: Option<i64>,
    /// The state of the message.
    pub state: MessageState,
    /// The recipients of this page, with the status names of the API.
    pub reports: Vec<(Recipient, &'static str)>,
    /// The number of this page, from 1.
    pub page: u32,
    /// The number of recipients on a page.
    pub per_page: u32,
    /// The number of the last page, at least 1.
    pub last_page: u32,
}

pub(crate) async fn report(
    store: &Store,
    account: AccountId,
    environment: Environment,
    message_id: &str,
    (page, per_page): (u32, u32),
    now_ms: i64,
) -> Result<DeliveryReport, Error> {
    // A malformed id matches no message.
    let message: MessageId = message_id
        .trim()
        .parse()
        .map_err(|_| Refusal::UnknownMessage)?;
    let (page, per_page) = (page.max(1), per_page.max(1));
    let from = (page as usize - 1).saturating_mul(per_page as usize);
    let until = from.saturating_add(per_page as usize);
    let found = store
        .messages()
        .report(account, environment, message, from, until)
        .await?
        .ok_or(Refusal::UnknownMessage)?;
    let counts = found.counts;
    let last_page = counts.total.div_ceil(u64::from(per_page)).max(1);
    let ended = counts.delivered + counts.failed;
    let progress = Progress {
        recipients: signed(counts.total),
        handed_over: signed(counts.handed_over),
        ended: signed(ended),
        cancelled: signed(counts.cancelled),
        due_at_ms: found.due_at_ms.unwrap_or_default(),
        is_paused: found.is_paused,
        was_cancelled: false,
    };
    let status =
        |status: Option<domain::DeliveryStatus>| status.map_or(PENDING, |status| status.outside());
    Ok(DeliveryReport {
        message_id: message,
        customer_reference: found.customer_reference,
        total: counts.total,
        delivered: counts.delivered,
        failed: counts.failed,
        pending: counts.total.saturating_sub(ended),
        scheduled_for_ms: schedule::scheduled_for(
            found.due_at_ms,
            found.paused_for_ms,
            message.accepted_at_ms(),
        ),
        state: progress.state(now_ms),
        reports: found
            .recipients
            .into_iter()
            .map(|(recipient, outcome)| (recipient, status(outcome)))
            .collect(),
        page,
        per_page,
        last_page: u32::try_from(last_page).unwrap_or(u32::MAX),
    })
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
