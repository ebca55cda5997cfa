//! The receipts of messages by SMPP: the request for them, and their text in the form that all
//! clients read.

use crate::delivery::DeliveryStatus;
use crate::ids::MessageId;
use crate::named_enum;
use jiff::Timestamp;
use jiff::tz::Offset;

/// Time for which a receipt waits for its user, milliseconds. Later it is dead.
pub const KEPT_MS: i64 = 72 * 3_600_000;
/// Maximum number of times that a receipt is sent without an answer. Later it is dead, since a client
/// that cannot read it may bind again and again.
pub const MAX_ATTEMPTS: i64 = 20;

/// Shortest time from the acceptance of a message to its receipt, milliseconds. A client forgets a
/// receipt that it gets before the response to its submit, which another node may still write.
const MIN_AGE_MS: i64 = 1_000;
/// Number of characters of the message that a receipt quotes.
const QUOTED_CHARACTERS: usize = 20;
/// The begin of the destination of a user in the outbox.
const SCHEME: &str = "smpp:";
/// Lagos is one hour ahead of UTC all year, so no time-zone database is needed.
const LAGOS: Offset = Offset::constant(1);
/// The bits of `registered_delivery` that ask for a receipt (SMPP 3.4, section 5.2.17).
const REQUEST_BITS: u8 = 0b11;

named_enum! {
    /// The final statuses of which a client wants receipts.
    pub enum WantedReceipts {
        /// All.
        All = "all",
        /// Only of recipients without the message.
        Failures = "failures",
        /// Only of recipients with the message.
        Successes = "successes",
    }
}

impl WantedReceipts {
    /// Returns the request of a `registered_delivery`. Its other bits are ignored.
    pub const fn from_registered_delivery(octet: u8) -> Option<Self> {
        match octet & REQUEST_BITS {
            1 => Some(Self::All),
            2 => Some(Self::Failures),
            3 => Some(Self::Successes),
            _ => None,
        }
    }

    /// Returns `true` if a final status has a receipt.
    pub fn has(self, status: DeliveryStatus) -> bool {
        let is_delivered = status == DeliveryStatus::Delivered;
        match self {
            Self::All => true,
            Self::Failures => !is_delivered,
            Self::Successes => is_delivered,
        }
    }
}

/// The request for receipts of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReceiptRequest {
    /// The SMPP user that gets them.
    pub system_id: String,
    /// The statuses that have one.
    pub wanted: WantedReceipts,
}

/// Returns the destination of a user in the outbox.
pub fn destination(system_id: &str) -> String {
    format!("{SCHEME}{system_id}")
}

/// Returns the SMPP user of a destination in the outbox, unless it is the origin of a URL.
pub fn user_of(destination: &str) -> Option<&str> {
    destination.strip_prefix(SCHEME)
}

/// Returns the time from which the receipt of a message that ends now may be sent.
pub fn due_at_ms(message: MessageId, now_ms: i64) -> i64 {
    now_ms.max(message.accepted_at_ms().saturating_add(MIN_AGE_MS))
}

/// The end of a recipient, as the outbox keeps it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecipientEnd {
    /// The final status.
    pub status: DeliveryStatus,
    /// Time of the end, Unix milliseconds.
    pub done_at_ms: i64,
    /// The error code of the network, if it is known.
    pub error: Option<u16>,
}

impl RecipientEnd {
    /// Returns the end of a recipient. `error` is the carrier's own text.
    pub fn new(status: DeliveryStatus, done_at_ms: i64, error: Option<&str>) -> Self {
        let error = error.and_then(|text| text.trim().parse().ok());
        Self {
            status,
            done_at_ms,
            error: error.filter(|code| *code != 0),
        }
    }

    /// Returns the stored form.
    pub fn to_text(&self) -> String {
        let (status, error) = (self.status.as_str(), self.error.unwrap_or_default());
        format!("{status} {} {error}", self.done_at_ms)
    }

    /// Reads the stored form.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let status = DeliveryStatus::from_name(words.next()?)?;
        let done_at_ms = words.next()?.parse().ok()?;
        Some(Self::new(status, done_at_ms, words.next()))
    }
}

/// Returns the word of a status in receipts. Clients know no other words.
pub const fn word(status: DeliveryStatus) -> &'static str {
    match status {
        DeliveryStatus::Sent | DeliveryStatus::InDoubt => "ENROUTE",
        DeliveryStatus::Delivered => "DELIVRD",
        DeliveryStatus::Expired => "EXPIRED",
        DeliveryStatus::Cancelled => "DELETED",
        DeliveryStatus::Undelivered | DeliveryStatus::Failed => "UNDELIV",
        DeliveryStatus::Rejected => "REJECTD",
    }
}

