//! Faults of an SMSC for a while, judged as the kill points are. `it/faults.rs` checks metrics and
//! doubt.

use super::scene::Scene;
use super::trial::well;
use super::workload::{Attempt, Sending};
use crate::customer::wait_until;
use smpp::simulator::{Delay, Fault, Quirk, Script};
use std::time::Duration;

const SENDS: usize = 30;
/// A short timeout, so that a response is missed soon.
const IMPATIENT: &str = "response_timeout = \"1s\"\nenquire_link = \"2s\"";

/// The service survives a carrier with this fault until so many submits. The carrier is healthy
/// afterwards.
fn is_survived(wrong: Script, well_after: u64) {
    let mut scene = Scene::with(IMPATIENT, |ogene| ogene.command(&["serve"]));
    scene.stage.smsc.set_script(wrong);
    let mut is_well = false;
    for _ in 0..SENDS {
        assert!(matches!(scene.send(), Attempt::Accepted { .. }));
        // A copy of a page is submitted a second later, and must find a healthy carrier even on a
        // slow machine. A page that is lost twice has no outcome.
        if !is_well && scene.stage.smsc.stats().submits >= well_after {
            scene.stage.smsc.set_script(well());
            is_well = true;
        }
    }
    wait_until("the carrier has done wrong", || {
        scene.stage.smsc.stats().submits >= well_after
    });
    scene.stage.smsc.set_script(well());
    scene.judge();
}

#[test]
fn a_reset_with_a_full_window_leaves_the_invariants() {
    let mut resetting = well();
    resetting.drop_at_window = Some(10);
    is_survived(resetting, 10);
}

#[test]
fn responses_that_come_too_late_leave_the_invariants() {
    let mut late = well();
    late.response_delay = Delay::fixed(Duration::from_millis(1_500));
    is_survived(late, 10);
}

#[test]
fn a_connection_that_fails_leaves_the_invariants() {
    for fault in [
        Fault::HalfOpen,
        Fault::LoseResponse,
        Fault::Silence,
        Fault::WrongSequence,
        Fault::Drop,
        Fault::BrokenLength,
        Fault::Garbage,
    ] {
        println!("{fault:?}");
        let mut failing = well();
        failing.faults = vec![(4, fault)];
        is_survived(failing, 8);
    }
}

/// If a receipt comes before the response, only the response names the page of a copy.
#[test]
fn early_receipts_of_long_resent_messages_keep_the_invariants() {
    let mut scene = Scene::with(IMPATIENT, |ogene| ogene.command(&["serve"]));
    let mut silent = well();
    silent.faults = vec![(1, Fault::Silence)];
    scene.stage.smsc.set_script(silent);
    // Their pages are at most as many as may be in doubt at once.
    for _ in 0..7 {
        assert!(matches!(
            scene.send_as(Sending::long),
            Attempt::Accepted { .. }
        ));
    }
    wait_until("the carrier has been sent to", || {
        scene.stage.smsc.stats().submits >= 14
    });
    let mut early = well();
    early.receipts.quirks = vec![Quirk::BeforeResponse];
    early.receipt_delay = Delay {
        from: Duration::ZERO,
        to: Duration::from_millis(40),
    };
    early.response_delay = Delay::fixed(Duration::from_millis(20));
    scene.stage.smsc.set_script(early);
    scene.judge();
}
