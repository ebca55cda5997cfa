//! The fingerprint of a page, which is equal for repetitions.

use sha2::{Digest, Sha256};

/// Returns the fingerprint of a page: its addresses, its alphabet, its place in its message, and its
/// octets.
pub fn fingerprint(
    (sender, number): (&str, &str),
    (reference, total, page): (u16, u8, u8),
    data_coding: u8,
    octets: &[u8],
) -> [u8; 16] {
    let mut hash = Sha256::new();
    for text in [sender, number] {
        hash.update(text.len().to_be_bytes());
        hash.update(text);
    }
    hash.update(reference.to_be_bytes());
    hash.update([total, page, data_coding]);
    hash.update(octets);
    let mut fingerprint = [0; 16];
    fingerprint.copy_from_slice(&hash.finalize()[..16]);
    fingerprint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_a_page_counts() {
        let all = [
            fingerprint(("2348031234567", "32811"), (7, 2, 1), 0, b"Hi"),
            fingerprint(("2348031234568", "32811"), (7, 2, 1), 0, b"Hi"),
            fingerprint(("23480312345673", "2811"), (7, 2, 1), 0, b"Hi"),
            fingerprint(("2348031234567", "32811"), (8, 2, 1), 0, b"Hi"),
            fingerprint(("2348031234567", "32811"), (7, 2, 2), 0, b"Hi"),
            fingerprint(("2348031234567", "32811"), (7, 2, 1), 8, b"Hi"),
            fingerprint(("2348031234567", "32811"), (7, 2, 1), 0, b"Ho"),
        ];
        for (place, one) in all.iter().enumerate() {
            assert!(!all[..place].contains(one), "{place}");
        }
    }
}
