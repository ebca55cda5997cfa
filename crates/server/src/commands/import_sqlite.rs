//! `ogene import-sqlite`

use super::answer::{Answer, Failure, pairs};
use super::context::Context;
use crate::app::lock;
use clap::Args;
use database::Target;
use engine::Clock;
use import::{ImportStep, Imported, Watch};
use parking_lot::Mutex;
use serde_json::{Map, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use store::Store;
use tokio::time::Instant;

pub(super) const AFTER_HELP: &str = "Stop the service first: no process may serve from the directory or the PostgreSQL \
    database. The import copies and compares all rows: accounts, tokens, sender IDs, wallets, the ledger, messages \
    with their deliveries, and work that is queued or in flight. Only the duplicate windows of 60 s are not \
    moved.\n\nRun the command again to complete an interrupted import. Rows of the PostgreSQL database are not \
    overwritten. Once the import is complete, `ogene serve` refuses the directory.\n\nExample: ogene import-sqlite --from data   # with `database_url` in ogene.toml";

/// The interval of progress lines.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Args)]
pub(super) struct ImportSqlite {
    /// The `data_dir` of the installation; the target is `database_url` of the configuration
    #[arg(long, value_name = "DIR")]
    from: PathBuf,
}

impl ImportSqlite {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let target = context.config()?.target();
        if !matches!(target, Target::Postgres(_)) {
            return Err(Failure::usage(
                "`database_url` is not set: it names the PostgreSQL database to import into",
            ));
        }
        let from = self.from.display();
        if !self.from.join("ogene.db").is_file() {
            return Err(Failure::usage(format!(
                "there is no ogene.db in {from}: name the `data_dir` of the installation that is to be moved"
            )));
        }
        let _lock = lock::serve(&self.from)?;
        let source = Store::open(&Target::Directory(self.from.clone())).await?;
        let store = Store::open(&target).await?;
        let watch = progress(context.global.json);
        let imported = import::import(&store, &source, Clock::system().now_ms(), watch).await;
        source.close().await;
        store.close().await;
        let imported = imported
            .map_err(|error| Failure::new(format!("{from} cannot be imported: {error}")))?;
        answer(&self.from, imported)
    }
}

fn answer(from: &Path, imported: Imported) -> Result<Answer, Failure> {
    let from = from.display();
    let Imported::Now(rows) = imported else {
        let text = format!(
            "{from} was imported into this database before: there is nothing to do.\nWhat may have changed in \
             {from} since then is not moved."
        );
        return Answer::new(text, &json!({ "imported": false }));
    };
    let counts: Vec<(&str, String)> = rows
        .iter()
        .map(|&(table, count)| (table, count.to_string()))
        .collect();
    let text = format!(
        "{}\nAll rows are in PostgreSQL, and are equal. `ogene serve` serves from there now, and refuses {from}.",
        pairs(&counts)
    );
    let rows: Map<String, serde_json::Value> = rows
        .into_iter()
        .map(|(table, count)| (table.to_owned(), count.into()))
        .collect();
    Answer::new(text, &json!({ "imported": true, "rows": rows }))
}

/// Writes the progress to standard error, for people.
fn progress(json: bool) -> Watch {
    if json {
        return Arc::new(|_| {});
    }
    let shown_at = Mutex::new(None::<Instant>);
    Arc::new(move |step| {
        let line = match step {
            ImportStep::Source => "Verifying the books of the source".to_owned(),
            ImportStep::Copy { table, done, of } => format!("{table}: {done} of {of}"),
            ImportStep::Compare => "Comparing counts, wallets and ledgers".to_owned(),
            ImportStep::Target => "Verifying the books in PostgreSQL".to_owned(),
        };
        let mut shown_at = shown_at.lock();
        let is_between = matches!(step, ImportStep::Copy { done, of, .. } if done < of);
        if is_between && shown_at.is_some_and(|at| at.elapsed() < PROGRESS_INTERVAL) {
            return;
        }
        *shown_at = Some(Instant::now());
        // The import continues if standard error is closed.
        let _ = writeln!(io::stderr(), "{line}");
    })
}
