//! The log lines of a worker.

use super::transport::LinkId;
use crate::context::carrier::Carrier;
use crate::context::outcome::Rejection;
use smpp::{CloseReason, CommandStatus, DeliverSm};

/// Logs the end of a connection.
pub(crate) fn closed(carrier: &str, link: LinkId, reason: CloseReason) {
    if matches!(reason, CloseReason::Unbound) {
        tracing::info!(
            carrier.name = carrier,
            carrier.link = link,
            "carrier: unbound"
        );
    } else {
        tracing::warn!(
            carrier.name = carrier,
            carrier.link = link,
            smpp.reason = %reason,
            "carrier: connection ended"
        );
    }
}

/// Logs the first rejection with a status. Further ones are only counted.
pub(crate) fn refused(carrier: &Carrier, rejection: &Rejection) {
    let smpp = carrier.smpp();
    let sends_validity = smpp.is_some_and(|smpp| smpp.send_validity);
    let is_expiry = *rejection == Rejection::Smpp(CommandStatus::RINVEXPIRY);
    let advice = if is_expiry && sends_validity {
        "; it rejects validity_period, set `send_validity = false` for this carrier"
    } else {
        ""
    };
    tracing::warn!(
        carrier.name = &*carrier.name,
        smpp.status = rejection.label(),
        "carrier: submit refused (further ones counted in ogene_responses_total){advice}"
    );
}

/// Logs the first unreadable receipt without its content. Further ones are only counted.
pub(crate) fn unreadable(carrier: &str, deliver: &DeliverSm) {
    tracing::warn!(
        carrier.name = carrier,
        smpp.esm_class = deliver.esm_class,
        smpp.data_coding = deliver.data_coding,
        smpp.octets = deliver.text().len(),
        "carrier: receipt dropped, it names no message or no state (further ones counted in \
         ogene_receipts_unreadable_total)"
    );
}
