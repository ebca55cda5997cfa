//! Routes: the accounts to which the messages to a number belong.

use crate::account::{SenderId, SenderStatus};
use crate::ids::AccountId;
use crate::number::parse_international;

/// Maximum length of a keyword in characters.
pub const MAX_KEYWORD_CHARACTERS: usize = 40;
/// The length of a number in digits: a short code or an international number.
const NUMBER_DIGITS: std::ops::RangeInclusive<usize> = 3..=15;
/// Maximum length of an address that is no number.
const MAX_ADDRESS_CHARACTERS: usize = 21;

/// A route of a number, or of one keyword of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InboundRoute {
    /// The id.
    pub id: String,
    /// The number in digits.
    pub number: String,
    /// The keyword in lower case, or nothing for all other texts.
    pub keyword: String,
    /// The account.
    pub account: AccountId,
    /// The URL that gets the messages.
    pub url: Option<String>,
    /// The SMPP user that gets the messages.
    pub smpp_user: Option<String>,
    /// `true` if an operator gave the route to the account.
    pub is_given: bool,
    /// The time of creation, Unix milliseconds.
    pub created_at_ms: i64,
}

impl InboundRoute {
    /// Returns the number as a sender ID of the account.
    pub fn as_sender(self) -> SenderId {
        SenderId {
            name: self.number,
            status: SenderStatus::Approved,
            purpose: "Number of inbound messages".to_owned(),
            international: false,
            approved_at_ms: Some(self.created_at_ms),
            rejection_reason: None,
        }
    }
}

/// The text is no number.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a number has 3 to 15 digits: a short code such as 32811, or an international number")]
pub struct NumberFault;

/// The text is no keyword.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "a keyword is one or more words with letters or digits, of at most {MAX_KEYWORD_CHARACTERS} characters"
)]
pub struct KeywordFault;

/// Returns the number of a route in its stored form.
pub fn number(text: &str) -> Result<String, NumberFault> {
    let found = address(text);
    let is_number = found.bytes().all(|octet| octet.is_ascii_digit());
    if is_number && NUMBER_DIGITS.contains(&found.len()) {
        Ok(found)
    } else {
        Err(NumberFault)
    }
}

/// Returns an address in the form in which addresses are stored and compared: an international
/// number, or the address as it is written, such as a short code.
pub fn address(text: &str) -> String {
    if let Some(recipient) = parse_international(text) {
        return recipient.to_string();
    }
    let text = text.trim().trim_start_matches('+');
    let kept = text.chars().filter(|letter| !letter.is_control());
    kept.take(MAX_ADDRESS_CHARACTERS).collect()
}

/// Returns a keyword in its stored form: lower case, one space between words.
pub fn keyword(text: &str) -> Result<String, KeywordFault> {
    let found = words(text).collect::<Vec<_>>().join(" ");
    if found.is_empty() || text.chars().count() > MAX_KEYWORD_CHARACTERS {
        return Err(KeywordFault);
    }
    Ok(found)
}

/// Returns the route of a text: the one with the longest keyword that the text begins with. All
/// routes are those of its number.
pub fn matching<'r>(routes: &'r [InboundRoute], body: &str) -> Option<&'r InboundRoute> {
    let fits = |route: &&InboundRoute| {
        let mut text = words(body);
        words(&route.keyword).all(|word| text.next() == Some(word))
    };
    let fitting = routes.iter().filter(fits);
    fitting.max_by_key(|route| (words(&route.keyword).count(), route.keyword.len()))
}

/// Returns the words of a text in lower case, without punctuation around them.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split_whitespace();
    words
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(id: &str, keyword: &str) -> InboundRoute {
        InboundRoute {
            id: id.to_owned(),
            number: "32811".to_owned(),
            keyword: keyword.to_owned(),
            account: AccountId(7),
            url: None,
            smpp_user: None,
            is_given: true,
            created_at_ms: 0,
        }
    }

    #[test]
    fn the_longest_keyword_that_fits_wins() {
        let routes = [
            route("promo", "promo"),
            route("all", ""),
            route("promo win", "promo win"),
        ];
        for (body, expected) in [
            ("PROMO", "promo"),
            ("promo 12", "promo"),
            ("  *Promo!* win?", "promo win"),
            ("Promo\nWIN now", "promo win"),
            ("promowin", "all"),
            ("win promo", "all"),
            ("", "all"),
            ("?!", "all"),
        ] {
            let found = matching(&routes, body).map(|route| &*route.id);
            assert_eq!(found, Some(expected), "{body:?}");
        }
        assert_eq!(matching(&routes[..1], "hello"), None);
    }

    #[test]
    fn a_keyword_is_compared_without_case_and_punctuation() {
        assert_eq!(keyword(" Promo!  WIN "), Ok("promo win".to_owned()));
        assert_eq!(keyword("ÌRÒYÌN"), Ok("ìròyìn".to_owned()));
        for text in ["", " ", "!?", &"a".repeat(MAX_KEYWORD_CHARACTERS + 1)] {
            assert_eq!(keyword(text), Err(KeywordFault), "{text:?}");
        }
    }

    #[test]
    fn a_number_is_a_short_code_or_an_international_number() {
        for (text, expected) in [
            ("32811", Some("32811")),
            ("+2348031234567", Some("2348031234567")),
            ("08031234567", Some("2348031234567")),
            ("447700900123", Some("447700900123")),
            ("12", None),
            ("1234567890123456", None),
            ("Ogene", None),
            ("", None),
        ] {
            assert_eq!(number(text).ok().as_deref(), expected, "{text}");
        }
        assert_eq!(address("0803 123 4567"), "2348031234567");
        assert_eq!(address(" MTN\n"), "MTN");
    }
}
