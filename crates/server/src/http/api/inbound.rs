//! `GET /inbound`, and the paths of its routes (docs/spec/inbound.md).

use super::list::List;
use crate::format::LagosTime;
use crate::http::extract::call::Listing;
use crate::http::extract::call::object::{Adding, Removing};
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use domain::inbound::{InboundMessage, InboundRoute, RouteFields};
use engine::{ListPage, inbound_routes};
use serde::Serialize;
use utoipa::ToSchema;

/// Lists the inbound messages of the account.
pub(crate) async fn messages(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        let found = queries.inbound_messages(&fields.filter, fields.page());
        Ok::<_, Failure>(messages_answer(found.await?, environment))
    };
    call.answer(found.await)
}

/// Lists the routes of the account.
pub(crate) async fn routes(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        let found = queries.inbound_routes(fields.page());
        Ok::<_, Failure>(routes_answer(found.await?, environment))
    };
    call.answer(found.await)
}

/// Adds a route of a number that the operator gave to the account.
pub(crate) async fn add_route(adding: Adding<RouteFields>) -> Response {
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    let keyed = call.keyed(key, added_answer);
    let added = inbound_routes::add_route(&call.admission, &fields, keyed).await;
    call.changed(added, added_answer)
}

/// Removes a route that the account made.
pub(crate) async fn remove_route(removing: Removing) -> Response {
    let Removing { call, id, key } = removing;
    let answer = |id: &String| removed_answer(id);
    let keyed = call.keyed(key, answer);
    let removed = inbound_routes::remove_route(&call.admission, &id, keyed).await;
    call.changed(removed, answer)
}

/// Returns the envelope of a page of messages.
pub(crate) fn messages_answer(
    found: ListPage<InboundMessage>,
    environment: Environment,
) -> Envelope<List<InboundItem>> {
    let list = List::new(found, environment, InboundItem::new);
    Envelope::new("Inbound messages retrieved.", list)
}

/// Returns the envelope of a page of routes.
pub(crate) fn routes_answer(
    found: ListPage<InboundRoute>,
    environment: Environment,
) -> Envelope<List<RouteItem>> {
    let list = List::new(found, environment, |route| RouteItem::new(&route));
    Envelope::new("Routes retrieved.", list)
}

/// Returns the envelope of an added route.
pub(crate) fn added_answer(route: &InboundRoute) -> Envelope<RouteItem> {
    Envelope::new("Route added.", RouteItem::new(route))
}

/// Returns the envelope of a removed route.
pub(crate) fn removed_answer(id: &str) -> Envelope<RemovedRoute> {
    let route_id = id.to_owned();
    Envelope::new("Route removed.", RemovedRoute { route_id })
}

/// An inbound message.
#[derive(Serialize, ToSchema)]
pub(crate) struct InboundItem {
    /// The id of the message.
    inbound_id: String,
    /// The number that it was sent to.
    #[schema(example = "32811")]
    to: String,
    /// The sender as an international number.
    #[schema(example = "2348031234567")]
    from: String,
    /// The text, or null once retention has removed it.
    #[schema(required = true)]
    body: Option<String>,
    /// The keyword of the route that took it, or null.
    #[schema(required = true)]
    keyword: Option<String>,
    /// The arrival of its first page.
    received_at: LagosTime,
    /// False if a page is missing.
    complete: bool,
    /// The account's last message to the sender with this number as its sender ID, of the last 72 hours.
    #[schema(required = true)]
    in_reply_to: Option<String>,
}

impl InboundItem {
    fn new(message: InboundMessage) -> Self {
        Self {
            inbound_id: message.id.to_string(),
            to: message.number,
            from: message.sender,
            body: message.body,
            keyword: Some(message.keyword).filter(|keyword| !keyword.is_empty()),
            received_at: LagosTime {
                at_ms: message.received_at_ms,
            },
            complete: message.complete,
            in_reply_to: message.in_reply_to.map(|id| id.to_string()),
        }
    }
}

/// A route of inbound messages.
#[derive(Serialize, ToSchema)]
pub(crate) struct RouteItem {
    /// The id of the route.
    route_id: String,
    /// The number.
    #[schema(example = "32811")]
    number: String,
    /// The first words of the texts in lower case, or null for all texts without another route.
    #[schema(required = true)]
    keyword: Option<String>,
    /// The URL that gets the messages, or null.
    #[schema(required = true)]
    url: Option<String>,
    /// The SMPP user that gets the messages in place of a URL, or null.
    #[schema(required = true)]
    smpp_user: Option<String>,
    /// True if the operator gave the route, and alone can remove it.
    given: bool,
    /// The time of creation.
    created_at: LagosTime,
}

/// A route that was removed.
#[derive(Serialize, ToSchema)]
pub(crate) struct RemovedRoute {
    /// The id of the route.
    route_id: String,
}

impl RouteItem {
    fn new(route: &InboundRoute) -> Self {
        Self {
            route_id: route.id.clone(),
            number: route.number.clone(),
            keyword: Some(route.keyword.clone()).filter(|keyword| !keyword.is_empty()),
            url: route.url.clone(),
            smpp_user: route.smpp_user.clone(),
            given: route.is_given,
            created_at: LagosTime {
                at_ms: route.created_at_ms,
            },
        }
    }
}
