//! One message over one carrier, with each step, for an operator who tests the carrier. The message
//! belongs to no account and is charged to nobody.
//!
//! The test has a connection of its own. While a node serves, the node's connections get the
//! receipts, and the node parks the one of the test, since no page has its id. The test then reads
//! it from the database. Without a node the test receives by itself.

mod by_http;
mod by_smpp;
mod receipts;
mod setup;
mod steps;

pub(crate) use setup::TestedCarrier;
pub use steps::{TestEnd, TestMessage, TestStep};

use crate::settings::Protocol;
use domain::Text;
use steps::Steps;

/// Sends a message over a carrier, and waits for its receipt.
pub(crate) async fn run(
    carrier: &TestedCarrier,
    message: &TestMessage,
    note: &mut (dyn FnMut(TestStep) + Send),
) -> database::Result<TestEnd> {
    let mut steps = Steps::begin(note);
    let is_served = carrier.is_served().await?;
    let text = Text::from_stored(message.body.clone());
    match &carrier.settings.protocol {
        Protocol::Smpp(smpp) => {
            let over_smpp = by_smpp::SmppTest {
                carrier,
                smpp,
                message,
                is_served,
            };
            over_smpp.run(&text, &mut steps).await
        }
        Protocol::Http(http) => {
            by_http::run(carrier, http, (message, &text), is_served, &mut steps).await
        }
    }
}
