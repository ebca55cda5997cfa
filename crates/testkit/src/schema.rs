//! A schema of its own for each test, on the shared PostgreSQL server.

use crate::postgres::postgres_url;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(1);

/// A schema that is dropped when the test ends.
pub struct Schema {
    server: String,
    name: String,
}

impl Schema {
    /// Makes a new schema if the tests run on PostgreSQL (`OGENE_TEST_DATABASE=postgres`).
    pub fn asked_for() -> Option<Self> {
        match std::env::var("OGENE_TEST_DATABASE") {
            Ok(database) if database == "postgres" => Some(Self::make()),
            Ok(database) if database != "sqlite" => panic!("there are no tests on {database:?}"),
            Ok(_) | Err(_) => None,
        }
    }

    fn make() -> Self {
        let schema = Self {
            server: postgres_url(),
            name: format!(
                "ogene_{}_{}",
                std::process::id(),
                NEXT.fetch_add(1, Ordering::Relaxed)
            ),
        };
        sql(&schema.server, &format!("create schema {}", schema.name));
        schema
    }

    /// Returns the `database_url` of the schema.
    pub fn url(&self) -> String {
        let separator = if self.server.contains('?') { '&' } else { '?' };
        format!(
            "{}{separator}options=-csearch_path%3D{}",
            self.server, self.name
        )
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let name = &self.name;
        sql(
            &self.server,
            &format!("set lock_timeout = '10s'; drop schema {name} cascade"),
        );
    }
}

/// Runs SQL by psql, and returns its output.
pub fn sql(url: &str, text: &str) -> String {
    let output = Command::new("psql")
        .args([
            "--no-psqlrc",
            "--quiet",
            "--tuples-only",
            "--no-align",
            "--set=ON_ERROR_STOP=1",
            "--dbname",
            url,
            "--command",
            text,
        ])
        .output()
        .expect("psql is there");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}: {error}");
    String::from_utf8(output.stdout).expect("text")
}
