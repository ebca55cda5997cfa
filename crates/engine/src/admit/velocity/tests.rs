use super::*;
use crate::error::READ_TIMEOUT;
use database::Target;
use domain::NodeId;
use domain::velocity::Block;
use std::future::pending;
use tokio::time::Instant;

const ACCOUNT: AccountId = AccountId(1);

/// Returns numbers of one block.
fn numbers(count: u64) -> Vec<Recipient> {
    (0..count)
        .map(|last| Recipient::from_digits(2_348_031_234_000 + last))
        .collect()
}

/// Returns a limit of three messages an hour to a block, whose database is closed.
pub(crate) async fn without_database() -> Arc<Velocity> {
    let directory = tempfile::tempdir().unwrap();
    let target = Target::Directory(directory.path().to_owned());
    let store = Store::open(&target).await.unwrap();
    let limits = VelocityLimits {
        per_block: Some(3),
        pause_ms: 60_000,
        ..VelocityLimits::default()
    };
    let velocity = Velocity::load(&store, limits, &Clock::manual(0), NodeId(1)).await;
    store.close().await;
    velocity.unwrap().unwrap()
}

#[tokio::test]
async fn a_send_over_the_limit_is_refused_without_a_stored_pause() {
    let velocity = without_database().await;
    velocity
        .check(ACCOUNT, &numbers(3), Fingerprint::default())
        .await
        .unwrap()
        .keep();
    let Err(Error::Refused(refusal)) = velocity
        .check(ACCOUNT, &numbers(1), Fingerprint::default())
        .await
    else {
        panic!("it is not refused");
    };
    let block = Block::of(numbers(1)[0]);
    assert_eq!(refusal, paused(block, 60_000, 0));
}

#[tokio::test]
async fn a_send_dropped_before_its_commit_is_not_counted() {
    let velocity = without_database().await;
    let to = numbers(3);
    for _ in 0..3 {
        let counted = velocity
            .check(ACCOUNT, &to, Fingerprint::default())
            .await
            .unwrap();
        assert!(
            velocity
                .check(ACCOUNT, &to, Fingerprint::default())
                .await
                .is_err()
        );
        drop(counted);
    }
    velocity
        .check(ACCOUNT, &to, Fingerprint::default())
        .await
        .unwrap()
        .keep();
    assert!(
        velocity
            .check(ACCOUNT, &to, Fingerprint::default())
            .await
            .is_err()
    );
}

#[tokio::test(start_paused = true)]
async fn a_stalled_database_does_not_delay_the_refusal() {
    let began = Instant::now();
    assert!(!is_new(pending()).await);
    assert_eq!(began.elapsed(), READ_TIMEOUT);
}
