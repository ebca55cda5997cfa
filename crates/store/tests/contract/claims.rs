//! Claims: the batches that a node takes, and their further states.

use domain::{
    AccountStatus, BatchId, DeliveryStatus, Environment, Gateway, NodeId, Priority, Queued,
    Recipient,
};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use store::{Accepted, Batch, BatchKind, Claim, Claimed, Progress, QueueState};
use storekit::{
    CARRIER, Kit, NOW, OTHER_CARRIER, Sending, by, claim, delivered, number, refused, report,
    sending, taken, twins,
};

twins!(
    claims_take_the_most_urgent_first,
    a_claim_takes_only_what_is_due_and_urgent_enough,
    a_claim_takes_never_more_recipients_than_asked,
    a_claim_takes_never_more_batches_than_asked,
    a_claim_goes_on_past_batches_of_held_accounts,
    the_last_batch_is_split_exactly,
    batches_that_one_claim_splits_have_ids_of_their_own,
    two_claims_never_give_the_same_recipient,
    a_claimed_batch_tells_what_it_says,
    released_batches_wait_again,
    a_batch_that_another_node_has_is_not_given_back,
    a_batch_can_go_to_another_carrier,
    faults_are_counted_on_one_carrier,
    what_is_claimed_shrinks_to_what_is_left,
    batches_of_nodes_that_are_gone_are_found,
    carriers_are_known_from_their_batches,
    late_batches_are_found_when_their_time_is_over,
    who_is_claimed_while_a_sweep_looks_at_the_rest_ends_once,
    the_carriers_of_batches_that_are_due_are_known,
    queue_depths_count_recipients_that_wait,
);

async fn send(kit: &Kit, sending: &Sending) {
    assert!(matches!(
        kit.accept(&sending.message(&kit.store)).await,
        Accepted::Yes { .. }
    ));
}

fn numbers(claimed: &[Claimed]) -> Vec<Recipient> {
    claimed
        .iter()
        .flat_map(|claimed| claimed.batch.recipients.clone())
        .collect()
}

async fn claims_take_the_most_urgent_first(kit: &Kit) {
    let base = sending(kit.account(1_000).await);
    let order = [
        (Priority::Bulk, NOW - 9_000, 1),
        (Priority::Normal, NOW, 2),
        (Priority::Normal, NOW - 5, 3),
        (Priority::Otp, NOW, 4),
        (Priority::Otp, NOW - 7, 5),
    ];
    for (priority, due_at_ms, first_number) in order {
        send(
            kit,
            &Sending {
                first_number,
                priority,
                due_at_ms,
                ..base.clone()
            },
        )
        .await;
    }
    let claimed = kit.claim(100).await;
    let wanted: Vec<Recipient> = [5, 4, 3, 2, 1].into_iter().map(storekit::number).collect();
    assert_eq!(numbers(&claimed), wanted);
    assert!(
        claimed
            .iter()
            .all(|claimed| claimed.batch.state == QueueState::Claimed(storekit::NODE))
    );
}

async fn a_claim_takes_only_what_is_due_and_urgent_enough(kit: &Kit) {
    let base = sending(kit.account(1_000).await);
    send(
        kit,
        &Sending {
            due_at_ms: NOW + 1,
            ..base.clone()
        },
    )
    .await;
    send(
        kit,
        &Sending {
            priority: Priority::Bulk,
            ..base.clone()
        },
    )
    .await;
    let urgent = Claim {
        priority: Priority::Normal,
        ..claim(10)
    };
    assert!(kit.store.claims().claim(urgent).await.unwrap().is_empty());
    assert!(kit.claim_elsewhere(10).await.is_empty());
    assert_eq!(kit.claim(10).await.len(), 1);
    let later = Claim {
        now_ms: NOW + 1,
        ..claim(10)
    };
    assert_eq!(kit.store.claims().claim(later).await.unwrap().len(), 1);
}

