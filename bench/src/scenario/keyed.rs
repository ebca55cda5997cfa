//! Single messages whose requests have an `Idempotency-Key`, as a share of the rate without one.
//! Both take turns on the same service.

use super::checks::{SETTLE_TIMEOUT, close};
use crate::callbacks::Callbacks;
use crate::figures::{Figures, float, median};
use crate::load::{Request, closed_loop};
use crate::site::{Setup, Site};
use anyhow::Result;
use std::time::Duration;

const ROUNDS: u64 = 5;
const WARM_UP: u64 = 1_000;
const MESSAGES: u64 = 20_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let messages = if quick { MESSAGES / 10 } else { MESSAGES };
    let mut site = Site::prepare(setup)?;
    let callbacks = Callbacks::start()?;
    site.start().await?;
    let callback = format!(r#","callback_url":"{}""#, callbacks.url());
    let requests = [
        Request::with(&site, 1, &callback),
        Request::keyed(&site, 1, &callback),
    ];
    let mut sent = 0;
    let mut rates: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        let turn = if round == 0 { WARM_UP } else { messages };
        for (request, rates) in requests.iter().zip(&mut rates) {
            let numbers = sent..sent + turn;
            sent = numbers.end;
            let connections = setup.connections;
            let load = closed_loop(&site.http, request, connections, numbers, Duration::MAX);
            let load = load.await?;
            let last = callbacks.wait_for(sent, SETTLE_TIMEOUT).await?;
            if round > 0 {
                rates.push(float(turn) / (last - load.began).as_secs_f64());
            }
        }
    }
    let mut figures = Figures::default();
    let shares = rates[1].iter().zip(&rates[0]);
    let shares = shares.map(|(keyed, plain)| keyed / plain).collect();
    figures.set("share_of_rate_without_key", median(shares));
    let [plain, keyed] = rates.map(median);
    figures.set("messages_per_s", plain);
    figures.set("keyed_messages_per_s", keyed);
    close(&mut figures, site, sent, sent).await?;
    Ok(figures)
}
