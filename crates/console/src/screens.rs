//! The screens. Each is a struct that holds what it shows.

mod confirmation;
mod details;
mod failure;
mod file;
mod form;
mod listing;
mod message;
mod messages;
mod overview;
mod payment;
mod plain_form;
mod profile;
mod recipient;
mod request;
mod revenue;
mod send;
mod team;
mod top_up;
mod wallet;

pub use confirmation::Confirmation;
pub use details::{Details, Part, SmallForm};
pub use failure::Failure;
pub use file::{FileProgress, FileReview, FileSend, FileUpload, LeftOutRows};
pub use form::Form;
pub use listing::Listing;
pub use message::{Message, MessageProgress, RecipientRow};
pub use messages::{MessageRow, Messages};
pub use overview::{Attention, Latest, Measure, Outcome, Overview, OverviewNumbers, Period, Slot};
pub use payment::{PAYMENT_CONTENT_SECURITY_POLICY, PaymentPage};
pub use plain_form::PlainForm;
pub use profile::{
    AddPasskey, PasskeyList, PasskeyRow, Place, Profile, RecoveryCodes, SecondFactor, Session,
};
pub use recipient::{Recipient, TimelineEvent};
pub use request::Request;
pub use revenue::{Counted, Revenue};
pub use send::{Counter, Send};
pub use team::{Invitation, Member, NewLink, Team};
pub use top_up::{TopUp, TopUpForm};
pub use wallet::{Wallet, WalletRow};

// Each part is HTML that its own template escaped.
impl askama::filters::HtmlSafe for Counter {}
impl askama::filters::HtmlSafe for LeftOutRows {}
impl askama::filters::HtmlSafe for MessageProgress {}