async fn a_claim_takes_never_more_recipients_than_asked(kit: &Kit) {
    let base = sending(kit.account(10_000).await);
    for (index, recipients) in [3, 1, 7, 2, 20].into_iter().enumerate() {
        send(
            kit,
            &Sending {
                recipients,
                first_number: index * 100,
                ..base.clone()
            },
        )
        .await;
    }
    let (mut all, mut asked) = (Vec::new(), 0);
    while all.len() < 33 {
        asked += 1;
        let found = numbers(&kit.claim(asked).await);
        assert!(found.len() <= asked, "{} of {asked}", found.len());
        assert!(!found.is_empty());
        all.extend(found);
    }
    assert_eq!(all.len(), 33);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 33);
    assert!(kit.claim(0).await.is_empty());
}

async fn a_claim_takes_never_more_batches_than_asked(kit: &Kit) {
    let base = sending(kit.account(1_000).await);
    for first_number in 0..20 {
        let single = Sending {
            first_number,
            ..base.clone()
        };
        send(kit, &single).await;
    }
    let mut all = Vec::new();
    for _ in 0..4 {
        let some = Claim {
            batches: 6,
            ..claim(1_000)
        };
        let found = numbers(&kit.store.claims().claim(some).await.unwrap());
        assert!((1..=6).contains(&found.len()), "{} of 6", found.len());
        all.extend(found);
    }
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 20);
    assert!(kit.claim(1_000).await.is_empty());
}

/// An empty claim would tell the carrier that nothing is due.
async fn a_claim_goes_on_past_batches_of_held_accounts(kit: &Kit) {
    let (held, other) = (kit.account(1_000).await, kit.account(1_000).await);
    for first_number in 0..20 {
        let earlier = Sending {
            first_number,
            due_at_ms: NOW - 1_000,
            ..sending(held)
        };
        send(kit, &earlier).await;
    }
    send(kit, &sending(other)).await;
    let disabled =
        kit.store
            .accounts()
            .set_status(held, AccountStatus::Disabled, Queued::Hold, by(NOW));
    assert!(disabled.await.unwrap());
    let few = Claim {
        batches: 3,
        ..claim(1_000)
    };
    let found = kit.store.claims().claim(few).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].content.account, other);
}

async fn the_last_batch_is_split_exactly(kit: &Kit) {
    let message = Sending {
        recipients: 10,
        ..sending(kit.account(100).await)
    }
    .message(&kit.store);
    kit.accept(&message).await;
    let (first, second) = (kit.claim(4).await, kit.claim(100).await);
    assert_eq!(numbers(&first), message.draft.recipients[..4]);
    assert_eq!(numbers(&second), message.draft.recipients[4..]);
    assert_ne!(first[0].batch.id, second[0].batch.id);
    let Batch {
        charge,
        pages,
        ref kind,
        ..
    } = first[0].batch;
    assert_eq!(
        (charge, pages, kind),
        (second[0].batch.charge, 1, &second[0].batch.kind)
    );
    kit.report(storekit::report(
        vec![taken(&first[0]), taken(&second[0])],
        vec![],
    ))
    .await;
    assert_eq!(kit.numbers("select count(*) from batches").await, [0]);
}

/// The accounts are in two buckets, if there are two. The first bucket has a batch whose recipient
/// needs nothing any more, so its share goes to the other one.
async fn batches_that_one_claim_splits_have_ids_of_their_own(kit: &Kit) {
    let (mut one, mut other) = (kit.account(100).await, kit.account(100).await);
    if kit.store.bucket_of(one) > kit.store.bucket_of(other) {
        (one, other) = (other, one);
    }
    let again = Sending {
        first_number: 2,
        ..sending(one)
    };
    let done = kit.accept_and_claim(&again.message(&kit.store)).await;
    let batch = Batch {
        state: QueueState::Waiting,
        due_at_ms: NOW - 1,
        kind: BatchKind::Again,
        ..done[0].batch.clone()
    };
    let progress = Progress {
        again: vec![batch],
        ..taken(&done[0])
    };
    kit.report(report(vec![progress], vec![])).await;
    kit.report(report(vec![], vec![delivered(number(2))])).await;
    for (account, first_number) in [(one, 10), (other, 20)] {
        let sending = Sending {
            recipients: 3,
            first_number,
            ..sending(account)
        };
        send(kit, &sending).await;
    }
    let claim = claim(3);
    let BatchId(next_id) = claim.next_id;
    let ids = next_id..next_id + i64::try_from(kit.store.claims().split_ids()).unwrap();
    let claimed = kit.store.claims().claim(claim).await.unwrap();
    let in_hand: HashSet<i64> = claimed.iter().map(|one| one.batch.id.0).collect();
    assert_eq!(in_hand.len(), claimed.len());
    let waiting = "select batch_id from batches where claimed_by = 0";
    let split = kit.numbers(waiting).await;
    assert!(split.iter().any(|id| ids.contains(id)), "{split:?}");
    assert!(split.iter().all(|id| !in_hand.contains(id)), "{split:?}");
    let batches = claimed.into_iter().map(|one| one.batch).collect();
    kit.store
        .claims()
        .release(batches, NOW, None, NOW)
        .await
        .unwrap();
}

