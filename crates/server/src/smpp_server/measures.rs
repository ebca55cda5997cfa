//! The metrics of SMPP users.

use engine::BindRefusal;
use metrics::{Counter, Gauge, counter, gauge};
use smpp::CommandStatus;
use std::collections::HashMap;

/// The metrics of one bound connection.
pub(super) struct Measures {
    system_id: String,
    binds: Gauge,
    /// Answers by status.
    answers: HashMap<u32, Counter>,
    /// Requests above the window that are counted already.
    throttled: u64,
}

impl Measures {
    /// Counts a connection of a user until the value is dropped.
    pub(super) fn new(system_id: String) -> Self {
        let binds = gauge!("ogene_smpp_binds", "system_id" => system_id.clone());
        binds.increment(1.0);
        Self {
            system_id,
            binds,
            answers: HashMap::new(),
            throttled: 0,
        }
    }

    /// Counts an answer to a submit or query.
    pub(super) fn answered(&mut self, status: CommandStatus) {
        self.count(status, 1);
    }

    /// Counts the client's answer to a receipt.
    pub(super) fn delivered(&self, status: CommandStatus) {
        let system_id = self.system_id.clone();
        counter!("ogene_smpp_receipts_total", "system_id" => system_id, "status" => status.name())
            .increment(1);
    }

    /// Counts the requests above the window, whose total is `all`.
    pub(super) fn throttled(&mut self, all: u64) {
        if all > self.throttled {
            self.count(CommandStatus::RTHROTTLED, all - self.throttled);
            self.throttled = all;
        }
    }

    fn count(&mut self, status: CommandStatus, many: u64) {
        let system_id = &self.system_id;
        let counter = self.answers.entry(status.0).or_insert_with(|| {
            counter!("ogene_smpp_requests_total", "system_id" => system_id.clone(), "status" => status.name())
        });
        counter.increment(many);
    }
}

impl Drop for Measures {
    fn drop(&mut self) {
        self.binds.decrement(1.0);
    }
}

/// Counts a refused bind by its reason.
pub(super) fn bind_refused(refusal: &BindRefusal) {
    let reason = match refusal {
        BindRefusal::Unknown => "unknown",
        BindRefusal::Password => "password",
        BindRefusal::Address => "address",
        BindRefusal::Guessing => "guessing",
        BindRefusal::TooMany => "too_many",
        BindRefusal::Account => "account",
        BindRefusal::Busy => "busy",
        BindRefusal::Failed(_) => "failed",
    };
    counter!("ogene_smpp_binds_refused_total", "reason" => reason).increment(1);
}
