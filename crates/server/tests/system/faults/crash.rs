//! `kill -9` under load: nothing accepted is lost, nothing is charged twice, and no more than `in_doubt_limit` is
//! sent twice.

use super::scene::Scene;
use super::workload::{Attempt, REACHED, Sending};
use crate::customer::{Client, wait_until};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Campaigns, and recipients of each: they fill the windows, and wait behind them.
const CAMPAIGNS: u64 = 30;
const CAMPAIGN: usize = 100;
/// Customers who send beside them, one message after the other.
const SENDERS: usize = 8;
/// How much is accepted and sent before the kill.
const ENOUGH: u64 = 400;

/// Sends until the service is gone, each time to somebody else; gives all that was tried.
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

/// Sends campaigns and single messages, and kills the service while both are on the wire.
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
    // On PostgreSQL it is another node that finds what a dead one had claimed.
    let mut scene = Scene::set(|ogene| ogene.command(&["serve"]));
    scene.workload.sendings = kill_under_load(&scene);
    assert_eq!(scene.ogene.json(&["verify"])["ok"], true, "as it was left");
    scene.serve_again();
    scene.judge();
}
