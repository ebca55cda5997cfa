//! The one table from refusals to codes, HTTP statuses and descriptions
//! (docs/spec/interface.md, section 5.2).

use crate::http::head::{MAX_HEAD_BYTES, MAX_HEADERS};
use axum::http::StatusCode;
use domain::personalised::{Reason, RowFaults};
use domain::velocity::Block;
use domain::{ObjectRefusal, Refusal, Simulated};

/// The wait until a retry after the store could not take a request, in seconds.
pub(super) const RETRY_AFTER_S: u64 = 2;

/// The code of a failure, its HTTP status and its short label.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct ErrorCode {
    pub(crate) code: &'static str,
    pub(crate) status: StatusCode,
    pub(crate) description: &'static str,
}

/// Writes one row for each refusal. The rows produce both the match and the examples of the
/// documentation, so a new refusal does not compile without a code.
macro_rules! table {
    ($($refusal:pat => $code:literal $status:ident $description:literal, as $example:expr;)+) => {
        /// Returns the row of a refusal.
        pub(crate) fn kind(refusal: &Refusal) -> ErrorCode {
            match refusal {
                $($refusal => ErrorCode {
                    code: $code,
                    status: StatusCode::$status,
                    description: $description,
                },)+
            }
        }

        /// Returns an example of every refusal, in the order of the table.
        pub(crate) fn examples() -> Vec<Refusal> {
            vec![$($example,)+]
        }
    };
}

