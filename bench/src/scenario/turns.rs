//! Two kinds of single messages that take turns on one service, so that both meet the same state of
//! the machine.

use super::checks::SETTLE_TIMEOUT;
use crate::callbacks::Callbacks;
use crate::figures::{Figures, float, median};
use crate::load::{Request, closed_loop};
use crate::site::Site;
use anyhow::Result;
use std::time::Duration;

const ROUNDS: u64 = 5;
const WARM_UP: u64 = 1_000;
const MESSAGES: u64 = 20_000;

/// The rates of two kinds of messages, by the round.
pub(super) struct Rates {
    plain: Vec<f64>,
    other: Vec<f64>,
    /// Number of messages that were sent.
    pub(super) sent: u64,
}

impl Rates {
    /// Sets the medians of both rates, and under `share` that of the ratios.
    pub(super) fn show(self, figures: &mut Figures, share: &str, other: &str) {
        let rounds = self.other.iter().zip(&self.plain);
        let shares = rounds.map(|(other, plain)| other / plain).collect();
        figures.set(share, median(shares));
        figures.set("messages_per_s", median(self.plain));
        figures.set(&format!("{other}_messages_per_s"), median(self.other));
    }
}

/// Sends messages of each kind in turns, from the first request to the last callback.
pub(super) async fn take(
    site: &Site,
    callbacks: &Callbacks,
    requests: &[Request; 2],
    (connections, quick): (usize, bool),
) -> Result<Rates> {
    let messages = if quick { MESSAGES / 10 } else { MESSAGES };
    let mut sent = 0;
    let mut rates: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    for round in 0..=ROUNDS {
        let turn = if round == 0 { WARM_UP } else { messages };
        for (request, rates) in requests.iter().zip(&mut rates) {
            let numbers = sent..sent + turn;
            sent = numbers.end;
            let load = closed_loop(&site.http, request, connections, numbers, Duration::MAX);
            let load = load.await?;
            let last = callbacks.wait_for(sent, SETTLE_TIMEOUT).await?;
            if round > 0 {
                rates.push(float(turn) / (last - load.began).as_secs_f64());
            }
        }
    }
    let [plain, other] = rates;
    Ok(Rates { plain, other, sent })
}
