//! A PostgreSQL server, as a URL names it.

use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::fmt;
use url::Url;

/// Prepared statements kept by a connection.
const STATEMENTS: usize = 1_000;
/// What a URL may say behind its `?`, in the words of libpq.
const PARAMETERS: [&str; 12] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "password",
    "port",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];
/// What each connection asks of the server: to end one that died within a transaction, whose locks the others
/// wait for, and not to let those of one dead node wait for each other, each to be ended in its turn (so locks
/// are free after the sum of both times); to find out in 11 s that the other end is gone; the isolation that the
/// statements are written for, whatever is set for the role; and to leave out what is no warning.
///
/// Plans are made while tables are small and kept when they have grown, so what is only good for small tables
/// is not to be considered: a scan in place of an index cost seconds for 128 receipts. `verify` allows it again.
/// For the same reason a page counts little against the work on it: with the usual price of a page, looking a
/// hundred keys up in an index seems dearer than comparing all rows of a small table with each. Plans are kept
/// whatever the values: those of deletions by 64 keys were made anew each time, 4 ms each, a quarter of all that
/// the server did for single messages. And plans are not compiled: what is forbidden and has to be used all the
/// same seems so dear that a third of a second went on compiling the tidying of three rows.
const SETTINGS: [(&str, &str); 13] = [
    ("jit", "off"),
    ("plan_cache_mode", "force_generic_plan"),
    ("random_page_cost", "0.1"),
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("default_transaction_isolation", "read committed"),
    ("idle_in_transaction_session_timeout", "2s"),
    ("lock_timeout", "3s"),
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("client_min_messages", "warning"),
];

/// A database on a PostgreSQL server, and how many connections are kept to it. Neither form of it shows the
/// password.
#[derive(Clone)]
pub struct Server {
    pub(super) options: Box<PgConnectOptions>,
    pub(super) connections: u32,
}

impl Server {
    /// Reads `postgres://role:password@host:port/database?sslmode=…`.
    ///
    /// # Errors
    /// What is wrong with it, as the end of a sentence; never a part that may be secret.
    pub fn new(url: &str, connections: u32) -> Result<Self, String> {
        let known = ["postgres://", "postgresql://"];
        if !known.iter().any(|scheme| url.starts_with(scheme)) {
            let text = "must begin with postgres://, as in postgres://ogene:password@localhost/ogene; leave it \
                        out to use the embedded database in `data_dir`";
            return Err(text.to_owned());
        }
        let url: Url = url
            .parse()
            .map_err(|fault| format!("is no URL: {fault}; {ESCAPES}"))?;
        // What a URL holds behind an `@` too many may be the end of a password.
        let rest = [Some(url.path()), url.query(), url.fragment()];
        if url.fragment().is_some() || rest.iter().flatten().any(|part| part.contains('@')) {
            return Err(format!("has an @ or # behind its host; {ESCAPES}"));
        }
        for (name, _) in url.query_pairs() {
            if !PARAMETERS.contains(&&*name) && !name.starts_with("options[") {
                return Err(format!("has a parameter `{name}` that nothing reads"));
            }
        }
        let options = PgConnectOptions::from_url(&url).map_err(|fault| fault.to_string())?;
        let options = match options.get_application_name() {
            Some(_) => options,
            None => options.application_name("ogene"),
        };
        let options = options
            .options(SETTINGS)
            .statement_cache_capacity(STATEMENTS)
            .disable_statement_logging();
        Ok(Self {
            options: Box::new(options),
            connections,
        })
    }

    /// Its host, or the directory of its socket.
    pub fn host(&self) -> String {
        match self.options.get_socket() {
            Some(directory) => directory.display().to_string(),
            None => self.options.get_host().to_owned(),
        }
    }

    /// The name of the database.
    pub fn database(&self) -> &str {
        // PostgreSQL takes the role's name where none is given.
        self.options.get_database().unwrap_or(self.role())
    }

    pub(super) fn role(&self) -> &str {
        self.options.get_username()
    }

    /// Whether TLS is not even tried.
    pub(super) fn is_plain(&self) -> bool {
        // sqlx takes "allow" for "disable".
        matches!(
            self.options.get_ssl_mode(),
            PgSslMode::Disable | PgSslMode::Allow
        )
    }
}

const ESCAPES: &str = "in a password, / ? # @ and % are written %2F %3F %23 %40 and %25";

/// Where it is: host and port.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host(), self.options.get_port())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}/{}", self.database())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_host_and_database_and_its_password_shows_nowhere() {
        let table = [
            ("postgres://ada:hush@h/d", "h:5432/d"),
            (
                "postgresql://ada:hush@[::1]:6/d?sslmode=require",
                "[::1]:6/d",
            ),
            ("postgres://ada:hu%2Fsh@h", "h:5432/ada"),
            (
                "postgres://ada@h/d?password=hush&options[search_path]=s",
                "h:5432/d",
            ),
            ("postgres://ada@localhost/d?host=/run/pg", "/run/pg:5432/d"),
        ];
        for (url, shown) in table {
            let server = Server::new(url, 8).expect(url);
            assert_eq!(format!("{server:?}"), shown);
            assert!(shown.starts_with(&server.to_string()), "{server}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_right_is_refused_without_showing_a_password() {
        let table = [
            "mysql://ada:hush@h/d",
            "postgres://ada:hush#hush@h/d",
            "postgres://ada:12/hush@h/d",
            "postgres://ada:12?hush@h/d",
            "postgres://ada:hush/hush@h/d",
            "postgres://ada:hush@h:port/d",
            "postgres://ada:hush@h/d?pasword=hush",
            "postgres://ada:hush@h/d?sslmode=maybe",
        ];
        for url in table {
            let fault = Server::new(url, 8).expect_err(url);
            assert!(!fault.contains("hush"), "{fault}");
        }
    }
}
