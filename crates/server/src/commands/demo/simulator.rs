//! The behaviour of the SMSC simulator of the demo.

use super::super::answer::Failure;
use smpp::simulator::{Delay, Script, parse_rule};
use std::time::Duration;

/// Endings of numbers whose messages are not delivered. All others are delivered.
pub(super) const UNDELIVERED: &str = "0002";
pub(super) const EXPIRED: &str = "0003";
pub(super) const REJECTED: &str = "0004";
/// The ending of numbers without a receipt.
pub(super) const PENDING: &str = "0005";
/// The ending of numbers that the simulator refuses at the submit.
pub(super) const REFUSED: &str = "0006";
/// The fates by ending. 0x0B is `ESME_RINVDSTADR`.
const RULES: [(&str, &str); 5] = [
    (UNDELIVERED, "undeliv"),
    (EXPIRED, "expired"),
    (REJECTED, "rejectd"),
    (PENDING, "pending"),
    (REFUSED, "refuse:0x0B"),
];
/// The delay of a receipt while the demo runs.
pub(super) const RECEIPT_DELAY: Delay = Delay {
    from: Duration::from_millis(500),
    to: Duration::from_millis(1_500),
};
/// Receipts write the time of Lagos, an hour ahead of UTC.
const LAGOS_OFFSET_S: u64 = 3_600;

/// Returns the script of a simulator whose clock shows `now_ms`.
pub(super) fn script(now_ms: i64, receipt_delay: Delay) -> Result<Script, Failure> {
    let rules = RULES
        .into_iter()
        .map(|(ending, fate)| parse_rule(&format!("{ending}={fate}")))
        .collect::<Result<_, _>>()
        .map_err(Failure::new)?;
    let now_ms = now_ms.unsigned_abs();
    Ok(Script {
        rules,
        receipt_delay,
        last_message_id: now_ms * 1_000,
        started_at_s: now_ms / 1_000 + LAGOS_OFFSET_S,
        ..Script::default()
    })
}
