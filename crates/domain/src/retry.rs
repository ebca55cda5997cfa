//! The next step after a submit that was not accepted.

use crate::delivery::DeliveryStatus;

/// The reason why a submit was not accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SubmitFault {
    /// The connection is not bound, or its credentials are rejected.
    NotBound,
    /// The carrier throttles the connection or the recipient.
    Throttled,
    /// The carrier's queue for this recipient is full.
    QueueFull,
    /// The fault is temporary.
    Temporary,
    /// The status does not show whether a retry can succeed.
    Ambiguous,
    /// The recipient is rejected for ever.
    RecipientRejected,
    /// The sender or the content is rejected by this carrier. Another one may accept it.
    SenderRejected,
    /// Our configuration or software is at fault.
    OurFault,
}

/// The next step for the recipient.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RetryStep {
    /// Retry on the same carrier after this delay.
    Again {
        /// Milliseconds.
        delay_ms: i64,
    },
    /// Submit to the next carrier of the gateway at once.
    NextCarrier,
    /// The recipient has this final status.
    Ended(DeliveryStatus),
}

const TEMPORARY_DELAYS_MS: [i64; 3] = [5_000, 30_000, 120_000];
const AMBIGUOUS_DELAYS_MS: [i64; 1] = [10_000];
const QUEUE_FULL_FIRST_MS: i64 = 2_000;
const THROTTLED_FIRST_MS: i64 = 1_000;
/// Longest delay of retries that continue until the message expires.
const MAX_DELAY_MS: i64 = 60_000;

/// Returns the next step after a fault. `tries` is the number of earlier faults on the same
/// carrier, and `another_carrier` is `true` if the gateway has another one.
///
/// Classes and delays follow Kannel and Jasmin, with an end. A full queue and a throttled recipient
/// are retried with growing delays until the message expires. Other faults are retried a few times.
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

/// Returns a retry whose delay doubles with each try.
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
