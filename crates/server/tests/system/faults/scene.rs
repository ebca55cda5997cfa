//! A customer with much credit, and a service to which something happens while it sends.

use super::daemon::Daemon;
use super::invariants;
use super::kept::Kept;
use super::trial::{Stage, end_well};
use super::workload::{Attempt, REACHED, Sending, UNREACHED, Workload};
use crate::customer::{Client, wait_until};
use crate::installation::Installation;
use std::mem;
use std::process::{Command, ExitStatus};

/// Most sends until something has to have happened: more than fill the write-ahead log.
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

/// A kept installation with much credit, what is around it, and a service to which something will happen.
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

    /// With more said of the carrier.
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

    /// Sends to two who have not been sent to, of whom one is reached; gives what came of it.
    pub(crate) fn send(&mut self) -> Attempt {
        self.send_as(|sending| sending)
    }

    /// The same, in another way.
    pub(crate) fn send_as(&mut self, way: impl FnOnce(Sending) -> Sending) -> Attempt {
        let place = self.workload.sendings.len() as u64;
        assert!(place < MANY, "nothing has befallen the disk");
        let mut sending = way(Sending::new(place, &[REACHED, UNREACHED]));
        sending.attempt(&mut self.client, &self.stage.receiver.url);
        let attempt = sending.attempts[0];
        self.workload.sendings.push(sending);
        attempt
    }

    /// The service once more, after one that has ended or was killed; gives how that ended, and what it said.
    pub(crate) fn serve_again(&mut self) -> (ExitStatus, String) {
        wait_until("it has ended", || self.service.has_ended());
        let service = Daemon::start(self.ogene.command(&["serve"]));
        let address = service.address.clone().expect("it serves again");
        self.client = Client::new(&address, &self.kept.customer.token);
        mem::replace(&mut self.service, service).end()
    }

    /// Sends everything once more, waits until all has come to rest, and judges it.
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
