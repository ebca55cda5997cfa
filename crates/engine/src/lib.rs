//! Every effect of Ogene, as a pipeline of stages.
//!
//! | stage | content |
//! |---|---|
//! | `admit` | callers, rate limits, content rules and velocity limits |
//! | `accept` | sends become messages, in groups |
//! | `dispatch` | batches become submits; one worker for each carrier |
//! | `settle` | responses and receipts are committed, in groups |
//! | `notify` | callbacks are posted to the customers' URLs |
//!
//! Beside the stages, `changes` completes pauses and cancels, `cluster` shares work with other nodes,
//! `background` runs periodic tasks, `queries` finds messages and recipients, `operators` implements
//! the commands, `payments` credits what customers paid, and `sessions` the sign-in to the console.
//! `mail` sends a mail. `context` holds the store, the clock and
//! the other values that the stages share. `engine` starts all modules.
//!
//! This crate knows neither the HTTP API nor SQL. Time, randomness and connections come from the
//! [`System`] that its user passes in.

mod accept;
mod admit;
mod background;
mod changes;
mod cluster;
mod contacts;
mod context;
mod dispatch;
mod engine;
mod error;
mod mail;
mod notify;
pub mod operators;
mod payments;
mod queries;
mod sessions;
mod settings;
mod settle;
mod uploads;

pub use accept::{Answered, Keyed, PersonalisedSent, Sent, WriteBody};
pub use admit::bound_users::OpenSubmit;
pub use admit::callers::Caller;
pub use contacts::{Added, Contacts, ContactsError};
pub use context::clock::Clock;
pub use context::network::{Network, NetworkFuture, Transport};
pub use context::plan::SANDBOX;
pub use context::random::Random;
pub use context::request_log::RequestLog;
pub use context::system::System;
pub use database::Outage;
pub use domain::rate::Rate;
pub use engine::{
    Admission, BindRefusal, CarrierHook, CarrierState, Changed, Credentials, CustomerQueries,
    DeliveryReport, Engine, Export, HeldReceipts, HookRefusal, Installation, KeyedAnswer,
    LeftOutCsv, LeftOutRow, NodeState, NotAdmitted, PageFields, PaymentDesk, PaymentTerms, Purpose,
    Queue, Quoted, Reloaded, SendRequest, SmppBind, SmppEntrance, SmppReceiver, SubmitRefusal,
    UploadLook, UploadReview, UploadSend, UploadSends, UploadStep,
};
pub use engine::{
    alerts, changes as message_changes, inbound_answers, inbound_routes, opt_outs, otp, sender_ids,
    smpp_user_changes, sub_accounts, tokens, top_ups, webhooks,
};
pub use error::{Error, StartError};
pub use mail::{Mail, MailError, MailSettings, MailTls};
pub use payments::WebhookRefusal;
pub use queries::{
    Event, EventKind, ListPage, Message, PauseChange, RecipientState, Timeline, Usage,
    UsageOverview, WalletEntry,
};
pub use sessions::{
    Client, LinkFields, OpenLink, PasskeyInfo, SecondFactor, SessionError, Sessions, SignedIn,
    Visit, session_id,
};
pub use settings::{
    BaseUrlFault, BindMode, CallbackSettings, CarrierSettings, GuardSettings, HookSettings,
    HttpSettings, InboundSettings, Limits, PaymentSettings, PollSettings, Protocol,
    ProviderSettings, Retention, SandboxLimits, Settings, SmppSettings,
};
pub use store::{
    AddedOptOuts, Attempted, Callback as DeadCallback, CallbackAttempt as MadeAttempt,
    CallbackEvent, ContactGroup, Doubtful, RefusedRequest, SessionInfo, StoredAnswer, Upload,
    UploadId,
};
pub use store::{SubAccount, Transfer};
pub use uploads::{UploadError, Uploads};
