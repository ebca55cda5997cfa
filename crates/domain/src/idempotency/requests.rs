//! The fingerprints of the requests of each operation.
//!
//! Fields are parsed in the same way as by the operation. A malformed request has no fingerprint,
//! because the operation refuses it.

use super::fingerprint::{FingerprintWriter, RequestFingerprint};
use super::operation::Operation;
use crate::account::{AccountStatus, Environment};
use crate::alert::{AlertRequest, AlertTarget};
use crate::callback::request::{ReplayRequest, SecretRequest};
use crate::draft::SendFields;
use crate::draft::personalised::{choose, each_text};
use crate::gateway::{AppendSender, Gateway};
use crate::ids::AccountId;
use crate::inbound::{AnswerChange, RouteRequest};
use crate::money::Money;
use crate::number;
use crate::number::read_recipients;
use crate::number::recipient::Recipient;
use crate::opt_out::OptOutRequest;
use crate::otp::OtpRequest;
use crate::payment::TopUpRequest;
use crate::personalised::Rows;
use crate::resale::{SubAccountChange, SubAccountRequest, TransferRequest};
use crate::schedule::SendTimes;
use crate::sender;
use crate::sender_request::SenderRequest;
use crate::smpp_user::SmppUserRequest;
use crate::token::TokenRequest;

/// Returns the fingerprint of a send. The order of recipients and invalid entries do not matter.
pub fn of_send(
    operation: Operation,
    fields: &SendFields,
    times: SendTimes,
    environment: Environment,
    max_recipients: usize,
) -> Option<RequestFingerprint> {
    let mut writer = FingerprintWriter::new(operation);
    let gateway = write_fields(&mut writer, fields)?;
    write_times(&mut writer, times);
    writer.text("body", Some(given(fields.body.as_ref())?));
    let parse = number::reader(gateway, environment);
    let list = read_recipients(fields.to.as_deref()?, parse, max_recipients).ok()?;
    let mut recipients = list.valid;
    recipients.sort_unstable();
    writer.count("to", recipients.len());
    for recipient in recipients {
        write_recipient(&mut writer, recipient);
    }
    Some(writer.finish())
}

/// Returns the fingerprint of a personalised send. The text of each recipient matters. The order of
/// the rows and the use of variables do not.
pub fn of_personalised(
    fields: &SendFields,
    rows: &Rows,
    times: SendTimes,
    environment: Environment,
    max_recipients: usize,
) -> Option<RequestFingerprint> {
    let mut writer = FingerprintWriter::new(Operation::SendPersonalised);
    let gateway = write_fields(&mut writer, fields)?;
    write_times(&mut writer, times);
    let mut places = choose(rows, gateway, environment, max_recipients)
        .ok()?
        .places;
    places.sort_unstable();
    writer.count("messages", places.len());
    let body = given(fields.body.as_ref());
    each_text(body, rows, &places, |recipient, row, text| {
        write_recipient(&mut writer, recipient);
        writer.text("text", Some(text));
        writer.text("reference", row.customer_reference());
    })?;
    Some(writer.finish())
}

/// Returns the fingerprint of a request for a one-time password.
pub fn of_otp(
    fields: &SendFields,
    request: &OtpRequest,
    environment: Environment,
) -> Option<RequestFingerprint> {
    let mut writer = FingerprintWriter::new(Operation::CreateOtp);
    writer.text("from", Some(&sender::key(given(fields.from.as_ref())?)));
    let parse = number::reader(Gateway::Otp, environment);
    let list = read_recipients(fields.to.as_deref()?, parse, usize::MAX).ok()?;
    write_recipient(&mut writer, *list.valid.first()?);
    let unicode = crate::draft::flag("unicode", fields.unicode.as_deref()).ok()?;
    writer.text("body", Some(&request.body));
    writer.flag("unicode", unicode);
    writer.integer("length", Some(request.length.into()));
    writer.text("kind", Some(request.kind.as_str()));
    writer.integer("expires_in", Some(request.expires_in_s.into()));
    writer.integer("max_attempts", Some(request.max_attempts.into()));
    write_callback(&mut writer, fields);
    Some(writer.finish())
}

