//! Lists, searches, timelines and an export over millions of stored messages, beside sends.
//!
//! The stored messages are copies of real ones (see `copies`), spread over 30 days. Each list is
//! read at a set pace beside 500 sends a second. An export has a tenth of the stored messages. It
//! runs alone, and then beside sends that follow each other, whose rate is compared with their rate
//! without an export.

use super::checks::{MILLION, SETTLE_TIMEOUT, finish};
use crate::copies;
use crate::figures::{Figures, Latencies, float};
use crate::http::Connection;
use crate::load::{Request, closed_loop, open_loop, pace};
use crate::machine::unix_time;
use crate::progress::progress;
use crate::site::{Setup, Site};
use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The messages that are copied.
const ORIGINALS: u64 = 1_000;
/// The concurrent load: single messages with receipts.
pub(super) const PER_SECOND: u32 = 500;
pub(super) const CONNECTIONS: usize = 32;
/// The pace at which each list is read.
pub(super) const READS_PER_SECOND: u32 = 20;
/// Messages of a customer that have a reference each.
const REFERENCES: u64 = 100;
/// One in so many stored messages is exported.
const EXPORTED_SHARE: u64 = 10;
/// Time between two readings of the memory of the service.
const MEMORY_INTERVAL: Duration = Duration::from_millis(50);
/// The service is idle once it spent less CPU time than this in each of some intervals. They are
/// longer than the period of its sweeps.
const IDLE_INTERVAL: Duration = Duration::from_secs(6);
const IDLE_TIMES: u32 = 2;
const MAX_IDLE_CPU_S: f64 = 0.3;
const INDEX_TIMEOUT: Duration = Duration::from_mins(20);
const CSV_HEAD_LINES: u64 = 1;
/// More messages than can be sent in a second.
const MAX_PER_SECOND: u64 = 100_000;

/// A message to look for.
pub(super) struct Known {
    pub(super) message: String,
    pub(super) recipient: String,
}

/// The site, and its sends so far.
pub(super) struct Searched {
    pub(super) site: Site,
    /// Number of messages that were sent.
    pub(super) sent: u64,
    /// The number of the next message, which is behind those that were sent.
    pub(super) next: u64,
    pub(super) stored: u64,
    /// Copies of each message.
    copies: u64,
    /// When the originals had been sent.
    made_at_ms: u64,
}

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let share = if quick { 10 } else { 1 };
    let seconds = if quick { 2 } else { 10 };
    let mut figures = Figures::default();
    let mut searched = prepare(setup, setup.stored / share, &mut figures).await?;
    let known = refer(&mut searched).await?;
    read_lists(&mut figures, &mut searched, &known, seconds).await?;
    export(&mut figures, &mut searched, seconds).await?;
    let Searched {
        site, sent, stored, ..
    } = searched;
    // This service was started twice, so the counts of the SMSC show when all is settled.
    site.wait_until_answered(sent, SETTLE_TIMEOUT).await?;
    finish(&mut figures, site, sent, sent, stored).await?;
    Ok(figures)
}

/// Starts a site that has the stored messages.
pub(super) async fn prepare(setup: &Setup, stored: u64, figures: &mut Figures) -> Result<Searched> {
    let mut site = Site::prepare(setup)?;
    site.start().await?;
    let request = Request::new(&site, 1, None);
    let originals = 0..ORIGINALS;
    closed_loop(&site.http, &request, CONNECTIONS, originals, Duration::MAX).await?;
    site.wait_for("ogene_settled_total", ORIGINALS, SETTLE_TIMEOUT)
        .await?;
    site.stop_service().await?;
    let made_at_ms = u64::try_from(unix_time().as_millis())?;
    let copies = stored / ORIGINALS;
    let began = Instant::now();
    progress(&format!("makes {stored} messages"));
    copies::make_messages(&site, copies)?;
    figures.set("making_s", began.elapsed().as_secs_f64());
    site.start_service().await?;
    site.wait_until_bound().await?;
    wait_until_idle(&site).await?;
    Ok(Searched {
        site,
        sent: ORIGINALS,
        next: ORIGINALS,
        stored: copies * ORIGINALS,
        copies,
        made_at_ms,
    })
}

/// Waits until the service has put the stored messages into its index of recipients.
async fn wait_until_idle(site: &Site) -> Result<()> {
    let began = Instant::now();
    let mut idle = 0;
    while idle < IDLE_TIMES {
        let before = site.usage()?.cpu_s;
        sleep(IDLE_INTERVAL).await;
        let spent = site.usage()?.cpu_s - before;
        idle = if spent < MAX_IDLE_CPU_S { idle + 1 } else { 0 };
        if began.elapsed() > INDEX_TIMEOUT {
            bail!("the service is still busy after {INDEX_TIMEOUT:?}");
        }
    }
    Ok(())
}

