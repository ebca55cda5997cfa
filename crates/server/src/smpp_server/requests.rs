//! The requests of a bound client: submits, queries and cancels.

use super::destinations::List;
use super::done::{AcceptedList, Done};
use super::measures::Measures;
use super::refusals::{self, Refused};
use super::submit;
use crate::format::smpp_time;
use domain::DeliveryStatus;
use domain::smpp_user::SmppUser;
use engine::{RecipientState, SmppBind, SubmitRefusal};
use smpp::CommandStatus;
use smpp::codec::{
    CancelFields, Destinations, MAX_DESTINATIONS, Pdu, QueryFields, QueryRespFields, Sm,
    SubmitMultiRespFields,
};
use smpp::server::{Request, ServerSession};
use std::sync::Arc;
use std::time::Duration;
use store::Callback;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The time that the answer to a refused bind, or to a client that is too fast, is held back.
pub(super) const HOLD_BACK: Duration = Duration::from_secs(1);

/// The requests of one client.
pub(super) struct Requests {
    pub(super) session: ServerSession<Box<Callback>>,
    /// The work for requests without an answer. The window of the user bounds it.
    pub(super) work: JoinSet<Done>,
    pub(super) bind: Option<Arc<SmppBind>>,
    pub(super) measures: Option<Measures>,
    /// `true` if the client understands vendor statuses.
    pub(super) takes_vendor_statuses: bool,
}

impl Requests {
    pub(super) fn new(session: ServerSession<Box<Callback>>) -> Self {
        Self {
            session,
            work: JoinSet::new(),
            bind: None,
            measures: None,
            takes_vendor_statuses: false,
        }
    }

    pub(super) fn on_submit(&mut self, request: Request, message: &Sm<'_>) {
        let Some((bind, user)) = self.user() else {
            return self.session.respond(request, CommandStatus::RINVBNDSTS);
        };
        let submit = match submit::read(message, &user, bind.now_ms()) {
            Ok(submit) => submit,
            Err(refused) => return self.refuse_submit(request, bind, refused),
        };
        let open = bind.open_submit();
        self.begin(request, Refused::of, async move {
            let accepted = bind.submit(submit).await;
            accepted.map(|id| Done::Accepted(request, id.to_string(), open))
        });
    }

    /// Submits one message to several numbers. The answer names those that are left out.
    pub(super) fn on_submit_multi(
        &mut self,
        request: Request,
        message: &Sm<'_>,
        to: Destinations<'_>,
    ) {
        let Some((bind, user)) = self.user() else {
            return self.session.respond(request, CommandStatus::RINVBNDSTS);
        };
        if !(1..=MAX_DESTINATIONS).contains(&to.count()) {
            let status = CommandStatus::RINVNUMDESTS;
            let refused = submit::refused(status, "a submit_multi has 1 to 254 destinations");
            return self.refuse_submit(request, bind, refused);
        }
        let list = List::read(to);
        let submit = match submit::read_list(message, list.numbers(), &user, bind.now_ms()) {
            Ok(submit) => submit,
            Err(refused) => return self.refuse_submit(request, bind, refused),
        };
        let open = bind.open_submit();
        self.begin(request, Refused::of, async move {
            let id = bind.submit(submit).await?;
            // The message is accepted, whether or not its recipients can be read.
            let recipients = bind.recipients(id).await.ok();
            let accepted = AcceptedList {
                id: id.to_string(),
                list,
                recipients,
                takes_vendor_statuses: user.dialect.vendor_statuses,
            };
            Ok(Done::AcceptedList(request, accepted, open))
        });
    }

    /// Answers an accepted `submit_multi`.
    pub(super) fn accept_list(&mut self, request: Request, accepted: &AcceptedList) {
        let recipients = accepted.recipients.as_deref();
        let failed = accepted
            .list
            .failed(recipients, accepted.takes_vendor_statuses);
        let fields = SubmitMultiRespFields {
            message_id: accepted.id.as_bytes(),
            failed: &failed,
        };
        // The id and the addresses always fit.
        let _ = self.session.answer(request, &Pdu::SubmitMultiResp(fields));
    }

    pub(super) fn on_query(&mut self, request: Request, fields: QueryFields<'_>) {
        if let Some((bind, id)) = self.named(request, fields.message_id) {
            self.begin(request, Refused::of_query, async move {
                let found = bind.query(&id).await;
                found.map(|found| Done::Queried(request, id, found))
            });
        }
    }

    pub(super) fn on_cancel(&mut self, request: Request, fields: CancelFields<'_>) {
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

    pub(super) fn answer_query(&mut self, request: Request, id: &str, found: &RecipientState) {
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
    fn user(&self) -> Option<(Arc<SmppBind>, Arc<SmppUser>)> {
        let bind = self.bind.as_ref()?;
        Some((Arc::clone(bind), bind.user()?))
    }

    /// Answers a submit that cannot be read. It counts for the pace of the user, which bounds the
    /// lines in the log.
    fn refuse_submit(&mut self, request: Request, bind: Arc<SmppBind>, refused: Refused) {
        self.begin(request, Refused::of, async move {
            bind.count_submit()?;
            Ok(Done::Refused(request, refused))
        });
    }

    /// Answers a request with its refusal.
    pub(super) fn refuse(&mut self, request: Request, refused: &Refused) {
        let vendor = refused.vendor.filter(|_| self.takes_vendor_statuses);
        let status = vendor.unwrap_or(refused.status);
        self.log_refusal(refused, status);
        self.count(status);
        self.session.respond(request, status);
    }

    pub(super) fn count(&mut self, status: CommandStatus) {
        if let Some(measures) = &mut self.measures {
            measures.answered(status);
        }
    }

    /// Counts the requests that the session itself rejected for the window.
    pub(super) fn count_throttled(&mut self) {
        let throttled = self.session.counters().throttled;
        if let Some(measures) = &mut self.measures {
            measures.throttled(throttled);
        }
    }

    fn log_refusal(&self, refused: &Refused, status: CommandStatus) {
        let Some(bind) = &self.bind else { return };
        tracing::info!(
            smpp.system_id = bind.system_id(),
            smpp.status = status.name(),
            code = refused.code,
            reason = &*refused.reason,
            "SMPP request: refused"
        );
    }
}
