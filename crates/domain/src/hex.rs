//! Bytes as hexadecimal digits.

use std::fmt::Write;

/// Returns two lower-case digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            // A write to a `String` cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}
