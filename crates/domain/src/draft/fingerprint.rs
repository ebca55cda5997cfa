//! The fingerprint of a send, which is equal for duplicates. It depends on stored values alone, so that a
//! cancelled message can open its duplicate window again.

use crate::account::Environment;
use crate::ids::AccountId;
use crate::number::recipient::Recipient;
use sha2::{Digest, Sha256};

/// A fingerprint of account, environment, text and recipients.
pub type Fingerprint = [u8; 16];

/// Returns the fingerprint of a text to some recipients. Their order does not matter.
pub fn of_text(
    account: AccountId,
    environment: Environment,
    text: &str,
    recipients: &[Recipient],
) -> Fingerprint {
    let mut sorted = recipients.to_vec();
    sorted.sort_unstable();
    let mut hash = Sha256::new();
    hash.update(account.0.to_be_bytes());
    hash.update(environment.as_str());
    hash.update(text.len().to_be_bytes());
    hash.update(text);
    for recipient in sorted {
        hash.update(recipient.digits().to_be_bytes());
    }
    cut(hash)
}

/// Returns the fingerprint of recipients with a text each. Their order does not matter.
pub fn of_texts<'t>(
    account: AccountId,
    environment: Environment,
    texts: impl Iterator<Item = (Recipient, &'t str)>,
) -> Fingerprint {
    let mut sorted: Vec<_> = texts.collect();
    sorted.sort_unstable_by_key(|(recipient, _)| *recipient);
    let mut hash = Sha256::new();
    hash.update("personalised");
    hash.update(account.0.to_be_bytes());
    hash.update(environment.as_str());
    for (recipient, text) in sorted {
        hash.update(recipient.digits().to_be_bytes());
        hash.update(text.len().to_be_bytes());
        hash.update(text);
    }
    cut(hash)
}

/// Cuts a hash to the size of a fingerprint.
fn cut(hash: Sha256) -> Fingerprint {
    let mut fingerprint = Fingerprint::default();
    fingerprint.copy_from_slice(&hash.finalize()[..16]);
    fingerprint
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_has_no_order_of_recipients() {
        let [one, two] = [2_348_031_234_567, 2_348_031_234_568].map(Recipient::from_digits);
        let (account, live) = (AccountId(1), Environment::Live);
        let text = |recipients: &[Recipient]| of_text(account, live, "Hello", recipients);
        assert_eq!(text(&[one, two]), text(&[two, one]));
        assert_ne!(text(&[one]), text(&[two]));
        let texts = |all: [(Recipient, &str); 2]| of_texts(account, live, all.into_iter());
        assert_eq!(
            texts([(one, "a"), (two, "b")]),
            texts([(two, "b"), (one, "a")])
        );
        assert_ne!(
            texts([(one, "a"), (two, "b")]),
            texts([(one, "b"), (two, "a")])
        );
    }
}