async fn two_claims_never_give_the_same_recipient(kit: &Kit) {
    let base = sending(kit.account(10_000).await);
    for index in 0..40 {
        send(
            kit,
            &Sending {
                recipients: 5,
                first_number: index * 5,
                ..base.clone()
            },
        )
        .await;
    }
    let mut tasks = tokio::task::JoinSet::new();
    for node in (1..=8).map(NodeId) {
        let store = kit.store.clone();
        tasks.spawn(async move {
            let mut mine = Vec::new();
            loop {
                let found = store
                    .claims()
                    .claim(Claim { node, ..claim(13) })
                    .await
                    .unwrap();
                if found.is_empty() {
                    return mine;
                }
                assert!(
                    found
                        .iter()
                        .all(|claimed| claimed.batch.state == QueueState::Claimed(node))
                );
                mine.extend(numbers(&found));
            }
        });
    }
    let all: Vec<Recipient> = tasks.join_all().await.into_iter().flatten().collect();
    // Rows that another node has locked may be left for the next claim.
    let rest = numbers(&kit.claim(1_000).await);
    assert_eq!(all.len() + rest.len(), 200);
    assert_eq!(all.iter().chain(&rest).collect::<HashSet<_>>().len(), 200);
}

async fn a_claimed_batch_tells_what_it_says(kit: &Kit) {
    let sandbox = Sending {
        environment: Environment::Sandbox,
        gateway: Gateway::Otp,
        ..sending(kit.account(0).await)
    };
    let message = sandbox.message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await.pop().unwrap();
    assert_eq!(claimed.content.account, sandbox.account);
    assert_eq!(claimed.content.environment, Environment::Sandbox);
    assert_eq!(claimed.content.gateway, Gateway::Otp);
    assert_eq!(claimed.content.sender, storekit::SENDER);
    let body = message.draft.text.as_str().to_owned();
    assert_eq!(claimed.content.body, store::Body::Shared(body));
    let wanted = Batch {
        state: QueueState::Claimed(storekit::NODE),
        claimed_until_ms: claimed.batch.claimed_until_ms,
        ..message.batches[0].clone()
    };
    assert_eq!(claimed.batch, wanted);
}

fn batches(claimed: &[Claimed]) -> Vec<Batch> {
    claimed
        .iter()
        .map(|claimed| claimed.batch.clone())
        .collect()
}

async fn released_batches_wait_again(kit: &Kit) {
    let message = Sending {
        recipients: 3,
        ..sending(kit.account(100).await)
    }
    .message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    kit.store
        .claims()
        .release(batches(&claimed), NOW + 5_000, None, NOW)
        .await
        .unwrap();
    assert!(kit.claim(10).await.is_empty());
    let later = Claim {
        now_ms: NOW + 5_000,
        ..claim(10)
    };
    let again = kit.store.claims().claim(later).await.unwrap();
    assert_eq!(numbers(&again), message.draft.recipients);
    let twice = kit
        .store
        .claims()
        .release(batches(&claimed), NOW, None, NOW)
        .await;
    assert!(twice.is_ok(), "nothing is left of it to be given back");
    assert_eq!(kit.numbers("select count(*) from batches").await, [1]);
    assert!(kit.claim(10).await.is_empty(), "it is in hand since");
}

/// Its node was removed as dead, so its claims belong to another node now.
async fn a_batch_that_another_node_has_is_not_given_back(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let lost = kit.accept_and_claim(&message).await;
    kit.store
        .claims()
        .release(batches(&lost), NOW + 1, None, NOW)
        .await
        .unwrap();
    let other = Claim {
        node: NodeId(8),
        now_ms: NOW + 1,
        ..claim(10)
    };
    let theirs = kit.store.claims().claim(other).await.unwrap();
    kit.store
        .claims()
        .release(batches(&lost), NOW, Some("glo".into()), NOW)
        .await
        .unwrap();
    assert!(kit.claim_elsewhere(10).await.is_empty());
    kit.report(storekit::report(vec![taken(&theirs[0])], vec![]))
        .await;
    assert_eq!(kit.statuses(&message).await, [Some(DeliveryStatus::Sent)]);
}