/// Sends messages that have a reference each. Returns the last one.
pub(super) async fn refer(searched: &mut Searched) -> Result<Known> {
    let mut connection = Connection::open(searched.site.http[0]).await?;
    let mut known = None;
    for reference in 0..REFERENCES {
        let more = format!(r#","customer_reference":"{}""#, named(reference));
        let mut request = Request::with(&searched.site, 1, &more);
        let octets = request.fill(searched.next).to_vec();
        searched.next += 1;
        searched.sent += 1;
        let answer = connection.ask(&octets).await?;
        let answer: Value = serde_json::from_slice(answer.body)?;
        let message = answer["data"]["message_id"].as_str();
        known = Some(Known {
            message: message
                .with_context(|| format!("no message: {answer}"))?
                .to_owned(),
            recipient: request.recipient(),
        });
    }
    known.context("a message with a reference")
}

fn named(reference: u64) -> String {
    format!("order-{reference}")
}

/// Returns the lists by name, with their queries at this read.
fn lists(searched: &Searched, known: &Known, turn: u64) -> Vec<(&'static str, String)> {
    let step_ms = copies::step_ms(searched.copies);
    let now_ms = u64::try_from(unix_time().as_millis()).unwrap_or(u64::MAX);
    // Each read has other pages of the database.
    let back = 1 + turn.wrapping_mul(7_919) % searched.copies.max(2);
    let until = time(now_ms.saturating_sub(step_ms * back));
    let Known { message, recipient } = known;
    let reference = named(turn % REFERENCES);
    vec![
        ("messages", "messages".to_owned()),
        ("by_recipient", format!("messages?recipient={recipient}")),
        (
            "by_reference",
            format!("messages?customer_reference={reference}"),
        ),
        (
            "by_sender",
            format!("messages?sender={}", crate::site::SENDER_ID),
        ),
        ("by_time", format!("messages?until={until}")),
        ("by_state", "messages?state=completed".to_owned()),
        ("by_status", "messages?delivery_status=delivrd".to_owned()),
        ("message", format!("messages/{message}")),
        ("recipients", format!("messages/{message}/recipients")),
        (
            "timeline",
            format!("messages/{message}/recipients/{recipient}"),
        ),
        ("wallet", "wallet/entries".to_owned()),
    ]
}

/// Returns the time in the form of the API without an offset, escaped for an address.
fn time(unix_ms: u64) -> String {
    domain::time::lagos_time(i64::try_from(unix_ms).unwrap_or(i64::MAX)).replace(' ', "%20")
}

/// Reads each list at a set pace beside the sends.
async fn read_lists(
    figures: &mut Figures,
    searched: &mut Searched,
    known: &Known,
    seconds: u64,
) -> Result<()> {
    let request = Request::new(&searched.site, 1, None);
    let mut slowest = 0.0_f64;
    let all = lists(searched, known, 0).len();
    for list in 0..all {
        let numbers = searched.next..searched.next + u64::from(PER_SECOND) * seconds;
        searched.next = numbers.end;
        let every = Duration::from_secs(1) / PER_SECOND;
        let load = open_loop(&searched.site.http, &request, CONNECTIONS, numbers, every);
        let reads = u64::from(READS_PER_SECOND) * seconds;
        let (load, read) = tokio::join!(load, read(searched, known, list, reads));
        searched.sent += load?.accepted;
        let (name, latencies) = read?;
        let p95_ms = latencies.quantile_ms(0.95);
        progress(&format!("{name}: p95 {p95_ms:.1} ms"));
        figures.set(&format!("{name}_p50_ms"), latencies.quantile_ms(0.5));
        figures.set(&format!("{name}_p95_ms"), p95_ms);
        slowest = slowest.max(p95_ms);
    }
    figures.set("slowest_list_p95_ms", slowest);
    Ok(())
}

/// Reads one list so often, each time at its time. A latency begins at the due time.
async fn read(
    searched: &Searched,
    known: &Known,
    list: usize,
    reads: u64,
) -> Result<(&'static str, Latencies)> {
    let mut connection = Connection::open(searched.site.http[0]).await?;
    let mut latencies = Latencies::new()?;
    let every = Duration::from_secs(1) / READS_PER_SECOND;
    let mut dues = pace(Instant::now() + every, every, 0..reads);
    let name = lists(searched, known, 0)[list].0;
    while let Some((turn, due)) = dues.recv().await {
        let (_, query) = lists(searched, known, turn).swap_remove(list);
        let request = get(&searched.site, &query, "1.1");
        let answer = connection.ask(request.as_bytes()).await?;
        latencies.record(due.elapsed());
        if answer.status != 200 {
            let body = String::from_utf8_lossy(answer.body);
            bail!("{query} is answered {}: {body}", answer.status);
        }
        let found: Value = serde_json::from_slice(answer.body)?;
        // A page with a filter may be empty before the end.
        let data = &found["data"];
        if data["items"] == json!([]) && data["next_cursor"].is_null() {
            bail!("{query} finds nothing: {found}");
        }
    }
    Ok((name, latencies))
}

fn get(site: &Site, query: &str, version: &str) -> String {
    format!(
        "GET /api/v2/{query} HTTP/{version}\r\nHost: bench\r\nAuthorization: Bearer {}\r\n\r\n",
        site.tokens[0]
    )
}

/// Measures an export alone, and then sends alone and beside exports.
async fn export(figures: &mut Figures, searched: &mut Searched, seconds: u64) -> Result<()> {
    let idle = searched.site.usage()?.resident_bytes;
    let alone = exports(searched, Duration::ZERO).await?;
    figures.set("export_rows_per_s", alone.rows_per_s());
    figures.set(
        "export_memory_mb",
        (alone.peak_bytes - idle).max(0.0) / MILLION,
    );

    let time = Duration::from_secs(seconds);
    let request = Request::new(&searched.site, 1, None);
    let mut rates = Vec::new();
    for with_exports in [false, true] {
        let numbers = searched.next..searched.next + MAX_PER_SECOND * seconds;
        searched.next = numbers.end;
        let site = &searched.site;
        let load = closed_loop(&site.http, &request, CONNECTIONS, numbers, time);
        let load = if with_exports {
            let (load, beside) = tokio::join!(load, exports(searched, time));
            figures.set("export_beside_sends_rows_per_s", beside?.rows_per_s());
            load?
        } else {
            load.await?
        };
        searched.sent += load.accepted;
        rates.push(float(load.accepted) / load.time.as_secs_f64());
    }
    figures.set("sends_alone_per_s", rates[0]);
    figures.set("sends_beside_export_per_s", rates[1]);
    figures.set("share_of_sends_beside_export", rates[1] / rates[0]);
    Ok(())
}

/// The result of some exports, one after the other.
#[derive(Default)]
struct Exported {
    rows: u64,
    time: Duration,
    peak_bytes: f64,
}

impl Exported {
    fn rows_per_s(&self) -> f64 {
        float(self.rows) / self.time.as_secs_f64()
    }
}

/// Exports a part of the stored messages, again and again until the time is over, once at least.
async fn exports(searched: &Searched, time: Duration) -> Result<Exported> {
    let mut all = Exported::default();
    let began = Instant::now();
    while all.rows == 0 || began.elapsed() < time {
        let (rows, peak_bytes) = export_once(searched).await?;
        all.rows += rows;
        all.peak_bytes = all.peak_bytes.max(peak_bytes);
    }
    all.time = began.elapsed();
    Ok(all)
}

/// Exports a part of the stored messages. Returns the rows and the highest memory meanwhile.
async fn export_once(searched: &Searched) -> Result<(u64, f64)> {
    let Searched { site, copies, .. } = searched;
    let step_ms = copies::step_ms(*copies);
    let exported = copies / EXPORTED_SHARE;
    let until_ms = searched.made_at_ms - step_ms / 2;
    let (since, until) = (time(until_ms - step_ms * exported), time(until_ms));
    let query = format!("exports/recipients.csv?since={since}&until={until}");
    // An answer by HTTP/1.0 ends with its connection, so that no chunks have to be joined.
    let request = get(site, &query, "1.0");
    let (mut lines, mut peak_bytes, mut looked) = (0, 0.0_f64, Instant::now());
    let mut connection = Connection::open(site.http[0]).await?;
    let each = |octets: &[u8]| {
        lines += octets.split(|&octet| octet == b'\n').count() as u64 - 1;
        if looked.elapsed() > MEMORY_INTERVAL {
            looked = Instant::now();
            peak_bytes = peak_bytes.max(site.usage()?.resident_bytes);
        }
        Ok(())
    };
    connection.read_to_end(request.as_bytes(), each).await?;
    let rows = lines.saturating_sub(CSV_HEAD_LINES);
    let expected = exported * ORIGINALS;
    if rows != expected {
        bail!("the export has {rows} rows and not {expected}");
    }
    Ok((rows, peak_bytes))
}
