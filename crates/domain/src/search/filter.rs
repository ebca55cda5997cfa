//! Filters of lists and exports, parsed from a query string.

use crate::account::Environment;
use crate::delivery::DeliveryStatus;
use crate::draft::MAX_REFERENCE_CHARACTERS;
use crate::gateway::Gateway;
use crate::ids::MessageId;
use crate::named_enum;
use crate::number;
use crate::number::recipient::Recipient;
use crate::refusal::Refusal;
use crate::schedule::MessageState;
use crate::sender;
use crate::time::{FORMS, parse_time};

/// The raw fields of a filter.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FilterFields {
    /// The first time.
    pub since: Option<String>,
    /// The time after the last one.
    pub until: Option<String>,
    /// A number in any accepted form.
    pub recipient: Option<String>,
    /// A sender ID.
    pub sender: Option<String>,
    /// A gateway, by name or number.
    pub gateway: Option<String>,
    /// The state of a message.
    pub state: Option<String>,
    /// The status of a recipient.
    pub delivery_status: Option<String>,
    /// The caller's reference.
    pub customer_reference: Option<String>,
    /// The kind of a wallet entry.
    pub kind: Option<String>,
    /// The id of a message.
    pub message_id: Option<String>,
    /// The groups of a usage report.
    pub by: Option<String>,
    /// A number that receives messages.
    pub number: Option<String>,
    /// The keyword of an inbound message.
    pub keyword: Option<String>,
}

named_enum! {
    /// The status of a recipient as named in the API.
    pub enum StatusFilter {
        /// Without a final status.
        Pending = "sent awaiting status",
        /// Delivered.
        Delivered = "delivrd",
        /// Not delivered.
        Undelivered = "undeliv",
        /// Not delivered within its validity.
        Expired = "expired",
        /// Rejected by the carrier.
        Rejected = "rejectd",
        /// Not delivered for another reason.
        Failed = "failed",
        /// Cancelled before submission.
        Cancelled = "cancelled",
    }
}

impl StatusFilter {
    /// Returns `true` if a status matches.
    pub fn matches(self, status: DeliveryStatus) -> bool {
        self.as_str() == status.outside()
    }
}

named_enum! {
    /// The kind of a wallet entry.
    pub enum EntryKind {
        /// The charge of a send.
        Charge = "charge",
        /// The refund of a recipient.
        Refund = "refund",
        /// Added credit.
        Credit = "credit",
        /// A correction by the operator.
        Debit = "debit",
        /// A transfer between an account and a sub-account.
        Transfer = "transfer",
        /// The share of a parent account.
        Margin = "margin",
    }
}

named_enum! {
    /// The groups of a usage report.
    pub enum UsageBy {
        /// Hours in Lagos.
        Hour = "hour",
        /// Days in Lagos.
        Day = "day",
        /// Gateways.
        Gateway = "gateway",
        /// Networks.
        Network = "network",
        /// Sender IDs.
        Sender = "sender",
    }
}

/// The messages of a list or an export.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct MessageFilter {
    /// Accepted at or after this time, Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Accepted before this time, Unix milliseconds.
    pub until_ms: Option<i64>,
    /// Sent to this number.
    pub recipient: Option<Recipient>,
    /// Sent by this sender ID, in its comparison form.
    pub sender: Option<String>,
    /// Sent over this gateway.
    pub gateway: Option<Gateway>,
    /// Messages in this state.
    pub state: Option<MessageState>,
    /// Messages with a recipient of this status.
    pub delivery_status: Option<StatusFilter>,
    /// Messages with this reference.
    pub customer_reference: Option<String>,
}

impl MessageFilter {
    /// Parses the fields of a search for messages.
    pub fn read(fields: &FilterFields, environment: Environment) -> Result<Self, Refusal> {
        let (since_ms, until_ms) = read_range(fields)?;
        let parse = number::reader(Gateway::International, environment);
        let recipient = read("recipient", fields.recipient.as_ref(), parse, || {
            "a number, such as 2348031234567".to_owned()
        });
        let sender = read("sender", fields.sender.as_ref(), sender_key, || {
            "a sender ID of at most 11 characters".to_owned()
        });
        let gateway = read("gateway", fields.gateway.as_ref(), Gateway::parse, || {
            one_of(Gateway::ALL.iter().map(|gateway| gateway.as_str()))
        });
        let reference = fields.customer_reference.as_ref();
        let reference = read("customer_reference", reference, reference_of, || {
            format!("at most {MAX_REFERENCE_CHARACTERS} characters")
        });
        let state = read(
            "state",
            fields.state.as_ref(),
            MessageState::from_name,
            || one_of(MessageState::ALL.iter().map(|state| state.as_str())),
        );
        Ok(Self {
            since_ms,
            until_ms,
            recipient: recipient?,
            sender: sender?,
            gateway: gateway?,
            state: state?,
            delivery_status: read_status(fields)?,
            customer_reference: reference?,
        })
    }
}

