//! What follows a submit that the carrier did not take.

use crate::DeliveryStatus;

/// Why a carrier did not take a message, in the terms of the trade.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SubmitFault {
    /// No byte of it was written, or the bind was in the wrong state.
    NotSent,
    /// The link is too fast for the carrier.
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

/// What to do with the recipient next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Next {
    /// Try the same carrier again after so many milliseconds.
    Again {
        /// Milliseconds.
        delay_ms: i64,
        /// Whether this try counts towards the limit.
        counts: bool,
    },
    /// Try the next carrier in order of preference, at once.
    NextCarrier,
    /// It has come to a bad end.
    Ended(DeliveryStatus),
}

const TEMPORARY_DELAYS_MS: [i64; 3] = [5_000, 30_000, 120_000];
const AMBIGUOUS_DELAYS_MS: [i64; 1] = [10_000];
const QUEUE_FULL_FIRST_MS: i64 = 2_000;
const QUEUE_FULL_MOST_MS: i64 = 60_000;
const THROTTLED_DELAY_MS: i64 = 1_000;

/// Decides after a fault; `tries` counts the faults before this one on the same carrier, and
/// `another_carrier` tells whether one is left.
///
/// The classes and delays are those of Kannel and Jasmin in the field, made finite: a queue that stays
/// full is tried until the message expires, everything else a few times.
pub fn after_fault(fault: SubmitFault, tries: i64, another_carrier: bool) -> Next {
    let tries = usize::try_from(tries).unwrap_or(0);
    let onwards = |ended| {
        if another_carrier {
            Next::NextCarrier
        } else {
            Next::Ended(ended)
        }
    };
    let again_or = |delays: &[i64], otherwise| match delays.get(tries) {
        Some(&delay_ms) => Next::Again {
            delay_ms,
            counts: true,
        },
        None => otherwise,
    };
    match fault {
        SubmitFault::NotSent => Next::Again {
            delay_ms: 0,
            counts: false,
        },
        SubmitFault::Throttled => Next::Again {
            delay_ms: THROTTLED_DELAY_MS,
            counts: false,
        },
        SubmitFault::QueueFull => {
            let doubled = QUEUE_FULL_FIRST_MS << tries.min(5);
            Next::Again {
                delay_ms: doubled.min(QUEUE_FULL_MOST_MS),
                counts: true,
            }
        }
        SubmitFault::Temporary => again_or(&TEMPORARY_DELAYS_MS, onwards(DeliveryStatus::Failed)),
        SubmitFault::Ambiguous => again_or(&AMBIGUOUS_DELAYS_MS, onwards(DeliveryStatus::Failed)),
        SubmitFault::RecipientRejected | SubmitFault::OurFault => {
            Next::Ended(DeliveryStatus::Rejected)
        }
        SubmitFault::SenderRejected => onwards(DeliveryStatus::Rejected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_answered_by_its_class() {
        use SubmitFault as F;
        let again = |delay_ms| Next::Again {
            delay_ms,
            counts: true,
        };
        let table = [
            (
                F::NotSent,
                9,
                true,
                Next::Again {
                    delay_ms: 0,
                    counts: false,
                },
            ),
            (
                F::Throttled,
                9,
                true,
                Next::Again {
                    delay_ms: 1_000,
                    counts: false,
                },
            ),
            (F::QueueFull, 0, true, again(2_000)),
            (F::QueueFull, 2, true, again(8_000)),
            (F::QueueFull, 50, true, again(60_000)),
            (F::Temporary, 0, true, again(5_000)),
            (F::Temporary, 3, true, Next::NextCarrier),
            (F::Temporary, 3, false, Next::Ended(DeliveryStatus::Failed)),
            (F::Ambiguous, 0, false, again(10_000)),
            (F::Ambiguous, 1, false, Next::Ended(DeliveryStatus::Failed)),
            (
                F::RecipientRejected,
                0,
                true,
                Next::Ended(DeliveryStatus::Rejected),
            ),
            (F::SenderRejected, 0, true, Next::NextCarrier),
            (
                F::SenderRejected,
                0,
                false,
                Next::Ended(DeliveryStatus::Rejected),
            ),
            (F::OurFault, 0, true, Next::Ended(DeliveryStatus::Rejected)),
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
