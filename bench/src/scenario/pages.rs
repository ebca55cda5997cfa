//! Every page of the console with millions of settled messages stored, beside sends.
//!
//! The pages are found by their links, from the first page of a customer and of an operator on: one
//! of each kind. So a new page is measured as soon as a link leads to it. Each is read at a set pace
//! beside 500 sends a second.

use super::checks::{SETTLE_TIMEOUT, finish};
use super::search::{CONNECTIONS, Known, PER_SECOND, READS_PER_SECOND, Searched, prepare, refer};
use crate::browser::{Browser, encoded};
use crate::figures::{Figures, Latencies, float};
use crate::load::{Request, open_loop, pace};
use crate::progress::progress;
use crate::site::{SENDER_ID, Setup};
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// The first pages of a customer and of an operator.
const CUSTOMER: &str = "/console/";
const OPERATOR: &str = "/operator/";
/// More kinds of pages than the console has.
const MAX_PAGES: usize = 400;
/// A file of recipients, for the pages of an upload.
const FILE: &[u8] = b"Phone,Name\n08031234567,Ada\n08031234568,Uche\n";

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let share = if quick { 10 } else { 1 };
    let seconds = if quick { 1 } else { 4 };
    let mut figures = Figures::default();
    let mut searched = prepare(setup, setup.stored / share, &mut figures).await?;
    let known = refer(&mut searched).await?;
    let account = searched.site.account.clone();
    let mut customer = Browser::sign_in(&searched.site, Some(&account)).await?;
    let mut operator = Browser::sign_in(&searched.site, None).await?;
    furnish(&mut customer).await?;
    let mut slowest = (0.0_f64, String::new());
    let mut count = 0;
    for (browser, first) in [(&mut customer, CUSTOMER), (&mut operator, OPERATOR)] {
        let mut pages = found(browser, first).await?;
        pages.extend(searches(first, &account, &known));
        count += pages.len() as u64;
        for (kind, path) in pages {
            let p95_ms = measure(&mut searched, browser, &path, seconds).await?;
            progress(&format!("{kind}: p95 {p95_ms:.1} ms"));
            figures.set(&format!("{kind} p95_ms"), p95_ms);
            if p95_ms > slowest.0 {
                slowest = (p95_ms, kind);
            }
        }
    }
    progress(&format!("slowest: {} with {:.1} ms", slowest.1, slowest.0));
    figures.set("slowest_page_p95_ms", slowest.0);
    figures.set("pages", float(count));
    let Searched {
        site, sent, stored, ..
    } = searched;
    // This service was started twice, so the counts of the SMSC show when all is settled.
    site.wait_until_answered(sent, SETTLE_TIMEOUT).await?;
    finish(&mut figures, site, sent, sent, stored).await?;
    Ok(figures)
}

/// The page of a form, the path that it is sent to, and its fields.
type Form = (
    &'static str,
    &'static str,
    &'static [(&'static str, &'static str)],
);

/// Makes the things whose pages would not be there without them.
async fn furnish(customer: &mut Browser) -> Result<()> {
    let forms: [Form; 3] = [
        (
            "/console/contacts/new",
            "/console/contacts",
            &[("name", "Lagos"), ("contacts", "08031234567 Ada")],
        ),
        (
            "/console/sub-accounts/new",
            "/console/sub-accounts",
            &[("name", "Ada Foods"), ("email", "ada@example.ng")],
        ),
        (
            "/console/opt-outs/new",
            "/console/opt-outs",
            &[("recipient", "08031234569")],
        ),
    ];
    for (page, path, fields) in forms {
        customer.send(page, path, fields).await?.leads_to()?;
    }
    let request = customer.upload("/console/send/file", "guests.csv", FILE);
    let request = request.await?;
    customer.ask(&request).await?.leads_to()?;
    Ok(())
}

/// Returns one page of each kind that links lead to, with its address.
async fn found(browser: &mut Browser, first: &str) -> Result<BTreeMap<String, String>> {
    let mut pages = BTreeMap::new();
    let mut known = BTreeSet::from([kind(first)]);
    let mut waiting = VecDeque::from([first.to_owned()]);
    while let Some(path) = waiting.pop_front() {
        let page = browser.get(&path).await?;
        match page.status {
            200 => {}
            // Such a page leads to another one, which is measured.
            303 => continue,
            other => bail!("{path} is answered {other}"),
        }
        for link in links(&page.html, first) {
            if known.insert(kind(&link)) {
                waiting.push_back(link);
            }
        }
        pages.insert(kind(&path), path);
        if pages.len() > MAX_PAGES {
            bail!("more than {MAX_PAGES} kinds of pages");
        }
    }
    Ok(pages)
}

