//! The state outside of the processes: randomness, carriers, receivers, and the trace.

use super::carrier::Smsc;
use super::customers::Send;
use super::dice::Dice;
use super::fault::Fault;
use super::payments::PlannedTopUp;
use super::provider::Book;
use super::receiver::Receivers;
use super::transfers::PlannedTransfer;
use engine::Clock;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::Instant;

/// The state outside of the processes. All tasks share one thread, so the lock is always free.
#[derive(Clone)]
pub(crate) struct Outside(Arc<Mutex<State>>);

pub(crate) struct State {
    pub(crate) dice: Dice,
    pub(crate) faults: BTreeSet<Fault>,
    /// `true` after the last fault.
    pub(crate) faults_over: bool,
    /// The start of the current process: milliseconds of the simulation, and the time of the
    /// runtime.
    began: (u64, Instant),
    /// The clock of the engine.
    clock: Clock,
    /// The maximum number of submits of a one-time password.
    pub(crate) otp_copies: u32,
    /// `true` if the windows never limit delayed multipart recipients.
    pub(crate) wide: bool,
    pub(crate) smscs: [Smsc; 2],
    pub(crate) receivers: Receivers,
    pub(crate) sends: Vec<Send>,
    pub(crate) top_ups: Vec<PlannedTopUp>,
    pub(crate) transfers: Vec<PlannedTransfer>,
    /// The payments at the provider.
    pub(crate) book: Book,
    pub(crate) disk: DiskFaults,
    /// `true` if the clock was set during the faults.
    pub(crate) jumped: bool,
    /// Notified to kill the process.
    pub(crate) kill: Arc<Notify>,
    pub(crate) trace: Trace,
}

/// The faults of the disk, and their end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DiskFaults {
    pub(crate) fault: Option<Fault>,
    pub(crate) until_ms: u64,
    /// The number of commits after which the process is killed during a commit.
    pub(crate) kill_after: Option<u64>,
}

/// The lines of the trace and their hash.
#[derive(Default)]
pub(crate) struct Trace {
    pub(crate) lines: Vec<String>,
    hash: u64,
}

impl Outside {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let faults = super::fault::choose(&mut dice);
        Self(Arc::new(Mutex::new(State {
            dice,
            faults,
            faults_over: false,
            began: (0, Instant::now()),
            clock: Clock::manual(0),
            otp_copies: 1,
            wide: false,
            smscs: Default::default(),
            receivers: Receivers::default(),
            sends: Vec::new(),
            top_ups: Vec::new(),
            transfers: Vec::new(),
            book: Book::default(),
            disk: DiskFaults::default(),
            jumped: false,
            kill: Arc::default(),
            trace: Trace::default(),
        })))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    pub(crate) fn note(&self, line: impl FnOnce() -> String) {
        self.lock().note(&line());
    }
}

impl State {
    /// Returns milliseconds since the start of the simulation, which clock steps do not change.
    pub(crate) fn now_ms(&self) -> u64 {
        let passed = self.began.1.elapsed().as_millis();
        self.began.0 + u64::try_from(passed).unwrap()
    }

    /// Returns the instant of the runtime at a time of the simulation.
    pub(crate) fn instant(&self, at_ms: u64) -> Instant {
        let after = at_ms.saturating_sub(self.began.0);
        self.began.1 + std::time::Duration::from_millis(after)
    }

    /// Returns the wall clock of the engine in Unix milliseconds.
    pub(crate) fn clock_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Records the start of a process.
    pub(crate) fn begin(&mut self, at_ms: u64, clock: Clock) {
        self.began = (at_ms, Instant::now());
        self.clock = clock;
        self.kill = Arc::default();
        for smsc in &mut self.smscs {
            smsc.hang_up(None);
        }
    }

    /// Returns `true` if a fault happens now.
    pub(crate) fn strikes(&mut self, fault: Fault, percent: u64) -> bool {
        !self.faults_over && self.faults.contains(&fault) && self.dice.percent(percent)
    }

    /// Returns the different codes that a phone received.
    pub(crate) fn received(&self, phone: u64) -> Vec<String> {
        let codes = self.smscs.iter().filter_map(|smsc| smsc.codes.get(&phone));
        let codes: BTreeSet<&String> = codes.flatten().collect();
        codes.into_iter().cloned().collect()
    }

    pub(crate) fn note(&mut self, line: &str) {
        let line = format!("{:>8} {line}", self.now_ms());
        self.trace.add(line);
    }
}

impl Trace {
    fn add(&mut self, line: String) {
        // FNV-1a gives the same hash on every machine.
        for byte in line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        self.lines.push(line);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }
}
