//! A curve: the cost of the whole life of single messages in several states of the service.
//!
//! Each state has a site, and the sites take turns. The speed of a shared machine may change by
//! half within a minute.

use super::checks::{SETTLE_TIMEOUT, close};
use crate::callbacks::Callbacks;
use crate::figures::{Figures, float, median};
use crate::load::{Request, closed_loop};
use crate::site::Site;
use anyhow::Result;
use std::ops::Range;
use std::time::Duration;

const CONNECTIONS: usize = 256;
/// Each of three sites is first in as many rounds as the others. The first site of a round finds
/// the machine in another state than the last one.
const ROUNDS: usize = 9;
/// Messages of a turn.
const MESSAGES: u64 = 10_000;

/// The figures of one run.
pub(super) struct Point {
    pub(super) messages_per_s: f64,
    pub(super) cpu_s_per_1000: f64,
}

/// A site that takes turns with others.
pub(super) struct Side {
    pub(super) site: Site,
    callbacks: Callbacks,
    /// The number of the site's first message.
    first: u64,
    pub(super) sent: u64,
    /// Number of accounts that are made at the beginning of each turn. The service loads them while
    /// it sends.
    pub(super) changes: u64,
    points: Vec<Point>,
}

impl Side {
    pub(super) async fn start(mut site: Site, first: u64) -> Result<Self> {
        site.start().await?;
        Self::of(site, first)
    }

    /// Returns the side of a site whose processes run.
    pub(super) fn of(site: Site, first: u64) -> Result<Self> {
        Ok(Self {
            site,
            callbacks: Callbacks::start()?,
            first,
            sent: 0,
            changes: 0,
            points: Vec::new(),
        })
    }

    pub(super) async fn send(&mut self, messages: u64) -> Result<Point> {
        let next = self.first + self.sent;
        self.sent += messages;
        measure(&self.site, &self.callbacks, next..next + messages).await
    }

    /// Runs a turn that counts.
    pub(super) async fn turn(&mut self, messages: u64) -> Result<()> {
        for _ in 0..self.changes {
            self.site.make_account("Another", "another@example.ng")?;
        }
        let point = self.send(messages).await?;
        self.points.push(point);
        Ok(())
    }

    /// Returns the median of its turns.
    pub(super) fn median(&self, figure: impl Fn(&Point) -> f64) -> f64 {
        median(self.points.iter().map(figure).collect())
    }

    /// Returns the median, over the rounds, of its ratio to another site.
    pub(super) fn over(&self, other: &Self, figure: impl Fn(&Point) -> f64) -> f64 {
        let rounds = self.points.iter().zip(&other.points);
        median(rounds.map(|(one, two)| figure(one) / figure(two)).collect())
    }
}

/// Sends single messages with receipts and callbacks, and waits for the last callback. `numbers`
/// begin behind those of the previous turn.
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
    let last = callbacks.wait_for(told, SETTLE_TIMEOUT).await?;
    let cpu_s = site.usage()?.cpu_s - before.cpu_s;
    Ok(Point {
        messages_per_s: float(messages) / (last - load.began).as_secs_f64(),
        cpu_s_per_1000: cpu_s / float(messages) * 1e3,
    })
}

/// Measures a site at each point, after some messages to warm it up.
pub(super) async fn draw(
    quick: bool,
    points: [u64; 3],
    warm_up: u64,
    prepare: impl Fn(u64) -> Result<Site>,
) -> Result<Figures> {
    let mut sides = Vec::new();
    for at in points {
        let mut side = Side::start(prepare(at)?, 0).await?;
        side.send(warm_up).await?;
        sides.push((at, side));
    }
    by_turns(sides, quick).await
}

/// Lets warm sites take turns, compares them, and checks that none has lost anything.
pub(super) async fn by_turns(mut sides: Vec<(u64, Side)>, quick: bool) -> Result<Figures> {
    let mut figures = Figures::default();
    compare(&mut figures, &mut sides, quick).await?;
    for (_, Side { site, sent, .. }) in sides {
        close(&mut figures, site, sent, sent).await?;
    }
    Ok(figures)
}

/// Shows the cost of a message at each point, and the ratio of the last point to the first.
pub(super) async fn compare(
    figures: &mut Figures,
    sides: &mut [(u64, Side)],
    quick: bool,
) -> Result<()> {
    let messages = if quick { MESSAGES / 10 } else { MESSAGES };
    for round in 0..ROUNDS {
        let (later, first) = sides.split_at_mut(round % sides.len());
        for (_, side) in first.iter_mut().chain(later) {
            side.turn(messages).await?;
        }
    }
    let rate = |point: &Point| point.messages_per_s;
    let cost = |point: &Point| point.cpu_s_per_1000;
    for (at, side) in sides.iter() {
        figures.set(&format!("messages_per_s_at_{at}"), side.median(rate));
        figures.set(&format!("cpu_s_per_1000_at_{at}"), side.median(cost));
    }
    if let [(_, first), .., (_, last)] = sides {
        figures.set("cpu_growth", last.over(first, cost));
    }
    Ok(())
}
