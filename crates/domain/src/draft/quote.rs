//! A quote: the charge, pages and final text of a send, without sending it.

use super::personalised::{PersonalisedDraft, each_text};
use super::send::{Adjustments, Draft};
use crate::gateway::Rulebook;
use crate::money::Money;
use crate::number::MAX_NAMED_INVALID;
use crate::number::recipient::Recipient;
use crate::opt_out::LeftOut;
use crate::personalised::Rows;
use crate::text::{Alphabet, Text, TextChange, TextChanges};
use std::cmp::Reverse;

/// The name for networks that the number plan does not contain.
pub const OTHER_NETWORK: &str = "other";

/// The recipients and charge of one network.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NetworkCost {
    /// The name of the network, or [`OTHER_NETWORK`].
    pub network: String,
    /// The number of recipients.
    pub recipients: i64,
    /// The number of pages of all recipients.
    pub pages: i64,
    /// The charge of all recipients.
    pub cost: Money,
}

/// The quote of a send.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Quote {
    /// The charge of all recipients.
    pub cost: Money,
    /// The number of recipients, without repeated and invalid ones.
    pub recipients_count: usize,
    /// The first invalid numbers.
    pub invalid: Vec<String>,
    /// The number of invalid numbers.
    pub invalid_count: usize,
    /// Recipients that are left out.
    pub left_out: LeftOut,
    /// The largest number of pages of a recipient.
    pub page_count: i64,
    /// The pages of all recipients.
    pub pages_total: i64,
    /// The alphabet of the text: UCS-2 if the text of a recipient needs it.
    pub alphabet: Alphabet,
    /// The longest form of the text, with its suffix.
    pub prepared_body: String,
    /// The changes that make the text plain, most frequent first.
    pub changes: Vec<TextChange>,
    /// The charge by network, in the order of the number plan.
    pub by_network: Vec<NetworkCost>,
    /// Changes of the text, and unknown fields.
    pub adjustments: Adjustments,
}

impl Quote {
    /// Returns the quote of a send with this body.
    pub fn of(draft: &Draft, body: &str, rules: &Rulebook) -> Self {
        let is_suffixed = draft.classes.iter().any(|class| class.suffixed);
        let longest = longest_form(&draft.text, is_suffixed, &draft.sender);
        let mut networks = Networks::new(rules);
        for class in &draft.classes {
            let count = i64::try_from(class.recipients.len()).unwrap_or(i64::MAX);
            if let Some(&recipient) = class.recipients.first() {
                networks.add(recipient, count, class.pages * count, class.charge * count);
            }
        }
        Self {
            cost: draft.cost,
            recipients_count: draft.recipients.len(),
            invalid: draft.invalid.clone(),
            invalid_count: draft.invalid_count,
            left_out: draft.left_out,
            page_count: draft.page_count,
            pages_total: networks.pages(),
            alphabet: longest.alphabet(),
            prepared_body: longest.as_str().to_owned(),
            changes: changes_of(&draft.adjustments, |changes| changes.add(body)),
            by_network: networks.into_list(),
            adjustments: draft.adjustments.clone(),
        }
    }

    /// Returns the quote of a personalised send with these rows and body.
    pub fn of_personalised(
        draft: &PersonalisedDraft,
        rows: &Rows,
        body: Option<&str>,
        rules: &Rulebook,
    ) -> Self {
        let mut networks = Networks::new(rules);
        for one in &draft.recipients {
            networks.add(one.recipient, 1, one.pages, one.charge);
        }
        let suffix = Text::from_stored(String::new()).with_sender(&draft.sender);
        let longest = draft.recipients.iter().max_by_key(|one| {
            let suffix = if one.suffixed {
                suffix.as_str().len()
            } else {
                0
            };
            (one.pages, draft.text(one).len() + suffix)
        });
        let longest = longest.map(|one| {
            let text = Text::from_stored(draft.text(one).to_owned());
            longest_form(&text, one.suffixed, &draft.sender)
        });
        let add_all = |changes: &mut TextChanges| {
            let places = places_of(draft, rows);
            // The rows have no fault, since a draft was made of them.
            let _ = each_text(body, rows, &places, |_, _, text| changes.add(text));
        };
        Self {
            cost: draft.cost,
            recipients_count: draft.recipients.len(),
            invalid: draft.invalid.clone(),
            invalid_count: draft.invalid_count,
            left_out: draft.left_out,
            page_count: draft.page_count,
            pages_total: draft.pages_total,
            alphabet: draft.alphabet(),
            prepared_body: longest.map_or_else(String::new, |text| text.as_str().to_owned()),
            changes: changes_of(&draft.adjustments, add_all),
            by_network: networks.into_list(),
            adjustments: draft.adjustments.clone(),
        }
    }

