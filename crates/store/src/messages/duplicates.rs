//! Duplicate windows: for a minute, the same text to the same recipients is a duplicate.
//!
//! Nodes that share PostgreSQL find an open window by its fingerprint. Fingerprints have no order,
//! so each send would touch a page of its own, which was half of all bytes that SQLite wrote. On
//! SQLite the rows lie in the order in which they close (decision 0017). The process, which is
//! alone there, remembers when each window closes. Its memory only locates the row: a window is
//! open if its row exists. So a rolled-back change needs no correction in memory.

use crate::buckets::Buckets;
use database::{Db, Error, Result, Tx, bulk, query, value};
use domain::{AccountId, Bucket, Fingerprint};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Length of a duplicate window.
const DUPLICATE_WINDOW_MS: i64 = 60_000;

/// Time by which a clock step may have moved the end of a window. It is shorter than a window, so that
/// the next window of the fingerprint is not meant.
const CLOSING_TOLERANCE_MS: i64 = 30_000;

/// Interval at which closed windows are removed from memory.
const FORGET_INTERVAL_MS: i64 = 10_000;

/// The key of a duplicate window.
pub(crate) type Window = (Bucket, Fingerprint);

/// The windows that may be open on SQLite. It is `None` until they are needed, and after their rows
/// have moved.
#[derive(Debug, Default)]
pub(crate) struct OpenWindows(Mutex<Option<Closings>>);

/// The closing times of windows, Unix milliseconds.
#[derive(Debug)]
struct Closings {
    at_ms: HashMap<Fingerprint, i64>,
    forget_at_ms: i64,
}

impl Closings {
    fn new(at_ms: HashMap<Fingerprint, i64>, now_ms: i64) -> Self {
        Self {
            at_ms,
            forget_at_ms: now_ms + FORGET_INTERVAL_MS,
        }
    }
}

impl OpenWindows {
    fn lock(&self) -> MutexGuard<'_, Option<Closings>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the memory, so that the rows are read again before their next use.
    pub(crate) fn forget(&self) {
        *self.lock() = None;
    }

    /// Returns the remembered open windows with their closing times.
    fn open_of(&self, windows: &[Window], now_ms: i64) -> Vec<(Window, i64)> {
        let known = self.lock();
        let Some(closings) = &*known else {
            return Vec::new();
        };
        let open = windows.iter().filter_map(|window| {
            let &at_ms = closings.at_ms.get(&window.1)?;
            (at_ms > now_ms).then_some((*window, at_ms))
        });
        open.collect()
    }

    fn remember(&self, windows: &[Window], closes_at_ms: i64, now_ms: i64) {
        if let Some(closings) = &mut *self.lock() {
            if closings.forget_at_ms <= now_ms {
                closings.at_ms.retain(|_, at_ms| *at_ms > now_ms);
                // The map would otherwise keep the size of the busiest minute. Twice the remaining
                // size avoids an immediate growth.
                closings.at_ms.shrink_to(2 * closings.at_ms.len());
                closings.forget_at_ms = now_ms + FORGET_INTERVAL_MS;
            }
            let closing = windows.iter().map(|window| (window.1, closes_at_ms));
            closings.at_ms.extend(closing);
        }
    }

    /// Reads the windows, unless they are in memory.
    async fn know(&self, tx: &mut Tx, now_ms: i64) -> Result<()> {
        if self.lock().is_some() {
            return Ok(());
        }
        // The query includes windows closed by `now_ms`, because a caller may have read the clock
        // before it was set back. The rows come in closing order, so the later of two with one
        // fingerprint is remembered.
        let rows: Vec<(Vec<u8>, i64)> = tx
            .fetch_all(query(
                "select fingerprint, expires_at_ms from recent_sends where bucket = 0
             order by expires_at_ms",
            ))
            .await?;
        let at_ms = rows
            .into_iter()
            .map(|(fingerprint, at_ms)| Ok((fingerprint_of(fingerprint)?, at_ms)))
            .collect::<Result<_>>()?;
        *self.lock() = Some(Closings::new(at_ms, now_ms));
        Ok(())
    }
}

/// Opens these windows, each listed once. Returns the ones that were not open yet.
pub(crate) async fn open_windows(
    tx: &mut Tx,
    remembered: &OpenWindows,
    windows: &[Window],
    now_ms: i64,
) -> Result<BTreeSet<Window>> {
    let closes_at_ms = now_ms + DUPLICATE_WINDOW_MS;
    if let Tx::Postgres(_) = tx {
        return open_shared(tx, windows, closes_at_ms).await;
    }
    remembered.know(tx, now_ms).await?;
    let open = standing(tx, &remembered.open_of(windows, now_ms)).await?;
    let is_new = |window: &&Window| !open.contains(*window);
    let new: Vec<Window> = windows.iter().filter(is_new).copied().collect();
    tx.execute_each(
        bulk(
            "insert into recent_sends (bucket, expires_at_ms, fingerprint)
         values ($1, $2, $3)",
            "insert into recent_sends (bucket, expires_at_ms, fingerprint) select *
         from unnest($1::bigint[], $2::bigint[], $3::bytea[])",
        )
        .rows(&new, |window| {
            [value(window.0.0), value(closes_at_ms), value(&window.1[..])]
        }),
    )
    .await?;
    remembered.remember(&new, closes_at_ms, now_ms);
    Ok(new.into_iter().collect())
}

