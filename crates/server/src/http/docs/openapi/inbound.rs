//! The operations on inbound messages (docs/spec/inbound.md).

use super::answers::{
    self, Name, RECIPIENT, TEN_O_CLOCK_MS, add_enveloped, message_id, replayable, success,
};
use super::draft::{CallbackDraft, Draft, of_reads};
use super::objects::{
    EnvironmentPaths, OF_LISTS, addition, change_of_one, list_of, one_page, request, text,
};
use super::otp::body;
use super::parameters::parameter;
use super::queries::{InPath, list};
use crate::http::api::inbound::{self, InboundItem, RemovedRoute, RouteItem};
use crate::http::api::list::List;
use crate::http::docs::installation::Installation;
use crate::http::respond::envelope::Envelope;
use domain::inbound::{InboundMessage, InboundRoute, MAX_KEYWORD_CHARACTERS, MAX_ROUTES};
use domain::{AccountId, Environment, MessageId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::path::{Callback, OperationBuilder, ParameterIn, Paths};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{RefOr, Response};

const MESSAGES: Name = "InboundAnswer";
const ROUTES: Name = "InboundRoutesAnswer";
const ROUTE: Name = "InboundRouteAnswer";
const REMOVED: Name = "InboundRouteRemovedAnswer";
const CALLBACK: Name = "InboundCallback";
const REQUEST: &str = "InboundRouteRequest";
const ROUTE_ID: &str = "rt_51f0c39a7be2d404";
/// The route in a path.
const IN_PATH: InPath = ("route_id", "The `route_id` in the list.");

/// Further codes of a change of a route.
const OF_CHANGES: [&str; 6] = [
    "API-2000", "API-2007", "API-2016", "API-2017", "API-2018", "API-2019",
];

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<InboundItem>>(MESSAGES, &mut schemas);
    add_enveloped::<List<RouteItem>>(ROUTES, &mut schemas);
    answers::add::<Envelope<RouteItem>>(ROUTE, &mut schemas);
    add_enveloped::<RemovedRoute>(REMOVED, &mut schemas);
    answers::add::<InboundCallback>(CALLBACK, &mut schemas);
    schemas
}

/// Adds the operations of an environment.
pub(super) fn add(
    paths: &mut Paths,
    prefix: &str,
    environment: Environment,
    installation: &Installation,
) {
    let mut at = EnvironmentPaths { paths, prefix };
    at.get("/inbound", messages(environment, installation));
    at.get("/inbound/routes", routes(environment, installation));
    if environment == Environment::Live {
        at.post("/inbound/routes", add_route(installation));
        let of_one = "/inbound/routes/{route_id}";
        at.delete(of_one, remove_route(installation));
    }
}

fn messages(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "inbound",
        summary: "List inbound messages",
        about: of_reads(
            "The messages that subscribers sent to numbers and keywords of the account, newest first. The sandbox has none.",
            installation,
        ),
        codes: &OF_LISTS,
        success: message(environment),
    };
    let text: Schema = ObjectBuilder::new().schema_type(Type::String).into();
    let of_sender = "Sent by this number, in any form that a send accepts.";
    let mut parameters = list(&["since", "until", "number", "keyword"]);
    let sender = parameter("sender", ParameterIn::Query, false, of_sender, text);
    parameters.push(sender);
    let operation = draft.build("", environment);
    operation.parameters(Some(parameters))
}

fn routes(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "inbound_routes",
        summary: "List routes of inbound messages",
        about: of_reads(
            "The numbers and keywords whose messages belong to the account, newest first. The account may use these numbers \
             as sender IDs. The sandbox has none.",
            installation,
        ),
        codes: &OF_LISTS,
        success: route(environment),
    };
    list_of(draft, environment)
}

fn add_route(installation: &Installation) -> OperationBuilder {
    let about = format!(
        "Gives one keyword of a number of the account a route of its own, or changes the URL or the SMPP user of a route that \
         the account has. A route has one of both, or none. The operator gives numbers. An account has at most {MAX_ROUTES} routes. The sandbox changes none."
    );
    let draft = Draft {
        id: "add_inbound_route",
        summary: "Add a route of inbound messages",
        about: of_reads(&about, installation),
        codes: &OF_CHANGES,
        success: replayable(success(ROUTE, &inbound::added_answer(&example()))),
    };
    let fields = json!({
        "number": "32811", "keyword": "vote", "url": "https://shop.example.ng/inbound",
    });
    addition(
        draft,
        Environment::Live,
        installation,
        body(REQUEST, fields),
    )
    .callback("inbound", callback())
}

