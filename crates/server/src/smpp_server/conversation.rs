//! One client: its session, its bound user, and the work for its requests.

use super::binds;
use super::cheap_answers::CheapAnswers;
use super::done::Done;
use super::measures::Measures;
use super::receiving::Receiving;
use super::requests::{HOLD_BACK, Requests};
use engine::{OpenSubmit, SmppBind, SmppEntrance};
use smpp::codec::BindFields;
use smpp::server::{Request, ServerEvent, ServerOptions, ServerSession, SessionEnd};
use smpp::{BindKind, CommandStatus, FrameBuffer};
use std::net::IpAddr;
use std::sync::Arc;
use store::Callback;
use tokio::time::{Instant, sleep};

/// One client.
pub(super) struct Conversation {
    pub(super) requests: Requests,
    /// `true` once this side has decided to unbind.
    pub(super) is_unbinding: bool,
    /// The receipts for this client, if it receives any.
    pub(super) receiving: Option<Receiving>,
    cheap_answers: CheapAnswers,
    /// The accepted submits whose responses are not written yet.
    unwritten: Vec<OpenSubmit>,
    entrance: SmppEntrance,
    client: IpAddr,
    /// The reason for which this side unbinds.
    reason: Option<&'static str>,
}

impl Conversation {
    pub(super) fn new(entrance: SmppEntrance, client: IpAddr, options: ServerOptions) -> Self {
        let now = Instant::now();
        Self {
            requests: Requests::new(ServerSession::new(options, now)),
            is_unbinding: false,
            receiving: None,
            cheap_answers: CheapAnswers::new(now),
            unwritten: Vec::new(),
            entrance,
            client: client.to_canonical(),
            reason: None,
        }
    }

    /// Returns `true` if the connection should be read.
    pub(super) fn reads(&self, now: Instant) -> bool {
        let session = &self.requests.session;
        let is_paused = self.cheap_answers.pause_until(now).is_some();
        session.is_open() && !session.is_congested() && !is_paused
    }

    /// Performs everything that is due. Returns the reason once the session has ended.
    pub(super) fn on_time(&mut self, now: Instant) -> Option<SessionEnd> {
        let late = self.requests.session.on_time(now);
        if let Some(receiving) = &mut self.receiving
            && !late.is_empty()
        {
            receiving.unanswered(late);
            self.unbind("the client does not answer deliver_sm", now);
        }
        if let Some(receiving) = &mut self.receiving {
            receiving.commit(&mut self.requests.work);
            if !self.is_unbinding {
                receiving.claim(&self.requests.session, &mut self.requests.work, now);
            }
        }
        self.requests.session.ended(now)
    }

    /// Records that octets were written.
    pub(super) fn on_written(&mut self, octets: usize) {
        self.requests.session.advance(octets);
        if self.requests.session.unsent().is_empty() {
            self.unwritten.clear();
        }
    }

    /// Claims receipts at the next turn.
    pub(super) fn on_hint(&mut self, now: Instant) {
        if let Some(receiving) = &mut self.receiving {
            receiving.claim_at(now);
        }
    }

    /// Returns `true` if a hint would lead to a claim.
    pub(super) fn waits_for_receipts(&self, now: Instant) -> bool {
        let waits = |receiving: &Receiving| receiving.waits(now);
        !self.is_unbinding && self.receiving.as_ref().is_some_and(waits)
    }

    /// Returns the time of the next call of [`Self::on_time`].
    pub(super) fn deadline(&self, now: Instant) -> Option<Instant> {
        let receiving = self.receiving.as_ref().filter(|_| !self.is_unbinding);
        let claim = receiving.and_then(|receiving| receiving.next_claim(&self.requests.session));
        let session = self.requests.session.deadline();
        let read = self.cheap_answers.pause_until(now);
        session.into_iter().chain(claim).chain(read).min()
    }

    /// Handles all whole PDUs that were read.
    pub(super) fn on_input(&mut self, input: &mut FrameBuffer, now: Instant) {
        let mut without_work = 0;
        while self.requests.session.is_open() {
            match input.next_whole_frame() {
                Ok(Some(frame)) => match self.requests.session.on_frame(&frame, now) {
                    Some(event) => self.on_event(event, now),
                    None => without_work += 1,
                },
                Ok(None) => break,
                Err(_) => self.requests.session.on_broken_length(now),
            }
        }
        if without_work > 0 {
            self.requests.count_throttled();
            self.cheap_answers.count(without_work, now);
        }
    }

