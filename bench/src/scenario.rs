//! The scenarios, one per file: each prepares a site of its own, measures it, and checks that nothing was lost.

mod accept;
mod bulk;
mod latency;
mod queued;
mod single;

use crate::figures::{Figures, Goal, float};
use crate::process::Usage;
use crate::site::{Setup, Site};
use anyhow::{Context, Result};
use clap::ValueEnum;
use std::time::Duration;

/// How long a scenario may take in all.
const PATIENCE: Duration = Duration::from_mins(6);
/// How long the rest of a load may take after its last request.
const SETTLE_PATIENCE: Duration = Duration::from_mins(3);
/// One million, and one million bytes.
const MILLION: f64 = 1e6;

/// What is measured.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum Scenario {
    /// One recipient per request on many connections, receipts and callbacks on
    Single,
    /// 1,000 recipients per request, receipts on
    Bulk,
    /// Sends at a set pace: how soon are they accepted, and on the wire
    Latency,
    /// Many recipients queued while the SMSC is away, then a crash and a start
    Queued,
    /// Accepts alone, the SMSC away
    Accept,
}

impl Scenario {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Bulk => "bulk",
            Self::Latency => "latency",
            Self::Queued => "queued",
            Self::Accept => "accept",
        }
    }

    /// What the project promises.
    pub(crate) const fn goals(self) -> &'static [Goal] {
        match self {
            Self::Single => &[
                Goal::AtLeast("messages_per_s", 5_000.0),
                Goal::AtMost("accept_p99_ms", 50.0),
            ],
            Self::Bulk => &[Goal::AtLeast("recipients_per_s", 40_000.0)],
            Self::Latency => &[
                Goal::AtMost("accepted_to_submit_p50_ms", 5.0),
                Goal::AtMost("accepted_to_submit_p99_ms", 25.0),
            ],
            Self::Queued => &[
                Goal::AtMost("idle_mb", 100.0),
                Goal::AtMost("queued_mb", 300.0),
                Goal::AtMost("ready_after_kill_s", 2.0),
            ],
            Self::Accept => &[],
        }
    }

    /// Runs it once.
    pub(crate) async fn run(self, setup: &Setup, quick: bool) -> Result<Figures> {
        let run = async {
            match self {
                Self::Single => single::run(setup, quick).await,
                Self::Bulk => bulk::run(setup, quick).await,
                Self::Latency => latency::run(setup, quick).await,
                Self::Queued => queued::run(setup, quick).await,
                Self::Accept => accept::run(setup, quick).await,
            }
        };
        let run = tokio::time::timeout(PATIENCE, run);
        let figures = run.await.context("it takes too long")?;
        figures.with_context(|| format!("the scenario {} failed", self.name()))
    }
}

/// What the service spent on so many recipients, between two moments.
fn spent(figures: &mut Figures, before: &Usage, after: &Usage, recipients: u64) {
    let thousands = float(recipients) / 1e3;
    figures.set("cpu_s_per_1000", (after.cpu_s - before.cpu_s) / thousands);
    let written = after.written_bytes - before.written_bytes;
    figures.set("written_bytes_per_recipient", written / float(recipients));
    figures.set("peak_mb", after.peak_resident_bytes / MILLION);
}

/// Waits until all is settled, stops everything, and checks that every message went to the SMSC once, had its
/// receipt, and that the books are right.
async fn close(
    figures: &mut Figures,
    mut site: Site,
    messages: u64,
    recipients: u64,
) -> Result<()> {
    site.wait_for("ogene_settled_total", recipients, SETTLE_PATIENCE)
        .await?;
    let stop = site.stop_service().await?;
    figures.set("stop_s", stop.as_secs_f64());
    let carrier = site.stop_smsc().await?;
    for figure in ["submits", "accepted", "answered"] {
        let found = carrier[figure].as_u64().unwrap_or(0);
        figures.expect(&format!("{figure} of the SMSC"), recipients, found);
    }
    verify(figures, &site, messages, recipients, recipients)
}

/// `ogene verify`, and what it must have counted.
fn verify(
    figures: &mut Figures,
    site: &Site,
    messages: u64,
    recipients: u64,
    deliveries: u64,
) -> Result<()> {
    let stored = float(site.stored_bytes()?);
    figures.set("stored_bytes_per_recipient", stored / float(recipients));
    let report = site.ogene(&["verify"])?;
    let count = |name: &str| report[name].as_u64().unwrap_or(0);
    figures.expect("messages in the database", messages, count("messages"));
    figures.expect(
        "deliveries in the database",
        deliveries,
        count("deliveries"),
    );
    Ok(())
}
