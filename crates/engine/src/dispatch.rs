//! The third stage: batches become submits.
//!
//! Each carrier has a worker: a task that owns the batches in flight, paces them, and submits their pages over its
//! connections. Responses and receipts become reports for the stage that settles them.

pub(crate) mod bind;
pub(crate) mod completed;
mod connect;
mod failover;
pub(crate) mod in_flight;
mod multipart;
mod pages;
mod receipts;
mod reporting;
mod responses;
mod retry;
pub(crate) mod sandbox;
pub(crate) mod segments;
mod slots;
mod smpp_mapping;
mod submit;
mod withheld;
pub(crate) mod worker;

pub(crate) use failover::{move_strays, note_due};
pub(crate) use worker::run;
