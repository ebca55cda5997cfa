//! Requests with one idempotency key on several nodes, of which one is killed.

use super::cluster::Cluster;
use crate::customer::{Answer, Client, wait_until};
use serde_json::json;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

/// Concurrent requests with one key.
const REQUESTS: usize = 50;
const NUMBER: u64 = 2_348_031_000_000;

/// Repeats a request until it has an answer, and changes the node if one does not answer.
fn ask_until_answered(clients: &mut [Client], first: usize, round: u64) -> Answer {
    let body =
        json!({"from": "AdaFoods", "to": (NUMBER + round).to_string(), "body": "Your order"});
    let key = format!("order-{round}");
    for turn in first.. {
        let client = &mut clients[turn % 3];
        match client.keyed("POST /api/v2/sms", &key, &body.to_string()) {
            Ok(answer) if answer.status == 200 => return answer,
            Ok(answer) => {
                let code = answer.body["code"].as_str().unwrap_or_default();
                assert!(["API-2018", "API-5003"].contains(&code), "{}", answer.body);
            }
            // The node has ended.
            Err(_) => {}
        }
        thread::park_timeout(Duration::from_millis(20));
    }
    unreachable!("the nodes that live answer")
}

/// Returns the message of all answers of a round.
fn round(cluster: &Cluster, round: u64, kills: bool) -> String {
    let begin = &Barrier::new(REQUESTS + 1);
    let clients = || {
        let clients = cluster.nodes.iter().map(|node| cluster.client(node));
        clients.collect::<Vec<Client>>()
    };
    let answers: Vec<Answer> = thread::scope(|scope| {
        let asking: Vec<_> = (0..REQUESTS)
            .map(|place| {
                let mut clients = clients();
                scope.spawn(move || {
                    begin.wait();
                    ask_until_answered(&mut clients, place, round)
                })
            })
            .collect();
        begin.wait();
        if kills {
            cluster.nodes[0].process.signal("KILL");
        }
        let answers = asking.into_iter().map(|one| one.join().expect("no panic"));
        answers.collect()
    });
    let message = answers[0].message_id();
    assert!(answers.iter().all(|answer| answer.message_id() == message));
    let first = answers.iter().filter(|answer| !answer.replayed).count();
    assert!(first <= 1, "{first} requests were the first");
    message
}

#[test]
fn one_key_makes_one_message_over_nodes_and_a_kill() {
    const ROUNDS: u64 = 6;
    testkit::needs!(PostgresPrograms);
    let cluster = Cluster::start();
    let messages: Vec<String> = (0..ROUNDS)
        .map(|number| round(&cluster, number, number == ROUNDS / 2))
        .collect();
    let count = |table: &str| cluster.sql(&format!("select count(*) from {table}"));
    let expected = messages.len().to_string();
    assert_eq!(count("messages").trim(), expected);
    assert_eq!(count("idempotency_keys").trim(), expected);
    assert_eq!(count("ledger where kind = 'charge'").trim(), expected);
    let mut client = cluster.client(&cluster.nodes[1]);
    for message in &messages {
        wait_until("it has an outcome", || {
            client
                .summary(message)
                .is_ok_and(|counts| counts["pending"] == 0)
        });
    }
}
