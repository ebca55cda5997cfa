//! All SQL of Ogene, one file for each noun. A caller enters by noun:
//! `store.wallets().statement(account, limit)`.
//!
//! One SQL text serves SQLite and PostgreSQL; the crate `database` handles the dialects. All
//! changes are transactions ([`database::Change`]). On SQLite, changes that arrive together share a
//! commit. Money moves in two places: [`messages::accept`] charges, and [`deliveries::settle`]
//! refunds.

mod accounts;
mod alerts;
mod batches;
mod buckets;
mod change_once;
mod cluster;
mod contacts;
mod deliveries;
mod dnd;
mod idempotency;
pub mod import_support;
mod inbound;
mod lists;
mod messages;
mod operators;
mod opt_outs;
mod otps;
mod outbox;
mod rows;
mod schema;
mod store;
mod top_ups;
mod upkeep;
mod uploads;
mod users;
mod wallets;

pub use accounts::Accounts;
pub use accounts::paused_blocks::{PausedBlock, PausedBlocks};
pub use accounts::rates::Rates;
pub use accounts::refused_requests::{RefusedRequest, RefusedRequests};
pub use accounts::revision::{Revision, Revisions};
pub use accounts::senders::{RegisteredSender, Senders};
pub use accounts::smpp_users::SmppUsers;
pub use accounts::sub_account_changes::SubAccount;
pub use accounts::sub_accounts::SubAccounts;
pub use accounts::token_changes::TokenInfo;
pub use accounts::tokens::Tokens;
pub use accounts::transfers::Transfer;
pub use alerts::{Alerts, Crossed, DueMail};
pub use batches::{
    Batch, BatchKind, Body, Claim, Claimed, Claims, Content, Ended, HeldBatches, MAX_RECIPIENTS,
    Progress, QueueState, Queues,
};
pub use cluster::hints::Hints;
pub use cluster::nodes::{Bind, NodeBeat, Nodes};
pub use contacts::{ContactGroup, Contacts, ContactsAdded, GroupCreated, GroupId};
pub use deliveries::delivery_rows::unreadable_deliveries;
pub use deliveries::doubts::Doubtful;
pub use deliveries::raw_receipts::ReceiptInfo;
pub use deliveries::receipt_polls::{DuePoll, PolledCarrier, ReceiptPolls};
pub use deliveries::receipts::{CarrierReport, CarrierReports, Receipt, ReceiptStatus};
pub use deliveries::settle::{CallbackRoom, MessageFacts, Planner, SecondLeg, Settled};
pub use dnd::Dnd;
pub use idempotency::{KeptAnswer, KeyedChange, KeyedRequest, Outcome, StoredAnswer, WriteAnswer};
pub use import_support::ImportState;
pub use inbound::{
    AddedRoute, ArrivedPage, FoundInbound, InboundAnswers, InboundMessages, InboundPages,
    InboundRoutes, Kept, KeptPages, PageGroup, RemovedRoute, RouteOwner, SubscriberCommand,
    WaitingAnswer,
};
pub use lists::{AccountRowKey, ListRow};
pub use messages::Messages;
pub use messages::changes::{
    ChangedMessage, MessageChanges, MessageKey, Requested, Stop, StopKind, StopStep,
};
pub use messages::info::MessageInfo;
pub use messages::new_message::{Accepted, KeyedSend, MakeAnswer, NewMessage};
pub use messages::recipient_index::RecipientIndex;
pub use messages::recipient_index::run::NewRun;
pub use messages::recipient_rows::{DeliveryInfo, RecipientInfo};
pub use messages::recipients::{Recipients, RefundInfo};
pub use messages::reports::{MessageReport, StatusCounts};
pub use messages::search::{Search, SearchScope};
pub use messages::search_candidate::{Candidate, IdRange};
pub use messages::totals::MessageTotals;
pub use operators::audit::{Audit, AuditEntry, By};
pub use operators::audited_limits::AuditedLimits;
pub use operators::carriers::{CarrierControls, ControlledCarrier};
pub use operators::content::{ContentRule, ContentRules};
pub use opt_outs::{AddedOptOuts, OptOuts};
pub use otps::{Otp, OtpChange, OtpMoment, Otps};
pub use outbox::{
    AttemptOutcome, Attempted, Attempts, CALLBACK_STATES, Callback, CallbackAttempt, CallbackEvent,
    CallbackSecret, CallbackSecrets, DeadCallbacks, DeadOrigin, DeadOriginKey, DueOrigins,
    EventKind, Finished, MessageReceipt, OriginKey, Outbox,
};
pub use schema::citus_statements;
pub use store::Store;
pub use top_ups::{Settled as SettledTopUp, TopUps};
pub use upkeep::Upkeep;
pub use upkeep::backup::{BackupError, restore};
pub use upkeep::retention::{CarrierIdKey, DeadKey, ReceiptKey, Removed, Retention, TextCursor};
pub use upkeep::sweep::{Expiry, Sweep};
pub use upkeep::verify::{Verification, VerifyProgress};
pub use uploads::{Upload, UploadId, Uploads};
pub use users::Users;
pub use users::change::Edit;
pub use users::failures::SignInFailures;
pub use users::invite::Invited;
pub use users::link_rows::Link;
pub use users::link_use::{LinkUse, LinkUsed};
pub use users::links::{Invitation, OneTimeLinks};
pub use users::members::{Member, MemberChanged, Members, Membership};
pub use users::passkey_rows::{Challenge, Passkey};
pub use users::passkey_use::PasskeyAdded;
pub use users::passkeys::Passkeys;
pub use users::session_rows::{NewSession, SessionInfo};
pub use users::sessions::{OpenSession, Sessions};
pub use users::user_rows::{NewUser, User, UserSecrets};
pub use wallets::{
    Credited, EntryKind, LedgerEntry, LedgerKey, LedgerSum, MoneySums, TopUpSum, Wallets,
};
