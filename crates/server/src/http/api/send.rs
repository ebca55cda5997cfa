//! `POST` and `GET /sms`, their aliases, and the legacy `/api/v1/sms/create` (docs/spec/interface.md,
//! sections 6.1 and 7).

use crate::format::{LagosTime, Naira};
use crate::http::extract::call::personalised::SendingPersonalised;
use crate::http::extract::call::{Call, Sending};
use crate::http::respond::codes::{Coded, SUCCESS};
use crate::http::respond::envelope::{CURRENCY, MESSAGE_SENT, sandbox_mark};
use crate::http::respond::error::Shape;
use axum::response::Response;
use domain::Environment;
use domain::idempotency::{IdempotencyKey, Operation};
use domain::schedule::MessageState;
use engine::{Answered, Keyed, SendRequest, Sent, WriteBody};
use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;
use utoipa::ToSchema;

/// Sends a message.
pub(crate) async fn send(sending: Sending) -> Response {
    let Sending {
        call,
        fields,
        key,
        permit: _until_answered,
    } = sending;
    let operation = match call.shape() {
        Shape::V2 => Operation::Send,
        Shape::V1 => Operation::LegacySend,
    };
    let keyed = key.map(|key| keyed(key, operation, &call));
    answer(&call, SendRequest::Shared(fields), keyed).await
}

/// Sends a text of its own to each recipient.
pub(crate) async fn send_personalised(sending: SendingPersonalised) -> Response {
    let SendingPersonalised {
        call,
        fields,
        rows,
        key,
        permit: _until_answered,
    } = sending;
    let keyed = key.map(|key| keyed(key, Operation::SendPersonalised, &call));
    answer(&call, SendRequest::Personalised(fields, rows), keyed).await
}

async fn answer(call: &Call, request: SendRequest, keyed: Option<Keyed>) -> Response {
    let environment = call.environment();
    let sent = match call.admission.send(request, keyed).await {
        Ok(Answered::First(sent)) => Ok(sent),
        Ok(Answered::Replay(kept)) => return call.replay(kept),
        Err(error) => Err(error),
    };
    match call.shape() {
        Shape::V2 => call.answer(sent.map(|sent| Accepted::new(sent, environment))),
        Shape::V1 => call.answer(sent.map(|sent| LegacyAccepted::new(&sent, environment))),
    }
}

/// Returns the idempotency key of a send, with the function that writes the stored answer. It has
/// the same octets as the first answer.
fn keyed(key: IdempotencyKey, operation: Operation, call: &Call) -> Keyed {
    let (environment, codes) = (call.environment(), call.codes().clone());
    let write: WriteBody = match call.shape() {
        Shape::V2 => Arc::new(move |sent| codes.written(Accepted::new(sent, environment))),
        Shape::V1 => Arc::new(move |sent| codes.written(LegacyAccepted::new(&sent, environment))),
    };
    Keyed {
        key,
        operation,
        write,
    }
}

/// Returns the message for people in the answer to a send.
fn message(sent: &Sent, environment: Environment) -> String {
    let recipients = match sent.recipients_count {
        1 => "1 recipient".to_owned(),
        count => format!("{count} recipients"),
    };
    let opted_out = match sent.left_out.opted_out {
        0 => String::new(),
        1 => "; 1 recipient who opted out was left out".to_owned(),
        count => format!("; {count} recipients who opted out were left out"),
    };
    let skipped = match (sent.invalid_count, sent.invalid_recipients.len()) {
        (0, _) => String::new(),
        (1, _) => "; 1 invalid number was skipped".to_owned(),
        (all, named) if all > named => {
            format!("; {all} invalid numbers were skipped, of which the first {named} are named")
        }
        (all, _) => format!("; {all} invalid numbers were skipped"),
    };
    let dnd = match sent.left_out.dnd {
        0 => String::new(),
        1 => "; 1 recipient on DND was left out".to_owned(),
        count => format!("; {count} recipients on DND were left out"),
    };
    let left_out = skipped + &opted_out + &dnd;
    match environment {
        Environment::Live => format!("Message accepted for delivery to {recipients}{left_out}."),
        Environment::Sandbox => {
            format!(
                "Message simulated for {recipients}{left_out}. Nothing is delivered or charged."
            )
        }
    }
}

/// The answer to an accepted send: the current shape, and the older one beside it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Accepted {
    /// Always `success`.
    #[schema(example = "success")]
    status: &'static str,
    /// Always `API-0000`.
    #[schema(example = "API-0000")]
    #[schema(value_type = String)]
    code: Cow<'static, str>,
    /// The outcome in words.
    message: String,
    data: AcceptedData,
    /// Always true; the older shape.
    success: bool,
}

