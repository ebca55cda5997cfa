//! The changes of customers to routes of inbound messages.

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::error::{Error, within};
use domain::idempotency;
use domain::inbound::{InboundRoute, RouteFields, RouteRequest};

/// Adds a route of a number that the operator gave to the account, or changes its URL or SMPP user.
pub async fn add_route(
    admission: &Admission,
    fields: &RouteFields,
    keyed: Option<KeyedAnswer<InboundRoute>>,
) -> Result<Changed<InboundRoute>, Error> {
    let context = admission.context();
    let allows_private = context.live().plan.rules.private_callbacks;
    let request = RouteRequest::read(fields, allows_private)?;
    let meaning = idempotency::of_route(&request);
    let shown = |route: &InboundRoute| (route.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let by = admission.author();
    let route = InboundRoute {
        id: format!("rt_{:016x}", context.random.number()),
        number: request.number,
        keyword: request.keyword,
        account: admission.customer().account.id,
        url: request.url,
        smpp_user: request.smpp_user,
        is_given: false,
        created_at_ms: by.at_ms,
    };
    let routes = context.store.inbound_routes();
    let requested = routes.request(route, claimed.keyed.take(), by);
    let outcome = within(async { Ok(requested.await?) }).await?;
    changed(outcome, |route| route)
}

/// Removes a route that the account made. Returns its id.
pub async fn remove_route(
    admission: &Admission,
    id: &str,
    keyed: Option<KeyedAnswer<String>>,
) -> Result<Changed<String>, Error> {
    let meaning = idempotency::of_change(idempotency::Operation::RemoveRoute, id, None);
    let shown = |id: &String| (id.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let routes = admission.context().store.inbound_routes();
    let account = admission.customer().account.id;
    let given_up = routes.give_up(account, id, claimed.keyed.take(), admission.author());
    let outcome = within(async { Ok(given_up.await?) }).await?;
    changed(outcome, |id| id)
}
