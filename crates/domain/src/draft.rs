//! From the raw fields of a request to a valid draft of a message, or to the first refusal.

mod classes;
mod send;

pub use classes::Class;
pub(crate) mod personalised;
mod quote;

pub use personalised::{PersonalisedDraft, PersonalisedRecipient, draft_personalised};
pub use quote::{NetworkCost, OTHER_NETWORK, Quote};
pub(crate) use send::flag;
pub use send::{
    Adjustments, Customer, Draft, Fingerprint, MAX_REFERENCE_CHARACTERS, SendFields, draft,
};

#[cfg(test)]
mod tests;
