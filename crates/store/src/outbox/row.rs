//! The rows of events, with what their messages add.

use super::event::{Callback, CallbackEvent, EventKind, MessageReceipt};
use crate::inbound::row;
use crate::rows::{environment, message_id, named, recipient};
use database::{Result, Tx};
use domain::smpp_receipt::RecipientEnd;
use domain::{AccountId, Bucket, DeliveryStatus, EventId};
use std::sync::Arc;

pub(super) struct CallbackRow {
    bucket: i16,
    account_id: i64,
    sandbox: bool,
    destination: String,
    due_at_ms: i64,
    kind: String,
    subject: Vec<u8>,
    recipient: i64,
    payload: String,
    attempts: i64,
    callback_url: Option<String>,
    customer_reference: Option<String>,
    sender: Option<String>,
    quoted: Option<String>,
}

database::from_row!(CallbackRow {
    bucket,
    account_id,
    sandbox,
    destination,
    due_at_ms,
    kind,
    subject,
    recipient,
    payload,
    attempts,
    callback_url,
    customer_reference,
    sender,
    quoted
});

impl CallbackRow {
    /// Returns the due time and the event id, which complete the key of an origin.
    pub(super) fn key(&self) -> Result<(i64, EventId)> {
        let message = message_id(&self.subject)?;
        let event = EventId::of_delivery(message, recipient(self.recipient));
        Ok((self.due_at_ms, event))
    }

    /// Returns the callback, or `None` if retention has removed its inbound message.
    pub(super) async fn callback(self, tx: &mut Tx) -> Result<Option<Callback>> {
        let message = message_id(&self.subject)?;
        let (event, url) = match named(EventKind::from_name, &self.kind)? {
            EventKind::DeliveryStatus => {
                let event = CallbackEvent::Delivery {
                    status: named(DeliveryStatus::from_name, &self.payload)?,
                    customer_reference: self.customer_reference.map(Into::into),
                };
                (event, self.callback_url.unwrap_or_default())
            }
            EventKind::Receipt => {
                let receipt = MessageReceipt {
                    end: named(RecipientEnd::from_text, &self.payload)?,
                    sender: self.sender.unwrap_or_default(),
                    quoted: self.quoted.unwrap_or_default(),
                };
                (CallbackEvent::Receipt(Arc::new(receipt)), String::new())
            }
            EventKind::LowBalance => {
                let (url, body) = self.payload.split_once('\n').unwrap_or_default();
                (CallbackEvent::LowBalance(body.into()), url.to_owned())
            }
            EventKind::Inbound => match row::find(tx, message).await? {
                Some(inbound) => (CallbackEvent::Inbound(Arc::new(inbound)), self.payload),
                None => return Ok(None),
            },
        };
        Ok(Some(Callback {
            bucket: Bucket(self.bucket.into()),
            account: AccountId(self.account_id),
            environment: environment(self.sandbox),
            origin: self.destination,
            due_at_ms: self.due_at_ms,
            message,
            recipient: recipient(self.recipient),
            event,
            attempts: self.attempts,
            url: url.into(),
        }))
    }
}
