//! The form of sender IDs in sends and registrations.

/// Maximum length of a sender ID in characters (docs/spec/interface.md, section 6.1). GSM 03.40
/// allows no more.
pub const MAX_SENDER_CHARACTERS: usize = 11;
/// Minimum length at registration.
const MIN_SENDER_CHARACTERS: usize = 3;

/// The reason why a sender ID cannot be registered.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SenderFault {
    /// The length is wrong.
    #[error("a sender ID has 3 to 11 characters: shorten or lengthen it")]
    Length,
    /// The sender ID contains another character than letters, digits, spaces and hyphens.
    #[error("a sender ID has only letters A to Z, digits, spaces and hyphens: leave out {0:?}")]
    Character(char),
    /// The sender ID begins or ends with a space, which is invisible.
    #[error("a sender ID does not begin or end with a space: leave it out")]
    OuterSpace,
    /// The sender ID has no letter and looks like a phone number.
    #[error("a sender ID has at least one letter: add one")]
    NoLetter,
}

/// Returns `true` if a sender ID in a send has a valid form: at most 11 characters of printable
/// ASCII, and not blank. It may still not belong to the account.
pub fn is_well_formed(sender: &str) -> bool {
    sender.len() <= MAX_SENDER_CHARACTERS
        && sender.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && !sender.trim().is_empty()
}

/// Checks a sender ID for registration.
pub fn check_registration(sender: &str) -> Result<(), SenderFault> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == ' ' || c == '-';
    if let Some(character) = sender.chars().find(|&c| !is_allowed(c)) {
        return Err(SenderFault::Character(character));
    }
    if !(MIN_SENDER_CHARACTERS..=MAX_SENDER_CHARACTERS).contains(&sender.len()) {
        return Err(SenderFault::Length);
    }
    if sender.starts_with(' ') || sender.ends_with(' ') {
        return Err(SenderFault::OuterSpace);
    }
    if !sender.contains(|c: char| c.is_ascii_alphabetic()) {
        return Err(SenderFault::NoLetter);
    }
    Ok(())
}

/// Returns `true` if two spellings are the same sender ID. Case and outer spaces do not matter.
pub fn same(one: &str, other: &str) -> bool {
    one.trim().eq_ignore_ascii_case(other.trim())
}

/// Returns the form for comparison and lookup.
pub fn key(sender: &str) -> String {
    sender.trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_on_a_send_is_printable_and_at_most_11_characters() {
        for sender in ["OGENE", "My Shop-1", "12345678901", "A", "A&B"] {
            assert!(is_well_formed(sender), "{sender}");
        }
        for sender in [
            "",
            "   ",
            "123456789012",
            "OGENE\n",
            "OG\u{0}",
            "Ọgene",
            "OGENE😀",
        ] {
            assert!(!is_well_formed(sender), "{sender}");
        }
    }

    #[test]
    fn a_registered_sender_has_3_to_11_characters_and_a_letter() {
        let table = [
            ("OGENE", Ok(())),
            ("abc", Ok(())),
            ("My Shop-1", Ok(())),
            ("ABCDEFGHIJK", Ok(())),
            ("AB", Err(SenderFault::Length)),
            ("", Err(SenderFault::Length)),
            ("ABCDEFGHIJKL", Err(SenderFault::Length)),
            ("A&B Ltd", Err(SenderFault::Character('&'))),
            ("Ọgene", Err(SenderFault::Character('Ọ'))),
            (" OGENE", Err(SenderFault::OuterSpace)),
            ("OGENE ", Err(SenderFault::OuterSpace)),
            ("2442", Err(SenderFault::NoLetter)),
            ("0803-123", Err(SenderFault::NoLetter)),
        ];
        for (sender, expected) in table {
            assert_eq!(check_registration(sender), expected, "{sender:?}");
        }
    }

    #[test]
    fn a_fault_has_advice() {
        let fault = check_registration("A&B Ltd").unwrap_err();
        assert_eq!(
            fault.to_string(),
            "a sender ID has only letters A to Z, digits, spaces and hyphens: leave out '&'"
        );
    }

    #[test]
    fn senders_are_compared_without_case() {
        assert!(same("OGENE", " ogene"));
        assert!(!same("OGENE", "OGENE1"));
        assert_eq!(key(" My Shop "), "my shop");
    }
}