/// Returns the remembered windows whose rows exist, committed or in this transaction.
async fn standing(tx: &mut Tx, windows: &[(Window, i64)]) -> Result<BTreeSet<Window>> {
    let found: Vec<(i16, Vec<u8>)> = tx
        .fetch_each(
            bulk(
                "select bucket, fingerprint from recent_sends
         where bucket = $1 and expires_at_ms = $2 and fingerprint = $3",
                "select bucket, fingerprint from recent_sends
         where (bucket, expires_at_ms, fingerprint) in (select *
             from unnest($1::bigint[], $2::bigint[], $3::bytea[]))",
            )
            .rows(windows, |row| {
                let ((bucket, fingerprint), closes_at_ms) = row;
                [
                    value(bucket.0),
                    value(closes_at_ms),
                    value(&fingerprint[..]),
                ]
            }),
        )
        .await?;
    found.into_iter().map(window).collect()
}

/// Returns `true` if the same send of this account was accepted less than a minute ago. A send
/// whose commit is under way is not seen.
pub(super) async fn is_repeat(
    db: &Db,
    windows: &OpenWindows,
    account: AccountId,
    fingerprint: Fingerprint,
    now_ms: i64,
) -> Result<bool> {
    let window = (Buckets::of(db).account(account), fingerprint);
    // The remembered row is read, if there is one. Otherwise SQLite scans all open windows of
    // the bucket.
    let known = windows.open_of(&[window], now_ms);
    let closes_at_ms = known.first().map(|&(_, closes_at_ms)| closes_at_ms);
    let (least_ms, most_ms) = closes_at_ms.map_or((now_ms + 1, i64::MAX), |at_ms| (at_ms, at_ms));
    let found: Option<i32> = db
        .fetch_optional(
            query(
                "select 1 from recent_sends where bucket = $1 and fingerprint = $2
                 and expires_at_ms >= $3 and expires_at_ms <= $4 limit 1",
            )
            .bind(window.0.0)
            .bind(&fingerprint[..])
            .bind(least_ms)
            .bind(most_ms),
        )
        .await?;
    Ok(found.is_some())
}

async fn open_shared(
    tx: &mut Tx,
    windows: &[Window],
    closes_at_ms: i64,
) -> Result<BTreeSet<Window>> {
    // A window is closed if its closing time is at least a window's length before the new one.
    let open = bulk(
        "insert into recent_sends (bucket, fingerprint, expires_at_ms) values ($1, $2, $3)
         on conflict (bucket, fingerprint) do update set expires_at_ms = excluded.expires_at_ms
             where recent_sends.expires_at_ms <= excluded.expires_at_ms - $4
         returning bucket, fingerprint",
        "insert into recent_sends (bucket, fingerprint, expires_at_ms)
         select * from unnest($1::bigint[], $2::bytea[], $3::bigint[])
         on conflict (bucket, fingerprint) do update set expires_at_ms = excluded.expires_at_ms
             where recent_sends.expires_at_ms <= excluded.expires_at_ms - $4
         returning bucket, fingerprint",
    );
    let open = open.rows(windows, |window| {
        [value(window.0.0), value(&window.1[..]), value(closes_at_ms)]
    });
    let opened: Vec<(i16, Vec<u8>)> = tx.fetch_each(open.bind(DUPLICATE_WINDOW_MS)).await?;
    opened.into_iter().map(window).collect()
}

fn window((bucket, fingerprint): (i16, Vec<u8>)) -> Result<Window> {
    Ok((Bucket(bucket.into()), fingerprint_of(fingerprint)?))
}

fn fingerprint_of(fingerprint: Vec<u8>) -> Result<Fingerprint> {
    Fingerprint::try_from(fingerprint)
        .map_err(|_| Error::Unreadable("a fingerprint of another length".to_owned()))
}

