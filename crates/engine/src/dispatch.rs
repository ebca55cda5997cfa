//! The third stage: batches become submits.
//!
//! Each carrier has a worker: a task that owns the batches in flight, paces them, and submits their pages over its
//! connections. Responses and receipts become reports for the stage that settles them.

mod bind;
pub(crate) mod completed;
mod connect;
mod decision;
mod failover;
mod in_flight;
mod logs;
mod multipart;
mod pages;
mod receipts;
pub(crate) mod report;
mod retry;
mod sandbox;
mod segments;
mod slots;
mod smpp_mapping;
mod state;
mod submit;
mod task;
pub(crate) mod transport;
mod worker;

pub(crate) use failover::{move_strays, note_due};
pub(crate) use task::run;
