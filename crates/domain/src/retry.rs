//! The next step after a submit that the carrier did not take.

use crate::delivery::DeliveryStatus;

/// Why a carrier did not take a message, in the terms of the trade.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SubmitFault {
    /// The connection is not bound, or not to whom it should be, as the carrier has it.
    NotBound,
    /// The link, or what goes to this recipient, is too fast for the carrier.
    Throttled,
    /// The carrier's queue for this message is full.
    QueueFull,
    /// It may work in a while.
    Temporary,
    /// The status does not say whether it may ever work.
    Ambiguous,
    /// The recipient is refused for good.
    RecipientRejected,
    /// The sender or the content is refused by this carrier; another may take it.
    SenderRejected,
    /// Our configuration or our software is at fault.
    OurFault,
}

/// The next step of the recipient.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RetryStep {
    /// Try the same carrier again after so many milliseconds.
    Again {
        /// Milliseconds.
        delay_ms: i64,
    },
    /// Try the next carrier in order of preference, at once.
    NextCarrier,
    /// It has come to a bad end.
    Ended(DeliveryStatus),
}

const TEMPORARY_DELAYS_MS: [i64; 3] = [5_000, 30_000, 120_000];
const AMBIGUOUS_DELAYS_MS: [i64; 1] = [10_000];
const QUEUE_FULL_FIRST_MS: i64 = 2_000;
const THROTTLED_FIRST_MS: i64 = 1_000;
/// The longest delay where a recipient is tried until its message expires.
const MAX_DELAY_MS: i64 = 60_000;

/// Decides after a fault; `tries` counts the faults before this one on the same carrier, and
/// `another_carrier` tells whether one is left.
///
/// The classes and delays are those of Kannel and Jasmin in the field, made finite: a queue that stays full and a
/// recipient that stays throttled are tried until the message expires, with a delay that grows so that others are sent
/// to meanwhile; everything else a few times.
pub fn after_fault(fault: SubmitFault, tries: i64, another_carrier: bool) -> RetryStep {
    let tries = usize::try_from(tries).unwrap_or(0);
    let onwards = |ended| {
        if another_carrier {
            RetryStep::NextCarrier
        } else {
            RetryStep::Ended(ended)
        }
    };
    let again_or = |delays: &[i64], otherwise| match delays.get(tries) {
        Some(&delay_ms) => RetryStep::Again { delay_ms },
        None => otherwise,
    };
    match fault {
        SubmitFault::NotBound | SubmitFault::Throttled => doubled(THROTTLED_FIRST_MS, tries),
        SubmitFault::QueueFull => doubled(QUEUE_FULL_FIRST_MS, tries),
        SubmitFault::Temporary => again_or(&TEMPORARY_DELAYS_MS, onwards(DeliveryStatus::Failed)),
        SubmitFault::Ambiguous => again_or(&AMBIGUOUS_DELAYS_MS, onwards(DeliveryStatus::Failed)),
        SubmitFault::RecipientRejected | SubmitFault::OurFault => {
            RetryStep::Ended(DeliveryStatus::Rejected)
        }
        SubmitFault::SenderRejected => onwards(DeliveryStatus::Rejected),
    }
}

/// The first delay, doubled with each try.
fn doubled(first_ms: i64, tries: usize) -> RetryStep {
    let delay_ms = (first_ms << tries.min(6)).min(MAX_DELAY_MS);
    RetryStep::Again { delay_ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_answered_by_its_class() {
        use SubmitFault as F;
        let again = |delay_ms| RetryStep::Again { delay_ms };
        let table = [
            (F::NotBound, 0, true, again(1_000)),
            (F::NotBound, 9, true, again(60_000)),
            (F::Throttled, 0, true, again(1_000)),
            (F::Throttled, 1, true, again(2_000)),
            (F::Throttled, 5, false, again(32_000)),
            (F::Throttled, 500, true, again(60_000)),
            (F::QueueFull, 0, true, again(2_000)),
            (F::QueueFull, 2, true, again(8_000)),
            (F::QueueFull, 50, true, again(60_000)),
            (F::Temporary, 0, true, again(5_000)),
            (F::Temporary, 3, true, RetryStep::NextCarrier),
            (
                F::Temporary,
                3,
                false,
                RetryStep::Ended(DeliveryStatus::Failed),
            ),
            (F::Ambiguous, 0, false, again(10_000)),
            (
                F::Ambiguous,
                1,
                false,
                RetryStep::Ended(DeliveryStatus::Failed),
            ),
            (
                F::RecipientRejected,
                0,
                true,
                RetryStep::Ended(DeliveryStatus::Rejected),
            ),
            (F::SenderRejected, 0, true, RetryStep::NextCarrier),
            (
                F::SenderRejected,
                0,
                false,
                RetryStep::Ended(DeliveryStatus::Rejected),
            ),
            (
                F::OurFault,
                0,
                true,
                RetryStep::Ended(DeliveryStatus::Rejected),
            ),
        ];
        for (fault, tries, another, next) in table {
            assert_eq!(
                after_fault(fault, tries, another),
                next,
                "{fault:?} {tries} {another}"
            );
        }
    }
}