fn remove_route(installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "remove_inbound_route",
        summary: "Remove a route of inbound messages",
        about: of_reads(
            "Removes a route that the account made. Its messages stay with the account. A route of the operator stays.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: replayable(success(REMOVED, &inbound::removed_answer(ROUTE_ID))),
    };
    change_of_one(draft, IN_PATH, installation)
}

/// Returns the schema of a request, with its name.
pub(crate) fn request_schema(installation: &Installation) -> (&'static str, RefOr<Schema>) {
    let keyword =
        text("The first words of the texts. Without it, the route takes all other texts.");
    let object = ObjectBuilder::new()
        .description(Some("A route of inbound messages."))
        .property(
            "number",
            text("The number: a short code, or an international number."),
        )
        .required("number")
        .property("keyword", keyword.max_length(Some(MAX_KEYWORD_CHARACTERS)))
        .property("url", text("The URL that gets the messages."))
        .property(
            "smpp_user",
            text("The `system_id` of the SMPP user that gets the messages, in place of a URL."),
        );
    request(REQUEST, object, installation)
}

/// Returns the callback of the `url` (docs/spec/inbound.md, section 4).
fn callback() -> Callback {
    let draft = CallbackDraft {
        id: "inbound_message".to_owned(),
        summary: "An inbound message",
        sent: "The service sends it for each message that the route takes.",
        repeated: "A message can arrive more than once: compare `inbound_id`.",
        schema: CALLBACK,
        example: posted(),
    };
    draft.build("url")
}

/// An inbound message as it is sent to the `url` of its route.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct InboundCallback {
    /// `inbound`.
    event: String,
    /// The id of the message.
    inbound_id: String,
    /// The number that it was sent to.
    to: String,
    /// The sender as an international number.
    from: String,
    /// The text, or null once retention has removed it.
    #[schema(required = true)]
    body: Option<String>,
    /// The keyword of the route, or null.
    #[schema(required = true)]
    keyword: Option<String>,
    /// The arrival of its first page in Africa/Lagos.
    received_at: String,
    /// False if a page is missing.
    complete: bool,
    /// The account's last message to the sender, or null.
    #[schema(required = true)]
    in_reply_to: Option<String>,
}

/// Returns an example of a callback.
fn posted() -> Option<Value> {
    let callback: InboundCallback = serde_json::from_str(&reply().callback_body()).ok()?;
    serde_json::to_value(callback).ok()
}

/// Returns a message that replies to one.
fn reply() -> InboundMessage {
    InboundMessage {
        id: MessageId::new(TEN_O_CLOCK_MS + 60_000, [0x3C; 10]),
        account: None,
        route: None,
        carrier: "mtn".to_owned(),
        number: "32811".to_owned(),
        sender: RECIPIENT.to_string(),
        keyword: "vote".to_owned(),
        complete: true,
        in_reply_to: Some(message_id()),
        received_at_ms: TEN_O_CLOCK_MS + 60_000,
        body: Some("VOTE A".to_owned()),
    }
}

/// Returns a page of messages.
fn message(environment: Environment) -> Response {
    let found = one_page(reply());
    success(MESSAGES, &inbound::messages_answer(found, environment))
}

/// Returns a route of a keyword.
fn example() -> InboundRoute {
    InboundRoute {
        id: ROUTE_ID.to_owned(),
        number: "32811".to_owned(),
        keyword: "vote".to_owned(),
        account: AccountId(1),
        url: Some("https://shop.example.ng/inbound".to_owned()),
        smpp_user: None,
        is_given: false,
        created_at_ms: TEN_O_CLOCK_MS,
    }
}

/// Returns a page of routes.
fn route(environment: Environment) -> Response {
    let found = one_page(example());
    success(ROUTES, &inbound::routes_answer(found, environment))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callback_is_described_as_it_is_sent() {
        let posted = posted().expect("the body is of the described type");
        assert_eq!(posted["event"], "inbound");
        assert_eq!(posted["in_reply_to"], message_id().to_string());
    }
}
