//! `kill -9` under load: no accepted message is lost, none is charged twice, and at most
//! `in_doubt_limit` are sent twice.

use super::scene::Scene;
use super::workload::{Attempt, REACHED, Sending};
use crate::customer::{Client, wait_until};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Campaigns, and the recipients of each: they fill the windows and the queue.
const CAMPAIGNS: u64 = 30;
const CAMPAIGN: usize = 100;
/// Customers who send single messages meanwhile.
const SENDERS: usize = 8;
/// Numbers of accepts and submits before the kill.
const ENOUGH: u64 = 400;

/// Sends until the service has ended, each time to another number. Returns all attempts.
fn load(client: &mut Client, next: &AtomicU64, accepted: &AtomicU64, url: &str) -> Vec<Sending> {
    let mut tried: Vec<Sending> = Vec::new();
    let is_gone = |last: &Sending| last.attempts[0] == Attempt::Silence;
    while !tried.last().is_some_and(is_gone) {
        let place = next.fetch_add(1, Ordering::Relaxed);
        let mut sending = Sending::new(place, &[REACHED]);
        sending.attempt(client, url);
        accepted.fetch_add(u64::from(sending.accepted()), Ordering::Relaxed);
        tried.push(sending);
    }
    tried
}

/// Sends campaigns and single messages, and kills the service while both are in flight.
fn kill_under_load(scene: &Scene) -> Vec<Sending> {
    let address = scene.service.address.as_deref().expect("it serves");
    let token = scene.kept.customer.token.as_str();
    let client = || Client::new(address, token);
    let (stage, url) = (&scene.stage, &scene.stage.receiver.url);
    let mut campaigns: Vec<Sending> = (0..CAMPAIGNS)
        .map(|place| Sending::new(place, &[REACHED; CAMPAIGN]))
        .collect();
    let mut first = client();
    for campaign in &mut campaigns {
        campaign.attempt(&mut first, url);
        assert!(campaign.accepted(), "{campaign:?}");
    }
    let (next, accepted) = (AtomicU64::new(CAMPAIGNS), AtomicU64::new(0));
    thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|_| scope.spawn(|| load(&mut client(), &next, &accepted, url)))
            .collect();
        wait_until("the load is on", || {
            accepted.load(Ordering::Relaxed) > ENOUGH && stage.smsc.stats().submits > ENOUGH
        });
        scene.service.signal("KILL");
        for sender in senders {
            campaigns.extend(sender.join().expect("no panic"));
        }
    });
    campaigns
}

#[test]
fn a_killed_process_loses_nothing_and_charges_nothing_twice() {
    // On PostgreSQL another node finds the claims of the dead one.
    let mut scene = Scene::set(|ogene| ogene.command(&["serve"]));
    scene.workload.sendings = kill_under_load(&scene);
    assert_eq!(scene.ogene.json(&["verify"])["ok"], true, "as it was left");
    scene.serve_again();
    scene.judge();
}
