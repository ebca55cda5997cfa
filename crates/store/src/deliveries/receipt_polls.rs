//! The messages whose state a carrier is asked for, because it posts no receipts.

use crate::batches::batch::Progress;
use database::{Change, Db, Result, Tx, bulk, by_whole_keys, locking, query, value};
use domain::http_carrier::PollTimes;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Rows removed in one transaction at most.
const MAX_FORGOTTEN: i64 = 2_000;

/// A carrier that is asked for the states of its messages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PolledCarrier {
    /// The carrier.
    pub carrier: Arc<str>,
    /// The times of requests.
    pub times: PollTimes,
}

/// A message whose state is due.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DuePoll {
    /// The carrier's id of the message.
    pub id: String,
    /// The time at which it was due.
    pub due_at_ms: i64,
    /// The time of the last request.
    pub ends_at_ms: i64,
    /// `true` if its state is asked for the last time.
    pub is_last: bool,
}

/// Plans the first request for each message that the progress submits over a polled carrier.
pub(crate) async fn plan<'p>(
    tx: &mut Tx,
    all: &[PolledCarrier],
    progress: impl Iterator<Item = &'p Progress>,
    now_ms: i64,
) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    // All pages of a text have one id. The keys are in order, so that two nodes lock rows alike.
    let mut planned = BTreeMap::new();
    for one in progress {
        let carrier = &one.batch.carrier;
        let Some(polled) = all.iter().find(|polled| polled.carrier == *carrier) else {
            continue;
        };
        let times = polled.times;
        let ends_at_ms = times.ends_at_ms(now_ms, one.batch.expires_at_ms);
        let due_at_ms = times.next_at_ms(now_ms, ends_at_ms).unwrap_or(now_ms);
        for id in one.submitted.iter().flat_map(|(_, ids)| ids) {
            planned.insert((&**carrier, id.as_str()), (due_at_ms, ends_at_ms));
        }
    }
    let planned: Vec<_> = planned.into_iter().collect();
    let insert = bulk(
        "insert into receipt_polls (carrier, carrier_id, due_at_ms, ends_at_ms)
         values ($1, $2, $3, $4) on conflict do nothing",
        "insert into receipt_polls (carrier, carrier_id, due_at_ms, ends_at_ms) select *
         from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) on conflict do nothing",
    );
    let insert = insert.rows(planned, |((carrier, id), (due_at_ms, ends_at_ms))| {
        [
            value(carrier),
            value(id),
            value(due_at_ms),
            value(ends_at_ms),
        ]
    });
    tx.execute_each(insert).await?;
    Ok(())
}

struct Take {
    polled: PolledCarrier,
    now_ms: i64,
    limit: u32,
}

impl Change for Take {
    type Output = Vec<DuePoll>;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<DuePoll>> {
        let PolledCarrier { carrier, times } = &self.polled;
        // A message that another node takes at this moment is left to it.
        let find = locking!(
            "select carrier_id, due_at_ms, ends_at_ms from receipt_polls
             where carrier = $1 and due_at_ms <= $2 order by due_at_ms limit $3";
            "for update skip locked"
        );
        let find = query(find).bind(&**carrier).bind(self.now_ms);
        let rows: Vec<(String, i64, i64)> = tx.fetch_all(find.bind(i64::from(self.limit))).await?;
        // The last request is repeated, should this node end before its answer.
        let claimed_until_ms = self.now_ms.saturating_add(times.interval_ms);
        let next_of = |ends_at_ms| times.next_at_ms(self.now_ms, ends_at_ms);
        let claim = bulk(
            "update receipt_polls set due_at_ms = $3 where carrier = $1 and carrier_id = $2",
            "update receipt_polls p set due_at_ms = v.due_at_ms
             from unnest($1::text[], $2::text[], $3::bigint[]) as v (carrier, carrier_id, due_at_ms)
             where p.carrier = v.carrier and p.carrier_id = v.carrier_id",
        );
        let claim = claim.rows(&rows, |(id, _, ends_at_ms)| {
            let next_at_ms = next_of(*ends_at_ms).unwrap_or(claimed_until_ms);
            [value(&**carrier), value(id.as_str()), value(next_at_ms)]
        });
        tx.execute_each(claim).await?;
        let due = rows.into_iter().map(|(id, due_at_ms, ends_at_ms)| DuePoll {
            id,
            due_at_ms,
            ends_at_ms,
            is_last: next_of(ends_at_ms).is_none(),
        });
        Ok(due.collect())
    }
}

/// Removes messages. Their keys are in order, so that two nodes lock rows alike.
async fn remove(tx: &mut Tx, keys: &[(&str, &str)]) -> Result<()> {
    let remove = by_whole_keys(
        "delete from receipt_polls where carrier = $1 and carrier_id = $2",
        "delete from receipt_polls where ",
        &["carrier", "carrier_id"],
        "",
    );
    let remove = remove.rows(keys, |&(carrier, id)| [value(carrier), value(id)]);
    tx.execute_each(remove).await?;
    Ok(())
}

struct Finish {
    carrier: Arc<str>,
    ids: Vec<String>,
}

impl Change for Finish {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let keys = self.ids.iter().map(|id| (&*self.carrier, id.as_str()));
        remove(tx, &keys.collect::<Vec<_>>()).await
    }
}

struct Forget {
    before_ms: i64,
}

impl Change for Forget {
    /// `true` if more may be left.
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let find = query(
            "select carrier, carrier_id from receipt_polls where ends_at_ms < $1
             order by ends_at_ms limit $2",
        );
        let find = find.bind(self.before_ms).bind(MAX_FORGOTTEN);
        let mut rows: Vec<(String, String)> = tx.fetch_all(find).await?;
        rows.sort_unstable();
        let keys = rows.iter().map(|(carrier, id)| (&**carrier, &**id));
        remove(tx, &keys.collect::<Vec<_>>()).await?;
        Ok(i64::try_from(rows.len()).is_ok_and(|found| found == MAX_FORGOTTEN))
    }
}

/// The messages whose state a carrier is asked for.
#[derive(Clone, Copy)]
pub struct ReceiptPolls<'s> {
    pub(crate) db: &'s Db,
}

impl ReceiptPolls<'_> {
    /// Takes some messages of a carrier whose state is due, the oldest first. They are due again
    /// after the interval, whether this node asks or not.
    pub async fn take(
        self,
        polled: PolledCarrier,
        now_ms: i64,
        limit: u32,
    ) -> Result<Vec<DuePoll>> {
        let take = Take {
            polled,
            now_ms,
            limit,
        };
        self.db.change(take).await
    }

    /// Removes messages whose state is final, or was asked for the last time.
    pub async fn finish(self, carrier: Arc<str>, mut ids: Vec<String>) -> Result<()> {
        ids.sort_unstable();
        self.db.change(Finish { carrier, ids }).await
    }

    /// Removes some messages whose last request was due before a time, as of a carrier that is not
    /// configured any more. Returns `true` if more may be left.
    pub async fn forget(self, before_ms: i64) -> Result<bool> {
        self.db.change(Forget { before_ms }).await
    }
}
