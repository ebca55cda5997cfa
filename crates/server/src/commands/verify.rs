//! `ogene verify`

use super::Surroundings;
use super::answer::{Answer, Failure};
use engine::admin;

pub(super) async fn run(around: &Surroundings) -> Result<Answer, Failure> {
    let (store, _) = around.open().await?;
    let report = admin::verify(&store).await?;
    if !report.violations.is_empty() {
        let list = report.violations.join("\n  ");
        let count = report.violations.len();
        return Err(Failure::new(format!(
            "{count} invariants are violated:\n  {list}"
        )));
    }
    let text = format!(
        "All is well: {} wallets, {} ledger entries, {} messages, {} deliveries.",
        report.wallets, report.entries, report.messages, report.deliveries,
    );
    let json = serde_json::json!({
        "ok": true,
        "violations": report.violations,
        "wallets": report.wallets,
        "entries": report.entries,
        "messages": report.messages,
        "deliveries": report.deliveries,
    });
    Answer::new(text, &json)
}
