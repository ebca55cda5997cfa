//! The limits of repeated one-time passwords.

use super::verify::{OtpState, Verification};
use crate::refusal::Refusal;
use crate::refusal::seconds;

/// Maximum number of resends of a one-time password.
pub const MAX_RESENDS: u32 = 3;
/// Shortest time between two messages of a one-time password, milliseconds.
pub const RESEND_INTERVAL_MS: i64 = 30_000;
/// Time in which the messages to a number are counted, milliseconds.
pub const WINDOW_MS: i64 = 3_600_000;

/// The resends of a one-time password.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Resends {
    /// The number of resends.
    pub count: u32,
    /// The time of the last message, Unix milliseconds.
    pub last_sent_at_ms: i64,
}

/// Decides whether a one-time password may be sent again. A resend does not extend its lifetime.
pub fn check_resend(
    verification: &Verification,
    resends: Resends,
    now_ms: i64,
) -> Result<(), Refusal> {
    if verification.state(now_ms) != OtpState::Pending {
        return Err(Refusal::TooLate(
            "This one-time password has its final state: it cannot be sent again. Make a new one with `POST /otp`.",
        ));
    }
    if resends.count >= MAX_RESENDS {
        return Err(Refusal::OtpResendsUsed { limit: MAX_RESENDS });
    }
    let left_ms = resends.last_sent_at_ms + RESEND_INTERVAL_MS - now_ms;
    if left_ms > 0 {
        return Err(Refusal::OtpResendTooSoon {
            retry_after_s: seconds(left_ms),
        });
    }
    Ok(())
}

/// Decides whether another message may be sent to a number, from the times of earlier ones. Times
/// older than an hour do not count, and their order does not matter.
pub fn check_number(sent_at_ms: &[i64], limit: u32, now_ms: i64) -> Result<(), Refusal> {
    let is_recent = |at_ms: &&i64| now_ms - **at_ms < WINDOW_MS;
    let mut recent: Vec<i64> = sent_at_ms.iter().filter(is_recent).copied().collect();
    let limit_count = usize::try_from(limit).unwrap_or(usize::MAX);
    if recent.len() < limit_count {
        return Ok(());
    }
    recent.sort_unstable();
    // A message is possible once fewer than `limit` times are in the window.
    let leaves = recent.len() - limit_count;
    let left_ms = recent
        .get(leaves)
        .map_or(WINDOW_MS, |at_ms| at_ms + WINDOW_MS - now_ms);
    Err(Refusal::OtpTooOften {
        limit,
        retry_after_s: seconds(left_ms),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_code_is_sent_again_three_times_30_s_apart() {
        let pending = Verification::new(3, 600_000);
        let table = [
            (
                0,
                0,
                29_999,
                Err(Refusal::OtpResendTooSoon { retry_after_s: 1 }),
            ),
            (
                0,
                0,
                1,
                Err(Refusal::OtpResendTooSoon { retry_after_s: 30 }),
            ),
            (0, 0, 30_000, Ok(())),
            (2, 100_000, 130_000, Ok(())),
            (
                3,
                100_000,
                300_000,
                Err(Refusal::OtpResendsUsed { limit: 3 }),
            ),
        ];
        for (count, last_sent_at_ms, now, expected) in table {
            let resends = Resends {
                count,
                last_sent_at_ms,
            };
            assert_eq!(check_resend(&pending, resends, now), expected);
        }
        let resends = Resends {
            count: 0,
            last_sent_at_ms: 0,
        };
        let expired = check_resend(&pending, resends, 600_000);
        assert!(matches!(expired, Err(Refusal::TooLate(_))));
    }

    #[test]
    fn a_number_gets_five_in_any_hour() {
        let hour = WINDOW_MS;
        let refused = |retry_after_s| {
            Err(Refusal::OtpTooOften {
                limit: 5,
                retry_after_s,
            })
        };
        let table = [
            (vec![], 0, Ok(())),
            (vec![0, 1, 2, 3], 4, Ok(())),
            (vec![3, 1_000, 2_000, 0, 1], 4_000, refused(3_596)),
            (vec![0, 1, 2, 3, 4], hour, Ok(())),
            (vec![0, 1, 2, 3, 4, 5], hour - 1, refused(1)),
            (vec![0, 1_000, 2_000, 3_000, 4_000, 5_000], hour, refused(1)),
        ];
        for (sent, now, expected) in table {
            assert_eq!(check_number(&sent, 5, now), expected, "{sent:?} at {now}");
        }
        assert!(check_number(&[], 0, 5).is_err());
    }

    proptest! {
        #[test]
        fn after_the_named_wait_a_message_is_possible(sent in proptest::collection::vec(0..4_000_000_i64, 0..20), limit in 1..6_u32) {
            let now = 4_000_000;
            if let Err(Refusal::OtpTooOften { retry_after_s, .. }) = check_number(&sent, limit, now) {
                let wait = i64::try_from(retry_after_s).unwrap() * 1_000;
                prop_assert!(check_number(&sent, limit, now + wait).is_ok());
                prop_assert!(check_number(&sent, limit, now + wait - 1_000).is_err());
            }
        }
    }
}
