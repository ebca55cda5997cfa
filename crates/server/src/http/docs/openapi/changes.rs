//! The operations that change an accepted message.

use super::answers::{Name, add_enveloped, message_id, replayable, success};
use super::draft::{Draft, of_reads};
use super::parameters::idempotency_key;
use super::queries::{MESSAGE_ID, path};
use crate::http::api::messages::CancelData;
use crate::http::docs::installation::Installation;
use domain::schedule::MessageState;
use domain::{Environment, Money};
use engine::message_changes::Cancelled;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Paths};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::{RefOr, Response};

const CANCELLED: Name = "CancelAnswer";

/// Further codes of a cancel.
const OF_CANCELS: [&str; 5] = ["API-2000", "API-2007", "API-2016", "API-2017", "API-2018"];

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
    let mut parameters = path(&[MESSAGE_ID]);
    parameters.push(idempotency_key(installation));
    let operation = draft.build("", environment);
    operation.parameters(Some(parameters))
}

fn cancelled(environment: Environment) -> Response {
    let cancelled = Cancelled {
        message_id: message_id(),
        state: MessageState::Cancelled,
        cancelled: 2,
        not_cancelled: 0,
        refunded: Money::from_naira(12),
    };
    replayable(success(
        CANCELLED,
        &CancelData::answer(cancelled, environment),
    ))
}
