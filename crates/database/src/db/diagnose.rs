//! Diagnosis of a PostgreSQL server that cannot be used, and the remedy.

use super::relay::{NO_TLS, UNREACHABLE};
use super::server::{READ_BACK, Server};
use crate::error::Error;
use sqlx::Row;
use sqlx::postgres::{PgDatabaseError, PgRow};
use std::{fmt, io};

/// A PostgreSQL server that cannot be used. Its message ends with the remedy and shows no password.
#[derive(Debug)]
pub struct Unusable {
    // The box keeps every error small.
    server: Box<Server>,
    fault: Diagnosis,
}

/// The fault of a server. A `String` is the reason that the server or the system returned.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Diagnosis {
    /// The server does not answer.
    Unreachable(String),
    /// The server runs, but accepts no connection at the moment.
    NotReady,
    /// All connections of the server or of the role are taken.
    Full(String),
    /// The password is wrong, or the role is unknown and the server hides that.
    Password,
    /// The role does not exist, or may not log in.
    Role(String),
    /// The rules of access (`pg_hba.conf`) reject the role.
    NotAdmitted(String),
    /// The rules of access reject the role on a connection without TLS, which may be the cause.
    TlsRequired(String),
    /// TLS was requested, but is missing or failed.
    Tls(String),
    NoDatabase,
    /// The version of the server.
    TooOld(String),
    /// The encoding of the database, which lacks some characters.
    Encoding(String),
    /// The server is a standby of another one.
    Standby,
    ReadOnly,
    /// This setting is off, so that a commit would not survive a crash.
    NotDurable(&'static str),
    /// The search path names no schema.
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
    /// The server asks for a client certificate, and none was named.
    ClientCertificate(String),
    /// A file that the URL names cannot be read.
    File {
        parameter: &'static str,
        path: String,
        reason: String,
    },
    /// A pooler in transaction mode, which gives each transaction another connection.
    TransactionPool,
    /// A pooler that drops settings. The field is the value found instead.
    DropsSettings(String),
    /// Another fault at the start of a connection.
    Startup(String),
}

/// The message: the fault and its remedy.
impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.wrong(), self.remedy())
    }
}

impl std::error::Error for Unusable {}

impl Unusable {
    pub(super) fn fault(&self) -> &Diagnosis {
        &self.fault
    }

    fn wrong(&self) -> String {
        let server = format!("PostgreSQL at {}", self.server);
        let (role, database) = (self.server.role(), self.server.database());
        match &self.fault {
            Diagnosis::Unreachable(reason) => format!("{server} cannot be reached ({reason})"),
            Diagnosis::NotReady => format!("{server} is starting or stopping"),
            Diagnosis::Full(reason) => format!("{server} has no connection left ({reason})"),
            Diagnosis::Password => format!("{server} refuses the role {role} with this password"),
            Diagnosis::Role(reason) => format!("{server} does not let {role} log in ({reason})"),
            Diagnosis::NotAdmitted(reason) => format!("{server} does not admit {role} ({reason})"),
            Diagnosis::TlsRequired(reason) => {
                format!("{server} does not admit {role} without TLS ({reason})")
            }
            Diagnosis::Tls(reason) => format!("TLS with {server} failed ({reason})"),
            Diagnosis::NoDatabase => format!("there is no database {database} on {server}"),
            Diagnosis::TooOld(found) => {
                format!("{server} is version {found}, and ogene needs {OLDEST_MAJOR} or newer")
            }
            Diagnosis::Encoding(found) => {
                format!(
                    "the database {database} is encoded in {found}, which lacks most characters"
                )
            }
            Diagnosis::Standby => format!("{server} is a standby, where nothing can be written"),
            Diagnosis::ReadOnly => format!("{server} lets the role {role} only read"),
            Diagnosis::NotDurable(setting) => {
                format!("{server} has `{setting}` off, and a crash could lose what was accepted")
            }
            Diagnosis::NoSchema => {
                format!(
                    "the role {role} has no schema to make tables in on the database {database}"
                )
            }
            Diagnosis::MayNotCreate { schema } => {
                format!("the role {role} may not make tables in the schema {schema} of {database}")
            }
            Diagnosis::MayNotWrite { schema, tables } => format!(
                "the role {role} may not read and write {} in the schema {schema} of {database}",
                tables.join(", ")
            ),
            Diagnosis::Right(reason) => format!("{server} refuses the role {role} ({reason})"),
            Diagnosis::ClientCertificate(reason) => {
                format!("{server} asks {role} for a client certificate ({reason})")
            }
            Diagnosis::File { path, reason, .. } => {
                format!("the file {path} cannot be read ({reason})")
            }
            Diagnosis::TransactionPool => {
                let server = &self.server;
                format!("what answers at {server} is a pooler in transaction mode")
            }
            Diagnosis::DropsSettings(found) => format!(
                "what answers at {} is a pooler that drops settings (`{}` is {found} after it was set to {})",
                self.server, READ_BACK.0, READ_BACK.1
            ),
            Diagnosis::Startup(reason) => {
                format!("{server} refuses how a connection begins ({reason})")
            }
        }
    }

