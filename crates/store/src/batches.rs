//! Batches: the work of dispatch. A batch holds recipients of one message, for one carrier, whose
//! submit has no committed outcome yet.
//!
//! A claim records the intent to send. A claimed recipient without a delivery may have been sent;
//! any other has not. So a claim takes little more than a carrier's in-flight windows can hold.

pub(crate) mod batch;
pub(crate) mod batch_rows;
mod claim;
pub(crate) mod end;
mod held;
pub(crate) mod pause;
mod queue;
mod wanted;

pub use batch::{
    Batch, BatchKind, Body, Claimed, Content, Ended, MAX_RECIPIENTS, Progress, QueueState,
};
pub use claim::{Claim, Claims};
pub use held::HeldBatches;
pub use queue::Queues;
