//! The idempotency key of a change that is no send.

use super::admission::Admission;
use crate::accept::keyed::Begun;
use crate::admit::keys::KeyClaim;
use crate::error::Error;
use domain::idempotency::{IdempotencyKey, RequestFingerprint};
use std::sync::Arc;
use store::{KeyedChange, StoredAnswer};

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
pub enum Changed<T> {
    /// The change was made now.
    First(T),
    /// The change was made before, with this answer.
    Replay(StoredAnswer),
}

/// A change that is to be made. Its key stays in use until this value is dropped.
pub(super) struct Claimed<T> {
    pub(super) keyed: Option<KeyedChange<T>>,
    _claim: Option<KeyClaim>,
}

impl<T: 'static> Claimed<T> {
    /// Looks a key up, if there is one.
    pub(super) async fn begin(
        admission: &Admission,
        keyed: Option<KeyedAnswer<T>>,
        meaning: RequestFingerprint,
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
        let answer = move |changed: &T| StoredAnswer {
            status: OK,
            body: write(changed),
            message: None,
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
