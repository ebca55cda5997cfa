//! The check of the rows of a personalised send: it returns a draft or the first refusal.
//!
//! The checks have the same order as the checks of an ordinary send. The text of each row is
//! rendered, prepared and checked by itself. One refusal covers the faults of all rows (API-2020).

mod judge;
mod recipient;

pub use recipient::PersonalisedRecipient;

use super::classes::Class;
use super::fields::{Choices, Customer, SendFields, choices, present};
use super::fingerprint::{self, Fingerprint};
use super::send::{Adjustments, Draft, check_sender, some_valid};
use super::texts::{RecipientTexts, StoredText};
use crate::account::Environment;
use crate::gateway::{Gateway, Priority, Rulebook};
use crate::ids::AccountId;
use crate::money::Money;
use crate::number::recipient::Recipient;
use crate::number::{self, RecipientList};
use crate::opt_out::{LeftOut, Unwanted};
use crate::personalised::{Row, RowFaults, Rows, Template};
use crate::prohibited::Prohibited;
use crate::refusal::Refusal;
use crate::text::{Alphabet, Text};
use judge::Judge;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Upper bound of the row numbers of repeated recipients in an answer.
const MAX_NAMED_REPEATED: usize = 100;

/// A valid personalised message. It is accepted unless it is a duplicate or the balance is too low.
#[derive(Clone, Debug)]
pub struct PersonalisedDraft {
    /// The account.
    pub account: AccountId,
    /// The account that gets the margins, if the account is a sub-account.
    pub parent: Option<AccountId>,
    /// The environment.
    pub environment: Environment,
    /// The gateway.
    pub gateway: Gateway,
    /// The sender ID as registered.
    pub sender: String,
    /// Each recipient once, in the order of the rows.
    pub recipients: Vec<PersonalisedRecipient>,
    /// The first invalid numbers, as they were written.
    pub invalid: Vec<String>,
    /// The number of rows with an invalid number.
    pub invalid_count: usize,
    /// Recipients that were left out.
    pub left_out: LeftOut,
    /// The first rows whose number is in an earlier row.
    pub repeated: Vec<u32>,
    /// The number of rows whose number is in an earlier row.
    pub repeated_count: usize,
    /// Changes of the texts, and unknown fields.
    pub adjustments: Adjustments,
    /// The largest number of pages of a recipient.
    pub page_count: i64,
    /// The pages of all recipients.
    pub pages_total: i64,
    /// The charge of all recipients.
    pub cost: Money,
    /// The priority of dispatch.
    pub priority: Priority,
    /// The URL of callbacks.
    pub callback_url: Option<String>,
    /// The caller's reference for recipients without a reference of their own.
    pub customer_reference: Option<String>,
    /// The earliest time of submission, Unix milliseconds. `None` means now.
    pub due_at_ms: Option<i64>,
    /// The validity after that time, seconds.
    pub validity_s: Option<i64>,
    /// The fingerprint, which is equal for duplicates among personalised sends.
    pub fingerprint: Fingerprint,
    texts: String,
}

impl PersonalisedDraft {
    /// Leaves recipients out, with their charge. The fingerprint stays, so a repetition of the
    /// request is a duplicate.
    pub fn leave_out(&mut self, unwanted: &Unwanted) -> Result<(), Refusal> {
        if unwanted.is_empty() {
            return Ok(());
        }
        let numbers = self.recipients.iter().map(|one| one.recipient);
        self.left_out = unwanted.count(numbers)?;
        self.recipients
            .retain(|one| !unwanted.contains(one.recipient));
        self.page_count = recipient::largest_pages(&self.recipients);
        self.pages_total = recipient::all_pages(&self.recipients);
        self.cost = recipient::total_cost(&self.recipients)?;
        self.priority = Priority::of(self.gateway, self.recipients.len());
        Ok(())
    }

    /// Returns the prepared text of a recipient without its suffix.
    pub fn text(&self, recipient: &PersonalisedRecipient) -> &str {
        piece(&self.texts, &recipient.text)
    }

    /// Returns the caller's reference for a recipient, or else the reference of the whole send.
    pub fn reference_of<'a>(&'a self, recipient: &'a PersonalisedRecipient) -> Option<&'a str> {
        let own = recipient.customer_reference.as_deref();
        own.or(self.customer_reference.as_deref())
    }

