//! The entrance of customers who bind by SMPP: binds, submits, queries, cancels and receipts.

mod receiver;

pub use receiver::{HeldReceipts, SmppReceiver};

use super::admission::Admission;
use super::changes;
use super::customer_queries::PageFields;
use super::keyed_change::Changed;
use super::request::SendRequest;
use super::stages::Stages;
use crate::accept::Answered;
use crate::admit::bound_users::{Bound, Current, OpenSubmit};
use crate::error::Error;
use crate::queries::recipients::RecipientState;
use domain::rate::Rate;
use domain::search::FilterFields;
use domain::smpp_user::SmppUser;
use domain::{MessageId, Recipient, Refusal, SubmitFields};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::sleep;

/// The time that right credentials are held back which come from an address that has guessed too often.
const HOLD_BACK: Duration = Duration::from_secs(1);

/// The entrance of customers who bind by SMPP.
#[derive(Clone)]
pub struct SmppEntrance {
    stages: Arc<Stages>,
}

/// A bound connection of an SMPP user. It counts as one until it is dropped.
pub struct SmppBind {
    stages: Arc<Stages>,
    bound: Arc<Bound>,
}

/// The reason why a bind is refused.
#[derive(Debug, thiserror::Error)]
pub enum BindRefusal {
    /// No valid user has the system id.
    #[error("no SMPP user has this system_id, or it is revoked")]
    Unknown,
    /// The password is wrong.
    #[error("the password is wrong")]
    Password,
    /// The user may not bind from this address.
    #[error("the user may not bind from this address")]
    Address,
    /// The address has tried too many wrong credentials.
    #[error("wrong credentials, from an address that has tried too many in this minute")]
    Guessing,
    /// The user has its maximum of connections.
    #[error("the user has its maximum of connections")]
    TooMany,
    /// The account may not be used.
    #[error("the account may not be used")]
    Account,
    /// Too many passwords are hashed at this moment, or the service stops.
    #[error("the service is busy or stops")]
    Busy,
    /// The database failed.
    #[error("the database failed")]
    Failed(#[source] Error),
}

impl BindRefusal {
    /// Returns `true` if the credentials are wrong.
    const fn is_guess(&self) -> bool {
        matches!(self, Self::Unknown | Self::Password | Self::Address)
    }
}

/// The reason why a submit is refused.
#[derive(Debug)]
pub enum SubmitRefusal {
    /// The user is too fast.
    TooFast,
    /// The user is revoked, or its account may not be used. It will be unbound.
    Ended,
    /// The send is refused, or the database failed.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for SubmitRefusal {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl SmppEntrance {
    pub(super) fn new(stages: Arc<Stages>) -> Self {
        Self { stages }
    }

    /// Binds a connection of a user. Wrong credentials are counted by address. An address with too many
    /// of them may be that of many customers, so right credentials are still accepted, but later.
    pub async fn bind(
        &self,
        system_id: &str,
        password: &str,
        client: IpAddr,
    ) -> Result<SmppBind, BindRefusal> {
        let stages = &self.stages;
        if !stages.is_open.load(Ordering::Relaxed) {
            return Err(BindRefusal::Busy);
        }
        let limit = stages.context.live().limits.unknown_tokens_per_minute;
        let now_ms = stages.context.clock.now_ms();
        let is_guessing = stages.bound.is_guessing(client, limit, now_ms);
        let authenticated = if is_guessing {
            self.authenticate_slowly(system_id, password).await
        } else {
            self.authenticate(system_id, password).await
        };
        let user = match authenticated {
            Ok(user) if user.may_bind_from(client) => user,
            Err(refusal) if !refusal.is_guess() => return Err(refusal),
            refused => {
                stages.bound.guessed(client, limit, now_ms);
                return Err(match refused.err() {
                    _ if is_guessing => BindRefusal::Guessing,
                    None => BindRefusal::Address,
                    Some(refusal) => refusal,
                });
            }
        };
        let steady_ms = stages.context.clock.steady_ms();
        let bound = stages.bound.enter(&user, steady_ms);
        let bound = bound.ok_or(BindRefusal::TooMany)?;
        let bind = SmppBind {
            stages: Arc::clone(stages),
            bound,
        };
        // The user is read once it counts as bound, so no later change is missed.
        let refreshed = stages.bound.refresh(&bind.bound).await;
        refreshed.map_err(BindRefusal::Failed)?;
        match bind.bound.current() {
            Some(_) => Ok(bind),
            None => Err(BindRefusal::Account),
        }
    }

    /// Returns the user with these credentials, which come from an address that has guessed too often.
    async fn authenticate_slowly(
        &self,
        system_id: &str,
        password: &str,
    ) -> Result<SmppUser, BindRefusal> {
        let permit = self.stages.bound.suspect().await;
        let permit = permit.ok_or(BindRefusal::Guessing)?;
        let user = self.authenticate(system_id, password).await?;
        drop(permit);
        sleep(HOLD_BACK).await;
        Ok(user)
    }

