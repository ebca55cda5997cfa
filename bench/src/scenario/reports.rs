//! Reports of a message of 10,000 recipients, page by page, while other customers send.

use super::checks::{SETTLE_TIMEOUT, close, spent};
use crate::figures::{Figures, Latencies};
use crate::http::Connection;
use crate::load::{Request, open_loop, pace};
use crate::site::{Setup, Site};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::time::{Duration, Instant};

const RECIPIENTS: u64 = 10_000;
/// The concurrent load: single messages with receipts.
const PER_SECOND: u32 = 500;
const CONNECTIONS: usize = 32;
const REPORTS_PER_SECOND: u32 = 50;
/// The default size of a page, and the maximum.
const PAGES_OF: [u64; 2] = [100, 1_000];
/// The numbers of the load begin behind those of the message.
const FIRST_NUMBER: u64 = 1_000_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let seconds = if quick { 2 } else { 10 };
    let mut site = Site::prepare(setup)?;
    site.start().await?;
    let message = send(&site).await?;
    site.wait_for("ogene_settled_total", RECIPIENTS, SETTLE_TIMEOUT)
        .await?;

    let mut figures = Figures::default();
    let request = Request::new(&site, 1, None);
    let before = site.usage()?;
    let mut sent = 0;
    for per_page in PAGES_OF {
        let numbers = FIRST_NUMBER + sent..FIRST_NUMBER + sent + u64::from(PER_SECOND) * seconds;
        let every = Duration::from_secs(1) / PER_SECOND;
        let load = open_loop(&site.http, &request, CONNECTIONS, numbers, every);
        let reports = u64::from(REPORTS_PER_SECOND) * seconds;
        let (load, reports) = tokio::join!(load, read(&site, &message, per_page, reports));
        let name = format!("report_of_{per_page}");
        figures.latency(&name, &reports?);
        sent += load?.accepted;
    }
    let all = RECIPIENTS + sent;
    site.wait_for("ogene_settled_total", all, SETTLE_TIMEOUT)
        .await?;
    spent(&mut figures, &before, &site.usage()?, sent);
    close(&mut figures, site, sent + 1, all).await?;
    Ok(figures)
}

/// Sends the message. Returns its id.
async fn send(site: &Site) -> Result<String> {
    let mut request = Request::new(site, usize::try_from(RECIPIENTS)?, None);
    let mut connection = Connection::open(site.http[0]).await?;
    let answer = connection.ask(request.fill(0)).await?;
    let answer: Value = serde_json::from_slice(answer.body)?;
    let id = answer["data"]["message_id"].as_str();
    Ok(id
        .with_context(|| format!("no message: {answer}"))?
        .to_owned())
}

/// Reads so many pages, one after the other, each at its time. A latency begins at the due time.
async fn read(site: &Site, message: &str, per_page: u64, reports: u64) -> Result<Latencies> {
    let mut connection = Connection::open(site.http[0]).await?;
    let mut latencies = Latencies::new()?;
    let every = Duration::from_secs(1) / REPORTS_PER_SECOND;
    let mut dues = pace(Instant::now() + every, every, 0..reports);
    while let Some((number, due)) = dues.recv().await {
        let page = number % (RECIPIENTS / per_page) + 1;
        let request = format!(
            "GET /api/v2/delivery-reports?message_id={message}&page={page}&per_page={per_page} HTTP/1.1\r\n\
             Host: bench\r\nAuthorization: Bearer {}\r\n\r\n",
            site.tokens[0]
        );
        let answer = connection.ask(request.as_bytes()).await?;
        latencies.record(due.elapsed());
        let report: Value = serde_json::from_slice(answer.body)?;
        let found = report["data"]["reports"].as_array().map_or(0, Vec::len);
        if found as u64 != per_page {
            bail!("a page of {found} and not {per_page}");
        }
    }
    Ok(latencies)
}
