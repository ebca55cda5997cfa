//! The latency of the largest request. Each is sent when all recipients of the last one are
//! settled.

use super::checks::{SETTLE_TIMEOUT, close, spent};
use crate::figures::{Figures, Latencies};
use crate::http::Connection;
use crate::load::Request;
use crate::site::{Setup, Site};
use anyhow::{Result, bail};
use std::time::{Duration, Instant};

const RECIPIENTS: u64 = 100_000;
const REQUESTS: u64 = 5;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let recipients = if quick { RECIPIENTS / 10 } else { RECIPIENTS };
    let mut site = Site::prepare(setup)?;
    site.start().await?;
    let mut request = Request::new(&site, usize::try_from(recipients)?, None);

    let before = site.usage()?;
    let mut answers = Latencies::new()?;
    let (mut longest, mut lives) = (Duration::ZERO, Duration::ZERO);
    for number in 0..REQUESTS {
        let octets = request.fill(number);
        // Each request has a new connection, because the service may close an idle one.
        let mut connection = Connection::open(site.http[0]).await?;
        let at = Instant::now();
        let answer = connection.ask(octets).await?;
        if answer.status != 200 {
            bail!("refused: {}", String::from_utf8_lossy(answer.body));
        }
        let time = at.elapsed();
        answers.record(time);
        longest = longest.max(time);
        let settled = recipients * (number + 1);
        site.wait_for("ogene_settled_total", settled, SETTLE_TIMEOUT)
            .await?;
        lives += at.elapsed();
    }
    let all = recipients * REQUESTS;
    let mut figures = Figures::default();
    figures.set("answered_longest_ms", longest.as_secs_f64() * 1e3);
    figures.latency("answered", &answers);
    figures.rate("recipients_per_s", all, lives);
    spent(&mut figures, &before, &site.usage()?, all);
    close(&mut figures, site, REQUESTS, all).await?;
    Ok(figures)
}