/// Returns `true` for a count that an answer leaves out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature of serde")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The accepted send.
#[derive(Serialize, ToSchema)]
pub(crate) struct AcceptedData {
    /// Always `success`; the older shape.
    #[schema(example = "success")]
    status: &'static str,
    /// Always `Message Sent`; the older shape, which clients compare.
    #[schema(example = "Message Sent")]
    message: &'static str,
    /// Fetches the delivery report; a UUID.
    message_id: String,
    /// The charge for all recipients. The sandbox shows the charge of a live send.
    cost: Naira,
    /// Always `NGN`.
    #[schema(example = "NGN")]
    currency: &'static str,
    /// Different valid recipients: each is sent to once and charged once.
    recipients_count: usize,
    /// The gateway that carries it.
    gateway_used: &'static str,
    /// True if it is sent as Unicode. False if every character has a place in the GSM alphabet.
    unicode: bool,
    /// Pages that are charged and sent for each recipient; the largest number if a suffix makes a difference.
    page_count: i64,
    /// Pages of all recipients together. Only in the answer to a personalised send.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pages_total: Option<i64>,
    /// Rows that were skipped, since an earlier row has their number: the first hundred. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    repeated: Vec<u32>,
    /// True if the sent text differs from `body`. Without `unicode`, accents are dropped, and emoji and characters
    /// without a plain equivalent are removed.
    text_changed: bool,
    /// Characters of `body` that were removed. Above zero, set `unicode` to true to send the text as written.
    removed_characters: usize,
    /// The time for which it is scheduled, quiet hours included; null for a message that is due at once.
    #[schema(required = true)]
    scheduled_for: Option<LagosTime>,
    /// `scheduled` or `sending`.
    #[schema(example = "sending")]
    state: &'static str,
    /// The same as `recipients_count`; the older shape.
    total_recipients: usize,
    /// The balance after the charge; the older shape.
    balance: Naira,
    /// Unknown fields of the request, the first twenty. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    ignored_fields: Vec<String>,
    /// The first hundred entries of `to` that are no recipients; `message` has their number. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    invalid_recipients: Vec<String>,
    /// Recipients who opted out: they are left out and not charged. Absent if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false)]
    opted_out: usize,
    /// Recipients on DND: they are left out and not charged. Absent if there are none.
    #[serde(skip_serializing_if = "is_zero")]
    #[schema(required = false)]
    dnd: usize,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

impl Coded for Accepted {
    fn code(&mut self) -> &mut Cow<'static, str> {
        &mut self.code
    }
}

impl Accepted {
    pub(crate) fn new(sent: Sent, environment: Environment) -> Self {
        Self {
            status: "success",
            code: Cow::Borrowed(SUCCESS),
            message: message(&sent, environment),
            data: AcceptedData {
                status: "success",
                message: MESSAGE_SENT,
                message_id: sent.message_id.to_string(),
                cost: Naira(sent.cost),
                currency: CURRENCY,
                recipients_count: sent.recipients_count,
                gateway_used: sent.gateway.as_str(),
                unicode: sent.unicode,
                page_count: sent.page_count,
                pages_total: sent.personalised.as_ref().map(|own| own.pages_total),
                repeated: sent.personalised.map_or_else(Vec::new, |own| own.repeated),
                text_changed: sent.adjustments.text_changed,
                removed_characters: sent.adjustments.removed_characters,
                scheduled_for: sent.scheduled_for_ms.map(|at_ms| LagosTime { at_ms }),
                state: match sent.scheduled_for_ms {
                    Some(_) => MessageState::Scheduled.as_str(),
                    None => MessageState::Sending.as_str(),
                },
                total_recipients: sent.recipients_count,
                balance: Naira(sent.balance),
                ignored_fields: sent.adjustments.ignored_fields,
                invalid_recipients: sent.invalid_recipients,
                opted_out: sent.left_out.opted_out,
                dnd: sent.left_out.dnd,
                sandbox: sandbox_mark(environment),
            },
            success: true,
        }
    }
}

/// The answer of `/api/v1/sms/create`.
#[derive(Serialize, ToSchema)]
pub(crate) struct LegacyAccepted {
    /// Always true.
    success: bool,
    /// Always `success`.
    #[schema(example = "success")]
    status: &'static str,
    /// Always `API-0000`.
    #[schema(example = "API-0000")]
    #[schema(value_type = String)]
    code: Cow<'static, str>,
    /// The outcome in words.
    message: String,
    data: LegacyAcceptedData,
}

/// The accepted send, for clients of `/api/v1`.
#[derive(Serialize, ToSchema)]
pub(crate) struct LegacyAcceptedData {
    /// Always `success`.
    #[schema(example = "success")]
    status: &'static str,
    /// Always `Message Sent`, which clients compare.
    #[schema(example = "Message Sent")]
    message: &'static str,
    /// Fetches the delivery report; a UUID.
    message_id: String,
    /// Different valid recipients.
    total_recipients: usize,
    /// The charge for all recipients.
    cost: Naira,
    /// The balance after the charge.
    balance: Naira,
    /// Always `NGN`.
    #[schema(example = "NGN")]
    currency: &'static str,
    /// The gateway that carries it.
    gateway_used: &'static str,
    /// True if the sent text differs from `body`.
    text_changed: bool,
    /// Characters of `body` that were removed.
    removed_characters: usize,
    /// Unknown fields of the request. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    ignored_fields: Vec<String>,
}

