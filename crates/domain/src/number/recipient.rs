//! Recipients, and the numbers that steer the sandbox.

use std::fmt;

/// The country code of Nigeria.
pub(super) const NIGERIA: u64 = 234;
/// One more than the highest national number: ten digits.
pub(super) const NATIONAL: u64 = 10_000_000_000;
/// The steering numbers of the sandbox are the ones that follow this one; toll-free, so nobody's mobile.
const STEERING: u64 = 2_348_000_000_000;
/// Who receives a message: the digits in international format, without a plus.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Recipient(u64);

impl Recipient {
    /// The recipient of digits that were read and checked earlier.
    pub const fn from_digits(digits: u64) -> Self {
        Self(digits)
    }

    /// The digits as a number: 2348031234567.
    pub const fn digits(self) -> u64 {
        self.0
    }

    /// The ten digits after the country code, of a Nigerian number.
    pub(crate) const fn national(self) -> Option<u64> {
        if self.0 / NATIONAL == NIGERIA {
            Some(self.0 % NATIONAL)
        } else {
            None
        }
    }

    /// How the sandbox answers this number, when it is one of those that steer it.
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

/// As stored and returned: `2348031234567`.
impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The outcome that a steering number asks of the sandbox (`2348000000001` to `…09`, in this order).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SandboxOutcome {
    /// Ends `delivrd`.
    Delivered,
    /// Ends `undeliv`.
    Undelivered,
    /// Ends `expired`.
    Expired,
    /// Ends `rejectd`.
    Rejected,
    /// Never ends.
    Pending,
    /// Ends `failed`.
    Failed,
    /// The send is refused for want of funds.
    RefuseFunds,
    /// The send is refused as if the service were overloaded.
    RefuseUnavailable,
    /// The send is refused as if it were one too many.
    RefuseRate,
}
