//! The settings of payments, for operators. No key of a provider is shown.

use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::all_top_ups::PATH;
use super::payment_parts::{component, provider};
use console::Section;
use console::figures::{duration, naira};
use console::parts::{Cell, Column, Empty, Table};
use console::screens::{Details, Part};
use engine::PaymentTerms;
use std::time::Duration;

/// `GET /operator/top-ups/settings`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let settings = visitor.engine().payments().terms();
    let terms = &settings.terms;
    let facts = [
        ("VAT", format!("{} %, on top of the amount", terms.vat)),
        ("Lowest top-up", naira(terms.minimum)),
        ("Credited to", component(terms.component).to_owned()),
        ("Time to pay", duration(terms.expires_ms)),
        ("Search for payments", every(settings.sweep)),
        ("Address of webhooks", webhook(&settings, "NAME")),
    ];
    let now_ms = visitor.now_ms();
    Ok(visitor.answer(&Details {
        shell: visitor.shell("Settings of payments", Section::AllTopUps),
        back: ("All top-ups".to_owned(), PATH.to_owned()),
        changes: Vec::new(),
        figures: Vec::new(),
        facts: facts.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        sections: vec![providers(&settings, now_ms), bonuses(&settings, now_ms)],
        refresh: None,
    }))
}

fn every(period: Duration) -> String {
    let period_ms = i64::try_from(period.as_millis()).unwrap_or(i64::MAX);
    format!("Every {}", duration(period_ms))
}

fn webhook(settings: &PaymentTerms, name: &str) -> String {
    format!("{}/hooks/payments/{name}", settings.origin)
}

fn providers(settings: &PaymentTerms, now_ms: i64) -> Part {
    let row = |(at, (name, url)): (usize, &(&'static str, String))| {
        let default = if at == 0 { " (default)" } else { "" };
        vec![
            Cell::text(format!("{}{default}", provider(name))),
            Cell::Code(url.clone()),
            Cell::Code(webhook(settings, name)),
        ]
    };
    let columns = ["Provider", "API", "Webhook to set there"].map(Column::text);
    Part {
        title: "Providers".to_owned(),
        lead: "The section [payments] of the configuration has these settings. A reload applies \
               them, and no key is shown here."
            .to_owned(),
        table: Some(Table {
            label: "Providers".to_owned(),
            columns: columns.to_vec(),
            rows: settings.providers.iter().enumerate().map(row).collect(),
            now_ms,
        }),
        empty: Some(Empty::new(
            "No providers",
            "Customers cannot pay online. Add [payments.paystack], [payments.flutterwave] or \
             [payments.monnify] with its keys to the configuration, and reload it.",
        )),
        form: None,
    }
}

fn bonuses(settings: &PaymentTerms, now_ms: i64) -> Part {
    let rows = settings.terms.bonuses.iter().map(|bonus| {
        vec![
            Cell::text(naira(bonus.from)),
            Cell::text(format!("{} %", bonus.percent)),
        ]
    });
    Part {
        title: "Bonuses".to_owned(),
        lead: "The bonus of the highest amount that a top-up reaches is added to the SMS bonus."
            .to_owned(),
        table: Some(Table {
            label: "Bonuses".to_owned(),
            columns: vec![Column::number("From"), Column::number("Bonus")],
            rows: rows.collect(),
            now_ms,
        }),
        empty: Some(Empty::new(
            "No bonuses",
            "Add them as `bonus` to [payments].",
        )),
        form: None,
    }
}