async fn a_batch_can_go_to_another_carrier(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    let claimed = kit.accept_and_claim(&message).await;
    kit.store
        .claims()
        .release(batches(&claimed), NOW, Some("glo".into()), NOW)
        .await
        .unwrap();
    assert!(kit.claim(10).await.is_empty());
    assert_eq!(
        kit.claim_elsewhere(10).await[0].batch.carrier,
        Arc::from("glo")
    );
}

async fn faults_are_counted_on_one_carrier(kit: &Kit) {
    let mut message = sending(kit.account(100).await).message(&kit.store);
    message.batches[0].tries = 3;
    let claimed = kit.accept_and_claim(&message).await;
    for (to, tries) in [(None, 3), (Some(CARRIER), 3), (Some("glo"), 0)] {
        let there = Claim {
            carrier: to.unwrap_or(CARRIER).into(),
            ..claim(10)
        };
        let batches = vec![claimed[0].batch.clone()];
        let released = kit
            .store
            .claims()
            .release(batches, NOW, to.map(Into::into), NOW);
        released.await.unwrap();
        let again = kit.store.claims().claim(there).await.unwrap();
        assert_eq!(again[0].batch.tries, tries, "{to:?}");
    }
}

async fn what_is_claimed_shrinks_to_what_is_left(kit: &Kit) {
    let message = Sending {
        recipients: 5,
        ..sending(kit.account(100).await)
    }
    .message(&kit.store);
    let mut claimed = kit.accept_and_claim(&message).await.pop().unwrap();
    let rest = claimed.batch.recipients.split_off(2);
    let progress = Progress {
        remaining: rest.clone(),
        ..taken(&claimed)
    };
    kit.report(storekit::report(vec![progress], vec![])).await;
    let open = kit.orphans(CARRIER).await;
    assert_eq!(numbers(&open), rest);
}

async fn batches_of_nodes_that_are_gone_are_found(kit: &Kit) {
    let base = sending(kit.account(100).await);
    for node in [1, 2].map(NodeId) {
        send(kit, &base).await;
        kit.store
            .claims()
            .claim(Claim { node, ..claim(10) })
            .await
            .unwrap();
    }
    kit.store.nodes().beat(NodeId(1), "alive").await.unwrap();
    send(kit, &base).await;
    let others = kit.orphans(CARRIER).await;
    assert_eq!(
        others
            .iter()
            .map(|other| other.batch.state)
            .collect::<Vec<_>>(),
        [QueueState::Claimed(NodeId(2))]
    );
    assert!(kit.orphans("glo").await.is_empty());
    kit.store
        .claims()
        .release(batches(&others), NOW, None, NOW)
        .await
        .unwrap();
    assert!(kit.orphans(CARRIER).await.is_empty());
}

async fn carriers_are_known_from_their_batches(kit: &Kit) {
    let base = sending(kit.account(100).await);
    assert!(kit.batch_carriers().await.is_empty());
    for carrier in [CARRIER, "glo", "airtel"] {
        send(kit, &base).await;
        send(kit, &base).await;
        let claimed = batches(&kit.claim(1).await);
        let carrier = Some(carrier.into());
        let released = kit.store.claims().release(claimed, NOW, carrier, NOW);
        released.await.unwrap();
    }
    send(kit, &base).await;
    kit.claim(1).await;
    let mut all = vec!["airtel", CARRIER, "glo"];
    all.sort_unstable();
    assert_eq!(kit.batch_carriers().await, all);
}

async fn late_batches_are_found_when_their_time_is_over(kit: &Kit) {
    let message = sending(kit.account(100).await).message(&kit.store);
    kit.accept(&message).await;
    let ends = message.batches[0].expires_at_ms;
    assert!(kit.late_batches(ends - 1).await.is_empty());
    let late = kit.late_batches(ends).await;
    assert_eq!(numbers(&late), message.draft.recipients);
    kit.claim(10).await;
    let in_hand = kit.late_batches(ends).await;
    assert!(
        in_hand.is_empty(),
        "what a node has in hand is its own matter"
    );
}