impl Coded for LegacyAccepted {
    fn code(&mut self) -> &mut Cow<'static, str> {
        &mut self.code
    }
}

impl LegacyAccepted {
    pub(crate) fn new(sent: &Sent, environment: Environment) -> Self {
        Self {
            success: true,
            status: "success",
            code: Cow::Borrowed(SUCCESS),
            message: message(sent, environment),
            data: LegacyAcceptedData {
                status: "success",
                message: MESSAGE_SENT,
                message_id: sent.message_id.to_string(),
                total_recipients: sent.recipients_count,
                cost: Naira(sent.cost),
                balance: Naira(sent.balance),
                currency: CURRENCY,
                gateway_used: sent.gateway.as_str(),
                text_changed: sent.adjustments.text_changed,
                removed_characters: sent.adjustments.removed_characters,
                ignored_fields: sent.adjustments.ignored_fields.clone(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::opt_out::LeftOut;
    use domain::{Adjustments, Gateway, MessageId, Money};

    fn sent(invalid: &[&str]) -> Sent {
        Sent {
            message_id: MessageId::new(1_795_000_000_000, [7; 10]),
            cost: Money::from_units(125_000),
            balance: Money::from_units(875_001),
            recipients_count: 2,
            gateway: Gateway::DirectRefund,
            unicode: false,
            page_count: 1,
            invalid_recipients: invalid.iter().map(ToString::to_string).collect(),
            invalid_count: invalid.len(),
            left_out: LeftOut::default(),
            adjustments: Adjustments::default(),
            personalised: None,
            scheduled_for_ms: None,
        }
    }

    #[test]
    fn an_accepted_send_is_answered_in_both_shapes_at_once() {
        let answer = Accepted::new(sent(&[]), Environment::Live);
        insta::assert_snapshot!(testkit::indented(&serde_json::to_string(&answer).unwrap()), @r#"
        {
          "status": "success",
          "code": "API-0000",
          "message": "Message accepted for delivery to 2 recipients.",
          "data": {
            "status": "success",
            "message": "Message Sent",
            "message_id": "01a1ee56-5e00-7707-8707-070707070707",
            "cost": 12.50,
            "currency": "NGN",
            "recipients_count": 2,
            "gateway_used": "direct-refund",
            "unicode": false,
            "page_count": 1,
            "text_changed": false,
            "removed_characters": 0,
            "scheduled_for": null,
            "state": "sending",
            "total_recipients": 2,
            "balance": 87.5001
          },
          "success": true
        }
        "#);
    }

    #[test]
    fn the_sandbox_is_marked_and_invalid_numbers_are_named() {
        let answer = Accepted::new(sent(&["12345"]), Environment::Sandbox);
        insta::assert_snapshot!(testkit::indented(&serde_json::to_string(&answer).unwrap()), @r#"
        {
          "status": "success",
          "code": "API-0000",
          "message": "Message simulated for 2 recipients; 1 invalid number was skipped. Nothing is delivered or charged.",
          "data": {
            "status": "success",
            "message": "Message Sent",
            "message_id": "01a1ee56-5e00-7707-8707-070707070707",
            "cost": 12.50,
            "currency": "NGN",
            "recipients_count": 2,
            "gateway_used": "direct-refund",
            "unicode": false,
            "page_count": 1,
            "text_changed": false,
            "removed_characters": 0,
            "scheduled_for": null,
            "state": "sending",
            "total_recipients": 2,
            "balance": 87.5001,
            "invalid_recipients": [
              "12345"
            ],
            "sandbox": true
          },
          "success": true
        }
        "#);
    }

    #[test]
    fn the_count_of_invalid_numbers_includes_unnamed_ones() {
        let message_of = |invalid: &[&str], invalid_count| {
            let sent = Sent {
                invalid_count,
                ..sent(invalid)
            };
            message(&sent, Environment::Live)
        };
        insta::assert_snapshot!([message_of(&["1", "2"], 2), message_of(&["1"; 100], 250)].join("\n"), @r#"
        Message accepted for delivery to 2 recipients; 2 invalid numbers were skipped.
        Message accepted for delivery to 2 recipients; 250 invalid numbers were skipped, of which the first 100 are named.
        "#);
    }

    #[test]
    fn clients_of_v1_are_answered_in_their_shape() {
        let answer = LegacyAccepted::new(&sent(&[]), Environment::Live);
        insta::assert_snapshot!(testkit::indented(&serde_json::to_string(&answer).unwrap()), @r#"
        {
          "success": true,
          "status": "success",
          "code": "API-0000",
          "message": "Message accepted for delivery to 2 recipients.",
          "data": {
            "status": "success",
            "message": "Message Sent",
            "message_id": "01a1ee56-5e00-7707-8707-070707070707",
            "total_recipients": 2,
            "cost": 12.50,
            "balance": 87.5001,
            "currency": "NGN",
            "gateway_used": "direct-refund",
            "text_changed": false,
            "removed_characters": 0
          }
        }
        "#);
    }
}
