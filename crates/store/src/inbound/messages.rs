//! Inbound messages.

use super::commands::{self, SubscriberCommand};
use super::pages::remove_pages;
use super::row::InboundRow;
use crate::lists::ListRow;
use crate::outbox::{self, Callback};
use crate::rows::{id_bytes, message_id};
use database::{Change, Db, Result, Tx, query};
use domain::inbound::InboundMessage;
use domain::search::InboundFilter;
use domain::{AccountId, MessageId};

/// Messages that one step of the retention changes at most.
const MAX_REMOVED: i64 = 500;
/// Time by which the clock of a node that joins a message may be behind the one that received it.
const CLOCK_MARGIN_MS: i64 = 60_000;

impl ListRow for InboundMessage {
    /// The id in its text form.
    type Key = String;

    fn key(&self) -> String {
        self.id.to_string()
    }
}

/// The messages that a list found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundInbound {
    /// The messages.
    pub messages: Vec<InboundMessage>,
    /// The message behind which the search goes on, if it ended at its maximum.
    pub ends_at: Option<MessageId>,
}

impl FoundInbound {
    /// Returns the messages up to the end of the search. Messages that were added between the two
    /// reads move the end up. The next search finds the messages behind it.
    fn new(mut messages: Vec<InboundMessage>, ends_at: Option<MessageId>) -> Self {
        if let Some(ends_at) = ends_at {
            messages.retain(|message| message.id >= ends_at);
        }
        Self { messages, ends_at }
    }
}

/// The outcome of keeping a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kept {
    /// The message is kept.
    Message,
    /// The message is kept, and an answer to it waits to be sent.
    WithAnswer,
    /// Another node kept it before.
    Before,
}

struct KeepMessage {
    message: InboundMessage,
    pages: Vec<i64>,
    callback: Option<Callback>,
    command: Option<SubscriberCommand>,
}

impl Change for KeepMessage {
    type Output = Kept;

    async fn apply(&self, tx: &mut Tx) -> Result<Kept> {
        if !remove_pages(tx, &self.pages).await? {
            return Ok(Kept::Before);
        }
        let message = &self.message;
        let insert = query(
            "insert into inbound_messages (inbound_id, account_id, route_id, carrier, number,
                 sender, keyword, complete, in_reply_to, received_at_ms, body)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        );
        let in_reply_to = message.in_reply_to.as_ref().map(|id| id_bytes(id).to_vec());
        let insert = insert
            .bind(id_bytes(&message.id))
            .bind(message.account.map_or(0, |account| account.0))
            .bind(&message.route)
            .bind(&message.carrier)
            .bind(&message.number)
            .bind(&message.sender)
            .bind(&message.keyword)
            .bind(message.complete)
            .bind(in_reply_to)
            .bind(message.received_at_ms)
            .bind(&message.body);
        tx.execute(insert).await?;
        outbox::insert(tx, self.callback.as_slice(), None).await?;
        let has_answer = match &self.command {
            Some(command) => commands::apply(tx, message, command).await?,
            None => false,
        };
        Ok(if has_answer {
            Kept::WithAnswer
        } else {
            Kept::Message
        })
    }

    async fn is_committed(&self, tx: &mut Tx, _kept: &Kept) -> Result<bool> {
        let find = query("select received_at_ms from inbound_messages where inbound_id = $1");
        let found: Option<i64> = tx
            .fetch_optional(find.bind(id_bytes(&self.message.id)))
            .await?;
        Ok(found.is_some())
    }
}

struct RemoveOld {
    bodies_only: bool,
    before: MessageId,
}

impl Change for RemoveOld {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let (find, remove) = if self.bodies_only {
            (
                "select inbound_id from inbound_messages
                 where inbound_id < $1 and body is not null order by inbound_id limit $2",
                "update inbound_messages set body = null where inbound_id = $1",
            )
        } else {
            (
                "select inbound_id from inbound_messages
                 where inbound_id < $1 order by inbound_id limit $2",
                "delete from inbound_messages where inbound_id = $1",
            )
        };
        let find = query(find).bind(id_bytes(&self.before)).bind(MAX_REMOVED);
        let old: Vec<Vec<u8>> = tx.fetch_all(find).await?;
        for id in &old {
            tx.execute(query(remove).bind(&id[..])).await?;
        }
        Ok(i64::try_from(old.len()) == Ok(MAX_REMOVED))
    }
}

/// The inbound messages of all accounts.
#[derive(Clone, Copy)]
pub struct InboundMessages<'s> {
    pub(crate) db: &'s Db,
}

