//! `ogene config`

use super::Surroundings;
use super::answer::{Answer, Failure};
use crate::config::DEFAULT;
use clap::Subcommand;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum Config {
    /// Print every key with its default and what it is for
    #[command(after_help = "Example: ogene config default > ogene.toml")]
    Default,
    /// Check a configuration and name every fault at once
    #[command(
        after_help = "Exits with 2 when there is a fault.\n\nExample: ogene config check --config ogene.toml"
    )]
    Check,
}

impl Config {
    pub(super) fn run(self, around: &Surroundings) -> Result<Answer, Failure> {
        match self {
            Self::Default => Answer::new(DEFAULT, &json!({ "default": DEFAULT })),
            Self::Check => check(around),
        }
    }
}

fn check(around: &Surroundings) -> Result<Answer, Failure> {
    let config = around.config()?;
    let file = config.file.as_ref().map(|file| file.display().to_string());
    let name = file.as_deref().unwrap_or("No file: the defaults");
    let mut lines = vec![format!(
        "{name}: no fault ({} carriers, {} gateways).",
        config.carriers.len(),
        config.gateways.len(),
    )];
    lines.extend(config.notes.iter().map(|note| format!("note: {note}")));
    let json = json!({
        "ok": true,
        "file": file,
        "carriers": config.carriers.len(),
        "gateways": config.gateways.len(),
        "notes": config.notes,
    });
    Answer::new(lines.join("\n"), &json)
}
