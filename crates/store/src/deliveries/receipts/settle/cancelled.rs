//! Cancelled batches.

use super::cases::case;
use crate::batches::batch::Progress;
use crate::deliveries::pending::PendingSettlement;
use domain::{DeliveryEvent, DeliveryStatus};

/// Returns the cases of a cancelled batch. Recipients without any submit get this status.
pub(crate) fn cancelled(
    progress: &Progress,
    status: DeliveryStatus,
) -> impl Iterator<Item = PendingSettlement> {
    let leg = progress.batch.leg;
    let recipients = progress.batch.recipients.iter();
    recipients.map(move |&recipient| {
        let event = DeliveryEvent::Cancelled { leg, status };
        case(progress, recipient, event, Some("cancelled".to_owned()))
    })
}
