//! Why a PostgreSQL server cannot be used, and what to do about it.

use super::server::Server;
use crate::error::Error;
use sqlx::postgres::PgDatabaseError;
use std::{fmt, io};

/// A PostgreSQL server that cannot be used. Its sentence ends with what to do, and shows no password.
#[derive(Debug)]
pub struct Unusable {
    server: Server,
    fault: Fault,
}

/// What is wrong with it. A `String` is what the server or the system says.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Fault {
    /// Nobody answers.
    Unreachable(String),
    /// It runs, and takes nobody for the moment.
    NotReady,
    /// All connections that it has, or that the role may have, are taken.
    Full(String),
    /// A wrong password, or a role of which the server will not say that there is none.
    Password,
    /// There is no such role, or none that may log in.
    Role(String),
    /// The rules on who comes from where keep the role out.
    NotAdmitted(String),
    /// The same without TLS, which may be why.
    TlsRequired(String),
    /// TLS was asked for and there is none, or it failed.
    Tls(String),
    NoDatabase,
    /// Its version.
    TooOld(String),
    /// The database's encoding, which has not every character.
    Encoding(String),
    /// It follows another server.
    Standby,
    ReadOnly,
    /// This setting is off, and what is committed would not survive a crash.
    NotDurable(&'static str),
    /// The search path leads nowhere.
    NoSchema,
    MayNotCreate {
        schema: String,
    },
    MayNotWrite {
        schema: String,
        tables: Vec<String>,
    },
    /// Some other right is missing.
    Right(String),
}

/// What is wrong, and what to do about it.
impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.wrong(), self.remedy())
    }
}

impl std::error::Error for Unusable {}

impl Unusable {
    fn wrong(&self) -> String {
        let server = format!("PostgreSQL at {}", self.server);
        let (role, database) = (self.server.role(), self.server.database());
        match &self.fault {
            Fault::Unreachable(reason) => format!("{server} cannot be reached ({reason})"),
            Fault::NotReady => format!("{server} is starting or stopping"),
            Fault::Full(reason) => format!("{server} has no connection left ({reason})"),
            Fault::Password => format!("{server} refuses the role {role} with this password"),
            Fault::Role(reason) => format!("{server} does not let {role} log in ({reason})"),
            Fault::NotAdmitted(reason) => format!("{server} does not admit {role} ({reason})"),
            Fault::TlsRequired(reason) => {
                format!("{server} does not admit {role} without TLS ({reason})")
            }
            Fault::Tls(reason) => format!("TLS with {server} failed ({reason})"),
            Fault::NoDatabase => format!("there is no database {database} on {server}"),
            Fault::TooOld(found) => {
                format!("{server} is version {found}, and ogene needs {OLDEST_MAJOR} or newer")
            }
            Fault::Encoding(found) => {
                format!(
                    "the database {database} is encoded in {found}, which lacks most characters"
                )
            }
            Fault::Standby => format!("{server} is a standby, where nothing can be written"),
            Fault::ReadOnly => format!("{server} lets the role {role} only read"),
            Fault::NotDurable(setting) => {
                format!("{server} has `{setting}` off, and a crash could lose what was accepted")
            }
            Fault::NoSchema => {
                format!(
                    "the role {role} has no schema to make tables in on the database {database}"
                )
            }
            Fault::MayNotCreate { schema } => {
                format!("the role {role} may not make tables in the schema {schema} of {database}")
            }
            Fault::MayNotWrite { schema, tables } => format!(
                "the role {role} may not read and write {} in the schema {schema} of {database}",
                tables.join(", ")
            ),
            Fault::Right(reason) => format!("{server} refuses the role {role} ({reason})"),
        }
    }

