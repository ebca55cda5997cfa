//! `ogene export`

use super::answer::{Answer, Failure};
use super::arguments::account_id;
use super::context::Context;
use super::queries::{MessageFilters, Scope, Times};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use domain::search::{EntryKind, FilterFields};
use domain::{AccountId, MessageId};
use engine::operators::Export as Rows;
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Rows between two lines about the progress.
const PROGRESS_ROWS: u64 = 100_000;
/// The mode of an exported file. It has numbers of recipients.
const MODE: u32 = 0o600;

#[derive(Subcommand)]
pub(super) enum Export {
    /// Write a row for each recipient of the messages of all accounts or of one, as CSV
    #[command(
        after_help = "The columns are those of GET /exports/recipients.csv. A time is RFC 3339, or YYYY-MM-DD HH:MM:SS in \
        Africa/Lagos. The newest message comes first.\n\n\
        Examples: ogene export recipients --since \"2027-01-01 00:00:00\" --output january.csv\n          \
        ogene export recipients --account 1882399170363392 --delivery-status undeliv | gzip > undelivered.csv.gz"
    )]
    Recipients {
        #[command(flatten)]
        scope: Scope,
        #[command(flatten)]
        filters: Box<MessageFilters>,
        #[command(flatten)]
        output: Output,
    },
    /// Write the entries of an account's wallet as CSV
    #[command(after_help = "The columns are those of GET /exports/wallet.csv.\n\n\
        Example: ogene export wallet --account 1882399170363392 --kind refund --output refunds.csv")]
    Wallet {
        /// The account's `user_id`
        #[arg(long, value_name = "ID", value_parser = account_id)]
        account: AccountId,
        #[command(flatten)]
        times: Times,
        /// Only entries of this kind
        #[arg(long, value_parser = PossibleValuesParser::new(EntryKind::ALL.iter().map(|one| one.as_str())))]
        kind: Option<String>,
        /// Only entries of this message
        #[arg(long, value_name = "ID")]
        message_id: Option<MessageId>,
        #[command(flatten)]
        output: Output,
    },
}

/// The place of the rows.
#[derive(Args)]
pub(super) struct Output {
    /// Write to this new file [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Export {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let queries = context.queries().await?;
        match self {
            Self::Recipients {
                scope,
                filters,
                output,
            } => {
                let fields = filters.fields();
                let rows = queries.export_recipients(scope.of(), &fields);
                output.write(rows.await?).await
            }
            Self::Wallet {
                account,
                times,
                kind,
                message_id,
                output,
            } => {
                let fields = FilterFields {
                    kind,
                    message_id: message_id.map(|id| id.to_string()),
                    ..times.fields()
                };
                let rows = queries.export_wallet(account, &fields);
                output.write(rows.await?).await
            }
        }
    }
}

impl Output {
    async fn write(&self, rows: Rows<'_>) -> Result<Answer, Failure> {
        let Some(path) = &self.output else {
            let written = copy(rows, io::stdout()).await?;
            if let Some(count) = written {
                tell(&format!("{count} rows were exported."));
            }
            return Ok(Answer::none());
        };
        let file = new_file(path)?;
        let written = copy(rows, BufWriter::new(file)).await;
        let count = match written {
            Ok(count) => count.unwrap_or_default(),
            Err(failure) => {
                // Half an export would be taken for a whole one.
                std::fs::remove_file(path)?;
                return Err(failure);
            }
        };
        let text = format!("{count} rows were exported to {}.", path.display());
        let json = json!({ "rows": count, "file": path.display().to_string() });
        Answer::new(text, &json)
    }
}

/// Makes a file that does not exist yet.
fn new_file(path: &Path) -> Result<File, Failure> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(path);
    file.map_err(|error| {
        let shown = path.display();
        match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::usage(format!(
                "{shown} exists already, and an export overwrites nothing: name another file, or remove it first"
            )),
            _ => Failure::new(format!("{shown} cannot be written: {error}")),
        }
    })
}

/// Writes all rows, and their progress to standard error. Returns their number, or `None` if the
/// reader has gone, as `head` does.
async fn copy(mut rows: Rows<'_>, mut to: impl Write) -> Result<Option<u64>, Failure> {
    let mut counter = RowCounter::default();
    let mut told = 0;
    while let Some(text) = rows.next().await? {
        match to.write_all(text.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(None),
            written => written?,
        }
        counter.count(&text);
        if counter.rows() >= told + PROGRESS_ROWS {
            told = counter.rows();
            tell(&format!("{told} rows so far"));
        }
    }
    to.flush()?;
    Ok(Some(counter.rows()))
}

/// Writes a line to standard error. It is lost if standard error is closed.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// The number of rows of a CSV that is written in parts.
#[derive(Default)]
struct RowCounter {
    lines: u64,
    is_quoted: bool,
}

impl RowCounter {
    /// Counts the rows of the next part. A line end within quotes ends no row.
    fn count(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                b'"' => self.is_quoted = !self.is_quoted,
                b'\n' if !self.is_quoted => self.lines += 1,
                _ => {}
            }
        }
    }

    /// Returns the number of rows without the header.
    fn rows(&self) -> u64 {
        self.lines.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_over_line_ends_in_cells() {
        let mut counter = RowCounter::default();
        assert_eq!(counter.rows(), 0);
        counter.count("id,text\r\n1,\"a\r\nb \"\"");
        assert_eq!(counter.rows(), 0);
        counter.count("c\"\"\n\"\r\n2,d\r\n");
        assert_eq!(counter.rows(), 2);
    }

    #[test]
    fn an_export_never_overwrites_a_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("export.csv");
        new_file(&path).expect("a new file");
        assert!(new_file(&path).is_err());
    }
}
