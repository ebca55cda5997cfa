//! One client: its session, its bound user, and the work for its requests.

use super::binds;
use super::done::Done;
use super::measures::Measures;
use super::receiving::Receiving;
use super::refusals::{self, Refused};
use super::submit;
use crate::format::smpp_time;
use domain::DeliveryStatus;
use engine::{OpenSubmit, RecipientState, SmppBind, SmppEntrance, SubmitRefusal};
use smpp::codec::{BindFields, CancelFields, Pdu, QueryFields, QueryRespFields, Sm};
use smpp::server::{Request, ServerEvent, ServerOptions, ServerSession, SessionEnd};
use smpp::{BindKind, CommandStatus, FrameBuffer};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use store::Callback;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// The time that the answer to a refused bind, or to a client that is too fast, is held back.
const HOLD_BACK: Duration = Duration::from_secs(1);

/// One client.
pub(super) struct Conversation {
    pub(super) session: ServerSession<Box<Callback>>,
    /// The work for requests without an answer. The window of the user bounds it.
    pub(super) work: JoinSet<Done>,
    pub(super) bind: Option<Arc<SmppBind>>,
    /// `true` once this side has decided to unbind.
    pub(super) is_unbinding: bool,
    /// The receipts for this client, if it receives any.
    pub(super) receiving: Option<Receiving>,
    /// The accepted submits whose responses are not written yet.
    unwritten: Vec<OpenSubmit>,
    entrance: SmppEntrance,
    client: IpAddr,
    measures: Option<Measures>,
    /// The reason for which this side unbinds.
    reason: Option<&'static str>,
}

impl Conversation {
    pub(super) fn new(entrance: SmppEntrance, client: IpAddr, options: ServerOptions) -> Self {
        Self {
            session: ServerSession::new(options, Instant::now()),
            work: JoinSet::new(),
            bind: None,
            is_unbinding: false,
            receiving: None,
            unwritten: Vec::new(),
            entrance,
            client: client.to_canonical(),
            measures: None,
            reason: None,
        }
    }

    /// Returns `true` if the connection should be read.
    pub(super) fn reads(&self) -> bool {
        self.session.is_open() && !self.session.is_congested()
    }

    /// Performs everything that is due. Returns the reason once the session has ended.
    pub(super) fn on_time(&mut self, now: Instant) -> Option<SessionEnd> {
        let late = self.session.on_time(now);
        if let Some(receiving) = &mut self.receiving
            && !late.is_empty()
        {
            receiving.unanswered(late);
            self.unbind("the client does not answer deliver_sm", now);
        }
        if let Some(receiving) = &mut self.receiving {
            receiving.commit(&mut self.work);
            if !self.is_unbinding {
                receiving.claim(&self.session, &mut self.work, now);
            }
        }
        self.session.ended(now)
    }

