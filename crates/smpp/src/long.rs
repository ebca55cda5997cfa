//! Long messages: the user data header that joins their pages (3GPP TS 23.040, section 9.2.3.24.1).

/// The header of a page: 8-bit reference, number of pages, number of this page from 1. It stands
/// before the text, with [`UDHI`](crate::esm_class::UDHI) set, and leaves room for 153 septets or 67
/// UTF-16 units.
pub const fn udh(reference: u8, total: u8, number: u8) -> [u8; 6] {
    [5, 0, 3, reference, total, number]
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_user_data_header_has_these_octets() {
        assert_eq!(super::udh(0xAB, 3, 2), [0x05, 0x00, 0x03, 0xAB, 3, 2]);
    }
}
