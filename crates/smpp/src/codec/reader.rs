//! The reader of the fields of a body.

use super::fields::AddressFields;

/// The unread rest of a body.
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

    /// Reads a text that ends with a NUL. Its length is not checked.
    pub(super) fn text(&mut self) -> Option<&'a [u8]> {
        let end = nul_at(self.0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// Reads the last text of a body, which may be missing or end without a NUL.
    pub(super) fn last_text(&mut self) -> &'a [u8] {
        self.text().unwrap_or_else(|| std::mem::take(&mut self.0))
    }

    pub(super) fn address(&mut self) -> Option<AddressFields<'a>> {
        let [ton, npi] = self.octets()?;
        let digits = self.text()?;
        Some(AddressFields { ton, npi, digits })
    }

    /// Reads the last address of a body, whose digits may end without a NUL.
    pub(super) fn last_address(&mut self) -> Option<AddressFields<'a>> {
        let [ton, npi] = self.octets()?;
        let digits = self.last_text();
        Some(AddressFields { ton, npi, digits })
    }
}

/// Returns the index of the first NUL. It compares eight octets at a time, since texts are too
/// short for a function call.
fn nul_at(octets: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = 0x8080_8080_8080_8080;
    let (words, rest) = octets.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest remaining bit belongs to the first octet that is zero.
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
        fn the_first_nul_is_found_at_any_position(octets in proptest::collection::vec(prop_oneof![0u8..3, any::<u8>()], 0..40)) {
            prop_assert_eq!(nul_at(&octets), octets.iter().position(|&octet| octet == 0));
        }
    }
}
