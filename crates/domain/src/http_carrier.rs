//! Carriers by HTTP: the request for a message, and the meaning of answers and receipts.

mod answer;
mod pointer;
mod poll;
mod preset;
mod receipt;
mod request;
mod template;

pub use answer::{AnswerRules, HttpAnswer};
pub use pointer::{Pointer, PointerFault};
pub use poll::{HttpPoll, PollTimes};
pub use preset::{HttpPreset, PresetAccount, escaped};
pub use receipt::{HttpReceipt, HttpReceipts, ReceiptFault, StateWords};
pub use request::{
    BodyTemplate, HttpMethod, HttpRequest, HttpSubmit, JsonTemplate, RequestTemplate, UrlFault,
};
pub use template::{HttpMessage, HttpTemplate, HttpTemplateFault};

use crate::{Leg, MessageId, Recipient};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Number of octets of an id that we give to a submit.
const ID_OCTETS: usize = 16;

/// Returns the id `{id}` that we give to a submit. A repeated submit has the same id, so a carrier
/// that knows idempotency keys sends it once. Another leg has another id.
pub fn submit_id(message: MessageId, recipient: Recipient, leg: Leg) -> String {
    let leg = match leg {
        Leg::First => 1_u8,
        Leg::Second => 2,
    };
    let mut hash = Sha256::new();
    hash.update(message.0.as_bytes());
    hash.update(recipient.to_string());
    hash.update([leg]);
    let mut id = String::with_capacity(2 * ID_OCTETS);
    for octet in &hash.finalize()[..ID_OCTETS] {
        // Writing to a string succeeds.
        let _ = write!(id, "{octet:02x}");
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_repeated_submit_has_the_id_of_the_first() {
        let id = |message, recipient, leg| {
            let message = MessageId(Uuid::from_u128(message));
            submit_id(message, Recipient::from_digits(recipient), leg)
        };
        let first = id(1, 2_348_031_234_567, Leg::First);
        assert_eq!(first.len(), 32);
        assert_eq!(first, id(1, 2_348_031_234_567, Leg::First));
        assert_ne!(first, id(2, 2_348_031_234_567, Leg::First));
        assert_ne!(first, id(1, 2_348_031_234_568, Leg::First));
        assert_ne!(first, id(1, 2_348_031_234_567, Leg::Second));
    }
}
