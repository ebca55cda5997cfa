//! Callbacks: their body, and the decision after an attempt.

pub mod log;
pub mod request;
mod retry_after;
pub mod signature;

use crate::delivery::DeliveryStatus;
use crate::ids::MessageId;
use crate::number::recipient::Recipient;
use std::fmt::Write;

/// Upper bound in octets of the repeated fields, without the customer's reference and escapes.
const FIELDS: usize = 180;

/// The result of one attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Attempt<'a> {
    /// The receiver answered.
    Answered {
        /// HTTP status code.
        status: u16,
        /// The header `Retry-After`, if there is one.
        retry_after: Option<&'a str>,
    },
    /// No answer: the connection was refused, unreachable, broken or too slow.
    Unanswered,
}

/// The verdict on an attempt.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AttemptVerdict {
    /// The callback arrived.
    Accepted,
    /// The attempt failed, and a later one may succeed.
    Retry {
        /// The earliest time of the next attempt that the receiver allows, Unix milliseconds.
        not_before_ms: Option<i64>,
    },
    /// The receiver refuses this callback.
    Refused,
    /// The receiver refuses all callbacks of this message.
    Gone,
}

/// The next step of a callback.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum AfterAttempt {
    /// The callback is complete and is removed.
    Done,
    /// The callback is due again.
    Retry {
        /// The due time, Unix milliseconds.
        at_ms: i64,
    },
    /// The callback is dead. It stays visible, and an operator can replay it.
    Dead,
    /// The callback and all others of the message are dead.
    EndMessage,
}

/// Longest `Retry-After` that is honoured, milliseconds.
pub const MAX_RETRY_AFTER_MS: i64 = 24 * 60 * 60 * 1000;

/// Judges an attempt (docs/spec/delivery.md, section 4).
pub fn verdict(attempt: Attempt<'_>, now_ms: i64) -> AttemptVerdict {
    match attempt {
        Attempt::Unanswered => AttemptVerdict::Retry {
            not_before_ms: None,
        },
        Attempt::Answered {
            status,
            retry_after,
        } => match status {
            200..=299 => AttemptVerdict::Accepted,
            410 => AttemptVerdict::Gone,
            408 | 425 | 429 | 500..=599 => AttemptVerdict::Retry {
                not_before_ms: retry_after
                    .and_then(|text| retry_after::read(text, now_ms))
                    .map(|at_ms| at_ms.min(now_ms.saturating_add(MAX_RETRY_AFTER_MS))),
            },
            _ => AttemptVerdict::Refused,
        },
    }
}

/// Returns the next step after the verdict on the last of `attempts` attempts.
///
/// `waits_ms` are the delays after the first, second, … attempt. Each varies by up to a fifth with
/// `random`, so that callbacks that failed together are not repeated together.
pub fn next(
    attempts: usize,
    waits_ms: &[i64],
    verdict: AttemptVerdict,
    random: u32,
    now_ms: i64,
) -> AfterAttempt {
    match verdict {
        AttemptVerdict::Accepted => AfterAttempt::Done,
        AttemptVerdict::Refused => AfterAttempt::Dead,
        AttemptVerdict::Gone => AfterAttempt::EndMessage,
        AttemptVerdict::Retry { not_before_ms } => match waits_ms.get(attempts.saturating_sub(1)) {
            None => AfterAttempt::Dead,
            Some(&delay_ms) => {
                let at_ms = now_ms.saturating_add(spread(delay_ms, random));
                AfterAttempt::Retry {
                    at_ms: at_ms.max(not_before_ms.unwrap_or(at_ms)),
                }
            }
        },
    }
}

/// Returns the longest time of all delays together.
pub fn longest_ms(waits_ms: &[i64]) -> i64 {
    let longest = waits_ms.iter().map(|&wait_ms| spread(wait_ms, u32::MAX));
    longest.fold(0, i64::saturating_add)
}

/// Returns 80 % to 120 % of a delay.
fn spread(delay_ms: i64, random: u32) -> i64 {
    let share = i128::from(random) * 400 / i128::from(u32::MAX) + 800;
    i64::try_from(i128::from(delay_ms) * share / 1000).unwrap_or(delay_ms)
}

