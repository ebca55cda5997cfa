//! The operations on SMPP users (docs/spec/smpp-users.md).

use super::answers::{self, Name, TEN_O_CLOCK_MS, add_enveloped, replayable, success};
use super::draft::{Draft, of_reads};
use super::otp::body;
use super::parameters::idempotency_key;
use super::queries::{InPath, list, path};
use super::request::with_token;
use crate::http::api::list::List;
use crate::http::api::smpp_users::{self, RevokedSmppUser, SmppUserItem};
use crate::http::docs::installation::Installation;
use crate::http::respond::envelope::Envelope;
use domain::smpp_user::{Dialect, MAX_USERS, SmppLimits, SmppUser};
use domain::token::MAX_RANGES;
use domain::{AccountId, Environment, Gateway};
use engine::ListPage;
use serde_json::json;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Paths};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};

const USERS: Name = "SmppUsersAnswer";
const USER: Name = "SmppUserAnswer";
const REVOKED: Name = "SmppUserRevokedAnswer";
const REQUEST: &str = "SmppUserRequest";
const SYSTEM_ID: &str = "og7mk2x4pa";
/// The SMPP user in a path.
const IN_PATH: InPath = ("system_id", "The `system_id` in the list.");

/// Further codes of the list.
const OF_LISTS: [&str; 1] = ["API-2000"];
/// Further codes of a change.
const OF_CHANGES: [&str; 5] = ["API-2000", "API-2007", "API-2016", "API-2017", "API-2018"];

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
    let mut add = |path: &str, method, operation: OperationBuilder| {
        let path = format!("{prefix}{path}");
        paths.add_path_operation(path, vec![method], operation.build());
    };
    add("/smpp-users", HttpMethod::Get, list_users(installation));
    add("/smpp-users", HttpMethod::Post, make(installation));
    add(
        "/smpp-users/{system_id}",
        HttpMethod::Delete,
        revoke(installation),
    );
}

fn list_users(installation: &Installation) -> OperationBuilder {
    let found = ListPage {
        items: vec![example()],
        next_cursor: None,
    };
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
    let operation = draft.build("", Environment::Live);
    operation.parameters(Some(list(&[])))
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
    draft
        .build("", Environment::Live)
        .parameters(Some([idempotency_key(installation)]))
        .request_body(Some(body(REQUEST, fields)))
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
    let mut parameters = path(&[IN_PATH]);
    parameters.push(idempotency_key(installation));
    let operation = draft.build("", Environment::Live);
    operation.parameters(Some(parameters))
}

/// Returns the schema of a request, with its name.
pub(crate) fn request_schema(installation: &Installation) -> (&'static str, RefOr<Schema>) {
    let most = SmppLimits::default();
    let range = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("An address, or a range such as 203.0.113.0/24."));
    let allow = ArrayBuilder::new()
        .items(range)
        .max_items(Some(MAX_RANGES))
        .description(Some(
            "The addresses from which the user may bind. Without any, it may bind from all.",
        ));
    let gateway = of(
        Type::String,
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
    let schema: Schema = with_token(object, installation).build().into();
    (REQUEST, schema.into())
}

fn of(kind: Type, about: &str) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(kind)
        .description(Some(about.to_owned()))
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
