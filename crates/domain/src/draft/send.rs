//! A send with one text for all recipients.

use super::classes::{self, Class};
use crate::account::{Account, Environment, SenderId, SenderStatus};
use crate::callback_url;
use crate::gateway::{AppendSender, Gateway, GatewayRules, Priority, Rulebook};
use crate::ids::AccountId;
use crate::money::Money;
use crate::number;
use crate::number::recipient::Recipient;
use crate::prohibited::Prohibited;
use crate::refusal::Refusal;
use crate::sender;
use crate::text;
use crate::text::{Prepared, Text};
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// Longest `customer_reference`, in characters.
pub const MAX_REFERENCE_CHARACTERS: usize = 255;

/// The fields of a send as they came, from whatever part of the request; absent ones are `None`.
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
    /// The text is sent exactly as written.
    pub unicode: Option<String>,
    /// The sender ID is added to the text.
    pub append_sender: Option<String>,
    /// Where outcomes are POSTed.
    pub callback_url: Option<String>,
    /// The caller's own reference.
    pub customer_reference: Option<String>,
    /// Names of further fields that were given, which nothing reads: the first of them, cut to a length that may be
    /// repeated.
    pub ignored: Vec<String>,
}

/// An account with its sender IDs, as a send is judged by.
#[derive(Clone, Debug)]
pub struct Customer {
    /// The account.
    pub account: Account,
    /// Its sender IDs by their compare form ([`sender::key`]).
    pub senders: HashMap<String, SenderId>,
}

/// A message that may be accepted, if it is no duplicate and the wallet can pay.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The account that sends.
    pub account: AccountId,
    /// Which world it belongs to.
    pub environment: Environment,
    /// The gateway asked for.
    pub gateway: Gateway,
    /// The sender ID as registered.
    pub sender: String,
    /// The prepared text, before any suffix.
    pub text: Text,
    /// All recipients, in the order of the request.
    pub recipients: Vec<Recipient>,
    /// The first items of the list that are no recipients.
    pub invalid: Vec<String>,
    /// How much of it there was.
    pub invalid_count: usize,
    /// The parts of the request that were changed or not read.
    pub adjustments: Adjustments,
    /// The recipients by network.
    pub classes: Vec<Class>,
    /// The largest number of pages of a recipient.
    pub page_count: i64,
    /// The charge for all recipients together.
    pub cost: Money,
    /// When it is served.
    pub priority: Priority,
    /// From when on it may be sent, Unix milliseconds; none means at once.
    pub due_at_ms: Option<i64>,
    /// Where outcomes are POSTed.
    pub callback_url: Option<String>,
    /// The caller's own reference.
    pub customer_reference: Option<String>,
    /// The fingerprint by which two sends are the same within the duplicate window.
    pub fingerprint: Fingerprint,
}

/// The parts of a request that are not sent as given. The answer names them, since the caller pays for the rest.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Adjustments {
    /// The text differs from the body that was given.
    pub text_changed: bool,
    /// Visible characters of the body that were removed, as they have no plain equivalent.
    pub removed_characters: usize,
    /// Names of fields that were given and that nothing reads.
    pub ignored_fields: Vec<String>,
}

/// SHA-256 of account, environment, text before any suffix and sorted recipients, cut to 16 bytes.
pub type Fingerprint = [u8; 16];

