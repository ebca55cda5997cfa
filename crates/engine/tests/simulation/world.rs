//! The outside world of the engine: a network of pipes, and a disk that may fail.

use super::fault::Fault;
use super::rules::CARRIERS;
use super::state::{Outside, State};
use super::{carrier, provider, receiver};
use database::{Commit, CommitVerdict, Disk};
use engine::{Network, NetworkFuture, Transport};
use rustls::RootCertStore;
use std::future::{pending, ready};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::duplex;

/// The capacity of a pipe.
const PIPE_OCTETS: usize = 64 * 1024;
/// A time longer than any process runs.
const NEVER: Duration = Duration::from_hours(1_000);

/// A network whose connections are pipes to simulated carriers and receivers.
pub(crate) struct Pipes(pub(crate) Outside);

impl Network for Pipes {
    fn resolve(&self, _name: &str) -> NetworkFuture<'_, Vec<IpAddr>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn dial(&self, address: SocketAddr) -> NetworkFuture<'_, Box<dyn Transport>> {
        let carrier = (0..CARRIERS.len()).find(|&which| carrier_address(which) == address);
        if let Some(which) = carrier {
            return Box::pin(ready(self.dial_carrier(which)));
        }
        if address == provider::address() {
            let (ours, theirs) = duplex(PIPE_OCTETS);
            tokio::spawn(provider::serve(self.0.clone(), theirs));
            return Box::pin(ready(Ok(Box::new(ours) as Box<dyn Transport>)));
        }
        let mut state = self.0.lock();
        let refuses = state.strikes(Fault::CallbackRefused, 30);
        if refuses || state.strikes(Fault::CallbackHangs, 5) {
            let unseen = state.receivers.unseen.entry(receiver::origin(address));
            *unseen.or_default() += 1;
            if !refuses {
                return Box::pin(pending());
            }
            state.note(&format!("receiver {address} refuses"));
            return Box::pin(ready(Err(io::ErrorKind::ConnectionRefused.into())));
        }
        let (ours, theirs) = duplex(PIPE_OCTETS);
        tokio::spawn(receiver::serve(self.0.clone(), address, theirs));
        Box::pin(ready(Ok(Box::new(ours) as Box<dyn Transport>)))
    }

    fn resolve_carrier<'a>(&'a self, address: &'a str) -> NetworkFuture<'a, Vec<SocketAddr>> {
        let which = CARRIERS.iter().position(|name| address.starts_with(name));
        Box::pin(ready(Ok(vec![carrier_address(which.unwrap())])))
    }

    fn roots(&self) -> RootCertStore {
        RootCertStore::empty()
    }
}

impl Pipes {
    fn dial_carrier(&self, which: usize) -> io::Result<Box<dyn Transport>> {
        let mut state = self.0.lock();
        if state.smscs[which].is_away(state.now_ms()) && state.dice.percent(50) {
            state.note(&format!("{} cannot be reached", CARRIERS[which]));
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        let (ours, theirs) = duplex(PIPE_OCTETS);
        tokio::spawn(carrier::serve(self.0.clone(), which, theirs));
        Ok(Box::new(ours))
    }
}

/// Returns the address of a carrier, at which no receiver listens.
fn carrier_address(which: usize) -> SocketAddr {
    let last = u8::try_from(which).unwrap();
    ([9, 9, 8, last], 2775).into()
}

/// Returns the disk of a process, with the faults of the state.
pub(crate) fn disk(outside: &Outside) -> Disk {
    let outside = outside.clone();
    Arc::new(move || {
        let mut state = outside.lock();
        let commit = commit(&mut state);
        if commit != Commit::default() {
            state.note(&format!("commit {commit:?}"));
        }
        commit
    })
}

fn commit(state: &mut State) -> Commit {
    if let Some(left) = &mut state.disk.kill_after {
        *left = left.saturating_sub(1);
        if *left == 0 {
            state.disk.kill_after = None;
            state.kill.notify_one();
            let made = state.dice.percent(50);
            return Commit {
                before: if made { Duration::ZERO } else { NEVER },
                after: NEVER,
                ..Commit::default()
            };
        }
    }
    let ill = state.disk.until_ms > state.now_ms();
    match state.disk.fault.filter(|_| ill && !state.faults_over) {
        Some(Fault::DiskFull) => Commit {
            verdict: CommitVerdict::Full,
            ..Commit::default()
        },
        Some(Fault::DiskFails) if state.dice.percent(70) => Commit {
            verdict: CommitVerdict::Failed,
            ..Commit::default()
        },
        Some(Fault::DiskSlow) => Commit {
            before: Duration::from_millis(state.dice.below(1_500)),
            after: Duration::from_millis(state.dice.below(1_500)),
            ..Commit::default()
        },
        _ if state.dice.percent(30) => Commit {
            // A sync takes some time, and other tasks run before and after it.
            before: Duration::from_millis(state.dice.below(3)),
            after: Duration::from_millis(state.dice.below(3)),
            ..Commit::default()
        },
        _ => Commit::default(),
    }
}
