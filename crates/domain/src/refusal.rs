//! Everything a caller can do wrong, in words. Codes and HTTP statuses are the server's matter.

use crate::ids::MessageId;
use crate::money::Money;
use crate::personalised::faults::RowFaults;
use crate::velocity::block::Block;
use std::fmt;
use std::net::IpAddr;

/// Why a request is refused. The text is what the caller reads: it says what to do. It repeats nothing of the
/// request, which may be a number, a text or a token in the wrong field, and answers end in other people's logs.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// No token in any of the four places.
    #[error(
        "No API token was given. Send it as `Authorization: Bearer <token>`, in an `api_token` header, in the \
         query string, or as the field `api_token`."
    )]
    TokenMissing,
    /// None in header or query, and a body that cannot be read.
    #[error(
        "No API token was found: there is none in a header or the query string, and the request body, which may hold \
         one, could not be read. {0}"
    )]
    TokenUnread(String),
    /// The first token present is not a valid one.
    #[error(
        "The API token is not valid. Check that it was copied whole, and has not been revoked or expired."
    )]
    TokenInvalid,
    /// The token is not valid, and neither were too many before it.
    #[error(
        "The API token is not valid, and too many such came from your address. Check that it was copied whole, \
         and has not been revoked or expired; retry after {retry_after_s} s. Valid tokens are served meanwhile."
    )]
    TokensGuessed {
        /// When further unknown tokens are looked at again, seconds.
        retry_after_s: u64,
    },
    /// The token may be used from other addresses only.
    #[error(
        "This API token may not be used from the address {0}. Have the address added to its allow-list, or use \
         a token without one."
    )]
    AddressNotAllowed(IpAddr),
    /// The account is disabled.
    #[error("This account is disabled. Contact support.")]
    AccountDisabled,
    /// The account is dormant.
    #[error("This account is dormant. Contact support to have it reactivated.")]
    AccountDormant,
    /// The account may use the sandbox only.
    #[error("This account is not activated yet: until it is, only the sandbox can be used.")]
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
    /// `body` is missing, or nothing is left of it.
    #[error(
        "The message text is missing, or nothing is left of it once emoji and characters without a plain \
         equivalent are removed. Give a `body`, or set `unicode` to true to send it as written."
    )]
    BodyMissing,
    /// The sender ID cannot be one.
    #[error("The sender ID in `from` must be 1 to 11 printable characters.")]
    SenderForm,
    /// The only number given is not a recipient.
    #[error(
        "The number in `to` is not a valid mobile number. Use the international format, such as 2348031234567."
    )]
    RecipientInvalid,
    /// None of several numbers is a recipient.
    #[error(
        "None of the numbers in `to` is a valid mobile number. Use the international format, such as 2348031234567."
    )]
    NoValidRecipient,
    /// No message of this account has that id.
    #[error("There is no message with this message_id on this account.")]
    UnknownMessage,
    /// The text is too long.
    #[error("The message text has {length} characters; at most {limit} are allowed.")]
    TooLong {
        /// Characters given.
        length: usize,
        /// Characters allowed.
        limit: usize,
    },
    /// There is no such gateway here.
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
    /// The same text to the same recipients within the window.
    #[error(
        "The same text was sent to the same recipients within the last minute. This one was not sent and not \
         charged; do not retry it."
    )]
    Duplicate,
    /// The operator does not carry this content.
    #[error("The text holds `{0}`, which is not carried here. It was not sent and not charged.")]
    Prohibited(String),
    /// Transactional text on a promotional gateway.
    #[error(
        "The text looks transactional (`{phrase}`), which the gateway {gateway} does not carry. {instead} It was \
         not sent and not charged."
    )]
    Transactional {
        /// The words that gave it away.
        phrase: String,
        /// The gateway asked for.
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
        /// Which one.
        sender: String,
        /// The advice to the caller.
        instead: String,
    },
    /// Too many recipients in one request.
    #[error("At most {limit} recipients are allowed in a request. Split the list.")]
    TooManyRecipients {
        /// How many are allowed.
        limit: usize,
    },
    /// The callback address cannot be one.
    #[error("`callback_url` is not usable: {0}.")]
    CallbackUrl(String),
    /// The request body is too large.
    #[error("The request body is larger than {}. Split the list of recipients.", size(*limit_bytes))]
    BodyTooLarge {
        /// Allowed size.
        limit_bytes: usize,
    },
    /// The head of the request is too large.
    #[error(
        "The head of the request is larger than {}, or has more than {headers} headers. Send long texts in the body.",
        size(*bytes)
    )]
    HeadTooLarge {
        /// Headers that are allowed.
        headers: usize,
        /// Allowed size.
        bytes: usize,
    },
    /// The wallet cannot pay.
    #[error(
        "Insufficient wallet balance: {needed} NGN are needed, {available} NGN are available. Add credit."
    )]
    InsufficientFunds {
        /// The cost of the send.
        needed: Money,
        /// The balance of the wallet.
        available: Money,
    },
    /// The account has a limit on what it spends in a day.
    #[error(
        "The daily spend limit of this account is {limit} NGN: {left} NGN are left for today, and {needed} NGN are \
         needed. Nothing was sent or charged; the limit begins anew at midnight (Africa/Lagos), in \
         {retry_after_s} s."
    )]
    DailyLimit {
        /// The daily limit.
        limit: Money,
        /// The rest of it.
        left: Money,
        /// The cost of the send.
        needed: Money,
        /// When the next day begins, seconds.
        retry_after_s: u64,
    },
    /// A number had as many messages of the account as an hour may have.
    #[error(
        "At most {limit} messages an hour may go to one number, and one of {block} has had them from this \
         account. Nothing was sent or charged; leave it out, or retry after {retry_after_s} s."
    )]
    RecipientTooOften {
        /// Messages of an account to a number in an hour.
        limit: u32,
        /// The block of the number: it is not told whole.
        block: Block,
        /// When the next hour begins, seconds.
        retry_after_s: u64,
    },
    /// The account sent so much to a block that it is paused.
    #[error(
        "Sending to {block} is paused for this account, since many messages went there within an hour. Nothing \
         was sent or charged; leave these numbers out, retry after {retry_after_s} s, or ask support to release \
         them."
    )]
    BlockPaused {
        /// Which block.
        block: Block,
        /// When the pause ends, seconds.
        retry_after_s: u64,
    },
    /// Too many requests.
    #[error(
        "The rate limit of {limit} requests a minute is reached. Retry after {retry_after_s} s."
    )]
    RateLimited {
        /// Requests in any 60 seconds.
        limit: u32,
        /// When there is room again, seconds.
        retry_after_s: u64,
    },
    /// So many can never be simulated at once.
    #[error(
        "The sandbox simulates at most {limit} {what} of an account in any 60 seconds. Split the list. Nothing was \
         simulated."
    )]
    SandboxTooMany {
        /// The kind of which there are too many.
        what: Simulated,
        /// How many are simulated in any 60 seconds.
        limit: u32,
    },
    /// As many were simulated as any 60 seconds may have.
    #[error(
        "The sandbox simulates at most {limit} {what} of an account in any 60 seconds. Nothing was simulated; retry \
         after {retry_after_s} s. Live messages are not limited so."
    )]
    SandboxLimited {
        /// The kind of which there were too many.
        what: Simulated,
        /// How many are simulated in any 60 seconds.
        limit: u32,
        /// When there is room again, seconds.
        retry_after_s: u64,
    },
    /// No such path.
    #[error("There is no such path. See /docs.")]
    UnknownPath,
    /// The path exists, the method does not.
    #[error("This path does not answer this method. See /docs.")]
    MethodNotAllowed,
    /// No room now; nothing was charged.
    #[error(
        "The service is overloaded or not ready. Nothing was sent or charged; retry after {retry_after_s} s."
    )]
    Unavailable {
        /// When to retry, seconds.
        retry_after_s: u64,
    },
    /// The commit of a send has begun and not ended in time: it may stand. The window of duplicates outlasts the time
    /// that is named.
    #[error(
        "This send took too long to commit, and may still be accepted: whether it was sent and charged is not known. \
         Sent again with the same Idempotency-Key, it is accepted once. Without one, sent again unchanged within 30 s, \
         it is answered API-2012 if it was; later, look first for a delivery report of the message_id {message}."
    )]
    OutcomeUnknown {
        /// The message that it may have become.
        message: MessageId,
        /// When to send it again, seconds.
        retry_after_s: u64,
    },
    /// The key of the request belongs to another request.
    #[error(
        "This Idempotency-Key was used with another request. Nothing was done: send that request unchanged to get its \
         answer again, or give this one a new key."
    )]
    KeyUsed,
    /// The first request of this key has no answer yet.
    #[error(
        "The first request with this Idempotency-Key is still being handled. Send this one again after \
         {retry_after_s} s, with the same key."
    )]
    KeyInUse {
        /// Seconds until the request is sent again.
        retry_after_s: u64,
    },
    /// The message, or the one-time password, is too far for this change.
    #[error("{0}")]
    TooLate(&'static str),
    /// Rows of a personalised send cannot be sent.
    #[error(
        "Rows that cannot be sent: {}. Nothing was sent or charged. `error.details` names the first faults: mend these \
         rows and send all of them again.",
        .0.rows()
    )]
    Rows(RowFaults),
    /// Nobody is left to send to.
    #[error(
        "Every recipient has opted out of messages from this account, or is on the do-not-disturb list that this \
         gateway respects. Nothing was sent or charged. Take these numbers off your list, or choose another gateway."
    )]
    NobodyLeft,
    /// A one-time password was sent to this number too often.
    #[error(
        "At most {limit} one-time passwords an hour may go to one number, resends included. Nothing was sent or \
         charged; retry after {retry_after_s} s."
    )]
    OtpTooOften {
        /// One-time passwords to a number in an hour.
        limit: u32,
        /// Seconds until there is room again.
        retry_after_s: u64,
    },
    /// The last message of this one-time password is too recent for another.
    #[error(
        "This one-time password was sent a moment ago. Nothing was sent or charged; send it again after \
         {retry_after_s} s."
    )]
    OtpResendTooSoon {
        /// Seconds until it may be sent again.
        retry_after_s: u64,
    },
    /// This one-time password was sent again as often as it may be.
    #[error(
        "This one-time password was sent again {limit} times, and no more is possible. Nothing was sent or charged; \
         make a new one with `POST /otp`."
    )]
    OtpResendsUsed {
        /// Times that a one-time password may be sent again.
        limit: u32,
    },
}

/// The kinds that the sandbox limits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Simulated {
    /// Recipients.
    Recipients,
    /// Recipients for whom a callback is made.
    Callbacks,
}

impl fmt::Display for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recipients => "recipients",
            Self::Callbacks => "recipients with a `callback_url`",
        })
    }
}

/// A number of bytes in the largest unit of which it is a whole number.
fn size(bytes: usize) -> String {
    let units = [("MiB", 1 << 20), ("KiB", 1 << 10)];
    let whole = units.iter().find(|(_, unit)| bytes.is_multiple_of(*unit));
    let (name, unit) = whole.unwrap_or(&("bytes", 1));
    format!("{} {name}", bytes / unit)
}

/// Returns the rest of a wait for `retry_after_s`: whole seconds, rounded up.
pub(crate) fn seconds(left_ms: i64) -> u64 {
    left_ms.unsigned_abs().div_ceil(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_a_body_is_told_as_it_is_and_never_as_nothing() {
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
