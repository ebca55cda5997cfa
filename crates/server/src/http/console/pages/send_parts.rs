//! Parts that the send to typed recipients and the send to a file share.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::visitor::Visitor;
use super::shared::moment;
use axum::http::StatusCode;
use console::figures::{count, counted, naira, time};
use console::parts::{Choice, Field, Figure, Kind, Tone};
use console::screens::Counter;
use domain::opt_out::LeftOut;
use domain::{Alphabet, Gateway, Money, Quote, SendFields, SenderStatus};
use engine::{Admission, Purpose};

/// Maximum number of replaced characters that are named.
const MAX_CHANGES: usize = 5;

/// Admits the user as the account.
pub(super) async fn admit(visitor: &Visitor, purpose: Purpose) -> Result<Admission, Failure> {
    let (engine, account) = (visitor.engine(), visitor.account()?);
    let admitted = engine
        .admit_member(account, visitor.environment(), purpose)
        .await;
    admitted.map_err(|refused| refused.error.into())
}

/// Returns the status of a form: 422 with the reason of a refusal.
pub(super) const fn status_of(error: Option<&String>) -> StatusCode {
    match error {
        Some(_) => StatusCode::UNPROCESSABLE_ENTITY,
        None => StatusCode::OK,
    }
}

/// Returns the fields of the form with their values. `to` are the recipients, unless a file has
/// them.
pub(super) fn form_fields(
    admission: &Admission,
    fields: &Form,
    to: Option<Field>,
    text: Field,
) -> Vec<Field> {
    let senders = admission.customer().senders.values();
    let approved = senders.filter(|sender| sender.status == SenderStatus::Approved);
    let senders: Vec<Choice> = approved
        .map(|sender| Choice::new(&sender.name, &sender.name))
        .collect();
    let gateways = Gateway::ALL.iter();
    let gateways = gateways.map(|one| Choice::new(one.as_str(), gateway_name(*one)));
    let sender_hint = if senders.is_empty() {
        "No sender ID is approved yet. Ask for one under Sender IDs."
    } else {
        ""
    };
    let sender = Field::new(Kind::Select(senders), "from", "Sender ID").hint(sender_hint);
    let others = [
        text,
        Field::new(Kind::Select(gateways.collect()), "gateway", "Gateway"),
        Field::new(Kind::Input("datetime-local"), "send_at", "Send at")
            .hint("Time in Lagos, at most 90 days ahead. Empty sends at once.")
            .optional(),
        Field::text("customer_reference", "Reference").optional(),
    ];
    let all = [sender].into_iter().chain(to).chain(others);
    let filled = all.map(|field| {
        let value = fields.get(&field.name).to_owned();
        field.value(value)
    });
    filled.collect()
}

/// Returns the words of a gateway that a customer reads.
pub(super) const fn gateway_name(gateway: Gateway) -> &'static str {
    match gateway {
        Gateway::DirectRefund => "Direct, failed ones are refunded",
        Gateway::DirectCorporate => "Corporate, for transactional texts",
        Gateway::Otp => "One-time passwords",
        Gateway::DualBackup => "Direct, then corporate if it fails",
        Gateway::International => "International",
    }
}

/// Returns the fields of a send. Recipients may stand in lines, and lines end in commas then.
pub(super) fn send_fields(fields: &Form) -> SendFields {
    let given = |name: &str| fields.find(name).map(str::to_owned);
    let to = given("to").map(|to| {
        let parts = to.split(['\n', '\r', ';', ',']).map(str::trim);
        parts
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(",")
    });
    SendFields {
        from: given("from"),
        to,
        // A browser ends lines with CR LF, and phones show LF.
        body: given("body").map(|body| body.replace("\r\n", "\n")),
        gateway: given("gateway"),
        customer_reference: given("customer_reference"),
        send_at: given("send_at").map(|at| moment(&at)),
        ..SendFields::default()
    }
}

/// Returns the given ones of some fields, for the hidden fields of the next form.
pub(super) fn given_pairs(fields: &Form, names: &[&str]) -> Vec<(String, String)> {
    let given = names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), fields.find(name)?.to_owned())));
    given.collect()
}

/// Returns the hidden field of a new key. It makes a form that is sent twice one send.
pub(super) fn fresh_key(visitor: &Visitor) -> (String, String) {
    let key = format!("console-{}", visitor.sessions().new_secret().text());
    ("key".to_owned(), key)
}

