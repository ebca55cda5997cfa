//! This client sends a message, reads its report until it is delivered, and reads the balance.

use ogene_client::apis::configuration::Configuration;
use ogene_client::apis::live_api;
use ogene_client::models::{SendRequest, SendRequestTo};
use std::env;
use std::time::Duration;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (token, sender) = (env::var("OGENE_TOKEN")?, env::var("OGENE_SENDER")?);
    let api = Configuration {
        base_path: env::var("OGENE_URL")?,
        bearer_access_token: Some(token),
        ..Configuration::new()
    };
    let to = SendRequestTo::ArrayVecString(vec!["2348031234567".to_owned()]);
    let request = SendRequest::new("Hello from Rust".to_owned(), sender, to);
    let sent = live_api::send(&api, request, None).await?;
    assert_eq!(sent.data.recipients_count, 1);

    // The caller of this program ends it when it takes too long.
    loop {
        let report = live_api::report(&api, &sent.data.message_id, None, None).await?;
        assert_eq!(report.data.reports[0].recipient, "2348031234567");
        if report.data.reports[0].delivery_status == "delivrd" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let balance = live_api::balance(&api).await?;
    assert!(balance.balance.total_balance > 0.0);
    let senders = live_api::sender_ids(&api).await?;
    assert_eq!(senders.data.sender_ids[0].rejection_reason, None);
    println!("Rust: delivered {}", sent.data.message_id);
    Ok(())
}
