//! The operations on top-ups (docs/spec/payments.md).

use super::answers::{self, Name, TEN_O_CLOCK_MS, add_enveloped, customer, replayable, success};
use super::draft::{Draft, of_reads};
use super::objects::{EnvironmentPaths, OF_LISTS, addition, list_of, one_page, request, text};
use super::otp::body;
use super::queries::{InPath, path};
use crate::http::api::list::List;
use crate::http::api::top_ups::{self, TopUpItem};
use crate::http::docs::installation::Installation;
use crate::http::payments::pages;
use crate::http::respond::envelope::Envelope;
use domain::payment::{
    MAX_OPEN_TOP_UPS, MAX_RETURN_URL_CHARACTERS, NewTopUp, Percent, Priced, TopUp, TopUpId,
};
use domain::{AccountId, Component, Environment, Money};
use serde_json::json;
use utoipa::openapi::path::{OperationBuilder, Paths};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::openapi::{ContentBuilder, RefOr, Response, ResponseBuilder};

const TOP_UPS: Name = "TopUpsAnswer";
const TOP_UP: Name = "TopUpAnswer";
const REQUEST: &str = "TopUpRequest";
/// The top-up in a path.
const IN_PATH: InPath = ("top_up_id", "The `top_up_id` in the list.");

/// Further codes of one top-up.
const OF_ITEMS: [&str; 2] = ["API-2000", "API-2007"];
/// Further codes of a receipt.
const OF_RECEIPTS: [&str; 3] = ["API-2000", "API-2007", "API-2019"];
/// Further codes of a new top-up.
const OF_REQUESTS: [&str; 5] = ["API-2000", "API-2016", "API-2017", "API-2018", "API-3006"];

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<TopUpItem>>(TOP_UPS, &mut schemas);
    answers::add::<Envelope<TopUpItem>>(TOP_UP, &mut schemas);
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
    let of_one = "/top-ups/{top_up_id}";
    at.get("/top-ups", list_top_ups(environment, installation));
    at.post("/top-ups", create(environment, installation));
    at.get(of_one, read(environment, installation));
    at.get(
        &format!("{of_one}/receipt"),
        receipt(environment, installation),
    );
}

fn list_top_ups(environment: Environment, installation: &Installation) -> OperationBuilder {
    let found = one_page(example(environment));
    let draft = Draft {
        id: "top_ups",
        summary: "List top-ups",
        about: of_reads("The top-ups of the account, newest first.", installation),
        codes: &OF_LISTS,
        success: success(TOP_UPS, &top_ups::list_answer(found, environment)),
    };
    list_of(draft, environment)
}

fn create(environment: Environment, installation: &Installation) -> OperationBuilder {
    let about = format!(
        "Makes a top-up, which is paid on the page `checkout_url` of a payment provider. VAT comes on top of the amount. The \
         wallet is credited once, when the provider confirms the payment. At most {MAX_OPEN_TOP_UPS} top-ups of an account may \
         be unpaid. In the sandbox the page is ours: a `POST` there pays, and no money moves."
    );
    let draft = Draft {
        id: "create_top_up",
        summary: "Make a top-up",
        about: of_reads(&about, installation),
        codes: &OF_REQUESTS,
        success: replayable(success(
            TOP_UP,
            &top_ups::created_answer(&example(environment)),
        )),
    };
    let fields = json!({
        "amount": "5000.00", "return_url": "https://shop.example.ng/thanks",
    });
    addition(draft, environment, installation, body(REQUEST, fields))
}

fn read(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "top_up",
        summary: "Read a top-up",
        about: of_reads("One top-up with its state.", installation),
        codes: &OF_ITEMS,
        success: success(TOP_UP, &top_ups::read_answer(&paid(environment))),
    };
    let operation = draft.build("", environment);
    operation.parameters(Some(path(&[IN_PATH])))
}

fn receipt(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "top_up_receipt",
        summary: "Print the receipt of a top-up",
        about: of_reads(
            "The receipt of a paid top-up, as a page of HTML to print. The numbers of receipts run without gaps.",
            installation,
        ),
        codes: &OF_RECEIPTS,
        success: page(environment),
    };
    let operation = draft.build("", environment);
    operation.parameters(Some(path(&[IN_PATH])))
}

fn page(environment: Environment) -> Response {
    let account = customer().account;
    let html = pages::receipt_html(&paid(environment), &account);
    let schema: Schema = ObjectBuilder::new().schema_type(Type::String).into();
    let content = ContentBuilder::new()
        .schema(Some(schema))
        .example(Some(html.into()))
        .build();
    ResponseBuilder::new()
        .description("The page")
        .content("text/html", content)
        .build()
}

/// Returns the schema of a request, with its name.
pub(crate) fn request_schema(installation: &Installation) -> (&'static str, RefOr<Schema>) {
    let return_url = text(
        "The page to which the customer returns. `top_up_id` and `state` are added to its query.",
    );
    let object = ObjectBuilder::new()
        .description(Some("A top-up."))
        .property(
            "amount",
            text("The amount in naira that is credited, with at most two decimals."),
        )
        .required("amount")
        .property(
            "provider",
            text("The payment provider: `paystack`, `flutterwave` or `monnify`. Without it, the operator's default."),
        )
        .property(
            "return_url",
            return_url.max_length(Some(MAX_RETURN_URL_CHARACTERS)),
        );
    request(REQUEST, object, installation)
}

/// Returns an unpaid top-up.
fn example(environment: Environment) -> TopUp {
    let id = TopUpId::new(TEN_O_CLOCK_MS, [0x5A; 10]);
    let (provider, checkout_url) = match environment {
        Environment::Live => (
            "paystack",
            "https://checkout.paystack.com/0peioxfhpn".to_owned(),
        ),
        Environment::Sandbox => (
            "sandbox",
            format!("https://sms.example.ng/payments/sandbox/{id}"),
        ),
    };
    let new = NewTopUp {
        id,
        account: AccountId(1),
        environment,
        provider: provider.to_owned(),
        price: Priced {
            amount: Money::from_naira(5_000),
            vat: Money::from_naira(375),
            vat_rate: Percent::from_hundredths(750),
            bonus: Money::ZERO,
            component: Component::UniversalWallet,
        },
        checkout_url,
        return_url: None,
        expires_ms: 86_400_000,
    };
    TopUp::new(new, TEN_O_CLOCK_MS)
}

/// Returns a paid top-up.
fn paid(environment: Environment) -> TopUp {
    let mut top_up = example(environment);
    top_up.pay(TEN_O_CLOCK_MS + 60_000);
    top_up.receipt_number = Some(1_042);
    top_up
}
