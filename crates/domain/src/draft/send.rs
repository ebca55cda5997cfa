//! The draft of a send with one text for all recipients.

use super::classes::{self, Class};
use super::fields::{Choices, Customer, SendFields, choices, present, without_nul};
use super::fingerprint::{self, Fingerprint};
use super::texts::RecipientTexts;
use crate::account::{Environment, SenderId};
use crate::gateway::{Gateway, GatewayRules, Priority, Rulebook};
use crate::ids::AccountId;
use crate::leg::Leg;
use crate::money::Money;
use crate::number;
use crate::number::recipient::Recipient;
use crate::opt_out::{LeftOut, Unwanted};
use crate::otp::OtpMessage;
use crate::prohibited::Prohibited;
use crate::refusal::Refusal;
use crate::smpp_receipt::ReceiptRequest;
use crate::text;
use crate::text::{Prepared, RawPage, Text, is_binary};
use std::sync::Arc;

/// A checked and priced message. It may still be refused as a duplicate or for its balance.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The account that sends.
    pub account: AccountId,
    /// The environment.
    pub environment: Environment,
    /// The gateway.
    pub gateway: Gateway,
    /// The sender ID as registered.
    pub sender: String,
    /// The prepared text, before any suffix.
    pub text: Text,
    /// The texts of a personalised message, whose recipients have no text in common.
    pub texts: Option<Arc<RecipientTexts>>,
    /// The one-time password of the message, whose text has a place for the code.
    pub otp: Option<OtpMessage>,
    /// All recipients, in the order of the request.
    pub recipients: Vec<Recipient>,
    /// The first list entries that are not valid recipients.
    pub invalid: Vec<String>,
    /// The number of invalid entries.
    pub invalid_count: usize,
    /// Recipients that were left out.
    pub left_out: LeftOut,
    /// Parts of the request that were changed or ignored.
    pub adjustments: Adjustments,
    /// The recipients by network.
    pub classes: Vec<Class>,
    /// The largest number of pages of a recipient.
    pub page_count: i64,
    /// The charge of all recipients.
    pub cost: Money,
    /// The account that gets the margins, if the account is a sub-account.
    pub parent: Option<AccountId>,
    /// The priority of dispatch.
    pub priority: Priority,
    /// The earliest time of submission, Unix milliseconds. `None` means now.
    pub due_at_ms: Option<i64>,
    /// The validity after that time, seconds. A smaller validity of the gateway takes precedence.
    pub validity_s: Option<i64>,
    /// The URL of callbacks.
    pub callback_url: Option<String>,
    /// The caller's reference.
    pub customer_reference: Option<String>,
    /// The receipts that an SMPP user gets.
    pub receipts: Option<ReceiptRequest>,
    /// The fingerprint, which is equal for duplicates.
    pub fingerprint: Fingerprint,
}

impl Draft {
    /// Leaves recipients out, with their charge. The fingerprint stays, so a repetition of the
    /// request is a duplicate.
    pub fn leave_out(&mut self, unwanted: &Unwanted) -> Result<(), Refusal> {
        if unwanted.is_empty() {
            return Ok(());
        }
        self.left_out = unwanted.count(self.recipients.iter().copied())?;
        let is_wanted = |recipient: &Recipient| !unwanted.contains(*recipient);
        self.recipients.retain(is_wanted);
        for class in &mut self.classes {
            class.recipients.retain(is_wanted);
        }
        self.classes.retain(|class| !class.recipients.is_empty());
        self.page_count = largest_pages(&self.classes);
        self.cost = classes::total_cost(&self.classes)?;
        self.priority = Priority::of(self.gateway, self.recipients.len());
        Ok(())
    }

    /// Returns the part of the cost that the parent gets.
    pub fn margin(&self) -> Money {
        classes::total_margin(&self.classes)
    }

    /// Returns the pages of all recipients.
    pub fn pages_total(&self) -> i64 {
        let count = |class: &Class| i64::try_from(class.recipients.len()).unwrap_or(i64::MAX);
        let pages = self.classes.iter();
        pages
            .map(|class| class.pages.saturating_mul(count(class)))
            .fold(0, i64::saturating_add)
    }
}

/// Parts of a request that were changed or ignored. The answer names them, since the caller pays
/// for the rest.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Adjustments {
    /// `true` if the text differs from the body.
    pub text_changed: bool,
    /// Number of visible characters without a plain equivalent that were removed.
    pub removed_characters: usize,
    /// The names of unknown fields.
    pub ignored_fields: Vec<String>,
}

/// Checks the fields of a send in the order of docs/spec/interface.md, section 4, from "`from`
/// present" to the rules of the gateway and the prohibited phrases. The checks of duplicates and
/// balance need the database and follow later.
pub fn draft(
    fields: SendFields,
    customer: &Customer,
    environment: Environment,
    rules: &Rulebook,
    prohibited: &Prohibited,
    now_ms: i64,
) -> Result<Draft, Refusal> {
    draft_of(
        (fields, Body::Written),
        customer,
        environment,
        rules,
        prohibited,
        now_ms,
    )
}

/// The body of a send.
pub(super) enum Body {
    /// The field of the request.
    Written,
    /// A page that goes out as it came.
    Page(RawPage),
}

