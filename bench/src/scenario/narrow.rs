//! A carrier as most are sold: one connection with a window of 50. The rates of campaigns and of
//! single messages are compared with another build by turns.

use super::checks::{SETTLE_TIMEOUT, close};
use super::single;
use crate::figures::Figures;
use crate::load::{Request, closed_loop};
use crate::site::{Setup, Site};
use anyhow::Result;
use std::time::Duration;

const BINDS: u32 = 1;
const WINDOW: u32 = 50;
const CONNECTIONS: usize = 8;
const RECIPIENTS: usize = 1_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let share = if quick { 10 } else { 1 };
    let setup = Setup {
        binds: BINDS,
        window: WINDOW,
        ..setup.clone()
    };
    let mut figures = bulk(&setup, 150 / share).await?;
    let single = single::run(&setup, 30_000 / share).await?;
    figures.join("single_", single);
    Ok(figures)
}

async fn bulk(setup: &Setup, requests: u64) -> Result<Figures> {
    let recipients = requests * RECIPIENTS as u64;
    let mut site = Site::prepare(setup)?;
    site.start().await?;
    let request = Request::new(&site, RECIPIENTS, None);
    let numbers = 0..requests;
    let load = closed_loop(&site.http, &request, CONNECTIONS, numbers, Duration::MAX).await?;
    site.wait_for("ogene_settled_total", recipients, SETTLE_TIMEOUT)
        .await?;
    let mut figures = Figures::default();
    figures.rate("bulk_recipients_per_s", recipients, load.began.elapsed());
    close(&mut figures, site, requests, recipients).await?;
    Ok(figures)
}
