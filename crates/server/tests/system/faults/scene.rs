//! A customer with much credit, and a service with a fault while the customer sends.

use super::daemon::Daemon;
use super::invariants;
use super::kept::Kept;
use super::trial::{Stage, end_well};
use super::workload::{Attempt, REACHED, Sending, UNREACHED, Workload};
use crate::customer::{Client, wait_until};
use crate::installation::Installation;
use std::mem;
use std::process::{Command, ExitStatus};

/// Maximum number of sends before the fault must have happened. They more than fill the write-ahead
/// log.
const MANY: u64 = 1_000;
/// All credit of the customer, in kobo.
const CREDITED: i64 = 9_030_000;
const CREDIT: [&str; 6] = [
    "wallet",
    "credit",
    "--reference",
    "much",
    "--amount",
    "90000",
];

/// A kept installation with much credit, its peers, and a service with a fault.
pub(crate) struct Scene {
    pub(crate) kept: Kept,
    pub(crate) ogene: Installation,
    pub(crate) stage: Stage,
    pub(crate) service: Daemon,
    client: Client,
    pub(crate) workload: Workload,
}

impl Scene {
    pub(crate) fn set(serve: impl FnOnce(&Installation) -> Command) -> Self {
        Self::with("", serve)
    }

    /// Adds keys to the section of the carrier.
    pub(crate) fn with(more: &str, serve: impl FnOnce(&Installation) -> Command) -> Self {
        let kept = Kept::embedded();
        let (ogene, _) = kept.copy();
        let stage = Stage::with(&ogene, more);
        let account = ["--account", &kept.customer.account];
        ogene.json(&[&CREDIT[..], &account].concat());
        let service = Daemon::start(serve(&ogene));
        let address = service.address.clone().expect("it serves");
        let client = Client::new(&address, &kept.customer.token);
        Self {
            kept,
            ogene,
            stage,
            service,
            client,
            workload: Workload::of(Vec::new(), CREDITED),
        }
    }

    /// Sends to two new recipients, one of whom is reached. Returns the result.
    pub(crate) fn send(&mut self) -> Attempt {
        self.send_as(|sending| sending)
    }

    /// Sends the same in another way.
    pub(crate) fn send_as(&mut self, way: impl FnOnce(Sending) -> Sending) -> Attempt {
        let place = self.workload.sendings.len() as u64;
        assert!(place < MANY, "nothing has befallen the disk");
        let mut sending = way(Sending::new(place, &[REACHED, UNREACHED]));
        sending.attempt(&mut self.client, &self.stage.receiver.url);
        let attempt = sending.attempts[0];
        self.workload.sendings.push(sending);
        attempt
    }

    /// Starts the service again after one that has ended or was killed. Returns the end and the log
    /// of that one.
    pub(crate) fn serve_again(&mut self) -> (ExitStatus, String) {
        wait_until("it has ended", || self.service.has_ended());
        let service = Daemon::start(self.ogene.command(&["serve"]));
        let address = service.address.clone().expect("it serves again");
        self.client = Client::new(&address, &self.kept.customer.token);
        mem::replace(&mut self.service, service).end()
    }

    /// Sends all messages once more, waits until nothing is in flight, and judges the invariants.
    pub(crate) fn judge(mut self) {
        let entries = invariants::statement(&self.ogene, &self.kept.customer);
        assert!(self.workload.is_recent(), "the machine is fast enough");
        let url = &self.stage.receiver.url;
        self.workload.send_again(&mut self.client, url);
        self.stage
            .wait_until_told(&self.workload, &mut self.client, |_| ());
        invariants::judge(
            &self.kept,
            &self.ogene,
            &self.stage,
            &mut self.workload,
            &mut self.client,
            &entries,
        );
        end_well(self.service, &self.ogene);
    }
}
