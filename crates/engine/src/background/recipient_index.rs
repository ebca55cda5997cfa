//! The sweep that fills the index of recipients and merges its runs.

use crate::context::Context;
use database::Outage;
use domain::Bucket;
use domain::search::{RunSize, next_merge};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use store::NewRun;

/// Period of the sweep.
const INTERVAL: Duration = Duration::from_secs(5);
/// Least age of an indexed message. The commit of a younger one may not be over.
const LAG_MS: i64 = 15_000;
/// Recipients from which a run is built. Fewer are compared one by one.
const MIN_RECIPIENTS: u64 = 4_096;
/// Recipients at which a run ends, unless it is a merge.
const MAX_RECIPIENTS: usize = 200_000;

/// The messages of a bucket that are counted and not yet in the index.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    from_ms: i64,
    until_ms: i64,
    recipients: u64,
}

/// Fills the index until the engine ends.
pub(crate) async fn run(context: Arc<Context>) {
    let outage = Outage::of("recipients cannot be put into the index");
    let mut counted = HashMap::new();
    loop {
        outage.note(fill_all(&context, &mut counted).await);
        tokio::time::sleep(INTERVAL).await;
    }
}

async fn fill_all(
    context: &Context,
    counted: &mut HashMap<Bucket, Counted>,
) -> database::Result<()> {
    for bucket in context.my_buckets() {
        let index = context.store.recipient_index();
        index.remove_unread(bucket).await?;
        if let Some(kept_ms) = context.live().retention.messages_ms {
            index
                .expire(bucket, context.clock.now_ms() - kept_ms)
                .await?;
        }
        let counted = counted.entry(bucket).or_default();
        while context.nodes.is_mine(bucket) && step(context, bucket, counted).await? {}
    }
    Ok(())
}

/// Merges runs or builds one. Returns `true` if more may be left.
async fn step(context: &Context, bucket: Bucket, counted: &mut Counted) -> database::Result<bool> {
    let (index, now_ms) = (context.store.recipient_index(), context.clock.now_ms());
    let runs = index.runs(bucket).await?;
    if let Some([first, .., last]) = next_merge(&runs, now_ms) {
        let merged = runs.iter().map(|run| run.id);
        let run = NewRun {
            id: new_id(&runs, now_ms),
            from_ms: first.times.from_ms,
            until_ms: last.times.until_ms,
            max_recipients: usize::MAX,
            replaces: merged
                .skip_while(|id| *id != first.id)
                .take_while(|id| *id != last.id)
                .chain([last.id])
                .collect(),
        };
        index.build(bucket, run).await?;
        index.remove_unread(bucket).await?;
        return Ok(true);
    }
    let from_ms = runs.last().map_or(0, |run| run.times.until_ms);
    let until_ms = now_ms - LAG_MS;
    if from_ms != counted.from_ms || until_ms < counted.until_ms {
        *counted = Counted {
            from_ms,
            until_ms: from_ms,
            recipients: 0,
        };
    }
    if counted.until_ms < until_ms {
        counted.recipients += index.count(bucket, counted.until_ms, until_ms).await?;
        counted.until_ms = until_ms;
    }
    if counted.recipients < MIN_RECIPIENTS {
        return Ok(false);
    }
    let run = NewRun {
        id: new_id(&runs, now_ms),
        from_ms,
        until_ms,
        max_recipients: MAX_RECIPIENTS,
        replaces: Vec::new(),
    };
    index.build(bucket, run).await?;
    Ok(true)
}

/// Returns the id of a new run.
fn new_id(runs: &[RunSize], now_ms: i64) -> i64 {
    let ids = runs.iter().map(|run| run.id + 1);
    ids.fold(now_ms, i64::max)
}