    /// Returns the user with these credentials. An unknown one takes as long as a wrong password.
    async fn authenticate(&self, system_id: &str, password: &str) -> Result<SmppUser, BindRefusal> {
        let stages = &self.stages;
        let found = stages.bound.find(system_id).await;
        let found = found.map_err(BindRefusal::Failed)?;
        if let Some((user, hash)) = &found
            && stages.bound.was_right(system_id, password, hash)
        {
            return Ok(user.clone());
        }
        let hash = found.as_ref().map(|(_, hash)| hash.clone());
        let verified = stages.hashing.verify(password.to_owned(), hash).await;
        match (found, verified) {
            (_, Err(_)) => Err(BindRefusal::Busy),
            (None, Ok(_)) => Err(BindRefusal::Unknown),
            (Some(_), Ok(false)) => Err(BindRefusal::Password),
            (Some((user, hash)), Ok(true)) => {
                stages.bound.note_right(system_id, password, hash);
                Ok(user)
            }
        }
    }
}

impl SmppBind {
    /// Returns the system id of the user.
    pub fn system_id(&self) -> &str {
        self.bound.system_id()
    }

    /// Returns the user, or `None` if it may not be bound any more.
    pub fn user(&self) -> Option<Arc<SmppUser>> {
        let current = self.bound.current()?;
        Some(Arc::clone(&current.user))
    }

    /// Waits until the user may not be bound any more.
    pub async fn ended(&self) {
        self.bound.ended().await;
    }

    /// Returns the receipts of the user, for this connection.
    pub fn receiver(&self) -> Option<SmppReceiver> {
        SmppReceiver::new(&self.stages, &self.bound)
    }

    /// Notes a submit until the returned value is dropped. No receipt of it is claimed until then.
    pub fn open_submit(&self) -> OpenSubmit {
        self.bound.open_submit(self.now_ms())
    }

    /// Accepts a text as a send of the account, outside of the duplicate window and the rate limit
    /// of the API. A returned message is durable and charged.
    pub async fn submit(&self, submit: SubmitFields) -> Result<MessageId, SubmitRefusal> {
        let numbers = if submit.takes_list {
            let commas = submit.to.bytes().filter(|byte| *byte == b',').count();
            u32::try_from(commas).unwrap_or(u32::MAX).saturating_add(1)
        } else {
            1
        };
        let count = |bound: &Bound, limit, now_ms| bound.admit_submit(numbers, limit, now_ms);
        let current = self.admitted(count)?;
        let environment = current.environment();
        current.caller.customer.check_send(environment)?;
        self.stages.queue.check_capacity()?;
        let request = SendRequest::Submit(submit, self.stages.context.random.bytes());
        match self.admission(&current).send(request, None).await? {
            Answered::First(sent) => Ok(sent.message_id),
            // A send without an idempotency key has no earlier answer.
            Answered::Replay(_) => Err(Refusal::UnknownMessage.into()),
        }
    }

    /// Counts a submit that cannot be read.
    pub fn count_submit(&self) -> Result<(), SubmitRefusal> {
        let count = |bound: &Bound, limit, now_ms| bound.admit_submit(1, limit, now_ms);
        self.admitted(count).map(|_| ())
    }

    /// Returns the recipient of a message of the account with one recipient.
    pub async fn query(&self, message_id: &str) -> Result<RecipientState, SubmitRefusal> {
        let current = self.admitted(Bound::admit_other)?;
        let page = PageFields {
            limit: Some("2"),
            cursor: None,
        };
        let queries = self.admission(&current).queries();
        let fields = FilterFields::default();
        let found = queries.recipients(message_id, &fields, page).await?;
        match <[RecipientState; 1]>::try_from(found.items) {
            Ok([one]) => Ok(one),
            Err(_) => Err(Refusal::UnknownMessage.into()),
        }
    }

    /// Returns the recipients of a message that this user has submitted to a list.
    pub async fn recipients(&self, message: MessageId) -> Result<Vec<Recipient>, SubmitRefusal> {
        let current = self.bound.current().ok_or(SubmitRefusal::Ended)?;
        let page = PageFields {
            limit: Some("1000"),
            cursor: None,
        };
        let queries = self.admission(&current).queries();
        let (id, fields) = (message.to_string(), FilterFields::default());
        let found = queries.recipients(&id, &fields, page).await?;
        Ok(found.items.iter().map(|one| one.recipient).collect())
    }

    /// Cancels a message of the account. Returns the number of recipients that ended by it.
    pub async fn cancel(&self, message_id: &str) -> Result<i64, SubmitRefusal> {
        let current = self.admitted(Bound::admit_other)?;
        match changes::cancel(&self.admission(&current), message_id, None).await? {
            Changed::First(cancelled) => Ok(cancelled.cancelled),
            // A change without an idempotency key has no earlier answer.
            Changed::Replay(_) => Err(Refusal::UnknownMessage.into()),
        }
    }

    /// Returns the time by the clock of the service, Unix milliseconds.
    pub fn now_ms(&self) -> i64 {
        self.stages.context.clock.now_ms()
    }

    /// Returns the user with its account, and counts a request by `count`.
    fn admitted(
        &self,
        count: impl Fn(&Bound, u32, i64) -> bool,
    ) -> Result<Arc<Current>, SubmitRefusal> {
        let current = self.bound.current().ok_or(SubmitRefusal::Ended)?;
        let steady_ms = self.stages.context.clock.steady_ms();
        if count(&self.bound, current.user.limits.per_second, steady_ms) {
            Ok(current)
        } else {
            Err(SubmitRefusal::TooFast)
        }
    }

    fn admission(&self, current: &Current) -> Admission {
        let limit = current.user.limits.per_second;
        let rate = Rate {
            limit,
            remaining: limit,
            refused: None,
        };
        let admitted = (Arc::clone(&current.caller), rate);
        Admission::new(Arc::clone(&self.stages), admitted, current.environment())
    }
}

impl Drop for SmppBind {
    fn drop(&mut self) {
        self.stages.bound.leave(&self.bound);
    }
}
