//! The fingerprint of a request: SHA-256 of an unambiguous encoding of its fields.

use super::operation::Operation;
use sha2::{Digest, Sha256};

/// A hash that is equal only for equal requests: SHA-256, cut to 16 octets.
pub type RequestFingerprint = [u8; 16];

/// The type of a value in the encoding.
#[derive(Clone, Copy)]
enum ValueKind {
    Absent = 0,
    Text = 1,
    Integer = 2,
    Flag = 3,
    Count = 4,
    Octets = 5,
}

/// A writer of the operation and the parsed fields of a request.
///
/// Name, type and length precede each value. The order of the fields is fixed.
#[derive(Clone)]
pub struct FingerprintWriter(Sha256);

impl FingerprintWriter {
    /// Starts with the operation.
    pub fn new(operation: Operation) -> Self {
        let mut writer = Self(Sha256::new());
        writer.text("operation", Some(operation.as_str()));
        writer
    }

    /// Writes a text.
    pub fn text(&mut self, name: &str, value: Option<&str>) {
        match value {
            Some(value) => self.value(name, ValueKind::Text, value.as_bytes()),
            None => self.value(name, ValueKind::Absent, &[]),
        }
    }

    /// Writes an integer, an amount in its smallest unit, or a time in milliseconds.
    pub fn integer(&mut self, name: &str, value: Option<i64>) {
        match value {
            Some(value) => self.value(name, ValueKind::Integer, &value.to_be_bytes()),
            None => self.value(name, ValueKind::Absent, &[]),
        }
    }

    /// Writes a boolean.
    pub fn flag(&mut self, name: &str, value: bool) {
        self.value(name, ValueKind::Flag, &[u8::from(value)]);
    }

    /// Writes the number of the following items.
    pub fn count(&mut self, name: &str, items: usize) {
        self.value(name, ValueKind::Count, &(items as u64).to_be_bytes());
    }

    /// Writes octets.
    pub fn octets(&mut self, name: &str, value: &[u8]) {
        self.value(name, ValueKind::Octets, value);
    }

    /// Returns the fingerprint.
    pub fn finish(self) -> RequestFingerprint {
        let mut fingerprint = RequestFingerprint::default();
        fingerprint.copy_from_slice(&self.0.finalize()[..16]);
        fingerprint
    }

    fn value(&mut self, name: &str, kind: ValueKind, value: &[u8]) {
        self.0.update((name.len() as u64).to_be_bytes());
        self.0.update(name);
        self.0.update([kind as u8]);
        self.0.update((value.len() as u64).to_be_bytes());
        self.0.update(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_two_lists_of_fields_are_alike() {
        let written: [fn(&mut FingerprintWriter); 10] = [
            |_| {},
            |writer| writer.text("a", None),
            |writer| writer.text("a", Some("")),
            |writer| writer.text("a", Some("b")),
            |writer| writer.text("ab", Some("")),
            |writer| writer.integer("a", Some(0)),
            |writer| writer.flag("a", false),
            |writer| writer.flag("a", true),
            |writer| writer.count("a", 0),
            |writer| writer.octets("a", b""),
        ];
        let mut found: Vec<_> = written
            .iter()
            .map(|write| {
                let mut writer = FingerprintWriter::new(Operation::Send);
                write(&mut writer);
                writer.finish()
            })
            .collect();
        found.push(FingerprintWriter::new(Operation::LegacySend).finish());
        let mut unique = found.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), found.len());
    }

    #[test]
    fn the_fingerprint_is_the_same_in_every_version() {
        let mut writer = FingerprintWriter::new(Operation::Send);
        writer.text("from", Some("Ogene"));
        writer.integer("send_at", None);
        let found = u128::from_be_bytes(writer.finish());
        // The value was computed by another implementation of SHA-256.
        assert_eq!(format!("{found:032x}"), "f5c55c783bf06a219b60bd938f12d76d");
    }

    proptest! {
        #[test]
        fn texts_are_distinguished_at_any_split(text in "[ab]{0,8}", one in 0..9_usize, other in 0..9_usize) {
            let of = |at: usize| {
                let (first, second) = text.split_at(at.min(text.len()));
                let mut writer = FingerprintWriter::new(Operation::Send);
                writer.text("x", Some(first));
                writer.text("x", Some(second));
                writer.finish()
            };
            prop_assert_eq!(of(one) == of(other), one.min(text.len()) == other.min(text.len()));
        }
    }
}
