//! The rate of single messages with millions of settled ones stored, as a share of that without: two services, one
//! of them with the store, take turns. The store is copied from real messages; see `copies`.

use super::curve::{self, Point};
use super::{SETTLE_PATIENCE, close, finish};
use crate::callbacks::Callbacks;
use crate::copies;
use crate::figures::{Figures, median};
use crate::site::{Setup, Site};
use anyhow::Result;
use std::time::Instant;

/// The messages that are copied.
const ORIGINALS: u64 = 1_000;
const WARM_UP: u64 = 5_000;
const MESSAGES: u64 = 30_000;

/// One of the two.
struct Side {
    site: Site,
    callbacks: Callbacks,
    /// What was sent so far.
    sent: u64,
    rates: Vec<f64>,
    costs: Vec<f64>,
}

pub(super) async fn run(setup: &Setup, quick: bool, rounds: u32) -> Result<Figures> {
    let share = if quick { 10 } else { 1 };
    let copies = setup.stored / share / ORIGINALS;
    let mut empty = Side::prepare(setup).await?;
    let mut full = Side::prepare(setup).await?;
    full.site.stop_service().await?;
    let began = Instant::now();
    copies::make_messages(&full.site, copies)?;
    let mut figures = Figures::default();
    figures.set("making_s", began.elapsed().as_secs_f64());
    full.site.start_service().await?;
    full.site.wait_until_bound().await?;

    for side in [&mut empty, &mut full] {
        side.measure(WARM_UP).await?;
    }
    let mut shares = Vec::new();
    for _ in 0..rounds {
        let without = empty.round(MESSAGES / share).await?;
        let with = full.round(MESSAGES / share).await?;
        shares.push(with.messages_per_s / without.messages_per_s);
    }
    figures.set("share_of_empty_rate", median(shares));
    for (name, side) in [("empty", &empty), ("stored", &full)] {
        figures.set(
            &format!("{name}_messages_per_s"),
            median(side.rates.clone()),
        );
        figures.set(
            &format!("{name}_cpu_s_per_1000"),
            median(side.costs.clone()),
        );
    }
    let peak = full.site.usage()?.peak_resident_bytes;
    figures.set("peak_mb", peak / super::MILLION);
    close(&mut figures, empty.site, empty.sent, empty.sent).await?;
    full.end(&mut figures, copies * ORIGINALS).await?;
    Ok(figures)
}

impl Side {
    /// A service with the messages that are to be copied, on either side.
    async fn prepare(setup: &Setup) -> Result<Self> {
        let mut site = Site::prepare(setup)?;
        site.start().await?;
        let mut prepared = Self {
            site,
            callbacks: Callbacks::start()?,
            sent: 0,
            rates: Vec::new(),
            costs: Vec::new(),
        };
        prepared.measure(ORIGINALS).await?;
        Ok(prepared)
    }

    async fn measure(&mut self, messages: u64) -> Result<Point> {
        let numbers = self.sent..self.sent + messages;
        self.sent += messages;
        curve::measure(&self.site, &self.callbacks, numbers).await
    }

    async fn round(&mut self, messages: u64) -> Result<Point> {
        let point = self.measure(messages).await?;
        self.rates.push(point.messages_per_s);
        self.costs.push(point.cpu_s_per_1000);
        Ok(point)
    }

    /// Its service was started twice, so it is the SMSC that knows when all is settled.
    async fn end(self, figures: &mut Figures, copied: u64) -> Result<()> {
        let sent = self.sent;
        self.site.wait_until_answered(sent, SETTLE_PATIENCE).await?;
        finish(figures, self.site, sent, sent, copied).await
    }
}
