//! `ogene backup`

use super::answer::{Answer, Failure};
use super::context::Context;
use super::verify::{counts, json_of};
use clap::Args;
use database::Target;
use std::path::PathBuf;

pub(super) const AFTER_HELP: &str = "The service may run and send meanwhile; the two share the disk. The backup is a whole \
    database at one moment. It is FILE.partial until it is verified like by `ogene verify` and synced to the disk, and \
    then gets its name. It holds numbers, texts and the hashes of tokens, so only its owner may read it.\n\nOn \
    PostgreSQL use pg_dump, or pg_basebackup with continuous archiving.\n\nExample: ogene backup /backup/ogene-$(date +%F).db";

#[derive(Args)]
pub(super) struct Backup {
    /// File to write; an existing file is not overwritten
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
