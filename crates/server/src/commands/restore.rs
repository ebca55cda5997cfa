//! `ogene restore`

use super::answer::{Answer, Failure};
use super::context::Context;
use super::verify::{counts, json_of};
use crate::app::lock;
use clap::Args;
use database::Target;
use std::path::PathBuf;

pub(super) const AFTER_HELP: &str = "The restore makes the database in `data_dir`, which must have none, upgrades its \
    schema and verifies it. An interrupted restore leaves no database, and can be repeated. FILE is not changed.\n\n\
    Files that root restores belong to the owner of an existing `data_dir`: make it first, for the user of the \
    service.\n\n\
    Messages, credits and outcomes after the backup are lost. Recipients that were queued at the backup are sent when \
    the service starts, even if they were sent since. Recipients that were in flight are in doubt: they wait for a \
    receipt, and then are sent once more or left, as their gateway requires. A receipt that arrived since does not \
    arrive again, so its recipient expires after `receipt_timeout`.\n\nExample: ogene restore /backup/ogene-2026-11-21.db";

#[derive(Args)]
pub(super) struct Restore {
    /// Backup to restore
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Restore {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let Target::Directory(data_dir) = context.config()?.target() else {
            return Err(Failure::usage(
                "`database_url` is set: restore into an empty `data_dir` without it, and move that to an empty \
                 PostgreSQL database with `ogene import-sqlite`",
            ));
        };
        let file = self.file.display().to_string();
        if !self.file.is_file() {
            return Err(Failure::usage(format!("there is no file {file}")));
        }
        // A directory that does not exist has no service.
        let _lock = data_dir
            .is_dir()
            .then(|| lock::serve(&data_dir))
            .transpose()?;
        let report = store::restore(&self.file, &data_dir).await;
        let report =
            report.map_err(|error| Failure::new(format!("{file} cannot be restored: {error}")))?;
        let data_dir = data_dir.display().to_string();
        let text = format!(
            "{}\n{file} is restored to {data_dir}, and verified.",
            counts(&report)
        );
        let mut json = json_of(&report);
        json["file"] = file.into();
        json["data_dir"] = data_dir.into();
        Answer::new(text, &json)
    }
}
