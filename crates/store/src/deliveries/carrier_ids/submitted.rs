//! The pages that the progress of batches submits.

use super::index::keep;
use super::page::{NamedPage, PageRef};
use super::stored::hour_of;
use crate::batches::batch::Progress;
use crate::buckets::Buckets;
use crate::deliveries::receipt_polls;
use crate::deliveries::receipts::report::CarrierReport;
use database::{Change, Result, Tx};
use std::sync::Arc;

/// Returns the pages that a report of this moment submits, by the carrier's ids.
pub(crate) fn submitted(progress: &Progress, now_ms: i64) -> impl Iterator<Item = NamedPage<'_>> {
    let batch = &*progress.batch;
    progress.submitted.iter().flat_map(move |(recipient, ids)| {
        (1_i64..).zip(ids).map(move |(page, id)| {
            let part = PageRef {
                home: batch.bucket,
                message: batch.message,
                recipient: *recipient,
                leg: batch.leg,
                page,
                hour_ms: hour_of(now_ms),
                is_guess: false,
            };
            NamedPage {
                carrier: &batch.carrier,
                id,
                part,
            }
        })
    })
}

/// The change that stores the pages of a report before all else. They lie in other buckets than
/// their deliveries. A receipt that finds a page without its delivery waits, but one that finds no
/// page would wait for ever.
pub(crate) struct StoreCarrierIds {
    pub(crate) buckets: Buckets,
    pub(crate) report: Arc<CarrierReport>,
}

impl Change for StoreCarrierIds {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let report = &self.report;
        let (progress, now_ms) = (report.progress.iter(), report.now_ms);
        let parts: Vec<NamedPage<'_>> = progress.flat_map(|one| submitted(one, now_ms)).collect();
        keep(tx, self.buckets, &parts).await?;
        receipt_polls::plan(tx, &report.polled, report.progress.iter(), now_ms).await
    }
}
