//! The message of a one-time password.

use super::fields::{Customer, SendFields};
use super::send::{Draft, draft};
use crate::account::Environment;
use crate::gateway::{Gateway, Rulebook};
use crate::otp::{OtpMessage, example_of};
use crate::prohibited::Prohibited;
use crate::refusal::Refusal;

/// Judges the message of a one-time password. Its text keeps the place of the code; pages and charge
/// are those of the text with a code. The fingerprint is one of its own, since one-time passwords are no
/// duplicates of each other.
pub fn draft_otp(
    fields: &SendFields,
    otp: OtpMessage,
    customer: &Customer,
    environment: Environment,
    rules: &Rulebook,
    prohibited: &Prohibited,
    now_ms: i64,
) -> Result<Draft, Refusal> {
    let body = fields.body.clone().unwrap_or_default();
    let with_body = |body: String| SendFields {
        body: Some(body),
        gateway: Some(Gateway::Otp.as_str().to_owned()),
        ..fields.clone()
    };
    let judge = |fields| draft(fields, customer, environment, rules, prohibited, now_ms);
    let template = judge(with_body(body.clone()))?.text;
    let message = judge(with_body(example_of(&body, otp.text.length)))?;
    if message.recipients.len() != 1 || message.invalid_count > 0 {
        return Err(Refusal::Malformed(
            "`to` must be one number: a one-time password belongs to one phone.".to_owned(),
        ));
    }
    Ok(Draft {
        text: template,
        fingerprint: otp.fingerprint,
        otp: Some(otp),
        // A code that is no longer good is not delivered.
        validity_s: Some(((otp.expires_at_ms - now_ms) / 1_000).max(1)),
        ..message
    })
}
