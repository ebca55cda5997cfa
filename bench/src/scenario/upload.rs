//! Files of a million recipients through the console: their upload up to the page with their
//! columns, the memory that it takes, and an upload that is cancelled.

use super::checks::{MILLION, stop};
use crate::browser::Browser;
use crate::figures::Figures;
use crate::http::Connection;
use crate::progress::progress;
use crate::site::{Setup, Site};
use anyhow::{Result, bail};
use std::io::{Cursor, Write};
use std::time::{Duration, Instant};
use tokio::time::sleep;
use zip::write::{SimpleFileOptions, ZipWriter};

/// The page of the upload.
const PATH: &str = "/console/send/file";
/// The first number of the files. They follow each other within the plan of the service.
const FIRST_NUMBER: u64 = 2_348_030_000_000;
/// Names that rows share, as in a list of customers.
const NAMES: u64 = 10_000;
/// The longest time for which a cancelled upload may keep others waiting.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);
/// The service is idle once it spent less CPU time than this in an interval.
const IDLE_INTERVAL: Duration = Duration::from_millis(500);
const MAX_IDLE_CPU_S: f64 = 0.05;
const SMALL: &[u8] = b"Phone,Name\n08031234567,Ada\n";

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let rows = if quick { 100_000 } else { 1_000_000 };
    let mut figures = Figures::default();
    let mut site = Site::prepare(setup)?;
    site.start().await?;
    let mut browser = Browser::sign_in(&site, Some(&site.account)).await?;
    let idle = site.usage()?.resident_bytes;
    let files = [("csv", csv(rows)), ("xlsx", xlsx(rows)?)];
    let mut times = Vec::new();
    for (form, file) in &files {
        let (path, kept) = keep(&mut figures, &mut browser, (form, file.as_slice()), rows).await?;
        if *form == "csv" {
            review(&mut figures, &mut browser, &path, rows).await?;
        }
        let peak = site.usage()?.peak_resident_bytes;
        figures.set("memory_above_idle_mb", (peak - idle).max(0.0) / MILLION);
        let delete = format!("{path}/delete");
        browser.send(&path, &delete, &[]).await?.leads_to()?;
        times.push(kept);
    }
    for ((form, file), kept) in files.iter().zip(times) {
        let longest = cancel(&site, &mut browser, file, kept).await?;
        figures.set(&format!("{form}_cancel_s"), longest.as_secs_f64());
    }
    stop(&mut figures, &mut site, 0).await?;
    let left = site
        .database
        .run("select (select count(*) from uploads), (select count(*) from upload_parts);")?;
    // Each form was cancelled twice, and a small file was kept after each.
    let found: Vec<u64> = left
        .trim()
        .split('|')
        .filter_map(|n| n.parse().ok())
        .collect();
    figures.expect(
        "uploads that are kept",
        4,
        found.first().copied().unwrap_or(0),
    );
    figures.expect("parts that are kept", 4, found.last().copied().unwrap_or(0));
    Ok(figures)
}

/// Uploads a file, and loads the page that it leads to, as the browser does. Returns its path, and
/// the time until the file was kept.
async fn keep(
    figures: &mut Figures,
    browser: &mut Browser,
    (form, file): (&str, &[u8]),
    rows: u64,
) -> Result<(String, Duration)> {
    let name = format!("guests.{form}");
    let request = browser.upload(PATH, &name, file).await?;
    let began = Instant::now();
    let answer = browser.ask(&request).await?;
    let path = answer.leads_to()?.to_owned();
    let kept = began.elapsed();
    let page = browser.page(&path).await?;
    let shown = began.elapsed();
    let recipients = apart(rows);
    if !page.html.contains(&recipients) {
        bail!("the page of {name} does not have {recipients} recipients");
    }
    progress(&format!(
        "{name}: kept in {kept:.1?}, shown after {shown:.1?}"
    ));
    figures.set(&format!("{form}_file_mb"), megabytes(file.len()));
    figures.set(&format!("{form}_kept_s"), kept.as_secs_f64());
    figures.set(&format!("{form}_s"), shown.as_secs_f64());
    Ok((path, kept))
}

/// Reviews a send to the file with a placeholder, up to its price.
async fn review(figures: &mut Figures, browser: &mut Browser, path: &str, rows: u64) -> Result<()> {
    let fields = [
        ("mapped", "yes"),
        ("number", "0"),
        ("header", "yes"),
        ("from", crate::site::SENDER_ID),
        ("gateway", "direct-refund"),
        ("body", "Dear {Name}, your order is ready."),
    ];
    let began = Instant::now();
    let page = browser
        .send(path, &format!("{path}/review"), &fields)
        .await?;
    // The form is loaded first, which takes about as long as the page after the upload.
    figures.set("form_and_review_s", began.elapsed().as_secs_f64());
    if page.status != 200 || !page.html.contains(&apart(rows)) {
        bail!(
            "no review of {rows} rows: {} {}",
            page.status,
            page.reason()
        );
    }
    Ok(())
}

