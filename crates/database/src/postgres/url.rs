//! URLs of PostgreSQL as libpq and providers write them, rewritten for the driver.

use url::Url;

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Parameters that the driver reads as libpq does.
const PARAMETERS: [&str; 8] = [
    "application_name",
    "dbname",
    "host",
    "hostaddr",
    "password",
    "port",
    "sslmode",
    "user",
];

const SSL_MODES: [&str; 6] = [
    "disable",
    "allow",
    "prefer",
    "require",
    "verify-ca",
    "verify-full",
];

/// Parameters without a meaning here, with the values that change nothing.
const IGNORED: [(&str, &[&str]); 5] = [
    ("channel_binding", &["disable", "prefer"]),
    ("gssencmode", &["disable", "prefer"]),
    ("load_balance_hosts", &["disable"]),
    ("sslnegotiation", &["postgres"]),
    ("target_session_attrs", &["any", "read-write", "primary"]),
];

const ESCAPES: &str = "in a password, / ? # @ and % are written %2F %3F %23 %40 and %25";

const SEVERAL_HOSTS: &str = "names several hosts, and the driver takes one: name the address that \
                             always leads to the primary, such as that of a proxy";

/// A URL in the driver's form, and the parameters that the driver does not get.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Normal {
    pub(super) url: Url,
    /// Settings of each connection. The driver would send them as start-up parameters, which
    /// poolers refuse or drop.
    pub(super) settings: Vec<(String, String)>,
    /// Files of certificates and keys, by the parameter that names them.
    pub(super) files: Vec<(&'static str, String)>,
}

/// Reads a URL.
///
/// # Errors
/// The fault, as the end of a sentence. It never includes a part that may be secret.
pub(super) fn normalise(text: &str) -> Result<Normal, String> {
    let Some(rest) = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme)) else {
        let text = "must begin with postgres://, as in postgres://ogene:password@localhost/ogene; \
                    leave it out to use the embedded database in `data_dir`";
        return Err(text.to_owned());
    };
    let url = parse(rest)?;
    let mut read = Read::default();
    if let Some(host) = url.host_str().filter(|host| host.starts_with('[')) {
        // The driver would treat the brackets as a part of the name.
        read.keep("host", bare(host));
    }
    for (name, value) in url.query_pairs() {
        read.parameter(&name, &value)?;
    }
    read.finish(url)
}

/// Parses the text after the scheme. The host may be missing.
fn parse(rest: &str) -> Result<Url, String> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    // Text behind a surplus `@` may be the end of a password.
    if tail.contains(['@', '#']) {
        return Err(format!("has an @ or # behind its host; {ESCAPES}"));
    }
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (format!("{user}@"), host),
        None => (String::new(), authority),
    };
    if host.contains(',') {
        return Err(SEVERAL_HOSTS.to_owned());
    }
    let has_host = !host.is_empty() && !host.starts_with(':');
    let default = if has_host || (user.is_empty() && host.is_empty()) {
        ""
    } else {
        "localhost"
    };
    let url = format!("postgres://{user}{default}{host}{tail}");
    url.parse()
        .map_err(|fault| format!("is no URL: {fault}; {ESCAPES}"))
}

/// Returns an address of IP version 6 without its brackets.
fn bare(host: &str) -> &str {
    let inner = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    inner.unwrap_or(host)
}

/// The parameters read so far.
#[derive(Default)]
struct Read {
    /// Parameters for the driver.
    pairs: Vec<(String, String)>,
    ssl_mode: Option<String>,
    root: Option<String>,
    settings: Vec<(String, String)>,
    files: Vec<(&'static str, String)>,
}

impl Read {
    fn keep(&mut self, name: &str, value: &str) {
        self.pairs.push((name.to_owned(), value.to_owned()));
    }

