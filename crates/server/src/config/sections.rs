//! The sections that stand once in a file.

use super::carrier::as_usize;
use super::secret::Secret;
use super::section::Section;
use super::tls::Tls;
use super::value::{Read, Size, Time};
use crate::http::{Codes, Places};
use database::Server;
use domain::client::AddressRange;
use domain::{CodeWords, NumberPlan, Prohibited};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;
use tracing_subscriber::EnvFilter;

/// Upper bound of `limits.max_recipients` (docs/spec/sending.md, section 1).
const MOST_RECIPIENTS: u32 = 100_000;
const MOST: u32 = 1_000_000_000;
const MOST_CONCURRENT: u32 = 100_000;
/// A body below this could not hold the recipients of an ordinary request.
const LEAST_BODY: Size = Size(64 << 10);
/// A quarter of the memory for bodies is for callers who are not known yet: the largest body must find room in it.
const LEAST_BODIES: usize = 4;
const MOST_CONNECTIONS: u32 = 1_000_000;
/// How long clients are waited for, at least so long that an honest one can be meant.
const CLIENT_TIMES: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_hours(1);
const MOST_RETRIES: usize = 100;
const RETRY_DELAY: RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_hours(7 * 24);
/// One connection alone would have those who read wait for those who write.
const CONNECTIONS: RangeInclusive<u32> = 2..=200;

/// Where `/metrics` is served.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Metrics {
    /// With the API.
    Shared,
    /// At an address of its own.
    At(SocketAddr),
    /// Nowhere.
    Closed,
}

/// `[http]`
#[derive(Clone, Debug)]
pub struct Http {
    /// Where the API is served.
    pub listen: SocketAddr,
    /// Where `/metrics` is served.
    pub metrics: Metrics,
    /// With what it is served over TLS.
    pub tls: Option<Tls>,
    /// Proxies that are believed when they say whom they speak for.
    pub trusted_proxies: Vec<AddressRange>,
    /// How codes are written.
    pub code_prefix: Codes,
    /// How many connections, and how long each may do nothing.
    pub places: Places,
    /// How long the body of a request may take to arrive.
    pub body_timeout: Duration,
}

impl Http {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let http = Self {
            listen: section.require("listen").unwrap_or(anywhere),
            metrics: metrics(&mut section),
            tls: section.has("tls").then(|| https(&mut section)).flatten(),
            trusted_proxies: section.get("trusted_proxies").unwrap_or_default(),
            code_prefix: codes(&mut section),
            places: Places {
                connections: as_usize(
                    section
                        .within("max_connections", 1..=MOST_CONNECTIONS)
                        .unwrap_or_default(),
                ),
                idle: section
                    .time("idle_timeout", CLIENT_TIMES)
                    .unwrap_or_default(),
            },
            body_timeout: section
                .time("body_timeout", CLIENT_TIMES)
                .unwrap_or_default(),
        };
        section.finish();
        http
    }
}

fn metrics(section: &mut Section<'_>) -> Metrics {
    let place = section.place_of("metrics_listen");
    let text: Option<String> = section.get("metrics_listen");
    match text.as_deref() {
        None => Metrics::Shared,
        Some("off") => Metrics::Closed,
        Some(text) => text.parse().map_or_else(
            |_| {
                let fault = format!(
                    "{text:?} is neither \"off\" nor an IP address and port such as 127.0.0.1:9090"
                );
                section.fault_at(&place, "metrics_listen", fault);
                Metrics::Shared
            },
            Metrics::At,
        ),
    }
}

fn codes(section: &mut Section<'_>) -> Codes {
    let place = section.place_of("code_prefix");
    let prefix: Option<String> = section.get("code_prefix");
    let codes = prefix.map_or_else(|| Ok(Codes::default()), |prefix| Codes::new(&prefix));
    codes.unwrap_or_else(|fault| {
        section.fault_at(&place, "code_prefix", fault);
        Codes::default()
    })
}

fn https(section: &mut Section<'_>) -> Option<Tls> {
    let place = section.place_of("tls");
    let mut tls = section.section("tls");
    let (certificate, key) = (tls.require("certificate"), tls.require("key"));
    tls.finish();
    let (certificate, key): (PathBuf, PathBuf) = (certificate?, key?);
    match Tls::read(certificate, key) {
        Ok(tls) => Some(tls),
        Err(text) => {
            section.fault_at(&place, "tls", text);
            None
        }
    }
}

/// `[limits]`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Sends of an account in any 60 seconds.
    pub sends_per_minute: u32,
    /// Delivery reports of an account in any 60 seconds.
    pub reports_per_minute: u32,
    /// All other reads of an account in any 60 seconds.
    pub reads_per_minute: u32,
    /// Unknown tokens from one address in a minute.
    pub unknown_tokens_per_minute: u32,
    /// Recipients in a request.
    pub max_recipients: usize,
    /// The largest request body, bytes.
    pub max_body_bytes: usize,
    /// All bodies in memory at once, bytes.
    pub body_memory_bytes: usize,
    /// Sends that may wait for a commit.
    pub accept_queue: usize,
}

