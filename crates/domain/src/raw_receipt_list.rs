//! The stored form of a list of receipts, each with its recipient.

use crate::number::recipient::Recipient;
use crate::recipient_list::{self, WIDTH};

/// Packs short forms of receipts. Each has its recipient in seven octets and its length in two in
/// front of it, in big endian. A receipt that is too long for that is left out.
pub fn pack<'a>(receipts: impl Iterator<Item = (Recipient, &'a [u8])>) -> Vec<u8> {
    let mut packed = Vec::new();
    for (recipient, raw) in receipts {
        if let Ok(length) = u16::try_from(raw.len()) {
            packed.extend(recipient_list::pack(&[recipient]));
            packed.extend(length.to_be_bytes());
            packed.extend(raw);
        }
    }
    packed
}

/// Returns the short forms of a recipient in a packed list, in their order. Returns `None` if the
/// list is cut off.
pub fn of(packed: &[u8], recipient: Recipient) -> Option<Vec<&[u8]>> {
    let wanted = recipient_list::pack(&[recipient]);
    let (mut rest, mut found) = (packed, Vec::new());
    while !rest.is_empty() {
        let (number, behind) = rest.split_at_checked(WIDTH)?;
        let (length, behind) = behind.split_first_chunk::<2>()?;
        let (raw, behind) = behind.split_at_checked(u16::from_be_bytes(*length).into())?;
        if number == wanted {
            found.push(raw);
        }
        rest = behind;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_receipt_is_found_by_its_recipient(
            list in proptest::collection::vec((0u64..9, any::<Vec<u8>>()), 0..20),
        ) {
            let list: Vec<_> = list
                .into_iter()
                .map(|(digits, raw)| (Recipient::from_digits(digits), raw))
                .collect();
            let packed = pack(list.iter().map(|(recipient, raw)| (*recipient, raw.as_slice())));
            for digits in 0..10 {
                let recipient = Recipient::from_digits(digits);
                let its = list.iter().filter(|(one, _)| *one == recipient);
                let its: Vec<&[u8]> = its.map(|(_, raw)| raw.as_slice()).collect();
                prop_assert_eq!(of(&packed, recipient), Some(its));
            }
            if let Some((_, cut)) = packed.split_last() {
                prop_assert_eq!(of(cut, Recipient::from_digits(0)), None);
            }
        }
    }
}
