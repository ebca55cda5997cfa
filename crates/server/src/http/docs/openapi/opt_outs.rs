//! The operations on opt-outs (docs/spec/inbound.md, section 5).

use super::answers::{Name, RECIPIENT, TEN_O_CLOCK_MS, add_enveloped, replayable, success};
use super::draft::{Draft, of_reads};
use super::objects::{
    EnvironmentPaths, OF_CHANGES, OF_LISTS, addition, change_of_one, list_of, one_page, request,
    text,
};
use super::otp::body;
use super::queries::{InPath, csv};
use crate::http::api::list::List;
use crate::http::api::opt_outs::{self, OptOutItem, OptOutRemoved, OptOutsAdded};
use crate::http::docs::installation::{Installation, count};
use domain::opt_out::{MAX_OPT_OUTS, MAX_REASON_CHARACTERS, MAX_ROWS, OptOut};
use domain::{AccountId, Environment, MessageId};
use engine::AddedOptOuts;
use serde_json::json;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{OperationBuilder, Paths};
use utoipa::openapi::schema::{ObjectBuilder, Schema};

const OPT_OUTS: Name = "OptOutsAnswer";
const ADDED: Name = "OptOutAddedAnswer";
const REMOVED: Name = "OptOutRemovedAnswer";
const REQUEST: &str = "OptOutRequest";
/// The number in a path.
const IN_PATH: InPath = ("recipient", "The number, in any form that a send accepts.");
/// Rows as the export writes them.
const CSV: &str = "recipient,sender,reason,created_at\r\n2348031234567,AdaStores,complaint,2026-11-18 12:06:40\r\n";

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<OptOutItem>>(OPT_OUTS, &mut schemas);
    add_enveloped::<OptOutsAdded>(ADDED, &mut schemas);
    add_enveloped::<OptOutRemoved>(REMOVED, &mut schemas);
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
    at.get("/opt-outs", list_opt_outs(environment, installation));
    at.get("/exports/opt-outs.csv", export(environment, installation));
    if environment == Environment::Live {
        at.post("/opt-outs", add_opt_out(installation));
        let of_one = "/opt-outs/{recipient}";
        at.delete(of_one, remove(installation));
    }
}

fn list_opt_outs(environment: Environment, installation: &Installation) -> OperationBuilder {
    let found = one_page(example());
    let draft = Draft {
        id: "opt_outs",
        summary: "List opt-outs",
        about: of_reads(
            "The numbers that the account sends nothing to, newest first. The sandbox has none.",
            installation,
        ),
        codes: &OF_LISTS,
        success: success(OPT_OUTS, &opt_outs::list_answer(found, environment)),
    };
    list_of(draft, environment)
}

fn export(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "export_opt_outs",
        summary: "Export the opt-outs as a CSV",
        about: of_reads(
            "A row for each opt-out, newest first. `POST /opt-outs` takes the same columns.",
            installation,
        ),
        codes: &OF_LISTS,
        success: csv(CSV),
    };
    draft.build("", environment)
}

fn add_opt_out(installation: &Installation) -> OperationBuilder {
    let about = format!(
        "Adds a number that the account sends nothing to, or nothing with one of its sender IDs. One that opted out before \
         keeps its opt-out. A CSV (`text/csv`, UTF-8) is accepted too: its header has `recipient`, and optionally `sender` \
         and `reason`, and it has at most {} rows. A broken row is named, and then no row is kept. The answer to a CSV names \
         no opt-out. An account adds at most {} opt-outs. The sandbox has none.",
        count(MAX_ROWS),
        count(usize::try_from(MAX_OPT_OUTS).unwrap_or(usize::MAX)),
    );
    let added = AddedOptOuts {
        added: 1,
        known: 0,
        first: example(),
    };
    let draft = Draft {
        id: "add_opt_out",
        summary: "Add an opt-out",
        about: of_reads(&about, installation),
        codes: &OF_CHANGES,
        success: replayable(success(ADDED, &opt_outs::added_answer(&added, false))),
    };
    let fields = json!({
        "recipient": "2348031234567", "sender": "AdaStores", "reason": "complaint",
    });
    addition(
        draft,
        Environment::Live,
        installation,
        body(REQUEST, fields),
    )
}

fn remove(installation: &Installation) -> OperationBuilder {
    let removed = opt_outs::removed_answer(&RECIPIENT.to_string(), 1);
    let draft = Draft {
        id: "remove_opt_out",
        summary: "Remove an opt-out",
        about: of_reads(
            "Removes all opt-outs of a number, those of single sender IDs included.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: replayable(success(REMOVED, &removed)),
    };
    change_of_one(draft, IN_PATH, installation)
}

/// Returns the schema of a request, with its name.
pub(crate) fn request_schema(installation: &Installation) -> (&'static str, RefOr<Schema>) {
    let sender = text(
        "The sender ID whose messages are not sent to the number. Without it, no message of the account is.",
    );
    let object = ObjectBuilder::new()
        .description(Some("An opt-out."))
        .property(
            "recipient",
            text("The number, in any form that a send accepts."),
        )
        .required("recipient")
        .property("sender", sender)
        .property(
            "reason",
            text("The reason, for your own use.").max_length(Some(MAX_REASON_CHARACTERS)),
        );
    request(REQUEST, object, installation)
}

/// Returns an opt-out of one sender ID.
fn example() -> OptOut {
    OptOut {
        id: MessageId::new(TEN_O_CLOCK_MS, [7; 10]),
        account: AccountId(1),
        recipient: RECIPIENT,
        sender: Some("AdaStores".to_owned()),
        reason: Some("complaint".to_owned()),
        created_at_ms: TEN_O_CLOCK_MS,
    }
}
