//! The settings of a site.

use crate::database::Kind;
use std::path::PathBuf;

/// The settings that all scenarios of a run share.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// The release binary.
    pub(crate) ogene: PathBuf,
    /// Where the directories of the scenarios are made.
    pub(crate) target: PathBuf,
    /// HTTP connections, in the scenario `single`.
    pub(crate) connections: usize,
    pub(crate) binds: u32,
    pub(crate) window: u32,
    /// The limit of each carrier.
    pub(crate) max_per_second: Option<u32>,
    /// All at the same SMSC; the numbers are shared out evenly among them.
    pub(crate) carriers: usize,
    pub(crate) response_delay: String,
    pub(crate) receipt_delay: String,
    pub(crate) database: Kind,
    /// Processes of the service; more than one only on PostgreSQL.
    pub(crate) nodes: usize,
    /// That each of them may use.
    pub(crate) cores: Option<f64>,
    /// Settled messages in the scenario that is about them.
    pub(crate) stored: u64,
    /// Single messages that are sent, where nothing else says how many.
    pub(crate) messages: u64,
    /// The section `[limits]`.
    pub(crate) limits: &'static str,
}
