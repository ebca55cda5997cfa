//! The configuration: `ogene.toml` over the built-in defaults, and `OGENE_…` variables over both.
//!
//! Reading goes on after a fault, so that all faults of a file are named at once. The defaults are
//! those of the embedded file, which `ogene config default` prints. The defaults of carriers and
//! gateways are in `carrier` and `gateway`, and a test compares them with the file.

mod access;
mod callbacks;
mod carrier;
mod console;
mod content;
mod database;
mod defaults;
mod fault;
mod gateway;
mod http;
mod http_carrier;
mod http_receipts;
mod http_request;
mod inbound;
mod limits;
pub(crate) mod log;
mod mail;
mod payments;
mod public_url;
pub mod restart;
mod retention;
mod sandbox;
mod secret;
mod section;
mod smpp_server;
mod tariff;
mod tls;
mod tree;
mod value;
mod variables;
mod velocity;

pub use console::Console;
pub use database::Database;
pub use defaults::DEFAULT;
pub use fault::{ConfigFault, Origin};
pub use http::{Http, Metrics};
pub use limits::LimitsSection;
pub use log::{Log, LogFormat};
pub use public_url::PublicUrl;
pub use secret::Secret;
pub use smpp_server::SmppServer;
pub use tls::Tls;
pub(crate) use value::duration;
pub(crate) use variables::ours as our_variables;

use ::database::Target;
use domain::user::secret::Secret as LinkSecret;
use domain::{CarrierRules, CodeWords, GatewayRules, NumberPlan, Prohibited, Rulebook};
use fault::Faults;
use section::Section;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The files that are read if none is named: the first that exists. The second belongs to the
/// Debian package.
pub const FILES: [&str; 2] = ["ogene.toml", "/etc/ogene/ogene.toml"];

/// The configuration, complete and checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file it came from. `None` if only the defaults apply.
    pub file: Option<PathBuf>,
    /// The directory of the embedded database.
    pub data_dir: PathBuf,
    /// The PostgreSQL database that is used instead.
    pub database: Option<Database>,
    /// The API's address.
    pub http: Http,
    /// The entrance of customers who bind by SMPP.
    pub smpp_server: SmppServer,
    /// The limits of accounts, requests and the accept queue.
    pub limits: LimitsSection,
    /// Targets, retries and concurrency of callbacks.
    pub callbacks: engine::CallbackSettings,
    /// The retention of old data.
    pub retention: engine::Retention,
    /// The settings of inbound messages.
    pub inbound: engine::InboundSettings,
    /// The terms of top-ups, and the payment providers.
    pub payments: engine::PaymentSettings,
    /// The limits of messages to one number and to one block of numbers.
    pub velocity: domain::velocity::VelocityLimits,
    /// The web console.
    pub console: Console,
    /// The SMTP server by which one-time links go to their users, if there is one.
    pub mail: Option<engine::MailSettings>,
    /// The form and level of the log.
    pub log: Log,
    /// The SMSC accounts.
    pub carriers: Vec<engine::CarrierSettings>,
    /// The rules of the carriers, in the same order.
    pub carrier_rules: Vec<CarrierRules>,
    /// The gateways, with their carriers by index. Without gateways only the sandbox works.
    pub gateways: Vec<GatewayRules>,
    /// The number plan, from prefixes to networks.
    pub plan: NumberPlan,
    /// Phrases that make a text transactional.
    pub code_words: CodeWords,
    /// Phrases that no text may contain.
    pub prohibited: Prohibited,
    /// Hints that are no faults, one sentence each.
    pub notes: Vec<String>,
}

