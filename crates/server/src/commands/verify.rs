//! `ogene verify`

use super::answer::{Answer, Failure, pairs};
use super::context::Context;
use engine::operators::Checked;
use serde_json::{Value, json};

pub(super) async fn run(context: &Context) -> Result<Answer, Failure> {
    let operations = context.open().await?;
    answer(&operations.configuration().verify().await?)
}

/// Returns the report of a verification. Sound and violated books have the same form.
fn answer(report: &Checked) -> Result<Answer, Failure> {
    let violated = &report.violations;
    let summary = match violated.len() {
        0 => "All is well.".to_owned(),
        count => format!(
            "{count} invariants are violated:\n  {}",
            violated.join("\n  ")
        ),
    };
    let answer = Answer::new(format!("{}\n{summary}", counts(report)), &json_of(report))?;
    Ok(if violated.is_empty() {
        answer
    } else {
        answer.failing()
    })
}

/// Returns the counts of checked rows, one line each.
pub(super) fn counts(report: &Checked) -> String {
    pairs(&[
        ("wallets", report.wallets.to_string()),
        ("ledger entries", report.entries.to_string()),
        ("messages", report.messages.to_string()),
        ("deliveries", report.deliveries.to_string()),
    ])
}

/// Returns the same counts as JSON.
pub(super) fn json_of(report: &Checked) -> Value {
    json!({
        "ok": report.violations.is_empty(),
        "violations": report.violations,
        "wallets": report.wallets,
        "entries": report.entries,
        "messages": report.messages,
        "deliveries": report.deliveries,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::ExitCode;

    #[test]
    fn violations_are_an_answer_with_the_exit_code_of_a_failure() {
        let violations = vec!["the first".to_owned(), "the second".to_owned()];
        for (violations, ok, exit) in [
            (vec![], true, ExitCode::SUCCESS),
            (violations, false, ExitCode::FAILURE),
        ] {
            let answer = answer(&Checked {
                violations: violations.clone(),
                wallets: 7,
                ..Checked::default()
            });
            let answer = answer.expect("an answer");
            assert_eq!(format!("{:?}", answer.exit), format!("{exit:?}"));
            let mut summary = Vec::new();
            answer.write(true, &mut summary).expect("written");
            let summary: Value = serde_json::from_slice(&summary).expect("one JSON value");
            assert_eq!(summary["ok"], ok);
            assert_eq!(summary["violations"], json!(violations));
            assert_eq!(summary["wallets"], 7);
        }
    }
}
