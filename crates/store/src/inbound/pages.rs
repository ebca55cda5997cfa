//! Pages that wait for the others of their message.

use super::arrivals::{Forget, KeepPages, KeptPages};
use database::{Change, Db, Error, Result, Tx, query};
use domain::NodeId;
use domain::inbound::InboundPage;

/// The values that the pages of one message share.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PageGroup {
    /// The carrier.
    pub carrier: String,
    /// The address of the sender, as the carrier wrote it.
    pub sender: String,
    /// The number that the message was sent to, as the carrier wrote it.
    pub number: String,
    /// The reference.
    pub reference: i64,
    /// The number of pages of the message.
    pub total: i64,
}

database::from_row!(PageGroup {
    carrier,
    sender,
    number,
    reference,
    total
});

struct PageRow {
    page_id: i64,
    total: i64,
    page: i64,
    data_coding: i64,
    received_at_ms: i64,
    octets: Vec<u8>,
}

database::from_row!(PageRow {
    page_id,
    total,
    page,
    data_coding,
    received_at_ms,
    octets
});

impl PageRow {
    fn page(self) -> Result<InboundPage> {
        let small = |stored: i64| {
            u8::try_from(stored).map_err(|_| Error::Unreadable("a page of a message".to_owned()))
        };
        Ok(InboundPage {
            id: self.page_id,
            number: small(self.page)?,
            total: small(self.total)?,
            data_coding: small(self.data_coding)?,
            octets: self.octets,
            received_at_ms: self.received_at_ms,
        })
    }
}

struct RemovePages {
    pages: Vec<i64>,
}

impl Change for RemovePages {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        remove_pages(tx, &self.pages).await
    }
}

/// Removes the pages of a message. The first row decides which node has them: a transaction that
/// does not find it changes nothing.
pub(super) async fn remove_pages(tx: &mut Tx, pages: &[i64]) -> Result<bool> {
    for (place, page) in pages.iter().enumerate() {
        let remove = query("delete from inbound_pages where page_id = $1").bind(*page);
        if tx.execute(remove).await? == 0 && place == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The pages that wait for the others of their message.
#[derive(Clone, Copy)]
pub struct InboundPages<'s> {
    pub(crate) db: &'s Db,
}

impl InboundPages<'_> {
    /// Keeps pages until they are joined. A repetition is left out: the same page within a minute,
    /// after the end of the connection that delivered it first. Returns the number of repetitions.
    pub async fn keep(self, node: NodeId, kept: KeptPages) -> Result<usize> {
        self.db.change(KeepPages { node, kept }).await
    }

    /// Forgets some arrivals that are older than a minute. Returns `true` if more may be left.
    pub async fn forget_arrivals(self, now_ms: i64) -> Result<bool> {
        self.db.change(Forget { now_ms }).await
    }

    /// Removes the pages of a receipt, which is no message. Returns `false` if they were gone.
    pub async fn remove(self, pages: Vec<i64>) -> Result<bool> {
        self.db.change(RemovePages { pages }).await
    }

    /// Returns some messages whose pages are all there, or wait since before a time.
    pub async fn ready(self, before_ms: i64, limit: u32) -> Result<Vec<PageGroup>> {
        let find = query(
            "select carrier, sender, number, reference, total from inbound_pages
             group by carrier, sender, number, reference, total
             having count(distinct page) >= total or min(received_at_ms) <= $1
             order by min(page_id) limit $2",
        );
        let find = find.bind(before_ms).bind(i64::from(limit));
        self.db.fetch_all(find).await
    }

    /// Returns the pages of a message.
    pub async fn of(self, group: &PageGroup) -> Result<Vec<InboundPage>> {
        let find = query(
            "select page_id, total, page, data_coding, received_at_ms, octets from inbound_pages
             where carrier = $1 and sender = $2 and number = $3 and reference = $4 and total = $5
             order by page_id",
        );
        let find = find.bind(&group.carrier).bind(&group.sender);
        let find = find.bind(&group.number).bind(group.reference);
        let rows: Vec<PageRow> = self.db.fetch_all(find.bind(group.total)).await?;
        rows.into_iter().map(PageRow::page).collect()
    }
}