impl Config {
    /// Reads the file `path`, or the first of [`FILES`] that exists, or the defaults alone.
    ///
    /// # Errors
    /// Every fault of the file and the variables.
    pub fn load(
        path: Option<&Path>,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Vec<ConfigFault>> {
        let Some(path) = path.or_else(|| first_of(&FILES)) else {
            return Self::read("", FILES[0], variables);
        };
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| {
            let hint = match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "; run this as root or as the user of the service"
                }
                _ => "",
            };
            let text = format!("cannot be read: {error}{hint}");
            let (place, key) = (Origin::File(name.clone()), String::new());
            vec![ConfigFault { place, key, text }]
        })?;
        let mut config = Self::read(&text, &name, variables)?;
        config.notes.extend(access::notes(path, &text));
        Ok(Self {
            file: Some(path.to_owned()),
            ..config
        })
    }

    /// Reads the text of a file that is called `name` in faults.
    ///
    /// # Errors
    /// Every fault of the text and the variables.
    pub fn read(
        text: &str,
        name: &str,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, Vec<ConfigFault>> {
        let faults = Faults::default();
        let mut table = tree::parse(DEFAULT, |_| Origin::Default, &faults);
        let place = |line| Origin::Line(name.to_owned(), line);
        tree::merge(&mut table, tree::parse(text, place, &faults));
        let unknown = variables::overlay(&mut table, variables);
        // After a fault of TOML every later fault would be a guess.
        if faults.is_empty() {
            let config = Self::from_tree(table, &unknown, &faults);
            if faults.is_empty() {
                return Ok(config);
            }
        }
        Err(faults.into_sorted())
    }

    /// Returns the database that stores everything.
    pub fn target(&self) -> Target {
        match &self.database {
            Some(database) => Target::Postgres(database.server.clone()),
            None => Target::Directory(self.data_dir.clone()),
        }
    }

    /// Returns the settings of the engine.
    pub fn settings(&self) -> engine::Settings {
        engine::Settings {
            rules: Rulebook {
                plan: self.plan.clone(),
                carriers: self.carrier_rules.clone(),
                gateways: if self.gateways.is_empty() {
                    gateway::for_sandbox()
                } else {
                    self.gateways.clone()
                },
                code_words: self.code_words.clone(),
                max_recipients: self.limits.max_recipients,
                private_callbacks: self.callbacks.allow_private_targets,
            },
            carriers: self.carriers.clone(),
            callbacks: self.callbacks.clone(),
            limits: self.limits.engine,
            guards: engine::GuardSettings {
                prohibited: self.prohibited.clone(),
                velocity: self.velocity,
            },
            retention: self.retention,
            inbound: self.inbound.clone(),
            payments: self.payments.clone(),
            mail: self.mail.clone(),
            sessions: self.console.sessions,
        }
    }

    /// Returns the address of a one-time link. Without `http.public_url` it begins with the address
    /// on which the service listens.
    pub fn link(&self, secret: &LinkSecret, listen: SocketAddr) -> String {
        let scheme = if self.http.tls.is_some() {
            "https"
        } else {
            "http"
        };
        let origin = match &self.http.public_url {
            Some(public) => public.origin().to_owned(),
            None if listen.ip().is_unspecified() => {
                format!("{scheme}://localhost:{}", listen.port())
            }
            None => format!("{scheme}://{listen}"),
        };
        format!("{origin}/links/{}", secret.text())
    }

    fn from_tree(table: tree::Table, unknown: &[String], faults: &Faults) -> Self {
        let mut root = Section::root(table, faults);
        let plan = content::number_plan(root.section("networks"));
        let http = Http::read(root.section("http"));
        let carriers = root.sections("carriers");
        let names: Vec<_> = carriers.iter().map(|(name, _)| name.clone()).collect();
        // After a fault a carrier is missing, and the configuration is refused.
        let (carriers, carrier_rules): (Vec<_>, Vec<_>) = carriers
            .into_iter()
            .filter_map(|(name, section)| carrier::read(name, section, http.public_url.as_ref()))
            .unzip();
        let known = gateway::Known {
            plan: &plan,
            carriers: &names,
        };
        let gateways = gateway::read_all(root.sections("gateways"), &known);
        let mut notes = notes(&carriers, &gateways);
        notes.extend(
            unknown
                .iter()
                .map(|name| format!("The variable {name} sets no key.")),
        );
        let database = database::read(&mut root);
        let (code_words, prohibited) = content::read(root.section("content"));
        let callbacks = callbacks::read(root.section("callbacks"));
        let (sandbox, sandbox_ms) = sandbox::read(root.section("sandbox"));
        let retention = retention::read(root.section("retention"), &gateways, &callbacks);
        let retention = engine::Retention {
            sandbox_ms,
            ..retention
        };
        let velocity = velocity::read(root.section("velocity"));
        let mail = mail::read(root.section("mail"), http.public_url.as_ref());
        let payments = payments::read(root.section("payments"), &http);
        let config = Self {
            file: None,
            data_dir: root.require("data_dir").unwrap_or_default(),
            database,
            smpp_server: smpp_server::read(root.section("smpp_server"), http.tls.is_some()),
            http,
            limits: LimitsSection::read(root.section("limits"), sandbox),
            callbacks,
            retention,
            inbound: inbound::read(root.section("inbound")),
            payments,
            velocity,
            console: console::read(root.section("console")),
            mail,
            log: Log::read(root.section("log")),
            code_words,
            prohibited,
            gateways,
            carriers,
            carrier_rules,
            plan,
            notes,
        };
        root.finish();
        config
    }
}

/// Returns the first file that exists.
fn first_of<'a>(files: &[&'a str]) -> Option<&'a Path> {
    let mut paths = files.iter().map(|file| Path::new(*file));
    paths.find(|path| path.exists())
}

/// Returns hints for the operator about a configuration without fault.
fn notes(carriers: &[engine::CarrierSettings], gateways: &[GatewayRules]) -> Vec<String> {
    let mut notes = Vec::new();
    if gateways.is_empty() {
        notes.push(
            "No gateway is configured: only the sandbox works, and live sends are refused (API-2009).".to_owned(),
        );
    }
    let is_used = |index: usize| {
        gateways.iter().any(|rules| {
            let networks = rules.preference.networks.iter().flatten().flatten();
            rules
                .preference
                .default
                .iter()
                .chain(networks)
                .any(|&carrier| carrier == index)
        })
    };
    for (_, carrier) in carriers
        .iter()
        .enumerate()
        .filter(|(index, _)| !is_used(*index))
    {
        notes.push(format!("No gateway uses the carrier `{}`.", carrier.name));
    }
    notes
}

#[cfg(test)]
mod tests;
