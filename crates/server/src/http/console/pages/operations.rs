//! The first page of operators: traffic, money, carriers, gateways and nodes.

use super::super::failure::Failure;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::account_parts::SENDERS;
use super::{all_top_ups, carriers, first_steps, paused_blocks, trace};
use console::Section;
use console::figures::{count, naira, percent, time};
use console::parts::{Badge, Cell, Column, Empty, Figure, Table, Tone};
use console::screens::{Details, Part};
use domain::Money;
use domain::search::UsageBy;
use engine::{Installation, UsageOverview};

/// The period of the figures.
const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

/// `GET /operator`.
pub(super) async fn to_page(visitor: Visitor) -> Answered {
    Ok(visitor.redirect("/operator/"))
}

/// `GET /operator/`. It leads to the first steps while the installation has no account.
pub(super) async fn page(visitor: Visitor) -> Answered {
    if first_steps::are_due(&visitor).await? {
        return Ok(visitor.redirect(first_steps::PATH));
    }
    let (installation, now_ms) = (visitor.engine().installation(), visitor.now_ms());
    // The hours of a day, as overviews of customers have them.
    let since_ms = now_ms.div_euclid(HOUR_MS) * HOUR_MS - (DAY_MS - HOUR_MS);
    let usage = installation.usage_overview(since_ms, UsageBy::Hour).await?;
    let screen = Details {
        shell: visitor.shell("Overview", Section::Operations),
        back: ("All carriers".to_owned(), carriers::PATH.to_owned()),
        changes: Vec::new(),
        figures: figures(&visitor, &installation, &usage).await?,
        facts: vec![(
            "Counted since".to_owned(),
            time(usage.counted_since_ms.unwrap_or(since_ms)),
        )],
        sections: vec![
            Part {
                title: "Carriers".to_owned(),
                lead: String::new(),
                table: Some(carriers::table(&visitor).await?),
                empty: Some(Empty::new(
                    "No carriers",
                    "The configuration names them under [carriers.NAME].",
                )),
                form: None,
            },
            gateways(&installation, &usage, now_ms),
            nodes(&installation, now_ms).await?,
        ],
        refresh: Some("/operator/".to_owned()),
    };
    Ok(visitor.answer(&screen))
}

async fn figures(
    visitor: &Visitor,
    installation: &Installation,
    usage: &UsageOverview,
) -> Result<Vec<Figure>, Failure> {
    let sum = |of: fn(&engine::Usage) -> u64| usage.times.iter().map(of).sum::<u64>();
    let money = |of: fn(&engine::Usage) -> Money| {
        let amounts = usage.times.iter().map(of);
        amounts.fold(Money::ZERO, |sum, amount| sum + amount)
    };
    let (delivered, failed) = (sum(|one| one.delivered), sum(|one| one.failed));
    let (cost, refunded) = (money(|one| one.cost), money(|one| one.refunded));
    let states = installation.callbacks().await?;
    let dead = states.get("dead").copied().unwrap_or_default();
    let asked = visitor.operations().senders().queue().await?.len() as u64;
    let attention = |number| match number {
        0 => Tone::Plain,
        _ => Tone::Warning,
    };
    let rate = percent(delivered, delivered + failed);
    let dead = dead.unsigned_abs();
    let mut callbacks = Figure::new("Dead callbacks", count(dead));
    callbacks = callbacks.note(attention(dead), "kept for a replay");
    callbacks.href = Some(Section::DeadCallbacks.path().to_owned());
    let mut senders = Figure::new("Sender IDs to decide", count(asked));
    senders.href = Some(SENDERS.to_owned());
    let blocks = paused_blocks::count(visitor).await?;
    let mut paused = Figure::new("Paused blocks", count(blocks));
    paused = paused.note(attention(blocks), "of numbers, for an account");
    paused.href = Some(Section::PausedBlocks.path().to_owned());
    let mismatches = visitor.operations().top_ups().mismatches().await?;
    let mut payments = Figure::new("Mismatches", count(mismatches));
    payments = payments.note(attention(mismatches), "payments to decide");
    payments.href = Some(all_top_ups::PATH.to_owned());
    Ok(vec![
        Figure::new("Recipients", count(sum(|one| one.recipients)))
            .note(Tone::Plain, "accepted in 24 hours"),
        Figure::new("Delivered", rate).note(
            Tone::Plain,
            format!("{} pending", count(sum(|one| one.pending))),
        ),
        Figure::new("Charged", naira(cost))
            .note(Tone::Plain, format!("{} refunded", naira(refunded))),
        callbacks,
        paused,
        senders,
        payments,
    ])
}

fn gateways(installation: &Installation, usage: &UsageOverview, now_ms: i64) -> Part {
    let rules = installation.rules();
    let rows = rules.gateways.iter().map(|gateway| {
        let name = gateway.gateway.as_str();
        let found = usage.gateways.iter().find(|one| one.key == name);
        let used = found.cloned().unwrap_or_default();
        let quiet = gateway.quiet_hours.map(|hours| hours.to_string());
        vec![
            Cell::text(name),
            Cell::text(trace::way(rules, gateway, None)),
            Cell::text(quiet.unwrap_or_else(|| "None".to_owned())),
            Cell::text(count(used.recipients)),
            Cell::text(percent(used.delivered, used.delivered + used.failed)),
            Cell::text(naira(used.cost)),
        ]
    });
    Part {
        title: "Gateways".to_owned(),
        lead: String::new(),
        table: Some(Table {
            label: "Gateways".to_owned(),
            columns: vec![
                Column::text("Gateway"),
                Column::text("Carriers").wide(),
                Column::text("Quiet hours").wide(),
                Column::number("Recipients"),
                Column::number("Delivered"),
                Column::number("Charged").wide(),
            ],
            rows: rows.collect(),
            now_ms,
        }),
        empty: None,
        form: None,
    }
}

async fn nodes(installation: &Installation, now_ms: i64) -> Result<Part, Failure> {
    let nodes = installation.nodes().await?;
    let rows = nodes.iter().map(|node| {
        let note = if node.is_this { "This node" } else { "Alive" };
        vec![
            Cell::Code(node.name.clone()),
            Cell::Status(Badge::new(Tone::Good, note)),
        ]
    });
    Ok(Part {
        title: "Nodes".to_owned(),
        lead: "A node without a heartbeat for 5 s is removed.".to_owned(),
        table: Some(Table {
            label: "Nodes".to_owned(),
            columns: vec![Column::text("Host and process"), Column::text("State")],
            rows: rows.collect(),
            now_ms,
        }),
        empty: None,
        form: None,
    })
}
