//! The task of one carrier.

use super::Carrier;
use super::hand::{Fate, Hand, Ready, Tag};
use super::link::{self, LinkEvent, LinkId, Wire};
use super::say;
use super::wire::Pages;
use crate::measure::CarrierMeasures;
use crate::{Shared, sandbox};
use domain::{DeliveryStatus, Pace, Priority, SubmitFault};
use smpp::{CommandStatus, Event, ReceiptIds, Submit};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use store::{CarrierReport, Claimed, Receipt, Settled};
use tokio::sync::{mpsc, watch};
use tokio_rustls::TlsConnector;

/// How often the database is looked at without a hint.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Events that wait; connections that bring more wait themselves.
const EVENT_QUEUE: usize = 64;
/// Receipts committed together.
const MOST_RECEIPTS: usize = 1_000;
/// Receipts in memory above which nothing more is read from the connections.
const MOST_WAITING: usize = 20_000;
/// How long a claim is this node's own.
const CLAIM_MS: i64 = 60_000;
/// How long a carrier may be down before what waits for it goes to the next one.
const FAIL_OVER_MS: i64 = 5_000;
/// How long what has no other carrier waits until that is looked at again.
const NO_OTHER_MS: i64 = 10_000;
/// Batches looked at for another carrier at a time, in recipients.
const FAIL_OVER_RECIPIENTS: usize = 1_000;
/// The pause after the database failed.
const FAILURE_PAUSE: Duration = Duration::from_millis(250);

/// What the desk's own background steps give back.
enum Done {
    Reported {
        result: Settled,
        parked: usize,
        accounted: usize,
        answers: Vec<(LinkId, Wire, Vec<u32>)>,
    },
    Claimed {
        asked: usize,
        claimed: Vec<Claimed>,
    },
    ClaimFailed {
        asked: usize,
    },
    Looked {
        due: bool,
    },
    FailedOver,
}

struct Desk {
    shared: Arc<Shared>,
    carrier: Arc<Carrier>,
    measures: CarrierMeasures,
    ids: ReceiptIds,
    hand: Hand,
    pace: Pace,
    wires: BTreeMap<LinkId, (Wire, bool)>,
    receipts: Vec<Receipt>,
    answers: BTreeMap<LinkId, Vec<u32>>,
    done: mpsc::UnboundedSender<Done>,
    reporting: bool,
    claiming: bool,
    looking: bool,
    down_since_ms: i64,
    closing: bool,
}

/// Runs a carrier until the engine closes and all that is in hand is accounted for.
pub(crate) async fn run(
    shared: Arc<Shared>,
    carrier: Arc<Carrier>,
    tls: Option<TlsConnector>,
    mut closing: watch::Receiver<bool>,
) {
    let (events, mut arrived) = mpsc::channel(EVENT_QUEUE);
    // At most one report, one claim and one look are under way.
    let (done, mut finished) = mpsc::unbounded_channel();
    connect(&carrier, tls, &events, &closing).await;
    drop(events);
    let mut desk = Desk::new(shared, Arc::clone(&carrier), done);
    let mut look = tokio::time::interval(LOOK_EVERY);
    let mut linked = true;
    while linked || !desk.is_idle() {
        let pause = desk.pause();
        tokio::select! {
            event = arrived.recv(), if linked && desk.receipts.len() < MOST_WAITING => match event {
                Some(event) => desk.link_event(event),
                // All connections have ended, which they do when the engine closes.
                None => {
                    linked = false;
                    desk.wires.clear();
                }
            },
            Some(done) = finished.recv() => desk.finished(done),
            () = carrier.wake.notified() => {}
            _ = look.tick() => desk.look(),
            () = tokio::time::sleep(pause) => {}
            _ = closing.wait_for(|closing| *closing), if !desk.closing => desk.close(),
        }
        while desk.receipts.len() < MOST_WAITING
            && let Ok(event) = arrived.try_recv()
        {
            desk.link_event(event);
        }
        while let Ok(done) = finished.try_recv() {
            desk.finished(done);
        }
        desk.step();
    }
}

