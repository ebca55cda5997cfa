//! Fields of a response for its line in the log.

use engine::{Caller, RequestLog};
use std::sync::Arc;

/// The code of a refusal, for the log.
#[derive(Clone, Copy)]
pub(crate) struct Code(pub(crate) &'static str);

/// The message of a refusal, for the request log of its account.
#[derive(Clone)]
pub(crate) struct Message(pub(crate) String);

/// The caller of a refused request, for the log, and the request log of the accounts.
#[derive(Clone)]
pub(crate) struct Refused(pub(crate) Arc<Caller>, pub(crate) RequestLog);
