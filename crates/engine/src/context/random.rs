//! Random: only this file asks the system for it.

use database::Outage;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// Questions for random bytes, many for each send.
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
    /// The randomness that nobody can guess, from the operating system.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// The same from the same seed, which anybody can guess: for tests.
    pub fn seeded(seed: u64) -> Self {
        Self(Source::Seeded(Arc::new(AtomicU64::new(seed))))
    }

    /// So many bytes; zeros if the system has none to give, which it always has once it has booted.
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

    /// A number.
    pub fn number(&self) -> u64 {
        u64::from_be_bytes(self.bytes())
    }

    /// As that, but small.
    pub(crate) fn small(&self) -> u32 {
        u32::from_be_bytes(self.bytes())
    }
}

/// The step of `SplitMix64`.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// A source of numbers for batches and parked receipts: they grow with time, and two processes that start in the
/// same millisecond begin far apart.
#[derive(Debug)]
pub(crate) struct Numbers(AtomicI64);

impl Numbers {
    pub(crate) fn new(now_ms: i64, random: &Random) -> Self {
        let apart = i64::try_from(random.number() & 0xF_FFFF).unwrap_or_default();
        Self(AtomicI64::new((now_ms << 20) | apart))
    }

    /// The first of `count` numbers that nobody else has.
    pub(crate) fn next(&self, count: usize) -> i64 {
        self.0
            .fetch_add(i64::try_from(count.max(1)).unwrap_or(1), Ordering::Relaxed)
    }
}

/// Unguessable and quick: message ids need ten bytes each, thousands of times a second.
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

    /// The id of a message accepted at `now_ms`. Ids of one process never repeat: they hold a count, mixed
    /// with a key by a bijection, so that one does not give away the next.
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
