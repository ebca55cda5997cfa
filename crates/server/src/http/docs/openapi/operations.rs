//! Every operation: those of the interface, live and in the sandbox, their aliases and the legacy
//! send.

use super::draft::{COMMON, CallbackDraft, Draft, LIVE, SANDBOX, at_most, of_reads};
use super::{
    alerts, answers, changes, inbound, inbound_answers, opt_outs, otp, parameters, personalised,
    queries, request, sender_ids, smpp_users, sub_accounts, tokens, top_ups, webhooks,
};
use crate::http::docs::installation::Installation;
use crate::http::respond::error::Shape;
use domain::Environment;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, ParameterIn, Paths};

const LEGACY: &str = "Legacy";

/// The groups of operations.
pub(crate) const TAGS: [(&str, &str); 3] = [
    (LIVE, "Real messages, which are charged to the wallet."),
    (
        SANDBOX,
        "The same operations with simulated messages. Nothing is delivered, nothing is charged.",
    ),
    (LEGACY, "The older send. Use `/api/v2/sms` in new programs."),
];

/// Further codes of a report.
const OF_REPORTS: [&str; 3] = ["API-2000", "API-2007", "API-2017"];
/// Further codes of a personalised send. Faults of single rows have one code.
const OF_PERSONALISED: [&str; 19] = [
    "API-2000", "API-2001", "API-2002", "API-2003", "API-2004", "API-2006", "API-2009", "API-2011",
    "API-2012", "API-2013", "API-2014", "API-2015", "API-2016", "API-2017", "API-2018", "API-2020",
    "API-2021", "API-3001", "API-3002",
];
/// Further codes of a quote of a personalised send.
const OF_PERSONALISED_QUOTES: [&str; 15] = [
    "API-2000", "API-2001", "API-2002", "API-2003", "API-2004", "API-2006", "API-2009", "API-2011",
    "API-2013", "API-2014", "API-2015", "API-2017", "API-2020", "API-2021", "API-3002",
];
/// Further codes of a send.
const OF_SENDS: [&str; 20] = [
    "API-2000", "API-2001", "API-2002", "API-2003", "API-2004", "API-2006", "API-2008", "API-2009",
    "API-2010", "API-2011", "API-2012", "API-2013", "API-2014", "API-2015", "API-2016", "API-2017",
    "API-2018", "API-2021", "API-3001", "API-3002",
];

/// Further codes of a quote: those of a send, except the ones that depend on balance, duplicates
/// and keys.
const OF_QUOTES: [&str; 16] = [
    "API-2000", "API-2001", "API-2002", "API-2003", "API-2004", "API-2006", "API-2008", "API-2009",
    "API-2010", "API-2011", "API-2013", "API-2014", "API-2015", "API-2017", "API-2021", "API-3002",
];

/// Returns all paths.
pub(crate) fn paths(installation: &Installation) -> Paths {
    let mut paths = Paths::new();
    interface(&mut paths, "/api/v2", Environment::Live, installation);
    let sandbox = Environment::Sandbox;
    interface(&mut paths, "/api/sandbox/v2", sandbox, installation);
    legacy(&mut paths, installation);
    paths
}

/// The paths of a report, the variant of each operation, and the parameter that names the message.
const REPORTS: [(&str, &str, ParameterIn); 5] = [
    ("/delivery-reports", "", ParameterIn::Query),
    (
        "/delivery-reports/{message_id}",
        "_by_path",
        ParameterIn::Path,
    ),
    ("/sms/delivery-reports", "_of_sms", ParameterIn::Query),
    (
        "/sms/delivery-reports/{message_id}",
        "_of_sms_by_path",
        ParameterIn::Path,
    ),
    ("/delivery", "_by_delivery", ParameterIn::Query),
];

