//! DND: the numbers that no promotional message goes to, in blocks.

use crate::operators::audit::{self, By, Entry};
use database::{Change, Db, Error, Result, Tx, bulk, query, value};
use domain::Recipient;
use domain::dnd::{DndBlock, place};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashSet};

const ADD: &str = "dnd.add";
const IMPORT: &str = "dnd.import";
const REMOVE: &str = "dnd.remove";

/// Blocks that a send reads at a time: one megabyte. A long list of recipients is in many blocks.
const READ_BATCH_SIZE: usize = 1_000;

/// Returns the blocks with these keys.
async fn read(tx: &mut Tx, keys: &BTreeSet<i64>) -> Result<BTreeMap<i64, DndBlock>> {
    let find = bulk(
        "select block, members from dnd_blocks where block = $1",
        "select block, members from dnd_blocks
         where block in (select * from unnest($1::bigint[]))",
    );
    let find = find.rows(keys, |key| [value(*key)]);
    let rows: Vec<(i64, Vec<u8>)> = tx.fetch_each(find).await?;
    let block = |(key, octets): (i64, Vec<u8>)| match DndBlock::read(&octets) {
        Some(block) => Ok((key, block)),
        None => Err(Error::Unreadable("a block of DND".to_owned())),
    };
    rows.into_iter().map(block).collect()
}

async fn write(tx: &mut Tx, blocks: &[(i64, DndBlock)]) -> Result<()> {
    let write = bulk(
        "insert into dnd_blocks (block, numbers, members) values ($1, $2, $3)
         on conflict (block) do update set numbers = excluded.numbers, members = excluded.members",
        "insert into dnd_blocks (block, numbers, members)
         select * from unnest($1::bigint[], $2::bigint[], $3::bytea[])
         on conflict (block) do update set numbers = excluded.numbers, members = excluded.members",
    );
    let write = write.rows(blocks, |(key, block)| {
        let count = i64::try_from(block.len()).unwrap_or(i64::MAX);
        [value(*key), value(count), value(block.octets())]
    });
    tx.execute_each(write).await?;
    Ok(())
}

struct AddDnd {
    blocks: Vec<(i64, DndBlock)>,
    /// The part of the import, from 1, or 0 for a single number.
    part: usize,
    by: By,
}

impl AddDnd {
    fn verb(&self) -> &'static str {
        if self.part == 0 { ADD } else { IMPORT }
    }

    /// Returns the object of the audit: the part, or nothing for a single number.
    fn object(&self) -> String {
        match self.part {
            0 => String::new(),
            part => format!("part {part}"),
        }
    }
}

impl Change for AddDnd {
    /// The number of new ones.
    type Output = u64;

    async fn apply(&self, tx: &mut Tx) -> Result<u64> {
        let given: usize = self.blocks.iter().map(|(_, block)| block.len()).sum();
        let entry = Entry {
            by: &self.by,
            verb: self.verb(),
            account: None,
            object: &self.object(),
            before: Value::Null,
            after: json!({ "numbers": given }),
        };
        // The entry comes first, since it is the lock of two changes at a time.
        audit::enter(tx, entry).await?;
        let keys = self.blocks.iter().map(|(key, _)| *key).collect();
        let mut known = read(tx, &keys).await?;
        let mut added = 0;
        let mut changed = Vec::new();
        for (key, block) in &self.blocks {
            let mut joined = known.remove(key).unwrap_or_default();
            let new = joined.add(block);
            if new > 0 {
                added += new as u64;
                changed.push((*key, joined));
            }
        }
        write(tx, &changed).await?;
        Ok(added)
    }

    async fn is_committed(&self, tx: &mut Tx, _added: &u64) -> Result<bool> {
        audit::is_kept(tx, &self.by, self.verb(), &self.object()).await
    }
}

struct RemoveDnd {
    recipient: Recipient,
    by: By,
}

impl RemoveDnd {
    /// Returns the block of the number without it, or `None` if the number is not on DND.
    async fn without(&self, tx: &mut Tx) -> Result<Option<(i64, DndBlock)>> {
        let (key, at) = place(self.recipient);
        let known = read(tx, &BTreeSet::from([key])).await?.remove(&key);
        let removed = known.map(|mut block| (block.remove(at), block));
        Ok(removed.and_then(|(was_there, block)| was_there.then_some((key, block))))
    }
}

impl Change for RemoveDnd {
    /// `true` if the number was on DND.
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        if self.without(tx).await?.is_none() {
            return Ok(false);
        }
        let entry = Entry {
            by: &self.by,
            verb: REMOVE,
            account: None,
            object: "",
            before: json!({ "numbers": 1 }),
            after: Value::Null,
        };
        audit::enter(tx, entry).await?;
        // The block is read again under the lock of the entry.
        if let Some((key, block)) = self.without(tx).await? {
            if block.is_empty() {
                let remove = query("delete from dnd_blocks where block = $1");
                tx.execute(remove.bind(key)).await?;
            } else {
                write(tx, &[(key, block)]).await?;
            }
        }
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, removed: &bool) -> Result<bool> {
        if !removed {
            return Ok(true);
        }
        audit::is_kept(tx, &self.by, REMOVE, "").await
    }
}

/// The numbers on DND.
#[derive(Clone, Copy)]
pub struct Dnd<'s> {
    pub(crate) db: &'s Db,
}

impl Dnd<'_> {
    /// Adds the numbers of some blocks, as one part of an import from 1 on, or a single number as
    /// part 0. Returns the number of new ones.
    pub async fn add(self, blocks: Vec<(i64, DndBlock)>, part: usize, by: By) -> Result<u64> {
        self.db.change(AddDnd { blocks, part, by }).await
    }

    /// Removes a number. Returns `false` if it was not on DND.
    pub async fn remove(self, recipient: Recipient, by: By) -> Result<bool> {
        self.db.change(RemoveDnd { recipient, by }).await
    }

    /// Returns the number of all numbers.
    pub async fn count(self) -> Result<u64> {
        let count = query("select cast(coalesce(sum(numbers), 0) as bigint) from dnd_blocks");
        let count: i64 = self.db.fetch_one(count).await?;
        Ok(count.unsigned_abs())
    }

    /// Returns those of some recipients who are on DND.
    pub async fn of_recipients(self, mut recipients: Vec<Recipient>) -> Result<HashSet<Recipient>> {
        recipients.sort_unstable();
        let is_same_block = |one: &Recipient, other: &Recipient| place(*one).0 == place(*other).0;
        let groups: Vec<&[Recipient]> = recipients.chunk_by(is_same_block).collect();
        let mut found = HashSet::new();
        let mut tx = self.db.read().await?;
        for some in groups.chunks(READ_BATCH_SIZE) {
            let keys = some.iter().filter_map(|group| group.first());
            let keys = keys.map(|one| place(*one).0).collect();
            let blocks = read(&mut tx, &keys).await?;
            for recipient in some.iter().copied().flatten() {
                let (key, at) = place(*recipient);
                if blocks.get(&key).is_some_and(|block| block.contains(at)) {
                    found.insert(*recipient);
                }
            }
        }
        Ok(found)
    }
}
