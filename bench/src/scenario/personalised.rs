//! Personalised sends, each of whose recipients has another text: as a share of the rate of `bulk`
//! on the same service, and as CSV of 100,000 rows.

use super::checks::{MILLION, SETTLE_TIMEOUT, close};
use crate::figures::{Figures, float, median};
use crate::http::Connection;
use crate::load::{Request, closed_loop};
use crate::site::{Setup, Site};
use anyhow::{Result, bail};
use std::time::{Duration, Instant};

const CONNECTIONS: usize = 8;
const ROWS: usize = 1_000;
const ROUNDS: u64 = 5;
const CSV_ROWS: usize = 100_000;
const CSV_REQUESTS: u64 = 3;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let mut figures = Figures::default();
    csv(&mut figures, setup, if quick { 10 } else { 1 }).await?;
    let requests = if quick { 10 } else { 100 };
    let mut site = Site::prepare(setup)?;
    site.start().await?;
    let kinds = [
        Request::new(&site, ROWS, None),
        Request::personalised(&site, ROWS),
    ];
    let mut sent = 0;
    let mut rates: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        for (request, rates) in kinds.iter().zip(&mut rates) {
            let numbers = sent..sent + requests;
            sent = numbers.end;
            let load = closed_loop(&site.http, request, CONNECTIONS, numbers, Duration::MAX);
            let load = load.await?;
            let settled = sent * ROWS as u64;
            site.wait_for("ogene_settled_total", settled, SETTLE_TIMEOUT)
                .await?;
            // The first round warms the service up.
            if round > 0 {
                let time = load.began.elapsed().as_secs_f64();
                rates.push(float(requests * ROWS as u64) / time);
            }
        }
    }
    let shares = rates[1].iter().zip(&rates[0]);
    let shares = shares.map(|(own, same)| own / same).collect();
    figures.set("share_of_bulk", median(shares));
    let [bulk, own] = rates.map(median);
    figures.set("bulk_recipients_per_s", bulk);
    figures.set("recipients_per_s", own);
    close(&mut figures, site, sent, sent * ROWS as u64).await?;
    Ok(figures)
}

/// Sends some requests of many rows as CSV, each after the last one is settled.
async fn csv(figures: &mut Figures, setup: &Setup, share: usize) -> Result<()> {
    let rows = CSV_ROWS / share;
    let mut site = Site::prepare(setup)?;
    site.start().await?;
    let idle = site.usage()?.resident_bytes;
    let mut request = Request::personalised_csv(&site, rows);
    let mut longest = Duration::ZERO;
    for number in 0..CSV_REQUESTS {
        let octets = request.fill(number);
        let mut connection = Connection::open(site.http[0]).await?;
        let at = Instant::now();
        let answer = connection.ask(octets).await?;
        longest = longest.max(at.elapsed());
        if answer.status != 200 {
            bail!("refused: {}", String::from_utf8_lossy(answer.body));
        }
        let settled = rows as u64 * (number + 1);
        site.wait_for("ogene_settled_total", settled, SETTLE_TIMEOUT)
            .await?;
    }
    let peak = site.usage()?.peak_resident_bytes;
    figures.set("csv_answered_longest_ms", longest.as_secs_f64() * 1e3);
    figures.set("csv_memory_above_idle_mb", (peak - idle).max(0.0) / MILLION);
    close(figures, site, CSV_REQUESTS, rows as u64 * CSV_REQUESTS).await
}
