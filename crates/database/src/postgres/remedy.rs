//! A PostgreSQL server that cannot be used, with the remedy.

use super::server::{READ_BACK, Server};
use std::fmt;

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
    pub(super) fn new(server: &Server, fault: Diagnosis) -> Self {
        let server = Box::new(server.clone());
        Self { server, fault }
    }

    /// Returns `true` if all connections are taken.
    pub(super) fn is_full(&self) -> bool {
        matches!(self.fault, Diagnosis::Full(_))
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
                "what answers at {} is a pooler that drops settings (`{}` is {found} after it was \
                 set to {})",
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
                "turn `default_transaction_read_only` off, for the role, the database and the \
                 server"
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
pub(super) const OLDEST_MAJOR: i32 = 15;
