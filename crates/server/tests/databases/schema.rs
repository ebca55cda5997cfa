//! A schema of its own for each test, on the PostgreSQL that `./test` starts.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(1);

/// A schema that goes with the test.
pub(crate) struct Schema {
    server: String,
    name: String,
}

impl Schema {
    /// A fresh one where the tests run on PostgreSQL (`OGENE_TEST_DATABASE=postgres`).
    pub(crate) fn asked_for() -> Option<Self> {
        match std::env::var("OGENE_TEST_DATABASE") {
            Ok(database) if database == "postgres" => Some(Self::make()),
            Ok(database) if database != "sqlite" => panic!("there are no tests on {database:?}"),
            Ok(_) | Err(_) => None,
        }
    }

    fn make() -> Self {
        let schema = Self {
            server: server(),
            name: format!(
                "ogene_{}_{}",
                std::process::id(),
                NEXT.fetch_add(1, Ordering::Relaxed)
            ),
        };
        sql(&schema.server, &format!("create schema {}", schema.name));
        schema
    }

    /// What `database_url` names it by.
    pub(crate) fn url(&self) -> String {
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

/// The URL of the PostgreSQL that `./test` starts.
fn server() -> String {
    std::env::var("OGENE_TEST_POSTGRES")
        .expect("OGENE_TEST_POSTGRES is the URL that tests/postgres prints; run ./test")
}

/// Runs SQL as an operator does; gives what it answers.
pub(crate) fn sql(url: &str, text: &str) -> String {
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
