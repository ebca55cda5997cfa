//! What an operator does. All of it works on the database, whether or not a server runs.

mod accounts;
mod actor;
mod audit;
mod callbacks;
mod configuration;
mod content;
mod error;
mod senders;
mod tokens;
mod velocity;
mod wallets;

pub use accounts::{
    QueuedSettled, create_account, list_accounts, queued, set_daily_limit, set_status,
    set_verification, show_account, spending,
};
pub use actor::Operator;
pub use audit::audit;
pub use callbacks::{
    Replay, callback_attempts, create_secret, dead_callbacks, dead_origins, list_secrets,
    replay_callbacks, revoke_secrets, rotate_secret,
};
pub use configuration::{reload_configuration, verify};
pub use content::{add_content_rule, list_content_rules, remove_content_rule};
pub use error::AdminError;
pub use senders::{list_senders, register_sender, set_sender_status};
pub use store::{
    AuditEntry, CallbackSecret, ContentRule, PausedBlock, TokenInfo, Verification as Checked,
};
pub use tokens::{create_token, list_tokens, revoke_token};
pub use velocity::{paused_blocks, release_block};
pub use wallets::{Credit, credit, debit, statement};