table! {
    Refusal::TokenMissing => "API-1001" UNAUTHORIZED "Missing API token", as Refusal::TokenMissing;
    Refusal::TokenUnread(_) => "API-1001" UNAUTHORIZED "Missing API token",
        as Refusal::TokenUnread("The request body ended early. Send it again.".to_owned());
    Refusal::TokenInvalid => "API-1001" UNAUTHORIZED "Invalid API token", as Refusal::TokenInvalid;
    Refusal::TokensGuessed { .. } => "API-3004" TOO_MANY_REQUESTS "Rate limit exceeded",
        as Refusal::TokensGuessed { retry_after_s: 12 };
    Refusal::AddressNotAllowed(_) => "API-1007" FORBIDDEN "API access restricted",
        as Refusal::AddressNotAllowed([203, 0, 113, 9].into());
    Refusal::OutOfScope(_) => "API-1007" FORBIDDEN "API access restricted",
        as Refusal::OutOfScope(domain::token::Scopes::of(&[domain::token::Scope::Send]));
    Refusal::Object(ObjectRefusal::TokenExceeds) => "API-1007" FORBIDDEN "API access restricted",
        as Refusal::Object(ObjectRefusal::TokenExceeds);
    Refusal::AccountDisabled => "API-1002" UNAUTHORIZED "Account disabled", as Refusal::AccountDisabled;
    Refusal::AccountDormant => "API-1003" UNAUTHORIZED "Account dormant", as Refusal::AccountDormant;
    Refusal::AccountPending => "API-1007" FORBIDDEN "API access restricted", as Refusal::AccountPending;
    Refusal::AccountRestricted => "API-1007" FORBIDDEN "API access restricted", as Refusal::AccountRestricted;
    Refusal::Malformed(_) => "API-2000" BAD_REQUEST "Malformed request",
        as Refusal::Malformed("`unicode` must be true, false, 1 or 0.".to_owned());
    Refusal::FromMissing => "API-2001" BAD_REQUEST "Sender ID missing", as Refusal::FromMissing;
    Refusal::BodyMissing => "API-2002" UNPROCESSABLE_ENTITY "Message text missing", as Refusal::BodyMissing;
    Refusal::ToMissing => "API-2003" BAD_REQUEST "Recipient missing", as Refusal::ToMissing;
    Refusal::SenderForm => "API-2004" BAD_REQUEST "Malformed sender ID", as Refusal::SenderForm;
    Refusal::RecipientInvalid => "API-2006" UNPROCESSABLE_ENTITY "Invalid recipient", as Refusal::RecipientInvalid;
    Refusal::UnknownMessage => "API-2007" NOT_FOUND "Unknown message", as Refusal::UnknownMessage;
    Refusal::Object(ObjectRefusal::UnknownRoute) => "API-2007" NOT_FOUND "Unknown route",
        as Refusal::Object(ObjectRefusal::UnknownRoute);
    Refusal::Object(ObjectRefusal::UnknownOptOut) => "API-2007" NOT_FOUND "Unknown opt-out",
        as Refusal::Object(ObjectRefusal::UnknownOptOut);
    Refusal::Object(ObjectRefusal::OptOutsUsed { .. }) => "API-3004" TOO_MANY_REQUESTS "Too many opt-outs",
        as Refusal::Object(ObjectRefusal::OptOutsUsed { limit: domain::opt_out::MAX_OPT_OUTS });
    Refusal::Object(ObjectRefusal::UnknownNumber) => "API-2007" NOT_FOUND "Unknown number",
        as Refusal::Object(ObjectRefusal::UnknownNumber);
    Refusal::Object(ObjectRefusal::UnknownToken) => "API-2007" NOT_FOUND "Unknown token",
        as Refusal::Object(ObjectRefusal::UnknownToken);
    Refusal::Object(ObjectRefusal::UnknownSmppUser) => "API-2007" NOT_FOUND "Unknown SMPP user",
        as Refusal::Object(ObjectRefusal::UnknownSmppUser);
    Refusal::Object(ObjectRefusal::SmppUsersUsed { .. }) => "API-3004" TOO_MANY_REQUESTS "Too many SMPP users",
        as Refusal::Object(ObjectRefusal::SmppUsersUsed { limit: domain::smpp_user::MAX_USERS });
    Refusal::Object(ObjectRefusal::TokensUsed { .. }) => "API-3004" TOO_MANY_REQUESTS "Too many tokens",
        as Refusal::Object(ObjectRefusal::TokensUsed { limit: domain::token::MAX_TOKENS });
    Refusal::Object(ObjectRefusal::UnknownTopUp) => "API-2007" NOT_FOUND "Unknown top-up",
        as Refusal::Object(ObjectRefusal::UnknownTopUp);
    Refusal::Object(ObjectRefusal::UnknownAlert) => "API-2007" NOT_FOUND "Unknown alert",
        as Refusal::Object(ObjectRefusal::UnknownAlert);
    Refusal::Object(ObjectRefusal::AlertsUsed { .. }) => "API-3004" TOO_MANY_REQUESTS "Too many alerts",
        as Refusal::Object(ObjectRefusal::AlertsUsed { limit: domain::alert::MAX_ALERTS });
    Refusal::Object(ObjectRefusal::UnknownProvider { .. }) => "API-2000" BAD_REQUEST "Unknown payment provider",
        as Refusal::Object(ObjectRefusal::UnknownProvider {
            instead: "`provider` must be one of: paystack, flutterwave.".to_owned(),
        });
    Refusal::Object(ObjectRefusal::TopUpsOpen { .. }) => "API-3004" TOO_MANY_REQUESTS "Too many unpaid top-ups",
        as Refusal::Object(ObjectRefusal::TopUpsOpen { limit: domain::payment::MAX_OPEN_TOP_UPS });
    Refusal::Object(ObjectRefusal::ProviderDown) => "API-3006" BAD_GATEWAY "Payment provider does not answer",
        as Refusal::Object(ObjectRefusal::ProviderDown);
    Refusal::Object(ObjectRefusal::UnknownSecret) => "API-2007" NOT_FOUND "Unknown secret",
        as Refusal::Object(ObjectRefusal::UnknownSecret);
    Refusal::Object(ObjectRefusal::SecretsUsed { .. }) => "API-3004" TOO_MANY_REQUESTS "Too many secrets",
        as Refusal::Object(ObjectRefusal::SecretsUsed { limit: domain::callback::signature::MAX_SECRETS });
    Refusal::Object(ObjectRefusal::UnknownSubAccount) => "API-2007" NOT_FOUND "Unknown sub-account",
        as Refusal::Object(ObjectRefusal::UnknownSubAccount);
    Refusal::Object(ObjectRefusal::IsSubAccount) => "API-1007" FORBIDDEN "API access restricted",
        as Refusal::Object(ObjectRefusal::IsSubAccount);
    Refusal::Object(ObjectRefusal::SubAccountsUsed { .. }) => "API-3004" TOO_MANY_REQUESTS "Too many sub-accounts",
        as Refusal::Object(ObjectRefusal::SubAccountsUsed { limit: domain::resale::MAX_SUB_ACCOUNTS });
    Refusal::Object(ObjectRefusal::SubAccountStopped) => "API-2019" CONFLICT "Stopped by the operator",
        as Refusal::Object(ObjectRefusal::SubAccountStopped);
    Refusal::Object(ObjectRefusal::PriceBelowOwn { .. }) => "API-2022" UNPROCESSABLE_ENTITY "Price below the own",
        as Refusal::Object(ObjectRefusal::PriceBelowOwn {
            gateway: "direct-refund",
            plain: domain::Money::from_naira(6),
            unicode: domain::Money::from_naira(12),
        });
    Refusal::Object(ObjectRefusal::SubAccountLimit { .. }) => "API-3001" PAYMENT_REQUIRED "Daily limit reached",
        as Refusal::Object(ObjectRefusal::SubAccountLimit {
            limit: domain::Money::from_naira(5_000),
            left: domain::Money::from_naira(4),
            needed: domain::Money::from_naira(6),
        });
    Refusal::Object(ObjectRefusal::ReferenceUsed) => "API-2016" UNPROCESSABLE_ENTITY "Reference used for another transfer",
        as Refusal::Object(ObjectRefusal::ReferenceUsed);
    Refusal::Object(ObjectRefusal::KeywordTaken) => "API-2019" CONFLICT "Keyword taken",
        as Refusal::Object(ObjectRefusal::KeywordTaken);
    Refusal::Object(ObjectRefusal::RouteGiven) => "API-2019" CONFLICT "Route of the operator",
        as Refusal::Object(ObjectRefusal::RouteGiven);
    Refusal::Object(ObjectRefusal::RoutesUsed { .. }) => "API-3004" TOO_MANY_REQUESTS "Too many routes",
        as Refusal::Object(ObjectRefusal::RoutesUsed { limit: domain::inbound::MAX_ROUTES });
    Refusal::TooLong { .. } => "API-2008" UNPROCESSABLE_ENTITY "Message too long",
        as Refusal::TooLong { length: 1531, limit: 1530 };
    Refusal::UnknownGateway { .. } => "API-2009" BAD_REQUEST "Unknown gateway",
        as Refusal::UnknownGateway {
            instead: "Use one of: direct-refund, direct-corporate, otp, dual-backup.".to_owned(),
        };
    Refusal::Prohibited(_) => "API-2010" UNPROCESSABLE_ENTITY "Prohibited content",
        as Refusal::Prohibited("casino".to_owned());
    Refusal::SenderNotApproved => "API-2011" FORBIDDEN "Sender ID not approved",
        as Refusal::SenderNotApproved;
    Refusal::Duplicate => "API-2012" CONFLICT "Duplicate message", as Refusal::Duplicate;
    Refusal::Transactional { .. } => "API-2013" UNPROCESSABLE_ENTITY "Message not permitted on this route",
        as Refusal::Transactional {
            phrase: "OTP".to_owned(),
            gateway: "direct-refund",
            instead: "Send it over `direct-corporate` or `otp`.".to_owned(),
        };
    Refusal::InternationalSender { .. } => "API-2013" UNPROCESSABLE_ENTITY "Message not permitted on this route",
        as Refusal::InternationalSender {
            sender: "AdaStores".to_owned(),
            instead: "Send it over `international`.".to_owned(),
        };
    Refusal::TooManyRecipients { .. } => "API-2014" UNPROCESSABLE_ENTITY "Too many recipients",
        as Refusal::TooManyRecipients { limit: 10_000 };
    Refusal::CallbackUrl(_) => "API-2015" BAD_REQUEST "Unusable callback URL",
        as Refusal::CallbackUrl("it must begin with http:// or https://".to_owned());
    Refusal::KeyUsed => "API-2016" UNPROCESSABLE_ENTITY "Key used with another request", as Refusal::KeyUsed;
    Refusal::BodyTooLarge { .. } => "API-2017" PAYLOAD_TOO_LARGE "Request body too large",
        as Refusal::BodyTooLarge { limit_bytes: 10 << 20 };
    Refusal::KeyInUse { .. } => "API-2018" CONFLICT "Request still being handled",
        as Refusal::KeyInUse { retry_after_s: 1 };
    Refusal::TooLate(_) => "API-2019" CONFLICT "Too late",
        as Refusal::TooLate("This one-time password has its final state: it cannot be cancelled any more.");
    Refusal::OtpTooOften { .. } => "API-3004" TOO_MANY_REQUESTS "Too many one-time passwords to a number",
        as Refusal::OtpTooOften { limit: 5, retry_after_s: 1_200 };
    Refusal::OtpResendTooSoon { .. } => "API-3004" TOO_MANY_REQUESTS "One-time password sent a moment ago",
        as Refusal::OtpResendTooSoon { retry_after_s: 12 };
    Refusal::OtpResendsUsed { .. } => "API-3004" TOO_MANY_REQUESTS "No more resends",
        as Refusal::OtpResendsUsed { limit: 3 };
    Refusal::Rows(_) => "API-2020" UNPROCESSABLE_ENTITY "Rows that cannot be sent",
        as Refusal::Rows(row_faults());
    Refusal::NobodyLeft => "API-2021" UNPROCESSABLE_ENTITY "Every recipient has opted out or is on DND",
        as Refusal::NobodyLeft;
    Refusal::HeadTooLarge { .. } => "API-2023" REQUEST_HEADER_FIELDS_TOO_LARGE "Request head too large",
        as Refusal::HeadTooLarge { headers: MAX_HEADERS, bytes: MAX_HEAD_BYTES as usize };
    Refusal::InsufficientFunds { .. } => "API-3001" PAYMENT_REQUIRED "Insufficient wallet balance",
        as Refusal::InsufficientFunds {
            needed: domain::Money::from_naira(600),
            available: domain::Money::from_naira(94),
        };
    Refusal::NoValidRecipient => "API-3002" UNPROCESSABLE_ENTITY "No valid recipient", as Refusal::NoValidRecipient;
    Refusal::RateLimited { .. } => "API-3004" TOO_MANY_REQUESTS "Rate limit exceeded",
        as Refusal::RateLimited { limit: 1000, retry_after_s: 12 };
    Refusal::DailyLimit { .. } => "API-3004" TOO_MANY_REQUESTS "Daily spend limit reached",
        as Refusal::DailyLimit {
            limit: domain::Money::from_naira(5_000),
            left: domain::Money::from_naira(94),
            needed: domain::Money::from_naira(600),
            retry_after_s: 19_380,
        };
    Refusal::RecipientTooOften { .. } => "API-3004" TOO_MANY_REQUESTS "Too many messages to a number",
        as Refusal::RecipientTooOften {
            limit: 20,
            block: Block::from_digits(2_348_031_234),
            retry_after_s: 1_240,
        };
    Refusal::BlockPaused { .. } => "API-3004" TOO_MANY_REQUESTS "Block of numbers paused",
        as Refusal::BlockPaused { block: Block::from_digits(2_348_031_234), retry_after_s: 3_600 };
    Refusal::SandboxTooMany { .. } => "API-2014" UNPROCESSABLE_ENTITY "Too many recipients",
        as Refusal::SandboxTooMany { what: Simulated::Callbacks, limit: 1_000 };
    Refusal::SandboxLimited { .. } => "API-3004" TOO_MANY_REQUESTS "Sandbox limit reached",
        as Refusal::SandboxLimited { what: Simulated::Recipients, limit: 10_000, retry_after_s: 12 };
    Refusal::Object(ObjectRefusal::SendersPending { .. }) => "API-3004" TOO_MANY_REQUESTS "Too many pending sender IDs",
        as Refusal::Object(ObjectRefusal::SendersPending { limit: domain::sender_request::MAX_PENDING_SENDERS });
    Refusal::UnknownPath => "API-4040" NOT_FOUND "No such path", as Refusal::UnknownPath;
    Refusal::MethodNotAllowed => "API-4050" METHOD_NOT_ALLOWED "Method not allowed", as Refusal::MethodNotAllowed;
    Refusal::Unavailable { .. } => "API-5003" SERVICE_UNAVAILABLE "Service unavailable",
        as Refusal::Unavailable { retry_after_s: RETRY_AFTER_S };
    Refusal::OutcomeUnknown { .. } => "API-5003" SERVICE_UNAVAILABLE "Outcome unknown",
        as Refusal::OutcomeUnknown {
            message: domain::MessageId::new(1_795_000_000_000, [7; 10]),
            retry_after_s: 5,
        };
    Refusal::ChangeUnknown { .. } => "API-5003" SERVICE_UNAVAILABLE "Outcome unknown",
        as Refusal::ChangeUnknown { retry_after_s: RETRY_AFTER_S };
    Refusal::ChangeUnderWay { .. } => "API-5003" SERVICE_UNAVAILABLE "Change under way",
        as Refusal::ChangeUnderWay { retry_after_s: 5 };
}