/// The sweep has read a batch. A recipient that a carrier claims of it meanwhile is not late, but
/// in flight.
async fn who_is_claimed_while_a_sweep_looks_at_the_rest_ends_once(kit: &Kit) {
    let three = Sending {
        recipients: 3,
        ..sending(kit.account(100).await)
    };
    let message = three.message(&kit.store);
    kit.accept(&message).await;
    let ends = message.batches[0].expires_at_ms;
    let late = kit.late_batches(ends).await;
    let in_hand = kit.claim(1).await;
    kit.report(report(vec![refused(&late[0])], vec![])).await;
    assert_eq!(kit.statuses(&message).await, [None; 3], "nobody was late");
    kit.report(report(vec![taken(&in_hand[0])], vec![])).await;
    let rest = kit.late_batches(ends).await;
    assert_eq!(numbers(&rest), message.draft.recipients[1..]);
    kit.report(report(vec![refused(&rest[0])], vec![])).await;
    let [sent, rejected] = [DeliveryStatus::Sent, DeliveryStatus::Rejected].map(Some);
    assert_eq!(
        kit.statuses(&message).await,
        [sent, rejected, rejected],
        "each once"
    );
    assert_eq!(kit.numbers("select count(*) from batches").await, [0]);
}

async fn the_carriers_of_batches_that_are_due_are_known(kit: &Kit) {
    let due = async |by_ms| -> BTreeSet<String> {
        let next = kit.store.queues().next_due().await.unwrap();
        let due = next
            .into_iter()
            .filter(|(_, due_at_ms)| *due_at_ms <= by_ms);
        due.map(|(carrier, _)| carrier).collect()
    };
    assert_eq!(due(i64::MAX).await, [].into());
    let base = sending(kit.account(100).await);
    for (priority, due_at_ms) in [
        (Priority::Otp, NOW + 40),
        (Priority::Normal, NOW + 30),
        (Priority::Bulk, NOW + 20),
    ] {
        send(
            kit,
            &Sending {
                priority,
                due_at_ms,
                ..base.clone()
            },
        )
        .await;
    }
    assert_eq!(due(NOW + 19).await, [].into());
    assert_eq!(due(NOW + 20).await, [CARRIER.to_owned()].into());
    let now_ms = NOW + 20;
    let first = Claim {
        now_ms,
        ..claim(10)
    };
    let claimed = kit.store.claims().claim(first).await.unwrap();
    assert_eq!(due(NOW + 29).await, [].into(), "it is in hand");
    let batches = claimed.into_iter().map(|one| one.batch).collect();
    let (other, due_ms) = (Some(OTHER_CARRIER.into()), NOW + 25);
    let given = kit.store.claims().release(batches, due_ms, other, now_ms);
    given.await.unwrap();
    assert_eq!(due(NOW + 29).await, [OTHER_CARRIER.to_owned()].into());
    let both = [OTHER_CARRIER, CARRIER].map(str::to_owned);
    assert_eq!(due(NOW + 30).await, both.into());
    let next = Claim {
        now_ms: NOW + 30,
        ..claim(10)
    };
    kit.store.claims().claim(next).await.unwrap();
    assert_eq!(due(NOW + 39).await, [OTHER_CARRIER.to_owned()].into());
    assert_eq!(due(NOW + 40).await.len(), 2);
}

async fn queue_depths_count_recipients_that_wait(kit: &Kit) {
    let depths = async |until_ms| kit.queue_depths(until_ms).await;
    let wait = |all, held| [(CARRIER.to_owned(), [all, held])].into();
    assert_eq!(depths(NOW).await, [].into());
    let base = sending(kit.account(1_000).await);
    for recipients in [3, 40] {
        send(
            kit,
            &Sending {
                recipients,
                ..base.clone()
            },
        )
        .await;
    }
    assert_eq!(depths(NOW + 1).await, wait(43, 0));
    assert_eq!(depths(NOW).await, wait(43, 43), "held until then");
    kit.claim(13).await;
    assert_eq!(depths(i64::MAX).await, wait(30, 0));
}
