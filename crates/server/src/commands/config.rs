//! `ogene config`

use super::answer::{Answer, Failure};
use super::context::Context;
use crate::config::DEFAULT;
use clap::Subcommand;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum Config {
    /// Print every key with its default and its meaning
    #[command(after_help = "Example: ogene config default > ogene.toml")]
    Default,
    /// Check a configuration and name every fault at once
    #[command(
        after_help = "The exit code is 2 if there is a fault.\n\nExample: ogene config check --config ogene.toml"
    )]
    Check,
    /// Make all running nodes read their configuration files again
    #[command(after_help = RELOAD_AFTER_HELP)]
    Reload,
}

const RELOAD_AFTER_HELP: &str = "\
This command first checks the configuration that it sees itself, and asks no node to reload if that has a fault. Nodes
reload within a second. Each logs `configuration: reloaded`, or the faults of its own file, and then keeps its running
configuration. SIGHUP (`systemctl reload ogene`) makes one node reload.

Reloaded:         gateways with their prices, networks, content, velocity, sandbox, retention, trusted_proxies, body_timeout, carriers,
                  the certificate of http.tls, and all limits except two
Needs a restart:  data_dir, database_url, database_connections, [log], [callbacks], [mail], [smpp_server], limits.body_memory,
                  limits.accept_queue, http.listen, http.code_prefix, http.max_connections, http.idle_timeout, and adding or
                  removing http.tls
A carrier that did not change keeps its connections. A changed one finishes its submits in flight, unbinds and binds again.
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
        "All running nodes read their configuration again within a second; the log of each has the result.",
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
