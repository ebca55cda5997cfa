//! The settings of a site.

use crate::database::Kind;
use std::path::PathBuf;

/// The protocol of carriers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Protocol {
    /// SMPP, to `ogene smsc`.
    Smpp,
    /// HTTP, to the sink of the benchmark.
    Http,
}

/// The settings that all scenarios of a run share.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// The release binary.
    pub(crate) ogene: PathBuf,
    /// The parent of the directories of scenarios.
    pub(crate) target: PathBuf,
    /// HTTP connections of the scenario `single`.
    pub(crate) connections: usize,
    pub(crate) binds: u32,
    pub(crate) window: u32,
    /// The limit of each carrier.
    pub(crate) max_per_second: Option<u32>,
    /// Number of carriers, all at the same SMSC, which share the numbers evenly.
    pub(crate) carriers: usize,
    pub(crate) protocol: Protocol,
    /// More keys of the gateway of messages that name none.
    pub(crate) gateway: &'static str,
    /// More sections of the configuration.
    pub(crate) sections: String,
    pub(crate) response_delay: String,
    pub(crate) receipt_delay: String,
    pub(crate) database: Kind,
    /// Processes of the service. More than one needs PostgreSQL.
    pub(crate) nodes: usize,
    /// Cores that each process may use.
    pub(crate) cores: Option<f64>,
    /// Settled messages of the scenario `stored`.
    pub(crate) stored: u64,
    /// Numbers that the scenario `dnd` imports.
    pub(crate) dnd_numbers: u64,
    /// Single messages of a scenario that states no number of its own.
    pub(crate) messages: u64,
    /// The section `[limits]`.
    pub(crate) limits: &'static str,
    /// Maximum connections of SMPP users to each process. Without it no customer can bind.
    pub(crate) smpp_connections: Option<u32>,
}
