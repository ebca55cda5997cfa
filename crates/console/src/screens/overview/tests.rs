//! Tests of the overview: each figure is the sum of its parts.

use super::*;
use crate::html;

fn slot(sent: u64, delivered: u64, failed: u64) -> Slot {
    Slot {
        at_ms: 1_795_968_402_000,
        sent,
        delivered,
        failed,
        spend: Money::from_naira(6),
    }
}

fn numbers(slots: Vec<Slot>) -> OverviewNumbers {
    OverviewNumbers {
        now_ms: 1_795_968_402_000,
        period: Period::Week,
        measure: Measure::Failed,
        balance: Money::from_naira(1500),
        slots,
        networks: Vec::new(),
        gateways: Vec::new(),
        attention: Vec::new(),
        latest: Vec::new(),
        counted_since_ms: None,
        networks_since_ms: None,
    }
}

#[test]
fn a_figure_is_the_sum_of_its_hours_or_days() {
    let figures = numbers(vec![slot(1000, 900, 50), slot(10, 5, 5)]).figures();
    let shown = figures
        .iter()
        .map(|one| (one.label.as_str(), one.value.as_str(), one.note.as_str()));
    let expected = [
        ("Sent", "1,010", "50 pending"),
        ("Delivered", "905", "94.2 %"),
        ("Failed", "55", "5.7 %"),
        ("Spend", "₦12.00", "after refunds"),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn the_part_asks_for_the_same_period_and_measure() {
    let html = html(&numbers(vec![slot(1, 1, 0)]));
    assert!(
        html.contains("hx-get=\"/console/?period=7d&#38;measure=failed&#38;part=numbers\""),
        "{html}"
    );
    assert!(
        html.contains("measure=failed\" aria-current=\"true\""),
        "{html}"
    );
}

#[test]
fn an_account_without_messages_has_no_chart() {
    let html = html(&numbers(vec![slot(0, 0, 0)]));
    assert!(
        html.contains("No messages yet") && !html.contains("class=\"chart\""),
        "{html}"
    );
}

#[test]
fn a_message_has_the_worst_of_its_outcomes() {
    let message = |delivered, failed| Latest {
        id: "1".to_owned(),
        sender: "A".to_owned(),
        text: "a".to_owned(),
        at_ms: 0,
        recipients: 1200,
        delivered,
        failed,
        cost: Money::ZERO,
    };
    let cases = [
        (0, 0, Tone::Waiting, "1,200 pending"),
        (1200, 0, Tone::Good, "Delivered"),
        (0, 1200, Tone::Bad, "Failed"),
        (1000, 200, Tone::Warning, "200 failed"),
    ];
    for (delivered, failed, tone, text) in cases {
        assert_eq!(message(delivered, failed).badge(), Badge::new(tone, text));
    }
}

#[test]
fn numbers_that_leave_messages_out_name_their_begin() {
    let mut numbers = numbers(vec![slot(5, 5, 0)]);
    let note = "only those since 29 Nov 2026, 17:06:42 are counted";
    assert!(!html(&numbers).contains(note));
    numbers.counted_since_ms = Some(1_795_968_402_000);
    assert!(html(&numbers).contains(note));
}