    fn remedy(&self) -> String {
        let (role, database) = (self.server.role(), self.server.database());
        let remedy = match &self.fault {
            Diagnosis::Unreachable(_) => {
                "see that it runs and that `database_url` names its host and port"
            }
            Diagnosis::NotReady => "try again when it runs",
            Diagnosis::Full(_) => "raise that limit, or lower `database_connections`",
            Diagnosis::Password => "correct them in `database_url`",
            Diagnosis::Role(_) => "create the role, or name another in `database_url`",
            Diagnosis::NotAdmitted(_) => "add a line for it to the server's pg_hba.conf",
            Diagnosis::TlsRequired(_) => "put `sslmode=require` into `database_url`",
            Diagnosis::Tls(_) => {
                "correct TLS at the server, or `sslmode` and `sslrootcert` in `database_url`"
            }
            Diagnosis::NoDatabase => {
                return format!(
                    "create it (`create database {database} owner {role}`), or name another in \
                     `database_url`"
                );
            }
            Diagnosis::TooOld(_) => "upgrade it",
            Diagnosis::Encoding(_) => {
                "name one in `database_url` that was created with `encoding 'UTF8'`"
            }
            Diagnosis::Standby => "name the primary in `database_url`",
            Diagnosis::ReadOnly => {
                "turn `default_transaction_read_only` off, for the role, the database and the server"
            }
            Diagnosis::NotDurable("synchronous_commit") => {
                "turn it on, for the role, the database and the server"
            }
            Diagnosis::NotDurable(_) => "turn it on in its postgresql.conf",
            Diagnosis::NoSchema => {
                return format!("create one that its search path names, and let {role} own it");
            }
            Diagnosis::MayNotCreate { schema } => {
                return format!("`grant create on schema {schema} to {role}`");
            }
            Diagnosis::MayNotWrite { schema, .. } => {
                let rights = "select, insert, update, delete on all tables";
                return format!("`grant {rights} in schema {schema} to {role}`");
            }
            Diagnosis::Right(_) => "grant it what it lacks",
            Diagnosis::ClientCertificate(_) => {
                "name one with `sslcert` and `sslkey` in `database_url`"
            }
            Diagnosis::File { parameter, .. } => {
                return format!("correct `{parameter}` in `database_url`");
            }
            Diagnosis::TransactionPool | Diagnosis::DropsSettings(_) => {
                "name the server itself, or a pool in session mode"
            }
            Diagnosis::Startup(_) => {
                "name the server itself, or leave out of `database_url` what it does not take"
            }
        };
        remedy.to_owned()
    }
}

/// The oldest release whose SQL is tested.
const OLDEST_MAJOR: i32 = 15;

/// Facts about the server, which a connection reads before the schema is touched.
#[derive(Clone, Debug)]
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
    /// The schema in which tables are made.
    pub(super) schema: Option<String>,
    pub(super) may_create: bool,
    /// `true` if the table of migrations exists.
    pub(super) has_migrations: bool,
    /// Existing tables of Ogene that the role may not read or write.
    pub(super) barred: Vec<String>,
    /// `true` if a migration is due.
    pub(super) is_due: bool,
    /// `true` if Citus is installed and the buckets lie, or will lie, on its workers.
    pub(super) is_citus: bool,
}

