//! Payment providers: the calls that are made to them, and the reading of their answers and
//! webhooks.

mod amounts;
mod api;
mod flutterwave;
mod monnify;
mod paystack;
mod signature;

pub use api::{ApiAnswer, ApiCall, Checkout, Headers, Provider, Unread};
pub use flutterwave::{Flutterwave, FlutterwaveVersion};
pub use monnify::Monnify;
pub use paystack::Paystack;

#[cfg(test)]
mod tests;