/// Returns the addresses of pages in links that begin so.
fn links(html: &str, begin: &str) -> Vec<String> {
    let links = html.split(" href=\"").skip(1);
    let links = links.filter_map(|rest| rest.split('"').next());
    let links = links.map(|link| link.replace("&#38;", "&").replace("&amp;", "&"));
    let own = links.filter(|link| link.starts_with(begin));
    // Files and the style are no pages.
    own.filter(|link| !link.contains(".csv") && !link.contains("/assets/"))
        .collect()
}

/// Returns the kind of an address: it has a star for each part with a digit, such as an id, and for
/// the place in a list.
fn kind(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let star = |part: &str| {
        let is_id = part.bytes().any(|octet| octet.is_ascii_digit());
        if is_id { "*" } else { part }.to_owned()
    };
    let parts: Vec<String> = path.split('/').map(star).collect();
    let fields = query.split('&').filter(|field| !field.is_empty());
    let fields = fields.map(|field| {
        let (name, value) = field.split_once('=').unwrap_or((field, ""));
        let value = if name == "cursor" {
            "*".to_owned()
        } else {
            star(value)
        };
        format!("{name}={value}")
    });
    let mut fields: Vec<String> = fields.collect();
    fields.sort_unstable();
    let mark = if fields.is_empty() { "" } else { "?" };
    format!("{}{mark}{}", parts.join("/"), fields.join("&"))
}

/// Returns the searches that a form makes, and no link.
fn searches(first: &str, account: &str, known: &Known) -> Vec<(String, String)> {
    let Known { message, recipient } = known;
    let list = format!("{first}messages");
    let mut all = vec![
        format!("{list}?recipient={recipient}"),
        format!("{list}?sender={SENDER_ID}"),
        format!("{list}?customer_reference=order-7"),
        format!("{list}?delivery_status=delivrd"),
        format!("{list}?state=completed"),
        format!("{list}?until={}", encoded("2020-01-01 00:00:00")),
    ];
    if first == CUSTOMER {
        all.push(format!("{list}/{message}"));
        all.push(format!("{list}/{message}/{recipient}"));
    } else {
        all.push(format!("{list}?account={account}"));
        all.push(format!("{list}?account={account}&recipient={recipient}"));
    }
    all.into_iter().map(|path| (kind(&path), path)).collect()
}

/// Reads a page at a set pace beside the sends. Returns the 95th percentile of the time from when it
/// is due to its last octet, in milliseconds.
async fn measure(
    searched: &mut Searched,
    browser: &mut Browser,
    path: &str,
    seconds: u64,
) -> Result<f64> {
    let request = Request::new(&searched.site, 1, None);
    let numbers = searched.next..searched.next + u64::from(PER_SECOND) * seconds;
    searched.next = numbers.end;
    let every = Duration::from_secs(1) / PER_SECOND;
    let load = open_loop(&searched.site.http, &request, CONNECTIONS, numbers, every);
    let reads = u64::from(READS_PER_SECOND) * seconds;
    let (load, read) = tokio::join!(load, read(browser, path, reads));
    searched.sent += load?.accepted;
    Ok(read?.quantile_ms(0.95))
}

/// Reads a page so often, each time at its time.
async fn read(browser: &mut Browser, path: &str, reads: u64) -> Result<Latencies> {
    let mut latencies = Latencies::new()?;
    let every = Duration::from_secs(1) / READS_PER_SECOND;
    let mut dues = pace(Instant::now() + every, every, 0..reads);
    while let Some((_, due)) = dues.recv().await {
        browser.page(path).await?;
        latencies.record(due.elapsed());
    }
    Ok(latencies)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_a_kind_differ_in_ids_alone() {
        let cases = [
            ("/console/", "/console/"),
            ("/console/messages/01f3/2348", "/console/messages/*/*"),
            (
                "/console/?period=week&measure=cost",
                "/console/?measure=cost&period=week",
            ),
            ("/console/wallet?cursor=abc", "/console/wallet?cursor=*"),
        ];
        for (path, expected) in cases {
            assert_eq!(kind(path), expected);
        }
    }

    #[test]
    fn links_are_those_of_pages() {
        let html = "<a href=\"/console/a?b=c&#38;d=e\"><a href=\"/docs\"><a href=\"/console/x.csv\">\
                    <link href=\"/console/assets/console.css\">";
        assert_eq!(links(html, "/console/"), ["/console/a?b=c&d=e"]);
    }
}
