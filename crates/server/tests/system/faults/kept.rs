//! An installation that is made once, and copied for each point.

use crate::customer::Customer;
use crate::installation::Installation;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::sql;

/// The first credit of the customer, in naira.
pub(crate) const CREDIT: &str = "300.00";

/// An installation with a customer, on which no service runs.
pub(crate) struct Kept {
    ogene: Installation,
    pub(crate) customer: Customer,
    /// The database on PostgreSQL.
    database: Option<Database>,
}

/// A database on the PostgreSQL that `./test` starts. It is removed with the installation that uses
/// it.
pub(crate) struct Database {
    server: String,
    name: String,
}

/// PostgreSQL makes one copy of a database at a time.
static COPYING: Mutex<()> = Mutex::new(());
static NEXT: AtomicU32 = AtomicU32::new(1);

impl Database {
    fn make(template: &str) -> Self {
        let server = testkit::postgres_url();
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ogene_faults_{}_{number}", std::process::id());
        let copying = COPYING.lock().expect("nobody failed with it");
        sql(
            &server,
            &format!("create database {name} template {template}"),
        );
        drop(copying);
        Self { server, name }
    }

    fn url(&self) -> String {
        self.server
            .replacen("/postgres?", &format!("/{}?", self.name), 1)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        sql(
            &self.server,
            &format!("drop database {} with (force)", self.name),
        );
    }
}

impl Kept {
    pub(crate) fn embedded() -> Self {
        let ogene = Installation::embedded();
        let customer = Customer::new(&ogene, CREDIT);
        Self {
            ogene,
            customer,
            database: None,
        }
    }

    pub(crate) fn on_postgres() -> Self {
        let database = Database::make("template0");
        let ogene = Installation::on(&database.url());
        let customer = Customer::new(&ogene, CREDIT);
        Self {
            ogene,
            customer,
            database: Some(database),
        }
    }

    /// The installation, for changes before the first copy is made of it.
    pub(crate) fn original(&self) -> &Installation {
        &self.ogene
    }

    pub(crate) fn is_embedded(&self) -> bool {
        self.database.is_none()
    }

    /// Returns an installation of its own, equal to this one.
    pub(crate) fn copy(&self) -> (Installation, Option<Database>) {
        if let Some(kept) = &self.database {
            let database = Database::make(&kept.name);
            return (Installation::on(&database.url()), Some(database));
        }
        let copy = Installation::embedded();
        let (from, to) = (self.ogene.path().join("data"), copy.path().join("data"));
        fs::create_dir(&to).expect("made");
        for file in fs::read_dir(from).expect("a directory") {
            let file = file.expect("a file");
            fs::copy(file.path(), to.join(file.file_name())).expect("copied");
        }
        (copy, None)
    }
}
