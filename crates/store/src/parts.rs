//! Pages by the ids that carriers gave them: how receipts find their recipients.

use crate::Store;
use crate::batches::Batch;
use crate::db::Tx;
use crate::deliveries::CaseRow;
use crate::error::Result;
use crate::receipts::Receipt;
use crate::rows::{id_bytes, number};
use crate::settle::Case;
use crate::sql::{execute_rows, fetch_rows};
use domain::{MessageId, Recipient};
use std::collections::HashMap;

/// Ids come again at some SMSCs: older pages than this are not meant.
const SAME_ID_FOR_MS: i64 = 7 * 86_400_000;

/// A page that a carrier has an id for.
pub(crate) struct Part {
    pub(crate) leg: i64,
    page: i64,
    pub(crate) delivered: bool,
    pub(crate) case: Case,
}

/// The pages that some receipts may mean, by carrier id.
pub(crate) struct Matched {
    parts: Vec<Part>,
    by_id: HashMap<String, Vec<usize>>,
}

impl Matched {
    /// The page that a receipt means: its id, and its number where it tells one; the youngest if several.
    pub(crate) fn find(&self, receipt: &Receipt) -> Option<(usize, &Part)> {
        let indexes = self.by_id.get(&receipt.carrier_id)?;
        indexes
            .iter()
            .map(|&index| (index, &self.parts[index]))
            .filter(|(_, part)| {
                receipt
                    .recipient
                    .is_none_or(|number| number == part.case.recipient)
            })
            .max_by_key(|(_, part)| part.case.message)
    }

    /// Remembers which pages of longer messages are delivered, so that a repeated receipt does not count.
    pub(crate) async fn mark_delivered(
        &self,
        tx: &mut Tx,
        carrier: &str,
        indexes: &[usize],
    ) -> Result<()> {
        let ids: HashMap<usize, &str> = self
            .by_id
            .iter()
            .flat_map(|(id, indexes)| indexes.iter().map(move |&index| (index, id.as_str())))
            .collect();
        let rows: Vec<(&str, &Part)> = indexes
            .iter()
            .filter_map(|index| Some((*ids.get(index)?, self.parts.get(*index)?)))
            .collect();
        execute_rows!(
            tx,
            &rows,
            6,
            "update parts set delivered = true
             where (bucket, carrier_id, message_id, recipient, leg, page) in (values {rows})
                 and carrier = {1}",
            |query, row| {
                let (id, part) = row;
                query
                    .bind(part.case.bucket.0)
                    .bind(*id)
                    .bind(id_bytes(&part.case.message))
                    .bind(number(part.case.recipient))
                    .bind(part.leg)
                    .bind(part.page)
            },
            after | query | query.bind(carrier)
        );
        Ok(())
    }
}

#[derive(sqlx::FromRow)]
struct PartRow {
    carrier_id: String,
    part_leg: i64,
    page: i64,
    delivered: bool,
    #[sqlx(flatten)]
    case: CaseRow,
}

/// Looks up the pages of some receipts, and keeps other nodes from counting them until the commit.
pub(crate) async fn match_receipts(
    tx: &mut Tx,
    store: &Store,
    carrier: &str,
    now_ms: i64,
    receipts: &[&Receipt],
) -> Result<Matched> {
    let oldest = MessageId::lowest_at(now_ms - SAME_ID_FOR_MS);
    let mut matched = Matched {
        parts: Vec::new(),
        by_id: HashMap::with_capacity(receipts.len()),
    };
    // A cross join keeps SQLite from starting with every delivery of these days.
    let sql = format!(
        "select p.carrier_id, p.leg as part_leg, p.page, p.delivered, d.bucket, d.message_id,
             d.recipient, d.status, d.leg, d.failed_legs, d.pages, d.delivered_first,
             d.delivered_second, d.gave_up, d.suffixed, d.charge, d.reserve, d.carrier
         from parts p cross join deliveries d
         where d.bucket = p.bucket and d.message_id = p.message_id and d.recipient = p.recipient
             and p.carrier_id in (values {{rows}})
             and p.bucket = {{1}} and p.carrier = {{2}} and p.message_id >= {{3}}{}",
        tx.for_update()
    );
    for bucket in crate::rows::buckets(store.db.is_embedded()) {
        let rows: Vec<PartRow> = fetch_rows!(
            tx,
            receipts,
            1,
            &sql,
            |query, receipt| query.bind(receipt.carrier_id.as_str()),
            after | query | query.bind(bucket.0).bind(carrier).bind(id_bytes(&oldest))
        );
        for row in rows {
            let index = matched.parts.len();
            let indexes = matched.by_id.entry(row.carrier_id).or_default();
            if indexes
                .iter()
                .any(|&other| matched.parts[other].is(&row.case, row.part_leg, row.page))
            {
                continue;
            }
            indexes.push(index);
            let (leg, page, delivered) = (row.part_leg, row.page, row.delivered);
            matched.parts.push(Part {
                leg,
                page,
                delivered,
                case: row.case.case()?,
            });
        }
    }
    Ok(matched)
}

impl Part {
    /// The same page is found once for each receipt that names it.
    fn is(&self, case: &CaseRow, leg: i64, page: i64) -> bool {
        self.leg == leg && self.page == page && case.is_of(&self.case)
    }
}

/// Keeps the carrier's ids of submitted pages.
pub(crate) async fn keep(tx: &mut Tx, parts: &[(&Batch, Recipient, i64, &String)]) -> Result<()> {
    execute_rows!(
        tx,
        parts,
        7,
        "insert into parts (bucket, carrier, carrier_id, message_id, recipient, leg, page)
         values {rows} on conflict do nothing",
        |query, part| {
            let (batch, recipient, page, id) = part;
            query
                .bind(batch.bucket.0)
                .bind(&*batch.carrier)
                .bind(id.as_str())
                .bind(id_bytes(&batch.message))
                .bind(number(*recipient))
                .bind(batch.leg)
                .bind(*page)
        }
    );
    Ok(())
}
