//! Tables of times, validity, states and changes.

use super::*;
use proptest::prelude::*;

/// 2027-01-31 18:00:00 in Lagos.
const NOW: i64 = 1_801_414_800_000;

fn send_at(text: &str) -> Result<Option<i64>, String> {
    let at_ms = parse_send_at(Some(text)).map_err(|refusal| refusal.to_string())?;
    let checked = at_ms.map(|at_ms| check_send_at(at_ms, NOW));
    let checked = checked.transpose().map_err(|refusal| refusal.to_string())?;
    Ok(checked.flatten())
}

#[test]
fn a_time_up_to_a_minute_ago_means_now() {
    let table = [
        ("", None),
        ("2027-01-31 18:00:00", None),
        ("2027-01-31 17:59:00", None),
        ("2027-01-31T17:00:00Z", None),
        ("2027-01-31 18:00:01", Some(NOW + 1_000)),
        ("2027-01-31T17:00:00.001Z", Some(NOW + 1)),
        ("2027-05-01 18:00:00", Some(NOW + MAX_AHEAD_MS)),
    ];
    for (text, at) in table {
        assert_eq!(send_at(text), Ok(at), "{text}");
    }
    assert_eq!(parse_send_at(None), Ok(None));
}

#[test]
fn another_time_is_refused_with_the_accepted_forms() {
    let table = [
        ("2027-01-31 17:58:59", "is in the past"),
        ("2027-05-01 18:00:01", "is more than 90 days ahead"),
        ("tomorrow", "is not a time"),
        ("2027-01-31T19:00:00", "is not a time"),
    ];
    for (text, fault) in table {
        let refusal = send_at(text).unwrap_err();
        assert!(
            refusal.starts_with(&format!("`send_at` {fault}. ")),
            "{refusal}"
        );
        assert!(refusal.contains("RFC 3339") && refusal.contains("YYYY-MM-DD HH:MM:SS"));
    }
}

#[test]
fn validity_is_60_to_172800_whole_seconds() {
    let table = [
        (Some("60"), Ok(Some(60))),
        (Some(" 172800 "), Ok(Some(172_800))),
        (Some(" "), Ok(None)),
        (None, Ok(None)),
    ];
    for (text, seconds) in table {
        assert_eq!(parse_validity(text), seconds, "{text:?}");
    }
    for text in [
        "59",
        "172801",
        "60.5",
        "-60",
        "+60",
        "1h",
        "99999999999999999999",
    ] {
        let refusal = parse_validity(Some(text)).unwrap_err();
        assert!(refusal.to_string().contains("from 60 to 172800"), "{text}");
    }
}

#[test]
fn the_smaller_validity_counts() {
    let table = [
        (None, 600_000, 600_000),
        (Some(60), 600_000, 60_000),
        (Some(3_600), 600_000, 600_000),
    ];
    for (own, of_gateway, validity) in table {
        assert_eq!(validity_ms(own, of_gateway), validity);
    }
}

#[test]
fn a_message_is_due_at_its_time_or_after_the_quiet_hours() {
    // Quiet from 20:00 to 08:00 in Lagos; it is 18:00.
    let quiet = Some(QuietHours {
        from_minute: 20 * 60,
        until_minute: 8 * 60,
    });
    let hour = 3_600_000;
    let table = [
        (None, None, NOW, false),
        (None, quiet, NOW, false),
        (Some(NOW + hour), quiet, NOW + hour, true),
        (Some(NOW + 3 * hour), None, NOW + 3 * hour, true),
        (Some(NOW + 3 * hour), quiet, NOW + 14 * hour, true),
        (Some(NOW - 1), None, NOW, false),
    ];
    for (wished, quiet, at_ms, is_scheduled) in table {
        let expected = Due {
            at_ms,
            scheduled_for_ms: is_scheduled.then_some(at_ms),
        };
        assert_eq!(due(NOW, wished, quiet), expected);
    }
}

