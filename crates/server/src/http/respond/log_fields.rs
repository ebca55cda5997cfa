//! Fields that a response carries to the line in the log.

use engine::Caller;
use std::sync::Arc;

/// The code of a refusal, left with its answer for the log.
#[derive(Clone, Copy)]
pub(crate) struct Code(pub(crate) &'static str);

/// The caller of a refused request, left with its answer for the log.
#[derive(Clone)]
pub(crate) struct Refused(pub(crate) Arc<Caller>);
