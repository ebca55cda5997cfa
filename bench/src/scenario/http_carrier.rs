//! The whole life of single messages over a carrier by HTTP, as a share of their rate by SMPP. Two
//! services take turns. The carrier by HTTP has 64 requests at once, and posts each receipt in a
//! request of its own.

use super::checks::{SETTLE_TIMEOUT, close, verify};
use super::curve::{Point, Side};
use crate::figures::Figures;
use crate::http_sink::HttpSink;
use crate::site::{FIRST_CARRIER, Protocol, Setup, Site};
use anyhow::Result;

const ROUNDS: usize = 5;
const WARM_UP: u64 = 1_000;
const MESSAGES: u64 = 20_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let messages = if quick { MESSAGES / 10 } else { MESSAGES };
    let smpp = Side::start(Site::prepare(setup)?, 0).await?;
    let by_http = Setup {
        protocol: Protocol::Http,
        ..setup.clone()
    };
    let mut site = Site::prepare(&by_http)?;
    let sink = HttpSink::start(FIRST_CARRIER, site.carrier, &site.http)?;
    site.start_service().await?;
    site.wait_until_bound().await?;
    let mut sides = [smpp, Side::of(site, 0)?];
    for side in &mut sides {
        side.send(WARM_UP).await?;
    }
    for round in 0..ROUNDS {
        // Each is first in turns.
        let (later, first) = sides.split_at_mut(round % 2);
        for side in first.iter_mut().chain(later) {
            side.turn(messages).await?;
        }
    }
    let [smpp, http] = sides;
    let rate = |point: &Point| point.messages_per_s;
    let cost = |point: &Point| point.cpu_s_per_1000;
    let mut figures = Figures::default();
    figures.set("share_of_smpp_rate", http.over(&smpp, rate));
    for (name, side) in [("smpp", &smpp), ("http", &http)] {
        figures.set(&format!("{name}_messages_per_s"), side.median(rate));
        figures.set(&format!("{name}_cpu_s_per_1000"), side.median(cost));
    }
    close(&mut figures, smpp.site, smpp.sent, smpp.sent).await?;
    close_http(&mut figures, http, &sink).await?;
    Ok(figures)
}

/// Checks that the carrier got each message once, and that its receipt was settled.
async fn close_http(figures: &mut Figures, side: Side, sink: &HttpSink) -> Result<()> {
    let Side { mut site, sent, .. } = side;
    site.wait_for("ogene_settled_total", sent, SETTLE_TIMEOUT)
        .await?;
    site.stop_service().await?;
    let names = ["requests", "messages", "receipts"];
    for (name, found) in names.iter().zip(sink.counts()) {
        figures.expect(&format!("{name} at the carrier by HTTP"), sent, found);
    }
    verify(figures, &site, sent, sent, sent)
}
