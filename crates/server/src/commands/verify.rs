//! `ogene verify`

use super::Surroundings;
use super::answer::{Answer, Failure, pairs};
use engine::admin::{self, Checked};
use serde_json::{Value, json};

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
    Answer::new(
        format!("{}\nAll is well.", counts(&report)),
        &json_of(&report),
    )
}

/// What was looked at, one line each.
pub(super) fn counts(report: &Checked) -> String {
    pairs(&[
        ("wallets", report.wallets.to_string()),
        ("ledger entries", report.entries.to_string()),
        ("messages", report.messages.to_string()),
        ("deliveries", report.deliveries.to_string()),
    ])
}

/// The same for machines, where all is well.
pub(super) fn json_of(report: &Checked) -> Value {
    json!({
        "ok": true,
        "violations": report.violations,
        "wallets": report.wallets,
        "entries": report.entries,
        "messages": report.messages,
        "deliveries": report.deliveries,
    })
}
