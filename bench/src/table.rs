//! All goals at once: every scenario on SQLite and on PostgreSQL, as JSON and as Markdown.

mod markdown;

use crate::Load;
use crate::database::Kind;
use crate::figures::{Goal, medians};
use crate::measure::{self, Results, are_clean};
use crate::scenario::Scenario;
use crate::site::Setup;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

const DATABASES: [Kind; 2] = [Kind::Sqlite, Kind::Postgres];

/// Where it goes.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// Only these scenarios [default: everything]
    #[arg(long, value_name = "SCENARIO", value_delimiter = ',')]
    only: Vec<Scenario>,
    /// A file for all figures, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A file for the table, as Markdown; without one it goes to standard output
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// A line of the table: what one figure of a scenario means to the reader.
struct Row {
    what: &'static str,
    scenario: Scenario,
    figure: &'static str,
}

const fn row(what: &'static str, scenario: Scenario, figure: &'static str) -> Row {
    Row {
        what,
        scenario,
        figure,
    }
}

/// In the order in which a reader asks.
const ROWS: [Row; 35] = [
    row(
        "one recipient a request, 256 connections, receipts and callbacks, whole life: messages a second",
        Scenario::Single,
        "messages_per_s",
    ),
    row(
        "the same: CPU seconds of the service per 1,000 messages",
        Scenario::Single,
        "cpu_s_per_1000",
    ),
    row(
        "accepts a second, nothing else running",
        Scenario::Accept,
        "accepts_per_s",
    ),
    row(
        "accept at 500 a second: p50, ms",
        Scenario::Latency,
        "accept_p50_ms",
    ),
    row(
        "accept at 500 a second: p99, ms",
        Scenario::Latency,
        "accept_p99_ms",
    ),
    row(
        "accepted to `submit_sm` at 500 a second: p50, ms",
        Scenario::Latency,
        "accepted_to_submit_p50_ms",
    ),
    row(
        "accepted to `submit_sm` at 500 a second: p99, ms",
        Scenario::Latency,
        "accepted_to_submit_p99_ms",
    ),
    row(
        "1,000 recipients a request, receipts, whole life: recipients a second",
        Scenario::Bulk,
        "recipients_per_s",
    ),
    row(
        "one request of 100,000 recipients: answered within, ms",
        Scenario::Large,
        "answered_longest_ms",
    ),
    row(
        "settled messages stored: share of the empty rate",
        Scenario::Stored,
        "share_of_empty_rate",
    ),
    row(
        "report page of a message of 10,000 under load: p99, ms",
        Scenario::Reports,
        "report_of_100_p99_ms",
    ),
    row(
        "an SMSC 50 ms away, window 100, one bind: submits a second",
        Scenario::Distant,
        "submits_per_s",
    ),
    row(
        "an OTP with 1,000,000 recipients queued: due to the wire, p99, ms",
        Scenario::Overtake,
        "otp_due_to_submit_p99_ms",
    ),
    row(
        "callbacks to a receiver that is well, beside 1,000 dead ones: share of the rate alone",
        Scenario::DeadReceivers,
        "share_of_rate_alone",
    ),
    row(
        "9,000 connections that ask for ten times the sustained rate, for a minute: share of it settled",
        Scenario::Overload,
        "goodput_share",
    ),
    row("memory meanwhile, MB", Scenario::Overload, "peak_mb"),
    row(
        "all as before after it, s",
        Scenario::Overload,
        "recovery_s",
    ),
    row(
        "ten times the campaigns that are sustained, for a minute: share of the rate settled",
        Scenario::OverloadCampaigns,
        "goodput_share",
    ),
    row(
        "memory meanwhile, MB",
        Scenario::OverloadCampaigns,
        "peak_mb",
    ),
    row(
        "all as before after it, s",
        Scenario::OverloadCampaigns,
        "recovery_s",
    ),
    row("memory idle, MB", Scenario::Queued, "idle_mb"),
    row(
        "memory with 1,000,000 recipients queued, MB",
        Scenario::Queued,
        "queued_mb",
    ),
    row(
        "ready after SIGKILL with 1,000,000 recipients queued, s",
        Scenario::Queued,
        "ready_after_kill_s",
    ),
    row(
        "disk per single message, just settled, over 500,000, bytes",
        Scenario::Disk,
        "stored_bytes_per_recipient",
    ),
    row(
        "disk per single message, for good, bytes",
        Scenario::Disk,
        "lasting_bytes_per_recipient",
    ),
    row(
        "disk per single message, just settled, over 50,000, bytes",
        Scenario::Single,
        "stored_bytes_per_recipient",
    ),
    row(
        "disk per bulk recipient, just settled, bytes",
        Scenario::Bulk,
        "stored_bytes_per_recipient",
    ),
    row(
        "disk per bulk recipient, for good, bytes",
        Scenario::Bulk,
        "lasting_bytes_per_recipient",
    ),
    row(
        "decode and encode a `submit_sm` of 200 octets, ns",
        Scenario::Codec,
        "decode_and_encode_ns",
    ),
    row(
        "CPU per message, 10,000 accounts to 1",
        Scenario::Accounts,
        "cpu_growth",
    ),
    row(
        "CPU per message, of 10,000 accounts, one made each second to none",
        Scenario::Changes,
        "cpu_growth",
    ),
    row(
        "CPU per message, 1,000,000 recipients queued to none",
        Scenario::Backlog,
        "cpu_growth",
    ),
    row(
        "CPU per message, 50 carriers to 1",
        Scenario::Carriers,
        "cpu_growth",
    ),
    row(
        "bulk: CPU seconds per 1,000 recipients",
        Scenario::Bulk,
        "cpu_s_per_1000",
    ),
    row(
        "an OTP while the campaign drains at full speed: due to the wire, p99, ms",
        Scenario::Overtake,
        "otp_while_draining_due_to_submit_p99_ms",
    ),
];