impl InboundMessages<'_> {
    /// Keeps a message with its callback and the effect of its command, and removes its pages.
    pub async fn keep(
        self,
        message: InboundMessage,
        pages: Vec<i64>,
        (callback, command): (Option<Callback>, Option<SubscriberCommand>),
    ) -> Result<Kept> {
        let keep = KeepMessage {
            message,
            pages,
            callback,
            command,
        };
        self.db.change(keep).await
    }

    /// Returns some messages of an account behind one, newest first. Without an account it returns
    /// those of all accounts and of the operator. A filter examines a maximum of messages.
    pub async fn list(
        self,
        account: Option<AccountId>,
        filter: &InboundFilter,
        behind: Option<MessageId>,
        (limit, max_examined): (u32, u32),
    ) -> Result<FoundInbound> {
        let sql = if account.is_some() {
            "select * from (
                 select * from inbound_messages where account_id = $1
                     and inbound_id < $2 and inbound_id >= $9
                 order by inbound_id desc limit $10
             ) v where ($3 is null or number = $3) and ($4 is null or keyword = $4)
                 and ($5 is null or sender = $5) and received_at_ms >= $6 and received_at_ms < $7
             order by inbound_id desc limit $8"
        } else {
            "select * from (
                 select * from inbound_messages where $1 = -1
                     and inbound_id < $2 and inbound_id >= $9
                 order by inbound_id desc limit $10
             ) v where ($3 is null or number = $3) and ($4 is null or keyword = $4)
                 and ($5 is null or sender = $5) and received_at_ms >= $6 and received_at_ms < $7
             order by inbound_id desc limit $8"
        };
        let behind = behind.unwrap_or(MessageId::HIGHEST);
        // A message is joined after it arrived, so older ids need not be read.
        let since_ms = filter.since_ms.unwrap_or(0);
        let oldest = MessageId::lowest_at(since_ms.saturating_sub(CLOCK_MARGIN_MS));
        let list = query(sql)
            .bind(account.map_or(-1, |account| account.0))
            .bind(id_bytes(&behind))
            .bind(&filter.number)
            .bind(&filter.keyword)
            .bind(&filter.sender)
            .bind(filter.since_ms.unwrap_or(i64::MIN))
            .bind(filter.until_ms.unwrap_or(i64::MAX))
            .bind(i64::from(limit))
            .bind(id_bytes(&oldest))
            .bind(i64::from(max_examined));
        let rows: Vec<InboundRow> = self.db.fetch_all(list).await?;
        let ends_at = if rows.len() < limit as usize {
            self.last_examined(account, (behind, oldest), max_examined)
                .await?
        } else {
            None
        };
        let messages: Result<Vec<_>> = rows.into_iter().map(InboundRow::message).collect();
        Ok(FoundInbound::new(messages?, ends_at))
    }

    /// Returns the last of so many messages, or `None` if there are fewer.
    async fn last_examined(
        self,
        account: Option<AccountId>,
        (behind, oldest): (MessageId, MessageId),
        count: u32,
    ) -> Result<Option<MessageId>> {
        let sql = if account.is_some() {
            "select inbound_id from inbound_messages where account_id = $1
                 and inbound_id < $2 and inbound_id >= $3
             order by inbound_id desc limit 1 offset $4"
        } else {
            "select inbound_id from inbound_messages where $1 = -1
                 and inbound_id < $2 and inbound_id >= $3
             order by inbound_id desc limit 1 offset $4"
        };
        let find = query(sql)
            .bind(account.map_or(-1, |account| account.0))
            .bind(id_bytes(&behind))
            .bind(id_bytes(&oldest))
            .bind(i64::from(count.saturating_sub(1)));
        let found: Option<Vec<u8>> = self.db.fetch_optional(find).await?;
        found.as_deref().map(message_id).transpose()
    }

    /// Removes some messages that were kept before a time, or their texts alone. Returns `true` if
    /// more may be left.
    pub async fn remove_old(self, before_ms: i64, bodies_only: bool) -> Result<bool> {
        let before = MessageId::lowest_at(before_ms);
        let remove = RemoveOld {
            bodies_only,
            before,
        };
        self.db.change(remove).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_behind_the_end_of_a_search_is_left_out() {
        let message = |at_ms| InboundMessage {
            id: MessageId::lowest_at(at_ms),
            account: None,
            route: None,
            carrier: "mtn".to_owned(),
            number: "32811".to_owned(),
            sender: "2348031234567".to_owned(),
            keyword: String::new(),
            complete: true,
            in_reply_to: None,
            received_at_ms: at_ms,
            body: None,
        };
        let all = vec![message(3), message(2), message(1)];
        let found = FoundInbound::new(all.clone(), Some(all[1].id));
        assert_eq!(found.messages, all[..2]);
        assert_eq!(FoundInbound::new(all.clone(), None).messages, all);
    }
}
