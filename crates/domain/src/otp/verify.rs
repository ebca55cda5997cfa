//! Verification of a code.
//!
//! ```text
//! pending ──right code──▶ verified
//!    ├──last wrong code──▶ failed
//!    ├──time is over─────▶ expired
//!    └──cancel───────────▶ cancelled
//! ```

use super::code::{Code, GivenCode};
use crate::named_enum;
use crate::refusal::Refusal;

named_enum! {
    /// The state of a one-time password.
    pub enum OtpState {
        /// A code may be tried.
        Pending = "pending",
        /// The right code came in time.
        Verified = "verified",
        /// The lifetime is over.
        Expired = "expired",
        /// Too many wrong codes came.
        Failed = "failed",
        /// The one-time password was cancelled.
        Cancelled = "cancelled",
    }
}

named_enum! {
    /// The reason why a code was not verified.
    pub enum Reason {
        /// The code is wrong.
        Wrong = "wrong",
        /// The lifetime is over.
        Expired = "expired",
        /// Too many wrong codes came before.
        TooManyAttempts = "too_many_attempts",
        /// The code was verified before, which is possible once.
        AlreadyVerified = "already_verified",
        /// The one-time password was cancelled.
        Cancelled = "cancelled",
    }
}

/// The stored state of a verification.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Verification {
    /// The number of wrong codes so far.
    pub wrong_attempts: u32,
    /// The number of wrong codes after which the verification fails.
    pub max_attempts: u32,
    /// The end of the lifetime, Unix milliseconds.
    pub expires_at_ms: i64,
    /// `true` if the right code came.
    pub is_verified: bool,
    /// `true` if it was cancelled.
    pub is_cancelled: bool,
}

/// The result of an attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Verified {
    /// The reason of a failure, or `None` if the code is verified.
    pub reason: Option<Reason>,
    /// The number of wrong codes that are still allowed.
    pub attempts_left: u32,
    /// The state to store after the attempt.
    pub after: Verification,
}

impl Verification {
    /// Creates the state of a new one-time password.
    pub const fn new(max_attempts: u32, expires_at_ms: i64) -> Self {
        Self {
            wrong_attempts: 0,
            max_attempts,
            expires_at_ms,
            is_verified: false,
            is_cancelled: false,
        }
    }

    /// Returns the state at a time.
    pub const fn state(&self, now_ms: i64) -> OtpState {
        if self.is_verified {
            OtpState::Verified
        } else if self.is_cancelled {
            OtpState::Cancelled
        } else if self.wrong_attempts >= self.max_attempts {
            OtpState::Failed
        } else if now_ms >= self.expires_at_ms {
            OtpState::Expired
        } else {
            OtpState::Pending
        }
    }

    /// Returns the number of wrong codes that are still allowed.
    pub const fn attempts_left(&self) -> u32 {
        self.max_attempts.saturating_sub(self.wrong_attempts)
    }

    /// Judges an attempt. Only the state `pending` changes, so of two concurrent attempts the
    /// second one sees the result of the first.
    pub fn attempt(self, expected: &Code, given: &GivenCode, now_ms: i64) -> Verified {
        let mut after = self;
        let reason = match self.state(now_ms) {
            OtpState::Verified => Some(Reason::AlreadyVerified),
            OtpState::Cancelled => Some(Reason::Cancelled),
            OtpState::Failed => Some(Reason::TooManyAttempts),
            OtpState::Expired => Some(Reason::Expired),
            OtpState::Pending if expected.is(given) => {
                after.is_verified = true;
                None
            }
            OtpState::Pending => {
                after.wrong_attempts += 1;
                Some(Reason::Wrong)
            }
        };
        Verified {
            reason,
            attempts_left: after.attempts_left(),
            after,
        }
    }
}

