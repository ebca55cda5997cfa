//! The operations on one-time passwords, with their requests and answers.

use super::answers::{Name, RECIPIENT, TEN_O_CLOCK_MS, add_enveloped, message_id, success};
use super::draft::{Draft, at_most, of_reads};
use super::parameters::{idempotency_key, parameter};
use super::request::FIELDS;
use crate::http::api::otp::{OtpData, OtpStateData, VerifiedData};
use crate::http::docs::installation::Installation;
use domain::otp::{CodeKind, OtpId, OtpState, Reason, Resends, Verification, Verified};
use domain::{Adjustments, Environment, Gateway, Money};
use engine::Sent;
use engine::otp::{Otp, OtpReport};
use serde_json::json;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Parameter, ParameterIn, Paths};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required};

const SENT: Name = "OtpAnswer";
const VERIFIED: Name = "OtpVerifiedAnswer";
const STATE: Name = "OtpStateAnswer";
const REQUEST: &str = "OtpRequest";
const CODE: &str = "OtpCode";

/// Further codes of the send of a code.
const OF_SENDS: [&str; 15] = [
    "API-2000", "API-2001", "API-2003", "API-2004", "API-2006", "API-2007", "API-2008", "API-2009",
    "API-2010", "API-2011", "API-2015", "API-2016", "API-2017", "API-2018", "API-3001",
];
/// Further codes of a resend.
const OF_RESENDS: [&str; 18] = [
    "API-2000", "API-2001", "API-2003", "API-2004", "API-2006", "API-2007", "API-2008", "API-2009",
    "API-2010", "API-2011", "API-2013", "API-2015", "API-2016", "API-2017", "API-2018", "API-2019",
    "API-3001", "API-3002",
];
const OF_READS: [&str; 3] = ["API-2000", "API-2007", "API-2017"];
const OF_ATTEMPTS: [&str; 5] = ["API-2000", "API-2007", "API-2016", "API-2017", "API-2018"];
const OF_CANCELS: [&str; 6] = [
    "API-2000", "API-2007", "API-2016", "API-2017", "API-2018", "API-2019",
];

/// Returns the schemas, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<OtpData>(SENT, &mut schemas);
    add_enveloped::<VerifiedData>(VERIFIED, &mut schemas);
    add_enveloped::<OtpStateData>(STATE, &mut schemas);
    schemas
}

/// Returns the schemas of requests, by name.
pub(crate) fn requests(installation: &Installation) -> [(&'static str, RefOr<Schema>); 2] {
    let request: Schema = request(installation).into();
    let code: Schema = code().into();
    [(REQUEST, request.into()), (CODE, code.into())]
}

/// Adds the operations of an environment.
pub(super) fn add(
    paths: &mut Paths,
    prefix: &str,
    environment: Environment,
    installation: &Installation,
) {
    let mut add = |path: &str, method, operation: OperationBuilder| {
        paths.add_path_operation(format!("{prefix}{path}"), vec![method], operation.build());
    };
    add("/otp", HttpMethod::Post, create(environment, installation));
    add(
        "/otp/{otp_id}",
        HttpMethod::Get,
        read(environment, installation),
    );
    add(
        "/otp/{otp_id}/verify",
        HttpMethod::Post,
        verify(environment, installation),
    );
    add(
        "/otp/{otp_id}/resend",
        HttpMethod::Post,
        resend(environment, installation),
    );
    add(
        "/otp/{otp_id}/cancel",
        HttpMethod::Post,
        cancel(environment, installation),
    );
}

fn otp_id() -> Parameter {
    let text = ObjectBuilder::new().schema_type(Type::String);
    let about = "The `otp_id` of the first answer.";
    parameter("otp_id", ParameterIn::Path, true, about, text.into())
}

fn create(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "send_otp",
        summary: "Send a one-time password",
        about: format!(
            "Makes a code and sends it to one number over the gateway `otp`. The code is stored nowhere. The sandbox answers it \
             in `data.code`. At most {} messages with codes go to one number in an hour. {}",
            installation.limits.otp_per_number,
            at_most(installation.limits.sends_per_minute, "sends"),
        ),
        codes: &OF_SENDS,
        success: sent(environment),
    };
    draft
        .build("", environment)
        .parameters(Some([idempotency_key(installation)]))
        .request_body(Some(body(
            REQUEST,
            json!({ "to": "2348031234567", "from": "AdaStores" }),
        )))
}

fn resend(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "resend_otp",
        summary: "Send a one-time password again",
        about: format!(
            "Sends the same code in a new message, which is charged. The lifetime of the code does not change. At most three resends are possible, 30 s \
             apart. {}",
            at_most(installation.limits.sends_per_minute, "sends"),
        ),
        codes: &OF_RESENDS,
        success: sent(environment),
    };
    let parameters = [otp_id(), idempotency_key(installation)];
    draft.build("", environment).parameters(Some(parameters))
}