/// Returns the JSON body of a callback (docs/spec/delivery.md, section 4). `url` is the unchanged
/// URL of the message.
pub fn body(
    message: MessageId,
    recipient: Recipient,
    status: DeliveryStatus,
    reference: Option<&str>,
    url: &str,
) -> String {
    // The capacity covers all fields, so that the string never grows. There is one for each
    // recipient.
    let capacity = FIELDS + reference.map_or(0, str::len);
    let mut fields = String::with_capacity(capacity);
    let status = status.outside();
    // Writing to a string cannot fail.
    let _ = write!(
        fields,
        r#""message_id":"{message}","recipient":"{recipient}","delivery_status":"{status}","customer_reference":"#
    );
    match reference {
        Some(reference) => quote(&mut fields, reference),
        None => fields.push_str("null"),
    }
    let mut body = String::with_capacity(2 * capacity + url.len());
    let _ = write!(body, r#"{{{fields},"callback_url":"#);
    quote(&mut body, url);
    let _ = write!(body, r#","data":{{{fields}}}}}"#);
    body
}

/// Appends a JSON string (RFC 8259, section 7).
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1F' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NOW: i64 = 1_795_000_000_000;
    const RECIPIENT: Recipient = Recipient::from_digits(2_348_031_234_567);
    const DELAYS: [i64; 3] = [5_000, 30_000, 120_000];
    const RETRY: AttemptVerdict = AttemptVerdict::Retry {
        not_before_ms: None,
    };

    fn answered(status: u16, retry_after: Option<&str>) -> AttemptVerdict {
        verdict(
            Attempt::Answered {
                status,
                retry_after,
            },
            NOW,
        )
    }

    #[test]
    fn each_answer_is_judged_by_its_status() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(answered(status, None), AttemptVerdict::Accepted, "{status}");
        }
        for status in [408, 425, 429, 500, 502, 503, 504, 599] {
            assert_eq!(answered(status, None), RETRY, "{status}");
        }
        for status in [
            101, 301, 302, 307, 308, 400, 401, 403, 404, 405, 422, 600, 999,
        ] {
            assert_eq!(answered(status, None), AttemptVerdict::Refused, "{status}");
        }
        assert_eq!(answered(410, None), AttemptVerdict::Gone);
        assert_eq!(verdict(Attempt::Unanswered, NOW), RETRY);
    }

    #[test]
    fn retry_after_is_honoured_up_to_a_day() {
        let not_before = |after_ms| AttemptVerdict::Retry {
            not_before_ms: Some(NOW + after_ms),
        };
        assert_eq!(answered(429, Some("120")), not_before(120_000));
        assert_eq!(answered(503, Some("120")), not_before(120_000));
        assert_eq!(
            answered(429, Some("999999999")),
            not_before(MAX_RETRY_AFTER_MS)
        );
        assert_eq!(answered(429, Some("soon")), RETRY);
        assert_eq!(answered(404, Some("120")), AttemptVerdict::Refused);
    }

    #[test]
    fn a_callback_is_retried_after_each_delay_and_then_dead() {
        let middle = u32::MAX / 2 + 1;
        let after = |attempts| next(attempts, &DELAYS, RETRY, middle, NOW);
        assert_eq!(after(1), AfterAttempt::Retry { at_ms: NOW + 5_000 });
        assert_eq!(
            after(2),
            AfterAttempt::Retry {
                at_ms: NOW + 30_000
            }
        );
        assert_eq!(
            after(3),
            AfterAttempt::Retry {
                at_ms: NOW + 120_000
            }
        );
        assert_eq!(after(4), AfterAttempt::Dead);
    }

    #[test]
    fn the_receiver_can_delay_a_retry_but_not_advance_it() {
        let at = |not_before_ms| {
            next(
                1,
                &DELAYS,
                AttemptVerdict::Retry {
                    not_before_ms: Some(not_before_ms),
                },
                0,
                NOW,
            )
        };
        assert_eq!(
            at(NOW + 60_000),
            AfterAttempt::Retry {
                at_ms: NOW + 60_000
            }
        );
        assert_eq!(at(NOW), AfterAttempt::Retry { at_ms: NOW + 4_000 });
    }

    #[test]
    fn all_delays_together_are_at_most_a_fifth_longer() {
        assert_eq!(longest_ms(&DELAYS), DELAYS.iter().sum::<i64>() * 12 / 10);
        assert_eq!(longest_ms(&[i64::MAX, i64::MAX]), i64::MAX);
    }

    #[test]
    fn everything_else_ends_the_callback() {
        assert_eq!(
            next(1, &DELAYS, AttemptVerdict::Accepted, 0, NOW),
            AfterAttempt::Done
        );
        assert_eq!(
            next(1, &DELAYS, AttemptVerdict::Refused, 0, NOW),
            AfterAttempt::Dead
        );
        assert_eq!(
            next(1, &DELAYS, AttemptVerdict::Gone, 0, NOW),
            AfterAttempt::EndMessage
        );
    }

    #[test]
    fn the_body_repeats_its_fields_as_the_api_requires() {
        let message = MessageId::new(NOW, [7; 10]);
        let text = body(
            message,
            RECIPIENT,
            DeliveryStatus::Delivered,
            None,
            "https://example.ng/?a=\"b\"",
        );
        insta::assert_snapshot!(testkit::indented(&text), @r#"
        {
          "message_id": "01a1ee56-5e00-7707-8707-070707070707",
          "recipient": "2348031234567",
          "delivery_status": "delivrd",
          "customer_reference": null,
          "callback_url": "https://example.ng/?a=\"b\"",
          "data": {
            "message_id": "01a1ee56-5e00-7707-8707-070707070707",
            "recipient": "2348031234567",
            "delivery_status": "delivrd",
            "customer_reference": null
          }
        }
        "#);
    }

    proptest! {
        #[test]
        fn a_delay_is_spread_by_a_fifth_each_way(delay_ms in 0i64..=86_400_000, random: u32) {
            let spread_ms = spread(delay_ms, random);
            prop_assert!(spread_ms >= delay_ms * 8 / 10 && spread_ms <= delay_ms * 12 / 10);
        }

        #[test]
        fn the_body_contains_any_reference_and_url_unchanged(reference in ".{0,40}", control in "[\\x00-\\x1F\"\\\\/\u{7f}é😀]{0,20}") {
            let reference = format!("{control}{reference}");
            let message = MessageId::new(NOW, [7; 10]);
            let text = body(message, RECIPIENT, DeliveryStatus::Failed, Some(&reference), &control);
            let json: serde_json::Value = serde_json::from_str(&text).unwrap();
            let fields = serde_json::json!({
                "message_id": message.to_string(), "recipient": "2348031234567",
                "delivery_status": "failed", "customer_reference": reference,
            });
            let mut expected = fields.clone();
            expected["callback_url"] = control.into();
            expected["data"] = fields;
            prop_assert_eq!(json, expected);
        }
    }
}
