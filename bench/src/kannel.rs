//! The comparison with Kannel: both run the load of the scenario `single`, by turns.
//!
//! Kannel is Debian's, with our configuration. Its spool is on the disk. It has as many connections
//! to the same SMSC, the same window, and a `dlr-url` to the same receiver. It does not sync the
//! spool before it answers, and keeps its state of receipts in memory.

mod boxes;

use crate::callbacks::Callbacks;
use crate::comparison::{Compared, Sides, carried, install};
use crate::figures::Figures;
use crate::load::{Request, closed_loop_on, open};
use crate::measure::describe;
use crate::plan::Plan;
use crate::scenario::Scenario;
use crate::scenario::checks::SETTLE_TIMEOUT;
use crate::scenario::single::{WARM_UP, whole_life};
use crate::site::Setup;
use anyhow::{Context, Result};
use boxes::Boxes;
use std::path::Path;
use std::time::Duration;

/// Maximum duration of a run.
const TIMEOUT: Duration = Duration::from_mins(6);
const COMPARED: [Compared; 6] = [
    ("messages_per_s", "messages a second, whole life", true),
    ("accepts_per_s", "accepts a second meanwhile", true),
    ("accept_p50_ms", "accept p50, ms", false),
    ("accept_p99_ms", "accept p99, ms", false),
    ("cpu_s_per_1000", "CPU seconds per 1,000 messages", false),
    ("peak_mb", "peak memory, MB", false),
];

/// Measures both and prints a table. Returns `true` if no check failed.
pub(crate) async fn beside(setup: &Setup, plan: Plan, json: Option<&Path>) -> Result<bool> {
    install("bench/install-kannel")?;
    let mut sides = Sides::new("Kannel", describe(setup)?);
    for run in 1..=plan.runs {
        sides.ogene(run, plan, Scenario::Single.run(setup, plan).await);
        let figures = tokio::time::timeout(TIMEOUT, measure(setup)).await;
        sides.other(run, plan, figures.context("it takes too long").flatten());
    }
    sides.finish(setup, plan, &COMPARED, json)
}

/// Runs the scenario `single` on Kannel.
async fn measure(setup: &Setup) -> Result<Figures> {
    let messages = setup.messages;
    let all = WARM_UP + messages;
    let callbacks = Callbacks::start()?;
    let boxes = Boxes::start(setup).await?;
    let request = Request::kannel(boxes::USER, &callbacks.url());
    // The connections are opened first, because Kannel accepts many new ones slowly.
    let mut streams = open(&[boxes.http], setup.connections).await?;
    closed_loop_on(&mut streams, &request, 0..WARM_UP, Duration::MAX).await?;
    callbacks.wait_for(WARM_UP, SETTLE_TIMEOUT).await?;

    let before = boxes.usage()?;
    let numbers = WARM_UP..all;
    let load = closed_loop_on(&mut streams, &request, numbers, Duration::MAX).await?;
    let last = callbacks.wait_for(all, SETTLE_TIMEOUT).await?;
    let mut figures = whole_life(&load, last, [&before, &boxes.usage()?], messages);
    let told = callbacks.count();
    figures.expect("callbacks of a delivery", all, told.delivered);
    carried(&mut figures, &boxes.stop().await?, all);
    Ok(figures)
}