impl Facts {
    /// Reads the row of [`Self::SQL`].
    pub(super) fn read(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            version: row.try_get("version")?,
            version_number: row.try_get("version_number")?,
            encoding: row.try_get("encoding")?,
            is_standby: row.try_get("is_standby")?,
            is_read_only: row.try_get("is_read_only")?,
            synchronous_commit: row.try_get("synchronous_commit")?,
            fsync: row.try_get("fsync")?,
            full_page_writes: row.try_get("full_page_writes")?,
            schema: row.try_get("schema")?,
            may_create: row.try_get("may_create")?,
            has_migrations: row.try_get("has_migrations")?,
            barred: row.try_get("barred")?,
            is_due: false,
            is_citus: row.try_get("is_citus")?,
        })
    }

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
            to_regclass(quote_ident(current_schema()) || '._migrations') is not null as has_migrations,
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
            exists (select 1 from pg_extension where extname = 'citus') as is_citus";

    /// Returns the first fault that keeps Ogene from using the server.
    pub(super) fn fault(self) -> Option<Diagnosis> {
        let off = [
            ("synchronous_commit", self.synchronous_commit),
            ("fsync", self.fsync),
            ("full_page_writes", self.full_page_writes),
        ];
        let off = off.into_iter().find(|(_, value)| value == "off");
        if self.version_number / 10_000 < OLDEST_MAJOR {
            return Some(Diagnosis::TooOld(self.version));
        }
        if self.encoding != "UTF8" {
            return Some(Diagnosis::Encoding(self.encoding));
        }
        if self.is_standby {
            return Some(Diagnosis::Standby);
        }
        if self.is_read_only {
            return Some(Diagnosis::ReadOnly);
        }
        if let Some((setting, _)) = off {
            return Some(Diagnosis::NotDurable(setting));
        }
        let Some(schema) = self.schema else {
            return Some(Diagnosis::NoSchema);
        };
        if !self.barred.is_empty() {
            let tables = self.barred;
            return Some(Diagnosis::MayNotWrite { schema, tables });
        }
        (self.is_due && !self.may_create).then_some(Diagnosis::MayNotCreate { schema })
    }
}

impl Server {
    pub(super) fn unusable(&self, fault: Diagnosis) -> Error {
        let server = Box::new(self.clone());
        Error::Unusable(Unusable { server, fault })
    }

    /// Diagnoses a failure to connect, or to run the first statement.
    pub(super) fn judge(&self, error: sqlx::Error) -> Error {
        let fault = match error {
            // The kind `InvalidData` of rustls means a certificate that is not trusted.
            sqlx::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                tls(error.to_string())
            }
            sqlx::Error::Io(error) => Diagnosis::Unreachable(error.to_string()),
            sqlx::Error::Tls(error) => tls(error.to_string()),
            sqlx::Error::Protocol(reason) => Diagnosis::Unreachable(not_postgres(reason)),
            sqlx::Error::Database(error) => {
                let refusal = error.try_downcast_ref::<PgDatabaseError>().map(|refusal| {
                    let reason = refusal.message().to_owned();
                    refused(refusal.code(), refusal.routine(), reason, self.is_plain())
                });
                match refusal.flatten() {
                    Some(fault) => fault,
                    None => return sqlx::Error::Database(error).into(),
                }
            }
            error => return error.into(),
        };
        self.unusable(fault)
    }
}

/// Diagnoses a failure of TLS. A server may ask for a certificate before PostgreSQL answers.
fn tls(reason: String) -> Diagnosis {
    if reason.contains("CertificateRequired") {
        Diagnosis::ClientCertificate(reason)
    } else {
        Diagnosis::Tls(reason)
    }
}

/// Diagnoses a peer that is not PostgreSQL. The driver reads a zero where the connection was
/// closed.
fn not_postgres(reason: String) -> String {
    if reason.contains("SSLRequest: 0x00") {
        "it closed the connection without a word, as a proxy does that has no server".to_owned()
    } else {
        reason
    }
}

