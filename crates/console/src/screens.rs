//! The screens. Each is a struct that holds what it shows.

mod confirmation;
mod failure;
mod overview;
mod plain_form;

pub use confirmation::Confirmation;
pub use failure::Failure;
pub use overview::{Attention, Latest, Measure, Outcome, Overview, OverviewNumbers, Period, Slot};
pub use plain_form::PlainForm;