fn interface(
    paths: &mut Paths,
    prefix: &str,
    environment: Environment,
    installation: &Installation,
) {
    let mut add = |path: &str, method: HttpMethod, operation: OperationBuilder| {
        paths.add_path_operation(format!("{prefix}{path}"), vec![method], operation.build());
    };
    let alias = |path: &str| {
        Some(Extensions::from_iter([(
            "x-alias-of",
            format!("{prefix}{path}"),
        )]))
    };

    for (path, variant) in [("/sms", ""), ("/sms/create", "_create")] {
        let mark = if variant.is_empty() {
            None
        } else {
            alias("/sms")
        };
        let post = send(variant, environment, installation)
            .parameters(Some([parameters::idempotency_key(installation)]))
            .request_body(Some(request::send_body(installation)))
            .extensions(mark.clone());
        let get = send(&format!("{variant}_by_query"), environment, installation)
            .parameters(Some(request::send_parameters(installation)))
            .extensions(mark);
        add(path, HttpMethod::Post, post);
        add(path, HttpMethod::Get, get);
    }
    for (path, operation) in posts(environment, installation) {
        add(path, HttpMethod::Post, operation);
    }
    add(
        "/balance",
        HttpMethod::Get,
        balance("", environment, installation),
    );
    add(
        "/balance/get",
        HttpMethod::Get,
        balance("_get", environment, installation).extensions(alias("/balance")),
    );
    for (path, variant, place) in REPORTS {
        let mark = if variant.is_empty() {
            None
        } else {
            alias("/delivery-reports")
        };
        add(
            path,
            HttpMethod::Get,
            report(variant, environment, place, installation).extensions(mark),
        );
    }
    add(
        "/account",
        HttpMethod::Get,
        account(environment, installation),
    );
    queries::add(paths, prefix, environment, installation);
    changes::add(paths, prefix, environment, installation);
    otp::add(paths, prefix, environment, installation);
    inbound::add(paths, prefix, environment, installation);
    inbound_answers::add(paths, prefix, environment, installation);
    opt_outs::add(paths, prefix, environment, installation);
    sender_ids::add(paths, prefix, environment, installation);
    top_ups::add(paths, prefix, environment, installation);
    webhooks::add(paths, prefix, environment, installation);
    sub_accounts::add(paths, prefix, environment, installation);
    alerts::add(paths, prefix, environment, installation);
    tokens::add(paths, prefix, environment, installation);
    if environment == Environment::Live {
        smpp_users::add(paths, prefix, installation);
    }
}

/// Returns the other operations that are only a `POST`.
fn posts(
    environment: Environment,
    installation: &Installation,
) -> [(&'static str, OperationBuilder); 3] {
    let price = quote(environment, installation);
    let price = price.request_body(Some(request::send_body(installation)));
    [
        ("/sms/quote", price),
        (
            "/sms/personalised",
            send_personalised(environment, installation),
        ),
        (
            "/sms/personalised/quote",
            quote_personalised(environment, installation),
        ),
    ]
}

fn send(variant: &str, environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "send",
        summary: "Send a message",
        about: format!(
            "Sends a text to one or many recipients. A refused send is neither sent nor charged. The same text to the same \
             recipients within a minute is refused as a duplicate. {}",
            at_most(installation.limits.sends_per_minute, "sends"),
        ),
        codes: &OF_SENDS,
        success: answers::accepted(environment),
    };
    let operation = draft.build(variant, environment).build();
    let id = operation.operation_id.clone().unwrap_or_default();
    OperationBuilder::from(operation).callback("delivery", callback(&id))
}

fn send_personalised(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "send_personalised",
        summary: "Send a text of its own to each recipient",
        about: format!(
            "Fills the placeholders of `body`, such as `{{name}}`, for each row. All recipients share one `message_id`; each has \
             its own text, pages and charge. If a row cannot be sent, nothing is sent or charged, and `error.details` names the \
             rows. The same rows again within a minute are refused as a duplicate. {}",
            at_most(installation.limits.sends_per_minute, "sends"),
        ),
        codes: &OF_PERSONALISED,
        success: answers::accepted_personalised(environment),
    };
    let operation = draft.build("", environment).build();
    let id = operation.operation_id.clone().unwrap_or_default();
    OperationBuilder::from(operation)
        .callback("delivery", callback(&id))
        .parameters(Some([parameters::idempotency_key(installation)]))
        .request_body(Some(personalised::body(installation)))
}

