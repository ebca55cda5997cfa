//! The operations on the callbacks of the account (docs/spec/webhooks.md).

use super::answers::{
    self, Name, RECIPIENT, REFERENCE, TEN_O_CLOCK_MS, add_enveloped, message_id, replayable,
    success,
};
use super::draft::{Draft, of_reads};
use super::objects::{
    EnvironmentPaths, OF_CHANGES, OF_LISTS, addition, change_of_one, list_of, of, one_page,
    request, text,
};
use super::otp::body;
use super::queries::{InPath, list};
use crate::http::api::list::List;
use crate::http::api::webhooks::{
    self, AttemptItem, DeadItem, Replayed, RevokedSecret, SecretItem,
};
use crate::http::docs::installation::Installation;
use crate::http::respond::envelope::Envelope;
use domain::callback::request::{DEFAULT_OVERLAP_S, MAX_OVERLAP_S};
use domain::callback::signature::{MAX_SECRETS, RANDOM_BYTES, Secret, Signing};
use domain::{AccountId, Bucket, DeliveryStatus, Environment};
use engine::operators::CallbackSecret;
use engine::{Attempted, CallbackEvent, DeadCallback, MadeAttempt};
use serde_json::json;
use utoipa::openapi::path::{OperationBuilder, Paths};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{RefOr, Response};

const SECRETS: Name = "SecretsAnswer";
const SECRET: Name = "SecretAnswer";
const REVOKED: Name = "SecretRevokedAnswer";
const DEAD: Name = "DeadCallbacksAnswer";
const REPLAYED: Name = "ReplayedAnswer";
const ATTEMPTS: Name = "CallbackAttemptsAnswer";
const SECRET_REQUEST: &str = "SecretRequest";
const REPLAY_REQUEST: &str = "ReplayRequest";
/// The secret in a path.
const IN_PATH: InPath = ("secret_id", "The `secret_id` in the list.");

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<SecretItem>>(SECRETS, &mut schemas);
    answers::add::<Envelope<SecretItem>>(SECRET, &mut schemas);
    add_enveloped::<RevokedSecret>(REVOKED, &mut schemas);
    add_enveloped::<List<DeadItem>>(DEAD, &mut schemas);
    add_enveloped::<Replayed>(REPLAYED, &mut schemas);
    add_enveloped::<List<AttemptItem>>(ATTEMPTS, &mut schemas);
    schemas
}

/// Adds the operations of an environment. The sandbox has the reads.
pub(super) fn add(
    paths: &mut Paths,
    prefix: &str,
    environment: Environment,
    installation: &Installation,
) {
    let mut at = EnvironmentPaths { paths, prefix };
    at.get("/webhooks/secrets", secrets(environment, installation));
    at.get("/webhooks/dead", dead(environment, installation));
    at.get("/webhooks/attempts", attempts(environment, installation));
    if environment == Environment::Live {
        at.post("/webhooks/secrets", make(installation));
        let of_one = "/webhooks/secrets/{secret_id}";
        at.delete(of_one, revoke(installation));
        at.post("/webhooks/replay", replay(installation));
    }
}

fn secrets(environment: Environment, installation: &Installation) -> OperationBuilder {
    let answer = webhooks::secrets_answer(one_page(example()), environment);
    let draft = Draft {
        id: "webhook_secrets",
        summary: "List secrets of callbacks",
        about: of_reads(
            "The secrets that sign the callbacks of the account now, newest first. Both environments have the same secrets.",
            installation,
        ),
        codes: &OF_LISTS,
        success: success(SECRETS, &answer),
    };
    list_of(draft, environment)
}

fn make(installation: &Installation) -> OperationBuilder {
    let about = format!(
        "Makes a secret, and shows it once. It signs all callbacks of the account from now on (Standard Webhooks). The \
         previous secrets also sign for `overlap` seconds, so that the receiver can change over. At most {MAX_SECRETS} \
         secrets sign at once. A repeated request with the same Idempotency-Key gets the answer with `secret` null."
    );
    let draft = Draft {
        id: "make_webhook_secret",
        summary: "Make a secret of callbacks",
        about: of_reads(&about, installation),
        codes: &OF_CHANGES,
        success: replayable(success(SECRET, &webhooks::made_answer(&example(), true))),
    };
    addition(
        draft,
        Environment::Live,
        installation,
        body(SECRET_REQUEST, json!({ "overlap": 3_600 })),
    )
}

