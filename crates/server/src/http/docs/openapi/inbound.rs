//! The operations on inbound messages (docs/spec/inbound.md).

use super::answers::{Name, RECIPIENT, TEN_O_CLOCK_MS, add_enveloped, message_id, success};
use super::draft::{Draft, of_reads};
use super::parameters::parameter;
use super::queries::list;
use crate::http::api::inbound::{self, InboundItem, RouteItem};
use crate::http::api::list::List;
use crate::http::docs::installation::Installation;
use domain::inbound::{InboundMessage, InboundRoute};
use domain::{AccountId, Environment, MessageId};
use engine::ListPage;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, ParameterIn, Paths};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{RefOr, Response};

const MESSAGES: Name = "InboundAnswer";
const ROUTES: Name = "InboundRoutesAnswer";

/// Further codes of a list.
const OF_LISTS: [&str; 1] = ["API-2000"];

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<InboundItem>>(MESSAGES, &mut schemas);
    add_enveloped::<List<RouteItem>>(ROUTES, &mut schemas);
    schemas
}

/// Adds the operations of an environment.
pub(super) fn add(
    paths: &mut Paths,
    prefix: &str,
    environment: Environment,
    installation: &Installation,
) {
    let mut get = |path: &str, operation: OperationBuilder| {
        let path = format!("{prefix}{path}");
        paths.add_path_operation(path, vec![HttpMethod::Get], operation.build());
    };
    get("/inbound", messages(environment, installation));
    get("/inbound/routes", routes(environment, installation));
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
    let operation = draft.build("", environment);
    operation.parameters(Some(list(&[])))
}

/// Returns a page of messages.
fn message(environment: Environment) -> Response {
    let id = MessageId::new(TEN_O_CLOCK_MS + 60_000, [0x3C; 10]);
    let reply = InboundMessage {
        id,
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
    };
    let found = ListPage {
        items: vec![reply],
        next_cursor: None,
    };
    success(MESSAGES, &inbound::messages_answer(found, environment))
}

/// Returns a page of routes.
fn route(environment: Environment) -> Response {
    let vote = InboundRoute {
        id: "rt_51f0c39a7be2d404".to_owned(),
        number: "32811".to_owned(),
        keyword: "vote".to_owned(),
        account: AccountId(1),
        url: Some("https://shop.example.ng/inbound".to_owned()),
        is_given: true,
        created_at_ms: TEN_O_CLOCK_MS,
    };
    let found = ListPage {
        items: vec![vote],
        next_cursor: None,
    };
    success(ROUTES, &inbound::routes_answer(found, environment))
}
