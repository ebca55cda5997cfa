//! The database of the service: embedded in a directory, or a PostgreSQL server of the benchmark's
//! own.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The repository, from which scripts are run.
pub(crate) const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The kind of database.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// The embedded SQLite.
    Sqlite,
    /// A server of the benchmark's own, on its defaults.
    Postgres,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// A database in use.
pub(crate) enum Database {
    /// The service's data directory.
    Sqlite(PathBuf),
    Postgres(Postgres),
}

impl Database {
    /// Makes a database, or on SQLite returns the directory `data` in which the service makes it.
    pub(crate) fn make(kind: Kind, data: PathBuf) -> Result<Self> {
        Ok(match kind {
            Kind::Sqlite => Self::Sqlite(data),
            Kind::Postgres => Self::Postgres(Postgres::start()?),
        })
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// Returns the key of the configuration that names the database.
    pub(crate) fn configuration(&self) -> String {
        match self {
            Self::Sqlite(data) => format!("data_dir = '{}'", data.display()),
            Self::Postgres(postgres) => format!("database_url = '{}'", postgres.url),
        }
    }

    /// Returns the bytes of the database on the disk.
    pub(crate) fn stored_bytes(&self) -> Result<u64> {
        match self {
            Self::Sqlite(data) => bytes_below(data),
            // The log is recycled, so it is no part of the data.
            Self::Postgres(postgres) => bytes_below(&postgres.dir.path().join("data/base")),
        }
    }

    /// Returns the bytes of each table with its indexes.
    pub(crate) fn table_bytes(&self) -> Result<BTreeMap<String, u64>> {
        let sql = match self {
            Self::Sqlite(_) => {
                // The pages are summed here, because the sum of dbstat was wrong for a table of
                // more than 2 GiB.
                "select m.tbl_name, sum(s.pgsize) from dbstat s join sqlite_master m on m.name = s.name
                 group by m.tbl_name;"
            }
            Self::Postgres(_) => {
                "select relname, pg_total_relation_size(oid) from pg_class
                 where relkind = 'r' and relnamespace = current_schema()::regnamespace;"
            }
        };
        let mut tables = BTreeMap::new();
        for line in self.run(sql)?.lines() {
            let (table, bytes) = line.split_once('|').context("no two columns")?;
            tables.insert(table.to_owned(), bytes.parse()?);
        }
        Ok(tables)
    }

    /// Returns the bytes that PostgreSQL has written to its log so far.
    pub(crate) fn logged_bytes(&self) -> Result<u64> {
        match self {
            Self::Sqlite(_) => Ok(0),
            Self::Postgres(_) => {
                let said = self.run("select cast(pg_current_wal_lsn() - '0/0' as bigint);")?;
                Ok(said.trim().parse()?)
            }
        }
    }

    /// Returns the columns of each table.
    pub(crate) fn columns(&self) -> Result<BTreeMap<String, Vec<String>>> {
        let sql = match self {
            Self::Sqlite(_) => {
                "select m.name, c.name from sqlite_master m join pragma_table_info(m.name) c
                 where m.type = 'table' order by m.name, c.cid;"
            }
            Self::Postgres(_) => {
                "select c.table_name, c.column_name from information_schema.columns c
                 join information_schema.tables t using (table_schema, table_name)
                 where table_schema = current_schema() and t.table_type = 'BASE TABLE'
                 order by c.table_name, c.ordinal_position;"
            }
        };
        let mut tables: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for line in self.run(sql)?.lines() {
            let (table, column) = line.split_once('|').context("no two columns")?;
            let columns = tables.entry(table.to_owned()).or_default();
            columns.push(column.to_owned());
        }
        Ok(tables)
    }

    /// Returns octets as an SQL literal.
    pub(crate) fn octets(&self, octets: &[u8]) -> String {
        let hex = octets.iter().fold(String::new(), |mut hex, octet| {
            // Writing to a string does not fail.
            let _ = write!(hex, "{octet:02x}");
            hex
        });
        match self {
            Self::Sqlite(_) => format!("x'{hex}'"),
            Self::Postgres(_) => format!("'\\x{hex}'::bytea"),
        }
    }

    /// Runs a script of SQL while the service is stopped. Returns its output, with `|` between
    /// columns.
    pub(crate) fn run(&self, script: &str) -> Result<String> {
        let mut command = Command::new("bench/sql");
        command.current_dir(REPOSITORY);
        match self {
            Self::Sqlite(data) => command.arg("sqlite").arg(data.join("ogene.db")),
            Self::Postgres(postgres) => command.arg("postgres").arg(&postgres.url),
        };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stdin = child.stdin.take().context("no standard input")?;
        stdin.write_all(script.as_bytes())?;
        drop(stdin);
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!("SQL: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8(output.stdout)?)
    }
}

fn bytes_below(path: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        let (entry, metadata) = {
            let entry = entry?;
            let metadata = entry.metadata()?;
            (entry, metadata)
        };
        bytes += if metadata.is_dir() {
            bytes_below(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(bytes)
}

/// A PostgreSQL server on its defaults, as the tests start it.
pub(crate) struct Postgres {
    url: String,
    dir: TempDir,
}

impl Postgres {
    fn start() -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("bench-").tempdir()?;
        let output = Self::script("start", dir.path()).output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            bail!("PostgreSQL did not start: {}", why.trim());
        }
        let said = String::from_utf8(output.stdout)?;
        let url = said.lines().last().context("no URL")?.to_owned();
        Ok(Self { url, dir })
    }

    fn script(action: &str, dir: &Path) -> Command {
        let mut command = Command::new("tests/postgres");
        command.current_dir(REPOSITORY);
        command.arg(action).arg(dir);
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A destructor cannot report an error.
        let _ = Self::script("crash", self.dir.path()).output();
    }
}
