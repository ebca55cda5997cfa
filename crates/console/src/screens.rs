//! The screens. Each is a struct that holds what it shows.

mod confirmation;
mod failure;
mod message;
mod messages;
mod overview;
mod plain_form;
mod recipient;
mod wallet;

pub use confirmation::Confirmation;
pub use failure::Failure;
pub use message::{Message, MessageProgress, RecipientRow};
pub use messages::{MessageRow, Messages};
pub use overview::{Attention, Latest, Measure, Outcome, Overview, OverviewNumbers, Period, Slot};
pub use plain_form::PlainForm;
pub use recipient::{Recipient, TimelineEvent};
pub use wallet::{Wallet, WalletRow};

// The progress is HTML that its own template escaped.
impl askama::filters::HtmlSafe for MessageProgress {}