impl Limits {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        let max_body = section
            .within("max_body", LEAST_BODY..=Size(1 << 30))
            .unwrap_or(LEAST_BODY);
        let least = Size(max_body.0 * LEAST_BODIES);
        let body_memory = section.within("body_memory", least..=Size(1 << 40));
        let mut count = |key, most| section.within(key, 1..=most).unwrap_or_default();
        let limits = Self {
            sends_per_minute: count("sends_per_minute", MOST),
            reports_per_minute: count("reports_per_minute", MOST),
            reads_per_minute: count("reads_per_minute", MOST),
            unknown_tokens_per_minute: count("unknown_tokens_per_minute", MOST),
            max_recipients: as_usize(count("max_recipients", MOST_RECIPIENTS)),
            accept_queue: as_usize(count("accept_queue", MOST)),
            max_body_bytes: max_body.0,
            body_memory_bytes: body_memory.unwrap_or_default().0,
        };
        section.finish();
        limits
    }

    pub(super) fn settings(&self, sandbox: engine::SandboxLimits) -> engine::Limits {
        engine::Limits {
            sends_per_minute: self.sends_per_minute,
            reports_per_minute: self.reports_per_minute,
            reads_per_minute: self.reads_per_minute,
            unknown_tokens_per_minute: self.unknown_tokens_per_minute,
            accept_queue: self.accept_queue,
            sandbox,
        }
    }
}

/// `[callbacks]`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Callbacks {
    /// Whether they may go to addresses that are not public.
    pub allow_private_targets: bool,
    /// How long to wait before each further attempt.
    pub retry_delays: Vec<Duration>,
    /// Under way at once.
    pub concurrency: usize,
    /// Under way at once to one origin of one account.
    pub concurrency_per_origin: usize,
}

impl Callbacks {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        let place = section.place_of("retry_delays");
        let retry_delays: Vec<Duration> = section.require("retry_delays").unwrap_or_default();
        if retry_delays.len() > MOST_RETRIES {
            let text = format!(
                "has {} delays; at most {MOST_RETRIES} are allowed",
                retry_delays.len()
            );
            section.fault_at(&place, "retry_delays", text);
        }
        if let Some(&delay) = retry_delays.iter().find(|one| !RETRY_DELAY.contains(*one)) {
            let [least, most] = [*RETRY_DELAY.start(), *RETRY_DELAY.end()].map(Time);
            let text = format!(
                "a delay must be from {least} to {most}, not {}",
                Time(delay)
            );
            section.fault_at(&place, "retry_delays", text);
        }
        let mut count =
            |key| as_usize(section.within(key, 1..=MOST_CONCURRENT).unwrap_or_default());
        let callbacks = Self {
            retry_delays,
            concurrency: count("concurrency"),
            concurrency_per_origin: count("concurrency_per_origin"),
            allow_private_targets: section.get("allow_private_targets").unwrap_or_default(),
        };
        section.finish();
        callbacks
    }

    pub(super) fn settings(&self) -> engine::CallbackSettings {
        engine::CallbackSettings {
            allow_private_targets: self.allow_private_targets,
            retry_delays: self.retry_delays.clone(),
            concurrency_per_origin: self.concurrency_per_origin,
            concurrency: self.concurrency,
        }
    }
}

/// `[log]`
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Log {
    /// How lines are written.
    pub format: LogFormat,
    /// What is logged, in the language of `tracing_subscriber`'s `EnvFilter`.
    pub level: String,
}

/// How the lines of the log are written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere.
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

impl Log {
    pub(super) fn read(mut section: Section<'_>) -> Self {
        const FORMATS: [(&str, LogFormat); 3] = [
            ("auto", LogFormat::Auto),
            ("json", LogFormat::Json),
            ("text", LogFormat::Text),
        ];
        let place = section.place_of("level");
        let log = Self {
            format: section
                .one_of("format", &FORMATS)
                .unwrap_or(LogFormat::Auto),
            level: section.require("level").unwrap_or_default(),
        };
        if let Err(error) = EnvFilter::try_new(&log.level) {
            section.fault_at(
                &place,
                "level",
                format!("{:?} is not a log level: {error}", log.level),
            );
        }
        section.finish();
        log
    }
}

/// `[networks]`: the operators' prefixes, or the built-in ones where nothing is given.
pub(super) fn number_plan(mut section: Section<'_>) -> NumberPlan {
    if section.is_empty() {
        return NumberPlan::nigeria();
    }
    let mut table = Vec::new();
    for (network, node) in section.take_all() {
        match Vec::<String>::read(&node) {
            Ok(prefixes) => table.push((network, prefixes)),
            Err(text) => section.fault_at(&node.place, &network, text),
        }
    }
    NumberPlan::new(&table).unwrap_or_else(|faults| {
        for text in faults {
            section.fault("", text);
        }
        NumberPlan::nigeria()
    })
}

/// `[content]`: what makes a text transactional, and what none may hold.
pub(super) fn content(mut section: Section<'_>) -> (CodeWords, Prohibited) {
    let words: Option<Vec<String>> = section.get("code_words");
    let prohibited: Option<Vec<String>> = section.get("prohibited");
    section.finish();
    let words = words.map_or_else(CodeWords::standard, |words| CodeWords::new(&words));
    (words, Prohibited::new(&prohibited.unwrap_or_default()))
}

/// The PostgreSQL database, as the configuration names it.
#[derive(Clone, Debug)]
pub struct Database {
    /// With its password.
    pub url: Secret,
    /// Kept by this process.
    pub connections: u32,
    /// What is connected to by both.
    pub server: Server,
}

/// `database_url` or `database_url_file`: the shared database, where the embedded one is not used.
pub(super) fn database(root: &mut Section<'_>) -> Option<Database> {
    let place = root.place_of("database_url");
    let url = root.secret("database_url", "database_url_file");
    let connections = root.within("database_connections", CONNECTIONS);
    let (url, connections) = (url?, connections.unwrap_or_default());
    match Server::new(url.reveal(), connections) {
        Ok(server) => Some(Database {
            url,
            connections,
            server,
        }),
        Err(fault) => {
            root.fault_at(&place, "database_url", fault);
            None
        }
    }
}