/// Judges the fields of a send, in the order of docs/spec/interface.md, section 4, from "`from` present" to the rules
/// of the gateway, what no text may hold among them. Checks that need the database (duplicate, balance) come after it.
pub fn draft(
    fields: SendFields,
    customer: &Customer,
    environment: Environment,
    rules: &Rulebook,
    prohibited: &Prohibited,
) -> Result<Draft, Refusal> {
    let present = |field: Option<String>| field.filter(|text| !text.trim().is_empty());
    let from = present(fields.from).ok_or(Refusal::FromMissing)?;
    let to = present(fields.to).ok_or(Refusal::ToMissing)?;
    let body = present(fields.body).ok_or(Refusal::BodyMissing)?;
    let sender = approved_sender(&from, customer)?;
    let gateway = chosen_gateway(
        fields.gateway.as_deref(),
        fields.dnd.as_deref(),
        environment,
        rules,
    )?;
    let unicode = flag("unicode", fields.unicode.as_deref())?;
    let append = AppendSender::parse(fields.append_sender.as_deref().unwrap_or_default())?;
    let callback_url = checked_callback(present(fields.callback_url), rules)?;
    let customer_reference = checked_reference(fields.customer_reference)?;
    for (name, text) in [
        ("callback_url", callback_url.as_deref()),
        ("customer_reference", customer_reference.as_deref()),
        ("body", unicode.then_some(&*body)),
    ] {
        without_nul(name, text)?;
    }
    let list = recipients(&to, gateway.gateway, environment, rules)?;
    let Prepared {
        text,
        changed,
        removed_characters,
    } = prepared(&body, unicode)?;
    check_gateway(gateway, environment, sender, &text, rules, prohibited)?;

    let classes = classes::classes(
        &list.valid,
        &text,
        &sender.name,
        append,
        gateway,
        customer.account.id,
        rules,
    );
    let cost = classes::total_cost(&classes)?;
    Ok(Draft {
        account: customer.account.id,
        environment,
        gateway: gateway.gateway,
        sender: sender.name.clone(),
        fingerprint: fingerprint(customer.account.id, environment, &text, &list.valid),
        text,
        adjustments: Adjustments {
            text_changed: changed,
            removed_characters,
            ignored_fields: fields.ignored,
        },
        page_count: classes.iter().map(|class| class.pages).max().unwrap_or(0),
        cost,
        priority: Priority::of(gateway.gateway, list.valid.len()),
        due_at_ms: None,
        classes,
        recipients: list.valid,
        invalid: list.invalid,
        invalid_count: list.invalid_count,
        callback_url,
        customer_reference,
    })
}

pub(super) fn approved_sender<'a>(
    from: &str,
    customer: &'a Customer,
) -> Result<&'a SenderId, Refusal> {
    let from = from.trim();
    if !sender::is_well_formed(from) {
        return Err(Refusal::SenderForm);
    }
    customer
        .senders
        .get(&sender::key(from))
        .filter(|sender| sender.status == SenderStatus::Approved)
        .ok_or(Refusal::SenderNotApproved)
}

pub(super) fn chosen_gateway<'a>(
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

/// The names of gateways would help nobody there.
fn unknown_dnd() -> Refusal {
    let instead =
        "`dnd` is 1 for direct-refund, 2, 3 or 6 for direct-corporate, 4 or 5 for dual-backup.";
    Refusal::UnknownGateway {
        instead: instead.to_owned(),
    }
}

/// Reads a boolean as JSON, forms and query strings spell it.
pub(crate) fn flag(name: &str, text: Option<&str>) -> Result<bool, Refusal> {
    match text.map(str::trim).unwrap_or_default() {
        "" | "0" | "false" | "False" | "FALSE" | "off" | "no" => Ok(false),
        "1" | "true" | "True" | "TRUE" | "on" | "yes" => Ok(true),
        _ => Err(Refusal::Malformed(format!(
            "`{name}` must be true, false, 1 or 0."
        ))),
    }
}

/// U+0000 means nothing to anybody, and PostgreSQL cannot keep it. Plain text loses it with all that is in no
/// alphabet.
pub(super) fn without_nul(name: &str, text: Option<&str>) -> Result<(), Refusal> {
    match text {
        Some(text) if text.contains('\0') => Err(Refusal::Malformed(format!(
            "`{name}` holds the character U+0000; leave it out."
        ))),
        _ => Ok(()),
    }
}

pub(super) fn checked_callback(
    url: Option<String>,
    rules: &Rulebook,
) -> Result<Option<String>, Refusal> {
    let Some(url) = url else { return Ok(None) };
    match callback_url::check(url.trim(), rules.private_callbacks) {
        Ok(()) => Ok(Some(url.trim().to_owned())),
        Err(fault) => Err(Refusal::CallbackUrl(fault.to_string())),
    }
}

