//! The lives of one process: it starts, works while things go wrong, dies or is ended, and starts again, until
//! the script is over and the world is well.

use super::carrier::Smsc;
use super::checks;
use super::customers::{self, START_MS};
use super::fault::Fault;
use super::rules;
use super::state::{DiskMood, Outside};
use super::world::{Pipes, disk};
use database::Commit;
use engine::{Clock, Engine, Random, Settings, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::Store;
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

/// How long things go wrong, milliseconds of the simulation.
const SCRIPT_MS: u64 = 30_000;
/// How often it is looked whether all is done, how far the clock goes on then, and after how many looks it is
/// too late.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);
const LEAP_MS: i64 = 30_000;
const MAX_LOOKS: usize = 90;
/// Afterwards nothing may happen any more for as long as what was simulated is kept, which is a day.
const AFTERWARDS_MS: i64 = 20 * 3_600_000;

/// Said of a process that is ended in order.
pub(crate) const ENDING: &str = "the process is ended in order";

/// The result of a seed.
pub(crate) struct Ended {
    pub(crate) violations: Vec<String>,
    pub(crate) hash: u64,
    pub(crate) lines: Vec<String>,
}

/// How a life ended, and when by both times.
struct Death {
    over: bool,
    at_ms: u64,
    clock_ms: i64,
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap()
}

/// Simulates one seed.
pub(crate) fn simulate(seed: u64) -> Ended {
    // Seeds share this process, and so does a seed that runs twice.
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let name = format!("simulation-{}", RUNS.fetch_add(1, Ordering::Relaxed));
    let outside = Outside::new(seed);
    let settings = {
        let mut state = outside.lock();
        customers::plan(&mut state);
        rules::settings(&mut state)
    };
    // The holder keeps the database while no process has it open.
    let holder = runtime();
    let held = holder.block_on(async {
        let well = Arc::new(Commit::default);
        let store = Store::in_memory(&name, well).await.unwrap();
        customers::open_accounts(&store, &outside).await;
        store
    });
    let mut violations = Vec::new();
    let (mut at_ms, mut clock_ms) = (0, START_MS);
    for life in 0_u64.. {
        let process = Process {
            outside: outside.clone(),
            name: name.clone(),
            settings: settings.clone(),
            random: Random::seeded(seed.wrapping_mul(1_000) + life),
        };
        let death = runtime().block_on(process.live(at_ms, clock_ms, &mut violations));
        if death.over {
            break;
        }
        (at_ms, clock_ms) = (death.at_ms, death.clock_ms);
    }
    drop(held);
    let mut state = outside.lock();
    Ended {
        violations,
        hash: state.trace.hash(),
        lines: std::mem::take(&mut state.trace.lines),
    }
}

/// One life of the process.
struct Process {
    outside: Outside,
    name: String,
    settings: Settings,
    random: Random,
}

impl Process {
    async fn live(self, died_ms: u64, clock_ms: i64, violations: &mut Vec<String>) -> Death {
        let (clock, kill) = {
            let mut state = self.outside.lock();
            let pause_ms = state.dice.between(1, 3_000);
            let clock = Clock::timer(clock_ms + i64::try_from(pause_ms).unwrap());
            state.begin(died_ms + pause_ms, clock.clone());
            state.note("a process starts");
            (clock, Arc::clone(&state.kill))
        };
        let over = tokio::select! {
            biased;
            () = kill.notified() => false,
            over = self.work(&clock, violations) => over,
        };
        let mut state = self.outside.lock();
        state.note(&format!("the process is gone, over: {over}"));
        Death {
            over,
            at_ms: state.now_ms(),
            clock_ms: clock.now_ms(),
        }
    }

    /// Works until it is ended; gives whether all is over.
    async fn work(&self, clock: &Clock, violations: &mut Vec<String>) -> bool {
        let world = System {
            clock: clock.clone(),
            random: self.random.clone(),
            network: Arc::new(Pipes(self.outside.clone())),
        };
        let Ok(store) = Store::in_memory(&self.name, disk(&self.outside)).await else {
            return false;
        };
        let engine = match Engine::start(store.clone(), self.settings.clone(), world).await {
            Ok(engine) => engine,
            Err(error) => {
                self.outside.note(|| format!("no start: {error}"));
                return false;
            }
        };
        customers::send_all(&self.outside, &engine, clock);
        if !self.suffer(clock).await {
            self.outside.note(|| ENDING.to_owned());
            engine.shutdown().await;
            return false;
        }
        self.heal();
        violations.extend(self.settle(&store, clock).await);
        violations.extend(checks::check(&self.outside, &store).await);
        engine.shutdown().await;
        violations.extend(checks::check_rest(&self.name).await);
        true
    }

    /// Injects faults until the script is over; returns `false` if the process must end in order.
    async fn suffer(&self, clock: &Clock) -> bool {
        loop {
            let pause_ms = {
                let mut state = self.outside.lock();
                if state.now_ms() >= SCRIPT_MS {
                    return true;
                }
                state.dice.between(200, 5_000)
            };
            sleep(Duration::from_millis(pause_ms)).await;
            let mut state = self.outside.lock();
            Smsc::befall(&mut state, 0);
            Smsc::befall(&mut state, 1);
            for fault in [Fault::DiskFull, Fault::DiskFails, Fault::DiskSlow] {
                if state.strikes(fault, 8) {
                    let until_ms = state.now_ms() + state.dice.between(100, 8_000);
                    state.disk.fault = Some(fault);
                    state.disk.until_ms = until_ms;
                    state.note(&format!("{fault:?} until {until_ms}"));
                }
            }
            for (fault, sign, most_ms) in [
                (Fault::ClockForward, 1, 300_000),
                (Fault::ClockBack, -1, 20_000),
            ] {
                if state.strikes(fault, 8) {
                    let jump_ms = sign * i64::try_from(state.dice.below(most_ms)).unwrap();
                    clock.set(clock.now_ms() + jump_ms);
                    state.jumped = true;
                    state.note(&format!("the clock jumps {jump_ms}"));
                }
            }
            if state.strikes(Fault::Killed, 10) {
                state.disk.kill_after = Some(state.dice.between(1, 20));
            } else if state.strikes(Fault::Killed, 5) {
                state.kill.notify_one();
            } else if state.strikes(Fault::Restarted, 8) {
                return false;
            }
        }
    }

    /// From here on nothing goes wrong.
    fn heal(&self) {
        let mut state = self.outside.lock();
        state.well = true;
        state.disk = DiskMood::default();
        state.smscs.iter_mut().for_each(Smsc::recover);
        state.note("the world is well");
    }

    /// Lets time pass until nothing is left to be done, and then a lot of it.
    async fn settle(&self, store: &Store, clock: &Clock) -> Option<String> {
        let mut left = String::new();
        for _ in 0..MAX_LOOKS {
            sleep(LOOK_INTERVAL).await;
            left = checks::left(&self.outside, store).await;
            if left.is_empty() {
                break;
            }
            clock.set(clock.now_ms() + LEAP_MS);
        }
        if !left.is_empty() {
            return Some(format!("in the end there is left: {left}"));
        }
        let before = checks::traffic(&self.outside);
        clock.set(clock.now_ms() + AFTERWARDS_MS);
        sleep(Duration::from_secs(12)).await;
        let after = checks::traffic(&self.outside);
        (before != after).then(|| format!("when all was over, {before:?} became {after:?}"))
    }
}
