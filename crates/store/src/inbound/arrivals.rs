//! The arrival of pages: they are kept, and repetitions are left out.

use database::{Change, Result, Tx, query};
use domain::NodeId;

/// The time in which a carrier repeats a page whose answer it did not get.
const REPEAT_MS: i64 = 60_000;
/// Arrivals that one step forgets at most.
const MAX_FORGOTTEN: i64 = 1_000;

/// A page as a carrier delivered it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ArrivedPage {
    /// The number of its row. Numbers grow with time.
    pub id: i64,
    /// The carrier.
    pub carrier: String,
    /// The address of the sender, as the carrier wrote it.
    pub sender: String,
    /// The number that the message was sent to, as the carrier wrote it.
    pub number: String,
    /// The reference that the pages of the message share, or the row of a message of one page.
    pub reference: i64,
    /// The number of pages of the message.
    pub total: u8,
    /// The number of this page, from 1.
    pub page: u8,
    /// The alphabet of the octets.
    pub data_coding: u8,
    /// The text without a user data header.
    pub octets: Vec<u8>,
    /// Time of arrival, Unix milliseconds.
    pub received_at_ms: i64,
    /// A hash of all that makes two pages equal.
    pub fingerprint: [u8; 16],
    /// The connection that delivered it.
    pub connection: i64,
}

/// Pages to keep, and the connections that ended before they arrived.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct KeptPages {
    /// The pages in the order of their arrival.
    pub pages: Vec<ArrivedPage>,
    /// Connections of this node that have ended.
    pub ended: Vec<i64>,
    /// Connections of this node to the same carrier that are bound.
    pub bound: Vec<i64>,
}

pub(super) struct KeepPages {
    pub(super) node: NodeId,
    pub(super) kept: KeptPages,
}

impl KeepPages {
    /// Returns `true` if the same page arrived within a minute on a connection that has ended
    /// since.
    async fn is_repetition(&self, tx: &mut Tx, page: &ArrivedPage) -> Result<bool> {
        let earlier: Vec<(i64, i64, bool, i32)> = tx
            .fetch_all(
                query(
                    "select connection, node, ended,
                         case when node in (select n.node from nodes n) then 1 else 0 end
                     from inbound_arrivals
                     where carrier = $1 and fingerprint = $2 and received_at_ms > $3",
                )
                .bind(&page.carrier)
                .bind(&page.fingerprint[..])
                .bind(page.received_at_ms - REPEAT_MS),
            )
            .await?;
        let has_ended = |&(connection, node, ended, is_alive): &(i64, i64, bool, i32)| {
            let is_open_here = node == self.node.0 && self.kept.bound.contains(&connection);
            connection != page.connection
                && (ended || is_alive == 0 || node == self.node.0 && !is_open_here)
        };
        Ok(earlier.iter().any(has_ended))
    }

    async fn keep(&self, tx: &mut Tx, page: &ArrivedPage) -> Result<()> {
        let arrival = query(
            "insert into inbound_arrivals (carrier, fingerprint, connection, node, ended,
                 received_at_ms)
             values ($1, $2, $3, $4, $5, $6)
             on conflict (carrier, fingerprint, connection)
                 do update set ended = excluded.ended, received_at_ms = excluded.received_at_ms",
        );
        let arrival = arrival.bind(&page.carrier).bind(&page.fingerprint[..]);
        let arrival = arrival.bind(page.connection).bind(self.node.0);
        // The connection may have ended before this commit.
        let arrival = arrival.bind(!self.kept.bound.contains(&page.connection));
        tx.execute(arrival.bind(page.received_at_ms)).await?;
        let insert = query(
            "insert into inbound_pages (page_id, carrier, sender, number, reference, total, page,
                 data_coding, octets, received_at_ms)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (page_id) do nothing",
        );
        let insert = insert.bind(page.id).bind(&page.carrier).bind(&page.sender);
        let insert = insert.bind(&page.number).bind(page.reference);
        let insert = insert
            .bind(i64::from(page.total))
            .bind(i64::from(page.page));
        let insert = insert.bind(i64::from(page.data_coding));
        let insert = insert.bind(&page.octets[..]).bind(page.received_at_ms);
        tx.execute(insert).await?;
        Ok(())
    }
}

impl Change for KeepPages {
    /// The number of repetitions.
    type Output = usize;

    async fn apply(&self, tx: &mut Tx) -> Result<usize> {
        for connection in &self.kept.ended {
            let end = query("update inbound_arrivals set ended = true where connection = $1");
            tx.execute(end.bind(*connection)).await?;
        }
        let mut repetitions = 0;
        for page in &self.kept.pages {
            if self.is_repetition(tx, page).await? {
                repetitions += 1;
            } else {
                self.keep(tx, page).await?;
            }
        }
        Ok(repetitions)
    }

    /// A kept page may be joined already, so its arrival proves the commit.
    async fn is_committed(&self, tx: &mut Tx, _repetitions: &usize) -> Result<bool> {
        for page in &self.kept.pages {
            let find = query(
                "select connection from inbound_arrivals
                 where carrier = $1 and fingerprint = $2 and connection = $3
                     and received_at_ms = $4",
            );
            let find = find.bind(&page.carrier).bind(&page.fingerprint[..]);
            let find = find.bind(page.connection).bind(page.received_at_ms);
            let found: Option<i64> = tx.fetch_optional(find).await?;
            if found.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

pub(super) struct Forget {
    pub(super) now_ms: i64,
}

impl Change for Forget {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let find = query(
            "select carrier, fingerprint, connection from inbound_arrivals
             where received_at_ms <= $1 order by received_at_ms limit $2",
        );
        let old: Vec<(String, Vec<u8>, i64)> = tx
            .fetch_all(find.bind(self.now_ms - REPEAT_MS).bind(MAX_FORGOTTEN))
            .await?;
        for (carrier, fingerprint, connection) in &old {
            let remove = query(
                "delete from inbound_arrivals
                 where carrier = $1 and fingerprint = $2 and connection = $3",
            );
            let remove = remove
                .bind(carrier)
                .bind(&fingerprint[..])
                .bind(*connection);
            tx.execute(remove).await?;
        }
        Ok(i64::try_from(old.len()) == Ok(MAX_FORGOTTEN))
    }
}
