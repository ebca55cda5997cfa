//! Parsing and checking of a send: its raw fields become a draft, or the first refusal.

mod classes;
mod fields;
pub mod fingerprint;
mod otp;
mod send;
mod submit;
mod texts;

pub use classes::{Class, recipient_charge};
pub(crate) use fields::flag;
pub use fields::{Customer, MAX_REFERENCE_CHARACTERS, SendFields};
pub(crate) mod personalised;
mod quote;

pub use fingerprint::Fingerprint;
pub use otp::draft_otp;
pub use personalised::{PersonalisedDraft, PersonalisedRecipient, draft_personalised};
pub use quote::{NetworkCost, OTHER_NETWORK, Quote};
pub use send::{Adjustments, Draft, draft};
pub use submit::{SubmitFields, SubmitText, draft_submit};
pub use texts::{RecipientText, RecipientTexts};

#[cfg(test)]
pub(crate) mod tests;
