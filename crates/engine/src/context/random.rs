//! Randomness, passed as an argument. Only this file reads it from the system.

use database::Outage;
use domain::NodeId;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Outage of the random source of the system.
static NO_BYTES: Outage = Outage::of("the system gives no random bytes");

/// A source of randomness.
#[derive(Clone, Debug)]
pub struct Random(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Seeded(Arc<AtomicU64>),
}

impl Random {
    /// Returns the unpredictable source of the operating system.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// Returns a source that repeats for the same seed, for tests.
    pub fn seeded(seed: u64) -> Self {
        Self(Source::Seeded(Arc::new(AtomicU64::new(seed))))
    }

    /// Returns random bytes, or zeros if the system has none, which does not happen after boot.
    pub(crate) fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        match &self.0 {
            Source::System => {
                if let Err(error) = getrandom::fill(&mut bytes) {
                    NO_BYTES.failed(&error);
                }
            }
            Source::Seeded(state) => {
                for some in bytes.chunks_mut(8) {
                    let count = state.fetch_add(GOLDEN, Ordering::Relaxed);
                    some.copy_from_slice(&mix(count).to_be_bytes()[..some.len()]);
                }
            }
        }
        bytes
    }

    /// Returns a random number for a node. It is never 0, which means no node.
    pub(crate) fn node(&self) -> NodeId {
        NodeId(i64::try_from(self.number() >> 2).unwrap_or(0).max(1))
    }

    /// Returns a random number.
    pub fn number(&self) -> u64 {
        u64::from_be_bytes(self.bytes())
    }

    /// Returns a random 32-bit number.
    pub(crate) fn small(&self) -> u32 {
        u32::from_be_bytes(self.bytes())
    }
}

/// The step of `SplitMix64`.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A source of ids for batches and parked receipts. They grow with time. A random offset separates
/// processes that start in the same millisecond.
#[derive(Debug)]
pub(crate) struct Numbers(AtomicI64);

impl Numbers {
    pub(crate) fn new(now_ms: i64, random: &Random) -> Self {
        let apart = i64::try_from(random.number() & 0xF_FFFF).unwrap_or_default();
        Self(AtomicI64::new((now_ms << 20) | apart))
    }

    /// Returns the first of `count` new ids.
    pub(crate) fn next(&self, count: usize) -> i64 {
        self.0
            .fetch_add(i64::try_from(count.max(1)).unwrap_or(1), Ordering::Relaxed)
    }
}

/// A source of message ids. They are unpredictable and cheap, since every send needs one.
#[derive(Debug)]
pub(crate) struct MessageIds {
    key: [u64; 2],
    count: AtomicU64,
}

impl MessageIds {
    pub(crate) fn new(random: &Random) -> Self {
        Self {
            key: [random.number(), random.number()],
            count: AtomicU64::new(0),
        }
    }

    /// Returns the id of a message accepted at `now_ms`. Ids of a process never repeat: a counter
    /// is mixed with a key by a bijection, so one id does not reveal the next.
    pub(crate) fn next(&self, now_ms: i64) -> domain::MessageId {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let mixed = mix(count ^ self.key[0]).wrapping_add(self.key[1]);
        let mut random = [0; 10];
        random[2..].copy_from_slice(&mixed.to_be_bytes());
        random[..2].copy_from_slice(&mix(mixed ^ self.key[1]).to_be_bytes()[..2]);
        domain::MessageId::new(now_ms, random)
    }
}

/// The finaliser of `SplitMix64`: a bijection that spreads every bit.
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}
