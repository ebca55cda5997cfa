//! A test over SMPP.

use super::receipts::{Missing, from_node};
use super::setup::TestedCarrier;
use super::steps::{Steps, TestEnd, TestMessage, told};
use crate::context::outcome::Outcome;
use crate::dispatch::pages::{Cut, Pages};
use crate::dispatch::smpp_mapping::{self, kept_id};
use crate::dispatch::{bind, connect};
use crate::settings::SmppSettings;
use domain::Text;
use smpp::{BindKind, CommandStatus, DeliverSm, Event, EventStream, PduLog, Session, Submit};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use store::ReceiptStatus;
use tokio::time::{Instant, timeout_at};

/// Time beside the timeout of a response in which the session reports it, and time of an unbind.
const GRACE: Duration = Duration::from_secs(1);

/// A bound connection.
struct Link {
    session: Session,
    events: EventStream,
    /// Events that arrived and are not handled yet.
    arrived: VecDeque<Event>,
}

impl Link {
    /// Waits for events. Returns `None` after the end of the connection.
    async fn fill(&mut self) -> Option<()> {
        self.arrived.extend(self.events.next().await?);
        Some(())
    }
}

/// Returns the next event of one or two links, or `None` after the end of one.
async fn next(links: &mut [Link]) -> Option<(usize, Event)> {
    loop {
        for (place, link) in links.iter_mut().enumerate() {
            if let Some(event) = link.arrived.pop_front() {
                return Some((place, event));
            }
        }
        match links {
            [one] => one.fill().await?,
            [one, two] => tokio::select! {
                filled = one.fill() => filled?,
                filled = two.fill() => filled?,
            },
            _ => return None,
        }
    }
}

/// A `deliver_sm` that is not answered yet: its link, its sequence number and itself.
type Delivered = (usize, u32, Box<DeliverSm>);

/// Returns the next outcome, or `None` after the end of the connection.
async fn next_outcome(links: &mut [Link], early: &mut Vec<Delivered>) -> Option<Outcome> {
    loop {
        let (link, event) = next(links).await?;
        match event {
            Event::Submitted { outcome, .. } => return Some(outcome.into()),
            Event::Deliver { sequence, deliver } => {
                early.push((link, sequence, deliver));
            }
            Event::Closed(_) => return None,
        }
    }
}

/// Unbinds, and waits until it is done. Until then the carrier may not have the answer to a receipt,
/// and would deliver it again.
async fn unbind(mut links: Vec<Link>) {
    for link in &links {
        link.session.unbind();
    }
    let deadline = Instant::now() + GRACE;
    for link in &mut links {
        let ended = async { while link.fill().await.is_some() {} };
        // A carrier that does not answer ends with the connection.
        let _ = timeout_at(deadline, ended).await;
    }
}

pub(super) struct SmppTest<'a> {
    pub(super) carrier: &'a TestedCarrier,
    pub(super) smpp: &'a SmppSettings,
    pub(super) message: &'a TestMessage,
    /// `true` if a node serves, whose connections get the receipts.
    pub(super) is_served: bool,
}

