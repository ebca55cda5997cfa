//! Open pages of the console that bring themselves up to date: their cost alone, and the rate of
//! single messages beside them, by turns with the rate without them.
//!
//! A page is opened as a browser does it. The page names the part that it asks for again, and the
//! interval. Each page has a connection of its own.

use super::checks::{SETTLE_TIMEOUT, stop, verify};
use crate::browser::Browser;
use crate::callbacks::Callbacks;
use crate::figures::{Figures, float, median};
use crate::http::Connection;
use crate::load::{Request, closed_loop};
use crate::site::{HELD, Setup, Site};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Accounts whose users have pages open.
const ACCOUNTS: usize = 10;
const PAGES: usize = 500;
/// Pages of operators, and pages of messages under way; the others are overviews of customers.
const OPERATORS: usize = 40;
const UNDER_WAY: usize = 20;
/// Messages of all accounts before the first page is opened.
const STORED: u64 = 50_000;
const MESSAGES: u64 = 20_000;
const ROUNDS: u64 = 5;

/// The state that all open pages share.
#[derive(Default)]
struct Shared {
    /// `true` while the pages ask.
    is_open: AtomicBool,
    asked: AtomicU64,
    fault: Mutex<Option<String>>,
}

/// The part of a page that is asked for again.
struct Part {
    browser: Browser,
    path: String,
    every: Duration,
}

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let share = if quick { 10 } else { 1 };
    let seconds = if quick { 10 } else { 30 };
    let mut site = Site::prepare(setup)?;
    let mut accounts = vec![site.account.clone()];
    for number in 1..ACCOUNTS {
        accounts.push(site.add_customer(&format!("bench-{number}@example.ng"))?);
    }
    let callbacks = Callbacks::start()?;
    site.start().await?;
    let held = hold(&site).await?;
    let mut single = Single {
        request: Request::new(&site, 1, Some(&callbacks.url())),
        callbacks,
        connections: setup.connections,
        next: ACCOUNTS as u64,
    };
    single.turn(&site, STORED / share).await?;
    let parts = open(&site, &accounts, &held).await?;
    let shared = Arc::new(Shared::default());
    let _watching = watch(parts, &shared);

    let mut figures = Figures::default();
    let without = cpu_share(&site, seconds).await?;
    shared.is_open.store(true, Relaxed);
    let before = shared.asked.load(Relaxed);
    let with = cpu_share(&site, seconds).await?;
    let asked = shared.asked.load(Relaxed) - before;
    figures.set("idle_cpu_share", without);
    figures.set("pages_cpu_share", with - without);
    figures.set("parts_per_s", float(asked) / float(seconds));
    by_turns(&mut figures, &site, &mut single, &shared, MESSAGES / share).await?;
    if let Some(fault) = shared
        .fault
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
    {
        bail!("an open page failed: {fault}");
    }
    let settled = single.next - ACCOUNTS as u64;
    stop(&mut figures, &mut site, settled).await?;
    let held = held.len() as u64;
    verify(&mut figures, &site, settled + held, settled + held, settled)?;
    Ok(figures)
}

/// Sends a message of each account that is held, so that its page stays under way. Returns the ids.
async fn hold(site: &Site) -> Result<Vec<String>> {
    let mut request = Request::over(site, HELD, 1);
    let mut connection = Connection::open(site.http[0]).await?;
    let mut held = Vec::new();
    for number in 0..site.tokens.len() as u64 {
        let answer = connection.ask(request.fill(number)).await?;
        let answer: Value = serde_json::from_slice(answer.body)?;
        let id = answer["data"]["message_id"].as_str();
        held.push(
            id.with_context(|| format!("no message: {answer}"))?
                .to_owned(),
        );
    }
    Ok(held)
}

/// Signs users in, and opens their pages.
async fn open(site: &Site, accounts: &[String], held: &[String]) -> Result<Vec<Part>> {
    let mut users = Vec::new();
    for account in accounts {
        users.push(Browser::sign_in(site, Some(account)).await?);
    }
    let operator = Browser::sign_in(site, None).await?;
    let mut parts = Vec::new();
    for user in &users {
        let path = own_message(user, held).await?;
        for _ in 0..UNDER_WAY / ACCOUNTS {
            parts.push(part(user, &path).await?);
        }
    }
    for number in 0..OPERATORS {
        let path = ["/operator/", "/operator/carriers"][number % 2];
        parts.push(part(&operator, path).await?);
    }
    for user in users.iter().cycle().take(PAGES - parts.len()) {
        parts.push(part(user, "/console/").await?);
    }
    Ok(parts)
}