    /// Adds the quote of a further message of the same send.
    pub fn add(&mut self, other: Self) {
        self.cost += other.cost;
        self.recipients_count += other.recipients_count;
        self.invalid.extend(other.invalid);
        self.invalid.truncate(MAX_NAMED_INVALID);
        self.invalid_count += other.invalid_count;
        self.left_out.opted_out += other.left_out.opted_out;
        self.left_out.dnd += other.left_out.dnd;
        self.page_count = self.page_count.max(other.page_count);
        self.pages_total += other.pages_total;
        if other.alphabet == Alphabet::Ucs2 {
            self.alphabet = Alphabet::Ucs2;
        }
        if other.prepared_body.len() > self.prepared_body.len() {
            self.prepared_body = other.prepared_body;
        }
        for change in other.changes {
            let mut same = self.changes.iter_mut();
            match same.find(|one| (one.from, &one.to) == (change.from, &change.to)) {
                Some(one) => one.count += change.count,
                None => self.changes.push(change),
            }
        }
        self.changes.sort_by_key(|change| Reverse(change.count));
        for network in other.by_network {
            let mut same = self.by_network.iter_mut();
            match same.find(|one| one.network == network.network) {
                Some(one) => {
                    one.recipients += network.recipients;
                    one.pages += network.pages;
                    one.cost += network.cost;
                }
                None => self.by_network.push(network),
            }
        }
        self.adjustments.text_changed |= other.adjustments.text_changed;
        self.adjustments.removed_characters += other.adjustments.removed_characters;
    }

    /// Returns `true` if a balance covers the cost.
    pub fn is_covered_by(&self, balance: Money) -> bool {
        self.cost <= balance
    }
}

fn longest_form(text: &Text, is_suffixed: bool, sender: &str) -> Text {
    if is_suffixed {
        text.with_sender(sender)
    } else {
        text.clone()
    }
}

/// Returns the changes of texts, which are none if the text is unchanged.
fn changes_of(adjustments: &Adjustments, add: impl FnOnce(&mut TextChanges)) -> Vec<TextChange> {
    let mut changes = TextChanges::default();
    if adjustments.text_changed {
        add(&mut changes);
    }
    changes.into_list()
}

/// Returns the indexes of the rows that are sent. Both lists are in the order of the rows.
fn places_of(draft: &PersonalisedDraft, rows: &Rows) -> Vec<(Recipient, usize)> {
    let mut sent = draft.recipients.iter().peekable();
    let mut places = Vec::with_capacity(draft.recipients.len());
    for (place, row) in rows.iter().enumerate() {
        if let Some(one) = sent.next_if(|one| one.row == row.number()) {
            places.push((one.recipient, place));
        }
    }
    places
}

/// The costs by network, with one entry for the networks outside of the plan.
struct Networks<'a> {
    rules: &'a Rulebook,
    costs: Vec<NetworkCost>,
}

impl<'a> Networks<'a> {
    fn new(rules: &'a Rulebook) -> Self {
        let names = rules.plan.networks().iter().map(String::as_str);
        let costs = names.chain([OTHER_NETWORK]).map(|network| NetworkCost {
            network: network.to_owned(),
            recipients: 0,
            pages: 0,
            cost: Money::ZERO,
        });
        Self {
            rules,
            costs: costs.collect(),
        }
    }

    fn add(&mut self, recipient: Recipient, recipients: i64, pages: i64, cost: Money) {
        let network = self.rules.network_of(recipient).map(usize::from);
        let others = self.costs.len() - 1;
        let of = &mut self.costs[network.unwrap_or(others)];
        of.recipients += recipients;
        of.pages += pages;
        of.cost += cost;
    }

    fn pages(&self) -> i64 {
        self.costs.iter().map(|of| of.pages).sum()
    }

    fn into_list(mut self) -> Vec<NetworkCost> {
        self.costs.retain(|of| of.recipients > 0);
        self.costs
    }
}

#[cfg(test)]
mod tests;
