//! The processes of one simulation. A process starts, works under faults, and is killed or shut
//! down. The last one works without faults until nothing is left to do.

use super::carrier::Smsc;
use super::checks;
use super::customers::{self, START_MS};
use super::fault::Fault;
use super::laws;
use super::rules;
use super::state::{DiskFaults, Outside};
use super::world::{Pipes, disk};
use database::Commit;
use engine::{Clock, Engine, Random, Settings, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::Store;
use tokio::runtime::{Builder, Runtime};
use tokio::time::sleep;

/// Duration of the faults, milliseconds of the simulation.
const SCRIPT_MS: u64 = 30_000;
/// Period of the checks at the end, the jump of the clock after each, and their maximum number.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);
const CLOCK_JUMP_MS: i64 = 30_000;
const MAX_CHECKS: usize = 90;
/// The final jump of the clock. It is shorter than the retention of the sandbox, which is a day.
const FINAL_JUMP_MS: i64 = 20 * 3_600_000;

/// The line in the trace for a shutdown.
pub(crate) const ENDING: &str = "the process is ended in order";

/// The result of a seed.
pub(crate) struct Ended {
    pub(crate) violations: Vec<String>,
    pub(crate) hash: u64,
    pub(crate) lines: Vec<String>,
}

/// The end of a process, with its time by both clocks.
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
    // Several runs in this process may have the same seed, so each has a number.
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let name = format!("simulation-{}", RUNS.fetch_add(1, Ordering::Relaxed));
    let outside = Outside::new(seed);
    let settings = {
        let mut state = outside.lock();
        customers::plan(&mut state);
        rules::settings(&mut state)
    };
    // This connection keeps the database in memory while no process runs.
    let holder = runtime();
    let held = holder.block_on(async {
        let healthy = Arc::new(Commit::default);
        let store = Store::in_memory(&name, healthy).await.unwrap();
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

/// One process of the simulation.
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

    /// Works until the process must end. Returns `true` if the simulation is over.
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
        if !self.inject_faults(&store, clock, violations).await {
            self.outside.note(|| ENDING.to_owned());
            engine.shutdown().await;
            return false;
        }
        self.end_faults();
        violations.extend(laws::broken(&store).await);
        violations.extend(self.settle(&store, clock).await);
        violations.extend(checks::check(&self.outside, &store).await);
        engine.shutdown().await;
        violations.extend(checks::check_rest(&self.name).await);
        true
    }

    /// Injects faults until their time is over. Returns `false` if the process must be shut down.
    async fn inject_faults(
        &self,
        store: &Store,
        clock: &Clock,
        violations: &mut Vec<String>,
    ) -> bool {
        loop {
            violations.extend(laws::broken(store).await);
            let pause_ms = {
                let mut state = self.outside.lock();
                if state.now_ms() >= SCRIPT_MS {
                    return true;
                }
                state.dice.between(200, 5_000)
            };
            sleep(Duration::from_millis(pause_ms)).await;
            let mut state = self.outside.lock();
            Smsc::inject(&mut state, 0);
            Smsc::inject(&mut state, 1);
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

    /// Ends all faults.
    fn end_faults(&self) {
        let mut state = self.outside.lock();
        state.faults_over = true;
        state.disk = DiskFaults::default();
        state.smscs.iter_mut().for_each(Smsc::recover);
        state.note("the world is well");
    }

    /// Advances the clock until nothing is left to do, and then by many hours.
    async fn settle(&self, store: &Store, clock: &Clock) -> Option<String> {
        let mut left = String::new();
        for _ in 0..MAX_CHECKS {
            sleep(CHECK_INTERVAL).await;
            left = checks::left(&self.outside, store).await;
            if left.is_empty() {
                break;
            }
            clock.set(clock.now_ms() + CLOCK_JUMP_MS);
        }
        if !left.is_empty() {
            return Some(format!("in the end there is left: {left}"));
        }
        let before = checks::traffic(&self.outside);
        clock.set(clock.now_ms() + FINAL_JUMP_MS);
        sleep(Duration::from_secs(12)).await;
        let after = checks::traffic(&self.outside);
        (before != after).then(|| format!("when all was over, {before:?} became {after:?}"))
    }
}
