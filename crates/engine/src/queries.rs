//! Queries of messages, of their recipients, and of the events of a recipient.
//!
//! Customers and operators use the same queries. A customer sees the messages of one account and
//! environment.

pub(crate) mod events;
pub(crate) mod messages;
pub(crate) mod recipients;
pub(crate) mod scope;

pub use events::{Event, EventKind};
pub use messages::Message;
pub use recipients::{RecipientState, Timeline};
pub use scope::Listed;
