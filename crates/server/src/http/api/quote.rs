//! `POST /sms/quote` and `POST /sms/personalised/quote`: the price of a send
//! (docs/spec/interface.md, section 6.6).

use crate::format::Naira;
use crate::http::extract::call::personalised::QuotingPersonalised;
use crate::http::extract::call::{Call, Quoting};
use crate::http::respond::envelope::{CURRENCY, Envelope, sandbox_mark};
use axum::response::Response;
use domain::{Alphabet, Environment, NetworkCost, TextChange};
use engine::{Quoted, SendRequest};
use serde::Serialize;
use utoipa::ToSchema;

/// Calculates a price.
pub(crate) async fn quote(quoting: Quoting) -> Response {
    let Quoting {
        call,
        fields,
        permit: _until_answered,
    } = quoting;
    answer(&call, SendRequest::Shared(fields)).await
}

/// Calculates the price of a personalised send.
pub(crate) async fn quote_personalised(quoting: QuotingPersonalised) -> Response {
    let QuotingPersonalised {
        call,
        fields,
        rows,
        permit: _until_answered,
    } = quoting;
    answer(&call, SendRequest::Personalised(fields, rows)).await
}

async fn answer(call: &Call, request: SendRequest) -> Response {
    let environment = call.environment();
    let quoted = call.admission.quote(request).await;
    call.answer(quoted.map(|quoted| QuoteData::answer(quoted, environment)))
}

/// The price of a send.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuoteData {
    /// The charge for all recipients.
    cost: Naira,
    /// Always `NGN`.
    #[schema(example = "NGN")]
    currency: &'static str,
    /// Different valid recipients.
    recipients_count: usize,
    /// The first hundred entries of `to` that are no recipients.
    invalid_recipients: Vec<String>,
    /// Recipients who opted out, and would be left out.
    opted_out: usize,
    /// Skipped recipients that are on a do-not-disturb list.
    dnd: usize,
    /// The largest number of pages of a recipient.
    page_count: i64,
    /// The pages of all recipients.
    pages_total: i64,
    /// `gsm` or `ucs2`: the alphabet of the text.
    #[schema(example = "gsm")]
    encoding: &'static str,
    /// The longest form of the text that will be sent, the suffix included.
    prepared_body: String,
    /// The changes that make the text plain, the most frequent first.
    changes: Vec<QuotedChange>,
    /// True if the sent text differs from `body`.
    text_changed: bool,
    /// Characters of `body` that are removed.
    removed_characters: usize,
    /// The charge by network.
    by_network: Vec<QuotedNetwork>,
    /// The balance now.
    balance: Naira,
    /// True if the balance covers the cost.
    sufficient: bool,
    /// Unknown fields of the request, the first twenty. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    ignored_fields: Vec<String>,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

/// One change of the text.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuotedChange {
    /// The character of `body`.
    #[schema(example = "\u{201C}")]
    from: String,
    /// The characters in its place; empty if it is removed.
    #[schema(example = "\"")]
    to: String,
    /// The number of occurrences.
    count: usize,
}

/// The charge of one network.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuotedNetwork {
    /// The name of the network, or `other` for an unknown prefix.
    #[schema(example = "mtn")]
    network: String,
    /// Its recipients.
    recipients: i64,
    /// The pages of all of them.
    pages: i64,
    /// The charge of all of them.
    cost: Naira,
}

impl QuoteData {
    pub(crate) fn answer(quoted: Quoted, environment: Environment) -> Envelope<Self> {
        let Quoted { quote, balance, .. } = quoted;
        let sufficient = quote.is_covered_by(balance);
        let data = Self {
            cost: Naira(quote.cost),
            currency: CURRENCY,
            recipients_count: quote.recipients_count,
            invalid_recipients: quote.invalid,
            opted_out: quote.left_out.opted_out,
            dnd: quote.left_out.dnd,
            page_count: quote.page_count,
            pages_total: quote.pages_total,
            encoding: match quote.alphabet {
                Alphabet::Gsm => "gsm",
                Alphabet::Ucs2 => "ucs2",
            },
            prepared_body: quote.prepared_body,
            changes: quote.changes.into_iter().map(QuotedChange::of).collect(),
            text_changed: quote.adjustments.text_changed,
            removed_characters: quote.adjustments.removed_characters,
            by_network: quote
                .by_network
                .into_iter()
                .map(QuotedNetwork::of)
                .collect(),
            balance: Naira(balance),
            sufficient,
            ignored_fields: quote.adjustments.ignored_fields,
            sandbox: sandbox_mark(environment),
        };
        Envelope::new("Price calculated. Nothing was sent or charged.", data)
    }
}

impl QuotedChange {
    fn of(change: TextChange) -> Self {
        Self {
            from: change.from.to_string(),
            to: change.to,
            count: change.count,
        }
    }
}

impl QuotedNetwork {
    fn of(cost: NetworkCost) -> Self {
        Self {
            network: cost.network,
            recipients: cost.recipients,
            pages: cost.pages,
            cost: Naira(cost.cost),
        }
    }
}
