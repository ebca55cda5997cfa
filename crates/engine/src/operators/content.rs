//! The operations on prohibited phrases.

use super::actor::Actor;
use super::error::{OperationError, Result, checked};
use super::page::{Page, PageRequest};
use domain::search::List;
use domain::{Prohibited, Text, phrase};
use store::{ListRow, Store};

/// Prohibited phrases: add, remove, list.
pub struct Content {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Content {
    /// Adds a phrase. Returns its normalised form. A running server applies it within a second.
    pub async fn add(self, text: &str) -> Result<String> {
        let phrase = checked_phrase(text)?;
        if self.store.content_rules().all().await?.len() >= MAX_RULES {
            return Err(OperationError::ManyRules(MAX_RULES));
        }
        let added = self
            .store
            .content_rules()
            .add(phrase.clone(), self.actor.now());
        if added.await? {
            Ok(phrase)
        } else {
            Err(OperationError::RuleExists(phrase))
        }
    }

    /// Removes a phrase that an operator added. Returns its normalised form.
    pub async fn remove(self, text: &str) -> Result<String> {
        let phrase = checked_phrase(text)?;
        let removed = self
            .store
            .content_rules()
            .remove(phrase.clone(), self.actor.now());
        if removed.await? {
            Ok(phrase)
        } else {
            Err(OperationError::NoRule(phrase))
        }
    }

    /// Returns a page of all phrases: first those of the configuration, then the added ones.
    pub async fn list(
        self,
        configured: &Prohibited,
        request: &PageRequest,
    ) -> Result<Page<Phrase>> {
        let behind: Option<(bool, String)> = request.behind(List::Phrases, "")?;
        let mut phrases = self.all(configured).await?;
        // All phrases are in memory anyway, as each send is compared with all of them.
        phrases.retain(|phrase| behind.as_ref().is_none_or(|behind| phrase.key() > *behind));
        Ok(request.page(List::Phrases, "", phrases))
    }

    /// Returns all phrases in the order of the list.
    pub async fn all(self, configured: &Prohibited) -> Result<Vec<Phrase>> {
        let of_file = configured.phrases().map(|phrase| Phrase {
            phrase: phrase.to_owned(),
            added_at_ms: None,
        });
        let added = self.store.content_rules().all().await?;
        let added = added.into_iter().map(|rule| Phrase {
            phrase: rule.phrase,
            added_at_ms: Some(rule.added_at_ms),
        });
        let mut phrases: Vec<Phrase> = of_file.chain(added).collect();
        phrases.sort_by_key(Phrase::key);
        Ok(phrases)
    }
}

/// A prohibited phrase.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Phrase {
    /// Lower-case words separated by single spaces.
    pub phrase: String,
    /// The time when it was added, Unix milliseconds. A phrase of the configuration has none.
    pub added_at_ms: Option<i64>,
}

impl ListRow for Phrase {
    /// A flag of an added phrase, and the phrase.
    type Key = (bool, String);

    fn key(&self) -> Self::Key {
        (self.added_at_ms.is_some(), self.phrase.clone())
    }
}

/// Returns the first phrase that a text contains.
pub fn prohibiting<'p>(phrases: &'p [Phrase], text: &Text) -> Option<&'p Phrase> {
    let is_in = |phrase: &&Phrase| {
        let rule = Prohibited::new(std::slice::from_ref(&phrase.phrase));
        rule.find(text.as_str()).is_some()
    };
    phrases.iter().find(is_in)
}

/// Maximum number of added phrases, since each send is compared with all of them.
const MAX_RULES: usize = 1_000;

fn checked_phrase(text: &str) -> Result<String> {
    let text = checked("the phrase", text)?;
    phrase(&text).ok_or(OperationError::NoWord)
}
