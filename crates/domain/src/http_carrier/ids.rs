//! The ids that we give to submits by HTTP.

use super::template::HttpRecipient;
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
    hexadecimal(hash)
}

/// Returns the id of a request with several recipients. The same recipients have the same id again,
/// in any order.
pub(super) fn joint_id(recipients: &[HttpRecipient]) -> String {
    let mut ids: Vec<&str> = recipients.iter().map(|one| one.id.as_str()).collect();
    ids.sort_unstable();
    let mut hash = Sha256::new();
    for id in ids {
        hash.update(id);
        hash.update(b",");
    }
    hexadecimal(hash)
}

fn hexadecimal(hash: Sha256) -> String {
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

    #[test]
    fn a_request_has_another_id_with_other_recipients() {
        let joint = |ids: &[&str]| {
            let recipients = ids.iter().map(|id| HttpRecipient {
                to: String::new(),
                id: (*id).to_owned(),
            });
            joint_id(&recipients.collect::<Vec<_>>())
        };
        let first = joint(&["a", "b"]);
        assert_eq!(first.len(), 32);
        assert_eq!(first, joint(&["b", "a"]));
        assert_ne!(first, joint(&["a"]));
        assert_ne!(first, joint(&["a", "b", "c"]));
    }
}