async fn connect(
    carrier: &Carrier,
    tls: Option<TlsConnector>,
    events: &mpsc::Sender<LinkEvent>,
    closing: &watch::Receiver<bool>,
) {
    let Some(settings) = &carrier.settings else {
        let wire = Wire::Sandbox(sandbox::Wire::start(events.clone()));
        // The receiver is alive: it is the caller's.
        let _ = events
            .send(LinkEvent::Up {
                link: 0,
                wire,
                submits: true,
            })
            .await;
        return;
    };
    for (link, kind) in link::kinds(settings).into_iter().enumerate() {
        let (settings, tls, events) = (Arc::clone(settings), tls.clone(), events.clone());
        tokio::spawn(link::keep_bound(
            settings,
            tls,
            link,
            kind,
            events,
            closing.clone(),
        ));
    }
}

impl Desk {
    fn new(shared: Arc<Shared>, carrier: Arc<Carrier>, done: mpsc::UnboundedSender<Done>) -> Self {
        let now_ms = shared.clock.now_ms();
        let settings = carrier.settings.as_ref();
        Self {
            measures: CarrierMeasures::new(&carrier.name),
            ids: settings.map_or(ReceiptIds::Exact, |settings| settings.receipt_ids),
            pace: Pace::new(
                settings.and_then(|settings| settings.max_per_second),
                now_ms,
            ),
            hand: Hand::default(),
            wires: BTreeMap::new(),
            receipts: Vec::new(),
            answers: BTreeMap::new(),
            reporting: false,
            claiming: false,
            looking: false,
            down_since_ms: now_ms,
            closing: false,
            shared,
            carrier,
            done,
        }
    }

    fn is_idle(&self) -> bool {
        self.wires.is_empty()
            && self.hand.is_empty()
            && !self.reporting
            && !self.claiming
            && self.receipts.is_empty()
    }

    /// How long nothing needs to be done, if nothing comes.
    fn pause(&self) -> Duration {
        if self.hand.waiting() == 0 || self.wires.is_empty() {
            return LOOK_EVERY;
        }
        let now_ms = self.shared.clock.now_ms();
        let wait_ms = (self.pace.next_ms(now_ms) - now_ms).clamp(1, 1_000);
        Duration::from_millis(wait_ms.unsigned_abs())
    }

