//! Fields of a response for its line in the log.

use engine::Caller;
use std::sync::Arc;

/// The code of a refusal, for the log.
#[derive(Clone, Copy)]
pub(crate) struct Code(pub(crate) &'static str);

/// The caller of a refused request, for the log.
#[derive(Clone)]
pub(crate) struct Refused(pub(crate) Arc<Caller>);
