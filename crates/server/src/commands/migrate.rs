//! `ogene migrate`

use super::Environment;
use super::answer::{Answer, Failure};
use crate::app;
use serde_json::json;

pub(super) async fn run(environment: &Environment) -> Result<Answer, Failure> {
    let config = environment.config()?;
    app::open(&config).await?;
    let path = config.data_dir.display().to_string();
    Answer::new(
        format!("The database in {path} is up to date."),
        &json!({ "data_dir": path, "up_to_date": true }),
    )
}
