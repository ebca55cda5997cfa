//! One connection to a carrier: bound, watched, and bound again when it is lost.

use super::connect;
use crate::context::Context;
use crate::context::metrics::bind_failed;
use crate::context::random::Chance;
use crate::dispatch::sandbox;
use crate::settings::{BindMode, CarrierSettings};
use smpp::{BindKind, CommandStatus, Event, EventStream, StatusClass, Submit, SubmitOutcome};
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

/// Which connection of a carrier.
pub(crate) type LinkId = usize;

/// A connection in use.
#[derive(Clone)]
pub(crate) enum Wire {
    Smpp(smpp::Session),
    Sandbox(sandbox::Wire),
}

impl Wire {
    pub(crate) fn submit(&self, submits: Vec<Submit>) -> Result<(), Vec<Submit>> {
        match self {
            Self::Smpp(session) => session.submit(submits),
            Self::Sandbox(wire) => wire.submit(submits),
        }
    }

    pub(crate) fn answer(&self, answers: Vec<(u32, CommandStatus)>) {
        match self {
            Self::Smpp(session) => session.answer(answers),
            Self::Sandbox(_) => {}
        }
    }

    /// Submits that are queued or unanswered.
    pub(crate) fn load(&self) -> usize {
        match self {
            Self::Smpp(session) => session.load(),
            Self::Sandbox(_) => 0,
        }
    }

    /// Whether it may be dead: a probe is out on it.
    pub(crate) fn is_silent(&self) -> bool {
        match self {
            Self::Smpp(session) => session.is_silent(),
            Self::Sandbox(_) => false,
        }
    }

    pub(crate) fn outstanding(&self) -> usize {
        match self {
            Self::Smpp(session) => session.outstanding(),
            Self::Sandbox(_) => 0,
        }
    }

    pub(crate) fn unbind(&self) {
        match self {
            Self::Smpp(session) => session.unbind(),
            Self::Sandbox(wire) => wire.unbind(),
        }
    }
}

/// What happens on a carrier's connections.
pub(crate) enum LinkEvent {
    /// Bound; `submits` tells whether messages go out on it.
    Up {
        link: LinkId,
        wire: Wire,
        submits: bool,
    },
    /// Something came.
    Events { link: LinkId, events: Vec<Event> },
    /// Lost, or ended in order.
    Down { link: LinkId },
}

/// What one of a carrier's connections is: a transceiver, or a pair.
pub(crate) fn kinds(settings: &CarrierSettings) -> &'static [BindKind] {
    match settings.bind_mode {
        BindMode::Transceiver => &[BindKind::Transceiver],
        BindMode::TransmitterAndReceiver => &[BindKind::Transmitter, BindKind::Receiver],
    }
}

/// Keeps one connection bound until it is to end.
pub(crate) async fn keep_bound(
    shared: Arc<Context>,
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
            bound = connect::bind(&*shared.network, &settings, tls.as_ref(), kind) => bound,
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
                back_off(waits(refused), failures, &shared.chance)
            }
            Err(error) => {
                failures += 1;
                bind_failed(&settings.name, error.word());
                let wait = back_off(waits(error.is_refusal()), failures, &shared.chance);
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
            wire: Wire::Smpp(session),
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
fn back_off((first, longest): (Duration, Duration), failures: u32, chance: &Chance) -> Duration {
    let doubled = first
        .saturating_mul(1 << failures.saturating_sub(1).min(16))
        .min(longest);
    let quarter = u64::try_from(doubled.as_millis() / 4).unwrap_or(0).max(1);
    let chance = Duration::from_millis(chance.number() % (2 * quarter));
    doubled.saturating_sub(Duration::from_millis(quarter)) + chance
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
                waited += back_off(REFUSED_BACK_OFF, tries, &Chance::system());
            }
            assert!((12..=22).contains(&tries), "{tries}");
        }
    }
}