    /// Returns UCS-2 if the text of a recipient is sent as Unicode.
    pub fn alphabet(&self) -> Alphabet {
        let is_unicode = |one: &PersonalisedRecipient| one.alphabet == Alphabet::Ucs2;
        if self.recipients.iter().any(is_unicode) {
            Alphabet::Ucs2
        } else {
            Alphabet::Gsm
        }
    }

    /// Converts the personalised draft into the draft of a message with a text for each recipient.
    pub fn into_draft(self) -> Draft {
        let classes = classes(&self.recipients);
        let recipients = self.recipients.iter().map(|one| one.recipient).collect();
        let unicode = self.alphabet() == Alphabet::Ucs2;
        let rows = self.recipients.into_iter().map(|one| StoredText {
            recipient: one.recipient,
            text: one.text,
            customer_reference: one.customer_reference,
        });
        let mut texts = RecipientTexts::new(self.texts, rows.collect());
        texts.pages_total = self.pages_total;
        texts.unicode = unicode;
        texts.repeated = self.repeated;
        texts.repeated_count = self.repeated_count;
        Draft {
            account: self.account,
            environment: self.environment,
            gateway: self.gateway,
            sender: self.sender,
            text: Text::from_stored(String::new()),
            texts: Some(Arc::new(texts)),
            otp: None,
            recipients,
            invalid: self.invalid,
            invalid_count: self.invalid_count,
            left_out: self.left_out,
            adjustments: self.adjustments,
            classes,
            page_count: self.page_count,
            cost: self.cost,
            parent: self.parent,
            priority: self.priority,
            due_at_ms: self.due_at_ms,
            validity_s: self.validity_s,
            callback_url: self.callback_url,
            customer_reference: self.customer_reference,
            receipts: None,
            fingerprint: self.fingerprint,
        }
    }
}

/// Groups recipients with the same carrier, suffix, pages and charge. Each group is in the order of
/// the numbers, as the texts are, so that adjacent recipients share the rows of their texts.
fn classes(recipients: &[PersonalisedRecipient]) -> Vec<Class> {
    let mut classes: BTreeMap<_, Class> = BTreeMap::new();
    for one in recipients {
        let key = (
            one.carrier,
            one.suffixed,
            one.pages,
            one.charge,
            one.reserve,
            one.margin,
        );
        let class = classes.entry(key).or_insert_with(|| Class {
            carrier: one.carrier,
            suffixed: one.suffixed,
            pages: one.pages,
            charge: one.charge,
            reserve: one.reserve,
            margin: one.margin,
            recipients: Vec::new(),
        });
        class.recipients.push(one.recipient);
    }
    for class in classes.values_mut() {
        class.recipients.sort_unstable();
    }
    classes.into_values().collect()
}

fn piece<'a>(texts: &'a str, range: &Range<u32>) -> &'a str {
    &texts[range.start as usize..range.end as usize]
}

/// Checks the fields and rows of a personalised send in the order of an ordinary send. The checks
/// of duplicates and balance need the database and follow later.
pub fn draft_personalised(
    mut fields: SendFields,
    rows: &Rows,
    customer: &Customer,
    environment: Environment,
    rules: &Rulebook,
    prohibited: &Prohibited,
    now_ms: i64,
) -> Result<PersonalisedDraft, Refusal> {
    if present(fields.to.take()).is_some() && !fields.ignored.iter().any(|name| name == "to") {
        fields.ignored.push("to".to_owned());
    }
    let from = present(fields.from.take()).ok_or(Refusal::FromMissing)?;
    if rows.is_empty() {
        return Err(Refusal::ToMissing);
    }
    let body = present(fields.body.take());
    if body.is_none() && rows.iter().all(|row| row.body().is_none()) {
        return Err(Refusal::BodyMissing);
    }
    fields.customer_reference = present(fields.customer_reference.take());
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
    let template = body.as_deref().map(template_of).transpose()?;
    let chosen = choose(rows, gateway.gateway, environment, rules.max_recipients)?;
    check_sender(gateway, environment, sender, rules)?;

    let judge = Judge {
        gateway,
        customer,
        sender: &sender.name,
        append,
        unicode,
        rules,
        prohibited,
    };
    let judged = judge.rows(rows, &chosen.places, template.as_ref())?;
    let fingerprint = fingerprint(customer.account.id, environment, &judged);
    let mut ignored = fields.ignored;
    for name in rows.ignored() {
        if !ignored.contains(name) {
            ignored.push(name.clone());
        }
    }
    Ok(PersonalisedDraft {
        account: customer.account.id,
        parent: customer.parent(),
        environment,
        gateway: gateway.gateway,
        sender: sender.name.clone(),
        page_count: recipient::largest_pages(&judged.recipients),
        pages_total: recipient::all_pages(&judged.recipients),
        cost: recipient::total_cost(&judged.recipients)?,
        priority: Priority::of(gateway.gateway, judged.recipients.len()),
        invalid: chosen.invalid.invalid,
        invalid_count: chosen.invalid.invalid_count,
        left_out: LeftOut::default(),
        repeated: chosen.repeated,
        repeated_count: chosen.repeated_count,
        adjustments: Adjustments {
            ignored_fields: ignored,
            ..judged.adjustments
        },
        recipients: judged.recipients,
        texts: judged.texts,
        callback_url,
        customer_reference,
        due_at_ms,
        validity_s,
        fingerprint,
    })
}

