//! The operations on sub-accounts (docs/spec/sub-accounts.md).

use super::answers::{self, Name, TEN_O_CLOCK_MS, add_enveloped, message_id, replayable, success};
use super::draft::{Draft, of_reads};
use super::objects::{
    EnvironmentPaths, OF_LISTS, addition, change_of_one, list_of, one_page, request, text,
};
use super::otp::body;
use super::queries::{InPath, path};
use crate::http::api::list::List;
use crate::http::api::sub_accounts::{self, PriceItem, SubAccountItem, TransferItem};
use crate::http::docs::installation::Installation;
use crate::http::respond::envelope::Envelope;
use domain::resale::{Direction, MAX_SUB_ACCOUNTS, ResalePrices, TransferRequest};
use domain::{Account, AccountId, AccountStatus, Environment, Gateway, Money, Price, Verification};
use engine::{SubAccount, Transfer};
use serde_json::json;
use utoipa::PartialSchema as _;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{OperationBuilder, Paths};
use utoipa::openapi::schema::{ObjectBuilder, Schema};

const SUB_ACCOUNTS: Name = "SubAccountsAnswer";
const SUB_ACCOUNT: Name = "SubAccountAnswer";
const TRANSFERRED: Name = "TransferAnswer";
const REQUEST: &str = "SubAccountRequest";
const CHANGE: &str = "SubAccountChange";
const TRANSFER: &str = "TransferRequest";
/// The sub-account in a path.
const IN_PATH: InPath = ("sub_account_id", "The `sub_account_id` in the list.");

/// Further codes of one sub-account.
const OF_ITEMS: [&str; 1] = ["API-2007"];
/// Further codes of changes.
const OF_CHANGES: [&str; 7] = [
    "API-2000", "API-2007", "API-2016", "API-2017", "API-2018", "API-2019", "API-2022",
];
/// Further codes of a transfer.
const OF_TRANSFERS: [&str; 6] = [
    "API-2000", "API-2007", "API-2016", "API-2017", "API-2018", "API-3001",
];

/// Returns the schemas of answers, by name.
pub(crate) fn schemas() -> Vec<(String, RefOr<Schema>)> {
    let mut schemas = Vec::new();
    add_enveloped::<List<SubAccountItem>>(SUB_ACCOUNTS, &mut schemas);
    answers::add::<Envelope<SubAccountItem>>(SUB_ACCOUNT, &mut schemas);
    add_enveloped::<TransferItem>(TRANSFERRED, &mut schemas);
    schemas.push(("PriceItem".to_owned(), PriceItem::schema()));
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
    let of_one = "/sub-accounts/{sub_account_id}";
    at.get("/sub-accounts", list_all(environment, installation));
    at.get(of_one, read(environment, installation));
    if environment == Environment::Live {
        at.post("/sub-accounts", make(installation));
        at.patch(of_one, change(installation));
        at.post(
            "/sub-accounts/{sub_account_id}/transfer",
            transfer(installation),
        );
    }
}

fn list_all(environment: Environment, installation: &Installation) -> OperationBuilder {
    let found = one_page(example());
    let draft = Draft {
        id: "sub_accounts",
        summary: "List sub-accounts",
        about: of_reads(
            "The sub-accounts of the account, newest first. The sandbox has the same.",
            installation,
        ),
        codes: &OF_LISTS,
        success: success(SUB_ACCOUNTS, &sub_accounts::list_answer(found, environment)),
    };
    list_of(draft, environment)
}

fn read(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "sub_account",
        summary: "Read a sub-account",
        about: of_reads("One sub-account, as the list shows it.", installation),
        codes: &OF_ITEMS,
        success: success(SUB_ACCOUNT, &sub_accounts::read_answer(&example())),
    };
    let operation = draft.build("", environment);
    operation.parameters(Some(path(&[IN_PATH])))
}

fn make(installation: &Installation) -> OperationBuilder {
    let about = format!(
        "Makes an account that belongs to this one, with an empty wallet and its first token, which is shown once. It pays its \
         own price for each page, and this account gets the difference to its own. An account has at most \
         {MAX_SUB_ACCOUNTS} sub-accounts, and a sub-account has none. A repeated request with the same Idempotency-Key gets \
         the answer with `token` null."
    );
    let text = domain::token::make(&[7; domain::token::RANDOM_BYTES]);
    let draft = Draft {
        id: "make_sub_account",
        summary: "Make a sub-account",
        about: of_reads(&about, installation),
        codes: &OF_CHANGES,
        success: replayable(success(
            SUB_ACCOUNT,
            &sub_accounts::made_answer(&example(), text),
        )),
    };
    let fields = json!({ "name": "Ada Foods", "email": "ada@example.com" });
    addition(
        draft,
        Environment::Live,
        installation,
        body(REQUEST, fields),
    )
}

