//! The margins of the recipients of a message, packed.

use crate::money::Money;
use crate::number::recipient::Recipient;
use crate::recipient_list;

/// Size of an amount, and of the length of a list.
const AMOUNT: usize = 8;
const LENGTH: usize = 4;

/// Returns the packed margins: one amount if all recipients have the same, otherwise each amount with
/// the list of its recipients.
pub fn pack_margins(classes: &[(Money, &[Recipient])]) -> Vec<u8> {
    let mut amounts: Vec<Money> = classes.iter().map(|(margin, _)| *margin).collect();
    amounts.sort_unstable();
    amounts.dedup();
    if let [one] = amounts[..] {
        return one.units().to_be_bytes().to_vec();
    }
    let mut packed = Vec::new();
    for amount in amounts {
        let of_amount = classes.iter().filter(|(margin, _)| *margin == amount);
        let recipients: Vec<Recipient> = of_amount
            .flat_map(|(_, recipients)| recipients.iter().copied())
            .collect();
        let list = recipient_list::pack(&recipients);
        let length = u32::try_from(list.len()).unwrap_or(u32::MAX);
        packed.extend_from_slice(&amount.units().to_be_bytes());
        packed.extend_from_slice(&length.to_be_bytes());
        packed.extend_from_slice(&list);
    }
    packed
}

/// Returns the margin of a recipient, or `None` if the octets are no margins of it.
pub fn margin_of(mut packed: &[u8], recipient: Recipient) -> Option<Money> {
    if let Ok(one) = packed.try_into() {
        return Some(Money::from_units(i64::from_be_bytes(one)));
    }
    while !packed.is_empty() {
        let (amount, rest) = packed.split_first_chunk::<AMOUNT>()?;
        let (length, rest) = rest.split_first_chunk::<LENGTH>()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        let list = rest.get(..length)?;
        if recipient_list::position(list, recipient).is_some() {
            return Some(Money::from_units(i64::from_be_bytes(*amount)));
        }
        packed = &rest[length..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_recipient_has_the_margin_of_its_class() {
        let [ada, ben, eve] = [2_348_031_234_567, 2_348_051_234_567, 2_348_021_234_567];
        let of = |packed: &[u8], number| margin_of(packed, Recipient::from_digits(number));
        let naira = |amount| Some(Money::from_naira(amount));
        let list = |number| [Recipient::from_digits(number)];
        let [of_ada, of_ben, of_eve] = [ada, ben, eve].map(list);
        let [zero, two] = [0, 2].map(Money::from_naira);
        let one = pack_margins(&[(two, &of_ada), (two, &of_ben)]);
        assert_eq!(one.len(), AMOUNT);
        assert_eq!(of(&one, ada), naira(2));
        let several = pack_margins(&[(two, &of_ada), (zero, &of_eve), (two, &of_ben)]);
        let found = [ada, ben, eve, 2_348_091_234_567].map(|number| of(&several, number));
        assert_eq!(found, [naira(2), naira(2), naira(0), None]);
        assert_eq!(of(&several[..several.len() - 1], ben), None);
    }
}