    /// Does all that can be done now.
    fn step(&mut self) {
        let handed = std::mem::take(
            &mut *self
                .carrier
                .handed
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner),
        );
        for claimed in handed {
            self.take(claimed);
        }
        if self.closing {
            self.put_back_unsent();
        }
        self.dispatch();
        self.report();
        self.claim();
        self.measures.window(
            self.wires
                .values()
                .map(|(wire, _)| wire.outstanding())
                .sum(),
        );
    }

    /// Takes a claimed batch in hand, unless its time is over.
    fn take(&mut self, claimed: Claimed) {
        let now_ms = self.shared.clock.now_ms();
        let (batch, content) = (&claimed.batch, &claimed.content);
        let rules = self.shared.plan.rules.leg(content.gateway, batch.leg);
        let validity_ms = rules.map_or(batch.expires_at_ms - now_ms, |rules| rules.validity_ms);
        let service_type = self
            .carrier
            .settings
            .as_ref()
            .map_or("", |settings| settings.service_type.as_str());
        let pages = Pages::new(&claimed, service_type, validity_ms);
        let late = now_ms >= batch.expires_at_ms;
        for tag in self.hand.take(claimed, pages, !late) {
            self.hand.decide(
                tag,
                Fate::Ended(DeliveryStatus::Expired, "validity passed".to_owned()),
            );
        }
    }

    fn link_event(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Up {
                link,
                wire,
                submits,
            } => {
                if self.closing {
                    wire.unbind();
                }
                self.wires.insert(link, (wire, submits));
                self.count_wires();
                self.carrier.arrived();
            }
            LinkEvent::Down { link } => {
                self.wires.remove(&link);
                self.answers.remove(&link);
                self.count_wires();
            }
            LinkEvent::Events { link, events } => {
                for event in events {
                    self.event(link, event);
                }
            }
        }
    }

    fn count_wires(&mut self) {
        let up = self.wires.values().filter(|(_, submits)| *submits).count();
        if up == 0 {
            self.down_since_ms = self.shared.clock.now_ms();
        }
        self.carrier.up.store(up, Ordering::Relaxed);
        self.measures.binds(self.wires.len());
    }

    fn event(&mut self, link: LinkId, event: Event) {
        match event {
            Event::Submitted { tag, outcome } => {
                let tag = Tag::from_number(tag);
                self.measures.response(&outcome);
                if let Some(answer) = self.hand.answered(tag, outcome) {
                    self.answered(tag, answer);
                }
            }
            Event::Deliver { sequence, deliver } => match say::receipt(&deliver, self.ids) {
                Some(receipt) => {
                    self.measures.receipt(&receipt);
                    self.receipts.push(receipt);
                    self.answers.entry(link).or_default().push(sequence);
                }
                None => {
                    self.measures.inbound();
                    if let Some((wire, _)) = self.wires.get(&link) {
                        wire.answer(vec![(sequence, CommandStatus::ROK)]);
                    }
                }
            },
            Event::Closed(reason) => {
                tracing::warn!(
                    carrier.name = &*self.carrier.name,
                    carrier.link = link,
                    ?reason,
                    "carrier connection ended"
                );
            }
        }
    }

    fn answered(&mut self, tag: Tag, answer: super::hand::Answer) {
        let Some((batch, content)) = self.hand.batch(tag) else {
            return;
        };
        let Some(&recipient) = batch.recipients.get(usize::from(tag.recipient)) else {
            return;
        };
        let now_ms = self.shared.clock.now_ms();
        if let super::hand::Answer::Rejected(status) = &answer
            && say::fault(*status) == SubmitFault::Throttled
        {
            self.pace.throttled(now_ms);
        }
        let plan = &self.shared.plan;
        let fate = say::fate(plan, &batch, &content, recipient, answer, self.ids, now_ms);
        if matches!(fate, Fate::Doubted(_)) {
            self.measures.in_doubt();
        }
        self.hand.decide(tag, fate);
    }

    /// Hands to the connections what is ready, as far as the pace allows.
    fn dispatch(&mut self) {
        let up = self.wires.values().filter(|(_, submits)| *submits).count();
        if up == 0 || self.hand.waiting() == 0 {
            return;
        }
        let now_ms = self.shared.clock.now_ms();
        let mut room = self.pace.room(now_ms);
        let share = self.hand.waiting().div_ceil(up).max(1);
        let mut loads: Vec<(usize, LinkId)> = self
            .wires
            .iter()
            .filter(|(_, (_, submits))| *submits)
            .map(|(&link, (wire, _))| (wire.load(), link))
            .collect();
        loads.sort_unstable();
        for (_, link) in loads {
            let mut submits = Vec::with_capacity(share.min(1_024));
            while submits.len() < share && room > 0 {
                let Some(ready) = self.hand.next() else { break };
                let pages = ready.pages.count();
                self.pace.spend(pages);
                room = room.saturating_sub(pages);
                if let Some((batch, _)) = self.hand.batch(ready.tag) {
                    self.measures.submitted(&batch, now_ms);
                }
                push_pages(&mut submits, &ready);
            }
            self.submit(link, submits);
        }
    }

    fn submit(&mut self, link: LinkId, submits: Vec<Submit>) {
        let Some((wire, _)) = self.wires.get(&link) else {
            return;
        };
        if submits.is_empty() {
            return;
        }
        if let Err(returned) = wire.submit(submits) {
            // The connection has just ended: its event is on the way.
            for submit in returned {
                let tag = Tag::from_number(submit.tag);
                if let Some(answer) = self.hand.answered(tag, smpp::Outcome::NotSent) {
                    self.answered(tag, answer);
                }
            }
        }
    }

    /// Commits what came back, one commit at a time.
    fn report(&mut self) {
        if self.reporting || (!self.hand.has_news() && self.receipts.is_empty()) {
            return;
        }
        let now_ms = self.shared.clock.now_ms();
        let plan = &self.shared.plan;
        let timers = |batch: &store::Batch, content: &store::Content, sent: &[_]| {
            second_leg_timer(plan, batch, content, sent, now_ms)
        };
        let (progress, accounted) = self.hand.progress(|count| plan.numbers(count), timers);
        let rest = self
            .receipts
            .split_off(self.receipts.len().min(MOST_RECEIPTS));
        let receipts = std::mem::replace(&mut self.receipts, rest);
        // All receipts read so far are answered with the commit that holds the last of them.
        let answers = if self.receipts.is_empty() {
            std::mem::take(&mut self.answers)
        } else {
            BTreeMap::new()
        };
        let answers = answers
            .into_iter()
            .filter_map(|(link, sequences)| {
                Some((link, self.wires.get(&link)?.0.clone(), sequences))
            })
            .collect();
        let report = Arc::new(CarrierReport {
            carrier: Arc::clone(&self.carrier.name),
            now_ms,
            progress,
            first_number: plan.numbers(receipts.len()),
            receipts,
            planner: self.shared.planner(now_ms),
            node: self.shared.node,
            claimed_until_ms: now_ms + CLAIM_MS,
            callback_room: self.shared.callbacks.room(),
        });
        self.reporting = true;
        let (store, done) = (self.shared.store.clone(), self.done.clone());
        tokio::spawn(async move {
            let (result, parked) = commit(&store, report).await;
            // The desk outlives its steps.
            let _ = done.send(Done::Reported {
                result,
                parked,
                accounted,
                answers,
            });
        });
    }

    /// Claims as much as there is room for.
    fn claim(&mut self) {
        let backlog = self.carrier.backlog.load(Ordering::Relaxed);
        if self.claiming || self.closing || !backlog || !self.carrier.is_up() {
            return;
        }
        let now_ms = self.shared.clock.now_ms();
        let (room, priority) = match self.carrier.budget.room(Priority::Bulk) {
            0 => (self.carrier.budget.room(Priority::Otp), Priority::Otp),
            room => (room, Priority::Bulk),
        };
        // What waits in hand uses up the pace first.
        let asked = room.min(self.pace.room(now_ms).saturating_sub(self.hand.waiting()));
        if asked == 0 || !self.carrier.budget.try_take(asked, priority) {
            return;
        }
        // Whatever arrives from here on sets it again.
        self.carrier.backlog.store(false, Ordering::Relaxed);
        self.claiming = true;
        let claim = self.shared.claim(&self.carrier, asked, priority, now_ms);
        let (store, done) = (self.shared.store.clone(), self.done.clone());
        tokio::spawn(async move {
            let step = match store.claim(claim).await {
                Ok(claimed) => Done::Claimed { asked, claimed },
                Err(error) => {
                    tracing::error!(%error, "batches could not be claimed");
                    tokio::time::sleep(FAILURE_PAUSE).await;
                    Done::ClaimFailed { asked }
                }
            };
            let _ = done.send(step);
        });
    }

    fn finished(&mut self, done: Done) {
        match done {
            Done::Reported {
                result,
                parked,
                accounted,
                answers,
            } => {
                self.reporting = false;
                self.carrier.budget.give(accounted);
                for (_, wire, sequences) in answers {
                    let ok = |sequence| (sequence, CommandStatus::ROK);
                    wire.answer(sequences.into_iter().map(ok).collect());
                }
                self.measures.parked(parked);
                self.shared.settled(result);
            }
            Done::Claimed { asked, claimed } => {
                self.claiming = false;
                let got: usize = claimed
                    .iter()
                    .map(|claimed| claimed.batch.recipients.len())
                    .sum();
                self.carrier.budget.give(asked - got.min(asked));
                // As many as asked for may mean that there are more, and so may none: what was found was
                // not to be sent any more.
                if got > 0 {
                    self.carrier.backlog.store(true, Ordering::Relaxed);
                }
                for claimed in claimed {
                    self.take_claimed(claimed);
                }
            }
            Done::ClaimFailed { asked } => {
                self.claiming = false;
                self.carrier.budget.give(asked);
                self.carrier.backlog.store(true, Ordering::Relaxed);
            }
            Done::Looked { due } => {
                self.looking = false;
                if due {
                    self.carrier.backlog.store(true, Ordering::Relaxed);
                }
            }
            Done::FailedOver => self.looking = false,
        }
    }

    /// Quiet hours may have begun since the batch became due.
    fn take_claimed(&mut self, claimed: Claimed) {
        let now_ms = self.shared.clock.now_ms();
        let content = &claimed.content;
        let plan = &self.shared.plan;
        let due = plan.due(
            content.gateway,
            claimed.batch.leg,
            content.environment,
            now_ms,
        );
        if due <= now_ms && !self.closing {
            self.take(claimed);
            return;
        }
        self.carrier.budget.give(claimed.batch.recipients.len());
        self.shared.release(vec![claimed.batch], due, None);
    }

    /// Looks whether something has become due, or has to go elsewhere.
    fn look(&mut self) {
        if self.looking || self.closing {
            return;
        }
        let now_ms = self.shared.clock.now_ms();
        self.looking = true;
        let (shared, carrier, done) = (
            Arc::clone(&self.shared),
            Arc::clone(&self.carrier),
            self.done.clone(),
        );
        if carrier.is_up() {
            tokio::spawn(async move {
                let next = shared.store.next_due(&carrier.name).await;
                let due = next.is_ok_and(|next| next.is_some_and(|due_ms| due_ms <= now_ms));
                let _ = done.send(Done::Looked { due });
            });
        } else if now_ms - self.down_since_ms >= FAIL_OVER_MS && shared.has_alternative(&carrier) {
            tokio::spawn(async move {
                fail_over(&shared, &carrier, now_ms).await;
                let _ = done.send(Done::FailedOver);
            });
        } else {
            self.looking = false;
        }
    }

    /// Gives back what is not on the wire, and unbinds once the rest has its answer.
    fn close(&mut self) {
        self.closing = true;
        for (wire, _) in self.wires.values() {
            wire.unbind();
        }
        self.put_back_unsent();
    }

    fn put_back_unsent(&mut self) {
        let now_ms = self.shared.clock.now_ms();
        for tag in self.hand.unsent() {
            self.put_back(tag, now_ms);
        }
    }

    fn put_back(&mut self, tag: Tag, now_ms: i64) {
        let Some((batch, _)) = self.hand.batch(tag) else {
            return;
        };
        let later = super::hand::Later {
            due_at_ms: now_ms,
            carrier: Arc::clone(&batch.carrier),
            tries: batch.tries,
            kind: super::hand::LaterKind::Retry,
        };
        self.hand.decide(tag, Fate::Later(later));
    }
}

