//! DND: the import of millions of numbers, and large sends whose recipients are checked against
//! them and against opt-outs.
//!
//! Two services take turns to send. One of them has the numbers and opt-outs, and its gateway
//! respects both. The numbers are spread over the same blocks as the recipients, and none of the
//! measured recipients is among them, so both services send the same.

use super::checks::{MILLION, SETTLE_TIMEOUT, close};
use crate::figures::{Figures, Latencies, float, median};
use crate::http::Connection;
use crate::load::{NUMBERS, Request, open_loop, recipient_of};
use crate::progress::progress;
use crate::site::{Setup, Site};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::ops::Range;
use std::time::{Duration, Instant};

const RECIPIENTS: u64 = 100_000;
const ROUNDS: usize = 5;
/// Recipients of the request that shows the check.
const PROBED: u64 = 1_000;
const PROBED_ON_DND: u64 = 500;
const PROBED_OPTED_OUT: u64 = 250;
const OPT_OUTS: u64 = 100_000;
/// Rows of a request with opt-outs.
const OPT_OUT_ROWS: u64 = 10_000;
/// One in so many numbers is imported again with others, beside sends.
const SECOND_SHARE: u64 = 5;
/// The sends beside the second import.
const PER_SECOND: u32 = 500;
const CONNECTIONS: usize = 32;
const IMPORT_TIMEOUT: Duration = Duration::from_mins(15);

/// A service, and its figures by the round.
struct Side {
    site: Site,
    request: Request,
    rates: Vec<f64>,
    answered: Latencies,
    messages: u64,
    recipients: u64,
}

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let share = if quick { 10 } else { 1 };
    let recipients = RECIPIENTS / share;
    let numbers = setup.dnd_numbers / share / PROBED * PROBED;
    let mut figures = Figures::default();
    let mut plain = Side::start(setup, recipients).await?;
    let mut checked = Side::start(
        &Setup {
            gateway: "respect_dnd = true\n",
            ..setup.clone()
        },
        recipients,
    )
    .await?;
    import(&mut figures, &mut checked, numbers, share).await?;
    for round in 0..=ROUNDS {
        let number = u64::try_from(round)?;
        let sides = if round % 2 == 0 {
            [&mut plain, &mut checked]
        } else {
            [&mut checked, &mut plain]
        };
        for side in sides {
            side.turn(number, recipients).await?;
        }
    }
    let shares = checked.rates.iter().zip(&plain.rates);
    let shares = shares.map(|(checked, plain)| checked / plain).collect();
    figures.set("share_of_unchecked_rate", median(shares));
    for (name, side) in [("unchecked", plain), ("checked", checked)] {
        let answered_ms = side.answered.quantile_ms(0.5);
        figures.set(&format!("{name}_answered_p50_ms"), answered_ms);
        figures.set(&format!("{name}_recipients_per_s"), median(side.rates));
        close(&mut figures, side.site, side.messages, side.recipients).await?;
    }
    Ok(figures)
}

impl Side {
    async fn start(setup: &Setup, recipients: u64) -> Result<Self> {
        let mut site = Site::prepare(setup)?;
        site.start().await?;
        Ok(Self {
            request: Request::new(&site, usize::try_from(recipients)?, None),
            site,
            rates: Vec::new(),
            answered: Latencies::new()?,
            messages: 0,
            recipients: 0,
        })
    }

    /// Sends one request, and waits until its recipients are settled. The first one warms up.
    async fn turn(&mut self, number: u64, recipients: u64) -> Result<()> {
        let mut connection = Connection::open(self.site.http[0]).await?;
        let octets = self.request.fill(number);
        let at = Instant::now();
        let answer = connection.ask(octets).await?;
        let answered = at.elapsed();
        if answer.status != 200 {
            bail!("refused: {}", String::from_utf8_lossy(answer.body));
        }
        self.messages += 1;
        self.recipients += recipients;
        self.site
            .wait_for("ogene_settled_total", self.recipients, SETTLE_TIMEOUT)
            .await?;
        if number > 0 {
            self.answered.record(answered);
            self.rates
                .push(float(recipients) / at.elapsed().as_secs_f64());
        }
        Ok(())
    }
}