/// Returns the reason why a balance does not suffice.
pub(super) fn uncovered(quote: &Quote, balance: Money) -> Option<Failure> {
    let text = format!(
        "The balance of {} does not cover the cost of {}. Add credit first.",
        naira(balance),
        naira(quote.cost)
    );
    (!quote.is_covered_by(balance)).then_some(Failure::Refused(text))
}

/// Returns warnings about the recipients that the gateway leaves out, and about its quiet hours.
pub(super) fn warnings(left_out: LeftOut, held_until_ms: Option<i64>) -> Vec<(Tone, String)> {
    let of = |(number, reason): (usize, &str)| {
        let recipients = counted(number as u64, "recipient");
        let text = format!("{recipients} {reason} will be left out, without a charge.");
        (number > 0).then_some((Tone::Warning, text))
    };
    let reasons = [
        (left_out.opted_out, "who opted out"),
        (left_out.dnd, "on do-not-disturb (DND)"),
    ];
    let held = held_until_ms.map(|at_ms| (Tone::Warning, held(at_ms)));
    reasons.into_iter().filter_map(of).chain(held).collect()
}

fn held(until_ms: i64) -> String {
    format!(
        "It is held until {}, when the quiet hours of the gateway end.",
        time(until_ms)
    )
}

/// Returns the counter of a price. `warnings` are notes on recipients who are left out, and on the
/// time.
pub(super) fn counter(
    quote: &Quote,
    balance: Money,
    body: &str,
    figures: Vec<Figure>,
    warnings: Vec<(Tone, String)>,
) -> Counter {
    let short = format!("The balance of {} does not cover the cost.", naira(balance));
    let short = (!quote.is_covered_by(balance)).then_some((Tone::Bad, short));
    let notes = short.into_iter().chain(warnings).chain(changes(quote));
    let networks = quote.by_network.iter().map(|one| {
        [
            one.network.clone(),
            one.recipients.to_string(),
            one.pages.to_string(),
            naira(one.cost),
        ]
    });
    let prepared = Some(&quote.prepared_body).filter(|text| text.as_str() != body);
    Counter {
        figures,
        notes: notes.collect(),
        prepared: prepared.cloned(),
        networks: networks.collect(),
    }
}

/// Returns the counter, or one that has the reason why there is no price.
pub(super) fn counter_or_reason(counted: Result<Counter, Failure>) -> Result<Counter, Failure> {
    counted.or_else(|failure| Ok(Counter::with_note(Tone::Bad, failure.shown()?.1)))
}

/// Returns a sentence on the time of the send, which quiet hours may hold.
pub(super) fn when(fields: &Form, held_until_ms: Option<i64>) -> String {
    match (held_until_ms, fields.find("send_at")) {
        (Some(until_ms), _) => held(until_ms),
        (None, Some(at)) => format!("It goes out on {} in Lagos.", moment(at)),
        (None, None) => {
            "It goes out at once, and what was submitted cannot be taken back.".to_owned()
        }
    }
}

/// Returns the name of the alphabet of a text.
pub(super) const fn alphabet_name(quote: &Quote) -> &'static str {
    match quote.alphabet {
        Alphabet::Ucs2 => "Unicode",
        Alphabet::Gsm => "GSM",
    }
}

/// Returns the figures of a price.
pub(super) fn figures(quote: &Quote, balance: Money, pages: Figure) -> Vec<Figure> {
    vec![
        Figure::new("Recipients", count(quote.recipients_count as u64)),
        pages,
        Figure::new("Cost", naira(quote.cost)),
        Figure::new("Balance after", naira(balance - quote.cost)),
    ]
}

/// Returns sentences on the characters that are replaced or removed.
pub(super) fn changes(quote: &Quote) -> Vec<(Tone, String)> {
    let sentences = quote.changes.iter().take(MAX_CHANGES).map(|change| {
        let (from, places) = (&change.from, counted(change.count as u64, "place"));
        let text = if change.to.is_empty() {
            format!("“{from}” is removed in {places}.")
        } else {
            format!("“{from}” becomes “{}” in {places}.", change.to)
        };
        (Tone::Plain, text)
    });
    sentences.collect()
}