impl SmppTest<'_> {
    pub(super) async fn run(
        &self,
        text: &Text,
        steps: &mut Steps<'_>,
    ) -> database::Result<TestEnd> {
        let Some(mut links) = self.bind(steps).await else {
            return Ok(TestEnd::default());
        };
        let mut early = Vec::new();
        let end = self.submit(&mut links, text, &mut early, steps).await;
        let ids = end.ids.iter().filter(|id| !id.is_empty());
        let key = |id: &String| kept_id(self.smpp.receipt_ids.response_key(id));
        let ids: Vec<String> = ids.map(key).collect();
        let end = if ids.is_empty() || self.message.wait.is_zero() {
            Ok(end)
        } else if self.is_served {
            from_node(self.carrier, end, ids, self.message.wait, steps).await
        } else {
            Ok(self.receive(&mut links, end, ids, early, steps).await)
        };
        unbind(links).await;
        end
    }

    /// Binds as the carrier is configured, or to submit alone while nodes receive.
    async fn bind(&self, steps: &mut Steps<'_>) -> Option<Vec<Link>> {
        let kinds: &[BindKind] = if self.is_served {
            &[BindKind::Transmitter]
        } else {
            bind::kinds(self.smpp)
        };
        let tested = self.carrier;
        let mut links = Vec::new();
        for &kind in kinds {
            let (tls, pdus) = (tested.tls.as_ref(), PduLog::default());
            let settings = (&*tested.settings, self.smpp);
            let bound = connect::bind(&*tested.network, settings, tls, kind, &pdus);
            match bound.await {
                Ok((session, events)) => {
                    let peer = session.peer().system_id.clone();
                    let about = format!(
                        "as {} at {} (its system_id is {peer:?})",
                        word(kind),
                        self.smpp.address
                    );
                    steps.add("bound", about);
                    links.push(Link {
                        session,
                        events,
                        arrived: VecDeque::new(),
                    });
                }
                Err(error) => {
                    let about = format!("bind as {} at {}: {error}", word(kind), self.smpp.address);
                    steps.add("failed", about);
                    return None;
                }
            }
        }
        if self.is_served {
            steps.add("node", "a node serves, so its connections get the receipt");
        }
        Some(links)
    }

    /// Submits all pages, and waits for their responses. Receipts that arrive meanwhile are kept.
    async fn submit(
        &self,
        links: &mut [Link],
        text: &Text,
        early: &mut Vec<Delivered>,
        steps: &mut Steps<'_>,
    ) -> TestEnd {
        let service_type = &self.smpp.service_type;
        let pages = Pages::of_text(&self.message.from, text, Cut::Pages, service_type);
        let count = pages.count();
        let submit = |page: usize| Submit {
            tag: page as u64,
            pdu: pages.submit(self.message.to, 0, page),
        };
        let submits = (0..count).map(submit).collect();
        let queued = links.first().map(|link| link.session.submit(submits));
        if !matches!(queued, Some(Ok(()))) {
            steps.add("failed", "the connection ended before the submit");
            return TestEnd::default();
        }
        steps.add("submitted", format!("submit_sm, {count} page(s)"));
        let mut end = TestEnd::default();
        let timeout = self.carrier.settings.response_timeout;
        let deadline = Instant::now() + timeout + GRACE;
        let mut accepted = 0;
        for _ in 0..count {
            let next = timeout_at(deadline, next_outcome(links, early)).await;
            let outcome = next.ok().flatten().unwrap_or(Outcome::Unknown);
            steps.add("response", told(&outcome, timeout));
            if let Outcome::Accepted { message_id } = outcome {
                accepted += 1;
                end.ids.push(message_id);
            }
        }
        end.is_accepted = accepted == count;
        end
    }

    /// Waits for the receipts. Receipts of other messages stay with the carrier.
    async fn receive(
        &self,
        links: &mut [Link],
        mut end: TestEnd,
        ids: Vec<String>,
        early: Vec<Delivered>,
        steps: &mut Steps<'_>,
    ) -> TestEnd {
        let mut missing = Missing::of(ids);
        let wait = self.message.wait;
        let deadline = Instant::now() + wait;
        let mut others = 0;
        let mut waiting: VecDeque<Delivered> = early.into();
        while !missing.is_over() {
            let Some((link, sequence, deliver)) = waiting.pop_front() else {
                match timeout_at(deadline, next(links)).await {
                    Ok(Some((link, Event::Deliver { sequence, deliver }))) => {
                        waiting.push_back((link, sequence, deliver));
                        continue;
                    }
                    Ok(Some((_, Event::Submitted { .. }))) => continue,
                    Ok(Some((_, Event::Closed(_))) | None) | Err(_) => break,
                }
            };
            let found = self.receipt(&deliver);
            let is_own = found.is_some_and(|(id, status)| missing.take(&id, status, steps));
            let status = if is_own {
                CommandStatus::ROK
            } else {
                others += 1;
                CommandStatus::RX_T_APPN
            };
            if let Some(link) = links.get(link) {
                link.session.answer(vec![(sequence, status)]);
            }
        }
        if others > 0 {
            let about = format!("{others} of other messages, which stay with the carrier");
            steps.add("others", about);
        }
        missing.end(wait, "", steps);
        end.status = missing.status;
        end
    }

    fn receipt(&self, deliver: &DeliverSm) -> Option<(String, ReceiptStatus)> {
        let carrier: Arc<str> = self.carrier.settings.name.as_str().into();
        let read = smpp::receipt::parse(deliver)?;
        let receipt = smpp_mapping::receipt(&carrier, deliver, read, self.smpp.receipt_ids)?;
        Some((receipt.carrier_id, receipt.status))
    }
}

const fn word(kind: BindKind) -> &'static str {
    match kind {
        BindKind::Transceiver => "transceiver",
        BindKind::Transmitter => "transmitter",
        BindKind::Receiver => "receiver",
    }
}
