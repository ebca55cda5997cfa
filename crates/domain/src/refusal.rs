//! All refusals of requests with their texts. The server assigns codes and HTTP statuses.

mod object;
mod wording;

pub use object::ObjectRefusal;
pub use wording::Simulated;

use crate::ids::MessageId;
use crate::money::Money;
use crate::personalised::faults::RowFaults;
use crate::token::scope::Scopes;
use crate::velocity::block::Block;
use std::net::IpAddr;
use wording::{scopes, size};

/// The reason why a request is refused. Its text names the next step of the caller. It repeats nothing of
/// the request, which may have a number, a text or a token in the wrong field, because answers are
/// logged elsewhere.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// No token was given.
    #[error(
        "No API token was given. Send it as `Authorization: Bearer <token>`, in an `api_token` header, in the \
         query string, or as the field `api_token`."
    )]
    TokenMissing,
    /// No token in header or query, and the body cannot be read.
    #[error(
        "No API token was found: there is none in a header or the query string, and the request body, which may hold \
         one, could not be read. {0}"
    )]
    TokenUnread(String),
    /// The token is not valid.
    #[error(
        "The API token is not valid. Check that it was copied whole, and has not been revoked or expired."
    )]
    TokenInvalid,
    /// The token is not valid, and too many invalid ones came before it.
    #[error(
        "The API token is not valid, and your address has sent too many invalid tokens. Check that it was copied whole, \
         and has not been revoked or expired; retry after {retry_after_s} s. Valid tokens are served meanwhile."
    )]
    TokensGuessed {
        /// Seconds until further unknown tokens are accepted.
        retry_after_s: u64,
    },
    /// The token may not be used from this address.
    #[error(
        "This API token may not be used from the address {0}. Have the address added to its allow-list, or use \
         a token without one."
    )]
    AddressNotAllowed(IpAddr),
    /// The token may not make this request.
    #[error(
        "This API token may not make this request, which needs the scope {}. Use a token that has it, or make one with \
         `POST /tokens` or in the console.",
        scopes(*.0)
    )]
    OutOfScope(Scopes),
    /// The account is disabled.
    #[error("This account is disabled. Contact support.")]
    AccountDisabled,
    /// The account is dormant.
    #[error("This account is dormant. Contact support to have it reactivated.")]
    AccountDormant,
    /// The account may use the sandbox only.
    #[error("This account is not activated yet: use the sandbox until then.")]
    AccountPending,
    /// The account may read, but not send.
    #[error("This account is restricted: it can read, but not send. Contact support.")]
    AccountRestricted,
    /// The request is not of the right form.
    #[error("{0}")]
    Malformed(String),
    /// `from` is missing.
    #[error("The field `from` is missing: give the sender ID.")]
    FromMissing,
    /// `to` is missing.
    #[error("The field `to` is missing: give one or more phone numbers.")]
    ToMissing,
    /// `body` is missing or has no character that can be sent.
    #[error(
        "The message text is missing, or nothing is left of it once emoji and characters without a plain \
         equivalent are removed. Give a `body`, or set `unicode` to true to send it as written."
    )]
    BodyMissing,
    /// The sender ID is malformed.
    #[error("The sender ID in `from` must be 1 to 11 printable characters.")]
    SenderForm,
    /// The only number is invalid.
    #[error(
        "The number in `to` is not a valid mobile number. Use the international format, such as 2348031234567."
    )]
    RecipientInvalid,
    /// All of several numbers are invalid.
    #[error(
        "None of the numbers in `to` is a valid mobile number. Use the international format, such as 2348031234567."
    )]
    NoValidRecipient,
    /// All recipients have opted out or are on DND.
    #[error(
        "Every recipient has opted out of your messages or is on DND, which this gateway respects. Nothing was sent or \
         charged; send to other numbers."
    )]
    NobodyLeft,
    /// The account has no message with that id.
    #[error("There is no message with this message_id on this account.")]
    UnknownMessage,
    /// The request is about an object of the account, such as a route or a token.
    #[error(transparent)]
    Object(#[from] ObjectRefusal),
    /// The text is too long.
    #[error("The message text has {length} characters; at most {limit} are allowed.")]
    TooLong {
        /// The number of characters.
        length: usize,
        /// The maximum number of characters.
        limit: usize,
    },
    /// The gateway does not exist here.
    #[error("There is no such gateway here. {instead}")]
    UnknownGateway {
        /// The advice to the caller.
        instead: String,
    },
    /// The sender ID is not registered, or not approved.
    #[error(
        "The sender ID in `from` is not registered and approved on this account. Register it and wait for approval."
    )]
    SenderNotApproved,
    /// An equal send was accepted within the duplicate window.
    #[error(
        "The same text was sent to the same recipients within the last minute. This one was not sent and not \
         charged; do not retry it."
    )]
    Duplicate,
    /// The text contains a prohibited phrase.
    #[error(
        "The text contains the prohibited phrase `{0}`. It was not sent and not charged; send it without the phrase."
    )]
    Prohibited(String),
    /// The text is transactional, and the gateway does not allow that.
    #[error(
        "The text looks transactional (`{phrase}`), which the gateway {gateway} does not carry. {instead} It was \
         not sent and not charged."
    )]
    Transactional {
        /// The code word.
        phrase: String,
        /// The gateway.
        gateway: &'static str,
        /// The advice to the caller.
        instead: String,
    },
    /// An international sender on a national gateway.
    #[error(
        "The sender ID `{sender}` is international, which this gateway does not carry. {instead} It was not sent \
         and not charged."
    )]
    InternationalSender {
        /// The sender ID.
        sender: String,
        /// The advice to the caller.
        instead: String,
    },
    /// Too many recipients in one request.
    #[error("At most {limit} recipients are allowed in a request. Split the list.")]
    TooManyRecipients {
        /// The maximum number of recipients.
        limit: usize,
    },
    /// The callback URL is not usable.
    #[error("`callback_url` is not usable: {0}.")]
    CallbackUrl(String),
    /// The request body is too large.
    #[error("The request body is larger than {}. Send less in one request.", size(*limit_bytes))]
    BodyTooLarge {
        /// The maximum size.
        limit_bytes: usize,
    },
    /// The head of the request is too large.
    #[error(
        "The head of the request is larger than {}, or has more than {headers} headers. Send long texts in the body.",
        size(*bytes)
    )]
    HeadTooLarge {
        /// The maximum number of headers.
        headers: usize,
        /// The maximum size.
        bytes: usize,
    },
    /// The balance does not cover the cost.
    #[error(
        "Insufficient wallet balance: {needed} NGN are needed, {available} NGN are available. Add credit."
    )]
    InsufficientFunds {
        /// The cost of the send.
        needed: Money,
        /// The balance of the wallet.
        available: Money,
    },
    /// The daily limit does not cover the cost.
    #[error(
        "The daily limit of this account is {limit} NGN: {left} NGN are left for today, and {needed} NGN are \
         needed. Nothing was sent or charged; the limit begins anew at midnight (Africa/Lagos), in \
         {retry_after_s} s."
    )]
    DailyLimit {
        /// The daily limit.
        limit: Money,
        /// The unspent part of the limit.
        left: Money,
        /// The cost of the send.
        needed: Money,
        /// Seconds until the next day.
        retry_after_s: u64,
    },
    /// A number has received the maximum of messages in this hour.
    #[error(
        "At most {limit} messages an hour may go to one number, and this account has sent them to a number of {block}. \
         Nothing was sent or charged; leave that number out, or retry after {retry_after_s} s."
    )]
    RecipientTooOften {
        /// The maximum number of messages of an account to a number in an hour.
        limit: u32,
        /// The block of the number, which hides the number itself.
        block: Block,
        /// Seconds until the next hour.
        retry_after_s: u64,
    },
    /// The block of numbers is paused for the account.
    #[error(
        "Sending to {block} is paused for this account, since it sent too many messages there within an hour. Nothing \
         was sent or charged; leave these numbers out, retry after {retry_after_s} s, or ask support to release \
         them."
    )]
    BlockPaused {
        /// The block.
        block: Block,
        /// Seconds until the pause ends.
        retry_after_s: u64,
    },
    /// Too many requests.
    #[error(
        "The rate limit of {limit} requests a minute is reached. Retry after {retry_after_s} s."
    )]
    RateLimited {
        /// The maximum number of requests in any 60 seconds.
        limit: u32,
        /// Seconds until a request is allowed.
        retry_after_s: u64,
    },
    /// The request exceeds the sandbox limit by itself.
    #[error(
        "The sandbox simulates at most {limit} {what} of an account in any 60 seconds. Split the list. Nothing was \
         simulated."
    )]
    SandboxTooMany {
        /// The limited kind.
        what: Simulated,
        /// The maximum in any 60 seconds.
        limit: u32,
    },
    /// The sandbox limit of 60 seconds is used up.
    #[error(
        "The sandbox simulates at most {limit} {what} of an account in any 60 seconds. Nothing was simulated; retry \
         after {retry_after_s} s. Live sends do not have this limit."
    )]
    SandboxLimited {
        /// The limited kind.
        what: Simulated,
        /// The maximum in any 60 seconds.
        limit: u32,
        /// Seconds until the request is allowed.
        retry_after_s: u64,
    },
    /// No such path.
    #[error("There is no such path. See /docs.")]
    UnknownPath,
    /// The path exists, the method does not.
    #[error("This path does not answer this method. See /docs.")]
    MethodNotAllowed,
    /// The service is overloaded. Nothing was charged.
    #[error(
        "The service is overloaded or not ready. Nothing was sent or charged; retry after {retry_after_s} s."
    )]
    Unavailable {
        /// Seconds until a retry.
        retry_after_s: u64,
    },
    /// The commit of a send has begun and not ended in time, so its outcome is unknown. The
    /// duplicate window lasts longer than the named time.
    #[error(
        "The commit of this send took too long. It may still be accepted and charged. Send it again with the same \
         Idempotency-Key: it is accepted only once. Without a key, send it again unchanged within 30 s: the answer is \
         API-2012 if it was accepted. Later, first read the delivery report of the message_id {message}."
    )]
    OutcomeUnknown {
        /// The id that the message may have.
        message: MessageId,
        /// Seconds until a retry.
        retry_after_s: u64,
    },
    /// A disk failed while a change was committed, so its outcome is unknown until the next start.
    #[error(
        "The disk failed while this change was stored. It is unknown whether the change was made until the service \
         has started again. Then read what you wanted to change, and send the request again if it is unchanged."
    )]
    ChangeUnknown {
        /// Seconds until a retry.
        retry_after_s: u64,
    },
    /// The change of a message takes long, and goes on.
    #[error(
        "This change takes longer than usual, since a node holds recipients of the message. It goes on and cannot be \
         lost. Send the request again after {retry_after_s} s for its result."
    )]
    ChangeUnderWay {
        /// Seconds until the request is sent again.
        retry_after_s: u64,
    },
    /// The idempotency key was used for another request.
    #[error(
        "This Idempotency-Key was used with another request. Nothing was done: send that request unchanged to get its \
         answer again, or give this one a new key."
    )]
    KeyUsed,
    /// The first request with this idempotency key is still running.
    #[error(
        "The first request with this Idempotency-Key is still being handled. Send this one again after \
         {retry_after_s} s, with the same key."
    )]
    KeyInUse {
        /// Seconds until the request is sent again.
        retry_after_s: u64,
    },
    /// The change is not possible in the state of the message or one-time password.
    #[error("{0}")]
    TooLate(&'static str),
    /// Some rows of a personalised send cannot be sent.
    #[error(
        "Rows that cannot be sent: {}. Nothing was sent or charged. `error.details` names the first faults: correct these \
         rows and send all rows again.",
        .0.rows()
    )]
    Rows(RowFaults),
    /// The number has received the maximum of one-time passwords in this hour.
    #[error(
        "At most {limit} one-time passwords an hour may go to one number, resends included. Nothing was sent or \
         charged; retry after {retry_after_s} s."
    )]
    OtpTooOften {
        /// The maximum number of one-time passwords to a number in an hour.
        limit: u32,
        /// Seconds until a message is allowed.
        retry_after_s: u64,
    },
    /// The last message of this one-time password is too recent.
    #[error(
        "This one-time password was sent a moment ago. Nothing was sent or charged; send it again after \
         {retry_after_s} s."
    )]
    OtpResendTooSoon {
        /// Seconds until a resend is allowed.
        retry_after_s: u64,
    },
    /// The one-time password was resent the maximum number of times.
    #[error(
        "This one-time password was sent again {limit} times, and no more is possible. Nothing was sent or charged; \
         make a new one with `POST /otp`."
    )]
    OtpResendsUsed {
        /// The maximum number of resends.
        limit: u32,
    },
}

/// Returns a wait in whole seconds, rounded up.
pub(crate) fn seconds(left_ms: i64) -> u64 {
    left_ms.unsigned_abs().div_ceil(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_a_body_is_shown_exactly() {
        for (limit_bytes, size) in [
            (10 << 20, "10 MiB"),
            (64 << 10, "64 KiB"),
            (1_536 << 10, "1536 KiB"),
            (100_000, "100000 bytes"),
        ] {
            let message = Refusal::BodyTooLarge { limit_bytes }.to_string();
            let expected = format!("The request body is larger than {size}. ");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
}