fn push_pages(submits: &mut Vec<Submit>, ready: &Ready) {
    for page in 0..ready.pages.count() {
        let tag = Tag {
            page: u8::try_from(page).unwrap_or(u8::MAX),
            ..ready.tag
        };
        submits.push(Submit {
            tag: tag.number(),
            pdu: ready.pages.submit(ready.recipient, page),
        });
    }
}

/// Commits a report, however often the database has to be asked: what a carrier said is never dropped.
async fn commit(store: &store::Store, report: Arc<CarrierReport>) -> (Settled, usize) {
    loop {
        match store.report(Arc::clone(&report)).await {
            Ok(settled) => return settled,
            Err(error) => {
                tracing::error!(%error, carrier.name = &*report.carrier,
                    "what a carrier said could not be kept; trying again");
                tokio::time::sleep(FAILURE_PAUSE).await;
            }
        }
    }
}

/// The batch that sends the second leg where the first stays silent.
fn second_leg_timer(
    plan: &crate::plan::Plan,
    batch: &store::Batch,
    content: &store::Content,
    sent: &[(domain::Recipient, Vec<String>)],
    now_ms: i64,
) -> Option<store::Batch> {
    let first = sent.first().filter(|_| batch.leg == domain::FIRST_LEG)?.0;
    let timeout_ms = plan.leg_timeout_ms(content.gateway)?;
    let wanted = store::SecondLeg {
        bucket: batch.bucket,
        message: batch.message,
        gateway: content.gateway,
        recipient: first,
        suffixed: batch.suffixed,
        pages: batch.pages,
        charge: batch.charge,
        reserve: batch.reserve,
    };
    let timer = plan.second_leg(&wanted, now_ms + timeout_ms)?;
    Some(store::Batch {
        recipients: sent.iter().map(|(recipient, _)| *recipient).collect(),
        ..timer
    })
}

/// Moves what waits for a carrier that is down to one that is up, in order of preference.
async fn fail_over(shared: &Arc<Shared>, carrier: &Arc<Carrier>, now_ms: i64) {
    let claim = shared.claim(carrier, FAIL_OVER_RECIPIENTS, Priority::Bulk, now_ms);
    let claimed = match shared.store.claim(claim).await {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::error!(%error, "batches could not be moved to another carrier");
            return;
        }
    };
    for Claimed { batch, content } in claimed {
        let Some(&first) = batch.recipients.first() else {
            continue;
        };
        let others = shared
            .plan
            .other_carriers(content.gateway, batch.leg, first, &carrier.name);
        let other = others
            .into_iter()
            .find(|name| shared.carrier(name).is_some_and(|other| other.is_up()));
        let due_ms = if other.is_some() {
            now_ms
        } else {
            now_ms + NO_OTHER_MS
        };
        shared.release(vec![batch], due_ms, other);
    }
}
