//! The reference workload at one point: the fault, the restart, and the judgement.

use super::daemon::Daemon;
use super::invariants;
use super::kept::Kept;
use super::points::{self, Point};
use super::runner::Trial;
use super::workload::{self, REFUSED, UNREACHED, Workload};
use crate::customer::{Client, wait_until};
use crate::installation::Installation;
use crate::receiver::Receiver;
use smpp::simulator::{Delay, Fate, Received, Rule, Script, Smsc};
use smpp::{CommandStatus, DeliverSm, ReceiptState, esm_class};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Time in which outcomes must arrive before the service is asked to end.
const FIRST_TIMEOUT: Duration = Duration::from_secs(3);
const LONG_TIMEOUT: Duration = Duration::from_mins(1);
/// Binds and the window of each, which bound the pages in doubt after one fault.
pub(crate) const BINDS: usize = 2;
const WINDOW: usize = 10;
pub(crate) const IN_DOUBT_LIMIT: usize = 15;

/// Returns a healthy carrier.
pub(crate) fn well() -> Script {
    let fate = |last: u64, fate| Rule {
        suffix: last.to_string(),
        fate,
    };
    let within = |to| Delay {
        from: Duration::ZERO,
        to: Duration::from_millis(to),
    };
    Script {
        record: 100_000,
        rules: vec![
            fate(UNREACHED, Fate::Receipt(ReceiptState::Undeliverable)),
            fate(REFUSED, Fate::Refuse(CommandStatus::RINVDSTADR)),
        ],
        response_delay: within(5),
        receipt_delay: within(20),
        ..Script::default()
    }
}

/// The peers of an installation: the carrier and the customer's receiver. The runtime ends after them.
pub(crate) struct Stage {
    pub(crate) smsc: Smsc,
    pub(crate) receiver: Receiver,
    _runtime: Runtime,
}

impl Stage {
    pub(crate) fn set(ogene: &Installation) -> Self {
        Self::with(ogene, "")
    }

    /// Adds keys to the section of the carrier.
    pub(crate) fn with(ogene: &Installation, more: &str) -> Self {
        Self::configured(ogene, "", more)
    }

    /// Adds keys to `[http]`, and keys of the carrier or sections behind it.
    pub(crate) fn configured(ogene: &Installation, http: &str, more: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let smsc = runtime.block_on(Smsc::start(well())).expect("started");
        let receiver = runtime.block_on(Receiver::start());
        let delays = ["\"200ms\""; 20].join(", ");
        ogene.configure(&format!(
            "{http}\n[limits]\nsends_per_minute = 1000000\nreports_per_minute = 1000000\n\
             reads_per_minute = 1000000\n\
             [callbacks]\nallow_private_targets = true\nretry_delays = [{delays}]\n\
             [carriers.mtn]\naddress = \"{}\"\nsystem_id = \"ogene\"\npassword = \"secret\"\n\
             binds = {BINDS}\nwindow = {WINDOW}\nin_doubt_limit = {IN_DOUBT_LIMIT}\n{more}\n\
             [gateways.direct-refund]\ncarriers = [\"mtn\"]\nprice = \"6.00\"\nin_doubt_hold = \"300ms\"\n\
             [gateways.direct-corporate]\ncarriers = [\"mtn\"]\nprice = \"7.50\"\nin_doubt_hold = \"300ms\"\n",
            smsc.address(),
        ));
        Self {
            smsc,
            receiver,
            _runtime: runtime,
        }
    }

    pub(crate) fn has_told(&self, numbers: &[u64]) -> bool {
        let calls = self.receiver.calls();
        numbers.iter().all(|number| calls.contains_key(number))
    }

    /// Waits until all expected callbacks have arrived, and returns the missing ones.
    pub(crate) fn wait_until_told(
        &self,
        workload: &Workload,
        client: &mut Client,
        mut meanwhile: impl FnMut(&[u64]),
    ) {
        let told = workload.to_be_told();
        let end = Instant::now() + LONG_TIMEOUT;
        while !self.has_told(&told) {
            let in_time = Instant::now() < end;
            assert!(
                in_time,
                "nobody was told of {:?}",
                self.untold(workload, client)
            );
            meanwhile(&told);
            thread::park_timeout(Duration::from_millis(20));
        }
    }

    /// Returns the recipients without a callback, with the report and the number of submits of each.
    fn untold(&self, workload: &Workload, client: &mut Client) -> Vec<String> {
        let (calls, received) = (self.receiver.calls(), self.smsc.received());
        let mut untold = Vec::new();
        for sending in workload.sendings.iter().filter(|one| one.has_callback) {
            let report = sending.report(client);
            for number in &sending.numbers {
                let to = number.to_string();
                let submits = received.iter();
                let submits = submits.filter(|one| one.submit.destination.digits == to);
                let status = report.as_ref().and_then(|all| all.statuses.get(number));
                if let Some(status) = status.filter(|_| !calls.contains_key(number)) {
                    untold.push(format!("{number}: {status}, {} submits", submits.count()));
                }
            }
        }
        untold
    }

