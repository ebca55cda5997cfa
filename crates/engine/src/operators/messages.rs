//! The changes of messages by operators.

use super::actor::Actor;
use super::error::Result;
use super::queries::{Queries, QueryScope};
use crate::changes::{Cancelled, Effect, MessageChange, MessageRequest};
use crate::queries::messages::Message;
use domain::Rulebook;
use store::{MessageKey, Store};

/// Messages: cancel, pause, resume, reschedule. The rules have the quiet hours of gateways.
pub struct Messages {
    pub(super) store: Store,
    pub(super) actor: Actor,
    pub(super) rules: Rulebook,
}

impl Messages {
    /// Cancels a message of any account: the recipients that no carrier has end and are refunded.
    pub async fn cancel(self, id: &str) -> Result<Cancelled> {
        let (of, message) = self.queries().find(id).await?;
        Ok(self.change(of, &message).cancel().await?)
    }

    /// Pauses, resumes or reschedules a message of any account. Returns the message after it.
    pub async fn make(self, id: &str, request: MessageRequest) -> Result<Message> {
        let queries = self.queries();
        let (of, message) = queries.find(id).await?;
        self.change(of, &message).make(request).await?;
        let (_, after) = queries.find(id).await?;
        Ok(after)
    }

    fn queries(&self) -> Queries {
        Queries {
            store: self.store.clone(),
            clock: self.actor.clock().clone(),
            rules: self.rules.clone(),
        }
    }

    fn change(&self, of: QueryScope, message: &Message) -> MessageChange<'_> {
        MessageChange {
            store: &self.store,
            rules: &self.rules,
            clock: self.actor.clock(),
            key: MessageKey {
                account: message.account,
                environment: of.environment,
                message: message.id,
            },
            by: Some(self.actor.now()),
            apply: &no_effect,
        }
    }
}

/// A running server finds the changes in the database.
fn no_effect(_effect: Effect) {}
