//! Webhooks of a payment provider beside 5,000 single messages a second. Each payment is reported
//! twice, one webhook after the other. After the last answer the service is killed: each payment
//! must have been credited, and once.

use super::checks::{SETTLE_TIMEOUT, finish};
use crate::figures::{Figures, Latencies};
use crate::http::Connection;
use crate::load::{Load, Request, closed_loop, open, open_loop, pace};
use crate::payment_provider::{AMOUNT_NAIRA, PaymentProvider, webhook};
use crate::site::{Setup, Site, text};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

const PER_SECOND: u32 = 5_000;
const CONNECTIONS: usize = 256;
const PAYMENTS_PER_SECOND: u32 = 50;
/// Webhooks of each payment.
const WEBHOOKS: u32 = 2;
const WEBHOOK_CONNECTIONS: usize = 16;
const WARM_UP: u64 = 1_000;
/// Unpaid top-ups that an account may have.
const OPEN_TOP_UPS: u64 = 100;
/// The price of a message.
const PRICE_KOBO: u64 = 600;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let seconds = if quick { 4 } else { 20 };
    let provider = PaymentProvider::start()?;
    let mut site = Site::prepare(&Setup {
        sections: provider.sections(),
        ..setup.clone()
    })?;
    let payments = u64::from(PAYMENTS_PER_SECOND) * seconds;
    // The first account is the one that sends.
    let mut tokens = site.tokens.clone();
    for number in 1..payments / OPEN_TOP_UPS {
        let account = site.make_account("Payer", &format!("payer{number}@example.ng"))?;
        tokens.push(site.make_token(&account)?);
    }
    site.start().await?;
    let references = top_ups(&site, &tokens).await?;
    let before = total_kobo(&site, &tokens).await?;

    let all = WARM_UP + u64::from(PER_SECOND) * seconds;
    let (load, webhooks) = send(&site, &references, WARM_UP..all).await?;
    site.wait_for("ogene_settled_total", all, SETTLE_TIMEOUT)
        .await?;
    site.wait_until_answered(all, SETTLE_TIMEOUT).await?;
    site.kill_service()?;
    site.start_service().await?;
    site.wait_until_bound().await?;

    let mut figures = Figures::default();
    figures.latency("webhook", &webhooks);
    figures.set("webhook_longest_ms", webhooks.quantile_ms(1.0));
    figures.rate("messages_per_s", load.accepted, load.time);
    figures.latency("accept", &load.latencies);
    figures.latency("sent_late", &load.lateness);
    let expected = before + payments * AMOUNT_NAIRA * 100 - all * PRICE_KOBO;
    let found = total_kobo(&site, &tokens).await?;
    figures.expect("kobo in the wallets after a crash", expected, found);
    finish(&mut figures, site, all, all, 0).await?;
    Ok(figures)
}

/// Sends messages at their pace, and the webhooks beside them.
async fn send(
    site: &Site,
    references: &[String],
    numbers: Range<u64>,
) -> Result<(Load, Latencies)> {
    let request = Request::new(site, 1, None);
    closed_loop(&site.http, &request, CONNECTIONS, 0..WARM_UP, Duration::MAX).await?;
    let every = Duration::from_secs(1) / PER_SECOND;
    let load = open_loop(&site.http, &request, CONNECTIONS, numbers, every);
    let (load, webhooks) = tokio::join!(load, report(site, references));
    Ok((load?, webhooks?))
}

/// Makes as many top-ups of each account as may be unpaid. Returns their references.
async fn top_ups(site: &Site, tokens: &[String]) -> Result<Vec<String>> {
    let body = format!(r#"{{"amount":"{AMOUNT_NAIRA}.00"}}"#);
    let mut connection = Connection::open(site.http[0]).await?;
    let mut references = Vec::new();
    for token in tokens {
        for _ in 0..OPEN_TOP_UPS {
            let request = format!(
                "POST /api/v2/top-ups HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\
                 Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            let answer = connection.ask(request.as_bytes()).await?;
            let answer: Value = serde_json::from_slice(answer.body)?;
            references.push(text(&answer["data"], "reference")?);
        }
    }
    Ok(references)
}

/// Posts the webhooks, each at its time. A latency begins at the due time.
async fn report(site: &Site, references: &[String]) -> Result<Latencies> {
    let every = Duration::from_secs(1) / (PAYMENTS_PER_SECOND * WEBHOOKS);
    let webhooks: Arc<[String]> = references.iter().map(|it| webhook(it)).collect();
    let all = webhooks.len() as u64 * u64::from(WEBHOOKS);
    let streams = open(&site.http, WEBHOOK_CONNECTIONS).await?;
    let dues = Arc::new(Mutex::new(pace(Instant::now() + every, every, 0..all)));
    let mut posters = JoinSet::new();
    for mut stream in streams {
        let (webhooks, dues) = (Arc::clone(&webhooks), Arc::clone(&dues));
        posters.spawn(async move {
            let mut latencies = Latencies::new()?;
            loop {
                let next = dues.lock().await.recv().await;
                let Some((number, due)) = next else {
                    return anyhow::Ok(latencies);
                };
                let webhook = &webhooks[usize::try_from(number / u64::from(WEBHOOKS))?];
                let answer = stream.ask(webhook.as_bytes()).await?;
                if answer.status != 200 {
                    let body = String::from_utf8_lossy(answer.body);
                    bail!("a webhook is answered {}: {body}", answer.status);
                }
                latencies.record(due.elapsed());
            }
        });
    }
    let mut all = Latencies::new()?;
    while let Some(latencies) = posters.join_next().await {
        all.join(&latencies.context("a poster panicked")??);
    }
    Ok(all)
}

/// Returns the sum of the wallets, in kobo.
async fn total_kobo(site: &Site, tokens: &[String]) -> Result<u64> {
    let mut connection = Connection::open(site.http[0]).await?;
    let mut total = 0;
    for token in tokens {
        let request = format!(
            "GET /api/v2/balance HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n"
        );
        let answer = connection.ask(request.as_bytes()).await?;
        let answer: Value = serde_json::from_slice(answer.body)?;
        let naira = answer["data"]["total_balance"].to_string();
        total += kobo(&naira).with_context(|| format!("no balance: {answer}"))?;
    }
    Ok(total)
}

/// Reads an amount such as `1074.5`.
fn kobo(naira: &str) -> Option<u64> {
    let (whole, rest) = naira.split_once('.').unwrap_or((naira, ""));
    let rest = format!("{rest:0<2}");
    let (two, more) = rest.split_at_checked(2)?;
    let is_whole = more.bytes().all(|digit| digit == b'0');
    is_whole.then_some(whole.parse::<u64>().ok()? * 100 + two.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_read_to_the_kobo() {
        let read = ["899999994.0", "0.05", "12.5", "7", "1.005", "null"].map(kobo);
        assert_eq!(
            read,
            [
                Some(89_999_999_400),
                Some(5),
                Some(1_250),
                Some(700),
                None,
                None
            ]
        );
    }
}
