//! The stored form of a list of recipients.

use crate::number::recipient::Recipient;

/// Size of a number in octets. 15 decimal digits have 50 bits.
pub const WIDTH: usize = 7;

/// Packs numbers in order, with seven octets each in big endian.
pub fn pack(recipients: &[Recipient]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(recipients.len() * WIDTH);
    for recipient in recipients {
        packed.extend_from_slice(&recipient.digits().to_be_bytes()[8 - WIDTH..]);
    }
    packed
}

/// Unpacks a list.
pub fn unpack(packed: &[u8]) -> Vec<Recipient> {
    packed
        .chunks_exact(WIDTH)
        .map(|number| {
            let digits = number
                .iter()
                .fold(0, |digits, &octet| (digits << 8) | u64::from(octet));
            Recipient::from_digits(digits)
        })
        .collect()
}

/// Returns the number of recipients in a packed list.
pub const fn count(packed: &[u8]) -> usize {
    packed.len() / WIDTH
}

/// Returns the index of a number in a packed list.
pub fn position(packed: &[u8], recipient: Recipient) -> Option<usize> {
    let wanted = recipient.digits().to_be_bytes();
    packed
        .chunks_exact(WIDTH)
        .position(|number| number == &wanted[8 - WIDTH..])
}

/// Returns the packed numbers in `from..until`, as far as they exist.
pub fn slice(packed: &[u8], from: usize, until: usize) -> &[u8] {
    let end = packed.len();
    &packed[(from.saturating_mul(WIDTH)).min(end)..(until.saturating_mul(WIDTH)).min(end)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_packed_list_unpacks_to_itself(
            digits in proptest::collection::vec(0u64..1_000_000_000_000_000, 0..50),
        ) {
            let list: Vec<_> = digits.into_iter().map(Recipient::from_digits).collect();
            let packed = pack(&list);
            prop_assert_eq!(count(&packed), list.len());
            prop_assert_eq!(unpack(slice(&packed, 1, 3)), list.iter().skip(1).take(2).copied().collect::<Vec<_>>());
            for wanted in &list {
                let place = list.iter().position(|one| one == wanted);
                prop_assert_eq!(position(&packed, *wanted), place);
            }
            prop_assert_eq!(position(&packed, Recipient::from_digits(1_000_000_000_000_001)), None);
            prop_assert_eq!(unpack(&packed), list);
        }
    }
}