/// Cancels an upload while it is sent, and another one while its rows are read, which is the rest of
/// the time that it takes. Each time, a small file is kept next. Returns its longest wait.
async fn cancel(
    site: &Site,
    browser: &mut Browser,
    file: &[u8],
    kept: Duration,
) -> Result<Duration> {
    let mut longest = Duration::ZERO;
    for (part, time) in [(2, Duration::ZERO), (1, kept)] {
        let request = browser.upload(PATH, "cancelled", file).await?;
        let connection = Connection::open(site.http[0]).await?;
        let begin = &request[..request.len() / part];
        connection.break_off(begin, time).await?;
        let at = Instant::now();
        let request = browser.upload(PATH, "small.csv", SMALL).await?;
        let answer = browser.ask(&request).await?;
        answer.leads_to()?;
        longest = longest.max(at.elapsed());
    }
    if longest > CANCEL_TIMEOUT {
        bail!("a cancelled upload kept the next one waiting for {longest:?}");
    }
    wait_until_idle(site).await?;
    Ok(longest)
}

/// Waits until the service has removed the rows that had been kept.
async fn wait_until_idle(site: &Site) -> Result<()> {
    let began = Instant::now();
    loop {
        let before = site.usage()?.cpu_s;
        sleep(IDLE_INTERVAL).await;
        if site.usage()?.cpu_s - before < MAX_IDLE_CPU_S {
            return Ok(());
        }
        if began.elapsed() > CANCEL_TIMEOUT {
            bail!("a cancelled upload is still read");
        }
    }
}

/// Returns a number as the console shows it.
fn apart(rows: u64) -> String {
    match (rows / 1_000_000, rows / 1_000 % 1_000, rows % 1_000) {
        (0, thousands, rest) => format!("{thousands},{rest:03}"),
        (millions, thousands, rest) => format!("{millions},{thousands:03},{rest:03}"),
    }
}

fn megabytes(octets: usize) -> f64 {
    crate::figures::float(octets as u64) / MILLION
}

/// Returns the number of a row.
fn number(row: u64) -> u64 {
    FIRST_NUMBER + row
}

/// Returns a file of so many rows as people export them: number, name and amount.
fn csv(rows: u64) -> Vec<u8> {
    let mut file = b"Phone,Name,Amount\n".to_vec();
    for row in 0..rows {
        let (number, name) = (number(row), row % NAMES);
        // Writing to a vector does not fail.
        let _ = writeln!(file, "{number},Customer {name},{}.50", row % 9_000);
    }
    file
}

/// Returns the same as a workbook, whose numbers are numbers and whose names are shared strings, as
/// Excel writes them.
fn xlsx(rows: u64) -> Result<Vec<u8>> {
    const TYPES: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let relations = |all: &[(&str, &str, &str)]| {
        let all = all.iter().map(|(id, kind, target)| {
            format!("<Relationship Id=\"{id}\" Type=\"{TYPES}/{kind}\" Target=\"{target}\"/>")
        });
        format!("<Relationships>{}</Relationships>", all.collect::<String>())
    };
    let book = format!(
        "<workbook xmlns:r=\"{TYPES}\"><sheets><sheet name=\"Customers\" sheetId=\"1\" r:id=\"r1\"/>\
         </sheets></workbook>"
    );
    let to_book = relations(&[("r1", "officeDocument", "xl/workbook.xml")]);
    let of_book = relations(&[
        ("r1", "worksheet", "worksheets/sheet1.xml"),
        ("r2", "sharedStrings", "sharedStrings.xml"),
    ]);
    let names = (0..NAMES).map(|name| format!("<si><t>Customer {name}</t></si>"));
    let heads = ["Phone", "Name", "Amount"].map(|name| format!("<si><t>{name}</t></si>"));
    let strings: String = heads.into_iter().chain(names).collect();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [
        ("_rels/.rels", to_book),
        ("xl/workbook.xml", book),
        ("xl/_rels/workbook.xml.rels", of_book),
        ("xl/sharedStrings.xml", format!("<sst>{strings}</sst>")),
    ] {
        zip.start_file(name, SimpleFileOptions::default())?;
        zip.write_all(text.as_bytes())?;
    }
    zip.start_file("xl/worksheets/sheet1.xml", SimpleFileOptions::default())?;
    zip.write_all(
        b"<worksheet><sheetData><row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c>\
          <c r=\"B1\" t=\"s\"><v>1</v></c><c r=\"C1\" t=\"s\"><v>2</v></c></row>",
    )?;
    for row in 0..rows {
        let (at, number, name) = (row + 2, number(row), row % NAMES + 3);
        write!(
            zip,
            "<row r=\"{at}\"><c r=\"A{at}\"><v>{number}</v></c><c r=\"B{at}\" t=\"s\"><v>{name}</v></c>\
             <c r=\"C{at}\"><v>{}.5</v></c></row>",
            row % 9_000
        )?;
    }
    zip.write_all(b"</sheetData></worksheet>")?;
    Ok(zip.finish()?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_separators() {
        assert_eq!(apart(100_000), "100,000");
        assert_eq!(apart(1_000_000), "1,000,000");
    }

    #[test]
    fn both_files_have_the_same_rows() {
        let csv = String::from_utf8(csv(2)).expect("a text");
        assert_eq!(
            csv,
            "Phone,Name,Amount\n2348030000000,Customer 0,0.50\n2348030000001,Customer 1,1.50\n"
        );
        let xlsx = xlsx(2).expect("a workbook");
        assert_eq!(&xlsx[..2], b"PK");
    }
}
