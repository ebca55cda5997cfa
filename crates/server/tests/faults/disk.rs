//! What a failing and a full disk are to those who send, one message after the other.

use crate::customer::{Client, wait_until};
use crate::daemon::Daemon;
use crate::installation::Installation;
use crate::kept::Kept;
use crate::points::{Point, traced};
use crate::trial::Stage;
use crate::workload::{Attempt, REACHED, Sending, Workload};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// Most sends until something has to have happened: more than fill the write-ahead log.
const MANY: u64 = 1_000;
/// How soon all is as before once there is room.
const SOON: Duration = Duration::from_secs(5);
const CREDIT: [&str; 6] = [
    "wallet",
    "credit",
    "--reference",
    "disk",
    "--amount",
    "90000",
];

/// A kept installation with much credit, what is around it, and a service to which something will happen.
struct Scene {
    kept: Kept,
    ogene: Installation,
    stage: Stage,
    service: Daemon,
    client: Client,
}

impl Scene {
    fn set(serve: impl FnOnce(&Installation) -> Command) -> Self {
        let kept = Kept::embedded();
        let (ogene, _) = kept.copy();
        let stage = Stage::set(&ogene);
        let account = ["--account", &kept.customer.account];
        ogene.json(&[&CREDIT[..], &account].concat());
        let service = Daemon::start(serve(&ogene));
        let address = service.address.clone().expect("it serves");
        let client = Client::new(&address, &kept.customer.token);
        Self {
            kept,
            ogene,
            stage,
            service,
            client,
        }
    }

    /// Sends to one more recipient.
    fn send(&mut self, place: u64) -> Sending {
        let mut sending = Sending::new(place, &[REACHED]);
        sending.attempt(&mut self.client, &self.stage.receiver.url);
        sending
    }

    fn balance(&mut self) -> i64 {
        let mut workload = Workload::new();
        workload.read_balance(&mut self.client);
        *workload.balances.last().expect("an answer")
    }
}

/// Sends until the service is gone: nobody answers, as nobody knows what became of the send, or it came between the
/// commit that failed and the end of the process, and was not begun with. Sees that the service has ended by itself,
/// and that what was answered is there.
fn ends_at_a_failed_sync(serve: impl FnOnce(&Installation) -> Command) {
    let mut scene = Scene::set(serve);
    let mut sendings: Vec<Sending> = Vec::new();
    while sendings.last().is_none_or(Sending::accepted) {
        let place = sendings.len() as u64;
        assert!(place < MANY, "no sync has failed");
        sendings.push(scene.send(place));
    }
    let last = sendings.last().expect("some").attempts[0];
    let is_honest = matches!(last, Attempt::Silence | Attempt::Unavailable);
    assert!(is_honest, "{last:?}");
    wait_until("it ends by itself", || scene.service.has_ended());
    let (status, log) = scene.service.end();
    assert_eq!(status.code(), Some(1), "{log}");
    assert!(
        log.contains("the disk failed to keep what was written"),
        "{log}"
    );

    let mut service = Daemon::start(scene.ogene.command(&["serve"]));
    let address = service.address.clone().expect("it serves again");
    let mut client = Client::new(&address, &scene.kept.customer.token);
    for sending in &mut sendings {
        sending.attempt(&mut client, &scene.stage.receiver.url);
        let again = sending.attempts[1];
        let stands = again == Attempt::Duplicate;
        match sending.attempts[0] {
            Attempt::Silence => {}
            Attempt::Unavailable => assert!(!stands, "{sending:?}"),
            _ => assert!(stands, "{sending:?}"),
        }
    }
    let numbers: Vec<u64> = sendings
        .iter()
        .flat_map(|one| one.numbers.clone())
        .collect();
    wait_until("everybody was told of", || scene.stage.has_told(&numbers));
    service.terminate();
    assert_eq!(service.end().0.code(), Some(0));
    assert_eq!(scene.ogene.json(&["verify"])["ok"], true);
}

#[test]
#[ignore = "needs strace"]
fn a_commit_whose_sync_fails_ends_the_service_without_an_answer() {
    let point = Point("fdatasync:error=EIO:when=30".to_owned());
    ends_at_a_failed_sync(|ogene| point.serve(ogene));
}

/// SQLite by itself would not say that. The first sync of the database file is that of the start.
#[test]
#[ignore = "needs strace"]
fn a_log_that_is_folded_back_without_a_sync_ends_the_service() {
    ends_at_a_failed_sync(|ogene| {
        let database = ogene.path().join("data/ogene.db").display().to_string();
        let fails = ["-P", &database, "-e", "inject=fdatasync:error=EIO:when=2"];
        traced(ogene, "fdatasync", &fails)
    });
}

#[test]
#[ignore = "needs strace"]
fn a_full_disk_refuses_without_a_charge_and_heals_by_itself() {
    let point = Point("pwrite64:error=ENOSPC:when=150..190".to_owned());
    let mut scene = Scene::set(|ogene| point.serve(ogene));
    let before = scene.balance();
    let mut sendings: Vec<Sending> = Vec::new();
    let (mut refused, mut healed_at) = (0, Instant::now());
    // Until there was no room, and three more after it.
    while refused == 0 || sendings.iter().rev().take(3).any(|last| !last.accepted()) {
        let place = sendings.len() as u64;
        assert!(place < MANY, "the disk was never full, or for ever");
        let sending = scene.send(place);
        if sending.attempts[0] == Attempt::Unavailable {
            refused += 1;
            healed_at = Instant::now();
            thread::park_timeout(Duration::from_millis(20));
        }
        sendings.push(sending);
    }
    let accepted: Vec<&Sending> = sendings.iter().filter(|one| one.accepted()).collect();
    assert_eq!(accepted.len() + refused, sendings.len(), "{sendings:?}");
    let numbers: Vec<u64> = accepted
        .iter()
        .flat_map(|one| one.numbers.clone())
        .collect();
    wait_until("everybody was told of", || scene.stage.has_told(&numbers));
    assert!(healed_at.elapsed() < SOON, "{:?}", healed_at.elapsed());
    let cost: i64 = accepted.iter().map(|one| one.cost()).sum();
    assert_eq!(scene.balance(), before - cost, "after {refused} refusals");
    scene.service.terminate();
    assert_eq!(scene.service.end().0.code(), Some(0));
    assert_eq!(scene.ogene.json(&["verify"])["ok"], true);
}
