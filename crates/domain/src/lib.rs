//! Every decision of Ogene, as pure functions.
//!
//! The test for what belongs here: could a table of inputs and outputs test it? No input or output,
//! no clock, no randomness: time and chance are arguments.

mod ids;
mod money;
mod wallet;

pub use ids::{AccountId, Bucket, MessageId};
pub use money::{Money, NotMoney};
pub use wallet::{Component, Purse};
