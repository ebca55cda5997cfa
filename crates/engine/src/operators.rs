//! The operations of operators: accounts, tokens, sender IDs, wallets, callbacks and more.
//!
//! They work on the database, with or without a running server. A running server applies each
//! change within a second.

mod accounts;
mod actor;
mod audit;
mod callbacks;
mod carriers;
mod configuration;
mod content;
mod dnd;
mod error;
mod inbound;
mod messages;
mod opt_outs;
mod page;
mod queries;
mod requests;
mod revenue;
mod senders;
mod smpp_users;
mod sub_accounts;
mod tokens;
mod top_ups;
mod users;
mod velocity;
mod wallets;

pub use crate::changes::{Cancelled, MessageRequest};
pub use crate::queries::recipients::OutcomeCount;
pub use crate::queries::resale::ResaleUsage;
pub use accounts::{Accounts, QueuedSettled};
pub use actor::Actor;
pub use audit::Audit;
pub use callbacks::{Callbacks, Replay};
pub use carriers::{Carriers, TestEnd, TestMessage, TestStep};
pub use configuration::Configuration;
pub use content::{Content, Phrase, prohibiting};
pub use dnd::Dnd;
pub use error::OperationError;
pub use inbound::{Inbound, RouteFields};
pub use messages::Messages;
pub use opt_outs::OptOuts;
pub use page::{Page, PageRequest};
pub use queries::{Export, MessageDetails, Queries, QueryScope};
pub use requests::Requests;
pub use revenue::{MonthRevenue, Revenues, SumProgress};
pub use senders::Senders;
pub use smpp_users::{NewSmppUser, SmppUsers};
pub use store::{
    AuditEntry, CallbackSecret, ControlledCarrier, DeadOrigin, Invitation, Member, Membership,
    PausedBlock, RegisteredSender, TokenInfo, User, Verification as Checked, VerifyProgress,
};
pub use sub_accounts::SubAccounts;
pub use tokens::Tokens;
pub use top_ups::TopUps;
pub use users::{LinkText, Users};
pub use velocity::Velocity;
pub use wallets::{Credit, Wallets};

use domain::Rulebook;
use store::Store;

/// The operations of one actor on one database.
#[derive(Clone)]
pub struct Operations {
    store: Store,
    actor: Actor,
}

impl Operations {
    /// Returns the operations of `actor` on `store`.
    pub fn new(store: Store, actor: Actor) -> Self {
        Self { store, actor }
    }

    /// Returns the actor.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Accounts: create, list, show, status, limits.
    pub fn accounts(&self) -> Accounts {
        let Self { store, actor } = self.clone();
        Accounts { store, actor }
    }

    /// API tokens: create, list, revoke.
    pub fn tokens(&self) -> Tokens {
        let Self { store, actor } = self.clone();
        Tokens { store, actor }
    }

    /// SMPP users: create, list, show, revoke, limits.
    pub fn smpp_users(&self) -> SmppUsers {
        let Self { store, actor } = self.clone();
        SmppUsers { store, actor }
    }

    /// Sub-accounts: create, list, show, change, transfer. The rules have the prices.
    pub fn sub_accounts(&self, rules: Rulebook) -> SubAccounts {
        let Self { store, actor } = self.clone();
        SubAccounts {
            store,
            actor,
            rules,
        }
    }

    /// Sender IDs: register, list, change their status.
    pub fn senders(&self) -> Senders {
        let Self { store, actor } = self.clone();
        Senders { store, actor }
    }

    /// Refused requests of the API: list, show.
    pub fn requests(&self) -> Requests {
        let store = self.store.clone();
        Requests { store }
    }

    /// Wallets: credit, debit, statement.
    pub fn wallets(&self) -> Wallets {
        let Self { store, actor } = self.clone();
        Wallets { store, actor }
    }

    /// Callbacks: attempts, dead ones, replay, secrets.
    pub fn callbacks(&self) -> Callbacks {
        let Self { store, actor } = self.clone();
        Callbacks { store, actor }
    }

    /// Carriers: list, pause, drain, resume, throttle, test. The rules have the configured carriers.
    pub fn carriers(&self, rules: Rulebook) -> Carriers {
        let Self { store, actor } = self.clone();
        Carriers {
            store,
            actor,
            rules,
        }
    }

    /// Prohibited phrases: add, remove, list.
    pub fn content(&self) -> Content {
        let Self { store, actor } = self.clone();
        Content { store, actor }
    }

    /// Paused blocks of numbers: list, release.
    pub fn velocity(&self) -> Velocity {
        let Self { store, actor } = self.clone();
        Velocity { store, actor }
    }

    /// Inbound messages: list; routes: add, list, remove.
    pub fn inbound(&self) -> Inbound {
        let Self { store, actor } = self.clone();
        Inbound { store, actor }
    }

    /// Opt-outs: add, list, remove.
    pub fn opt_outs(&self) -> OptOuts {
        let Self { store, actor } = self.clone();
        OptOuts { store, actor }
    }

    /// Top-ups: list, accept, reject.
    pub fn top_ups(&self) -> TopUps {
        let Self { store, actor } = self.clone();
        TopUps { store, actor }
    }

    /// Revenue: add up by month.
    pub fn revenue(&self) -> Revenues {
        let Self { store, actor } = self.clone();
        Revenues { store, actor }
    }

    /// DND: import, add, remove, count.
    pub fn dnd(&self) -> Dnd {
        let Self { store, actor } = self.clone();
        Dnd { store, actor }
    }

    /// Users of the console: create, list, invite, roles, reset, disable.
    pub fn users(&self) -> Users {
        let Self { store, actor } = self.clone();
        Users { store, actor }
    }

    /// Messages, money and usage: list, show, add up, export. The rules name networks and prices.
    pub fn queries(&self, rules: Rulebook) -> Queries {
        let store = self.store.clone();
        let clock = self.actor.clock().clone();
        Queries {
            store,
            clock,
            rules,
        }
    }

    /// Messages: cancel, pause, resume, reschedule. The rules have the quiet hours of gateways.
    pub fn messages(&self, rules: Rulebook) -> Messages {
        let Self { store, actor } = self.clone();
        Messages {
            store,
            actor,
            rules,
        }
    }

    /// The audit list: list.
    pub fn audit(&self) -> Audit {
        let store = self.store.clone();
        Audit { store }
    }

    /// The installation: reload, verify.
    pub fn configuration(&self) -> Configuration {
        let Self { store, actor } = self.clone();
        Configuration { store, actor }
    }
}
