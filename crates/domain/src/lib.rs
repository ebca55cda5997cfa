//! Every decision of Ogene, as pure functions.
//!
//! A function belongs here if a table of inputs and outputs can test it. There is no input or
//! output, no clock and no randomness. Times and random numbers are arguments.

mod account;
pub mod alert;
pub mod callback;
pub mod callback_url;
pub mod carrier_control;
pub mod client_address;
mod connection_share;
mod constant_time;
pub mod contacts;
pub mod csv_cells;
mod csv_table;
mod daily_limit;
mod delivery;
pub mod dnd;
mod draft;
mod gateway;
mod hex;
pub mod http_carrier;
pub mod idempotency;
mod ids;
pub mod inbound;
mod leg;
mod money;
mod named_enum;
mod network;
mod number;
pub mod opt_out;
pub mod otp;
mod pace;
mod page_set;
pub mod payment;
pub mod personalised;
mod prohibited;
pub mod proxy_header;
pub mod public_address;
pub mod rate;
mod raw_receipt;
pub mod raw_receipt_list;
pub mod recipient_list;
mod redact;
mod refusal;
pub mod resale;
mod respected;
mod retry;
pub mod revenue;
pub mod schedule;
pub mod search;
pub mod sender;
pub mod sender_request;
pub mod smpp_receipt;
pub mod smpp_time;
pub mod smpp_user;
mod text;
pub mod time;
pub mod token;
pub mod token_guesses;
mod transactional;
mod truncate;
pub mod upload;
pub mod user;
pub mod velocity;
mod wallet;

pub use account::{
    Account, AccountStatus, Environment, Queued, SenderId, SenderStatus, Verification,
};
pub use connection_share::{Share, share};
pub use constant_time::is_secret;
pub use daily_limit::{Spending, day_begins_at, lagos_day};
pub use delivery::{
    Delivery, DeliveryEvent, DeliveryStatus, PENDING, Refund, Terms, Transition, transition,
};
pub use draft::{
    Adjustments, Class, Customer, Draft, Fingerprint, MAX_REFERENCE_CHARACTERS, NetworkCost,
    OTHER_NETWORK, PersonalisedDraft, PersonalisedRecipient, Quote, RecipientText, RecipientTexts,
    SendFields, SubmitFields, SubmitText, draft, draft_otp, draft_personalised, draft_submit,
    fingerprint, recipient_charge,
};
pub use gateway::{
    AppendSender, CarrierRules, Gateway, GatewayRules, InDoubt, Legs, MAX_RECEIPT_TIMEOUT,
    Preference, Price, Priority, QuietHours, Rulebook, Tariff,
};
pub use ids::{AccountId, BatchId, Bucket, EventId, MessageId, NodeId};
pub use leg::Leg;
pub use money::{Money, NotMoney};
pub use network::NumberPlan;
pub use number::{
    LIST_SEPARATORS, MAX_NAMED_INVALID, Recipient, RecipientList, SandboxOutcome, TooMany,
    parse_international, parse_national, parse_sandbox, read_recipients,
};
pub use pace::Pace;
pub use page_set::PageSet;
pub use prohibited::{Prohibited, phrase};
pub use raw_receipt::RawReceipt;
pub use redact::redact;
pub use refusal::{ObjectRefusal, Refusal, Simulated};
pub use respected::Respected;
pub use retry::{RetryStep, SubmitFault, after_fault};
pub use sender::SenderFault;
pub use text::{
    Alphabet, CodingFault, MAX_BODY_CHARACTERS, MAX_NAMED_CHANGES, PageFault, Prepared, RawPage,
    SarPart, Text, TextChange, TextChanges, is_binary, read_coded,
};
pub use transactional::CodeWords;
pub use truncate::{MAX_KEY_OCTETS, truncate};
pub use wallet::{Component, NotPurse, Purse};
