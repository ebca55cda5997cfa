//! The slowing of sign-ins: the more attempts of a user or an address have failed, the longer the
//! next one waits.
//!
//! An attempt counts as failed until it succeeds, so that attempts at the same moment are counted
//! as well as those one after the other.

use crate::hex::hex;
use crate::named_enum;
use crate::token_guesses::counted_as;
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// The time after which failures are forgotten.
pub const FORGOTTEN_AFTER_MS: i64 = 24 * 3_600_000;
const FIRST_DELAY_MS: i64 = 1_000;
const MAX_DELAY_MS: i64 = 15 * 60_000;

named_enum! {
    /// The subject whose failed attempts are counted.
    pub enum Subject {
        /// The user, by e-mail address, whether it exists or not.
        User = "user",
        /// The client's address.
        Address = "address",
        /// The user of resets at the sign-in, by e-mail address, whether it exists or not.
        Reset = "reset",
    }
}

impl Subject {
    /// Returns the number of failures that cause no delay. Many people share an address.
    const fn free(self) -> u32 {
        match self {
            Self::User => 5,
            Self::Address => 20,
            // Each one is a mail to the user.
            Self::Reset => 3,
        }
    }
}

/// The failed attempts of a subject.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Failures {
    /// Their number.
    pub count: u32,
    /// The time of the last one, Unix milliseconds.
    pub last_at_ms: i64,
}

impl Failures {
    /// Returns the time until the next attempt is allowed. A clock that was set back makes nobody
    /// wait longer than the delay.
    pub fn wait_ms(self, subject: Subject, now_ms: i64) -> i64 {
        let delay_ms = self.delay_ms(subject, now_ms);
        (self.last_at_ms + delay_ms - now_ms).clamp(0, delay_ms)
    }

    fn delay_ms(self, subject: Subject, now_ms: i64) -> i64 {
        let above = self.counted(now_ms).saturating_sub(subject.free());
        match above.checked_sub(1) {
            None => 0,
            Some(doublings) => FIRST_DELAY_MS
                .checked_shl(doublings)
                .filter(|&delay_ms| doublings < 32 && delay_ms < MAX_DELAY_MS)
                .unwrap_or(MAX_DELAY_MS),
        }
    }

    fn counted(self, now_ms: i64) -> u32 {
        let is_old = now_ms - self.last_at_ms >= FORGOTTEN_AFTER_MS;
        if is_old { 0 } else { self.count }
    }

    /// Counts an attempt, or returns the time that it has to wait.
    pub fn attempt(self, subject: Subject, now_ms: i64) -> Result<Self, i64> {
        match self.wait_ms(subject, now_ms) {
            0 => Ok(Self {
                count: self.counted(now_ms).saturating_add(1),
                last_at_ms: now_ms,
            }),
            wait_ms => Err(wait_ms),
        }
    }

    /// Returns the failures after the attempt has succeeded. An address keeps its others: a
    /// stranger's own success must not free the next guess.
    #[must_use]
    pub fn succeeded(self, subject: Subject) -> Self {
        match subject {
            Subject::User | Subject::Reset => Self::default(),
            Subject::Address => Self {
                count: self.count.saturating_sub(1),
                ..self
            },
        }
    }
}

/// The user and the address of an attempt, by the keys under which their failures are counted. Only
/// the hash of the e-mail address is kept, since nobody may have it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Attempt {
    user: (Subject, String),
    address: String,
}

impl Attempt {
    /// Creates an attempt of a client with a normalised e-mail address.
    pub fn new(email: &str, client: IpAddr) -> Self {
        Self {
            user: (Subject::User, format!("user:{}", hashed(email))),
            address: format!("address:{}", counted_as(client)),
        }
    }

    /// Creates an attempt by the passkey with an id. Wrong passwords do not delay it.
    pub fn passkey(credential: &[u8], client: IpAddr) -> Self {
        Self {
            user: (Subject::User, format!("passkey:{}", hashed(credential))),
            ..Self::new("", client)
        }
    }

