//! The reader takes the fields of a body one after the other.

use super::fields::AddressFields;

/// The rest of a body.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn octets<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (&first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(first)
    }

    pub(super) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    /// A text that ends with NUL and has fields behind it. Its length does not matter here.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let end = nul_at(self.0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// A text that may end with the PDU instead of a NUL, or be missing.
    pub(super) fn last_text(&mut self) -> &'a [u8] {
        self.text().unwrap_or_else(|| std::mem::take(&mut self.0))
    }

    pub(super) fn address(&mut self) -> Option<AddressFields<'a>> {
        let [ton, npi] = self.octets()?;
        let digits = self.text()?;
        Some(AddressFields { ton, npi, digits })
    }

    /// An address whose digits may end with the PDU instead of a NUL.
    pub(super) fn last_address(&mut self) -> Option<AddressFields<'a>> {
        let [ton, npi] = self.octets()?;
        let digits = self.last_text();
        Some(AddressFields { ton, npi, digits })
    }
}

/// Where the first NUL is. Eight octets are looked at together: texts are too short for a call to pay.
fn nul_at(octets: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let (words, rest) = octets.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest high bit that is left stands in the first octet that is zero.
        let zeros = word.wrapping_sub(ONES) & !word & HIGHS;
        if zeros != 0 {
            return Some(8 * index + zeros.trailing_zeros() as usize / 8);
        }
    }
    let at = rest.iter().position(|&octet| octet == 0)?;
    Some(8 * words.len() + at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_nul_is_found_wherever_it_stands(octets in proptest::collection::vec(prop_oneof![0u8..3, any::<u8>()], 0..40)) {
            prop_assert_eq!(nul_at(&octets), octets.iter().position(|&octet| octet == 0));
        }
    }
}
