//! Code that the tests of several crates share. Only dev-dependencies may name this crate.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot be set up fails"
)]

mod json;
mod need;
mod postgres;
mod schema;

pub use json::indented;
pub use need::{Need, is_left_out};
pub use postgres::postgres_url;
pub use schema::{Schema, sql};