    /// A refused recipient that was in doubt waits for the receipt of the first copy, since the
    /// refusal of the second is no outcome. This receipt has an unknown id, as its response was
    /// lost.
    fn tell_of_refused(&self, numbers: &[u64]) {
        let calls = self.receiver.calls();
        let left = |received: &&Received| {
            let number = received.submit.destination.digits.parse().expect("digits");
            number % 10 == REFUSED && numbers.contains(&number) && !calls.contains_key(&number)
        };
        for received in self.smsc.received().iter().filter(left) {
            let receipt = DeliverSm {
                source: received.submit.destination.clone(),
                destination: received.submit.source.clone(),
                esm_class: esm_class::RECEIPT,
                short_message: format!(
                    "id:refused-{} stat:REJECTD err:011",
                    received.submit.destination.digits
                )
                .into(),
                ..DeliverSm::default()
            };
            self.smsc.send("ogene", receipt);
        }
    }
}

/// Runs the workload until it is done or the service has ended. The service is then asked to end,
/// unless the fault is fatal. Without a point there is no fault, and the calls are recorded.
fn live(
    kept: &Kept,
    ogene: &Installation,
    stage: &Stage,
    point: Option<&Point>,
) -> (Workload, Life) {
    let mut workload = Workload::new();
    let (command, patience) = match point {
        Some(point) => (point.serve(ogene), FIRST_TIMEOUT),
        None => (points::recorded(ogene), LONG_TIMEOUT),
    };
    let mut service = Daemon::start(command);
    if let Some(address) = service.address.clone() {
        let mut crediting = workload::credit(ogene, &kept.customer);
        let mut client = Client::new(&address, &kept.customer.token);
        workload.send(&mut client, &stage.receiver.url);
        let told = workload.to_be_told();
        let end = Instant::now() + patience;
        while workload::lives(&mut service) && !stage.has_told(&told) && Instant::now() < end {
            thread::park_timeout(Duration::from_millis(5));
        }
        workload.read_balance(&mut client);
        workload.read_reports(&mut client);
        crediting.wait().expect("it is ours");
    }
    let life = Life::end(service, ogene, point);
    (workload, life)
}

/// The run and the end of a service.
#[derive(Debug)]
pub(crate) struct Life {
    pub(crate) listened: bool,
    pub(crate) ended_alone: bool,
    pub(crate) code: Option<i32>,
    pub(crate) log: String,
}

impl Life {
    /// Asks a service to end, unless the fault at the point ends it.
    pub(crate) fn end(mut service: Daemon, ogene: &Installation, point: Option<&Point>) -> Self {
        let listened = service.address.is_some();
        if point.is_some_and(Point::is_sync) && Point::has_failed(ogene) {
            wait_until("it ends by itself", || service.has_ended());
        }
        let ended_alone = service.has_ended();
        service.terminate();
        let (status, log) = service.end();
        Self {
            listened,
            ended_alone,
            code: status.code(),
            log,
        }
    }

    /// Returns `true` if the fault at the point has happened.
    pub(crate) fn reached(&self, ogene: &Installation, point: &Point) -> bool {
        if point.kills() {
            self.code.is_none()
        } else {
            Point::has_failed(ogene)
        }
    }
}

impl Trial for Kept {
    fn kept(&self) -> &Kept {
        self
    }

    fn record(&self) -> Vec<Point> {
        let (ogene, _database) = self.copy();
        let stage = Stage::set(&ogene);
        let (workload, life) = live(self, &ogene, &stage, None);
        assert!(life.code == Some(0), "{life:?}");
        let told = workload.to_be_told();
        assert!(stage.has_told(&told) && !told.is_empty());
        points::all(&ogene)
    }

    fn attempt(&self, point: &Point) -> Option<bool> {
        attempt(self, point)
    }
}

/// Tries one point. Returns `true` if it was reached, or `None` if the machine was too slow for a
/// result.
fn attempt(kept: &Kept, point: &Point) -> Option<bool> {
    let (ogene, _database) = kept.copy();
    let stage = Stage::set(&ogene);
    let (mut workload, life) = live(kept, &ogene, &stage, Some(point));
    let reached = life.reached(&ogene, point);
    invariants::ended_as_it_should(point, reached, &life);

    let service = Daemon::start(ogene.command(&["serve"]));
    let address = service.address.clone().expect("it serves again");
    let mut client = Client::new(&address, &kept.customer.token);
    let entries = invariants::statement(&ogene, &kept.customer);
    workload::credit_again(&ogene, &kept.customer);
    if !workload.is_recent() {
        return None;
    }
    workload.send_again(&mut client, &stage.receiver.url);
    let mut asked = Instant::now();
    stage.wait_until_told(&workload, &mut client, |told| {
        if asked.elapsed() >= FIRST_TIMEOUT {
            asked = Instant::now();
            stage.tell_of_refused(told);
        }
    });
    invariants::judge(kept, &ogene, &stage, &mut workload, &mut client, &entries);
    end_well(service, &ogene);
    Some(reached)
}

/// Ends a service in order, and checks that its database is sound.
pub(crate) fn end_well(mut service: Daemon, ogene: &Installation) {
    service.terminate();
    assert_eq!(service.end().0.code(), Some(0));
    let verified = ogene.json(&["verify"]);
    assert_eq!(verified["violations"], serde_json::json!([]));
}
