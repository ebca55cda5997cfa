//! The operations that find messages (docs/spec/finding.md).

mod examples;
mod parameters;

pub(super) use examples::{changed, csv, schemas};

use super::draft::{Draft, of_reads};
use crate::http::docs::installation::Installation;
use domain::Environment;
pub(super) use parameters::{InPath, MESSAGE_ID, list, path};
use parameters::{RECIPIENT, filters};
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Paths};

/// Further codes of a list.
const OF_LISTS: [&str; 2] = ["API-2000", "API-2007"];
/// Further codes of an item.
const OF_ITEMS: [&str; 2] = ["API-2000", "API-2007"];

/// Filters of messages.
const MESSAGE_FILTERS: [&str; 9] = [
    "since",
    "until",
    "recipient",
    "sender",
    "gateway",
    "state",
    "delivery_status",
    "customer_reference",
    "sub_account_id",
];

/// Adds the operations of an environment.
pub(super) fn add(
    paths: &mut Paths,
    prefix: &str,
    environment: Environment,
    installation: &Installation,
) {
    let mut get = |path: &str, operation: OperationBuilder| {
        let path = format!("{prefix}{path}");
        paths.add_path_operation(path, vec![HttpMethod::Get], operation.build());
    };
    get("/messages", messages(environment, installation));
    get("/wallet/entries", entries(environment, installation));
    get("/usage", usage(environment, installation));
    get(
        "/exports/recipients.csv",
        export_recipients(environment, installation),
    );
    get(
        "/exports/wallet.csv",
        export_wallet(environment, installation),
    );
    get("/messages/{message_id}", message(environment, installation));
    get(
        "/messages/{message_id}/recipients",
        recipients(environment, installation),
    );
    get(
        "/messages/{message_id}/recipients/{recipient}",
        recipient(environment, installation),
    );
}

fn messages(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "messages",
        summary: "Find messages",
        about: of_reads(
            "The messages that match all filters, newest first. A filter may end a page early: continue until `next_cursor` is null.",
            installation,
        ),
        codes: &OF_LISTS,
        success: examples::messages(environment),
    };
    let operation = draft.build("", environment);
    operation.parameters(Some(list(&MESSAGE_FILTERS)))
}

fn message(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "message",
        summary: "Read a message",
        about: of_reads("One message, as the list shows it.", installation),
        codes: &OF_ITEMS,
        success: examples::message(environment),
    };
    let mut parameters = path(&[MESSAGE_ID]);
    parameters.extend(filters(&["sub_account_id"]));
    let operation = draft.build("", environment);
    operation.parameters(Some(parameters))
}

fn recipients(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "recipients",
        summary: "List the recipients of a message",
        about: of_reads(
            "The recipients in the order of the send, with status, charge and refund of each.",
            installation,
        ),
        codes: &OF_ITEMS,
        success: examples::recipients(environment),
    };
    let mut parameters = path(&[MESSAGE_ID]);
    parameters.extend(list(&["delivery_status"]));
    let operation = draft.build("", environment);
    operation.parameters(Some(parameters))
}

fn recipient(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "recipient",
        summary: "Read the events of a recipient",
        about: of_reads(
            "One recipient of a message, with the events that led to its status, oldest first.",
            installation,
        ),
        codes: &OF_ITEMS,
        success: examples::timeline(environment),
    };
    let operation = draft.build("", environment);
    operation.parameters(Some(path(&[MESSAGE_ID, RECIPIENT])))
}

/// Filters of entries.
const ENTRY_FILTERS: [&str; 5] = ["since", "until", "kind", "message_id", "sub_account_id"];

fn entries(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "wallet_entries",
        summary: "List the entries of the wallet",
        about: of_reads(
            "Charges, refunds and credits with the balance after each. The newest message or credit comes first, and a refund \
             is listed with the charge of its message.",
            installation,
        ),
        codes: &OF_LISTS,
        success: examples::entries(environment),
    };
    let operation = draft.build("", environment);
    operation.parameters(Some(list(&ENTRY_FILTERS)))
}

fn usage(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "usage",
        summary: "Add up the usage",
        about: of_reads(
            "Messages, recipients and money by hour, day, gateway, network or sender ID. A message counts in each group that \
             it touches.",
            installation,
        ),
        codes: &OF_LISTS,
        success: examples::usage(environment),
    };
    let operation = draft.build("", environment);
    operation.parameters(Some(list(&["since", "until", "by", "sub_account_id"])))
}

fn export_recipients(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "export_recipients",
        summary: "Export recipients as a CSV",
        about: of_reads(
            "A row for each recipient of the messages that match all filters. `recipient` and `delivery_status` also filter the \
             rows. A text that a spreadsheet would evaluate as a formula begins with an apostrophe.",
            installation,
        ),
        codes: &OF_LISTS,
        success: examples::recipients_csv(),
    };
    let operation = draft.build("", environment);
    operation.parameters(Some(filters(&MESSAGE_FILTERS)))
}

fn export_wallet(environment: Environment, installation: &Installation) -> OperationBuilder {
    let draft = Draft {
        id: "export_wallet",
        summary: "Export the entries of the wallet as a CSV",
        about: of_reads(
            "A row for each entry that matches all filters.",
            installation,
        ),
        codes: &OF_LISTS,
        success: examples::wallet_csv(),
    };
    let operation = draft.build("", environment);
    operation.parameters(Some(filters(&ENTRY_FILTERS)))
}
