//! The building of a run from the messages of a span of time.

use super::run::{BUILDING, COMPLETE, NewRun, mark};
use crate::rows::{id_bytes, message_id};
use database::{Change, Db, Error, Result, Tx, bulk, query, value};
use domain::search::{PostingRow, RunTimes, pack};
use domain::{Bucket, MessageId, Recipient, recipient_list};

/// Messages whose lists are measured at a time.
const MEASURED_MESSAGES: i64 = 1_000;
/// Octets of lists that are read at a time. A longer list is read alone.
const READ_OCTETS: i64 = 512 * 1024;
/// Rows of postings in one transaction.
const WRITTEN_ROWS: usize = 64;

/// The recipients of messages, each with a time of acceptance.
type Sent = Vec<(Recipient, i64)>;

pub(super) async fn build(db: &Db, bucket: Bucket, run: NewRun) -> Result<(u64, i64)> {
    let (sent, until_ms) = read(db, bucket, &run).await?;
    let Some(&(_, first_ms)) = sent.first() else {
        return Ok((0, until_ms));
    };
    // A run that replaces others covers all of their time.
    let from_ms = if run.replaces.is_empty() {
        first_ms
    } else {
        run.from_ms
    };
    let (id, recipients) = (run.id, sent.len() as u64);
    let times = RunTimes::new(from_ms, until_ms);
    let postings = sent.into_iter();
    let postings = postings.map(|(to, at_ms)| times.posting(to, at_ms));
    let rows = pack(postings.collect());
    let begin = Begin {
        bucket,
        id,
        times,
        recipients,
    };
    db.change(begin).await?;
    for rows in rows.chunks(WRITTEN_ROWS) {
        let rows = rows.to_vec();
        db.change(Write { bucket, id, rows }).await?;
    }
    let replaces = run.replaces;
    db.change(Complete {
        bucket,
        id,
        replaces,
    })
    .await?;
    Ok((recipients, until_ms))
}

/// Reads the recipients of a run, in the order of acceptance, and the end of its time.
async fn read(db: &Db, bucket: Bucket, run: &NewRun) -> Result<(Sent, i64)> {
    let mut sent: Sent = Vec::new();
    let mut from = MessageId::lowest_at(run.from_ms);
    let mut until_ms = run.until_ms;
    loop {
        let until = MessageId::lowest_at(until_ms);
        let lists = Db::in_time(async {
            let mut tx = db.read().await?;
            let Some(last) = last_of_part(&mut tx, bucket, from, until).await? else {
                return Ok(Vec::new());
            };
            lists(&mut tx, bucket, from, last).await
        });
        let lists = lists.await?;
        let Some(last) = lists.last().map(|(id, _)| *id) else {
            return Ok((sent, until_ms));
        };
        for (id, list) in lists {
            let at_ms = id.accepted_at_ms();
            sent.extend(
                recipient_list::unpack(&list)
                    .into_iter()
                    .map(|to| (to, at_ms)),
            );
        }
        if sent.len() >= run.max_recipients {
            until_ms = until_ms.min(last.accepted_at_ms() + 1);
        }
        from = MessageId::from_number(last.number() + 1);
    }
}

/// Returns the last message whose list is read together with that of the first one.
async fn last_of_part(
    tx: &mut Tx,
    bucket: Bucket,
    from: MessageId,
    until: MessageId,
) -> Result<Option<MessageId>> {
    let measured: Vec<(Vec<u8>, i64)> = tx
        .fetch_all(
            query(
                "select message_id, cast(length(recipients) as bigint) from messages
                 where bucket = $1 and message_id >= $2 and message_id < $3
                 order by message_id limit $4",
            )
            .bind(bucket.0)
            .bind(id_bytes(&from))
            .bind(id_bytes(&until))
            .bind(MEASURED_MESSAGES),
        )
        .await?;
    let mut octets = 0;
    let fitting = measured.iter().take_while(|(_, length)| {
        octets += length;
        octets <= READ_OCTETS
    });
    let last = fitting.count().max(1) - 1;
    measured.get(last).map(|(id, _)| message_id(id)).transpose()
}

async fn lists(
    tx: &mut Tx,
    bucket: Bucket,
    from: MessageId,
    last: MessageId,
) -> Result<Vec<(MessageId, Vec<u8>)>> {
    let rows: Vec<(Vec<u8>, Vec<u8>)> = tx
        .fetch_all(
            query(
                "select message_id, recipients from messages
                 where bucket = $1 and message_id >= $2 and message_id <= $3
                 order by message_id",
            )
            .bind(bucket.0)
            .bind(id_bytes(&from))
            .bind(id_bytes(&last)),
        )
        .await?;
    let rows = rows.into_iter();
    rows.map(|(id, list)| Ok((message_id(&id)?, list)))
        .collect()
}

/// The begin of a run, which nobody reads yet.
struct Begin {
    bucket: Bucket,
    id: i64,
    times: RunTimes,
    recipients: u64,
}

impl Change for Begin {
    type Output = ();
    const DEFERRABLE: bool = true;

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        tx.execute(
            query(
                "insert into recipient_runs (bucket, run_id, from_ms, until_ms, unit_ms,
                     recipients, state)
                 values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
            )
            .bind(self.bucket.0)
            .bind(self.id)
            .bind(self.times.from_ms)
            .bind(self.times.until_ms)
            .bind(self.times.unit_ms)
            .bind(i64::try_from(self.recipients).unwrap_or(i64::MAX))
            .bind(BUILDING),
        )
        .await?;
        Ok(())
    }
}

/// Writes some rows of a run.
struct Write {
    bucket: Bucket,
    id: i64,
    rows: Vec<PostingRow>,
}

impl Change for Write {
    type Output = ();
    const DEFERRABLE: bool = true;

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let insert = bulk(
            "insert into recipient_postings (bucket, run_id, first_posting, postings)
             values ($3, $4, $1, $2) on conflict do nothing",
            "insert into recipient_postings (bucket, run_id, first_posting, postings)
             select $3, $4, v.first_posting, v.postings
             from unnest($1::bigint[], $2::bytea[]) v (first_posting, postings)
             on conflict do nothing",
        );
        let insert = insert.rows(&self.rows, |(first, postings)| {
            [value(*first), value(postings.as_slice())]
        });
        tx.execute_each(insert.bind(self.bucket.0).bind(self.id))
            .await?;
        Ok(())
    }
}

/// Completes a run in place of others.
struct Complete {
    bucket: Bucket,
    id: i64,
    replaces: Vec<i64>,
}

impl Change for Complete {
    type Output = ();
    const DEFERRABLE: bool = true;

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let completed = tx
            .execute(
                query(
                    "update recipient_runs set state = $3
                     where bucket = $1 and run_id = $2 and state in ($4, $3)",
                )
                .bind(self.bucket.0)
                .bind(self.id)
                .bind(COMPLETE)
                .bind(BUILDING),
            )
            .await?;
        if completed == 0 {
            return Err(Error::Impossible("another sweep removed a run"));
        }
        mark(tx, self.bucket, &self.replaces).await
    }
}