fn revoke(installation: &Installation) -> OperationBuilder {
    let id = example().signing.secret.id();
    let draft = Draft {
        id: "revoke_webhook_secret",
        summary: "Revoke a secret of callbacks",
        about: of_reads(
            "Revokes a secret of the account. It signs no callback a second later. Without any secret, callbacks are not \
             signed.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: replayable(success(REVOKED, &webhooks::revoked_answer(&id))),
    };
    change_of_one(draft, IN_PATH, installation)
}

fn dead(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "dead_callbacks",
        summary: "List dead callbacks",
        about: of_reads(
            "The callbacks of both environments that were given up, the latest first.",
            installation,
        ),
        codes: &OF_LISTS,
        success: dead_example(environment),
    };
    list_of(draft, environment)
}

fn replay(installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "replay_callbacks",
        summary: "Replay dead callbacks",
        about: of_reads(
            "Sends the dead callbacks of a message again, or all of the account without `message_id`. Each has a new series \
             of attempts.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: replayable(success(REPLAYED, &webhooks::replayed_answer(3))),
    };
    let fields = json!({ "message_id": message_id().to_string() });
    addition(
        draft,
        Environment::Live,
        installation,
        body(REPLAY_REQUEST, fields),
    )
}

fn attempts(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "callback_attempts",
        summary: "List attempts at callbacks",
        about: of_reads(
            "The failed attempts at callbacks of both environments, and those that succeeded after them, the latest messages \
             first. They are kept for 14 days.",
            installation,
        ),
        codes: &OF_LISTS,
        success: attempts_example(environment),
    };
    let operation = draft.build("", environment);
    operation.parameters(Some(list(&["message_id"])))
}

/// Returns the schemas of requests, by name.
pub(crate) fn request_schemas(installation: &Installation) -> [(&'static str, RefOr<Schema>); 2] {
    let about = format!(
        "The seconds in which the previous secrets still sign. Without it, {DEFAULT_OVERLAP_S}."
    );
    let overlap = of(Type::Integer, &about)
        .minimum(Some(0))
        .maximum(Some(MAX_OVERLAP_S));
    let secret = ObjectBuilder::new()
        .description(Some("A secret of callbacks."))
        .property("overlap", overlap);
    let message = text(
        "The `message_id` of a dead callback in the list. Without it, all dead callbacks are replayed.",
    );
    let replay = ObjectBuilder::new()
        .description(Some("A replay of callbacks."))
        .property("message_id", message);
    [
        request(SECRET_REQUEST, secret, installation),
        request(REPLAY_REQUEST, replay, installation),
    ]
}

/// Returns a secret.
fn example() -> CallbackSecret {
    CallbackSecret {
        account: AccountId(1),
        created_at_ms: TEN_O_CLOCK_MS,
        signing: Signing {
            secret: Secret::make(&[7; RANDOM_BYTES]),
            ends_at_ms: None,
        },
    }
}

fn dead_example(environment: Environment) -> Response {
    let dead = DeadCallback {
        bucket: Bucket(0),
        account: AccountId(1),
        environment,
        origin: "https://shop.example.ng:443".to_owned(),
        due_at_ms: TEN_O_CLOCK_MS,
        message: message_id(),
        recipient: RECIPIENT,
        event: CallbackEvent::Delivery {
            status: DeliveryStatus::Delivered,
            customer_reference: Some(REFERENCE.into()),
        },
        attempts: 12,
        url: "https://shop.example.ng/sms-status".into(),
    };
    success(DEAD, &webhooks::dead_answer(one_page(dead), environment))
}

fn attempts_example(environment: Environment) -> Response {
    let made = MadeAttempt {
        message: message_id(),
        recipient: RECIPIENT,
        attempt: 1,
        attempted: Attempted {
            made_at_ms: TEN_O_CLOCK_MS,
            result: "503".to_owned(),
            took_ms: 214,
            answer: "Service Unavailable".to_owned(),
        },
    };
    success(
        ATTEMPTS,
        &webhooks::attempts_answer(one_page(made), environment),
    )
}
