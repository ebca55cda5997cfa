//! Programs that a test needs and a machine may lack.

use crate::postgres;
use crate::root::root;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file of the Perl module `Net::SMPP`.
const NET_SMPP: &str = "/usr/share/perl5/Net/SMPP.pm";

/// A program that is not part of the build.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// A PostgreSQL server: [`crate::postgres_url`] returns its URL.
    Postgres,
    /// The programs of PostgreSQL, with which a test starts a server of its own.
    PostgresPrograms,
    /// The connection pool of PostgreSQL.
    Pgbouncer,
    /// Patroni, etcd and `HAProxy`: a PostgreSQL that fails over.
    Patroni,
    /// The tracer of system calls, which makes them fail.
    Strace,
    /// The library that sets a process's clock.
    Faketime,
    /// The SMPP peers in Node and Python, which `tests/peers/install` installs.
    Peers,
    /// The Perl module `Net::SMPP`.
    NetSmpp,
    /// The SMS gateway Kannel.
    Kannel,
    /// The program `openssl`.
    Openssl,
    /// The Python package phonenumbers, which `tests/numbers/install` installs.
    Phonenumbers,
}

impl Need {
    /// Returns the reason why it is not available, if there is one.
    fn obstacle(self) -> Option<String> {
        let missing = match self {
            Self::Postgres => return postgres::obstacle(),
            Self::PostgresPrograms if postgres::is_installed() => return None,
            Self::PostgresPrograms => "PostgreSQL is not installed",
            Self::Pgbouncer => return missing_program(&["pgbouncer"]),
            Self::Patroni => return missing_program(&["patroni", "etcd", "haproxy"]),
            Self::Strace => return missing_program(&["strace"]),
            Self::Faketime if is_faketime_installed() => return None,
            Self::Faketime => "libfaketime is not installed",
            Self::Peers => {
                let peers = installed("OGENE_PEERS", "target/peers");
                let both = ["node_modules/smpp", "python/smpplib"];
                if both.iter().all(|part| peers.join(part).is_dir()) {
                    return missing_program(&["node", "python3"]);
                }
                "tests/peers/install has not run"
            }
            Self::NetSmpp if Path::new(NET_SMPP).is_file() => return missing_program(&["perl"]),
            Self::NetSmpp => "libnet-smpp-perl is not installed",
            Self::Kannel => return missing_program(&["bearerbox", "smsbox"]),
            Self::Openssl => return missing_program(&["openssl"]),
            Self::Phonenumbers => {
                if installed("OGENE_NUMBERS", "target/numbers").is_dir() {
                    return missing_program(&["python3"]);
                }
                "tests/numbers/install has not run"
            }
        };
        Some(missing.to_owned())
    }
}

/// Returns `true` if a needed program is missing. The reason goes to the terminal, past the capture of the test runner.
/// `OGENE_TEST_NEEDS=none` leaves out every test that needs one; `all` makes a missing one a failure.
#[must_use]
pub fn is_left_out(needs: &[Need]) -> bool {
    let wanted = std::env::var("OGENE_TEST_NEEDS").unwrap_or_default();
    let reason = match wanted.as_str() {
        "none" => Some("OGENE_TEST_NEEDS is none".to_owned()),
        "" | "all" => needs.iter().find_map(|need| need.obstacle()),
        other => panic!("OGENE_TEST_NEEDS is all or none, not {other:?}"),
    };
    let Some(reason) = reason else {
        return false;
    };
    assert!(wanted != "all", "a needed program is missing: {reason}");
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    let line = format!("left out: {name}: {reason}\n");
    // A closed terminal has no reader.
    let _ = std::io::stderr().write_all(line.as_bytes());
    true
}

fn installed(variable: &str, default: &str) -> PathBuf {
    let named = std::env::var_os(variable).map(PathBuf::from);
    named.unwrap_or_else(|| root().join(default))
}

/// Returns the first program that is in no directory of programs.
fn missing_program(names: &[&str]) -> Option<String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/sbin".into());
    let is_missing = |name: &&&str| !folders.iter().any(|folder| folder.join(name).is_file());
    let name = names.iter().find(is_missing)?;
    Some(format!("{name} is not installed"))
}

fn is_faketime_installed() -> bool {
    let Ok(folders) = std::fs::read_dir("/usr/lib") else {
        return false;
    };
    folders.filter_map(Result::ok).any(|folder| {
        let library = folder.path().join("faketime/libfaketimeMT.so.1");
        library.is_file()
    })
}

#[cfg(test)]
mod tests {
    use super::missing_program;

    #[test]
    fn the_missing_program_is_named() {
        assert_eq!(missing_program(&["sh"]), None);
        let reason = missing_program(&["sh", "no-such-program"]);
        assert_eq!(reason.unwrap(), "no-such-program is not installed");
    }
}
