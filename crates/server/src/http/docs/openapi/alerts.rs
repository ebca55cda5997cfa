//! The operations on alerts (docs/spec/payments.md, section 6).

use super::answers::{self, Name, TEN_O_CLOCK_MS, add_enveloped, replayable, success};
use super::draft::{CallbackDraft, Draft, of_reads};
use super::objects::{
    EnvironmentPaths, OF_CHANGES, OF_LISTS, addition, change_of_one, list_of, one_page, request,
    text,
};
use super::otp::body;
use super::queries::InPath;
use crate::http::api::alerts::{self, AlertItem, RemovedAlert};
use crate::http::api::list::List;
use crate::http::docs::installation::Installation;
use crate::http::respond::envelope::Envelope;
use domain::alert::{Alert, AlertTarget, MAX_ALERTS};
use domain::{AccountId, Environment, Money};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Callback, OperationBuilder, Paths};
use utoipa::openapi::schema::{ObjectBuilder, Schema};

const ALERTS: Name = "AlertsAnswer";
const ALERT: Name = "AlertAnswer";
const REMOVED: Name = "AlertRemovedAnswer";
const CALLBACK: Name = "LowBalanceCallback";
const REQUEST: &str = "AlertRequest";
const ALERT_ID: &str = "al_51f0c39a7be2d404";
/// The alert in a path.
const IN_PATH: InPath = ("alert_id", "The `alert_id` in the list.");

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<AlertItem>>(ALERTS, &mut schemas);
    answers::add::<Envelope<AlertItem>>(ALERT, &mut schemas);
    add_enveloped::<RemovedAlert>(REMOVED, &mut schemas);
    answers::add::<LowBalanceCallback>(CALLBACK, &mut schemas);
    schemas
}

/// Adds the operations of an environment. The sandbox has no balance to watch, so it has none but
/// the list.
pub(super) fn add(
    paths: &mut Paths,
    prefix: &str,
    environment: Environment,
    installation: &Installation,
) {
    let mut at = EnvironmentPaths { paths, prefix };
    at.get("/alerts", list_alerts(environment, installation));
    if environment == Environment::Live {
        at.post("/alerts", add_alert(installation));
        let of_one = "/alerts/{alert_id}";
        at.delete(of_one, remove_alert(installation));
    }
}

fn list_alerts(environment: Environment, installation: &Installation) -> OperationBuilder {
    let found = one_page(example());
    let draft = Draft {
        id: "alerts",
        summary: "List alerts",
        about: of_reads(
            "The alerts of the account about a low balance, newest first. The sandbox has none.",
            installation,
        ),
        codes: &OF_LISTS,
        success: success(ALERTS, &alerts::list_answer(found, environment)),
    };
    list_of(draft, environment)
}

fn add_alert(installation: &Installation) -> OperationBuilder {
    let about = format!(
        "Adds an alert, which is told once when the total balance falls below `threshold`, and again only after the balance \
         was not below it. An account has at most {MAX_ALERTS} alerts."
    );
    let draft = Draft {
        id: "add_alert",
        summary: "Add an alert",
        about: of_reads(&about, installation),
        codes: &OF_CHANGES,
        success: replayable(success(ALERT, &alerts::added_answer(&example()))),
    };
    let fields = json!({ "threshold": "5000.00", "url": "https://shop.example.ng/low" });
    addition(
        draft,
        Environment::Live,
        installation,
        body(REQUEST, fields),
    )
    .callback("low_balance", callback())
}

fn remove_alert(installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "remove_alert",
        summary: "Remove an alert",
        about: of_reads("Removes an alert of the account.", installation),
        codes: &OF_CHANGES,
        success: replayable(success(REMOVED, &alerts::removed_answer(ALERT_ID))),
    };
    change_of_one(draft, IN_PATH, installation)
}

/// Returns the schema of a request, with its name.
pub(crate) fn request_schema(installation: &Installation) -> (&'static str, RefOr<Schema>) {
    let object = ObjectBuilder::new()
        .description(Some("An alert with either `url` or `email`."))
        .property(
            "threshold",
            text("The balance in naira below which it is told."),
        )
        .required("threshold")
        .property("url", text("The URL that is called."))
        .property("email", text("The address that gets a mail."));
    request(REQUEST, object, installation)
}

/// Returns the callback of the `url`.
fn callback() -> Callback {
    let draft = CallbackDraft {
        id: "low_balance".to_owned(),
        summary: "A low balance",
        sent: "The service sends it when the balance has fallen below the threshold.",
        repeated: "It can arrive more than once: compare `alert_id` and `at`.",
        schema: CALLBACK,
        example: posted(),
    };
    draft.build("url")
}

/// A low balance as it is sent to the `url` of an alert.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LowBalanceCallback {
    /// `low_balance`.
    event: String,
    /// The alert.
    alert_id: String,
    /// Its threshold in naira.
    threshold: f64,
    /// The balance in naira.
    balance: f64,
    /// The time in Africa/Lagos.
    at: String,
}

fn posted() -> Option<Value> {
    let body = example().callback_body(Money::from_naira(4_994), TEN_O_CLOCK_MS);
    let callback: LowBalanceCallback = serde_json::from_str(&body).ok()?;
    serde_json::to_value(callback).ok()
}

/// Returns an alert that was not told.
fn example() -> Alert {
    Alert {
        id: ALERT_ID.to_owned(),
        account: AccountId(1),
        threshold: Money::from_naira(5_000),
        target: AlertTarget::Url("https://shop.example.ng/low".to_owned()),
        is_below: false,
        created_at_ms: TEN_O_CLOCK_MS,
        told_at_ms: None,
    }
}
