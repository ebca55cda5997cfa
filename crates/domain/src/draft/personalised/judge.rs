//! Text, route and charge of each row.

use super::recipient::PersonalisedRecipient;
use crate::draft::classes::{PageCharge, Route, charge, route};
use crate::draft::fields::{Customer, MAX_REFERENCE_CHARACTERS};
use crate::draft::send::{Adjustments, ContentFault, content_fault};
use crate::gateway::{AppendSender, GatewayRules, Rulebook};
use crate::number::recipient::Recipient;
use crate::personalised::Bound;
use crate::personalised::{Reason, Row, RowFaults, Rows, Template};
use crate::prohibited::Prohibited;
use crate::refusal::Refusal;
use crate::text::{Alphabet, Prepared, Text};
use std::ops::Range;

/// The rules for all rows.
pub(super) struct Judge<'a> {
    pub(super) gateway: &'a GatewayRules,
    pub(super) customer: &'a Customer,
    pub(super) sender: &'a str,
    pub(super) append: AppendSender,
    pub(super) unicode: bool,
    pub(super) rules: &'a Rulebook,
    pub(super) prohibited: &'a Prohibited,
}

/// The recipients with their texts.
#[derive(Debug, Default)]
pub(super) struct Judged {
    pub(super) recipients: Vec<PersonalisedRecipient>,
    pub(super) texts: String,
    pub(super) adjustments: Adjustments,
}

impl Judged {
    /// Stores a text. Returns its range.
    fn keep(&mut self, text: &str) -> Result<Range<u32>, Refusal> {
        let start = self.texts.len();
        self.texts.push_str(text);
        let place = |place: usize| {
            u32::try_from(place)
                .map_err(|_| Refusal::Malformed("The texts are longer than 4 GiB.".to_owned()))
        };
        Ok(place(start)?..place(self.texts.len())?)
    }
}

impl Judge<'_> {
    /// Renders and checks the texts of these rows. All faults of rows are one refusal.
    pub(super) fn rows(
        &self,
        rows: &Rows,
        places: &[(Recipient, usize)],
        template: Option<&Template>,
    ) -> Result<Judged, Refusal> {
        let whole = template.map(|template| template.bind(rows));
        let mut judged = Judged {
            recipients: Vec::with_capacity(places.len()),
            ..Judged::default()
        };
        let mut faults = RowFaults::default();
        let mut ways = NetworkRoutes::default();
        let mut rendered = String::new();
        for &(recipient, place) in places {
            let row = rows.row(place);
            rendered.clear();
            let is_whole = render(row, rows, whole.as_ref(), &mut rendered, &mut faults)?;
            let reference = reference_of(row, &mut faults)?;
            if !is_whole {
                continue;
            }
            let Some(prepared) = self.prepare(row, &rendered, &mut faults)? else {
                continue;
            };
            if !faults.is_empty() {
                continue;
            }
            judged.adjustments.text_changed |= prepared.changed;
            judged.adjustments.removed_characters += prepared.removed_characters;
            let way = ways.to(self.rules.network_of(recipient), self);
            let found = self.recipient((recipient, row), &prepared.text, way, reference);
            let text = judged.keep(prepared.text.as_str())?;
            judged
                .recipients
                .push(PersonalisedRecipient { text, ..found });
        }
        if faults.is_empty() {
            Ok(judged)
        } else {
            Err(Refusal::Rows(faults))
        }
    }

    /// Returns the final text, or `None` if it has a fault.
    fn prepare(
        &self,
        row: Row<'_>,
        rendered: &str,
        faults: &mut RowFaults,
    ) -> Result<Option<Prepared>, Refusal> {
        if self.unicode {
            without_nul(row, "the text", rendered)?;
        }
        let prepared = Prepared::of(rendered, self.unicode);
        let reason = match &prepared {
            None => Some(Reason::Empty),
            Some(prepared) => self.fault_of(prepared.text.as_str()),
        };
        if let Some(reason) = reason {
            faults.note(row.number(), "body", reason);
            return Ok(None);
        }
        Ok(prepared)
    }

    /// Returns the reason why a text is not carried.
    fn fault_of(&self, text: &str) -> Option<Reason> {
        match content_fault(text, self.gateway, self.rules, self.prohibited)? {
            ContentFault::Prohibited(_) => Some(Reason::Prohibited),
            ContentFault::Transactional(_) => Some(Reason::NotPermitted),
        }
    }

    fn recipient(
        &self,
        (recipient, row): (Recipient, Row<'_>),
        text: &Text,
        way: NetworkRoute,
        customer_reference: Option<Box<str>>,
    ) -> PersonalisedRecipient {
        let pages = if way.route.suffixed {
            text.with_sender(self.sender).page_count()
        } else {
            text.page_count()
        };
        let pages = i64::try_from(pages).unwrap_or(i64::MAX);
        let page = match text.alphabet() {
            Alphabet::Gsm => way.plain_page,
            Alphabet::Ucs2 => way.unicode_page,
        };
        PersonalisedRecipient {
            recipient,
            row: row.number(),
            carrier: way.route.carrier,
            suffixed: way.route.suffixed,
            alphabet: text.alphabet(),
            pages,
            charge: page.charge * pages,
            reserve: page.reserve * pages,
            margin: page.margin * pages,
            text: 0..0,
            customer_reference,
        }
    }
}