    /// Records that octets were written.
    pub(super) fn on_written(&mut self, octets: usize) {
        self.session.advance(octets);
        if self.session.unsent().is_empty() {
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
    pub(super) fn deadline(&self) -> Option<Instant> {
        let receiving = self.receiving.as_ref().filter(|_| !self.is_unbinding);
        let claim = receiving.and_then(|receiving| receiving.next_claim(&self.session));
        let session = self.session.deadline();
        session.into_iter().chain(claim).min()
    }

    /// Handles all whole PDUs that were read.
    pub(super) fn on_input(&mut self, input: &mut FrameBuffer, now: Instant) {
        while self.session.is_open() {
            match input.next_whole_frame() {
                Ok(Some(frame)) => match self.session.on_frame(&frame, now) {
                    Some(event) => self.on_event(event, now),
                    None => self.count_throttled(),
                },
                Ok(None) => return,
                Err(_) => self.session.on_broken_length(now),
            }
        }
    }

    /// Answers a request whose work is done.
    pub(super) fn on_done(&mut self, done: Done, now: Instant) {
        match done {
            Done::Bind(request, kind, version, Ok(bind)) => {
                self.on_bound(request, kind, version, bind, now);
            }
            Done::Bind(request, _, _, Err(status)) => {
                self.session.refuse_bind(request, status, now);
            }
            Done::Accepted(request, id, open) => {
                self.count(CommandStatus::ROK);
                // The id always fits.
                let _ = self.session.accept(request, id.as_bytes());
                self.unwritten.push(open);
            }
            Done::Refused(request, refused) => self.refuse(request, &refused),
            Done::Cancelled(request) => {
                self.count(CommandStatus::ROK);
                self.session.respond(request, CommandStatus::ROK);
            }
            Done::Queried(request, id, found) => self.answer_query(request, &id, &found),
            Done::Claimed(limit, claimed) => {
                if let Some(receiving) = &mut self.receiving {
                    receiving.on_claimed(limit, claimed, &mut self.session, now);
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
        self.session.unbind(now);
        self.bind.is_some()
    }

    /// Puts back the receipts without an answer, and logs the end of a bound session.
    pub(super) fn leave(&mut self, end: &str) {
        let unanswered = self.session.take_unanswered();
        let receipts = unanswered.len();
        if let Some(receiving) = self.receiving.take() {
            receiving.leave(unanswered, self.is_unbinding);
        }
        if let Some(bind) = &self.bind {
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
                self.on_submit(request, &message);
            }
            ServerEvent::Query(request, fields) => self.on_query(request, fields),
            ServerEvent::Cancel(request, fields) => self.on_cancel(request, fields),
            ServerEvent::SubmitMulti(request, ..) => {
                self.session.nack(request, CommandStatus::RINVCMDID);
            }
            ServerEvent::Answered(receipt, status) => self.on_answered(*receipt, status, now),
        }
    }

    fn on_answered(&mut self, receipt: Callback, status: CommandStatus, now: Instant) {
        if let Some(measures) = &self.measures {
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
        self.work.spawn(async move {
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
            return self.session.refuse_bind(request, status, now);
        };
        let fields = BindFields {
            interface_version: version,
            ..BindFields::default()
        };
        self.session.options.max_pending = usize::try_from(user.limits.window).unwrap_or(1);
        // The system id of this side always fits.
        let _ = self.session.grant(request, kind, &fields);
        tracing::info!(
            smpp.system_id = user.system_id,
            smpp.bind = kind.command().name(),
            client.address = %self.client,
            "SMPP user: bound"
        );
        let window = self.session.options.max_pending;
        let receiver = bind.receiver().filter(|_| kind.receives());
        self.receiving = receiver.map(|receiver| Receiving::new(receiver, window, now));
        self.measures = Some(Measures::new(user.system_id));
        self.bind = Some(Arc::new(bind));
    }

    fn on_submit(&mut self, request: Request, message: &Sm<'_>) {
        let Some((bind, user)) = self.user() else {
            return self.session.respond(request, CommandStatus::RINVBNDSTS);
        };
        let submit = match submit::read(message, &user, bind.now_ms()) {
            Ok(submit) => submit,
            Err(refused) => return self.refuse(request, &refused),
        };
        let open = bind.open_submit();
        self.begin(request, Refused::of, async move {
            let accepted = bind.submit(submit).await;
            accepted.map(|id| Done::Accepted(request, id.to_string(), open))
        });
    }

    fn on_query(&mut self, request: Request, fields: QueryFields<'_>) {
        if let Some((bind, id)) = self.named(request, fields.message_id) {
            self.begin(request, Refused::of_query, async move {
                let found = bind.query(&id).await;
                found.map(|found| Done::Queried(request, id, found))
            });
        }
    }

    fn on_cancel(&mut self, request: Request, fields: CancelFields<'_>) {
        if let Some((bind, id)) = self.named(request, fields.message_id) {
            self.begin(request, Refused::of_cancel, async move {
                let cancelled = bind.cancel(&id).await;
                cancelled.map(|recipients| match recipients {
                    0 => Done::Refused(request, Refused::too_late()),
                    _ => Done::Cancelled(request),
                })
            });
        }
    }

    /// Returns the bind, and the message that a request names. Otherwise the request is answered.
    fn named(&mut self, request: Request, message_id: &[u8]) -> Option<(Arc<SmppBind>, String)> {
        let id = std::str::from_utf8(message_id).map(str::to_owned);
        let status = match (self.user(), id) {
            (Some((bind, _)), Ok(id)) => return Some((bind, id)),
            (Some(_), Err(_)) => CommandStatus::RINVMSGID,
            (None, _) => CommandStatus::RINVBNDSTS,
        };
        self.session.respond(request, status);
        None
    }

    /// Begins the work for a request. The answer to a client that is too fast is held back.
    fn begin(
        &mut self,
        request: Request,
        refused: fn(&SubmitRefusal) -> Refused,
        work: impl Future<Output = Result<Done, SubmitRefusal>> + Send + 'static,
    ) {
        self.work.spawn(async move {
            match work.await {
                Ok(done) => done,
                Err(refusal) => {
                    if matches!(refusal, SubmitRefusal::TooFast) {
                        sleep(HOLD_BACK).await;
                    }
                    Done::Refused(request, refused(&refusal))
                }
            }
        });
    }

    fn answer_query(&mut self, request: Request, id: &str, found: &RecipientState) {
        self.count(CommandStatus::ROK);
        let status = DeliveryStatus::from_name(found.delivery_status);
        let final_date = status.map_or_else(String::new, |_| smpp_time(found.updated_at_ms));
        let fields = QueryRespFields {
            message_id: id.as_bytes(),
            final_date: final_date.as_bytes(),
            message_state: refusals::message_state(status),
            error_code: 0,
        };
        // The id and the date always fit.
        let _ = self.session.answer(request, &Pdu::QueryResp(fields));
    }

    /// Returns the bound user. One that may not be bound any more is being unbound.
    fn user(&self) -> Option<(Arc<SmppBind>, domain::smpp_user::SmppUser)> {
        let bind = self.bind.as_ref()?;
        Some((Arc::clone(bind), bind.user()?))
    }

    /// Answers a request with its refusal.
    fn refuse(&mut self, request: Request, refused: &Refused) {
        self.log_refusal(refused);
        self.count(refused.status);
        self.session.respond(request, refused.status);
    }

    fn count(&mut self, status: CommandStatus) {
        if let Some(measures) = &mut self.measures {
            measures.answered(status);
        }
    }

    /// Counts the requests that the session itself rejected for the window.
    fn count_throttled(&mut self) {
        let throttled = self.session.counters().throttled;
        if let Some(measures) = &mut self.measures {
            measures.throttled(throttled);
        }
    }

    fn log_refusal(&self, refused: &Refused) {
        let Some(bind) = &self.bind else { return };
        tracing::info!(
            smpp.system_id = bind.system_id(),
            smpp.status = refused.status.name(),
            code = refused.code,
            reason = &*refused.reason,
            "SMPP request: refused"
        );
    }
}