/// Imports the numbers, and then others beside sends. Adds opt-outs, and shows that all of them are
/// left out.
async fn import(figures: &mut Figures, side: &mut Side, numbers: u64, share: u64) -> Result<()> {
    // The numbers of the load begin at 0, so those at the end of its order are free. A request of
    // so many recipients ends here.
    let probed = NUMBERS - numbers - PROBED..NUMBERS - numbers;
    let opted_out = probed.start + PROBED_OPTED_OUT;
    opt_out(&side.site, opted_out - OPT_OUTS / share..opted_out).await?;

    let on_dnd = probed.end - PROBED_ON_DND;
    let file = write_file(&side.site, on_dnd..on_dnd + numbers)?;
    let (time, peak_bytes) = import_file(&side.site, &file, numbers).await?;
    figures.set("import_s", time.as_secs_f64());
    figures.set("import_peak_mb", peak_bytes / MILLION);

    let others = numbers / SECOND_SHARE;
    let second = opted_out - OPT_OUTS / share - others;
    let file = write_file(&side.site, second..second + others)?;
    let every = Duration::from_secs(1) / PER_SECOND;
    let sends = u64::from(PER_SECOND) * (time.as_secs() / SECOND_SHARE + 1);
    // The recipients of these are behind those of the large requests.
    let first = RECIPIENTS * u64::try_from(2 * ROUNDS)?;
    let request = Request::new(&side.site, 1, None);
    let load = open_loop(
        &side.site.http,
        &request,
        CONNECTIONS,
        first..first + sends,
        every,
    );
    let (load, imported) = tokio::join!(load, import_file(&side.site, &file, others));
    let (load, (time, _)) = (load?, imported?);
    figures.set("import_beside_sends_s", time.as_secs_f64());
    figures.latency("accept_beside_import", &load.latencies);
    let longest_ms = load.latencies.quantile_ms(1.0);
    figures.set("accept_beside_import_longest_ms", longest_ms);
    let count = side.site.ogene(&["dnd", "count"])?;
    let count = count["count"].as_u64().unwrap_or(0);
    figures.expect("numbers on DND", numbers + others, count);
    side.messages += sends;
    side.recipients += sends;
    probe(figures, side, probed).await
}

/// Sends a request of whose recipients some opted out, and others are on DND.
async fn probe(figures: &mut Figures, side: &mut Side, probed: Range<u64>) -> Result<()> {
    let mut request = Request::new(&side.site, usize::try_from(PROBED)?, None);
    let mut connection = Connection::open(side.site.http[0]).await?;
    let answer = connection.ask(request.fill(probed.start / PROBED)).await?;
    let answer: Value = serde_json::from_slice(answer.body)?;
    let count = |name: &str| answer["data"][name].as_u64().unwrap_or(0);
    figures.expect("recipients on DND", PROBED_ON_DND, count("dnd"));
    figures.expect("opted out", PROBED_OPTED_OUT, count("opted_out"));
    side.messages += 1;
    side.recipients += PROBED - PROBED_ON_DND - PROBED_OPTED_OUT;
    Ok(())
}

/// Writes a file of the numbers at these places. Returns its path.
fn write_file(site: &Site, places: Range<u64>) -> Result<String> {
    let path = site.directory().join("dnd.txt");
    let mut file = BufWriter::new(File::create(&path)?);
    for place in places {
        // A file has local numbers, such as 08031234567.
        let local = recipient_of(place) - 2_340_000_000_000;
        writeln!(file, "0{local:010}")?;
    }
    file.into_inner()?.sync_all()?;
    Ok(path.to_str().context("a path is text")?.to_owned())
}

/// Imports a file of so many numbers. Returns the time and the peak memory of the command.
async fn import_file(site: &Site, path: &str, numbers: u64) -> Result<(Duration, f64)> {
    let began = Instant::now();
    let command = site.start_command("dnd-import", &["dnd", "import", path])?;
    let (output, usage) = command.finish(IMPORT_TIMEOUT).await?;
    let time = began.elapsed();
    let answer: Value = serde_json::from_str(&output)?;
    if answer["added"].as_u64() != Some(numbers) {
        bail!("{numbers} numbers were not added: {answer}");
    }
    progress(&format!("{numbers} numbers in {:.1} s", time.as_secs_f64()));
    Ok((time, usage.peak_resident_bytes))
}

/// Opts the numbers at these places out.
async fn opt_out(site: &Site, places: Range<u64>) -> Result<()> {
    let mut connection = Connection::open(site.http[0]).await?;
    let mut first = places.start;
    while first < places.end {
        let last = places.end.min(first + OPT_OUT_ROWS);
        let mut rows = "recipient\n".to_owned();
        for place in first..last {
            writeln!(rows, "{}", recipient_of(place))?;
        }
        let request = format!(
            "POST /api/v2/opt-outs HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\n\
             Content-Type: text/csv\r\nContent-Length: {}\r\n\r\n{rows}",
            site.tokens[0],
            rows.len()
        );
        let answer = connection.ask(request.as_bytes()).await?;
        if answer.status != 200 {
            let body = String::from_utf8_lossy(answer.body);
            bail!("opt-outs are answered {}: {body}", answer.status);
        }
        first = last;
    }
    Ok(())
}
