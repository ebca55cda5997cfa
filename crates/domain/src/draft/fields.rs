//! The fields of a send, and the checks that all kinds of sends share.

use super::classes::Payer;
use crate::account::{Account, Environment, SenderId, SenderStatus};
use crate::callback_url;
use crate::gateway::{AppendSender, Gateway, GatewayRules, Rulebook};
use crate::ids::AccountId;
use crate::refusal::Refusal;
use crate::resale::Resale;
use crate::schedule::{self, SendTimes};
use crate::sender;
use std::collections::HashMap;

/// Longest `customer_reference`, in characters.
pub const MAX_REFERENCE_CHARACTERS: usize = 255;

/// The raw fields of a send, from any part of the request. A missing one is `None`.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SendFields {
    /// Sender ID.
    pub from: Option<String>,
    /// Recipients, separated by commas.
    pub to: Option<String>,
    /// Message text.
    pub body: Option<String>,
    /// Gateway, by name or number.
    pub gateway: Option<String>,
    /// The older way to choose a gateway.
    pub dnd: Option<String>,
    /// `true` sends the text exactly as written.
    pub unicode: Option<String>,
    /// The condition for appending the sender ID to the text.
    pub append_sender: Option<String>,
    /// The URL of callbacks.
    pub callback_url: Option<String>,
    /// The caller's reference.
    pub customer_reference: Option<String>,
    /// The time of submission.
    pub send_at: Option<String>,
    /// The validity after the time of submission, seconds.
    pub validity: Option<String>,
    /// The first unknown fields, cut to a length that may be repeated.
    pub ignored: Vec<String>,
}

/// An account with its sender IDs.
#[derive(Clone, Debug)]
pub struct Customer {
    /// The account.
    pub account: Account,
    /// The sender IDs by their comparison form ([`sender::key`]).
    pub senders: HashMap<String, SenderId>,
    /// The terms of its parent, if it is a sub-account.
    pub resale: Option<Resale>,
}

impl Customer {
    /// Returns the account that pays for sends.
    pub(super) fn payer(&self) -> Payer<'_> {
        Payer {
            account: self.account.id,
            resale: self.resale.as_ref(),
        }
    }

    /// Returns the account that gets the margins of sends.
    pub(super) fn parent(&self) -> Option<AccountId> {
        self.resale.as_ref().map(|resale| resale.parent)
    }

    /// Returns the account, and its parent if it is a sub-account. A change of either changes the
    /// customer.
    pub fn accounts(&self) -> impl Iterator<Item = AccountId> {
        [Some(self.account.id), self.parent()].into_iter().flatten()
    }

    /// Checks that the account may send in `environment`: its own status and that of its parent.
    pub fn check_send(&self, environment: Environment) -> Result<(), Refusal> {
        self.account.check_send(environment)?;
        match &self.resale {
            Some(resale) if environment == Environment::Live => {
                resale.parent_status.refusal().map_or(Ok(()), Err)
            }
            _ => Ok(()),
        }
    }
}

/// Returns a field that is not blank.
pub(super) fn present(field: Option<String>) -> Option<String> {
    field.filter(|text| !text.trim().is_empty())
}

/// The checked fields of a send, without recipients and text.
pub(super) struct Choices<'a> {
    pub(super) sender: &'a SenderId,
    pub(super) gateway: &'a GatewayRules,
    pub(super) unicode: bool,
    pub(super) append: AppendSender,
    pub(super) callback_url: Option<String>,
    pub(super) customer_reference: Option<String>,
    /// `send_at`, Unix milliseconds. `None` means now.
    pub(super) due_at_ms: Option<i64>,
    /// `validity`, seconds.
    pub(super) validity_s: Option<i64>,
}

