//! Questions about messages: lists, single messages, their recipients and the events of each.
//!
//! Customers and operators ask the same. A customer sees the messages of one account and environment.

pub(crate) mod events;
pub(crate) mod messages;
pub(crate) mod recipients;
pub(crate) mod scope;

pub use events::{Event, EventKind};
pub use messages::Message;
pub use recipients::{RecipientState, Timeline};
pub use scope::Listed;
