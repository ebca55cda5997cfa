//! The operations on sender IDs.

use super::answers::{self, Name, add_enveloped, customer, replayable, success};
use super::draft::{Draft, of_reads};
use super::objects::{self, EnvironmentPaths, addition};
use super::otp::body;
use crate::http::api::senders::{Registration, SendersData};
use crate::http::docs::installation::Installation;
use crate::http::respond::envelope::Envelope;
use domain::sender_request::{MAX_PENDING_SENDERS, MAX_PURPOSE_CHARACTERS};
use domain::{Environment, SenderId, SenderStatus};
use serde_json::json;
use utoipa::openapi::path::{OperationBuilder, Paths};
use utoipa::openapi::schema::{ObjectBuilder, Schema};
use utoipa::openapi::{RefOr, Response};

const SENDERS: Name = "SendersAnswer";
const SENDER: Name = "SenderAnswer";
const REQUEST: &str = "SenderIdRequest";

/// Further codes of a request for a sender ID.
const OF_REQUESTS: [&str; 4] = ["API-2000", "API-2016", "API-2017", "API-2018"];

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<SendersData>(SENDERS, &mut schemas);
    answers::add::<Envelope<Registration>>(SENDER, &mut schemas);
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
    at.get("/sender-ids", list(environment, installation));
    at.post("/sender-ids", request(environment, installation));
}

fn list(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "sender_ids",
        summary: "List sender IDs",
        about: of_reads(
            "The sender IDs of the account, with the status of each.",
            installation,
        ),
        codes: &[],
        success: senders(environment),
    };
    draft.build("", environment)
}

fn request(environment: Environment, installation: &Installation) -> OperationBuilder {
    let about = format!(
        "Registers a sender ID, which is `pending` until the operator approves or rejects it. A sender ID that the account has \
         is answered as it stands. A rejected one becomes pending again, with the new purpose. At most {MAX_PENDING_SENDERS} \
         may be pending. The sandbox registers nothing."
    );
    let draft = Draft {
        id: "request_sender_id",
        summary: "Request a sender ID",
        about: of_reads(&about, installation),
        codes: &OF_REQUESTS,
        success: sender(environment),
    };
    let example = json!({ "sender_id": "AdaStores", "purpose": "Order updates" });
    addition(draft, environment, installation, body(REQUEST, example))
}

/// Returns the schema of a request, with its name.
pub(crate) fn request_schema(installation: &Installation) -> (&'static str, RefOr<Schema>) {
    let text = |about, most| objects::text(about).max_length(Some(most));
    let name = text(
        "The sender ID: 3 to 11 letters A to Z, digits, spaces and hyphens, with at least one letter.",
        11,
    );
    let purpose = text("Its purpose, in one line.", MAX_PURPOSE_CHARACTERS);
    let object = ObjectBuilder::new()
        .description(Some("A sender ID to register."))
        .property("sender_id", name.min_length(Some(3)))
        .required("sender_id")
        .property("purpose", purpose.min_length(Some(1)))
        .required("purpose");
    objects::request(REQUEST, object, installation)
}

/// Returns the sender IDs.
fn senders(environment: Environment) -> Response {
    let data = SendersData::new(&customer(), environment);
    success(SENDERS, &Envelope::new("Sender IDs retrieved.", data))
}

/// Returns a requested sender ID.
fn sender(environment: Environment) -> Response {
    let pending = customer().senders.into_values().map(|sender| SenderId {
        status: SenderStatus::Pending,
        approved_at_ms: None,
        ..sender
    });
    let answers = pending.map(|sender| Registration::answer(&sender, environment));
    replayable(success(SENDER, &answers.last()))
}