/// Checks all fields but recipients and text, in the order of the spec.
pub(super) fn choices<'a>(
    from: &str,
    fields: &mut SendFields,
    customer: &'a Customer,
    environment: Environment,
    rules: &'a Rulebook,
    now_ms: i64,
) -> Result<Choices<'a>, Refusal> {
    let sender = approved_sender(from, customer)?;
    let gateway = chosen_gateway(
        fields.gateway.as_deref(),
        fields.dnd.as_deref(),
        environment,
        rules,
    )?;
    let unicode = flag("unicode", fields.unicode.as_deref())?;
    let append = AppendSender::parse(fields.append_sender.as_deref().unwrap_or_default())?;
    let callback_url = checked_callback(present(fields.callback_url.take()), rules)?;
    let customer_reference = checked_reference(fields.customer_reference.take())?;
    without_nul("callback_url", callback_url.as_deref())?;
    without_nul("customer_reference", customer_reference.as_deref())?;
    let times = SendTimes::parse(fields.send_at.as_deref(), fields.validity.as_deref())?;
    let due_at_ms = times
        .send_at_ms
        .map(|at_ms| schedule::check_send_at(at_ms, now_ms));
    let due_at_ms = due_at_ms.transpose()?.flatten();
    Ok(Choices {
        sender,
        gateway,
        unicode,
        append,
        callback_url,
        customer_reference,
        due_at_ms,
        validity_s: times.validity_s,
    })
}

fn approved_sender<'a>(from: &str, customer: &'a Customer) -> Result<&'a SenderId, Refusal> {
    let from = from.trim();
    let found = customer.senders.get(&sender::key(from));
    // A number of inbound messages may be longer than other senders.
    if found.is_none() && !sender::is_well_formed(from) {
        return Err(Refusal::SenderForm);
    }
    found
        .filter(|sender| sender.status == SenderStatus::Approved)
        .ok_or(Refusal::SenderNotApproved)
}

fn chosen_gateway<'a>(
    gateway: Option<&str>,
    dnd: Option<&str>,
    environment: Environment,
    rules: &'a Rulebook,
) -> Result<&'a GatewayRules, Refusal> {
    let parsed = match (gateway.filter(|text| !text.trim().is_empty()), dnd) {
        (Some(name), _) => Gateway::parse(name),
        (None, Some(dnd)) => Some(Gateway::parse_dnd(dnd).ok_or_else(unknown_dnd)?),
        (None, None) => Some(Gateway::DirectRefund),
    };
    parsed
        .and_then(|gateway| rules.open(environment).find(|open| open.gateway == gateway))
        .ok_or_else(|| {
            let open = rules.open(environment).map(|open| open.gateway.as_str());
            let names: Vec<_> = open.collect();
            let instead = if names.is_empty() {
                "No carrier is configured yet: only the sandbox can be used.".to_owned()
            } else {
                format!("Use one of: {}.", names.join(", "))
            };
            Refusal::UnknownGateway { instead }
        })
}

/// Returns the refusal of an unknown `dnd`, with its valid numbers instead of gateway names.
fn unknown_dnd() -> Refusal {
    let instead =
        "`dnd` is 1 for direct-refund, 2, 3 or 6 for direct-corporate, 4 or 5 for dual-backup.";
    Refusal::UnknownGateway {
        instead: instead.to_owned(),
    }
}

/// Parses a boolean in the forms of JSON, forms and query strings.
pub(crate) fn flag(name: &str, text: Option<&str>) -> Result<bool, Refusal> {
    match text.map(str::trim).unwrap_or_default() {
        "" | "0" | "false" | "False" | "FALSE" | "off" | "no" => Ok(false),
        "1" | "true" | "True" | "TRUE" | "on" | "yes" => Ok(true),
        _ => Err(Refusal::Malformed(format!(
            "`{name}` must be true, false, 1 or 0."
        ))),
    }
}

/// Refuses U+0000, which PostgreSQL cannot store. Plain text drops it anyway.
pub(super) fn without_nul(name: &str, text: Option<&str>) -> Result<(), Refusal> {
    match text {
        Some(text) if text.contains('\0') => Err(Refusal::Malformed(format!(
            "`{name}` holds the character U+0000; leave it out."
        ))),
        _ => Ok(()),
    }
}

fn checked_callback(url: Option<String>, rules: &Rulebook) -> Result<Option<String>, Refusal> {
    let Some(url) = url else { return Ok(None) };
    match callback_url::check(url.trim(), rules.private_callbacks) {
        Ok(()) => Ok(Some(url.trim().to_owned())),
        Err(fault) => Err(Refusal::CallbackUrl(fault.to_string())),
    }
}

fn checked_reference(reference: Option<String>) -> Result<Option<String>, Refusal> {
    match reference {
        Some(text) if text.chars().count() > MAX_REFERENCE_CHARACTERS => Err(Refusal::Malformed(
            format!("`customer_reference` must be at most {MAX_REFERENCE_CHARACTERS} characters."),
        )),
        reference => Ok(reference),
    }
}