/// Checks the fields of a send as [`draft`] does, with this body.
pub(super) fn draft_of(
    (mut fields, body): (SendFields, Body),
    customer: &Customer,
    environment: Environment,
    rules: &Rulebook,
    prohibited: &Prohibited,
    now_ms: i64,
) -> Result<Draft, Refusal> {
    let from = present(fields.from.take()).ok_or(Refusal::FromMissing)?;
    let to = present(fields.to.take()).ok_or(Refusal::ToMissing)?;
    let written = written(&body, fields.body.take())?;
    let Choices {
        sender,
        gateway,
        unicode,
        append,
        callback_url,
        customer_reference,
        due_at_ms,
        validity_s,
    } = choices(&from, &mut fields, customer, environment, rules, now_ms)?;
    without_nul("body", unicode.then_some(&*written))?;
    let list = recipients(&to, gateway.gateway, environment, rules)?;
    check_binary((&body, environment), &list.valid, gateway.gateway, rules)?;
    let Prepared {
        text,
        changed,
        removed_characters,
    } = match body {
        Body::Written => prepared(&written, unicode)?,
        Body::Page(page) => Prepared::of_page(page),
    };
    check_gateway(gateway, environment, sender, &text, rules, prohibited)?;

    let classes = classes::classes(
        &list.valid,
        &text,
        &sender.name,
        append,
        gateway,
        customer.payer(),
        rules,
    );
    let cost = classes::total_cost(&classes)?;
    Ok(Draft {
        account: customer.account.id,
        environment,
        gateway: gateway.gateway,
        sender: sender.name.clone(),
        fingerprint: fingerprint::of_text(
            customer.account.id,
            environment,
            text.as_str(),
            &list.valid,
        ),
        text,
        adjustments: Adjustments {
            text_changed: changed,
            removed_characters,
            ignored_fields: fields.ignored,
        },
        page_count: largest_pages(&classes),
        cost,
        parent: customer.parent(),
        priority: Priority::of(gateway.gateway, list.valid.len()),
        due_at_ms,
        validity_s,
        texts: None,
        otp: None,
        classes,
        recipients: list.valid,
        invalid: list.invalid,
        invalid_count: list.invalid_count,
        left_out: LeftOut::default(),
        callback_url,
        customer_reference,
        receipts: None,
    })
}

/// Refuses binary data to a network whose carriers take texts alone. The sandbox has no carriers.
fn check_binary(
    (body, environment): (&Body, Environment),
    recipients: &[Recipient],
    gateway: Gateway,
    rules: &Rulebook,
) -> Result<(), Refusal> {
    let is_data = matches!(body, Body::Page(page) if is_binary(page.data_coding));
    if !is_data || environment == Environment::Sandbox {
        return Ok(());
    }
    let takes_binary = |recipient: &Recipient| {
        let network = rules.network_of(*recipient);
        let legs = [Leg::First, Leg::Second].into_iter();
        let legs = legs.filter_map(|leg| rules.leg(gateway, leg));
        let mut carriers = legs.flat_map(|leg| leg.preference.carriers(network));
        carriers.any(|carrier| {
            rules
                .carriers
                .get(*carrier)
                .is_some_and(|one| one.takes_binary)
        })
    };
    if recipients.iter().all(takes_binary) {
        return Ok(());
    }
    Err(Refusal::Malformed(format!(
        "No carrier of the gateway `{}` takes binary data to this number. Send a text, or choose a gateway that has a \
         carrier by SMPP.",
        gateway.as_str()
    )))
}

/// Returns the text of the request. A page has none.
fn written(body: &Body, text: Option<String>) -> Result<String, Refusal> {
    match body {
        Body::Written => present(text).ok_or(Refusal::BodyMissing),
        Body::Page(_) => Ok(String::new()),
    }
}

fn largest_pages(classes: &[Class]) -> i64 {
    classes.iter().map(|class| class.pages).max().unwrap_or(0)
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
    some_valid(list.valid.len(), list.invalid_count)?;
    Ok(list)
}

/// Refuses a send without a valid recipient.
pub(super) fn some_valid(valid: usize, invalid: usize) -> Result<(), Refusal> {
    match (valid, invalid) {
        (0, 0) => Err(Refusal::ToMissing),
        (0, 1) => Err(Refusal::RecipientInvalid),
        (0, _) => Err(Refusal::NoValidRecipient),
        _ => Ok(()),
    }
}

fn prepared(body: &str, unicode: bool) -> Result<Prepared, Refusal> {
    let limit = text::MAX_BODY_CHARACTERS;
    // A text with no more bytes than the limit has no more characters.
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
    match content_fault(text.as_str(), gateway, rules, prohibited) {
        None => Ok(()),
        Some(ContentFault::Prohibited(phrase)) => Err(Refusal::Prohibited(phrase.to_owned())),
        Some(ContentFault::Transactional(phrase)) => Err(Refusal::Transactional {
            phrase,
            gateway: gateway.gateway.as_str(),
            instead: over(rules.open(environment), |open| {
                open.transactional && open.gateway != Gateway::International
            }),
        }),
    }
}

/// The phrase for which a gateway does not carry a text.
pub(super) enum ContentFault<'a> {
    /// The phrase is prohibited on all gateways.
    Prohibited(&'a str),
    /// The phrase makes the text transactional, and the gateway carries no such text.
    Transactional(String),
}

/// Returns the reason why a gateway does not carry a text, if there is one.
pub(super) fn content_fault<'a>(
    text: &str,
    gateway: &GatewayRules,
    rules: &Rulebook,
    prohibited: &'a Prohibited,
) -> Option<ContentFault<'a>> {
    if let Some(phrase) = prohibited.find(text) {
        return Some(ContentFault::Prohibited(phrase));
    }
    if gateway.transactional {
        return None;
    }
    let phrase = rules.code_words.transactional(text)?;
    Some(ContentFault::Transactional(phrase))
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

/// Returns the advice with the gateways that accept the send.
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