/// The wallet entries of a list or an export.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct WalletFilter {
    /// Created at or after this time, Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Created before this time, Unix milliseconds.
    pub until_ms: Option<i64>,
    /// Entries of this kind.
    pub kind: Option<EntryKind>,
    /// Entries of this message.
    pub message_id: Option<MessageId>,
}

impl WalletFilter {
    /// Parses the fields of a search for entries.
    pub fn read(fields: &FilterFields) -> Result<Self, Refusal> {
        let (since_ms, until_ms) = read_range(fields)?;
        let kind = read("kind", fields.kind.as_ref(), EntryKind::from_name, || {
            one_of(EntryKind::ALL.iter().map(|kind| kind.as_str()))
        });
        Ok(Self {
            since_ms,
            until_ms,
            kind: kind?,
            message_id: read_message(fields)?,
        })
    }
}

/// Parses the message of a search.
pub fn read_message(fields: &FilterFields) -> Result<Option<MessageId>, Refusal> {
    let id = |text: &str| text.parse().ok();
    read("message_id", fields.message_id.as_ref(), id, || {
        "the id of a message".to_owned()
    })
}

/// The time and groups of a usage report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct UsageFilter {
    /// Accepted at or after this time, Unix milliseconds.
    pub since_ms: Option<i64>,
    /// Accepted before this time, Unix milliseconds.
    pub until_ms: Option<i64>,
    /// The groups.
    pub by: UsageBy,
}

impl UsageFilter {
    /// Parses the fields of a report. The default groups are days.
    pub fn read(fields: &FilterFields) -> Result<Self, Refusal> {
        let (since_ms, until_ms) = read_range(fields)?;
        let by = read("by", fields.by.as_ref(), UsageBy::from_name, || {
            one_of(UsageBy::ALL.iter().map(|by| by.as_str()))
        });
        Ok(Self {
            since_ms,
            until_ms,
            by: by?.unwrap_or(UsageBy::Day),
        })
    }
}

/// Parses `delivery_status`, the only filter for the recipients of one message.
pub fn read_status(fields: &FilterFields) -> Result<Option<StatusFilter>, Refusal> {
    let status = fields.delivery_status.as_ref();
    read("delivery_status", status, StatusFilter::from_name, || {
        one_of(StatusFilter::ALL.iter().map(|status| status.as_str()))
    })
}

pub(super) fn read_range(fields: &FilterFields) -> Result<(Option<i64>, Option<i64>), Refusal> {
    let time = |text: &str| parse_time(text).ok();
    let since_ms = read("since", fields.since.as_ref(), time, || {
        format!("a time, as {FORMS}")
    })?;
    let until_ms = read("until", fields.until.as_ref(), time, || {
        format!("a time, as {FORMS}")
    })?;
    if let (Some(since_ms), Some(until_ms)) = (since_ms, until_ms)
        && since_ms > until_ms
    {
        return Err(Refusal::Malformed(
            "`since` must not be after `until`.".to_owned(),
        ));
    }
    Ok((since_ms, until_ms))
}

/// Parses a field that is not blank, or refuses it with the accepted forms.
pub(super) fn read<T>(
    name: &str,
    field: Option<&String>,
    parse: impl FnOnce(&str) -> Option<T>,
    form: impl FnOnce() -> String,
) -> Result<Option<T>, Refusal> {
    let Some(text) = field
        .map(|text| text.trim())
        .filter(|text| !text.is_empty())
    else {
        return Ok(None);
    };
    match parse(text) {
        Some(value) => Ok(Some(value)),
        None => Err(Refusal::Malformed(format!("`{name}` must be {}.", form()))),
    }
}

fn one_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    format!("one of: {}", names.join(", "))
}

fn sender_key(text: &str) -> Option<String> {
    let is_number = crate::inbound::number(text).is_ok();
    (is_number || sender::is_well_formed(text)).then(|| sender::key(text))
}

fn reference_of(text: &str) -> Option<String> {
    let fits = text.chars().count() <= MAX_REFERENCE_CHARACTERS && !text.contains('\0');
    fits.then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
