//! Inbound messages: their routes, their pages until they are joined, the messages, and the answers
//! to commands.
//!
//! A page is committed before its carrier gets the answer. Later it is joined with the others of its
//! message, and removed in the transaction that keeps the message.

mod answers;
mod arrivals;
mod commands;
mod messages;
mod pages;
mod route_changes;
mod route_requests;
mod routes;
pub(crate) mod row;

pub use answers::{InboundAnswers, WaitingAnswer};
pub use arrivals::{ArrivedPage, KeptPages};
pub use commands::SubscriberCommand;
pub use messages::{FoundInbound, InboundMessages, Kept};
pub use pages::{InboundPages, PageGroup};
pub use route_changes::{AddedRoute, RemovedRoute, RouteOwner};
pub use routes::InboundRoutes;