    fn remedy(&self) -> String {
        let (role, database) = (self.server.role(), self.server.database());
        let remedy = match &self.fault {
            Fault::Unreachable(_) => {
                "see that it runs and that `database_url` names its host and port"
            }
            Fault::NotReady => "try again when it runs",
            Fault::Full(_) => "raise that limit, or lower `database_connections`",
            Fault::Password => "correct them in `database_url`",
            Fault::Role(_) => "create the role, or name another in `database_url`",
            Fault::NotAdmitted(_) => "add a line for it to the server's pg_hba.conf",
            Fault::TlsRequired(_) => "put `sslmode=require` into `database_url`",
            Fault::Tls(_) => {
                "correct TLS at the server, or `sslmode` and `sslrootcert` in `database_url`"
            }
            Fault::NoDatabase => {
                return format!(
                    "create it (`create database {database} owner {role}`), or name another in \
                     `database_url`"
                );
            }
            Fault::TooOld(_) => "upgrade it",
            Fault::Encoding(_) => {
                "name one in `database_url` that was created with `encoding 'UTF8'`"
            }
            Fault::Standby => "name the primary in `database_url`",
            Fault::ReadOnly => {
                "turn `default_transaction_read_only` off, for the role, the database and the server"
            }
            Fault::NotDurable("synchronous_commit") => {
                "turn it on, for the role, the database and the server"
            }
            Fault::NotDurable(_) => "turn it on in its postgresql.conf",
            Fault::NoSchema => {
                return format!("create one that its search path names, and let {role} own it");
            }
            Fault::MayNotCreate { schema } => {
                return format!("`grant create on schema {schema} to {role}`");
            }
            Fault::MayNotWrite { schema, .. } => {
                let rights = "select, insert, update, delete on all tables";
                return format!("`grant {rights} in schema {schema} to {role}`");
            }
            Fault::Right(_) => "grant it what it lacks",
        };
        remedy.to_owned()
    }
}

/// The oldest release whose SQL is tested.
const OLDEST_MAJOR: i32 = 15;

/// What a connection says of its server before the schema is touched.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, as the server tells it"
)]
pub(super) struct Facts {
    /// As in `15.4 (Debian …)`.
    pub(super) version: String,
    /// 150004 for 15.4.
    pub(super) version_number: i32,
    pub(super) encoding: String,
    pub(super) is_standby: bool,
    pub(super) is_read_only: bool,
    pub(super) synchronous_commit: String,
    pub(super) fsync: String,
    pub(super) full_page_writes: String,
    /// Where tables are made.
    pub(super) schema: Option<String>,
    pub(super) may_create: bool,
    /// Tables of ours that are there and that the role may not read or write.
    pub(super) barred: Vec<String>,
    /// Whether Citus is there, and buckets lie on its workers or are about to.
    pub(super) is_spread: bool,
}

impl Facts {
    pub(super) const SQL: &str = "select current_setting('server_version') as version,
            cast(current_setting('server_version_num') as integer) as version_number,
            current_setting('server_encoding') as encoding,
            pg_is_in_recovery() as is_standby,
            current_setting('transaction_read_only') = 'on' as is_read_only,
            current_setting('synchronous_commit') as synchronous_commit,
            current_setting('fsync') as fsync,
            current_setting('full_page_writes') as full_page_writes,
            cast(current_schema() as text) as schema,
            coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
            array(
                select name from unnest($1) as ours (name)
                join pg_class on pg_class.relname = name
                    and pg_class.relnamespace = to_regnamespace(quote_ident(current_schema()))
                where not (
                    has_table_privilege(pg_class.oid, 'select')
                    and has_table_privilege(pg_class.oid, 'insert')
                    and has_table_privilege(pg_class.oid, 'update')
                    and has_table_privilege(pg_class.oid, 'delete'))
                order by name
            ) as barred,
            exists (select 1 from pg_extension where extname = 'citus') as is_spread";

    /// The first thing that keeps Ogene from working there.
    pub(super) fn fault(self) -> Option<Fault> {
        let off = [
            ("synchronous_commit", self.synchronous_commit),
            ("fsync", self.fsync),
            ("full_page_writes", self.full_page_writes),
        ];
        let off = off.into_iter().find(|(_, value)| value == "off");
        if self.version_number / 10_000 < OLDEST_MAJOR {
            return Some(Fault::TooOld(self.version));
        }
        if self.encoding != "UTF8" {
            return Some(Fault::Encoding(self.encoding));
        }
        if self.is_standby {
            return Some(Fault::Standby);
        }
        if self.is_read_only {
            return Some(Fault::ReadOnly);
        }
        if let Some((setting, _)) = off {
            return Some(Fault::NotDurable(setting));
        }
        let Some(schema) = self.schema else {
            return Some(Fault::NoSchema);
        };
        if !self.barred.is_empty() {
            let tables = self.barred;
            return Some(Fault::MayNotWrite { schema, tables });
        }
        (!self.may_create).then_some(Fault::MayNotCreate { schema })
    }
}

impl Server {
    pub(super) fn unusable(&self, fault: Fault) -> Error {
        let server = self.clone();
        Error::Unusable(Unusable { server, fault })
    }