/// Parses the common template.
fn template_of(body: &str) -> Result<Template, Refusal> {
    Template::parse(body).map_err(|fault| Refusal::Malformed(format!("`body`: {fault}.")))
}

/// Renders the texts of these rows in order, and passes each unprepared text to `take`. Returns
/// `None` if a text has a fault.
pub(crate) fn each_text<'p>(
    body: Option<&str>,
    rows: &Rows,
    places: impl IntoIterator<Item = &'p (Recipient, usize)>,
    mut take: impl FnMut(Recipient, Row<'_>, &str),
) -> Option<()> {
    let template = body.map(Template::parse).transpose().ok()?;
    let whole = template.as_ref().map(|template| template.bind(rows));
    let mut faults = RowFaults::default();
    let mut text = String::new();
    for &(recipient, place) in places {
        let row = rows.row(place);
        text.clear();
        if !judge::render(row, rows, whole.as_ref(), &mut text, &mut faults).ok()? {
            return None;
        }
        take(recipient, row, &text);
    }
    Some(())
}

/// The rows that are sent, and the rows that are left out.
pub(crate) struct Chosen {
    /// Each recipient with the index of its row.
    pub(crate) places: Vec<(Recipient, usize)>,
    invalid: RecipientList,
    repeated: Vec<u32>,
    repeated_count: usize,
}

/// Parses the number of each row. Only the first row with a number is sent.
pub(crate) fn choose(
    rows: &Rows,
    gateway: Gateway,
    environment: Environment,
    limit: usize,
) -> Result<Chosen, Refusal> {
    if rows.len() > limit {
        return Err(Refusal::TooManyRecipients { limit });
    }
    let parse = number::reader(gateway, environment);
    let mut invalid = RecipientList::default();
    let mut places = Vec::with_capacity(rows.len());
    for (place, row) in rows.iter().enumerate() {
        match parse(row.to()) {
            Some(recipient) => places.push((recipient, place)),
            None if row.to().trim().is_empty() => {
                invalid.add_invalid(&format!("(none in row {})", row.number()));
            }
            None => invalid.add_invalid(row.to().trim()),
        }
    }
    some_valid(places.len(), invalid.invalid_count)?;
    let mut is_repeated = vec![false; rows.len()];
    let mut sorted = places.clone();
    sorted.sort_unstable();
    for two in sorted.windows(2) {
        is_repeated[two[1].1] = two[0].0 == two[1].0;
    }
    let numbers = (0..rows.len()).filter(|&place| is_repeated[place]);
    let numbers = numbers.map(|place| rows.row(place).number());
    let repeated_count = numbers.clone().count();
    let repeated = numbers.take(MAX_NAMED_REPEATED).collect();
    places.retain(|&(_, place)| !is_repeated[place]);
    Ok(Chosen {
        places,
        invalid,
        repeated,
        repeated_count,
    })
}

fn fingerprint(
    account: AccountId,
    environment: Environment,
    judged: &judge::Judged,
) -> Fingerprint {
    let texts = judged.recipients.iter().map(|recipient| {
        let text = piece(&judged.texts, &recipient.text);
        (recipient.recipient, text)
    });
    fingerprint::of_texts(account, environment, texts)
}

#[cfg(test)]
mod tests;
