//! The rows of inbound messages.

use crate::rows::{id_bytes, message_id};
use database::{Result, Tx, query};
use domain::inbound::InboundMessage;
use domain::{AccountId, MessageId};

pub(super) struct InboundRow {
    inbound_id: Vec<u8>,
    account_id: i64,
    route_id: Option<String>,
    carrier: String,
    number: String,
    sender: String,
    keyword: String,
    complete: bool,
    in_reply_to: Option<Vec<u8>>,
    received_at_ms: i64,
    body: Option<String>,
}

database::from_row!(InboundRow {
    inbound_id,
    account_id,
    route_id,
    carrier,
    number,
    sender,
    keyword,
    complete,
    in_reply_to,
    received_at_ms,
    body
});

impl InboundRow {
    pub(super) fn message(self) -> Result<InboundMessage> {
        let in_reply_to = self.in_reply_to.as_deref();
        Ok(InboundMessage {
            id: message_id(&self.inbound_id)?,
            account: Some(AccountId(self.account_id)).filter(|account| account.0 != 0),
            route: self.route_id,
            carrier: self.carrier,
            number: self.number,
            sender: self.sender,
            keyword: self.keyword,
            complete: self.complete,
            in_reply_to: in_reply_to.map(message_id).transpose()?,
            received_at_ms: self.received_at_ms,
            body: self.body,
        })
    }
}

/// Returns a message, or `None` if retention has removed it.
pub(crate) async fn find(tx: &mut Tx, id: MessageId) -> Result<Option<InboundMessage>> {
    let find = query("select * from inbound_messages where inbound_id = $1");
    let found: Option<InboundRow> = tx.fetch_optional(find.bind(id_bytes(&id))).await?;
    found.map(InboundRow::message).transpose()
}