fn change(installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "change_sub_account",
        summary: "Change a sub-account",
        about: of_reads(
            "Changes the fields that are given. Without `active`, its sends are refused and its queued recipients wait. A price \
             below the own one is refused; null removes a price or the limit.",
            installation,
        ),
        codes: &OF_CHANGES,
        success: replayable(success(
            SUB_ACCOUNT,
            &sub_accounts::changed_answer(&example()),
        )),
    };
    let fields = json!({
        "status": "active", "daily_limit": "5000.00",
        "prices": { "direct-refund": "7.00", "otp": { "price": "8.00", "unicode_price": "8.00" } },
    });
    change_of_one(draft, IN_PATH, installation).request_body(Some(body(CHANGE, fields)))
}

fn transfer(installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "transfer_to_sub_account",
        summary: "Move money to or from a sub-account",
        about: of_reads(
            "Moves money between both wallets in one transaction, each component into the same component. A reference counts \
             once: the same transfer again is answered as the first time and moves nothing.",
            installation,
        ),
        codes: &OF_TRANSFERS,
        success: replayable(success(
            TRANSFERRED,
            &sub_accounts::transferred_answer(&transfer_example()),
        )),
    };
    let fields = json!({ "amount": "500.00", "direction": "to_sub", "reference": "june-1" });
    change_of_one(draft, IN_PATH, installation).request_body(Some(body(TRANSFER, fields)))
}

/// Returns the schemas of requests, by name.
pub(crate) fn request_schemas(installation: &Installation) -> [(&'static str, RefOr<Schema>); 3] {
    let sub_account = ObjectBuilder::new()
        .description(Some("A sub-account."))
        .property(
            "name",
            text("The name of the business or person.").max_length(Some(255)),
        )
        .required("name")
        .property("email", text("Its e-mail address.").max_length(Some(255)))
        .required("email");
    let status = text("The status.").enum_values(Some(["active", "disabled"]));
    let prices = ObjectBuilder::new().description(Some(
        "Naira a page by gateway. A price is an amount, and a Unicode page costs twice that, or an object with `price` and \
         `unicode_price`. Null removes a price.",
    ));
    let change = ObjectBuilder::new()
        .description(Some("A change of a sub-account."))
        .property("status", status)
        .property(
            "daily_limit",
            text("Naira that it may spend in a day of Lagos. Null removes the limit."),
        )
        .property("prices", prices);
    let direction = text("The direction.").enum_values(Some(["to_sub", "from_sub"]));
    let transfer = ObjectBuilder::new()
        .description(Some("A transfer."))
        .property("amount", text("Naira, with at most two decimals."))
        .required("amount")
        .property("direction", direction)
        .required("direction")
        .property(
            "reference",
            text("Your name for the transfer, which counts once.").max_length(Some(255)),
        )
        .required("reference");
    [
        request(REQUEST, sub_account, installation),
        request(CHANGE, change, installation),
        request(TRANSFER, transfer, installation),
    ]
}

const ID: AccountId = AccountId(1_882_399_170_363_392);

/// Returns a sub-account.
fn example() -> SubAccount {
    let mut prices = ResalePrices::default();
    let [plain, unicode] = [7, 14].map(Money::from_naira);
    prices.set(Gateway::DirectRefund, Some(Price { plain, unicode }));
    SubAccount {
        account: Account {
            id: ID,
            email: "ada@example.com".to_owned(),
            name: "Ada Foods".to_owned(),
            status: AccountStatus::Active,
            verification: Verification::Unverified,
            created_at_ms: TEN_O_CLOCK_MS,
        },
        parent: AccountId(1),
        prices,
        per_day: Some(Money::from_naira(5_000)),
        balance: Money::from_naira(500),
    }
}

fn transfer_example() -> Transfer {
    Transfer {
        id: message_id(),
        account: ID,
        request: TransferRequest {
            amount: Money::from_naira(500),
            direction: Direction::ToSub,
            reference: "june-1".to_owned(),
        },
        created_at_ms: TEN_O_CLOCK_MS,
    }
}
