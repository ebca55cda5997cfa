//! `ogene migrate`

use super::answer::{Answer, Failure};
use super::context::Context;
use super::context::absolute;
use crate::app;
use clap::Args;
use database::Target;
use serde_json::json;

#[derive(Args)]
pub(super) struct Migrate {
    /// Only print the statements for psql that distribute the tables with Citus. They were checked
    /// on Citus 13.2.2
    #[arg(long)]
    citus: bool,
}

impl Migrate {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        if self.citus {
            let sql = store::citus_statements();
            return Answer::new(sql.as_str(), &json!({ "sql": sql }));
        }
        bring_up_to_date(context).await
    }
}

async fn bring_up_to_date(context: &Context) -> Result<Answer, Failure> {
    let config = context.config()?;
    app::open(&config).await?.close().await;
    match config.target() {
        Target::Directory(path) => {
            let path = absolute(&path).display().to_string();
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
