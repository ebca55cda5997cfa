//! The responses to the submits of a load.

use crate::figures::Latencies;
use anyhow::{Result, bail};
use smpp::CommandStatus;
use std::time::{Duration, Instant};

/// The responses to the submits of a load.
pub(crate) struct Answers {
    pub(crate) began: Instant,
    pub(crate) time: Duration,
    pub(crate) accepted: u64,
    pub(crate) refused: u64,
    pub(crate) latencies: Latencies,
    /// The delays of submits behind their times, in an open loop.
    pub(crate) lateness: Latencies,
    refusal: Option<CommandStatus>,
}

impl Answers {
    pub(super) fn new(began: Instant) -> Result<Self> {
        Ok(Self {
            began,
            time: Duration::ZERO,
            accepted: 0,
            refused: 0,
            latencies: Latencies::new()?,
            lateness: Latencies::new()?,
            refusal: None,
        })
    }

    /// Notes the response to a submit.
    pub(super) fn note(&mut self, status: CommandStatus, latency: Duration) {
        if status.is_ok() {
            self.accepted += 1;
            self.latencies.record(latency);
        } else {
            self.refused += 1;
            self.refusal.get_or_insert(status);
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.latencies.join(&other.latencies);
        self.lateness.join(&other.lateness);
        self.refusal = self.refusal.or(other.refusal);
    }

    /// Fails unless every submit was accepted.
    pub(super) fn checked(mut self) -> Result<Self> {
        self.time = self.began.elapsed();
        match self.refusal {
            None => Ok(self),
            Some(status) => bail!("a submit was refused: {status:?}"),
        }
    }
}