/// Returns the reference of a row, if it is not too long.
fn reference_of(row: Row<'_>, faults: &mut RowFaults) -> Result<Option<Box<str>>, Refusal> {
    let Some(reference) = row.customer_reference() else {
        return Ok(None);
    };
    without_nul(row, "`customer_reference`", reference)?;
    if reference.len() > MAX_REFERENCE_CHARACTERS
        && reference.chars().count() > MAX_REFERENCE_CHARACTERS
    {
        faults.note(row.number(), "customer_reference", Reason::TooLong);
    }
    Ok(Some(reference.into()))
}

/// Renders the text of a row from its own template or the common one.
pub(super) fn render(
    row: Row<'_>,
    rows: &Rows,
    whole: Option<&Bound<'_>>,
    text: &mut String,
    faults: &mut RowFaults,
) -> Result<bool, Refusal> {
    match (row.body(), whole) {
        (Some(body), _) => {
            let template = Template::parse(body).map_err(|fault| {
                Refusal::Malformed(format!("Row {}: `body`: {fault}.", row.number()))
            })?;
            Ok(template.bind(rows).render(row, text, faults))
        }
        (None, Some(whole)) => Ok(whole.render(row, text, faults)),
        (None, None) => {
            faults.note(row.number(), "body", Reason::Missing);
            Ok(false)
        }
    }
}

fn without_nul(row: Row<'_>, name: &str, text: &str) -> Result<(), Refusal> {
    if text.contains('\0') {
        return Err(Refusal::Malformed(format!(
            "Row {}: {name} holds the character U+0000; leave it out.",
            row.number()
        )));
    }
    Ok(())
}

/// The route to a network, with the charge of one page.
#[derive(Clone, Copy, Debug)]
struct NetworkRoute {
    route: Route,
    plain_page: PageCharge,
    unicode_page: PageCharge,
}

/// The known routes. A linear search is fast enough, since networks are few.
#[derive(Default)]
struct NetworkRoutes(Vec<(Option<u8>, NetworkRoute)>);

impl NetworkRoutes {
    fn to(&mut self, network: Option<u8>, judge: &Judge<'_>) -> NetworkRoute {
        if let Some((_, way)) = self.0.iter().find(|(of, _)| *of == network) {
            return *way;
        }
        let payer = judge.customer.payer();
        let page = |unicode| charge(judge.gateway, judge.rules, payer, network, unicode);
        let way = NetworkRoute {
            route: route(network, judge.append, judge.gateway, judge.rules),
            plain_page: page(false),
            unicode_page: page(true),
        };
        self.0.push((network, way));
        way
    }
}
