//! The commands about phrases that no text may hold.

use super::actor::Actor;
use super::error::{OperationError, Result, checked};
use domain::phrase;
use store::{ContentRule, Store};

/// Phrases that no text may hold: add, remove, list.
pub struct Content {
    pub(super) store: Store,
    pub(super) actor: Actor,
}

impl Content {
    /// Adds a phrase, and gives it as it is compared; a running server refuses it within a second.
    pub async fn add(self, text: &str) -> Result<String> {
        let phrase = checked_phrase(text)?;
        if self.store.content_rules().await?.len() >= MAX_RULES {
            return Err(OperationError::ManyRules(MAX_RULES));
        }
        let added = self
            .store
            .add_content_rule(phrase.clone(), self.actor.now());
        if added.await? {
            Ok(phrase)
        } else {
            Err(OperationError::RuleExists(phrase))
        }
    }

    /// Removes a phrase that was added, and gives it as it was compared.
    pub async fn remove(self, text: &str) -> Result<String> {
        let phrase = checked_phrase(text)?;
        let removed = self
            .store
            .remove_content_rule(phrase.clone(), self.actor.now());
        if removed.await? {
            Ok(phrase)
        } else {
            Err(OperationError::NoRule(phrase))
        }
    }

    /// All phrases that were added.
    pub async fn list(self) -> Result<Vec<ContentRule>> {
        Ok(self.store.content_rules().await?)
    }
}

/// Rules that may be kept: each send is compared with all of them.
const MAX_RULES: usize = 1_000;

fn checked_phrase(text: &str) -> Result<String> {
    let text = checked("the phrase", text)?;
    phrase(&text).ok_or(OperationError::NoWord)
}
