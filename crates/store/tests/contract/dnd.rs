//! Numbers on DND.

use domain::Recipient;
use domain::dnd::DndNumbers;
use storekit::{Kit, NOW, by, number, twins};

twins!(
    numbers_are_on_dnd_until_they_are_removed,
    many_numbers_of_many_blocks_are_found,
    blocks_are_read_in_batches,
);

async fn add(kit: &Kit, numbers: impl Iterator<Item = Recipient>, part: usize) -> u64 {
    let mut collected = DndNumbers::default();
    for one in numbers {
        collected.insert(one);
    }
    let added = kit.store.dnd().add(collected.into_blocks(), part, by(NOW));
    added.await.unwrap()
}

async fn numbers_are_on_dnd_until_they_are_removed(kit: &Kit) {
    let dnd = kit.store.dnd();
    assert_eq!(dnd.count().await.unwrap(), 0);
    assert_eq!(add(kit, (0..3).map(number), 1).await, 3);
    assert_eq!(add(kit, (2..4).map(number), 2).await, 1);
    assert_eq!(dnd.count().await.unwrap(), 4);
    let found = dnd
        .of_recipients((3..6).map(number).collect())
        .await
        .unwrap();
    assert_eq!(found, [number(3)].into());
    assert!(dnd.of_recipients(vec![]).await.unwrap().is_empty());
    assert!(dnd.remove(number(3), by(NOW)).await.unwrap());
    assert!(!dnd.remove(number(3), by(NOW)).await.unwrap());
    assert_eq!(dnd.count().await.unwrap(), 3);
    for index in 0..3 {
        assert!(dnd.remove(number(index), by(NOW)).await.unwrap());
    }
    assert_eq!(kit.numbers("select block from dnd_blocks").await, [0; 0]);
    let entries = "select verb from audit where verb like 'dnd%' order by number";
    let entries = kit.texts(entries).await;
    assert_eq!(entries.len(), 6);
    assert_eq!(entries[0], "dnd.import");
    assert_eq!(add(kit, [number(7)].into_iter(), 0).await, 1);
    let objects =
        "select object from audit where verb in ('dnd.add', 'dnd.import') order by number";
    assert_eq!(kit.texts(objects).await, ["part 1", "part 2", ""]);
}

async fn many_numbers_of_many_blocks_are_found(kit: &Kit) {
    let at = |index: u64| Recipient::from_digits(2_348_030_000_000 + 3 * index);
    assert_eq!(add(kit, (0..30_000).map(at), 1).await, 30_000);
    let dnd = kit.store.dnd();
    let asked =
        (0..3_000).map(|index| Recipient::from_digits(2_348_030_000_000 + 30 * index + index % 2));
    let found = dnd.of_recipients(asked.collect()).await.unwrap();
    assert_eq!(found.len(), 1_500);
    let verified = kit.store.upkeep().verify().await.unwrap();
    assert_eq!(verified.violations, [""; 0]);
}

async fn blocks_are_read_in_batches(kit: &Kit) {
    // Each number is in a block of its own, and a batch has 1,000 blocks.
    let at = |index: u64| Recipient::from_digits(2_348_030_000_000 + 8_192 * index);
    assert_eq!(add(kit, (0..2_001).map(at), 1).await, 2_001);
    let neighbour = |index: u64| Recipient::from_digits(at(index).digits() + 1);
    let asked = (0..2_001)
        .rev()
        .flat_map(|index| [neighbour(index), at(index)]);
    let found = kit
        .store
        .dnd()
        .of_recipients(asked.collect())
        .await
        .unwrap();
    assert_eq!(found, (0..2_001).map(at).collect());
}