    /// Answers a request whose work is done.
    pub(super) fn on_done(&mut self, done: Done, now: Instant) {
        match done {
            Done::Bind(request, kind, version, Ok(bind)) => {
                self.on_bound(request, kind, version, bind, now);
            }
            Done::Bind(request, _, _, Err(status)) => {
                self.requests.session.refuse_bind(request, status, now);
            }
            Done::Accepted(request, id, open) => {
                self.requests.count(CommandStatus::ROK);
                // The id always fits.
                let _ = self.requests.session.accept(request, id.as_bytes());
                self.unwritten.push(open);
            }
            Done::AcceptedList(request, accepted, open) => {
                self.requests.count(CommandStatus::ROK);
                self.requests.accept_list(request, &accepted);
                self.unwritten.push(open);
            }
            Done::Refused(request, refused) => self.requests.refuse(request, &refused),
            Done::Cancelled(request) => {
                self.requests.count(CommandStatus::ROK);
                self.requests.session.respond(request, CommandStatus::ROK);
            }
            Done::Queried(request, id, found) => self.requests.answer_query(request, &id, &found),
            Done::Claimed(limit, claimed) => {
                if let Some(receiving) = &mut self.receiving {
                    receiving.on_claimed(limit, claimed, &mut self.requests.session, now);
                }
            }
            Done::Finished(receipts) => {
                if let Some(receiving) = &mut self.receiving {
                    receiving.on_committed(receipts);
                }
            }
        }
    }

    /// Unbinds. Returns `false` if the client is not bound, so that the connection can end at once.
    pub(super) fn unbind(&mut self, reason: &'static str, now: Instant) -> bool {
        self.is_unbinding = true;
        self.reason = Some(reason);
        self.requests.session.unbind(now);
        self.requests.bind.is_some()
    }

    /// Puts back the receipts without an answer, and logs the end of a bound session.
    pub(super) fn leave(&mut self, end: &str) {
        let unanswered = self.requests.session.take_unanswered();
        let receipts = unanswered.len();
        if let Some(receiving) = self.receiving.take() {
            receiving.leave(unanswered, self.is_unbinding);
        }
        if let Some(bind) = &self.requests.bind {
            tracing::info!(
                smpp.system_id = bind.system_id(),
                client.address = %self.client,
                reason = self.reason.unwrap_or(end),
                receipts.unanswered = receipts,
                "SMPP user: unbound"
            );
        }
    }

    fn on_event(&mut self, event: ServerEvent<'_, Box<Callback>>, now: Instant) {
        match event {
            ServerEvent::Bind(request, kind, fields) => self.on_bind(request, kind, &fields),
            ServerEvent::Submit(request, message) | ServerEvent::Data(request, message) => {
                self.requests.on_submit(request, &message);
            }
            ServerEvent::Query(request, fields) => self.requests.on_query(request, fields),
            ServerEvent::Cancel(request, fields) => self.requests.on_cancel(request, fields),
            ServerEvent::SubmitMulti(request, message, to) => {
                self.requests.on_submit_multi(request, &message, to);
            }
            ServerEvent::Answered(receipt, status) => self.on_answered(*receipt, status, now),
        }
    }

    fn on_answered(&mut self, receipt: Callback, status: CommandStatus, now: Instant) {
        if let Some(measures) = &self.requests.measures {
            measures.delivered(status);
        }
        if let Some(receiving) = &mut self.receiving {
            receiving.answered(receipt, status, now);
        }
    }

    fn on_bind(&mut self, request: Request, kind: BindKind, fields: &BindFields<'_>) {
        let (version, fields) = (fields.interface_version, fields.to_owned());
        // The check goes on when the client leaves, so that wrong credentials are counted.
        let checked = tokio::spawn(binds::check(self.entrance.clone(), fields, self.client));
        self.requests.work.spawn(async move {
            let bound = checked.await.unwrap_or(Err(CommandStatus::RSYSERR));
            if bound.is_err() {
                sleep(HOLD_BACK).await;
            }
            Done::Bind(request, kind, version, bound)
        });
    }

    fn on_bound(
        &mut self,
        request: Request,
        kind: BindKind,
        version: u8,
        bind: SmppBind,
        now: Instant,
    ) {
        let Some(user) = bind.user() else {
            let status = CommandStatus::RINVPASWD;
            return self.requests.session.refuse_bind(request, status, now);
        };
        let fields = BindFields {
            interface_version: version,
            ..BindFields::default()
        };
        self.requests.session.options.max_pending =
            usize::try_from(user.limits.window).unwrap_or(1);
        // The system id of this side always fits.
        let _ = self.requests.session.grant(request, kind, &fields);
        tracing::info!(
            smpp.system_id = user.system_id,
            smpp.bind = kind.command().name(),
            client.address = %self.client,
            "SMPP user: bound"
        );
        self.requests.takes_vendor_statuses = user.dialect.vendor_statuses;
        let window = self.requests.session.options.max_pending;
        let receiver = bind.receiver().filter(|_| kind.receives());
        self.receiving = receiver.map(|receiver| Receiving::new(receiver, window, now));
        self.requests.measures = Some(Measures::new(user.system_id.clone()));
        self.requests.bind = Some(Arc::new(bind));
    }
}
