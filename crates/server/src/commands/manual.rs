//! `ogene completions` and `ogene manual`. Both are made from the command line itself, so they are
//! always up to date.

use super::answer::{Answer, Failure};
use clap::{Args, Command};
use clap_complete::Shell;
use serde_json::json;
use std::path::PathBuf;

pub(super) const COMPLETIONS_AFTER_HELP: &str =
    "Example: ogene completions bash > /usr/share/bash-completion/completions/ogene";
pub(super) const MANUAL_AFTER_HELP: &str = "Example: ogene manual /usr/local/share/man/man1";

#[derive(Args)]
pub(super) struct Completions {
    /// Shell of the completions
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut command: Command) -> Result<Answer, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "ogene", &mut script);
        let script = String::from_utf8_lossy(&script);
        Answer::new(script.as_ref(), &json!({ "completions": script }))
    }
}

#[derive(Args)]
pub(super) struct Manual {
    /// Existing directory; pages of the same names are overwritten
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Manual {
    pub(super) fn run(self, command: Command) -> Result<Answer, Failure> {
        clap_mangen::generate_to(command, &self.directory).map_err(|error| {
            let directory = self.directory.display();
            Failure::new(format!(
                "the pages cannot be written into {directory}: {error}"
            ))
        })?;
        let text = format!("The manual pages are in {}.", self.directory.display());
        Answer::new(text, &json!({ "directory": self.directory }))
    }
}
