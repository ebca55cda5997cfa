//! `GET` and `POST /opt-outs`, and `DELETE /opt-outs/{recipient}` (docs/spec/inbound.md, section 5).

use super::list::List;
use crate::format::LagosTime;
use crate::http::extract::call::Listing;
use crate::http::extract::call::object::{AddingOptOuts, Removing};
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use domain::opt_out::{OptOut, parse_recipient};
use engine::{AddedOptOuts, ListPage, opt_outs};
use serde::Serialize;
use utoipa::ToSchema;

/// Lists the opt-outs of the account.
pub(crate) async fn list(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        let found = queries.opt_outs(fields.page());
        Ok::<_, Failure>(list_answer(found.await?, environment))
    };
    call.answer(found.await)
}

/// Adds one opt-out, or those of a CSV.
pub(crate) async fn add(adding: AddingOptOuts) -> Response {
    let AddingOptOuts {
        call,
        requests,
        is_table,
        key,
        permit: _until_answered,
    } = adding;
    let answer = move |added: &AddedOptOuts| added_answer(added, is_table);
    let keyed = call.keyed(key, answer);
    let added = opt_outs::add_opt_outs(&call.admission, requests, keyed).await;
    call.changed(added, answer)
}

/// Removes all opt-outs of a number.
pub(crate) async fn remove(removing: Removing) -> Response {
    let Removing { call, id, key } = removing;
    let recipient = parse_recipient(&id).map_or(id, |recipient| recipient.to_string());
    let named = recipient.clone();
    let answer = move |removed: &u64| removed_answer(&named, *removed);
    let keyed = call.keyed(key, answer.clone());
    let removed = opt_outs::remove_opt_outs(&call.admission, &recipient, keyed).await;
    call.changed(removed, answer)
}

/// Returns the envelope of a page of opt-outs.
pub(crate) fn list_answer(
    found: ListPage<OptOut>,
    environment: Environment,
) -> Envelope<List<OptOutItem>> {
    let list = List::new(found, environment, |opt_out| OptOutItem::new(&opt_out));
    Envelope::new("Opt-outs retrieved.", list)
}

/// Returns the envelope of opt-outs that were added.
pub(crate) fn added_answer(added: &AddedOptOuts, is_table: bool) -> Envelope<OptOutsAdded> {
    let first = Some(OptOutItem::new(&added.first)).filter(|_| !is_table);
    let (recipient, sender, reason, created_at) = match first {
        None => (None, None, None, None),
        Some(item) => (
            Some(item.recipient),
            item.sender,
            item.reason,
            Some(item.created_at),
        ),
    };
    let data = OptOutsAdded {
        added: added.added,
        known: added.known,
        recipient,
        sender,
        reason,
        created_at,
    };
    let text = if is_table {
        "Opt-outs added."
    } else {
        "Opt-out added."
    };
    Envelope::new(text, data)
}

/// Returns the envelope of opt-outs that were removed.
pub(crate) fn removed_answer(recipient: &str, removed: u64) -> Envelope<OptOutRemoved> {
    let recipient = recipient.to_owned();
    Envelope::new("Opt-out removed.", OptOutRemoved { recipient, removed })
}

/// A number that opted out.
#[derive(Serialize, ToSchema)]
pub(crate) struct OptOutItem {
    /// The number.
    #[schema(example = "2348031234567")]
    recipient: String,
    /// The sender ID whose messages are not sent to the number, or null for all of them.
    #[schema(required = true)]
    sender: Option<String>,
    /// The reason, as it was given, or null.
    #[schema(required = true)]
    reason: Option<String>,
    /// The time at which it was added.
    created_at: LagosTime,
}

impl OptOutItem {
    fn new(opt_out: &OptOut) -> Self {
        Self {
            recipient: opt_out.recipient.to_string(),
            sender: opt_out.sender.clone(),
            reason: opt_out.reason.clone(),
            created_at: LagosTime {
                at_ms: opt_out.created_at_ms,
            },
        }
    }
}

/// Opt-outs that were added.
#[derive(Serialize, ToSchema)]
pub(crate) struct OptOutsAdded {
    /// The number of new opt-outs.
    added: u64,
    /// The number of those that were there before, which stay as they were.
    known: u64,
    /// The number that opted out, or null in the answer to a CSV.
    #[schema(required = true)]
    recipient: Option<String>,
    /// The sender ID whose messages are not sent to the number, or null for all of them.
    #[schema(required = true)]
    sender: Option<String>,
    /// The reason, as it was given, or null.
    #[schema(required = true)]
    reason: Option<String>,
    /// The time at which it was added, or null in the answer to a CSV.
    #[schema(required = true)]
    created_at: Option<LagosTime>,
}

/// The opt-outs of a number that were removed.
#[derive(Serialize, ToSchema)]
pub(crate) struct OptOutRemoved {
    /// The number.
    #[schema(example = "2348031234567")]
    recipient: String,
    /// The number of its opt-outs.
    removed: u64,
}
