//! Cancelled batches.

use super::cases::case;
use crate::batches::batch::Progress;
use crate::deliveries::pending::PendingSettlement;
use domain::DeliveryEvent;

/// Returns the cases of a cancelled batch.
pub(crate) fn cancelled(progress: &Progress) -> impl Iterator<Item = PendingSettlement> {
    let leg = progress.batch.leg;
    let recipients = progress.batch.recipients.iter();
    recipients.map(move |&recipient| {
        let event = DeliveryEvent::Cancelled { leg };
        case(progress, recipient, event, Some("cancelled".to_owned()))
    })
}