fn verify(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "verify_otp",
        summary: "Verify a code",
        about: of_reads(
            "Compares a code that a person typed. Case and white space do not count. A code verifies once. A code of another \
             length is refused and is no attempt.",
            installation,
        ),
        codes: &OF_ATTEMPTS,
        success: verified(),
    };
    draft
        .build("", environment)
        .parameters(Some([otp_id(), idempotency_key(installation)]))
        .request_body(Some(body(CODE, json!({ "code": "482913" }))))
}

fn cancel(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "cancel_otp",
        summary: "Cancel a one-time password",
        about: of_reads(
            "Ends a one-time password: its code is no longer verified.",
            installation,
        ),
        codes: &OF_CANCELS,
        success: state(OtpState::Cancelled),
    };
    let parameters = [otp_id(), idempotency_key(installation)];
    draft.build("", environment).parameters(Some(parameters))
}

fn read(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "otp",
        summary: "Read a one-time password",
        about: of_reads(
            "The state of a one-time password, without its code.",
            installation,
        ),
        codes: &OF_READS,
        success: state(OtpState::Pending),
    };
    draft.build("", environment).parameters(Some([otp_id()]))
}

/// Returns the fields of a request: those of a send to one number, and those of the code.
fn request(installation: &Installation) -> Object {
    let number = |about: &str, least: f64, most: f64| {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(least))
            .maximum(Some(most))
            .description(Some(about.to_owned()))
    };
    let text = |about: &str| {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(about.to_owned()))
    };
    let shared = [
        "from",
        "unicode",
        "callback_url",
        "customer_reference",
        "api_token",
    ];
    let shared = FIELDS.iter().filter(|field| shared.contains(&field.name));
    let object = ObjectBuilder::new().description(Some("A code to send to one phone."));
    let object = shared.fold(object, |object, field| {
        object.property(field.name, field.schema(installation))
    });
    object
        .required("from")
        .property("to", text("One phone number.").examples(["2348031234567"]))
        .required("to")
        .property("body", text("The text, with `{code}` in it."))
        .property(
            "length",
            number("Characters of the code; 6 by default.", 4.0, 10.0),
        )
        .property("kind", text("`numeric` (default) or `alphanumeric`."))
        .property(
            "expires_in",
            number(
                "Lifetime of the code in seconds; 600 by default.",
                60.0,
                3_600.0,
            ),
        )
        .property(
            "max_attempts",
            number(
                "Number of wrong codes after which verification fails; 3 by default.",
                1.0,
                10.0,
            ),
        )
        .build()
}

fn code() -> Object {
    let code = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("The code that a person typed."));
    ObjectBuilder::new()
        .description(Some("A code to verify."))
        .property("code", code)
        .required("code")
        .build()
}

pub(super) fn body(schema: &str, example: serde_json::Value) -> RequestBody {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(schema)))
        .example(Some(example))
        .build();
    RequestBodyBuilder::new()
        .content("application/json", content)
        .required(Some(Required::True))
        .build()
}

fn id() -> OtpId {
    OtpId::new(TEN_O_CLOCK_MS, [7; 10])
}

fn sent(environment: Environment) -> utoipa::openapi::Response {
    let sent = Sent {
        message_id: message_id(),
        cost: Money::from_naira(6),
        balance: Money::from_naira(994),
        recipients_count: 1,
        gateway: Gateway::Otp,
        unicode: false,
        page_count: 1,
        scheduled_for_ms: None,
        invalid_recipients: Vec::new(),
        invalid_count: 0,
        left_out: domain::opt_out::LeftOut::default(),
        adjustments: Adjustments::default(),
        personalised: None,
    };
    let code = (environment == Environment::Sandbox).then(|| "482913".to_owned());
    let expires_at_ms = TEN_O_CLOCK_MS + 600_000;
    let answer = OtpData::answer(&sent, id().to_string(), expires_at_ms, environment, code);
    success(SENT, &answer)
}

fn pending() -> Verification {
    Verification::new(3, TEN_O_CLOCK_MS + 600_000)
}

fn verified() -> utoipa::openapi::Response {
    let verified = Verified {
        reason: Some(Reason::Wrong),
        attempts_left: 2,
        after: pending(),
    };
    success(VERIFIED, &VerifiedData::answer(&verified))
}

fn state(state: OtpState) -> utoipa::openapi::Response {
    let otp = Otp {
        id: id(),
        recipient: RECIPIENT,
        message: message_id(),
        kind: CodeKind::Numeric,
        length: 6,
        verification: pending(),
        resends: Resends {
            count: 0,
            last_sent_at_ms: TEN_O_CLOCK_MS,
        },
        sender: "AdaStores".to_owned(),
        body: String::new(),
        callback_url: None,
        customer_reference: None,
    };
    success(STATE, &OtpStateData::answer(&OtpReport { otp, state }))
}
