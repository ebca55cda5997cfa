//! The signatures of webhooks, compared in constant time.

use crate::constant_time::is_secret;
use crate::hex::hex;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha512};

/// Returns the HMAC-SHA512 of a body in hexadecimal digits.
pub(super) fn hex_sha512(key: &str, body: &[u8]) -> String {
    // HMAC takes keys of any length.
    Hmac::<Sha512>::new_from_slice(key.as_bytes()).map_or_else(
        |_| String::new(),
        |mut mac| {
            mac.update(body);
            hex(&mac.finalize().into_bytes())
        },
    )
}

/// Returns `true` if `given` is the HMAC-SHA512 of a body in hexadecimal digits.
pub(super) fn is_hex_sha512(key: &str, body: &[u8], given: &str) -> bool {
    is_secret(&hex_sha512(key, body), &given.to_ascii_lowercase())
}

/// Returns `true` if `given` is the HMAC-SHA256 of a body in base64.
pub(super) fn is_base64_sha256(key: &str, body: &[u8], given: &str) -> bool {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else {
        return false;
    };
    mac.update(body);
    is_secret(&BASE64_STANDARD.encode(mac.finalize().into_bytes()), given)
}