/// Decides whether a one-time password may be cancelled. It must be pending.
pub fn check_cancel(verification: &Verification, now_ms: i64) -> Result<(), Refusal> {
    match verification.state(now_ms) {
        OtpState::Pending => Ok(()),
        OtpState::Verified | OtpState::Expired | OtpState::Failed | OtpState::Cancelled => {
            Err(Refusal::TooLate(
                "This one-time password has its final state: it cannot be cancelled any more.",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::otp::{CodeKind, OtpId};
    use proptest::prelude::*;

    fn code() -> Code {
        Code::derive(b"key", OtpId::new(1, [7; 10]), CodeKind::Numeric, 6)
    }

    fn right() -> GivenCode {
        GivenCode::read(Some(code().as_str()), 6).unwrap()
    }

    fn wrong() -> GivenCode {
        GivenCode::read(Some("XXXXXX"), 6).unwrap()
    }

    /// Returns the reasons and the remaining attempts of a series of attempts.
    fn run(attempts: &[(&GivenCode, i64)]) -> Vec<(Option<Reason>, u32)> {
        let mut state = Verification::new(3, 1_000);
        attempts
            .iter()
            .map(|(given, at)| {
                let verified = state.attempt(&code(), given, *at);
                state = verified.after;
                (verified.reason, verified.attempts_left)
            })
            .collect()
    }

    #[test]
    fn a_code_verifies_once() {
        let (right, wrong) = (right(), wrong());
        let found = run(&[
            (&wrong, 1),
            (&right, 2),
            (&right, 3),
            (&wrong, 4),
            (&right, 2_000),
        ]);
        let again = (Some(Reason::AlreadyVerified), 2);
        assert_eq!(
            found,
            [(Some(Reason::Wrong), 2), (None, 2), again, again, again]
        );
    }

    #[test]
    fn the_last_wrong_attempt_is_wrong_with_none_left() {
        let (right, wrong) = (right(), wrong());
        let found = run(&[
            (&wrong, 1),
            (&wrong, 2),
            (&wrong, 3),
            (&right, 4),
            (&right, 2_000),
        ]);
        let failed = (Some(Reason::TooManyAttempts), 0);
        let wrong = |left| (Some(Reason::Wrong), left);
        assert_eq!(found, [wrong(2), wrong(1), wrong(0), failed, failed]);
    }

    #[test]
    fn after_its_time_no_attempt_counts() {
        let (right, wrong) = (right(), wrong());
        let found = run(&[(&wrong, 999), (&right, 1_000), (&wrong, 1_001)]);
        let expired = (Some(Reason::Expired), 2);
        assert_eq!(found, [(Some(Reason::Wrong), 2), expired, expired]);
    }

    #[test]
    fn a_cancelled_one_is_never_verified() {
        let mut state = Verification::new(3, 1_000);
        assert_eq!(check_cancel(&state, 1), Ok(()));
        state.is_cancelled = true;
        let verified = state.attempt(&code(), &right(), 2);
        assert_eq!(
            (verified.reason, verified.after),
            (Some(Reason::Cancelled), state)
        );
        assert_eq!(state.state(5_000), OtpState::Cancelled);
    }

    #[test]
    fn only_a_pending_one_is_cancelled() {
        let new = Verification::new(1, 1_000);
        let verified = Verification {
            is_verified: true,
            ..new
        };
        let failed = Verification {
            wrong_attempts: 1,
            ..new
        };
        let cancelled = Verification {
            is_cancelled: true,
            ..new
        };
        for (state, now) in [(verified, 1), (failed, 1), (cancelled, 1), (new, 1_000)] {
            assert!(matches!(
                check_cancel(&state, now),
                Err(Refusal::TooLate(_))
            ));
        }
    }

    proptest! {
        #[test]
        fn no_more_codes_are_compared_than_allowed(
            max in 1..=10_u32, attempts in proptest::collection::vec((0..10_u8, 0..2_000_i64), 0..30),
        ) {
            let mut state = Verification::new(max, 1_000);
            let (mut looked_at, mut verified, mut now) = (0, 0, 0);
            for (kind, wait) in attempts {
                now += wait / 20;
                let given = if kind == 0 { right() } else { wrong() };
                let before = state.state(now);
                let found = state.attempt(&code(), &given, now);
                looked_at += u32::from(found.reason == Some(Reason::Wrong));
                verified += u32::from(found.reason.is_none());
                prop_assert_eq!(found.after == state, before != OtpState::Pending);
                prop_assert!(found.attempts_left <= max);
                state = found.after;
            }
            prop_assert!(looked_at <= max && verified <= 1);
            prop_assert_eq!(looked_at, state.wrong_attempts);
        }
    }
}
