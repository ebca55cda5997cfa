//! `/openapi.json`: the interface as `OpenAPI` 3.1, made from the same types that answer requests.

mod alerts;
mod answers;
mod changes;
mod draft;
mod inbound;
mod inbound_answers;
mod objects;
mod operations;
mod opt_outs;
mod otp;
mod parameters;
mod personalised;
mod portable;
mod queries;
mod request;
mod sender_ids;
mod smpp_users;
mod sub_accounts;
mod tokens;
mod top_ups;
mod webhooks;

use super::installation::Installation;
use crate::http::respond::error::{OURS, examples, kind};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder};

const ABOUT: &str = "Sends SMS to Nigerian mobile numbers, charged to a prepaid wallet in naira. \
    Text is UTF-8, answers are JSON, and the HTTP status always matches the code. \
    The sandbox has the same operations below `/api/sandbox/v2`: messages are simulated and the wallet does not change.";

const BEARER: &str = "bearer";
const HEADER: &str = "header";
const QUERY: &str = "query";

/// Returns the whole document, in the form that generators of clients handle alike.
pub(super) fn build(installation: &Installation) -> Value {
    let document = serde_json::to_value(described(installation)).unwrap_or_default();
    portable::rewritten(document)
}

fn described(installation: &Installation) -> OpenApi {
    let info = InfoBuilder::new()
        .title("Ogene bulk SMS API")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(ABOUT))
        .build();
    let server = ServerBuilder::new()
        .url("/")
        .description(Some("The host that serves this document."))
        .build();
    let mut document = OpenApiBuilder::new()
        .info(info)
        .servers(Some([server]))
        .paths(operations::paths(installation))
        .components(Some(components(installation)))
        .tags(Some(operations::TAGS.map(|(name, description)| {
            TagBuilder::new()
                .name(name)
                .description(Some(description))
                .build()
        })))
        .security(Some(securities()))
        .build();
    let own = json!({ "limits": installation.limits(), "gateways": installation.offers() });
    document.extensions = Some(Extensions::from_iter([
        ("x-errors", errors()),
        ("x-installation", own),
    ]));
    document
}

fn components(installation: &Installation) -> utoipa::openapi::Components {
    let components = answers::failure_examples()
        .into_iter()
        .fold(ComponentsBuilder::new(), |components, (name, example)| {
            components.example(name, example)
        });
    components
        .schemas_from_iter(request::schemas(installation))
        .schemas_from_iter(personalised::schemas(installation))
        .schemas_from_iter(answers::schemas())
        .schemas_from_iter(queries::schemas())
        .schemas_from_iter(changes::schemas())
        .schemas_from_iter([changes::request()])
        .schemas_from_iter(otp::schemas())
        .schemas_from_iter(otp::requests(installation))
        .schemas_from_iter(inbound::schemas())
        .schemas_from_iter([inbound::request_schema(installation)])
        .schemas_from_iter(inbound_answers::schemas())
        .schemas_from_iter([inbound_answers::request_schema(installation)])
        .schemas_from_iter(opt_outs::schemas())
        .schemas_from_iter([opt_outs::request_schema(installation)])
        .schemas_from_iter(tokens::schemas())
        .schemas_from_iter([tokens::request_schema(installation)])
        .schemas_from_iter(alerts::schemas())
        .schemas_from_iter([alerts::request_schema(installation)])
        .schemas_from_iter(top_ups::schemas())
        .schemas_from_iter([top_ups::request_schema(installation)])
        .schemas_from_iter(smpp_users::schemas())
        .schemas_from_iter([smpp_users::request_schema(installation)])
        .schemas_from_iter(sub_accounts::schemas())
        .schemas_from_iter(sub_accounts::request_schemas(installation))
        .schemas_from_iter(webhooks::schemas())
        .schemas_from_iter(webhooks::request_schemas(installation))
        .schemas_from_iter(sender_ids::schemas())
        .schemas_from_iter([sender_ids::request_schema(installation)])
        .security_scheme(
            BEARER,
            SecurityScheme::Http(
                HttpBuilder::new()
                    .scheme(HttpAuthScheme::Bearer)
                    .description(Some("Recommended: `Authorization: Bearer <token>`. It is read first."))
                    .build(),
            ),
        )
        .security_scheme(
            HEADER,
            SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(
                "api_token",
                "The header `api_token`. It is read second.",
            ))),
        )
        .security_scheme(
            QUERY,
            SecurityScheme::ApiKey(ApiKey::Query(ApiKeyValue::with_description(
                "api_token",
                "`?api_token=<token>`. It is read third. Proxies often log URLs, so prefer a header.",
            ))),
        )
        .build()
}

/// Returns the places of a token, any one of which is enough. The last, empty choice stands for the
/// fourth: the field `api_token` of the body, for which `OpenAPI` has no scheme.
fn securities() -> Vec<SecurityRequirement> {
    let scopes: [&str; 0] = [];
    vec![
        SecurityRequirement::new(BEARER, scopes),
        SecurityRequirement::new(HEADER, scopes),
        SecurityRequirement::new(QUERY, scopes),
        SecurityRequirement::default(),
    ]
}

