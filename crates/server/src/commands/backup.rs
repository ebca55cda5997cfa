//! `ogene backup`

use super::answer::{Answer, Failure};
use super::context::Context;
use super::verify::{counts, json_of};
use clap::Args;
use database::Target;
use std::path::PathBuf;

pub(super) const AFTER_HELP: &str = "Works while the service runs and sends, which waits for nothing but the disk that \
    they share. The backup is a whole database, as it was at one moment: it is verified as `ogene verify` does, and \
    has its name only once it is sound and on the disk. Until then it is FILE.partial. It holds numbers, texts and \
    the hashes of tokens: its owner alone may read it.\n\nOn PostgreSQL use pg_dump, or pg_basebackup with \
    continuous archiving.\n\nExample: ogene backup /backup/ogene-$(date +%F).db";

#[derive(Args)]
pub(super) struct Backup {
    /// The file to write; nothing is overwritten
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Backup {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        if matches!(context.config()?.target(), Target::Postgres(_)) {
            return Err(Failure::usage(
                "`database_url` is set: back up PostgreSQL with pg_dump, or with pg_basebackup and continuous \
                 archiving",
            ));
        }
        let store = context.open_store().await?;
        let report = store.upkeep().backup(&self.file).await;
        store.close().await;
        let file = self.file.display().to_string();
        let report =
            report.map_err(|error| Failure::new(format!("no backup was written: {error}")))?;
        let bytes = std::fs::metadata(&self.file)?.len();
        let text = format!(
            "{}\n{file} is written, with {bytes} bytes, and verified.",
            counts(&report)
        );
        let mut json = json_of(&report);
        json["file"] = file.into();
        json["bytes"] = bytes.into();
        Answer::new(text, &json)
    }
}
