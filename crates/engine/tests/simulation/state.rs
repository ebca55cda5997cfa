//! The state that outlives the process: the seed's randomness, carriers, receivers, and the trace.

use super::carrier::Smsc;
use super::customers::Send;
use super::dice::Dice;
use super::fault::Fault;
use super::receiver::Receivers;
use engine::Clock;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::time::Instant;

/// Everything outside the process. All tasks are on one thread, so the lock is never waited for.
#[derive(Clone)]
pub(crate) struct Outside(Arc<Mutex<State>>);

pub(crate) struct State {
    pub(crate) dice: Dice,
    pub(crate) faults: BTreeSet<Fault>,
    /// `true` once the script is over and no fault happens any more.
    pub(crate) well: bool,
    /// When this life of the process began: milliseconds of the simulation, and the runtime's time.
    began: (u64, Instant),
    /// The clock of the engine.
    clock: Clock,
    /// How often a one-time password may go out.
    pub(crate) otp_copies: u32,
    /// `true` if windows have room for all partly submitted messages.
    pub(crate) wide: bool,
    pub(crate) smscs: [Smsc; 2],
    pub(crate) receivers: Receivers,
    pub(crate) sends: Vec<Send>,
    pub(crate) disk: DiskMood,
    /// The clock was set while the script ran.
    pub(crate) jumped: bool,
    /// A notification here ends the life of the process.
    pub(crate) kill: Arc<Notify>,
    pub(crate) trace: Trace,
}

/// How the disk is, and until when.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DiskMood {
    pub(crate) fault: Option<Fault>,
    pub(crate) until_ms: u64,
    /// After so many commits the process is killed, at one of them.
    pub(crate) kill_after: Option<u64>,
}

/// The events, in order.
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
            well: false,
            began: (0, Instant::now()),
            clock: Clock::manual(0),
            otp_copies: 1,
            wide: false,
            smscs: Default::default(),
            receivers: Receivers::default(),
            sends: Vec::new(),
            disk: DiskMood::default(),
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
    /// Milliseconds since the simulation began; no clock that is set moves them.
    pub(crate) fn now_ms(&self) -> u64 {
        let passed = self.began.1.elapsed().as_millis();
        self.began.0 + u64::try_from(passed).unwrap()
    }

    /// The instant of this life at a time of the simulation.
    pub(crate) fn instant(&self, at_ms: u64) -> Instant {
        let after = at_ms.saturating_sub(self.began.0);
        self.began.1 + std::time::Duration::from_millis(after)
    }

    /// Unix milliseconds, as the engine has them.
    pub(crate) fn clock_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// A new life of the process begins.
    pub(crate) fn begin(&mut self, at_ms: u64, clock: Clock) {
        self.began = (at_ms, Instant::now());
        self.clock = clock;
        self.kill = Arc::default();
        for smsc in &mut self.smscs {
            smsc.hang_up(None);
        }
    }

    /// Returns `true` if this fault happens now.
    pub(crate) fn strikes(&mut self, fault: Fault, percent: u64) -> bool {
        !self.well && self.faults.contains(&fault) && self.dice.percent(percent)
    }

    pub(crate) fn note(&mut self, line: &str) {
        let line = format!("{:>8} {line}", self.now_ms());
        self.trace.add(line);
    }
}

impl Trace {
    fn add(&mut self, line: String) {
        // FNV-1a: the same on every machine.
        for byte in line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
        self.lines.push(line);
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }
}
