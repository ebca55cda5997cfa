//! `ogene verify`

use super::Surroundings;
use super::answer::{Answer, Failure, pairs};
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
    let counts = pairs(&[
        ("wallets", report.wallets.to_string()),
        ("ledger entries", report.entries.to_string()),
        ("messages", report.messages.to_string()),
        ("deliveries", report.deliveries.to_string()),
    ]);
    let text = format!("{counts}\nAll is well.");
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
