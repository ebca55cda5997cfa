//! The context of a command: the configuration, the database that it names, and the operator.

use super::answer::Failure;
use crate::app;
use crate::config::{Config, ConfigFault, our_variables};
use clap::Args;
use database::Target;
use engine::Clock;
use engine::operators::{Actor, Operations, Queries};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use store::Store;

/// The arguments of every command.
#[derive(Args)]
#[command(next_help_heading = "With every command")]
pub(super) struct Global {
    /// The configuration file [default: ogene.toml, else /etc/ogene/ogene.toml; also `OGENE_CONFIG`]
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Print one JSON value
    #[arg(long, global = true)]
    pub(super) json: bool,
}

/// The arguments and the variables of a command.
pub(super) struct Context {
    pub(super) global: Global,
    pub(super) variables: Vec<(OsString, OsString)>,
}

impl Context {
    /// Reads the configuration. `--config` or `OGENE_CONFIG` names its file.
    pub(super) fn config(&self) -> Result<Config, Failure> {
        self.reader()?().map_err(Failure::configuration)
    }

    /// Returns a function that reads this configuration any number of times.
    pub(super) fn reader(
        &self,
    ) -> Result<impl Fn() -> Result<Config, Vec<ConfigFault>> + Send + Sync + 'static, Failure>
    {
        let variables = our_variables(&self.variables).map_err(Failure::configuration)?;
        let named = variables.iter().find(|(name, _)| name == "OGENE_CONFIG");
        let path = self
            .global
            .config
            .clone()
            .or_else(|| named.map(|(_, path)| PathBuf::from(path)));
        Ok(move || Config::load(path.as_deref(), variables.iter().cloned()))
    }

    /// Opens the database that the configuration names. It must exist.
    pub(super) async fn open_store(&self) -> Result<Store, Failure> {
        let config = self.config()?;
        is_there(&config.target())?;
        Ok(app::open(&config).await?)
    }

    /// Returns the operations on that database, for the user of this process.
    pub(super) async fn open(&self) -> Result<Operations, Failure> {
        Ok(Operations::new(self.open_store().await?, actor()))
    }

    /// Returns the queries on that database, with the networks and prices of the configuration.
    pub(super) async fn queries(&self) -> Result<Queries, Failure> {
        let rules = self.config()?.settings().rules;
        Ok(self.open().await?.queries(rules))
    }

    /// Returns the same operations for the first commands of an installation. Creates the database
    /// if there is none, and reports that.
    pub(super) async fn open_or_make(&self) -> Result<Operations, Failure> {
        let config = self.config()?;
        let is_new = is_there(&config.target()).is_err();
        let store = app::open(&config).await?;
        if let (true, Target::Directory(data_dir)) = (is_new, config.target()) {
            let data_dir = absolute(&data_dir);
            let _ = writeln!(
                io::stderr(),
                "A new database was made in {}.",
                data_dir.display()
            );
        }
        Ok(Operations::new(store, actor()))
    }
}

/// Refuses a directory without a database. Opening it would create an empty database, while the
/// right one is elsewhere.
fn is_there(target: &Target) -> Result<(), Failure> {
    let Target::Directory(data_dir) = target else {
        return Ok(());
    };
    let data_dir = absolute(data_dir);
    let shown = data_dir.display();
    let fault = match fs::metadata(data_dir.join("ogene.db")) {
        Ok(found) if found.is_file() => return Ok(()),
        Err(error) if error.kind() != io::ErrorKind::NotFound => format!(
            "{shown} cannot be read: {error}; name the `data_dir` of the installation, and run this as the user of the \
             service"
        ),
        Ok(_) | Err(_) => format!(
            "there is no ogene.db in {shown}: set `data_dir` to that of the installation; `ogene serve` or \
             `ogene migrate` makes a new one"
        ),
    };
    Err(Failure::usage(fault))
}

/// Returns the absolute path of a directory, so that messages show the place that was searched.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the user of this process, as the audit names them.
pub(super) fn actor() -> Actor {
    actor_at(Clock::system())
}

/// Returns the same actor with another clock.
pub(super) fn actor_at(clock: Clock) -> Actor {
    Actor::new(clock, &format!("cli:{}", user()))
}

/// Returns the name that the system has for the user of this process, or their number. Anybody can
/// set `USER`, so it is not used.
fn user() -> String {
    let Ok(process) = fs::metadata("/proc/self") else {
        return "unknown".to_owned();
    };
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    name_of(process.uid(), &users).unwrap_or_else(|| process.uid().to_string())
}

/// Returns the name of a user in the text of `/etc/passwd`.
fn name_of(uid: u32, users: &str) -> Option<String> {
    let uid = uid.to_string();
    let is_theirs = |line: &&str| line.split(':').nth(2) == Some(&uid);
    let line = users.lines().find(is_theirs)?;
    let name = line.split(':').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_named_as_the_system_names_them() {
        let users =
            "root:x:0:0:root:/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n:x:7:7::/:\n";
        for (uid, name) in [
            (0, Some("root")),
            (1000, Some("ada")),
            (7, None),
            (10, None),
        ] {
            assert_eq!(name_of(uid, users).as_deref(), name, "{uid}");
        }
    }
}
