//! The idempotency key of a change that is no send.

use super::admission::Admission;
use crate::accept::keyed::Begun;
use crate::admit::keys::KeyClaim;
use crate::error::Error;
use domain::MessageId;
use domain::idempotency::{IdempotencyKey, RequestFingerprint};
use std::sync::Arc;
use store::{KeyedChange, Outcome, StoredAnswer};

/// The status of the answer to a change.
const OK: u16 = 200;

/// The idempotency key of a change, and the writer of its answer's body, which is stored with it.
pub struct KeyedAnswer<T> {
    /// The key.
    pub key: IdempotencyKey,
    /// The writer.
    pub write: Arc<dyn Fn(&T) -> String + Send + Sync>,
}

/// A change, or the stored answer of the same request under its key.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Changed<T> {
    /// The change was made now.
    First(T),
    /// The change was made before, with this answer.
    Replay(StoredAnswer),
}

/// A change that is to be made. Its key stays in use until this value is dropped.
pub(super) struct Claimed<C> {
    pub(super) keyed: Option<KeyedChange<C>>,
    _claim: Option<KeyClaim>,
}

impl<C: 'static> Claimed<C> {
    /// Looks a key up, if there is one. `show` returns the part of the change that the answer
    /// shows, and the message that the change belongs to.
    pub(super) async fn begin<T: 'static>(
        admission: &Admission,
        keyed: Option<KeyedAnswer<T>>,
        meaning: RequestFingerprint,
        show: impl Fn(&C) -> (T, Option<MessageId>) + Send + Sync + 'static,
    ) -> Result<Changed<Self>, Error> {
        let Some(KeyedAnswer { key, write }) = keyed else {
            return Ok(Changed::First(Self {
                keyed: None,
                _claim: None,
            }));
        };
        let (request, claim) = match admission.begin(key, meaning).await? {
            Begun::New(request, claim) => (request, claim),
            Begun::Replay(answer) => return Ok(Changed::Replay(answer)),
        };
        let answer = move |change: &C| {
            let (shown, message) = show(change);
            StoredAnswer {
                status: OK,
                body: write(&shown),
                message,
            }
        };
        Ok(Changed::First(Self {
            keyed: Some(KeyedChange {
                request,
                answer: Arc::new(answer),
            }),
            _claim: Some(claim),
        }))
    }
}

/// Returns the answer to a change. `show` returns the part that the answer shows.
pub(super) fn changed<C, T>(
    outcome: Outcome<C>,
    show: impl FnOnce(C) -> T,
) -> Result<Changed<T>, Error> {
    match outcome {
        Outcome::Made(change) => Ok(Changed::First(show(change))),
        Outcome::Replay(answer) => Ok(Changed::Replay(answer)),
        Outcome::Refused(refusal) => Err(refusal.into()),
    }
}
