//! The operations on SMPP users (docs/spec/smpp-users.md).

use super::answers::{self, Name, TEN_O_CLOCK_MS, add_enveloped, replayable, success};
use super::draft::{Draft, of_reads};
use super::objects::{
    EnvironmentPaths, OF_CHANGES, OF_LISTS, addition, change_of_one, list_of, of, one_page,
    request, text,
};
use super::otp::body;
use super::queries::InPath;
use crate::http::api::list::List;
use crate::http::api::smpp_users::{self, RevokedSmppUser, SmppUserItem};
use crate::http::docs::installation::Installation;
use crate::http::respond::envelope::Envelope;
use domain::smpp_user::{Dialect, MAX_USERS, SmppLimits, SmppUser};
use domain::token::MAX_RANGES;
use domain::{AccountId, Environment, Gateway};
use serde_json::json;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{OperationBuilder, Paths};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};

const USERS: Name = "SmppUsersAnswer";
const USER: Name = "SmppUserAnswer";
const REVOKED: Name = "SmppUserRevokedAnswer";
const REQUEST: &str = "SmppUserRequest";
const SYSTEM_ID: &str = "og7mk2x4pa";
/// The SMPP user in a path.
const IN_PATH: InPath = ("system_id", "The `system_id` in the list.");

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<SmppUserItem>>(USERS, &mut schemas);
    answers::add::<Envelope<SmppUserItem>>(USER, &mut schemas);
    add_enveloped::<RevokedSmppUser>(REVOKED, &mut schemas);
    schemas
}

/// Adds the operations. The sandbox has none, as its users are in the same list.
pub(super) fn add(paths: &mut Paths, prefix: &str, installation: &Installation) {
    let mut at = EnvironmentPaths { paths, prefix };
    at.get("/smpp-users", list_users(installation));
    at.post("/smpp-users", make(installation));
    at.delete("/smpp-users/{system_id}", revoke(installation));
}

fn list_users(installation: &Installation) -> OperationBuilder {
    let found = one_page(example());
    let draft = Draft {
        id: "smpp_users",
        summary: "List SMPP users",
        about: of_reads(
            "The SMPP users of the account, newest first, with those that are revoked and those of the sandbox.",
            installation,
        ),
        codes: &OF_LISTS,
        success: success(USERS, &smpp_users::list_answer(found)),
    };
    list_of(draft, Environment::Live)
}

fn make(installation: &Installation) -> OperationBuilder {
    let about = format!(
        "Makes credentials with which a program sends over SMPP 3.4, and shows their password once. An account has at most \
         {MAX_USERS} SMPP users that are not revoked. The operator gives higher limits. A repeated request with the same \
         Idempotency-Key gets the answer with `password` null."
    );
    let password = Some("k3yB0ard".to_owned());
    let draft = Draft {
        id: "make_smpp_user",
        summary: "Make an SMPP user",
        about: of_reads(&about, installation),
        codes: &OF_CHANGES,
        success: replayable(success(
            USER,
            &smpp_users::made_answer(&example(), password),
        )),
    };
    let fields = json!({
        "sandbox": false, "binds": 2, "per_second": 50, "window": 20, "allow": ["203.0.113.0/24"],
        "gateway": "direct-corporate", "vendor_statuses": false, "latin_1": false,
    });
    addition(
        draft,
        Environment::Live,
        installation,
        body(REQUEST, fields),
    )
}

fn revoke(installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "revoke_smpp_user",
        summary: "Revoke an SMPP user",
        about: of_reads(
            "Revokes an SMPP user of the account. Every node unbinds it within a second, and its waiting receipts are dead.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: replayable(success(REVOKED, &smpp_users::revoked_answer(SYSTEM_ID))),
    };
    change_of_one(draft, IN_PATH, installation)
}

/// Returns the schema of a request, with its name.
pub(crate) fn request_schema(installation: &Installation) -> (&'static str, RefOr<Schema>) {
    let most = SmppLimits::default();
    let range = text("An address, or a range such as 203.0.113.0/24.");
    let allow = ArrayBuilder::new()
        .items(range)
        .max_items(Some(MAX_RANGES))
        .description(Some(
            "The addresses from which the user may bind. Without any, it may bind from all.",
        ));
    let gateway = text(
        "The gateway of messages without a `service_type`, by name or number. Without it, the default.",
    );
    let object = ObjectBuilder::new()
        .description(Some("An SMPP user."))
        .property(
            "sandbox",
            of(Type::Boolean, "Whether its messages are simulated."),
        )
        .property(
            "binds",
            limit(most.binds, "Connections to a node at a time."),
        )
        .property(
            "per_second",
            limit(most.per_second, "Submits to a node in a second."),
        )
        .property(
            "window",
            limit(most.window, "Unanswered requests of a connection."),
        )
        .property("allow", allow)
        .property("gateway", gateway)
        .property(
            "vendor_statuses",
            of(
                Type::Boolean,
                "Whether refusals have the statuses 0x0400 to 0x0402.",
            ),
        )
        .property(
            "latin_1",
            of(Type::Boolean, "Whether `data_coding` 0 is read as Latin 1."),
        );
    request(REQUEST, object, installation)
}

fn limit(most: u32, about: &str) -> ObjectBuilder {
    let integer = of(Type::Integer, about);
    integer.minimum(Some(1)).maximum(Some(most))
}

/// Returns an SMPP user of a shop.
fn example() -> SmppUser {
    SmppUser {
        system_id: SYSTEM_ID.to_owned(),
        account: AccountId(1),
        sandbox: false,
        limits: SmppLimits {
            binds: 2,
            per_second: 50,
            window: 20,
        },
        allowed: "203.0.113.0/24".parse().unwrap_or_default(),
        gateway: Some(Gateway::DirectCorporate),
        dialect: Dialect::default(),
        created_at_ms: TEN_O_CLOCK_MS,
        revoked_at_ms: None,
    }
}
