//! Time-based one-time passwords of an authenticator app (RFC 6238): HMAC-SHA-1, six digits, steps
//! of 30 seconds.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use std::fmt::Write as _;
use subtle::ConstantTimeEq;

/// Size of a secret in bytes, which RFC 4226 recommends.
pub const SECRET_BYTES: usize = 20;
const STEP_MS: i64 = 30_000;
const DIGITS: usize = 6;
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn code(secret: &[u8], step: i64) -> String {
    // An HMAC accepts keys of any length, so this never fails.
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(secret) else {
        return String::new();
    };
    mac.update(&step.to_be_bytes());
    let hash = mac.finalize().into_bytes();
    let at = usize::from(hash[19] & 0xF);
    let number = u32::from_be_bytes([hash[at] & 0x7F, hash[at + 1], hash[at + 2], hash[at + 3]]);
    format!("{:0DIGITS$}", number % 1_000_000)
}

/// Returns the code that an app shows at a time.
pub fn code_at(secret: &[u8], now_ms: i64) -> String {
    code(secret, now_ms.div_euclid(STEP_MS))
}

/// Returns the step whose code was given: the current one, or its neighbour if the clocks differ. A
/// step up to `last_step` was used already, and is refused.
pub fn matching_step(
    secret: &[u8],
    given: &str,
    now_ms: i64,
    last_step: Option<i64>,
) -> Option<i64> {
    let given: String = given.chars().filter(|sign| !sign.is_whitespace()).collect();
    let now = now_ms.div_euclid(STEP_MS);
    let is_it = |step: &i64| {
        let is_new = last_step.is_none_or(|last| *step > last);
        is_new
            && code(secret, *step)
                .as_bytes()
                .ct_eq(given.as_bytes())
                .into()
    };
    [now, now - 1, now + 1].into_iter().find(is_it)
}

/// Returns a secret as a person types it into an app: base32 in groups of four.
pub fn shown_secret(secret: &[u8]) -> String {
    let text = base32(secret);
    let groups = text.as_bytes().chunks(4);
    let groups: Vec<String> = groups
        .map(|group| String::from_utf8_lossy(group).into_owned())
        .collect();
    groups.join(" ")
}

/// Returns the address that an app reads from a QR code.
pub fn address(secret: &[u8], issuer: &str, email: &str) -> String {
    let (issuer, email) = (encoded(issuer), encoded(email));
    format!(
        "otpauth://totp/{issuer}:{email}?secret={}&issuer={issuer}",
        base32(secret)
    )
}

fn base32(bytes: &[u8]) -> String {
    let (mut text, mut bits, mut count) = (String::new(), 0_u32, 0);
    for &byte in bytes {
        bits = (bits << 8) | u32::from(byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(char::from(BASE32[(bits >> count & 31) as usize]));
        }
    }
    if count > 0 {
        text.push(char::from(BASE32[(bits << (5 - count) & 31) as usize]));
    }
    text
}

fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~@".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // A write to a `String` cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"12345678901234567890";

    /// The codes of RFC 6238, appendix B, whose last six digits count.
    #[test]
    fn codes_are_those_of_the_rfc() {
        for (at_s, expected) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_234_567_890, "005924"),
            (20_000_000_000, "353130"),
        ] {
            let step = matching_step(SECRET, expected, at_s * 1_000, None);
            assert_eq!(step, Some(at_s / 30), "{at_s}");
        }
    }

    #[test]
    fn a_code_is_good_for_one_step_around_and_once() {
        let now_ms = 1_111_111_109_000;
        let now = now_ms / STEP_MS;
        for (step, is_good) in [(-2, false), (-1, true), (0, true), (1, true), (2, false)] {
            let given = code(SECRET, now + step);
            let found = matching_step(SECRET, &given, now_ms, None);
            assert_eq!(found.is_some(), is_good, "{step}");
        }
        let given = format!(" {} ", code(SECRET, now));
        assert_eq!(
            matching_step(SECRET, &given, now_ms, Some(now - 1)),
            Some(now)
        );
        assert_eq!(matching_step(SECRET, &given, now_ms, Some(now)), None);
        for given in ["", "28708", "2870820", "abcdef"] {
            assert_eq!(matching_step(SECRET, given, now_ms, None), None);
        }
    }

    #[test]
    fn an_app_reads_the_secret() {
        assert_eq!(base32(b"foobar"), "MZXW6YTBOI");
        assert_eq!(shown_secret(b"foobar"), "MZXW 6YTB OI");
        assert_eq!(
            address(b"foobar", "My SMS", "ada&x@example.ng"),
            "otpauth://totp/My%20SMS:ada%26x@example.ng?secret=MZXW6YTBOI&issuer=My%20SMS"
        );
    }
}
