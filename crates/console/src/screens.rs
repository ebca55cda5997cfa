//! The screens. Each is a struct that holds what it shows.

mod confirmation;
mod failure;

pub use confirmation::Confirmation;
pub use failure::Failure;