/// Returns the fingerprint of a change of one object, from its id and its new time.
pub fn of_change(operation: Operation, id: &str, send_at_ms: Option<i64>) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(operation);
    writer.text("id", Some(id));
    writer.integer("send_at", send_at_ms);
    writer.finish()
}

/// Returns the fingerprint of an attempt to verify a code, from the keyed hash of the typed code.
pub fn of_verification(id: &str, typed: [u8; 32]) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::VerifyOtp);
    writer.text("id", Some(id));
    writer.octets("code", &typed);
    writer.finish()
}

/// Returns the fingerprint of a request for a sender ID.
pub fn of_sender(request: &SenderRequest) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::RequestSenderId);
    writer.text("sender_id", Some(&request.name));
    writer.text("purpose", Some(&request.purpose));
    writer.finish()
}

/// Returns the fingerprint of a request for a route of inbound messages.
pub fn of_route(request: &RouteRequest) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::AddRoute);
    writer.text("number", Some(&request.number));
    writer.text("keyword", Some(&request.keyword));
    writer.text("url", request.url.as_deref());
    writer.text("smpp_user", request.smpp_user.as_deref());
    writer.finish()
}

/// Returns the fingerprint of a request for opt-outs. Their order does not matter.
pub fn of_opt_outs(requests: &[OptOutRequest]) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::AddOptOuts);
    let mut requests: Vec<&OptOutRequest> = requests.iter().collect();
    requests.sort_unstable();
    writer.count("opt_outs", requests.len());
    for one in requests {
        write_recipient(&mut writer, one.recipient);
        writer.text("sender", one.sender.as_deref());
        writer.text("reason", one.reason.as_deref());
    }
    writer.finish()
}

/// Returns the fingerprint of a change of the answers to commands.
pub fn of_answers(change: &AnswerChange) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::ChangeAnswers);
    writer.text("stop", change.stop.as_deref());
    writer.text("start", change.start.as_deref());
    writer.text("help", change.help.as_deref());
    writer.finish()
}

/// Returns the fingerprint of a request for a token.
pub fn of_token(request: &TokenRequest) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::MakeToken);
    let terms = &request.terms;
    writer.text("name", Some(&request.name));
    writer.text("scopes", Some(&terms.scopes.to_string()));
    writer.integer("expires_at", terms.expires_at_ms);
    writer.text("allow", Some(&terms.allowed.to_string()));
    writer.integer("per_minute", terms.per_minute.map(i64::from));
    writer.finish()
}

/// Returns the fingerprint of a request for an alert.
pub fn of_alert(request: &AlertRequest) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::AddAlert);
    writer.integer("threshold", Some(request.threshold.units()));
    match &request.target {
        AlertTarget::Url(url) => writer.text("url", Some(url)),
        AlertTarget::Email(email) => writer.text("email", Some(email)),
    }
    writer.finish()
}

/// Returns the fingerprint of a request for a top-up. Its VAT and bonus are those of the moment.
pub fn of_top_up(request: &TopUpRequest) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::CreateTopUp);
    writer.integer("amount", Some(request.price.amount.units()));
    writer.text("provider", request.provider.as_deref());
    writer.text("return_url", request.return_url.as_deref());
    writer.finish()
}

/// Returns the fingerprint of a request for an SMPP user.
pub fn of_smpp_user(request: &SmppUserRequest) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::MakeSmppUser);
    let limits = [
        ("sandbox", u32::from(request.sandbox)),
        ("binds", request.limits.binds),
        ("per_second", request.limits.per_second),
        ("window", request.limits.window),
        ("vendor_statuses", request.dialect.vendor_statuses.into()),
        ("latin_1", request.dialect.latin_1.into()),
    ];
    for (name, value) in limits {
        writer.integer(name, Some(value.into()));
    }
    writer.text("allow", Some(&request.allowed.to_string()));
    writer.text("gateway", request.gateway.map(Gateway::as_str));
    writer.finish()
}

