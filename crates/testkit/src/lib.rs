//! Code that the tests of several crates share. Only dev-dependencies may name this crate.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot be set up fails"
)]

mod json;
mod need;
mod postgres;
mod root;
mod schema;
mod smtp;

pub use json::indented;
pub use need::{Need, is_left_out};
pub use postgres::postgres_url;
pub use schema::{Schema, sql};
pub use smtp::{ReceivedMail, SmtpServer};

/// Leaves the test out if one of its programs is missing, and prints the reason.
#[macro_export]
macro_rules! needs {
    ($($need:ident),+ $(,)?) => {
        if $crate::is_left_out(&[$($crate::Need::$need),+]) {
            return;
        }
    };
}
