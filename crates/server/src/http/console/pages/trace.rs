//! The way of a number through the gateways, without a send.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use console::Section;
use console::figures::naira;
use console::parts::{Cell, Column, Empty, Field, Table};
use console::screens::{Details, Form as FormScreen, Part};
use domain::{GatewayRules, Recipient, Rulebook, parse_international, parse_national};

/// The address of the form.
pub(super) const PATH: &str = "/operator/trace";

/// `GET /operator/trace`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&screen(&visitor, "", None)))
}

/// `POST /operator/trace`. The number is in the body, since addresses are logged.
pub(super) async fn trace(visitor: Visitor, fields: Form) -> Answered {
    let given = fields.get("number").trim();
    let number = parse_national(given).or_else(|| parse_international(given));
    let Some(number) = number else {
        let fault = "Give a number such as 08031234567 or +2348031234567.".to_owned();
        let screen = screen(&visitor, given, Some(fault));
        return Ok(visitor.answer_with(axum::http::StatusCode::UNPROCESSABLE_ENTITY, &screen));
    };
    let installation = visitor.engine().installation();
    let rules = installation.rules();
    let network = rules.network_of(number).and_then(|index| {
        let networks = rules.plan.networks();
        networks.get(usize::from(index)).cloned()
    });
    let network = network.unwrap_or_else(|| "unknown".to_owned());
    let part = Part {
        title: "Gateways".to_owned(),
        lead: "A send goes to the first carrier that is bound, in this order.".to_owned(),
        table: Some(gateways(rules, number, visitor.now_ms())),
        empty: Some(Empty::new(
            "No gateways",
            "The configuration names them under [gateways.NAME].",
        )),
        form: None,
    };
    Ok(visitor.answer(&Details {
        shell: visitor.shell(&number.to_string(), Section::Carriers),
        back: ("Trace another number".to_owned(), PATH.to_owned()),
        changes: Vec::new(),
        figures: Vec::new(),
        facts: vec![
            ("Number".to_owned(), number.to_string()),
            ("Network".to_owned(), network),
        ],
        sections: vec![part],
        refresh: None,
    }))
}

fn screen(visitor: &Visitor, number: &str, fault: Option<String>) -> FormScreen {
    FormScreen {
        shell: visitor.shell("Trace a number", Section::Carriers),
        lead: "The network, carriers and prices of a number. Nothing is sent.".to_owned(),
        fields: vec![
            Field::text("number", "Number")
                .hint("Such as 08031234567 or +2348031234567.")
                .inputmode("tel")
                .value(number)
                .error(fault),
        ],
        error: None,
        href: PATH.to_owned(),
        action: "Trace".to_owned(),
        back: Section::Carriers.path().to_owned(),
    }
}

fn gateways(rules: &Rulebook, number: Recipient, now_ms: i64) -> Table {
    let network = rules.network_of(number);
    let rows = rules.gateways.iter().map(|gateway| {
        let price = rules.list_price(gateway.gateway, network);
        vec![
            Cell::text(gateway.gateway.as_str()),
            Cell::text(way(rules, gateway, network)),
            Cell::text(price.map_or_else(|| "–".to_owned(), |price| naira(price.plain))),
            Cell::text(price.map_or_else(|| "–".to_owned(), |price| naira(price.unicode))),
        ]
    });
    Table {
        label: "Gateways".to_owned(),
        columns: vec![
            Column::text("Gateway"),
            Column::text("Carriers"),
            Column::number("Price of a page"),
            Column::number("Unicode").wide(),
        ],
        rows: rows.collect(),
        now_ms,
    }
}

/// Returns the carriers of a gateway for a network, in order.
pub(super) fn way(rules: &Rulebook, gateway: &GatewayRules, network: Option<u8>) -> String {
    if let Some(legs) = gateway.legs {
        return format!("{}, then {}", legs.first.as_str(), legs.second.as_str());
    }
    let carriers = gateway.preference.carriers(network).iter();
    let names: Vec<&str> = carriers
        .filter_map(|index| rules.carriers.get(*index))
        .map(|carrier| carrier.name.as_str())
        .collect();
    if names.is_empty() {
        "None".to_owned()
    } else {
        names.join(", then ")
    }
}
