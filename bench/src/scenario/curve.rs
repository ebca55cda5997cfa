//! A curve: what the whole life of single messages takes, at several states of the service.

use super::{SETTLE_PATIENCE, close};
use crate::callbacks::Callbacks;
use crate::figures::{Figures, float};
use crate::load::{Request, closed_loop};
use crate::site::Site;
use anyhow::Result;
use std::ops::Range;
use std::time::Duration;

const CONNECTIONS: usize = 256;
/// Sent at each point.
const MESSAGES: u64 = 20_000;

/// What was measured at a point.
pub(super) struct Point {
    pub(super) messages_per_s: f64,
    pub(super) cpu_s_per_1000: f64,
}

impl Point {
    /// Shows it as that at `at`.
    pub(super) fn show(&self, figures: &mut Figures, at: u64) {
        figures.set(&format!("messages_per_s_at_{at}"), self.messages_per_s);
        figures.set(&format!("cpu_s_per_1000_at_{at}"), self.cpu_s_per_1000);
    }
}

/// Measures a site of its own at each point, after some messages to warm it up.
pub(super) async fn draw(
    quick: bool,
    points: [u64; 3],
    warm_up: u64,
    prepare: impl Fn(u64) -> Result<Site>,
) -> Result<Figures> {
    let messages = if quick { MESSAGES / 10 } else { MESSAGES };
    let all = warm_up + messages;
    let mut figures = Figures::default();
    let mut measured = Vec::new();
    for at in points {
        let mut site = prepare(at)?;
        let callbacks = Callbacks::start()?;
        site.start().await?;
        measure(&site, &callbacks, 0..warm_up).await?;
        let point = measure(&site, &callbacks, warm_up..all).await?;
        close(&mut figures, site, all, all).await?;
        measured.push((at, point));
    }
    show(&mut figures, &measured);
    Ok(figures)
}

/// Sends single messages with receipts and callbacks, and waits for the last callback. `numbers` begin where
/// those before ended.
pub(super) async fn measure(
    site: &Site,
    callbacks: &Callbacks,
    numbers: Range<u64>,
) -> Result<Point> {
    let request = Request::new(site, 1, Some(&callbacks.url()));
    let messages = numbers.end - numbers.start;
    let told = callbacks.count().recipients + messages;
    let before = site.usage()?;
    let load = closed_loop(&site.http, &request, CONNECTIONS, numbers, Duration::MAX).await?;
    let last = callbacks.wait_for(told, SETTLE_PATIENCE).await?;
    let cpu_s = site.usage()?.cpu_s - before.cpu_s;
    Ok(Point {
        messages_per_s: float(messages) / (last - load.began).as_secs_f64(),
        cpu_s_per_1000: cpu_s / float(messages) * 1e3,
    })
}

/// Shows all points, and how much more a message costs at the last one than at the first.
pub(super) fn show(figures: &mut Figures, points: &[(u64, Point)]) {
    for (at, point) in points {
        point.show(figures, *at);
    }
    if let [(_, first), .., (_, last)] = points {
        let growth = last.cpu_s_per_1000 / first.cpu_s_per_1000;
        figures.set("cpu_growth", growth);
    }
}
