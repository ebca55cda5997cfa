//! Batches that are not to be sent any more.

use super::Case;
use super::cases::case;
use crate::batches::Progress;
use domain::DeliveryEvent;

/// The cases of a batch that is not to be sent any more.
pub(crate) fn cancelled(progress: &Progress) -> impl Iterator<Item = Case> {
    let leg = progress.batch.leg;
    let recipients = progress.batch.recipients.iter();
    recipients.map(move |&recipient| {
        let event = DeliveryEvent::Cancelled { leg };
        case(progress, recipient, event, Some("cancelled".to_owned()))
    })
}
