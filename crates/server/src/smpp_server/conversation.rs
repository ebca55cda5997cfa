//! One client: its session, its bound user, and the work for its requests.

use super::measures::Measures;
use super::refusals::{self, Refused};
use super::submit;
use crate::format::smpp_time;
use domain::DeliveryStatus;
use engine::{BindRefusal, RecipientState, SmppBind, SmppEntrance, SubmitRefusal};
use smpp::codec::{BindFields, CancelFields, Pdu, QueryFields, QueryRespFields, Sm};
use smpp::server::{Request, ServerEvent, ServerOptions, ServerSession, SessionEnd};
use smpp::{Bind, BindKind, CommandStatus, FrameBuffer};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// The time that the answer to a refused bind, or to a client that is too fast, is held back.
const HOLD_BACK: Duration = Duration::from_secs(1);

/// The result of the work for a request.
pub(super) enum Done {
    /// A bind was decided on. The number is the version of the client.
    Bind(Request, BindKind, u8, Result<SmppBind, CommandStatus>),
    /// A message was accepted.
    Accepted(Request, String),
    /// A request was refused.
    Refused(Request, Refused),
    /// A message was cancelled.
    Cancelled(Request),
    /// A message was queried by this id.
    Queried(Request, String, RecipientState),
}

/// One client.
pub(super) struct Conversation {
    pub(super) session: ServerSession<()>,
    /// The work for requests without an answer. The window of the user bounds it.
    pub(super) work: JoinSet<Done>,
    pub(super) bind: Option<Arc<SmppBind>>,
    /// `true` once this side has decided to unbind.
    pub(super) is_unbinding: bool,
    entrance: SmppEntrance,
    client: IpAddr,
    measures: Option<Measures>,
    /// The reason for which this side unbinds.
    reason: Option<&'static str>,
}

impl Conversation {
    pub(super) fn new(entrance: SmppEntrance, client: IpAddr) -> Self {
        Self {
            session: ServerSession::new(ServerOptions::default(), Instant::now()),
            work: JoinSet::new(),
            bind: None,
            is_unbinding: false,
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
        self.session.on_time(now);
        self.session.ended(now)
    }

    /// Returns the time of the next call of [`Self::on_time`].
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.session.deadline()
    }

    /// Handles all whole PDUs that were read.
    pub(super) fn on_input(&mut self, input: &mut FrameBuffer, now: Instant) {
        while self.session.is_open() {
            match input.next_whole_frame() {
                Ok(Some(frame)) => match self.session.on_frame(&frame, now) {
                    Some(event) => self.on_event(event),
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
            Done::Accepted(request, id) => {
                self.count(CommandStatus::ROK);
                // The id always fits.
                let _ = self.session.accept(request, id.as_bytes());
            }
            Done::Refused(request, refused) => self.refuse(request, &refused),
            Done::Cancelled(request) => {
                self.count(CommandStatus::ROK);
                self.session.respond(request, CommandStatus::ROK);
            }
            Done::Queried(request, id, found) => self.answer_query(request, &id, &found),
        }
    }

    /// Unbinds. Returns `false` if the client is not bound, so that the connection can end at once.
    pub(super) fn unbind(&mut self, reason: &'static str, now: Instant) -> bool {
        self.is_unbinding = true;
        self.reason = Some(reason);
        self.session.unbind(now);
        self.bind.is_some()
    }

    /// Logs the end of a bound session.
    pub(super) fn log_end(&self, end: &str) {
        if let Some(bind) = &self.bind {
            tracing::info!(
                smpp.system_id = bind.system_id(),
                client.address = %self.client,
                reason = self.reason.unwrap_or(end),
                "SMPP user: unbound"
            );
        }
    }

    fn on_event(&mut self, event: ServerEvent<'_, ()>) {
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
            ServerEvent::Answered((), _) => {}
        }
    }

    fn on_bind(&mut self, request: Request, kind: BindKind, fields: &BindFields<'_>) {
        let (version, fields) = (fields.interface_version, fields.to_owned());
        // The check goes on when the client leaves, so that wrong credentials are counted.
        let checked = tokio::spawn(check_bind(self.entrance.clone(), fields, self.client));
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
        self.begin(request, Refused::of, async move {
            let accepted = bind.submit(submit).await;
            accepted.map(|id| Done::Accepted(request, id.to_string()))
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

/// Checks the credentials of a bind, and logs a refusal.
async fn check_bind(
    entrance: SmppEntrance,
    fields: Bind,
    client: IpAddr,
) -> Result<SmppBind, CommandStatus> {
    let (id, secret) = (&*fields.system_id, &*fields.password);
    entrance.bind(id, secret, client).await.map_err(|refusal| {
        log_bind_refusal(id, client, &refusal);
        refusals::status_of_bind(&refusal)
    })
}

/// Logs a refused bind. A system id of no user may be anything, so it is not logged.
fn log_bind_refusal(system_id: &str, client: IpAddr, refusal: &BindRefusal) {
    let is_known = matches!(
        refusal,
        BindRefusal::Password | BindRefusal::Address | BindRefusal::TooMany | BindRefusal::Account
    );
    tracing::warn!(
        smpp.system_id = is_known.then_some(system_id),
        client.address = %client,
        reason = %refusal,
        "SMPP bind: refused"
    );
    super::measures::bind_refused(refusal);
}