/// Returns the fingerprint of a request for a secret of callbacks.
pub fn of_secret(request: &SecretRequest) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::MakeSecret);
    writer.integer("overlap", Some(request.overlap_s));
    writer.finish()
}

/// Returns the fingerprint of a request for a replay of callbacks.
pub fn of_replay(request: &ReplayRequest) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::ReplayCallbacks);
    let message = request.message.map(|message| message.to_string());
    writer.text("message_id", message.as_deref());
    writer.finish()
}

/// Returns the fingerprint of a request for a sub-account.
pub fn of_sub_account(request: &SubAccountRequest) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::MakeSubAccount);
    writer.text("name", Some(&request.name));
    writer.text("email", Some(&request.email));
    writer.finish()
}

/// Returns the fingerprint of a change of a sub-account.
pub fn of_sub_account_change(id: AccountId, change: &SubAccountChange) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::ChangeSubAccount);
    writer.integer("id", Some(id.0));
    writer.text("status", change.status.map(AccountStatus::as_str));
    let limit = change.daily_limit;
    writer.flag("has_limit", limit.is_some());
    writer.integer("daily_limit", limit.flatten().map(Money::units));
    let mut prices = change.prices.clone();
    prices.sort_unstable_by_key(|(gateway, _)| gateway.as_str());
    writer.count("prices", prices.len());
    for (gateway, price) in prices {
        writer.text("gateway", Some(gateway.as_str()));
        writer.integer("price", price.map(|price| price.plain.units()));
        writer.integer("unicode_price", price.map(|price| price.unicode.units()));
    }
    writer.finish()
}

/// Returns the fingerprint of a transfer.
pub fn of_transfer(id: AccountId, request: &TransferRequest) -> RequestFingerprint {
    let mut writer = FingerprintWriter::new(Operation::Transfer);
    writer.integer("id", Some(id.0));
    writer.integer("amount", Some(request.amount.units()));
    writer.text("direction", Some(request.direction.as_str()));
    writer.text("reference", Some(&request.reference));
    writer.finish()
}

/// Writes the fields that both kinds of sends have. Returns the gateway.
fn write_fields(writer: &mut FingerprintWriter, fields: &SendFields) -> Option<Gateway> {
    let gateway = match (given(fields.gateway.as_ref()), fields.dnd.as_deref()) {
        (Some(name), _) => Gateway::parse(name)?,
        (None, Some(dnd)) => Gateway::parse_dnd(dnd)?,
        (None, None) => Gateway::DirectRefund,
    };
    let append = AppendSender::parse(fields.append_sender.as_deref().unwrap_or_default()).ok()?;
    let append = match append {
        AppendSender::None => "none",
        AppendSender::Hosted => "hosted",
        AppendSender::All => "all",
    };
    let unicode = crate::draft::flag("unicode", fields.unicode.as_deref()).ok()?;
    writer.text("from", Some(&sender::key(given(fields.from.as_ref())?)));
    writer.text("gateway", Some(gateway.as_str()));
    writer.flag("unicode", unicode);
    writer.text("append_sender", Some(append));
    write_callback(writer, fields);
    Some(gateway)
}

fn write_callback(writer: &mut FingerprintWriter, fields: &SendFields) {
    let url = given(fields.callback_url.as_ref()).map(str::trim);
    writer.text("callback_url", url);
    let reference = given(fields.customer_reference.as_ref());
    writer.text("customer_reference", reference);
}

fn write_times(writer: &mut FingerprintWriter, times: SendTimes) {
    writer.integer("send_at", times.send_at_ms);
    writer.integer("validity", times.validity_s);
}

fn write_recipient(writer: &mut FingerprintWriter, recipient: Recipient) {
    let digits = i64::try_from(recipient.digits()).unwrap_or(i64::MAX);
    writer.integer("recipient", Some(digits));
}

/// Returns a field that is not blank.
fn given(field: Option<&String>) -> Option<&str> {
    field
        .map(String::as_str)
        .filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests;