/// Diagnoses a refusal. Its text is in the server's language, so the code and the name of the
/// server's function decide.
fn refused(code: &str, routine: Option<&str>, reason: String, is_plain: bool) -> Option<Diagnosis> {
    Some(match code {
        UNREACHABLE => Diagnosis::Unreachable(reason),
        NO_TLS => Diagnosis::Tls(reason),
        "28P01" => Diagnosis::Password,
        "28000" if routine == Some("InitializeSessionUserId") => Diagnosis::Role(reason),
        // This is the only text that is compared: its code and routine are shared with other
        // errors.
        "28000" if reason.contains("valid client certificate") => {
            Diagnosis::ClientCertificate(reason)
        }
        "28000" if is_plain => Diagnosis::TlsRequired(reason),
        "28000" => Diagnosis::NotAdmitted(reason),
        "3D000" => Diagnosis::NoDatabase,
        "08P01" => Diagnosis::Startup(reason),
        // Two sessions shared one connection.
        "42P05" | "26000" => Diagnosis::TransactionPool,
        "42501" => Diagnosis::Right(reason),
        "53300" => Diagnosis::Full(reason),
        "57P03" => Diagnosis::NotReady,
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
            has_migrations: true,
            barred: Vec::new(),
            is_citus: false,
            is_due: true,
        }
    }

    #[test]
    fn only_a_due_migration_needs_the_right_to_create() {
        for (is_due, may_create, is_fault) in [
            (true, false, true),
            (true, true, false),
            (false, false, false),
        ] {
            let facts = Facts {
                may_create,
                is_due,
                ..good()
            };
            let schema = "public".to_owned();
            let fault = is_fault.then_some(Diagnosis::MayNotCreate { schema });
            assert_eq!(facts.fault(), fault, "due: {is_due}, may: {may_create}");
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
            let fault = is_old.then(|| Diagnosis::TooOld(version.to_owned()));
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
            ("off", Some(Diagnosis::NotDurable("synchronous_commit"))),
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
            ("28P01", "auth_failed", false, Some(Diagnosis::Password)),
            (
                "28000",
                "InitializeSessionUserId",
                true,
                Some(Diagnosis::Role(reason())),
            ),
            (
                "28000",
                "ClientAuthentication",
                false,
                Some(Diagnosis::NotAdmitted(reason())),
            ),
            (
                "28000",
                "ClientAuthentication",
                true,
                Some(Diagnosis::TlsRequired(reason())),
            ),
            ("3D000", "InitPostgres", false, Some(Diagnosis::NoDatabase)),
            (
                "53300",
                "InitProcess",
                false,
                Some(Diagnosis::Full(reason())),
            ),
            (
                "57P03",
                "ProcessStartupPacket",
                false,
                Some(Diagnosis::NotReady),
            ),
            ("08P01", "", false, Some(Diagnosis::Startup(reason()))),
            ("42P05", "", false, Some(Diagnosis::TransactionPool)),
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
    fn a_certificate_that_is_asked_for_is_told_from_other_refusals() {
        let reason = "connection requires a valid client certificate".to_owned();
        let fault = refused("28000", Some("ClientAuthentication"), reason.clone(), false);
        assert_eq!(fault, Some(Diagnosis::ClientCertificate(reason)));
        let alert = "received fatal alert: CertificateRequired".to_owned();
        assert_eq!(tls(alert.clone()), Diagnosis::ClientCertificate(alert));
        let other = "invalid peer certificate: UnknownIssuer".to_owned();
        assert_eq!(tls(other.clone()), Diagnosis::Tls(other));
    }

    #[test]
    fn a_sentence_says_what_is_wrong_and_what_to_do() {
        let server = Server::new("postgres://ada:hush@db.example.ng/ogene", 8).expect("a URL");
        let sentence = |fault| server.unusable(fault).to_string();
        insta::assert_snapshot!(sentence(Diagnosis::TooOld("14.22".to_owned())), @"PostgreSQL at db.example.ng:5432 is version 14.22, and ogene needs 15 or newer: upgrade it");
        insta::assert_snapshot!(sentence(Diagnosis::NotReady), @"PostgreSQL at db.example.ng:5432 is starting or stopping: try again when it runs");
        insta::assert_snapshot!(sentence(Diagnosis::TransactionPool), @"what answers at db.example.ng:5432 is a pooler in transaction mode: name the server itself, or a pool in session mode");
        insta::assert_snapshot!(sentence(Diagnosis::DropsSettings("0".to_owned())), @"what answers at db.example.ng:5432 is a pooler that drops settings (`lock_timeout` is 0 after it was set to 3s): name the server itself, or a pool in session mode");
        insta::assert_snapshot!(sentence(Diagnosis::ClientCertificate("no".to_owned())), @"PostgreSQL at db.example.ng:5432 asks ada for a client certificate (no): name one with `sslcert` and `sslkey` in `database_url`");
        insta::assert_snapshot!(sentence(Diagnosis::Unreachable(not_postgres("unexpected response from SSLRequest: 0x00 (at a line)".to_owned()))), @"PostgreSQL at db.example.ng:5432 cannot be reached (it closed the connection without a word, as a proxy does that has no server): see that it runs and that `database_url` names its host and port");
    }
}
