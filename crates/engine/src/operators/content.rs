//! What an operator does about phrases that no text may hold.

use super::actor::Operator;
use super::error::{AdminError, Result, checked};
use domain::phrase;
use store::{ContentRule, Store};

/// Rules that may be kept: each send is compared with all of them.
const MAX_RULES: usize = 1_000;

/// Adds a phrase, and gives it as it is compared; a running server refuses it within a second.
pub async fn add_content_rule(store: &Store, operator: &Operator, text: &str) -> Result<String> {
    let phrase = checked_phrase(text)?;
    if store.content_rules().await?.len() >= MAX_RULES {
        return Err(AdminError::ManyRules(MAX_RULES));
    }
    let added = store.add_content_rule(phrase.clone(), operator.now());
    if added.await? {
        Ok(phrase)
    } else {
        Err(AdminError::RuleExists(phrase))
    }
}

/// Removes a phrase that was added, and gives it as it was compared.
pub async fn remove_content_rule(store: &Store, operator: &Operator, text: &str) -> Result<String> {
    let phrase = checked_phrase(text)?;
    let removed = store.remove_content_rule(phrase.clone(), operator.now());
    if removed.await? {
        Ok(phrase)
    } else {
        Err(AdminError::NoRule(phrase))
    }
}

/// All phrases that were added.
pub async fn list_content_rules(store: &Store) -> Result<Vec<ContentRule>> {
    Ok(store.content_rules().await?)
}

fn checked_phrase(text: &str) -> Result<String> {
    let text = checked("the phrase", text)?;
    phrase(&text).ok_or(AdminError::NoWord)
}
