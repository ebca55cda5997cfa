//! The task that keeps one connection to a carrier bound, and binds it again after a loss.

use super::connect;
use super::transport::{BoundSession, LinkEvent, LinkId};
use crate::context::Context;
use crate::context::metrics::bind_failed;
use crate::context::random::Random;
use crate::settings::{BindMode, CarrierSettings, SmppSettings};
use smpp::{BindKind, Event, EventStream, PduLog, StatusClass, SubmitOutcome};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsConnector;

/// The first and the longest delay before another bind.
const BACK_OFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));
/// The same delays after the carrier rejected our credentials. Carriers lock out clients that retry
/// too often.
const REFUSED_BACK_OFF: (Duration, Duration) = (Duration::from_secs(10), Duration::from_mins(5));
/// A connection that was bound for so long resets the delay.
pub(super) const GOOD_AFTER: Duration = Duration::from_secs(30);

/// Returns the binds of one slot: a transceiver, or a transmitter and a receiver.
pub(crate) fn kinds(settings: &SmppSettings) -> &'static [BindKind] {
    match settings.bind_mode {
        BindMode::Transceiver => &[BindKind::Transceiver],
        BindMode::TransmitterAndReceiver => &[BindKind::Transmitter, BindKind::Receiver],
    }
}

/// A connection of a carrier: its number, its kind, and the log of its PDUs.
pub(crate) type Connection = (LinkId, BindKind, PduLog);

/// Binds one connection again and again until `closing` is set.
pub(crate) async fn keep_bound(
    context: Arc<Context>,
    (settings, smpp): (Arc<CarrierSettings>, SmppSettings),
    tls: Option<TlsConnector>,
    (link, kind, pdus): Connection,
    events: mpsc::Sender<LinkEvent>,
    mut closing: watch::Receiver<bool>,
) {
    let mut failures = 0_u32;
    while !*closing.borrow() {
        let bound = tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => return,
            bound = connect::bind(&*context.network, (&settings, &smpp), tls.as_ref(), kind, &pdus) => bound,
        };
        let delay = match bound {
            Ok((session, stream)) => {
                tracing::info!(
                    carrier.name = settings.name,
                    carrier.link = link,
                    "carrier: bound"
                );
                let since = tokio::time::Instant::now();
                let Ok(refused) = forward(session, stream, link, kind, &events).await else {
                    return;
                };
                if since.elapsed() >= GOOD_AFTER {
                    failures = 0;
                }
                if refused || since.elapsed() < GOOD_AFTER {
                    failures += 1;
                }
                back_off(delays(refused), failures, &context.random)
            }
            Err(error) => {
                failures += 1;
                bind_failed(&settings.name, error.label());
                let delay = back_off(delays(error.is_refusal()), failures, &context.random);
                let retry_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                tracing::warn!(carrier.name = settings.name, carrier.link = link, %error, retry_ms,
                    "carrier: bind failed, retrying");
                delay
            }
        };
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => return,
            () = tokio::time::sleep(delay) => {}
        }
    }
}

/// Forwards the events of a session until it ends. Returns `true` if a submit was rejected for our
/// credentials. Fails if the worker has ended.
async fn forward(
    session: smpp::Session,
    mut stream: EventStream,
    link: LinkId,
    kind: BindKind,
    events: &mpsc::Sender<LinkEvent>,
) -> Result<bool, mpsc::error::SendError<LinkEvent>> {
    let mut refused = false;
    let submits = kind != BindKind::Receiver;
    events
        .send(LinkEvent::Up {
            link,
            session: BoundSession::Smpp(session),
            submits,
        })
        .await?;
    while let Some(batch) = stream.next().await {
        refused |= batch.iter().any(is_refused_submit);
        events
            .send(LinkEvent::Events {
                link,
                events: batch,
            })
            .await?;
    }
    events.send(LinkEvent::Down { link }).await?;
    Ok(refused)
}

/// Some carriers accept any bind, and check the credentials at the first submit.
fn is_refused_submit(event: &Event) -> bool {
    match event {
        Event::Submitted {
            outcome: SubmitOutcome::Rejected(status),
            ..
        } => status.class() == StatusClass::BindRefused,
        Event::Submitted { .. } | Event::Deliver { .. } | Event::Closed(_) => false,
    }
}

/// Returns the delays before another bind.
pub(super) const fn delays(refused: bool) -> (Duration, Duration) {
    if refused { REFUSED_BACK_OFF } else { BACK_OFF }
}

/// Returns the delay after `failures` failures. It doubles up to the longest one, with a jitter of
/// a quarter.
pub(crate) fn back_off(
    (first, longest): (Duration, Duration),
    failures: u32,
    random: &Random,
) -> Duration {
    let doubled = first
        .saturating_mul(1 << failures.saturating_sub(1).min(16))
        .min(longest);
    let quarter = u64::try_from(doubled.as_millis() / 4).unwrap_or(0).max(1);
    let random = Duration::from_millis(random.number() % (2 * quarter));
    doubled.saturating_sub(Duration::from_millis(quarter)) + random
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_bind_is_retried_some_times_an_hour() {
        for _ in 0..100 {
            let (mut tries, mut waited) = (0, Duration::ZERO);
            while waited < Duration::from_hours(1) {
                tries += 1;
                waited += back_off(REFUSED_BACK_OFF, tries, &Random::system());
            }
            assert!((12..=22).contains(&tries), "{tries}");
        }
    }
}
