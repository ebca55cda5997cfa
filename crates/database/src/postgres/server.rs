//! A PostgreSQL server, as named by a URL.

use super::url::{Normal, normalise};
use crate::citus::Placement;
use sqlx::ConnectOptions;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use std::fmt;
use std::time::Duration;

/// Timeout of a connection to the server, and of its first answers.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Prepared statements that a connection keeps.
const STATEMENTS: usize = 1_000;

/// Session settings of each connection. They are set after the connection is made, because poolers
/// refuse or drop start-up parameters.
///
/// - The server ends a session that stalls within a transaction, because others wait for its locks.
///   Locks of one dead node do not wait for each other, so all are free after the sum of both
///   timeouts.
/// - The server detects a lost client within 11 s.
/// - The isolation is the one that the statements are written for, whatever the role has set.
/// - Notices that are no warnings are left out.
///
/// Plans are made while tables are small and kept when they have grown. So a plan that is only good
/// for small tables is disabled: a scan in place of an index cost seconds for 128 receipts.
/// `verify` enables it again. For the same reason the price of a page is low. With the usual price,
/// looking up a hundred keys in an index seems dearer than a comparison of all rows of a small
/// table. Plans are generic: deletions by 64 keys were planned anew each time, 4 ms each, a quarter
/// of the server's time for single messages. Plans are not compiled: a disabled but necessary plan
/// seems so dear that compilation took a third of a second for three rows.
const SETTINGS: [(&str, &str); 12] = [
    ("jit", "off"),
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

/// A setting that is read back at the start, and its value as the server shows it. A pooler that
/// drops this one drops all.
pub(super) const READ_BACK: (&str, &str) = ("lock_timeout", "3s");

/// A database on a PostgreSQL server, and the size of its connection pool. Neither `Debug` nor
/// `Display` shows the password.
#[derive(Clone)]
pub struct Server {
    pub(super) options: Box<PgConnectOptions>,
    pub(super) connections: u32,
    /// Settings from its URL.
    settings: Vec<(String, String)>,
    /// Files from its URL, by parameter.
    files: Vec<(&'static str, String)>,
}

impl Server {
    /// Returns the size of the connection pool.
    pub fn connections(&self) -> usize {
        usize::try_from(self.connections).unwrap_or(usize::MAX)
    }

    /// Reads `postgres://role:password@host:port/database?sslmode=…`.
    ///
    /// # Errors
    /// The fault, as the end of a sentence. It never includes a part that may be secret.
    pub fn new(url: &str, connections: u32) -> Result<Self, String> {
        let Normal {
            url,
            settings,
            files,
        } = normalise(url)?;
        let options = PgConnectOptions::from_url(&url).map_err(|fault| fault.to_string())?;
        let options = match options.get_application_name() {
            Some(_) => options,
            None => options.application_name("ogene"),
        };
        // pgbouncer refuses a connection with this parameter, and no fraction is ever read as text.
        let options = options
            .extra_float_digits(None)
            .statement_cache_capacity(STATEMENTS)
            .disable_statement_logging();
        Ok(Self {
            options: Box::new(options),
            connections,
            settings,
            files,
        })
    }

    /// Returns the statement that sets the settings of the URL and of this program. Each connection
    /// runs it.
    pub(super) fn settings(&self, placement: Placement) -> String {
        let asked = self.settings.iter();
        let asked = asked.map(|(name, value)| (name.as_str(), value.as_str()));
        let plans = [("plan_cache_mode", placement.plan_cache_mode())];
        let all = asked.chain(SETTINGS).chain(plans).map(|(name, value)| {
            let value = value.replace('\\', "\\\\").replace('\'', "''");
            format!("set_config('{name}', E'{value}', false)")
        });
        format!("select {}", all.collect::<Vec<_>>().join(", "))
    }

    /// Returns the file that the URL names by this parameter.
    pub(super) fn file(&self, parameter: &str) -> Option<&str> {
        let named = self.files.iter().find(|(name, _)| *name == parameter);
        named.map(|(_, path)| path.as_str())
    }

    /// Returns the first unreadable file: its parameter, its path, and the reason.
    pub(super) fn unreadable_file(&self) -> Option<(&'static str, String, String)> {
        self.files.iter().find_map(|(parameter, path)| {
            let error = std::fs::read(path).err()?;
            Some((*parameter, path.clone(), error.to_string()))
        })
    }

    /// Returns the host, or the directory of the socket.
    pub fn host(&self) -> String {
        match self.options.get_socket() {
            Some(directory) => directory.display().to_string(),
            None => self.options.get_host().to_owned(),
        }
    }

    /// Returns the name of the database.
    pub fn database(&self) -> &str {
        // PostgreSQL uses the role's name if none is given.
        self.options.get_database().unwrap_or(self.role())
    }

    pub(super) fn role(&self) -> &str {
        self.options.get_username()
    }

    /// Returns `true` if TLS is not even tried.
    pub(super) fn is_plain(&self) -> bool {
        // sqlx treats "allow" as "disable".
        matches!(
            self.options.get_ssl_mode(),
            PgSslMode::Disable | PgSslMode::Allow
        )
    }
}

/// The address: host and port.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, port) = (self.host(), self.options.get_port());
        if host.contains(':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
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
    fn a_refused_url_does_not_show_its_password() {
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

    #[test]
    fn plans_are_generic_on_one_server_and_custom_where_citus_is() {
        let server = Server::new("postgres://ada@h/d", 8).expect("a URL");
        let table = [
            (Placement::OneServer, "force_generic_plan"),
            (Placement::ByBucket, "force_custom_plan"),
        ];
        for (placement, plans) in table {
            let text = server.settings(placement);
            let set = format!("set_config('plan_cache_mode', E'{plans}', false)");
            assert!(text.contains(&set), "{text}");
            assert_eq!(text.matches("plan_cache_mode").count(), 1, "{text}");
        }
    }

    #[test]
    fn settings_of_a_url_come_first_and_their_quotes_end_nothing() {
        let url = "postgres://ada@h/d?options[search_path]=a'b%5C&options[lock_timeout]=0";
        let text = Server::new(url, 8)
            .expect(url)
            .settings(Placement::OneServer);
        let path = r"select set_config('search_path', E'a''b\\', false), ";
        let start = format!("{path}set_config('lock_timeout', E'0', false), ");
        assert!(text.starts_with(&start), "{text}");
        assert!(
            text.contains("set_config('lock_timeout', E'3s', false)"),
            "{text}"
        );
    }
}