/// Returns the address of the one message that belongs to the account of a user.
async fn own_message(user: &Browser, held: &[String]) -> Result<String> {
    let mut browser = user.another().await?;
    for message in held {
        let path = format!("/console/messages/{message}");
        if browser.get(&path).await?.status == 200 {
            return Ok(path);
        }
    }
    bail!("an account has no held message");
}

/// Opens a page, and returns the part that it asks for again.
async fn part(user: &Browser, path: &str) -> Result<Part> {
    let mut browser = user.another().await?;
    let page = browser.page(path).await?;
    let (_, live) = page
        .html
        .split_once(" data-live ")
        .context("no live part")?;
    let value = |name: &str| {
        let (_, rest) = live.split_once(&format!("{name}=\""))?;
        Some(rest.split('"').next()?.replace("&#38;", "&"))
    };
    let trigger = value("hx-trigger").context("no trigger")?;
    let every = trigger
        .strip_prefix("every ")
        .and_then(|every| every.strip_suffix('s'));
    let every: u64 = every.context("no interval")?.parse()?;
    Ok(Part {
        path: value("hx-get").context("no address")?,
        every: Duration::from_secs(every),
        browser,
    })
}

/// Asks for each part again at its interval while the pages are open. The pages were opened at
/// different times.
fn watch(parts: Vec<Part>, shared: &Arc<Shared>) -> JoinSet<()> {
    let mut watching = JoinSet::new();
    let all = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    for (number, mut part) in (0..all).zip(parts) {
        let shared = Arc::clone(shared);
        watching.spawn(async move {
            sleep(part.every * number / all).await;
            loop {
                sleep(part.every).await;
                if !shared.is_open.load(Relaxed) {
                    continue;
                }
                if let Err(error) = part.ask().await {
                    let mut fault = shared.fault.lock().unwrap_or_else(PoisonError::into_inner);
                    fault.get_or_insert(format!("{}: {error:#}", part.path));
                    return;
                }
                shared.asked.fetch_add(1, Relaxed);
            }
        });
    }
    watching
}

impl Part {
    async fn ask(&mut self) -> Result<()> {
        if self.browser.part(&self.path).await.is_err() {
            // The service closes a connection that was idle for long, and a browser opens another.
            self.browser = self.browser.another().await?;
            self.browser.part(&self.path).await?;
        }
        Ok(())
    }
}

/// Returns the CPU time of the service over some seconds, as a share of one core.
async fn cpu_share(site: &Site, seconds: u64) -> Result<f64> {
    let (before, began) = (site.usage()?.cpu_s, Instant::now());
    sleep(Duration::from_secs(seconds)).await;
    Ok((site.usage()?.cpu_s - before) / began.elapsed().as_secs_f64())
}

/// The load of single messages.
struct Single {
    request: Request,
    callbacks: Callbacks,
    connections: usize,
    /// The number of the next message. The held messages have the first numbers.
    next: u64,
}

impl Single {
    /// Sends messages up to their callbacks. Returns the rate.
    async fn turn(&mut self, site: &Site, messages: u64) -> Result<f64> {
        let numbers = self.next..self.next + messages;
        self.next = numbers.end;
        let load = closed_loop(
            &site.http,
            &self.request,
            self.connections,
            numbers,
            Duration::MAX,
        );
        let load = load.await?;
        let all = self.next - ACCOUNTS as u64;
        let last = self.callbacks.wait_for(all, SETTLE_TIMEOUT).await?;
        Ok(float(messages) / (last - load.began).as_secs_f64())
    }
}

/// Measures the rate without and with open pages, by turns.
async fn by_turns(
    figures: &mut Figures,
    site: &Site,
    single: &mut Single,
    pages: &Shared,
    messages: u64,
) -> Result<()> {
    let mut rates: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS {
        // Each is first in every other round.
        let turns = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for with_pages in turns {
            pages.is_open.store(with_pages == 1, Relaxed);
            rates[with_pages].push(single.turn(site, messages).await?);
        }
    }
    pages.is_open.store(false, Relaxed);
    let shares = rates[1].iter().zip(&rates[0]);
    let shares = shares.map(|(with, without)| with / without).collect();
    figures.set("share_of_rate_without_pages", median(shares));
    let [without, with] = rates.map(median);
    figures.set("messages_per_s", without);
    figures.set("messages_beside_pages_per_s", with);
    Ok(())
}