    /// What a failure to connect comes to, or of a first statement.
    pub(super) fn judge(&self, error: sqlx::Error) -> Error {
        let fault = match error {
            // rustls tells by this kind that a certificate is not to be trusted.
            sqlx::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                Fault::Tls(error.to_string())
            }
            sqlx::Error::Io(error) => Fault::Unreachable(error.to_string()),
            sqlx::Error::Tls(error) => Fault::Tls(error.to_string()),
            sqlx::Error::Database(error) => {
                let said = error.try_downcast_ref::<PgDatabaseError>().map(|said| {
                    let reason = said.message().to_owned();
                    refused(said.code(), said.routine(), reason, self.is_plain())
                });
                match said.flatten() {
                    Some(fault) => fault,
                    None => return Error::Database(sqlx::Error::Database(error)),
                }
            }
            error => return Error::Database(error),
        };
        self.unusable(fault)
    }
}

/// What a refusal means. Its text comes in the server's language, so the code and the name of the server's own
/// function tell.
fn refused(code: &str, routine: Option<&str>, reason: String, is_plain: bool) -> Option<Fault> {
    Some(match code {
        "28P01" => Fault::Password,
        "28000" if routine == Some("InitializeSessionUserId") => Fault::Role(reason),
        "28000" if is_plain => Fault::TlsRequired(reason),
        "28000" => Fault::NotAdmitted(reason),
        "3D000" => Fault::NoDatabase,
        "42501" => Fault::Right(reason),
        "53300" => Fault::Full(reason),
        "57P03" => Fault::NotReady,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Facts {
        let on = || "on".to_owned();
        Facts {
            version: "15.4".to_owned(),
            version_number: 150_004,
            encoding: "UTF8".to_owned(),
            is_standby: false,
            is_read_only: false,
            synchronous_commit: on(),
            fsync: on(),
            full_page_writes: on(),
            schema: Some("public".to_owned()),
            may_create: true,
            barred: Vec::new(),
            is_spread: false,
        }
    }

    #[test]
    fn a_server_older_than_15_is_refused() {
        let table = [
            (90_624, "9.6.24", true),
            (140_022, "14.22", true),
            (150_000, "15.0", false),
            (180_001, "18.1", false),
        ];
        for (version_number, version, is_old) in table {
            let facts = Facts {
                version: version.to_owned(),
                version_number,
                ..good()
            };
            let fault = is_old.then(|| Fault::TooOld(version.to_owned()));
            assert_eq!(facts.fault(), fault, "{version}");
        }
    }

    #[test]
    fn commits_that_wait_for_the_disk_are_enough() {
        for (value, fault) in [
            ("on", None),
            ("local", None),
            ("remote_write", None),
            ("remote_apply", None),
            ("off", Some(Fault::NotDurable("synchronous_commit"))),
        ] {
            let synchronous_commit = value.to_owned();
            let facts = Facts {
                synchronous_commit,
                ..good()
            };
            assert_eq!(facts.fault(), fault, "{value}");
        }
    }

    #[test]
    fn a_refusal_is_told_by_its_code_and_the_servers_own_function() {
        let reason = || "no".to_owned();
        let table = [
            ("28P01", "auth_failed", false, Some(Fault::Password)),
            (
                "28000",
                "InitializeSessionUserId",
                true,
                Some(Fault::Role(reason())),
            ),
            (
                "28000",
                "ClientAuthentication",
                false,
                Some(Fault::NotAdmitted(reason())),
            ),
            (
                "28000",
                "ClientAuthentication",
                true,
                Some(Fault::TlsRequired(reason())),
            ),
            ("3D000", "InitPostgres", false, Some(Fault::NoDatabase)),
            ("53300", "InitProcess", false, Some(Fault::Full(reason()))),
            (
                "57P03",
                "ProcessStartupPacket",
                false,
                Some(Fault::NotReady),
            ),
            ("XX000", "elog", false, None),
        ];
        for (code, routine, is_plain, fault) in table {
            assert_eq!(
                refused(code, Some(routine), reason(), is_plain),
                fault,
                "{code} {routine}"
            );
        }
    }

    #[test]
    fn a_sentence_says_what_is_wrong_and_what_to_do() {
        let server = Server::new("postgres://ada:hush@db.example.ng/ogene", 8).expect("a URL");
        let sentence = |fault| server.unusable(fault).to_string();
        insta::assert_snapshot!(sentence(Fault::TooOld("14.22".to_owned())), @"PostgreSQL at db.example.ng:5432 is version 14.22, and ogene needs 15 or newer: upgrade it");
        insta::assert_snapshot!(sentence(Fault::NotReady), @"PostgreSQL at db.example.ng:5432 is starting or stopping: try again when it runs");
    }
}
