//! What a message costs when more and more recipients are queued: held by quiet hours, for the same carrier.

use super::curve;
use super::{SETTLE_PATIENCE, stop, verify};
use crate::callbacks::Callbacks;
use crate::figures::Figures;
use crate::load::{Request, closed_loop};
use crate::site::{HELD, Setup, Site};
use anyhow::Result;
use std::time::Duration;

const POINTS: [u64; 4] = [0, 10_000, 100_000, 1_000_000];
const RECIPIENTS: u64 = 1_000;
const CONNECTIONS: usize = 4;
const WARM_UP: u64 = 5_000;
const MESSAGES: u64 = 20_000;
/// The numbers of single messages begin behind those of what is queued.
const FIRST_NUMBER: u64 = 10_000_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let share = if quick { 10 } else { 1 };
    let mut site = Site::prepare(setup)?;
    let callbacks = Callbacks::start()?;
    site.start().await?;
    let held = Request::over(&site, HELD, usize::try_from(RECIPIENTS)?);

    let mut next = FIRST_NUMBER;
    let mut sent = |messages: u64| {
        next += messages;
        next - messages..next
    };
    curve::measure(&site, &callbacks, sent(WARM_UP)).await?;
    let (mut points, mut queued) = (Vec::new(), 0);
    for recipients in POINTS.map(|recipients| recipients / share) {
        let requests = queued..recipients / RECIPIENTS;
        queued = requests.end;
        closed_loop(&site.http, &held, CONNECTIONS, requests, Duration::MAX).await?;
        let point = curve::measure(&site, &callbacks, sent(MESSAGES / share)).await?;
        points.push((recipients, point));
    }
    let messages = next - FIRST_NUMBER;

    let mut figures = Figures::default();
    curve::show(&mut figures, &points);
    site.wait_for("ogene_settled_total", messages, SETTLE_PATIENCE)
        .await?;
    stop(&mut figures, &mut site, messages).await?;
    verify(&mut figures, &site, messages + queued, messages, messages)?;
    Ok(figures)
}
