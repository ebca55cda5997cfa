//! Recipients, and the steering numbers of the sandbox.

use std::fmt;

/// The country code of Nigeria.
pub(super) const NIGERIA: u64 = 234;
/// One above the highest national number of ten digits.
pub(super) const NATIONAL: u64 = 10_000_000_000;
/// The steering numbers of the sandbox follow this number. They are toll-free, so no subscriber has
/// them.
const STEERING: u64 = 2_348_000_000_000;
/// A recipient: the digits in international format without a plus.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Recipient(u64);

impl Recipient {
    /// Creates a recipient from digits that were checked earlier.
    pub const fn from_digits(digits: u64) -> Self {
        Self(digits)
    }

    /// Returns the digits as an integer, such as 2348031234567.
    pub const fn digits(self) -> u64 {
        self.0
    }

    /// Returns the ten national digits of a Nigerian number.
    pub(crate) const fn national(self) -> Option<u64> {
        if self.0 / NATIONAL == NIGERIA {
            Some(self.0 % NATIONAL)
        } else {
            None
        }
    }

    /// Returns the sandbox outcome of a steering number.
    pub const fn sandbox_outcome(self) -> Option<SandboxOutcome> {
        let outcome = match self.0.wrapping_sub(STEERING) {
            1 => SandboxOutcome::Delivered,
            2 => SandboxOutcome::Undelivered,
            3 => SandboxOutcome::Expired,
            4 => SandboxOutcome::Rejected,
            5 => SandboxOutcome::Pending,
            6 => SandboxOutcome::Failed,
            7 => SandboxOutcome::RefuseFunds,
            8 => SandboxOutcome::RefuseUnavailable,
            9 => SandboxOutcome::RefuseRate,
            _ => return None,
        };
        Some(outcome)
    }
}

/// The stored form: `2348031234567`.
impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The outcome that a steering number selects (`2348000000001` to `…09`, in this order).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SandboxOutcome {
    /// The recipient ends as `delivrd`.
    Delivered,
    /// The recipient ends as `undeliv`.
    Undelivered,
    /// The recipient ends as `expired`.
    Expired,
    /// The recipient ends as `rejectd`.
    Rejected,
    /// The recipient never ends.
    Pending,
    /// The recipient ends as `failed`.
    Failed,
    /// The send is refused for insufficient funds.
    RefuseFunds,
    /// The send is refused as if the service were overloaded.
    RefuseUnavailable,
    /// The send is refused as if it exceeded the rate limit.
    RefuseRate,
}