/// Returns the wait in `Retry-After`, in seconds. A new refusal does not compile without an entry.
pub(super) fn retry_after_s(refusal: &Refusal) -> Option<u64> {
    match refusal {
        Refusal::RateLimited { retry_after_s, .. }
        | Refusal::DailyLimit { retry_after_s, .. }
        | Refusal::RecipientTooOften { retry_after_s, .. }
        | Refusal::BlockPaused { retry_after_s, .. }
        | Refusal::SandboxLimited { retry_after_s, .. }
        | Refusal::TokensGuessed { retry_after_s }
        | Refusal::KeyInUse { retry_after_s }
        | Refusal::OtpTooOften { retry_after_s, .. }
        | Refusal::OtpResendTooSoon { retry_after_s }
        | Refusal::Unavailable { retry_after_s }
        | Refusal::OutcomeUnknown { retry_after_s, .. }
        | Refusal::ChangeUnknown { retry_after_s }
        | Refusal::ChangeUnderWay { retry_after_s } => Some(*retry_after_s),
        Refusal::TokenMissing
        | Refusal::TokenUnread(_)
        | Refusal::TokenInvalid
        | Refusal::AddressNotAllowed(_)
        | Refusal::OutOfScope(_)
        | Refusal::Object(_)
        | Refusal::AccountDisabled
        | Refusal::AccountDormant
        | Refusal::AccountPending
        | Refusal::AccountRestricted
        | Refusal::Malformed(_)
        | Refusal::FromMissing
        | Refusal::BodyMissing
        | Refusal::ToMissing
        | Refusal::SenderForm
        | Refusal::RecipientInvalid
        | Refusal::UnknownMessage
        | Refusal::TooLong { .. }
        | Refusal::UnknownGateway { .. }
        | Refusal::Prohibited(_)
        | Refusal::SenderNotApproved
        | Refusal::Duplicate
        | Refusal::Transactional { .. }
        | Refusal::InternationalSender { .. }
        | Refusal::TooManyRecipients { .. }
        | Refusal::CallbackUrl(_)
        | Refusal::KeyUsed
        | Refusal::BodyTooLarge { .. }
        | Refusal::TooLate(_)
        | Refusal::OtpResendsUsed { .. }
        | Refusal::Rows(_)
        | Refusal::HeadTooLarge { .. }
        | Refusal::InsufficientFunds { .. }
        | Refusal::NoValidRecipient
        | Refusal::SandboxTooMany { .. }
        | Refusal::UnknownPath
        | Refusal::MethodNotAllowed
        | Refusal::NobodyLeft => None,
    }
}

/// Returns the faults of rows, one of which has no value for a placeholder.
fn row_faults() -> RowFaults {
    let mut faults = RowFaults::default();
    faults.note(3, "name", Reason::Missing);
    faults
}