/// Returns every refusal with its code and an example of its message, from the table that answers
/// are made from.
fn errors() -> Value {
    let mut seen = BTreeSet::new();
    let refusals = examples()
        .into_iter()
        .map(|refusal| (kind(&refusal), refusal.to_string()));
    let ours = (OURS, crate::http::respond::error::OURS_MESSAGE.to_owned());
    let mut rows: Vec<_> = refusals
        .chain([ours])
        .filter(|(kind, message)| seen.insert((kind.code, message.clone())))
        .map(|(kind, message)| {
            json!({
                "code": kind.code,
                "http": kind.status.as_u16(),
                "description": kind.description,
                "message": message,
            })
        })
        .collect();
    rows.sort_by_key(|row| row["code"].to_string());
    rows.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::extract::fields::Name;
    use crate::http::extract::scope;
    use axum::http::Method;
    use domain::token::Scopes;

    fn whole() -> Value {
        let config = crate::config::Config::read("", "test", []).unwrap();
        build(&crate::app::installation(&config))
    }

    #[test]
    fn every_refusal_has_an_example_and_every_code_a_row() {
        let document = whole();
        let (paths, rows) = (
            document["paths"].to_string(),
            document["x-errors"].to_string(),
        );
        let examples_text = document["components"]["examples"].to_string();
        for refusal in examples() {
            let code = kind(&refusal).code;
            let message = serde_json::to_string(&refusal.to_string()).unwrap();
            let has_row = rows.contains(code) && rows.contains(&message);
            assert!(has_row, "{refusal:?} has no row");
            assert!(
                examples_text.contains(&message),
                "{refusal:?} has no example"
            );
            let of_the_router = ["API-4040", "API-4050"].contains(&code);
            assert!(
                of_the_router || paths.contains(code),
                "no operation answers {code}"
            );
        }
        assert!(paths.contains(OURS.code) && rows.contains(OURS.code));
    }

    /// Returns the line of a path in the sandbox, if it has the path.
    fn in_sandbox(line: &str) -> Option<String> {
        let changes = [" delete", "/webhooks/replay post", "/transfer post"];
        let is_change = changes.iter().any(|end| line.ends_with(end));
        if is_change
            || !line.starts_with("/api/v2")
            || LIVE_ALONE.iter().any(|path| line.starts_with(path))
        {
            return None;
        }
        let mut line = line.replace("/api/v2", "/api/sandbox/v2");
        for (live, sandbox) in [
            ("/routes get post", "/routes get"),
            ("/opt-outs get post", "/opt-outs get"),
            ("/alerts get post", "/alerts get"),
            ("/answers get patch", "/answers get"),
            ("/secrets get post", "/secrets get"),
            ("/tokens get post", "/tokens get"),
            ("/sub-accounts get post", "/sub-accounts get"),
            ("{sub_account_id} get patch", "{sub_account_id} get"),
        ] {
            line = line.replace(live, sandbox);
        }
        Some(line)
    }

    const LIVE_ALONE: [&str; 1] = ["/api/v2/smpp-users"];

    /// The paths of the live environment, with their methods.
    const PATHS: &[&str] = &[
        "/api/v1/sms/create get post",
        "/api/v2/account get",
        "/api/v2/alerts get post",
        "/api/v2/alerts/{alert_id} delete",
        "/api/v2/balance get",
        "/api/v2/balance/get get",
        "/api/v2/delivery get",
        "/api/v2/delivery-reports get",
        "/api/v2/delivery-reports/{message_id} get",
        "/api/v2/exports/opt-outs.csv get",
        "/api/v2/exports/recipients.csv get",
        "/api/v2/exports/wallet.csv get",
        "/api/v2/inbound get",
        "/api/v2/inbound/answers get patch",
        "/api/v2/inbound/routes get post",
        "/api/v2/inbound/routes/{route_id} delete",
        "/api/v2/messages get",
        "/api/v2/messages/{message_id} get",
        "/api/v2/messages/{message_id}/cancel post",
        "/api/v2/messages/{message_id}/pause post",
        "/api/v2/messages/{message_id}/recipients get",
        "/api/v2/messages/{message_id}/recipients/{recipient} get",
        "/api/v2/messages/{message_id}/reschedule post",
        "/api/v2/messages/{message_id}/resume post",
        "/api/v2/opt-outs get post",
        "/api/v2/opt-outs/{recipient} delete",
        "/api/v2/otp post",
        "/api/v2/otp/{otp_id} get",
        "/api/v2/otp/{otp_id}/cancel post",
        "/api/v2/otp/{otp_id}/resend post",
        "/api/v2/otp/{otp_id}/verify post",
        "/api/v2/sender-ids get post",
        "/api/v2/smpp-users get post",
        "/api/v2/smpp-users/{system_id} delete",
        "/api/v2/sms get post",
        "/api/v2/sms/create get post",
        "/api/v2/sms/delivery-reports get",
        "/api/v2/sms/delivery-reports/{message_id} get",
        "/api/v2/sms/personalised post",
        "/api/v2/sms/personalised/quote post",
        "/api/v2/sms/quote post",
        "/api/v2/sub-accounts get post",
        "/api/v2/sub-accounts/{sub_account_id} get patch",
        "/api/v2/sub-accounts/{sub_account_id}/transfer post",
        "/api/v2/tokens get post",
        "/api/v2/tokens/{token_id} delete",
        "/api/v2/top-ups get post",
        "/api/v2/top-ups/{top_up_id} get",
        "/api/v2/top-ups/{top_up_id}/receipt get",
        "/api/v2/usage get",
        "/api/v2/wallet/entries get",
        "/api/v2/webhooks/attempts get",
        "/api/v2/webhooks/dead get",
        "/api/v2/webhooks/replay post",
        "/api/v2/webhooks/secrets get post",
        "/api/v2/webhooks/secrets/{secret_id} delete",
    ];

    #[test]
    fn every_path_of_the_interface_and_its_aliases_is_described() {
        let document = whole();
        let paths = document["paths"].as_object().unwrap();
        let list: Vec<String> = paths
            .iter()
            .map(|(path, item)| {
                let methods: Vec<String> = item.as_object().unwrap().keys().cloned().collect();
                format!("{path} {}", methods.join(" "))
            })
            .collect();
        // The sandbox has the same operations, except SMPP users and the changes of what an account owns.
        let (sandbox, live): (Vec<String>, Vec<String>) = list
            .into_iter()
            .partition(|line| line.contains("/sandbox/"));
        let same = live.iter().filter_map(|line| in_sandbox(line));
        assert_eq!(sandbox, same.collect::<Vec<String>>());
        assert_eq!(live, PATHS);
    }

    #[test]
    fn every_operation_has_scopes_that_permit_it() {
        for path in whole()["paths"].as_object().unwrap().keys() {
            let permitting = scope::permitting(&Method::POST, path);
            assert_ne!(permitting, Scopes::ALL, "{path}");
        }
    }

    /// Returns every schema of the document with its place.
    fn objects(
        value: &Value,
        place: &str,
        visit: &mut dyn FnMut(&str, &serde_json::Map<String, Value>),
    ) {
        match value {
            Value::Object(object) => {
                visit(place, object);
                for (key, inner) in object {
                    objects(inner, &format!("{place}/{key}"), visit);
                }
            }
            Value::Array(items) => {
                for item in items {
                    objects(item, place, visit);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn generators_of_clients_find_nothing_they_stumble_over() {
        let document = whole();
        let mut operations = 0;
        objects(&document, "", &mut |place, object| {
            if let Some(kind) = object.get("type") {
                assert!(!kind.is_array(), "{place} has several types");
                let is_integer = kind == "integer";
                assert!(
                    !is_integer || object.contains_key("format"),
                    "{place} has no format"
                );
            }
            assert!(!object.contains_key("anyOf"), "{place} has anyOf");
            if let Some(body) = object.get("requestBody") {
                let content = body["content"].as_object().unwrap();
                assert_eq!(content.len(), 1, "{place} has a body of several types");
                assert!(content.contains_key("application/json"));
            }
            if object.contains_key("responses") && place.starts_with("/paths") {
                operations += 1;
                assert!(
                    object.contains_key("operationId"),
                    "{place} has no operationId"
                );
            }
        });
        assert!(operations > 20, "{operations}");
        assert_eq!(document["servers"][0]["url"], "/");
        let send = &document["components"]["schemas"]["SendRequest"]["properties"];
        for (name, field) in send.as_object().unwrap() {
            assert!(field.get("default").is_none(), "{name} has a default");
        }
        let to: Vec<_> = send["to"]["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["type"].clone())
            .collect();
        assert_eq!(to, ["string", "array"]);
        assert_eq!(send["to"]["oneOf"][1]["items"]["type"], "string");
    }

    #[test]
    fn a_callback_is_described_as_it_is_sent() {
        let update = answers::update().expect("the body is of the described type");
        assert_eq!(update["data"]["recipient"], "2348031234567");
    }

    #[test]
    fn every_field_that_is_read_is_described() {
        for field in request::FIELDS {
            assert_ne!(
                Name::of(field.name),
                Name::Unknown,
                "{} is not read",
                field.name
            );
        }
        let described: BTreeSet<_> = request::FIELDS.iter().map(|field| field.name).collect();
        assert_eq!(described.len(), 12);
    }

    #[test]
    fn references_have_targets_and_operation_ids_are_unique() {
        let document = whole();
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1) {
            let pointer = reference.split('"').next().unwrap();
            assert!(
                document.pointer(pointer).is_some(),
                "{pointer} leads nowhere"
            );
        }
        let ids: Vec<_> = text
            .split("\"operationId\":\"")
            .skip(1)
            .map(|s| s.split('"').next())
            .collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        assert_eq!(document["openapi"], "3.1.0");
    }
}
