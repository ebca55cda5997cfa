//! The search for accounts by a part of their name, e-mail address or id.

use crate::account::Account;
use crate::ids::AccountId;

/// A text that accounts are searched for, in any case of its letters.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AccountSearch {
    /// The text in lower case.
    text: String,
}

impl AccountSearch {
    /// Returns the search for a text, or `None` for a blank one.
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim().to_lowercase();
        (!text.is_empty()).then_some(Self { text })
    }

    /// Returns the text in lower case.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the id that the text is, if it is one.
    pub fn id(&self) -> Option<AccountId> {
        self.text.parse().ok()
    }

    /// Returns `true` if the name, the e-mail address or the id of an account has the text.
    pub fn fits(&self, account: &Account) -> bool {
        let id = account.id.to_string();
        let parts = [account.name.as_str(), account.email.as_str(), id.as_str()];
        let mut parts = parts.into_iter();
        parts.any(|part| part.to_lowercase().contains(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccountStatus, Verification};

    #[test]
    fn an_account_fits_a_part_of_its_name_address_or_id() {
        let account = Account {
            id: AccountId(1_882_399_170_363_392),
            email: "Ada@KanoFresh.example".to_owned(),
            name: "Ọlá & Sons".to_owned(),
            status: AccountStatus::Active,
            verification: Verification::Verified,
            created_at_ms: 0,
        };
        for (text, fits) in [
            ("ọLÁ", true),
            (" sons ", true),
            ("kanofresh", true),
            ("@kano", true),
            ("1882399170363392", true),
            ("9170", true),
            ("%", false),
            ("_", false),
            ("9171", false),
            ("Ola", false),
        ] {
            let search = AccountSearch::new(text).expect("a text");
            assert_eq!(search.fits(&account), fits, "{text}");
        }
        assert_eq!(AccountSearch::new(" \t"), None);
    }

    #[test]
    fn a_whole_number_is_an_id() {
        let id = |text| AccountSearch::new(text).and_then(|search| search.id());
        assert_eq!(id(" 77 "), Some(AccountId(77)));
        assert_eq!([id("77a"), id("kano"), id("7 7")], [None; 3]);
    }
}