fn progress(
    handed_over: i64,
    ended: i64,
    cancelled: i64,
    due_in_ms: i64,
    is_paused: bool,
) -> Progress {
    Progress {
        recipients: 10,
        handed_over,
        ended,
        cancelled,
        due_at_ms: NOW + due_in_ms,
        is_paused,
        was_cancelled: false,
    }
}

#[test]
fn the_state_follows_from_counts_and_times() {
    use MessageState::{Cancelled, Completed, Paused, Scheduled, Sending};
    let table = [
        (progress(0, 0, 0, 1, false), Scheduled),
        (progress(0, 0, 0, 0, false), Sending),
        (progress(3, 0, 0, 1, false), Sending),
        (progress(10, 9, 0, 0, false), Sending),
        (progress(0, 0, 0, 1, true), Paused),
        (progress(3, 1, 0, 0, true), Paused),
        (progress(10, 10, 0, 0, true), Completed),
        (progress(3, 10, 7, 0, false), Completed),
        (progress(3, 9, 7, 0, false), Sending),
        (progress(0, 10, 10, 1, true), Cancelled),
    ];
    for (progress, state) in table {
        assert_eq!(progress.state(NOW), state, "{progress:?}");
    }
}

#[test]
fn a_change_is_made_once_and_never_to_a_final_message() {
    use Change::{Cancel, Pause, Reschedule, Resume};
    let scheduled = progress(0, 0, 0, 1, false);
    let paused = progress(0, 0, 0, 1, true);
    let sending = progress(3, 1, 0, 0, false);
    let held = progress(3, 1, 0, 0, true);
    let completed = progress(10, 10, 0, 0, false);
    let cancelled = progress(0, 10, 10, 0, true);
    let (applies, nothing) = (Some(Effect::Applies), Some(Effect::Nothing));
    let table = [
        (scheduled, [applies, applies, nothing, applies]),
        (paused, [applies, nothing, applies, applies]),
        (sending, [applies, applies, nothing, None]),
        (held, [applies, nothing, applies, None]),
        (completed, [nothing, None, None, None]),
        (cancelled, [nothing, None, None, None]),
    ];
    for (progress, effects) in table {
        for (asked, effect) in [Cancel, Pause, Resume, Reschedule].into_iter().zip(effects) {
            let decided = change(&progress, asked, NOW);
            assert_eq!(
                decided.as_ref().ok(),
                effect.as_ref(),
                "{asked:?} {progress:?}"
            );
            if let Err(refusal) = decided {
                assert!(matches!(refusal, Refusal::TooLate(_)));
            }
        }
    }
}

#[test]
fn a_pause_does_not_schedule_a_message() {
    assert_eq!(scheduled_for(None, 0, NOW), None);
    assert_eq!(scheduled_for(Some(NOW + 9), 0, NOW), Some(NOW + 9));
    assert_eq!(scheduled_for(Some(NOW + 9), 9, NOW), None);
    assert_eq!(scheduled_for(Some(NOW + 9), 4, NOW), Some(NOW + 5));
}

#[test]
fn a_second_cancel_has_no_effect() {
    let cancelled = Progress {
        was_cancelled: true,
        ..progress(3, 9, 7, 0, false)
    };
    let effect = |asked| change(&cancelled, asked, NOW).ok();
    assert_eq!(effect(Change::Cancel), Some(Effect::Nothing));
    assert_eq!(effect(Change::Pause), Some(Effect::Applies));
}

proptest! {
    #[test]
    fn a_final_state_stays_final(
        ended in 0..=10_i64, cancelled in 0..=10_i64, due_in in -5..5_i64, is_paused: bool, later in 0..10_i64,
    ) {
        let progress = progress(ended, ended.max(cancelled), cancelled, due_in, is_paused);
        let is_final = |state| matches!(state, MessageState::Completed | MessageState::Cancelled);
        let (now, then) = (progress.state(NOW), progress.state(NOW + later));
        prop_assert_eq!(is_final(now), is_final(then));
        prop_assert_eq!(is_final(now), progress.ended == 10);
    }
}
