//! The rate of single messages with millions of settled ones stored, as a share of the rate
//! without. Two services take turns, and one of them has the stored messages. They are copies of
//! real messages (see `copies`).

use super::checks::{MILLION, SETTLE_TIMEOUT, close, finish};
use super::curve::{Point, Side};
use crate::copies;
use crate::figures::Figures;
use crate::site::{Setup, Site};
use anyhow::Result;
use std::time::Instant;

/// The messages that are copied.
const ORIGINALS: u64 = 1_000;
const WARM_UP: u64 = 5_000;
const MESSAGES: u64 = 30_000;

pub(super) async fn run(setup: &Setup, quick: bool, rounds: u32) -> Result<Figures> {
    let share = if quick { 10 } else { 1 };
    let copies = setup.stored / share / ORIGINALS;
    let mut empty = prepare(setup).await?;
    let mut full = prepare(setup).await?;
    full.site.stop_service().await?;
    let began = Instant::now();
    copies::make_messages(&full.site, copies)?;
    let mut figures = Figures::default();
    figures.set("making_s", began.elapsed().as_secs_f64());
    full.site.start_service().await?;
    full.site.wait_until_bound().await?;

    for side in [&mut empty, &mut full] {
        side.send(WARM_UP).await?;
    }
    for _ in 0..rounds {
        for side in [&mut empty, &mut full] {
            side.turn(MESSAGES / share).await?;
        }
    }
    let rate = |point: &Point| point.messages_per_s;
    let cost = |point: &Point| point.cpu_s_per_1000;
    figures.set("share_of_empty_rate", full.over(&empty, rate));
    for (name, side) in [("empty", &empty), ("stored", &full)] {
        figures.set(&format!("{name}_messages_per_s"), side.median(rate));
        figures.set(&format!("{name}_cpu_s_per_1000"), side.median(cost));
    }
    let peak = full.site.usage()?.peak_resident_bytes;
    figures.set("peak_mb", peak / MILLION);
    close(&mut figures, empty.site, empty.sent, empty.sent).await?;
    // This service was started twice, so the counts of the SMSC show when all is settled.
    let Side { site, sent, .. } = full;
    site.wait_until_answered(sent, SETTLE_TIMEOUT).await?;
    finish(&mut figures, site, sent, sent, copies * ORIGINALS).await?;
    Ok(figures)
}

/// Makes a service with the messages that are copied, on either side.
async fn prepare(setup: &Setup) -> Result<Side> {
    let mut side = Side::start(Site::prepare(setup)?, 0).await?;
    side.send(ORIGINALS).await?;
    Ok(side)
}
