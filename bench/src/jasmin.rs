//! The comparison with Jasmin, as SMPP server and SMPP client: both run the load of the scenario
//! `customers` without HTTP, by turns.
//!
//! Jasmin is that of `PyPI`, with Debian's `RabbitMQ` and Redis and our configuration. It has as many
//! connections to the same SMSC. Redis appends to its file on the disk. Jasmin declares its queues
//! without a copy on the disk, and commits nothing before it answers.

mod console;
mod gateway;

use crate::comparison::{Compared, Sides, carried, install};
use crate::figures::Figures;
use crate::measure::describe;
use crate::plan::Plan;
use crate::scenario::customers::{self, Sessions, Turn};
use crate::site::Setup;
use crate::site::smpp_users::Credentials;
use anyhow::{Context, Result};
use gateway::Gateway;
use std::path::Path;
use std::time::Duration;

/// Maximum duration of a run.
const TIMEOUT: Duration = Duration::from_mins(6);
const COMPARED: [Compared; 5] = [
    ("messages_per_s", "receipts a second, whole life", true),
    ("response_p50_ms", "response to a submit, p50, ms", false),
    ("response_p99_ms", "response to a submit, p99, ms", false),
    ("cpu_s_per_1000", "CPU seconds per 1,000 messages", false),
    ("peak_mb", "peak memory, MB", false),
];

/// Measures both and prints a table. Returns `true` if no check failed.
pub(crate) async fn beside(setup: &Setup, plan: Plan, json: Option<&Path>) -> Result<bool> {
    install("bench/install-jasmin")?;
    let mut sides = Sides::new("Jasmin", describe(setup)?);
    let time = Duration::from_secs(if plan.quick { 5 } else { 15 });
    for run in 1..=plan.runs {
        let figures = tokio::time::timeout(TIMEOUT, customers::alone(setup, time)).await;
        sides.ogene(run, plan, figures.context("it takes too long").flatten());
        let figures = tokio::time::timeout(TIMEOUT, measure(setup, time)).await;
        sides.other(run, plan, figures.context("it takes too long").flatten());
    }
    sides.finish(setup, plan, &COMPARED, json)
}

/// Runs the load on Jasmin.
async fn measure(setup: &Setup, time: Duration) -> Result<Figures> {
    let gateway = Gateway::start(setup).await?;
    let user = Credentials {
        system_id: gateway::USER.to_owned(),
        password: gateway::USER.to_owned(),
    };
    let mut sessions = Sessions::bind(&[gateway.smpp], &[user]).await?;
    let turn = sessions.turns(&|| gateway.usage(), time).await?;
    let mut figures = Figures::default();
    Turn::show(&mut figures, &turn);
    sessions.check_receipts(&mut figures);
    let sent = sessions.sent;
    sessions.unbind().await?;
    carried(&mut figures, &gateway.stop().await?, sent);
    Ok(figures)
}
