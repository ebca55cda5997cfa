//! The third stage: batches become submits.
//!
//! Each carrier has a worker task. It owns the claimed batches, paces them, and submits their pages
//! over its connections. The settle stage commits the outcomes and receipts that it reports.

mod batch_slot;
mod bind;
pub(crate) mod carrier_test;
pub(crate) mod completed;
mod connect;
mod decision;
mod failover;
mod http_link;
mod in_flight;
mod inbound;
mod inboxes;
mod keep;
mod logs;
mod multipart;
mod pages;
mod receipts;
pub(crate) mod report;
mod retry;
mod sandbox;
mod segments;
mod slots;
pub(crate) mod smpp_mapping;
mod state;
mod submit;
mod task;
pub(crate) mod transport;
mod worker;

pub(crate) use bind::back_off;
pub(crate) use failover::{move_unconfigured, note_due};
pub(crate) use http_link::http_request;
pub(crate) use task::run;
