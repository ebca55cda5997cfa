//! One connection to a carrier: bound, watched, and bound again when it is lost.

use super::connect;
use super::transport::{BoundSession, LinkEvent, LinkId};
use crate::context::Context;
use crate::context::metrics::bind_failed;
use crate::context::random::Random;
use crate::settings::{BindMode, CarrierSettings};
use smpp::{BindKind, Event, EventStream, StatusClass, SubmitOutcome};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsConnector;

/// The first wait before binding again, and the longest.
const BACK_OFF: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(1));
/// The same after a refused bind, and after a submit that is refused as a bind is: whoever asks too often is locked out.
const REFUSED_BACK_OFF: (Duration, Duration) = (Duration::from_secs(10), Duration::from_mins(5));
/// A bind that lasted so long was a good one: the next wait is the first again.
const GOOD_AFTER: Duration = Duration::from_secs(30);

/// The kinds of a carrier's connection: a transceiver, or a pair.
pub(crate) fn kinds(settings: &CarrierSettings) -> &'static [BindKind] {
    match settings.bind_mode {
        BindMode::Transceiver => &[BindKind::Transceiver],
        BindMode::TransmitterAndReceiver => &[BindKind::Transmitter, BindKind::Receiver],
    }
}

/// Keeps one connection bound until it is to end.
pub(crate) async fn keep_bound(
    context: Arc<Context>,
    settings: Arc<CarrierSettings>,
    tls: Option<TlsConnector>,
    link: LinkId,
    kind: BindKind,
    events: mpsc::Sender<LinkEvent>,
    mut closing: watch::Receiver<bool>,
) {
    let mut failures = 0_u32;
    while !*closing.borrow() {
        let bound = tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => return,
            bound = connect::bind(&*context.network, &settings, tls.as_ref(), kind) => bound,
        };
        let wait = match bound {
            Ok((session, stream)) => {
                tracing::info!(
                    carrier.name = settings.name,
                    carrier.link = link,
                    "carrier bound"
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
                back_off(waits(refused), failures, &context.random)
            }
            Err(error) => {
                failures += 1;
                bind_failed(&settings.name, error.word());
                let wait = back_off(waits(error.is_refusal()), failures, &context.random);
                let retry_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                tracing::warn!(carrier.name = settings.name, carrier.link = link, %error, retry_ms,
                    "carrier could not be bound");
                wait
            }
        };
        tokio::select! {
            biased;
            _ = closing.wait_for(|closing| *closing) => return,
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Hands on what comes until the session ends; tells whether a submit was answered as a bind is that is refused. An error
/// means that nobody listens any more.
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

/// Some carriers take any bind, and look at who it is when the first message comes.
fn is_refused_submit(event: &Event) -> bool {
    match event {
        Event::Submitted {
            outcome: SubmitOutcome::Rejected(status),
            ..
        } => status.class() == StatusClass::BindRefused,
        Event::Submitted { .. } | Event::Deliver { .. } | Event::Closed(_) => false,
    }
}

/// The waits before binding again.
const fn waits(refused: bool) -> (Duration, Duration) {
    if refused { REFUSED_BACK_OFF } else { BACK_OFF }
}

/// Doubles from the first wait to the longest, give or take a quarter.
fn back_off((first, longest): (Duration, Duration), failures: u32, random: &Random) -> Duration {
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
    fn a_carrier_that_refuses_the_bind_is_asked_some_times_an_hour() {
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