/// Returns the callback of a `callback_url` (docs/spec/delivery.md, section 4). Its example has the
/// id of the send.
fn callback(send: &str) -> utoipa::openapi::path::Callback {
    let draft = CallbackDraft {
        id: format!("{send}_delivery_update"),
        summary: "Final outcome of a recipient",
        sent: "The service sends it once a recipient's outcome is final.",
        repeated: "An update can arrive more than once: compare `message_id` and `recipient`.",
        schema: answers::UPDATE,
        example: answers::update(),
    };
    draft.build("callback_url")
}

fn quote(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "quote",
        summary: "Calculate a price",
        about: of_reads(
            "Answers the price of a send, and the text as it will arrive. Nothing is sent, charged or stored. A send that would \
             be refused gets the same refusal here, except for a low balance and a duplicate.",
            installation,
        ),
        codes: &OF_QUOTES,
        success: answers::quote(environment),
    };
    draft.build("", environment)
}

fn quote_personalised(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "quote_personalised",
        summary: "Calculate the price of a personalised send",
        about: of_reads(
            "Answers the price of a personalised send. Nothing is sent, charged or stored. A send that would be refused gets the \
             same refusal here, except for a low balance and a duplicate.",
            installation,
        ),
        codes: &OF_PERSONALISED_QUOTES,
        success: answers::quote(environment),
    };
    let operation = draft.build("", environment);
    operation.request_body(Some(personalised::body(installation)))
}

fn balance(
    variant: &str,
    environment: Environment,
    installation: &Installation,
) -> OperationBuilder {
    let draft = Draft {
        id: "balance",
        summary: "Read the balance",
        about: of_reads("The balance of the wallet, by component.", installation),
        codes: &[],
        success: answers::balance(environment),
    };
    draft.build(variant, environment)
}

fn report(
    variant: &str,
    environment: Environment,
    message_id: ParameterIn,
    installation: &Installation,
) -> OperationBuilder {
    let draft = Draft {
        id: "report",
        summary: "Read a delivery report",
        about: format!(
            "The latest status of every recipient of one message. If the path does not name the message, the fields may be in a \
             JSON body of the GET. {}",
            at_most(installation.limits.reports_per_minute, "reads"),
        ),
        codes: &OF_REPORTS,
        success: answers::report(environment),
    };
    draft
        .build(variant, environment)
        .parameters(Some(parameters::report_parameters(message_id)))
}

fn account(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "account",
        summary: "Read the account",
        about: of_reads("The profile of the account.", installation),
        codes: &[],
        success: answers::account(environment),
    };
    draft.build("", environment)
}

fn legacy(paths: &mut Paths, installation: &Installation) {
    let send = |variant: &str| -> Operation {
        let operation = OperationBuilder::new()
            .tag(LEGACY)
            .operation_id(Some(format!("legacy_send{variant}")))
            .summary(Some("Send a message (legacy)"))
            .description(Some(
                "Takes the same fields as `/api/v2/sms` and answers in the older shape. Errors have `success`, `message` and `data` \
                 beside the envelope.",
            ))
            .response("200", answers::legacy_accepted())
            .build();
        answers::with_failures(operation, &[&COMMON[..], &OF_SENDS].concat(), Shape::V1)
    };
    let path = "/api/v1/sms/create";
    let post = OperationBuilder::from(send(""))
        .parameters(Some([parameters::idempotency_key(installation)]))
        .request_body(Some(request::send_body(installation)));
    let get = OperationBuilder::from(send("_by_query"))
        .parameters(Some(request::send_parameters(installation)));
    paths.add_path_operation(path, vec![HttpMethod::Post], post.build());
    paths.add_path_operation(path, vec![HttpMethod::Get], get.build());
}