pub(super) fn checked_reference(reference: Option<String>) -> Result<Option<String>, Refusal> {
    match reference {
        Some(text) if text.chars().count() > MAX_REFERENCE_CHARACTERS => Err(Refusal::Malformed(
            format!("`customer_reference` must be at most {MAX_REFERENCE_CHARACTERS} characters."),
        )),
        reference => Ok(reference),
    }
}

fn recipients(
    to: &str,
    gateway: Gateway,
    environment: Environment,
    rules: &Rulebook,
) -> Result<number::RecipientList, Refusal> {
    let parse = number::reader(gateway, environment);
    let limit = rules.max_recipients;
    let list = number::read_recipients(to, parse, limit)
        .map_err(|_| Refusal::TooManyRecipients { limit })?;
    match (list.valid.len(), list.invalid_count) {
        (0, 0) => Err(Refusal::ToMissing),
        (0, 1) => Err(Refusal::RecipientInvalid),
        (0, _) => Err(Refusal::NoValidRecipient),
        _ => Ok(list),
    }
}

fn prepared(body: &str, unicode: bool) -> Result<Prepared, Refusal> {
    let limit = text::MAX_BODY_CHARACTERS;
    // A text of no more bytes than the limit cannot have more characters.
    if body.len() > limit {
        let length = body.chars().count();
        if length > limit {
            return Err(Refusal::TooLong { length, limit });
        }
    }
    Prepared::of(body, unicode).ok_or(Refusal::BodyMissing)
}

fn check_gateway(
    gateway: &GatewayRules,
    environment: Environment,
    sender: &SenderId,
    text: &Text,
    rules: &Rulebook,
    prohibited: &Prohibited,
) -> Result<(), Refusal> {
    check_sender(gateway, environment, sender, rules)?;
    if let Some(phrase) = prohibited.find(text.as_str()) {
        return Err(Refusal::Prohibited(phrase.to_owned()));
    }
    if !gateway.transactional
        && let Some(phrase) = rules.code_words.transactional(text.as_str())
    {
        return Err(Refusal::Transactional {
            phrase,
            gateway: gateway.gateway.as_str(),
            instead: over(rules.open(environment), |open| {
                open.transactional && open.gateway != Gateway::International
            }),
        });
    }
    Ok(())
}

/// Refuses an international sender on a national gateway.
pub(super) fn check_sender(
    gateway: &GatewayRules,
    environment: Environment,
    sender: &SenderId,
    rules: &Rulebook,
) -> Result<(), Refusal> {
    if !sender.international || gateway.gateway == Gateway::International {
        return Ok(());
    }
    Err(Refusal::InternationalSender {
        sender: sender.name.clone(),
        instead: over(rules.open(environment), |open| {
            open.gateway == Gateway::International
        }),
    })
}

/// Over which of these gateways to send instead.
fn over<'a>(
    open: impl Iterator<Item = &'a GatewayRules>,
    carries: impl Fn(&GatewayRules) -> bool,
) -> String {
    let names = open.filter(|open| carries(open));
    let names: Vec<_> = names
        .map(|open| format!("`{}`", open.gateway.as_str()))
        .collect();
    if names.is_empty() {
        "No gateway for it is open here.".to_owned()
    } else {
        format!("Send it over {}.", names.join(" or "))
    }
}

fn fingerprint(
    account: AccountId,
    environment: Environment,
    text: &Text,
    recipients: &[Recipient],
) -> Fingerprint {
    let mut sorted = recipients.to_vec();
    sorted.sort_unstable();
    let mut hash = Sha256::new();
    hash.update(account.0.to_be_bytes());
    hash.update(environment.as_str());
    hash.update(text.as_str().len().to_be_bytes());
    hash.update(text.as_str());
    for recipient in sorted {
        hash.update(recipient.digits().to_be_bytes());
    }
    let mut fingerprint = Fingerprint::default();
    fingerprint.copy_from_slice(&hash.finalize()[..16]);
    fingerprint
}
