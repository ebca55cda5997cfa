//! The fields of a request as they came: from a query string, a form or JSON, under one set of names.

use domain::{Refusal, SendFields};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

/// The names that mean something; all others are ignored.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(field_identifier, rename_all = "snake_case")]
pub(super) enum Name {
    ApiToken,
    From,
    To,
    Body,
    Gateway,
    Dnd,
    Unicode,
    AppendSender,
    CallbackUrl,
    CustomerReference,
    #[serde(other)]
    Unknown,
}

impl Name {
    /// The name as forms and query strings write it.
    pub(super) fn of(text: &str) -> Self {
        let read: Result<Self, Error> = Self::deserialize(text.into_deserializer());
        read.unwrap_or(Self::Unknown)
    }
}

/// What a part of a request says.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Fields {
    pub(super) api_token: Option<String>,
    pub(super) send: SendFields,
    /// Why it is not understood. A token is found all the same where it can be: who calls is judged first.
    pub(super) fault: Option<Refusal>,
}

impl Fields {
    /// Those of what cannot be read at all.
    pub(super) fn unread(fault: Refusal) -> Self {
        Self {
            fault: Some(fault),
            ..Self::default()
        }
    }

    /// Where the value of a field is kept; nowhere for what is ignored.
    pub(super) fn slot(&mut self, name: Name) -> Option<&mut Option<String>> {
        let send = &mut self.send;
        Some(match name {
            Name::ApiToken => &mut self.api_token,
            Name::From => &mut send.from,
            Name::To => &mut send.to,
            Name::Body => &mut send.body,
            Name::Gateway => &mut send.gateway,
            Name::Dnd => &mut send.dnd,
            Name::Unicode => &mut send.unicode,
            Name::AppendSender => &mut send.append_sender,
            Name::CallbackUrl => &mut send.callback_url,
            Name::CustomerReference => &mut send.customer_reference,
            Name::Unknown => return None,
        })
    }

    /// The fields of a send: where the body and the query string both name one, the body's wins.
    pub(super) fn over(self, query: Fields) -> Result<SendFields, Refusal> {
        if let Some(fault) = self.fault.or(query.fault) {
            return Err(fault);
        }
        let (body, query) = (self.send, query.send);
        Ok(SendFields {
            from: body.from.or(query.from),
            to: body.to.or(query.to),
            body: body.body.or(query.body),
            gateway: body.gateway.or(query.gateway),
            dnd: body.dnd.or(query.dnd),
            unicode: body.unicode.or(query.unicode),
            append_sender: body.append_sender.or(query.append_sender),
            callback_url: body.callback_url.or(query.callback_url),
            customer_reference: body.customer_reference.or(query.customer_reference),
        })
    }
}
