//! `ogene migrate`

use super::Surroundings;
use super::answer::{Answer, Failure};
use crate::app;
use serde_json::json;
use store::Target;

pub(super) async fn run(around: &Surroundings) -> Result<Answer, Failure> {
    let config = around.config()?;
    app::open(&config).await?.close().await;
    match config.target() {
        Target::Directory(path) => {
            let path = path.display().to_string();
            Answer::new(
                format!("The database in {path} is up to date."),
                &json!({ "data_dir": path, "up_to_date": true }),
            )
        }
        Target::Postgres(server) => {
            let (host, database) = (server.host(), server.database());
            Answer::new(
                format!("The database {database} on {host} is up to date."),
                &json!({ "database": database, "host": host, "up_to_date": true }),
            )
        }
    }
}
