//! `ogene migrate`

use super::Surroundings;
use super::answer::{Answer, Failure};
use crate::app;
use serde_json::json;

pub(super) async fn run(around: &Surroundings) -> Result<Answer, Failure> {
    let config = around.config()?;
    app::open(&config).await?;
    let path = config.data_dir.display().to_string();
    Answer::new(
        format!("The database in {path} is up to date."),
        &json!({ "data_dir": path, "up_to_date": true }),
    )
}
