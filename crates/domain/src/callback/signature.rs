//! Signatures of callbacks by Standard Webhooks: HMAC-SHA256 of id, time and body with a shared
//! secret.
//!
//! During a rotation both secrets sign, so that the receiver may change over at any time.

use crate::hex::hex;
use crate::ids::MessageId;
use crate::number::recipient::Recipient;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt;
use std::ops::RangeInclusive;

const PREFIX: &str = "whsec_";
/// Allowed size of a secret in bytes.
const BYTES: RangeInclusive<usize> = 24..=64;
/// Size of a generated secret in bytes.
pub const RANDOM_BYTES: usize = 32;
/// Maximum number of valid secrets of an account. Each makes the header longer.
pub const MAX_SECRETS: usize = 4;

/// A key that signs callbacks.
#[derive(Clone, Eq, PartialEq)]
pub struct Secret(Vec<u8>);

/// The secret is never shown.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// Creates a secret from random bytes.
    pub fn make(random: &[u8; RANDOM_BYTES]) -> Self {
        Self(random.to_vec())
    }

    /// Parses `whsec_` and the base64 of 24 to 64 bytes.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = BASE64_STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        BYTES.contains(&bytes.len()).then_some(Self(bytes))
    }

    /// Returns the text form of the secret, for storage and for the receiver.
    pub fn text(&self) -> String {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(&self.0))
    }

    /// Returns an id from which the secret cannot be computed.
    pub fn id(&self) -> String {
        format!("sec_{}", hex(&Sha256::digest(self.text())[..8]))
    }

    /// Returns one signature with its version.
    fn sign(&self, id: &str, at_s: i64, body: &str) -> String {
        // An HMAC accepts keys of any length, so this never fails.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else {
            return String::new();
        };
        mac.update(format!("{id}.{at_s}.{body}").as_bytes());
        format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// A secret and the end of its validity.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Signing {
    /// The secret.
    pub secret: Secret,
    /// The end of its validity, Unix milliseconds, or `None` if it was not replaced.
    pub ends_at_ms: Option<i64>,
}

impl Signing {
    /// Returns `true` if the secret is valid at that time.
    pub fn is_valid(&self, now_ms: i64) -> bool {
        self.ends_at_ms.is_none_or(|ends_at_ms| now_ms < ends_at_ms)
    }
}

/// The headers of a signed callback.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Signed {
    /// `webhook-id`, the same for all attempts.
    pub id: String,
    /// `webhook-timestamp`, the time of this attempt in Unix seconds.
    pub at_s: i64,
    /// `webhook-signature`, one for each secret, separated by spaces.
    pub signature: String,
}

/// Signs a callback with each valid secret. Returns `None` if there is none.
pub fn sign(
    secrets: &[Signing],
    message: MessageId,
    recipient: Recipient,
    body: &str,
    now_ms: i64,
) -> Option<Signed> {
    let (id, at_s) = (id(message, recipient), now_ms.div_euclid(1000));
    let valid = secrets.iter().filter(|signing| signing.is_valid(now_ms));
    let signatures: Vec<String> = valid
        .map(|signing| signing.secret.sign(&id, at_s, body))
        .collect();
    (!signatures.is_empty()).then(|| Signed {
        id,
        at_s,
        signature: signatures.join(" "),
    })
}

/// Returns the id of the callback of a recipient. It hides the number, since headers are logged
/// more often than bodies.
fn id(message: MessageId, recipient: Recipient) -> String {
    let named = format!("{message} {recipient}");
    format!("msg_{}", hex(&Sha256::digest(named)[..16]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_000_000_000;
    const RECIPIENT: Recipient = Recipient::from_digits(2_348_031_234_567);

    fn secret(byte: u8) -> Secret {
        Secret::make(&[byte; RANDOM_BYTES])
    }

    fn signing(byte: u8, ends_at_ms: Option<i64>) -> Signing {
        Signing {
            secret: secret(byte),
            ends_at_ms,
        }
    }

    fn signed(secrets: &[Signing], body: &str, now_ms: i64) -> Option<Signed> {
        sign(
            secrets,
            MessageId::new(NOW, [7; 10]),
            RECIPIENT,
            body,
            now_ms,
        )
    }

    #[test]
    fn the_signature_is_that_of_the_standard() {
        let secret = Secret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signature = secret.sign(id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_has_the_standard_form_and_24_to_64_bytes() {
        let made = secret(9);
        assert_eq!(Secret::read(&made.text()), Some(made));
        let of = |bytes: usize| format!("whsec_{}", BASE64_STANDARD.encode(vec![1; bytes]));
        for (bytes, is_one) in [(23, false), (24, true), (64, true), (65, false)] {
            assert_eq!(Secret::read(&of(bytes)).is_some(), is_one, "{bytes}");
        }
        for junk in ["", "whsec_", "whsec_???", &of(32)[6..], &of(32)[1..]] {
            assert_eq!(Secret::read(junk), None, "{junk}");
        }
    }

    #[test]
    fn a_secret_is_only_shown_by_its_id() {
        insta::assert_snapshot!(secret(9).id(), @"sec_f214e55925e21b4c");
        assert_ne!(secret(9).id(), secret(8).id());
        assert_eq!(
            format!("{:?}", signing(9, None)),
            "Signing { secret: Secret(…), ends_at_ms: None }"
        );
    }

    #[test]
    fn every_secret_signs_until_it_ends() {
        let (old, new) = (signing(1, Some(NOW)), signing(2, None));
        let alone = |signing: &Signing, now_ms| signed(std::slice::from_ref(signing), "{}", now_ms);
        let both = [old.clone(), new.clone()];
        let [one, other] = [&old, &new].map(|signing| alone(signing, NOW - 1).unwrap().signature);
        let during = signed(&both, "{}", NOW - 1).unwrap();
        assert_eq!(during.signature, format!("{one} {other}"));
        assert_eq!(signed(&both, "{}", NOW), alone(&new, NOW));
        assert_eq!(alone(&old, NOW), None);
        assert_eq!(signed(&[], "{}", NOW), None);
    }

    #[test]
    fn the_id_stays_at_every_attempt_and_hides_the_number() {
        let secrets = [signing(1, None)];
        let first = signed(&secrets, "{}", NOW).unwrap();
        let second = signed(&secrets, "{}", NOW + 5_999).unwrap();
        assert_eq!(first.id, second.id);
        assert_eq!((first.at_s, second.at_s), (NOW / 1000, NOW / 1000 + 5));
        assert_ne!(first.signature, second.signature);
        insta::assert_snapshot!(first.id, @"msg_c38990c9a93d016b98ca9ca58503f53a");
        let message = MessageId::new(NOW, [7; 10]);
        let other = Recipient::from_digits(2_348_031_234_568);
        let other = sign(&secrets, message, other, "{}", NOW).unwrap();
        assert_ne!(other.id, first.id);
    }
}