impl Row {
    /// Returns its goal.
    fn goal(&self) -> Option<Goal> {
        let mut goals = self.scenario.goals().iter();
        goals.find(|goal| goal.figure() == self.figure).copied()
    }
}

/// The medians of a database, by scenario and figure.
type Medians = BTreeMap<String, BTreeMap<String, f64>>;

/// The figures so far, by database.
#[derive(Default)]
struct Found {
    medians: Vec<(Kind, Medians)>,
    summaries: Map<String, Value>,
    clean: bool,
}

/// Measures everything; gives whether everything added up.
pub(crate) async fn all(setup: &Setup, load: Load, target: &Target) -> Result<bool> {
    let scenarios = match target.only.as_slice() {
        [] => Scenario::value_variants(),
        named => named,
    };
    let machine = measure::describe(setup)?;
    let mut found = Found {
        clean: true,
        ..Found::default()
    };
    for database in DATABASES {
        let nodes = match database {
            Kind::Sqlite => 1,
            Kind::Postgres => setup.nodes,
        };
        let setup = Setup {
            database,
            nodes,
            ..setup.clone()
        };
        let results = measure::run_all(&setup, scenarios, load).await;
        found.add(&setup, &results);
        // Also after the first one: hours of measuring are not to be lost.
        found.write(&setup, load, &machine, target)?;
    }
    if target.markdown.is_none() {
        let head = markdown::head(&machine, load);
        write!(io::stdout(), "{head}{}", markdown::tables(&found.medians))?;
    }
    Ok(found.clean)
}

impl Found {
    fn add(&mut self, setup: &Setup, results: &Results) {
        self.clean &= are_clean(results);
        let medians = results
            .iter()
            .map(|(scenario, runs)| (scenario.name(), medians(runs)))
            .collect();
        self.medians.push((setup.database, medians));
        let summaries = measure::summaries(setup, results);
        self.summaries
            .insert(setup.database.name().to_owned(), summaries.into());
    }

    fn write(&self, setup: &Setup, load: Load, machine: &Value, target: &Target) -> Result<()> {
        let mut configuration = measure::configuration(setup, load);
        configuration["database"] = "both".into();
        let document = json!({
            "clean": self.clean,
            "machine": machine,
            "configuration": configuration,
            "databases": self.summaries,
        });
        if let Some(path) = &target.json {
            fs::write(path, format!("{document:#}\n"))
                .with_context(|| format!("{}", path.display()))?;
        }
        if let Some(path) = &target.markdown {
            let head = markdown::head(machine, load);
            fs::write(path, head + &markdown::tables(&self.medians))
                .with_context(|| format!("{}", path.display()))?;
        }
        Ok(())
    }
}