    /// Creates a request for a reset at the sign-in. It counts apart from sign-ins, so that neither
    /// delays the other.
    pub fn reset(email: &str, client: IpAddr) -> Self {
        Self {
            user: (Subject::Reset, format!("reset:{}", hashed(email))),
            address: format!("reset-address:{}", counted_as(client)),
        }
    }

    /// Returns the keys, always in the same order, so that two attempts never wait for each other.
    pub fn keys(&self) -> [(Subject, &str); 2] {
        let (subject, user) = &self.user;
        [(*subject, user), (Subject::Address, &self.address)]
    }
}

fn hashed(subject: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(subject))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_delay_grows_with_each_failure_and_has_an_end() {
        let waits = |subject| {
            let counts = [0, 5, 6, 7, 10, 15, 16, 20, 21, 22, 40, u32::MAX];
            counts.map(|count| {
                let failures = Failures {
                    count,
                    last_at_ms: 0,
                };
                failures.wait_ms(subject, 0) / 1_000
            })
        };
        assert_eq!(
            waits(Subject::User),
            [0, 0, 1, 2, 16, 512, 900, 900, 900, 900, 900, 900]
        );
        assert_eq!(
            waits(Subject::Address),
            [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 900, 900]
        );
    }

    #[test]
    fn an_attempt_waits_for_its_delay_and_counts() {
        let failures = Failures {
            count: 7,
            last_at_ms: 10_000,
        };
        assert_eq!(failures.attempt(Subject::User, 10_500), Err(1_500));
        let counted = failures.attempt(Subject::User, 12_000).unwrap();
        assert_eq!((counted.count, counted.last_at_ms), (8, 12_000));
        let later = FORGOTTEN_AFTER_MS + 10_000;
        assert_eq!(failures.attempt(Subject::User, later).unwrap().count, 1);
    }

    #[test]
    fn a_success_clears_the_user_and_one_failure_of_the_address() {
        let failures = Failures {
            count: 7,
            last_at_ms: 1,
        };
        assert_eq!(failures.succeeded(Subject::User).count, 0);
        assert_eq!(failures.succeeded(Subject::Address).count, 6);
    }

    #[test]
    fn an_ipv6_network_is_one_address() {
        for (client, expected) in [
            ("203.0.113.9", "203.0.113.9"),
            ("::ffff:203.0.113.9", "203.0.113.9"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ] {
            let attempt = Attempt::new("ada@example.ng", client.parse().unwrap());
            let [(_, user), (_, address)] = attempt.keys();
            assert_eq!(address, format!("address:{expected}"));
            assert!(user.starts_with("user:") && !user.contains("ada"));
        }
    }

    #[test]
    fn a_reset_counts_apart_from_sign_ins() {
        let client = "203.0.113.9".parse().unwrap();
        let (sign_in, reset) = (
            Attempt::new("ada@example.ng", client),
            Attempt::reset("ada@example.ng", client),
        );
        for (_, key) in reset.keys() {
            assert!(sign_in.keys().iter().all(|(_, other)| *other != key));
        }
        let after = |count| Failures {
            count,
            last_at_ms: 0,
        };
        let waits = [3, 4, 5].map(|count| after(count).wait_ms(Subject::Reset, 0));
        assert_eq!(waits, [0, 1_000, 2_000]);
    }

    proptest! {
        #[test]
        fn no_wait_is_longer_than_the_longest_delay(
            count: u32, last_at_ms in 0..i64::from(u32::MAX), now_ms in 0..i64::from(u32::MAX),
        ) {
            let failures = Failures { count, last_at_ms };
            for &subject in Subject::ALL {
                let wait_ms = failures.wait_ms(subject, now_ms);
                prop_assert!((0..=MAX_DELAY_MS).contains(&wait_ms));
            }
        }
    }
}
