//! The operations that change an accepted message.

use super::answers::{Name, TEN_O_CLOCK_MS, add_enveloped, message_id, replayable, success};
use super::draft::{Draft, of_reads};
use super::parameters::idempotency_key;
use super::queries::{MESSAGE_ID, changed, path};
use crate::http::api::messages::CancelData;
use crate::http::docs::installation::Installation;
use domain::schedule::MessageState;
use domain::{Environment, Money};
use engine::message_changes::Cancelled;
use serde_json::json;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Paths};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required, Response};

const CANCELLED: Name = "CancelAnswer";
const RESCHEDULE: Name = "RescheduleRequest";

/// Further codes of a cancel.
const OF_CANCELS: [&str; 5] = ["API-2000", "API-2007", "API-2016", "API-2017", "API-2018"];

/// Further codes of the other changes.
const OF_CHANGES: [&str; 6] = [
    "API-2000", "API-2007", "API-2016", "API-2017", "API-2018", "API-2019",
];

/// Returns the schemas, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<CancelData>(CANCELLED, &mut schemas);
    schemas
}

/// Adds the operations of an environment.
pub(super) fn add(
    paths: &mut Paths,
    prefix: &str,
    environment: Environment,
    installation: &Installation,
) {
    let mut post = |path: &str, operation: OperationBuilder| {
        let path = format!("{prefix}/messages/{{message_id}}/{path}");
        paths.add_path_operation(path, vec![HttpMethod::Post], operation.build());
    };
    post("cancel", cancel(environment, installation));
    post("pause", pause(environment, installation));
    post("resume", resume(environment, installation));
    post("reschedule", reschedule(environment, installation));
}

fn pause(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "pause_message",
        summary: "Pause a message",
        about: of_reads(
            "Recipients that no carrier has wait for a resume, however long. Their validity stands still. A repeated pause \
             has no effect.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: changed(environment, (MessageState::Paused, None), "Message paused."),
    };
    with_parameters(draft, environment, installation)
}

fn resume(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "resume_message",
        summary: "Resume a message",
        about: of_reads(
            "Recipients that waited are sent. A message whose time came during its pause is due now.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: changed(
            environment,
            (MessageState::Sending, None),
            "Message resumed.",
        ),
    };
    with_parameters(draft, environment, installation)
}

fn reschedule(environment: Environment, installation: &Installation) -> OperationBuilder {
    let due_at_ms = TEN_O_CLOCK_MS + 3_600_000;
    let draft = Draft {
        id: "reschedule_message",
        summary: "Give a message another time",
        about: of_reads(
            "Moves the time of a message of which no carrier has anything. A paused message stays paused.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: changed(
            environment,
            (MessageState::Scheduled, Some(due_at_ms)),
            "Message rescheduled.",
        ),
    };
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(RESCHEDULE)))
        .example(Some(json!({ "send_at": "2026-11-18 13:06:40" })))
        .build();
    let body = RequestBodyBuilder::new()
        .content("application/json", content)
        .required(Some(Required::True))
        .build();
    with_parameters(draft, environment, installation).request_body(Some(body))
}

fn with_parameters(
    draft: Draft,
    environment: Environment,
    installation: &Installation,
) -> OperationBuilder {
    let mut parameters = path(&[MESSAGE_ID]);
    parameters.push(idempotency_key(installation));
    let draft = Draft {
        success: replayable(draft.success),
        ..draft
    };
    draft.build("", environment).parameters(Some(parameters))
}

/// Returns the schema of the request of a reschedule.
pub(crate) fn request() -> (&'static str, RefOr<Schema>) {
    let send_at = ObjectBuilder::new().schema_type(Type::String).description(Some(
        "RFC 3339 with an offset, or `YYYY-MM-DD HH:MM:SS` in Africa/Lagos; at most 90 days ahead.",
    ));
    let object: Schema = ObjectBuilder::new()
        .description(Some("The new time of a message."))
        .property("send_at", send_at)
        .required("send_at")
        .build()
        .into();
    (RESCHEDULE, object.into())
}

fn cancel(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "cancel_message",
        summary: "Cancel a message",
        about: of_reads(
            "Each recipient that no carrier has ends as `cancelled` and is refunded whole. The others go on. A repeated \
             cancel has the same counts. After a cancel of all recipients the same send is no duplicate.",
            installation,
        ),
        codes: &OF_CANCELS,
        success: cancelled(environment),
    };
    with_parameters(draft, environment, installation)
}

fn cancelled(environment: Environment) -> Response {
    let cancelled = Cancelled {
        message_id: message_id(),
        state: MessageState::Cancelled,
        cancelled: 2,
        not_cancelled: 0,
        refunded: Money::from_naira(12),
        is_complete: true,
    };
    success(CANCELLED, &CancelData::answer(cancelled, environment))
}