    fn parameter(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "host" | "hostaddr" | "port" if value.contains(',') => {
                return Err(SEVERAL_HOSTS.to_owned());
            }
            "host" => self.keep(name, bare(value)),
            "sslmode" if SSL_MODES.contains(&value) => self.ssl_mode = Some(value.to_owned()),
            "sslmode" => {
                return Err(format!(
                    "has an `sslmode` other than {}",
                    SSL_MODES.join(", ")
                ));
            }
            "sslrootcert" => self.root = Some(value.to_owned()),
            "sslcert" => self.file("sslcert", value),
            "sslkey" => self.file("sslkey", value),
            "connect_timeout" if value.parse::<i32>().is_ok() => {}
            "connect_timeout" => {
                return Err("has a `connect_timeout` that is no number of seconds".to_owned());
            }
            "channel_binding" if value == "require" => {
                return Err(
                    "asks for `channel_binding=require`, which the driver does not have: leave it \
                            out, and put `sslmode=verify-full`, which makes sure of the server too"
                        .to_owned(),
                );
            }
            "pgbouncer" => {
                return Err(
                    "names a pooler in transaction mode (`pgbouncer`): name the server itself, or \
                            a pool in session mode, and leave that parameter out"
                        .to_owned(),
                );
            }
            "options" => self.options(value)?,
            _ if PARAMETERS.contains(&name) => self.keep(name, value),
            _ => {
                let option = name.strip_prefix("options[");
                if let Some(setting) = option.and_then(|name| name.strip_suffix(']')) {
                    return self.setting(setting, value);
                }
                let Some((_, values)) = IGNORED.iter().find(|(ignored, _)| *ignored == name) else {
                    return Err(format!(
                        "has a parameter `{name}` that nothing reads: leave it out"
                    ));
                };
                if !values.contains(&value) {
                    let values = values.join(", ");
                    return Err(format!("has a `{name}` other than {values}: leave it out"));
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, name: &'static str, path: &str) {
        self.files.push((name, path.to_owned()));
        self.keep(name, path);
    }

    /// Takes settings out of the server's command-line options. Other options are left to the
    /// driver.
    fn options(&mut self, text: &str) -> Result<(), String> {
        let mut others = Vec::new();
        let mut words = words(text).into_iter();
        while let Some(word) = words.next() {
            let setting = match word.strip_prefix("-c") {
                Some("") => words.next(),
                Some(rest) => Some(rest.to_owned()),
                None => word.strip_prefix("--").map(str::to_owned),
            };
            match setting
                .as_deref()
                .and_then(|setting| setting.split_once('='))
            {
                Some((name, value)) => self.setting(&name.replace('-', "_"), value)?,
                None => others.push(word.replace('\\', "\\\\").replace(' ', "\\ ")),
            }
        }
        if !others.is_empty() {
            self.keep("options", &others.join(" "));
        }
        Ok(())
    }

    fn setting(&mut self, name: &str, value: &str) -> Result<(), String> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
        if name.is_empty() || !name.chars().all(is_part) {
            return Err("has an option with a name that no setting has".to_owned());
        }
        self.settings.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    fn finish(mut self, mut url: Url) -> Result<Normal, String> {
        let named = |name| self.files.iter().any(|(parameter, _)| *parameter == name);
        if named("sslcert") != named("sslkey") {
            return Err("has one of `sslcert` and `sslkey`: name both".to_owned());
        }
        let mode = self.ssl_mode.take();
        let mode = match (mode.as_deref(), self.root.take()) {
            // The driver loads the system's authorities itself.
            (None | Some("verify-full"), Some(root)) if root == "system" => Some("verify-full"),
            (_, Some(root)) if root == "system" => {
                return Err(
                    "has `sslrootcert=system`, which needs `sslmode=verify-full`".to_owned(),
                );
            }
            (mode, Some(root)) => {
                self.file("sslrootcert", &root);
                // A URL that names an authority has the server verified by it, as in libpq.
                mode.map(|mode| if mode == "require" { "verify-ca" } else { mode })
            }
            (mode, None) => mode,
        };
        if let Some(mode) = mode {
            self.keep("sslmode", mode);
        }
        url.set_query(None);
        if !self.pairs.is_empty() {
            url.query_pairs_mut().extend_pairs(&self.pairs);
        }
        Ok(Normal {
            url,
            settings: self.settings,
            files: self.files,
        })
    }
}

/// Splits command-line options at blanks. A blank after a backslash does not split.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let mut is_escaped = false;
    for c in text.chars() {
        match c {
            '\\' if !is_escaped => {
                is_escaped = true;
                continue;
            }
            c if c.is_whitespace() && !is_escaped => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
        is_escaped = false;
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_as_providers_print_them_become_those_of_the_driver() {
        let table = [
            ("postgresql://u:p@h/d", "postgres://u:p@h/d"),
            (
                "postgres://u@[::1]:5432/d",
                "postgres://u@[::1]:5432/d?host=%3A%3A1",
            ),
            (
                "postgres://u@h/d?host=[fe80::2]",
                "postgres://u@h/d?host=fe80%3A%3A2",
            ),
            (
                "postgres://u:p@/d?host=/run/postgresql",
                "postgres://u:p@localhost/d?host=%2Frun%2Fpostgresql",
            ),
            ("postgres://u@:5433/d", "postgres://u@localhost:5433/d"),
            (
                "postgres:///d?host=/run/pg",
                "postgres:///d?host=%2Frun%2Fpg",
            ),
            ("postgres://%2Frun%2Fpg/d", "postgres://%2Frun%2Fpg/d"),
            (
                "postgres://u@h/d?connect_timeout=10&target_session_attrs=read-write&sslmode=require",
                "postgres://u@h/d?sslmode=require",
            ),
            (
                "postgres://u@h/d?channel_binding=prefer&gssencmode=disable",
                "postgres://u@h/d",
            ),
            // DigitalOcean.
            (
                "postgresql://doadmin:p@db-1-do-user-2.e.db.ondigitalocean.com:25060/defaultdb?sslmode=require",
                "postgres://doadmin:p@db-1-do-user-2.e.db.ondigitalocean.com:25060/defaultdb?sslmode=require",
            ),
            // Supabase, session mode.
            (
                "postgresql://postgres.abc:p@aws-0-eu-west-1.pooler.supabase.com:5432/postgres",
                "postgres://postgres.abc:p@aws-0-eu-west-1.pooler.supabase.com:5432/postgres",
            ),
            // Neon, for clients without SNI.
            (
                "postgres://u:p@ep-a-1.eu-central-1.aws.neon.tech/d?options=endpoint%3Dep-a-1",
                "postgres://u:p@ep-a-1.eu-central-1.aws.neon.tech/d?options=endpoint%3Dep-a-1",
            ),
            (
                "postgres://u@h/d?sslmode=require&sslrootcert=/ca.pem",
                "postgres://u@h/d?sslrootcert=%2Fca.pem&sslmode=verify-ca",
            ),
            (
                "postgres://u@h/d?sslmode=verify-full&sslrootcert=/ca.pem",
                "postgres://u@h/d?sslrootcert=%2Fca.pem&sslmode=verify-full",
            ),
            (
                "postgres://u@h/d?sslrootcert=system",
                "postgres://u@h/d?sslmode=verify-full",
            ),
        ];
        for (text, expected) in table {
            let normal = normalise(text).expect(text);
            assert_eq!(normal.url.as_str(), expected, "{text}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_followed_is_refused_with_a_sentence() {
        let table = [
            ("postgres://u:hush@h,i/d", "several hosts"),
            ("postgres://u:hush@h:1,i:2/d", "several hosts"),
            ("postgres://u:hush@/d?host=h,i", "several hosts"),
            ("postgres://u:hush@h/d?port=1,2", "several hosts"),
            (
                "postgres://u:hush@h/d?channel_binding=require",
                "verify-full",
            ),
            (
                "postgres://u:hush@h/d?target_session_attrs=standby",
                "read-write",
            ),
            ("postgres://u:hush@h/d?connect_timeout=soon", "seconds"),
            ("postgres://u:hush@h/d?sslmode=maybe", "verify-full"),
            (
                "postgres://u:hush@h/d?sslmode=require&sslrootcert=system",
                "verify-full",
            ),
            ("postgres://u:hush@h/d?sslcert=/c.pem", "name both"),
            ("postgres://u:hush@h/d?pgbouncer=true", "in session mode"),
            (
                "postgres://u:hush@h/d?schema=public",
                "`schema` that nothing reads",
            ),
            ("postgres://u:hush@h/d?options[a;b]=c", "no setting"),
            ("postgres://u:hush/hush@h/d", "%2F"),
            ("mysql://u:hush@h/d", "must begin with postgres://"),
        ];
        for (text, expected) in table {
            let sentence = normalise(text).expect_err(text);
            assert!(sentence.contains(expected), "{text}: {sentence}");
            assert!(!sentence.contains("hush"), "{sentence}");
        }
    }

    #[test]
    fn settings_are_taken_out_of_options_and_the_rest_stays() {
        let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            let owned = all
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            owned.collect()
        };
        let table = [
            (
                "options=-csearch_path%3Da,b",
                pairs(&[("search_path", "a,b")]),
                None,
            ),
            (
                "options=-c%20work_mem%3D1MB%20--statement-timeout%3D5s",
                pairs(&[("work_mem", "1MB"), ("statement_timeout", "5s")]),
                None,
            ),
            ("options[app.x]=y%20z", pairs(&[("app.x", "y z")]), None),
            ("options=-ca%3Db%5C%20c", pairs(&[("a", "b c")]), None),
            (
                "options=endpoint%3De%20-ca%3Db",
                pairs(&[("a", "b")]),
                Some("endpoint=e"),
            ),
        ];
        for (query, settings, left) in table {
            let normal = normalise(&format!("postgres://u@h/d?{query}")).expect(query);
            assert_eq!(normal.settings, settings, "{query}");
            let options = normal.url.query_pairs().find(|(name, _)| name == "options");
            assert_eq!(
                options.map(|(_, value)| value.into_owned()).as_deref(),
                left,
                "{query}"
            );
        }
    }

    #[test]
    fn files_are_known_by_the_parameter_that_names_them() {
        let url = "postgres://u@h/d?sslcert=/c&sslkey=/k&sslrootcert=/r";
        let files = [("sslcert", "/c"), ("sslkey", "/k"), ("sslrootcert", "/r")];
        let files = files.map(|(name, path)| (name, path.to_owned()));
        assert_eq!(normalise(url).expect(url).files, files);
    }
}