/// Returns the text of a receipt, with the begin of its message in ASCII.
pub fn text(message: MessageId, end: &RecipientEnd, quoted: &str) -> String {
    let success = u8::from(end.status == DeliveryStatus::Delivered);
    // The field has three digits. A longer code is in the optional parameter alone.
    let error = end.error.filter(|code| *code < 1_000).unwrap_or_default();
    let quoted: String = quoted
        .chars()
        .take(QUOTED_CHARACTERS)
        .map(|one| match one {
            ' '..='~' => one,
            _ => '?',
        })
        .collect();
    format!(
        "id:{message} sub:001 dlvrd:{success:03} submit date:{} done date:{} stat:{} err:{error:03} text:{quoted}",
        minute(message.accepted_at_ms()),
        minute(end.done_at_ms),
        word(end.status),
    )
}

/// Returns a time in Lagos as `YYMMDDhhmm`.
fn minute(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    LAGOS.to_datetime(at).strftime("%y%m%d%H%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2027-01-31 18:00:59 in Lagos.
    const AT_MS: i64 = 1_801_414_859_000;

    #[test]
    fn two_bits_ask_for_receipts() {
        let table = [
            (0x00, None),
            (0x01, Some(WantedReceipts::All)),
            (0x02, Some(WantedReceipts::Failures)),
            (0x03, Some(WantedReceipts::Successes)),
            (0x1C, None),
            (0xFD, Some(WantedReceipts::All)),
        ];
        for (octet, wanted) in table {
            let read = WantedReceipts::from_registered_delivery(octet);
            assert_eq!(read, wanted, "{octet:#x}");
        }
    }

    #[test]
    fn failures_are_all_statuses_but_delivered() {
        use DeliveryStatus::{Cancelled, Delivered, Expired, Failed, Rejected, Undelivered};
        for status in [Cancelled, Delivered, Expired, Failed, Rejected, Undelivered] {
            let is_delivered = status == Delivered;
            assert!(WantedReceipts::All.has(status));
            assert_eq!(WantedReceipts::Failures.has(status), !is_delivered);
            assert_eq!(WantedReceipts::Successes.has(status), is_delivered);
        }
    }

    #[test]
    fn a_receipt_has_the_standard_text_in_the_standard_order() {
        let message = MessageId::new(AT_MS, [7; 10]);
        let table = [
            (
                DeliveryStatus::Delivered,
                None,
                "dlvrd:001",
                "stat:DELIVRD err:000",
            ),
            (
                DeliveryStatus::Undelivered,
                Some("21"),
                "dlvrd:000",
                "stat:UNDELIV err:021",
            ),
            (
                DeliveryStatus::Failed,
                Some("cancelled"),
                "dlvrd:000",
                "stat:UNDELIV err:000",
            ),
            (
                DeliveryStatus::Cancelled,
                None,
                "dlvrd:000",
                "stat:DELETED err:000",
            ),
            (
                DeliveryStatus::Expired,
                Some("4321"),
                "dlvrd:000",
                "stat:EXPIRED err:000",
            ),
            (
                DeliveryStatus::Rejected,
                Some("000"),
                "dlvrd:000",
                "stat:REJECTD err:000",
            ),
        ];
        for (status, error, delivered, end) in table {
            let ended = RecipientEnd::new(status, AT_MS + 60_000, error);
            let text = text(message, &ended, "Ọj\u{0} {costs} 5 naira today");
            let expected = format!(
                "id:{message} sub:001 {delivered} submit date:2701311800 done date:2701311801 {end} text:?j? {{costs}} 5 naira "
            );
            assert_eq!(text, expected);
            assert!(text.len() < 255);
        }
    }

    #[test]
    fn a_stored_end_is_read_as_it_was() {
        for error in [None, Some("65535"), Some("7")] {
            let end = RecipientEnd::new(DeliveryStatus::Expired, AT_MS, error);
            assert_eq!(RecipientEnd::from_text(&end.to_text()), Some(end));
        }
        for text in ["", "expired", "expired x 0", "gone 1 0"] {
            assert_eq!(RecipientEnd::from_text(text), None, "{text}");
        }
    }

    #[test]
    fn a_receipt_is_never_due_with_the_acceptance() {
        let message = MessageId::new(AT_MS, [7; 10]);
        assert_eq!(due_at_ms(message, AT_MS + 5), AT_MS + 1_000);
        assert_eq!(due_at_ms(message, AT_MS + 5_000), AT_MS + 5_000);
    }

    #[test]
    fn a_destination_names_its_user() {
        assert_eq!(user_of(&destination("og7mk2x4pa")), Some("og7mk2x4pa"));
        assert_eq!(user_of("https://example.ng:443"), None);
    }
}
