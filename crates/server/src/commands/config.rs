//! `ogene config`

use super::answer::{Answer, Failure};
use super::context::Context;
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
    /// Have all running nodes read their configuration again, each its own file
    #[command(after_help = RELOAD_AFTER_HELP)]
    Reload,
}

const RELOAD_AFTER_HELP: &str = "\
The configuration that this command sees is checked first, and nothing is asked of anybody where it has a fault. Nodes
notice within a second. Each logs `configuration: reloaded`, or what is wrong with its own file: then it goes on as it was.
SIGHUP (`systemctl reload ogene`) does the same for one node.

Read again:       gateways with their prices, networks, content, velocity, sandbox, retention, trusted_proxies, body_timeout, carriers,
                  the certificate of http.tls, and limits but for two
Needs a restart:  data_dir, database_url, database_connections, [log], [callbacks], limits.body_memory, limits.accept_queue,
                  http.listen, http.code_prefix, http.max_connections, http.idle_timeout, and http.tls that was not set, or is not any more
A carrier that did not change keeps its connections. One that changed finishes what is in flight, unbinds and binds again.
One that is gone unbinds, and what waits for it goes to the next carrier of its gateway.

Example: ogene config reload";

impl Config {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        match self {
            Self::Default => Answer::new(DEFAULT, &json!({ "default": DEFAULT })),
            Self::Check => check(context),
            Self::Reload => reload(context).await,
        }
    }
}

async fn reload(context: &Context) -> Result<Answer, Failure> {
    let operations = context.open().await?;
    let asked = operations.configuration().reload().await?;
    Answer::new(
        "All running nodes read their configuration again within a second; the log of each tells what came of it.",
        &json!({ "asked": asked }),
    )
}

fn check(context: &Context) -> Result<Answer, Failure> {
    let config = context.config()?;
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
