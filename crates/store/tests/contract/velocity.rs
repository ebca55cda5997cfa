//! Blocks of numbers that are paused for an account.

use domain::AccountId;
use domain::velocity::Block;
use store::PausedBlock;
use storekit::{Kit, NOW, by, twins};

twins!(
    a_block_is_paused_once_until_its_time_is_over,
    a_pause_is_released_once,
    pauses_and_releases_raise_the_revision_and_are_in_the_audit,
);

const BLOCK: Block = Block::from_digits(2_348_031_234);

fn pause(account: AccountId, at_ms: i64) -> PausedBlock {
    PausedBlock {
        account,
        block: BLOCK,
        paused_at_ms: at_ms,
        until_ms: at_ms + 100,
    }
}

async fn a_block_is_paused_once_until_its_time_is_over(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let paused = async |at_ms| {
        kit.store
            .paused_blocks()
            .list(at_ms, None, 9)
            .await
            .unwrap()
    };
    let add = async |account, at_ms| {
        let added = kit
            .store
            .paused_blocks()
            .pause(pause(account, at_ms), by(at_ms));
        added.await.unwrap()
    };
    assert!(add(one, NOW).await);
    assert!(!add(one, NOW + 50).await);
    assert!(add(two, NOW + 50).await);
    assert_eq!(
        paused(NOW + 99).await,
        [pause(two, NOW + 50), pause(one, NOW)]
    );
    assert_eq!(paused(NOW + 100).await, [pause(two, NOW + 50)]);
    assert!(add(one, NOW + 100).await);
    assert_eq!(paused(NOW + 150).await, [pause(one, NOW + 100)]);
    let rows = "select count(*) from paused_blocks";
    assert!(add(two, NOW + 500).await);
    assert_eq!(kit.numbers(rows).await, [1], "what is over is gone");
}

async fn a_pause_is_released_once(kit: &Kit) {
    let (one, two) = (kit.account(0).await, kit.account(0).await);
    let release = async |account, at_ms| {
        let released = kit.store.paused_blocks().release(account, BLOCK, by(at_ms));
        released.await.unwrap()
    };
    let added = kit
        .store
        .paused_blocks()
        .pause(pause(one, NOW), by(NOW))
        .await;
    assert!(added.unwrap());
    assert!(!release(two, NOW).await);
    assert!(!release(one, NOW + 100).await, "it is over");
    assert!(release(one, NOW + 99).await);
    assert!(!release(one, NOW + 99).await);
    assert_eq!(kit.store.paused_blocks().all(NOW).await.unwrap(), []);
}

async fn pauses_and_releases_raise_the_revision_and_are_in_the_audit(kit: &Kit) {
    let id = kit.account(0).await;
    let first = kit.store.revisions().current().await.unwrap();
    let added = kit
        .store
        .paused_blocks()
        .pause(pause(id, NOW), by(NOW))
        .await;
    assert!(added.unwrap());
    let second = kit.store.revisions().current().await.unwrap();
    let released = kit.store.paused_blocks().release(id, BLOCK, by(NOW)).await;
    assert!(released.unwrap());
    let third = kit.store.revisions().current().await.unwrap();
    for (then, now) in [(first, second), (second, third)] {
        assert!(now.number > then.number);
        let changed = kit
            .store
            .revisions()
            .changed_accounts(then, now)
            .await
            .unwrap();
        assert_eq!(changed, Some([id].into()));
    }
    let entries = kit.store.audit().list(Some(id), None, 2).await.unwrap();
    let told: Vec<_> = entries
        .iter()
        .map(|entry| {
            format!(
                "{} {} {} {}",
                entry.verb, entry.object, entry.before, entry.after
            )
        })
        .collect();
    let until = NOW + 100;
    assert_eq!(
        told,
        [
            format!(r#"velocity.release 2348031234*** {{"until_ms":{until}}} null"#),
            format!(r#"velocity.pause 2348031234*** null {{"until_ms":{until}}}"#),
        ]
    );
}
