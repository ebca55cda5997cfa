//! Single sends during a failing and a full disk.

use super::points::{Point, traced};
use super::scene::Scene;
use super::workload::Attempt;
use crate::customer::wait_until;
use crate::installation::Installation;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// The number of sends that a full disk refuses.
const REFUSALS: usize = 10;
/// Time in which sends must be accepted again once there is space.
const SOON: Duration = Duration::from_secs(5);
/// Interval of attempts.
const TRY_INTERVAL: Duration = Duration::from_millis(20);

/// Sends until the service has ended. The send at the failed commit has no answer, since its
/// outcome is unknown. A send between that commit and the end of the process is not begun. Checks
/// that the service has ended by itself, and that all answered sends are stored.
fn ends_at_a_failed_sync(serve: impl FnOnce(&Installation) -> Command) {
    let mut scene = Scene::set(serve);
    let last = loop {
        match scene.send() {
            Attempt::Accepted { .. } => {}
            other => break other,
        }
    };
    let is_honest = matches!(last, Attempt::Silence | Attempt::Unavailable);
    assert!(is_honest, "{last:?}");
    wait_until("it ends by itself", || scene.service.has_ended());
    let (status, log) = scene.serve_again();
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(
        log.contains("the disk failed to keep what was written"),
        "{log}"
    );
    scene.judge();
}

#[test]
fn a_commit_whose_sync_fails_ends_the_service_without_an_answer() {
    testkit::needs!(Strace);
    let point = Point("fdatasync:error=EIO:when=30".to_owned());
    ends_at_a_failed_sync(|ogene| point.serve(ogene));
}

/// SQLite does not report such a failure by itself. The first sync of the database file is that of
/// the start.
#[test]
fn a_log_that_is_folded_back_without_a_sync_ends_the_service() {
    testkit::needs!(Strace);
    ends_at_a_failed_sync(|ogene| {
        let database = ogene.path().join("data/ogene.db").display().to_string();
        let fails = ["-P", &database, "-e", "inject=fdatasync:error=EIO:when=2"];
        traced(ogene, "fdatasync", &fails)
    });
}

#[test]
fn a_full_disk_refuses_without_a_charge_and_heals_by_itself() {
    testkit::needs!(Strace);
    let full = ["-e", "inject=pwrite64:error=ENOSPC:when=150+"];
    let mut scene = Scene::set(|ogene| traced(ogene, "pwrite64", &full));
    while matches!(scene.send(), Attempt::Accepted { .. }) {}
    for _ in 1..REFUSALS {
        assert_eq!(scene.send(), Attempt::Unavailable, "there is no room");
    }
    let room_since = Instant::now();
    scene.service.set_free();
    while scene.send() == Attempt::Unavailable {
        thread::park_timeout(TRY_INTERVAL);
    }
    let healed_within = room_since.elapsed();
    println!("healed within {} ms", healed_within.as_millis());
    assert!(healed_within < SOON, "{healed_within:?}");
    scene.judge();
}

#[test]
fn a_start_on_a_full_disk_gives_what_to_do() {
    testkit::needs!(Strace);
    // The first limit is on all files, and the second on the index of the log alone.
    for file in ["", "data/ogene.db-shm"] {
        let ogene = Installation::embedded();
        let path = ogene.path().join(file).display().to_string();
        let fails = ["-e", "inject=pwrite64:error=ENOSPC", "-P", &path];
        let fails = if file.is_empty() {
            &fails[..2]
        } else {
            &fails[..]
        };
        let output = traced(&ogene, "pwrite64", fails).output();
        let output = output.expect("it runs");
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{log}");
        let is_told = log.contains("is full") && log.contains("make room");
        assert!(is_told, "{file}: {log}");
    }
}