/// Closes windows that the same transaction opened and that no accepted message used.
pub(crate) async fn close_windows(tx: &mut Tx, windows: &[Window], now_ms: i64) -> Result<()> {
    if let Tx::Postgres(_) = tx {
        tx.execute_each(
            bulk(
                "delete from recent_sends where bucket = $1 and fingerprint = $2",
                "delete from recent_sends where (bucket, fingerprint) in (select *
             from unnest($1::bigint[], $2::bytea[]))",
            )
            .rows(windows, |window| [value(window.0.0), value(&window.1[..])]),
        )
        .await?;
        return Ok(());
    }
    tx.execute_each(
        bulk(
            "delete from recent_sends where bucket = $1 and expires_at_ms = $2
         and fingerprint = $3",
            "delete from recent_sends where (bucket, expires_at_ms,
         fingerprint) in (select * from unnest($1::bigint[], $2::bigint[], $3::bytea[]))",
        )
        .rows(windows, |window| {
            [
                value(window.0.0),
                value(now_ms + DUPLICATE_WINDOW_MS),
                value(&window.1[..]),
            ]
        }),
    )
    .await?;
    Ok(())
}

/// Returns `true` if the window of a message that was accepted then may be open.
pub(crate) fn may_be_open(accepted_at_ms: i64, now_ms: i64) -> bool {
    now_ms < accepted_at_ms + DUPLICATE_WINDOW_MS + CLOSING_TOLERANCE_MS
}

/// Closes the window of a message that was accepted then. A window of the same fingerprint that was
/// opened after it is left.
pub(crate) async fn close_window_of(
    tx: &mut Tx,
    window: Window,
    accepted_at_ms: i64,
) -> Result<()> {
    let closes_at_ms = accepted_at_ms + DUPLICATE_WINDOW_MS;
    tx.execute(
        query(
            "delete from recent_sends where bucket = $1 and fingerprint = $2
                 and expires_at_ms >= $3 and expires_at_ms <= $4",
        )
        .bind(window.0.0)
        .bind(&window.1[..])
        .bind(closes_at_ms - CLOSING_TOLERANCE_MS)
        .bind(closes_at_ms + CLOSING_TOLERANCE_MS),
    )
    .await?;
    Ok(())
}

/// Removes the closed windows of a bucket: the first `most`, and any that closed together with the
/// last of them. Returns their number.
pub(crate) async fn remove_closed(
    tx: &mut Tx,
    bucket: Bucket,
    now_ms: i64,
    most: i64,
) -> Result<u64> {
    let removed = tx
        .execute(
            query(
                "delete from recent_sends where bucket = $1 and expires_at_ms <= coalesce(
             (select expires_at_ms from recent_sends where bucket = $1 and expires_at_ms <= $2
              order by expires_at_ms limit 1 offset $3), $2)",
            )
            .bind(bucket.0)
            .bind(now_ms)
            .bind(most - 1),
        )
        .await?;
    Ok(removed)
}

/// Shifts the open windows of a bucket after the clock was set by some milliseconds and shows
/// `now_ms`.
pub(crate) async fn follow(
    tx: &mut Tx,
    remembered: &OpenWindows,
    bucket: Bucket,
    now_ms: i64,
    set_by_ms: i64,
) -> Result<()> {
    // A closed row could block the place of a shifted one with the same fingerprint.
    remove_closed(tx, bucket, now_ms - set_by_ms, i64::MAX).await?;
    remembered.forget();
    tx.execute(
        query("update recent_sends set expires_at_ms = expires_at_ms + $2 where bucket = $1")
            .bind(bucket.0)
            .bind(set_by_ms),
    )
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUCKET: Bucket = Bucket(0);

    fn window(number: i64) -> Window {
        (BUCKET, u128::to_be_bytes(u128::from(number.unsigned_abs())))
    }

    fn held(remembered: &OpenWindows) -> usize {
        remembered.lock().as_ref().map_or(0, |all| all.at_ms.len())
    }

    #[test]
    fn closed_windows_are_forgotten_within_ten_seconds() {
        let remembered = OpenWindows::default();
        *remembered.lock() = Some(Closings::new(HashMap::new(), 0));
        let mut most = 0;
        for now_ms in (0..600_000).step_by(100) {
            remembered.remember(&[window(now_ms)], now_ms + DUPLICATE_WINDOW_MS, now_ms);
            most = most.max(held(&remembered));
        }
        // The count covers one minute and the ten seconds until the next removal. A window that
        // closes at that moment is closed.
        assert_eq!(most, 699);
        let last_ms = 599_900;
        let all: Vec<Window> = (0..600_000).step_by(100).map(window).collect();
        assert_eq!(remembered.open_of(&all, last_ms).len(), 600);
        assert_eq!(
            remembered.open_of(&[window(last_ms)], last_ms + DUPLICATE_WINDOW_MS),
            []
        );
    }

    #[test]
    fn what_was_read_is_looked_at_again_after_ten_seconds() {
        let remembered = OpenWindows::default();
        let closed = HashMap::from([(window(1).1, 1_500)]);
        *remembered.lock() = Some(Closings::new(closed, 1_000));
        remembered.remember(&[window(2)], 70_999, 10_999);
        assert_eq!(held(&remembered), 2);
        remembered.remember(&[window(3)], 71_000, 11_000);
        assert_eq!(held(&remembered), 2, "the closed one is forgotten");
    }
}
