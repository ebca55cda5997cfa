//! The operations on the answers to commands (docs/spec/inbound.md, section 6).

use super::answers::{Name, add_enveloped, replayable, success};
use super::draft::{Draft, of_reads};
use super::objects::{self, EnvironmentPaths, addition, request};
use super::otp::body;
use crate::http::api::inbound_answers::{self as api, AnswerItem};
use crate::http::docs::installation::Installation;
use domain::Environment;
use domain::inbound::{AnswerTexts, MAX_ANSWER_CHARACTERS};
use serde_json::json;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{OperationBuilder, Paths};
use utoipa::openapi::schema::{ObjectBuilder, Schema};

const ANSWERS: Name = "InboundAnswersAnswer";
const REQUEST: &str = "InboundAnswersRequest";
const STOP: &str = "You get no more messages. Reply START to get them again.";

/// Further codes of a change.
const OF_CHANGES: [&str; 4] = ["API-2000", "API-2016", "API-2017", "API-2018"];

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<AnswerItem>(ANSWERS, &mut schemas);
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
    at.get("/inbound/answers", read(environment, installation));
    if environment == Environment::Live {
        at.patch("/inbound/answers", change(installation));
    }
}

fn read(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "inbound_answers",
        summary: "Read the answers to commands",
        about: of_reads(
            "The texts that answer STOP, START and HELP. An empty text is no answer. The sandbox has none.",
            installation,
        ),
        codes: &[],
        success: success(ANSWERS, &api::read_answer(&example(), environment)),
    };
    draft.build("", environment)
}

fn change(installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "change_inbound_answers",
        summary: "Change the answers to commands",
        about: of_reads(
            "Sets the texts that are given, and leaves the others. An empty text is no answer. An answer is sent over \
             `direct-corporate` from the number that the command came to, and charged to the account.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: replayable(success(ANSWERS, &api::changed_answer(&example()))),
    };
    addition(
        draft,
        Environment::Live,
        installation,
        body(REQUEST, json!({ "stop": STOP })),
    )
}

/// Returns the schema of a request, with its name.
pub(crate) fn request_schema(installation: &Installation) -> (&'static str, RefOr<Schema>) {
    let text = |about| objects::text(about).max_length(Some(MAX_ANSWER_CHARACTERS));
    let object = ObjectBuilder::new()
        .description(Some("The texts that change."))
        .property("stop", text("The answer to an opt-out."))
        .property("start", text("The answer to an opt-in."))
        .property("help", text("The answer to a question for help."));
    request(REQUEST, object, installation)
}

fn example() -> AnswerTexts {
    AnswerTexts {
        stop: STOP.to_owned(),
        start: String::new(),
        help: "Ada Stores: call 0700 232 786.".to_owned(),
    }
}
