//! Queries of messages and money: lists, recipients, events, usage and exports.
//!
//! Customers and operators use the same queries. A customer sees the messages of one account and
//! environment.

pub(crate) mod callbacks;
pub(crate) mod events;
pub(crate) mod export;
pub(crate) mod inbound;
pub(crate) mod messages;
pub(crate) mod overviews;
pub(crate) mod owned;
pub(crate) mod recipients;
pub(crate) mod resale;
pub(crate) mod scope;
pub(crate) mod usage;
pub(crate) mod wallet;

pub use events::{Event, EventKind};
pub use messages::{Message, PauseChange};
pub use overviews::UsageOverview;
pub use recipients::{RecipientState, Timeline};
pub use scope::ListPage;
pub use usage::Usage;
pub use wallet::WalletEntry;
