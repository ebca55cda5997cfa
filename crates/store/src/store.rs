//! The store: a database, entered by noun.

use crate::accounts::{
    Accounts, paused_blocks::PausedBlocks, rates::Rates, refused_requests::RefusedRequests,
    revision::Revisions, senders::Senders, smpp_users::SmppUsers, sub_accounts::SubAccounts,
    tokens::Tokens,
};
use crate::alerts::Alerts;
use crate::batches::{Claims, HeldBatches, Queues};
use crate::buckets::Buckets;
use crate::cluster::nodes::Nodes;
use crate::contacts::Contacts;
use crate::deliveries::{receipt_polls::ReceiptPolls, receipts::CarrierReports};
use crate::dnd::Dnd;
use crate::import_support::{self, ImportState};
use crate::inbound::{InboundAnswers, InboundMessages, InboundPages, InboundRoutes};
use crate::messages::reports::{Counted, StatusCounts};
use crate::messages::{
    Messages, changes::MessageChanges, duplicates::OpenWindows, recipient_index::RecipientIndex,
    recipients::Recipients, search::Search, totals::MessageTotals,
};
use crate::operators::{
    audit::Audit, audited_limits::AuditedLimits, carriers::CarrierControls, content::ContentRules,
};
use crate::opt_outs::OptOuts;
use crate::otps::Otps;
use crate::outbox::{Attempts, CallbackSecrets, DeadCallbacks, Outbox};
use crate::schema::SCHEMA;
use crate::top_ups::TopUps;
use crate::upkeep::{Upkeep, retention::Retention, sweep::Sweep};
use crate::uploads::Uploads;
use crate::users::{
    Users, failures::SignInFailures, links::OneTimeLinks, members::Members, sessions::Sessions,
};
use crate::wallets::Wallets;
use database::{Db, Error, Result, Target, make_file, prepare_directory, query};
use domain::{AccountId, Bucket};
use std::path::Path;
use std::sync::Arc;

/// The database, as the other crates see it.
#[derive(Clone)]
pub struct Store {
    db: Db,
    windows: Arc<OpenWindows>,
    counted: Arc<Counted<StatusCounts>>,
    totals: Arc<Counted<MessageTotals>>,
}

impl Store {
    /// Opens a database, and makes or upgrades its tables.
    pub async fn open(target: &Target) -> Result<Self> {
        Ok(Self::of(Db::open(target, &SCHEMA).await?))
    }

    /// Makes the directory of an embedded database, and the file that is locked before it is opened.
    pub fn prepare(directory: &Path, lock: &str) -> Result<()> {
        let prepared = prepare_directory(directory).and_then(|()| {
            make_file(directory, lock).map_err(|source| Error::directory(directory, source))
        });
        prepared.map_err(|error| error.at_start(directory))
    }

    /// Opens a database in memory. All handles of its name share it, and it ends with the last one.
    /// A task of the calling runtime makes the changes, and no thread is started.
    #[expect(
        clippy::unused_async,
        reason = "it is opened as the other databases are"
    )]
    #[cfg(feature = "test-support")]
    pub async fn in_memory(name: &str, disk: database::Disk) -> Result<Self> {
        Ok(Self::of(Db::in_memory(name, disk, &SCHEMA)?))
    }

    fn of(db: Db) -> Self {
        Self {
            db,
            windows: Arc::default(),
            counted: Arc::default(),
            totals: Arc::default(),
        }
    }

    /// Returns when the database was closed or its disk failed. A server must then end.
    pub async fn ended(&self) {
        self.db.ended().await;
    }

    /// Finishes the queued changes and closes all connections.
    pub async fn close(&self) {
        self.db.close().await;
    }

    /// Returns all buckets of the message tables.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + use<> {
        Buckets::of(&self.db).all()
    }

    /// Returns the bucket of the message tables in which an account's rows live.
    pub fn bucket_of(&self, account: AccountId) -> Bucket {
        Buckets::of(&self.db).account(account)
    }

    /// Returns the same database, treated as if its buckets lay on several servers, for tests.
    #[cfg(feature = "test-support")]
    #[must_use]
    pub fn as_distributed(mut self) -> Self {
        self.db = self.db.as_distributed();
        self
    }

    /// Splits work into the parts that one transaction each can do. The order within a part stays.
    pub fn split_by_transaction<T>(
        &self,
        work: impl IntoIterator<Item = T>,
        bucket: impl Fn(&T) -> Bucket,
    ) -> Vec<Vec<T>> {
        Buckets::of(&self.db).split_by_transaction(work, bucket)
    }

    /// Returns the time of the server's clock in Unix milliseconds, or `None` without a server.
    pub async fn server_ms(&self) -> Result<Option<i64>> {
        if self.db.is_embedded() {
            return Ok(None);
        }
        let reported: i64 = self
            .db
            .fetch_one(query(
                "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)",
            ))
            .await?;
        Ok(Some(reported))
    }

    /// Returns `true` if several nodes may work on this database at the same time.
    pub fn is_shared(&self) -> bool {
        !self.db.is_embedded()
    }

    /// Returns the database, whose rows an import moves as they are stored.
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Returns the use that this database allows.
    pub async fn import_state(&self) -> Result<ImportState> {
        import_support::import_state(&self.db).await
    }

    /// Returns the search for messages.
    pub fn search(&self) -> Search<'_> {
        Search {
            db: &self.db,
            totals: &self.totals,
        }
    }

    /// Returns the recipients of messages.
    pub fn recipients(&self) -> Recipients<'_> {
        Recipients { db: &self.db }
    }

    /// Returns the index of recipients.
    pub fn recipient_index(&self) -> RecipientIndex<'_> {
        RecipientIndex { db: &self.db }
    }

    /// Returns the accounts.
    pub fn accounts(&self) -> Accounts<'_> {
        Accounts { db: &self.db }
    }

    /// Returns the one-time passwords.
    pub fn otps(&self) -> Otps<'_> {
        Otps { db: &self.db }
    }

    /// Returns the tokens of accounts.
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens { db: &self.db }
    }

    /// Returns the SMPP users of accounts.
    pub fn smpp_users(&self) -> SmppUsers<'_> {
        SmppUsers { db: &self.db }
    }

    /// Returns the sender IDs of accounts.
    pub fn senders(&self) -> Senders<'_> {
        Senders { db: &self.db }
    }

    /// Returns the wallets and their ledger.
    pub fn wallets(&self) -> Wallets<'_> {
        Wallets { db: &self.db }
    }

    /// Returns the accounts that belong to another account.
    pub fn sub_accounts(&self) -> SubAccounts<'_> {
        SubAccounts { db: &self.db }
    }

    /// Returns the alerts about low balances.
    pub fn alerts(&self) -> Alerts<'_> {
        Alerts { db: &self.db }
    }

    /// Returns the top-ups.
    pub fn top_ups(&self) -> TopUps<'_> {
        TopUps { db: &self.db }
    }

    /// Returns the counts of rate limits.
    pub fn rates(&self) -> Rates<'_> {
        Rates { db: &self.db }
    }

    /// Returns the refused requests.
    pub fn refused_requests(&self) -> RefusedRequests<'_> {
        RefusedRequests { db: &self.db }
    }

    /// Returns the paused blocks of numbers.
    pub fn paused_blocks(&self) -> PausedBlocks<'_> {
        PausedBlocks { db: &self.db }
    }

    /// Returns the revision of accounts and settings.
    pub fn revisions(&self) -> Revisions<'_> {
        Revisions { db: &self.db }
    }

    /// Returns the accepted messages.
    pub fn messages(&self) -> Messages<'_> {
        Messages {
            db: &self.db,
            windows: &self.windows,
            counted: &self.counted,
        }
    }

    /// Returns the changes of accepted messages.
    pub fn changes(&self) -> MessageChanges<'_> {
        MessageChanges { db: &self.db }
    }

    /// Returns the claims of nodes.
    pub fn claims(&self) -> Claims<'_> {
        Claims { db: &self.db }
    }

    /// Returns the waiting batches.
    pub fn queues(&self) -> Queues<'_> {
        Queues { db: &self.db }
    }

    /// Returns the batches of accounts that may not send.
    pub fn held_batches(&self) -> HeldBatches<'_> {
        HeldBatches { db: &self.db }
    }

    /// Returns the reports of carriers.
    pub fn carrier_reports(&self) -> CarrierReports<'_> {
        CarrierReports { db: &self.db }
    }

    /// Returns the messages whose state a carrier is asked for.
    pub fn receipt_polls(&self) -> ReceiptPolls<'_> {
        ReceiptPolls { db: &self.db }
    }

    /// Returns the events that wait for their customers.
    pub fn outbox(&self) -> Outbox<'_> {
        Outbox { db: &self.db }
    }

    /// Returns the log of callback attempts.
    pub fn attempts(&self) -> Attempts<'_> {
        Attempts { db: &self.db }
    }

    /// Returns the dead callbacks.
    pub fn dead_callbacks(&self) -> DeadCallbacks<'_> {
        DeadCallbacks { db: &self.db }
    }

    /// Returns the secrets that sign callbacks.
    pub fn callback_secrets(&self) -> CallbackSecrets<'_> {
        CallbackSecrets { db: &self.db }
    }

    /// Returns the audit.
    pub fn audit(&self) -> Audit<'_> {
        Audit { db: &self.db }
    }

    /// Returns the control of carriers.
    pub fn carrier_controls(&self) -> CarrierControls<'_> {
        CarrierControls { db: &self.db }
    }

    /// Returns the content rules.
    pub fn content_rules(&self) -> ContentRules<'_> {
        ContentRules { db: &self.db }
    }

    /// Returns the record of the limits of the configuration.
    pub fn audited_limits(&self) -> AuditedLimits<'_> {
        AuditedLimits { db: &self.db }
    }

    /// Returns the contacts of customers.
    pub fn contacts(&self) -> Contacts<'_> {
        Contacts { db: &self.db }
    }

    /// Returns the inbound messages.
    pub fn inbound_messages(&self) -> InboundMessages<'_> {
        InboundMessages { db: &self.db }
    }

    /// Returns the pages of inbound messages.
    pub fn inbound_pages(&self) -> InboundPages<'_> {
        InboundPages { db: &self.db }
    }

    /// Returns the routes of inbound messages.
    pub fn inbound_routes(&self) -> InboundRoutes<'_> {
        InboundRoutes { db: &self.db }
    }

    /// Returns the answers to the commands of subscribers.
    pub fn inbound_answers(&self) -> InboundAnswers<'_> {
        InboundAnswers { db: &self.db }
    }

    /// Returns the opt-outs.
    pub fn opt_outs(&self) -> OptOuts<'_> {
        OptOuts { db: &self.db }
    }

    /// Returns the numbers on DND.
    pub fn dnd(&self) -> Dnd<'_> {
        Dnd { db: &self.db }
    }

    /// Returns the uploads of recipients.
    pub fn uploads(&self) -> Uploads<'_> {
        Uploads { db: &self.db }
    }

    /// Returns the users of the console.
    pub fn users(&self) -> Users<'_> {
        Users { db: &self.db }
    }

    /// Returns the memberships of users.
    pub fn members(&self) -> Members<'_> {
        Members { db: &self.db }
    }

    /// Returns the sessions of users.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions { db: &self.db }
    }

    /// Returns the one-time links.
    pub fn one_time_links(&self) -> OneTimeLinks<'_> {
        OneTimeLinks { db: &self.db }
    }

    /// Returns the failed sign-ins.
    pub fn sign_in_failures(&self) -> SignInFailures<'_> {
        SignInFailures { db: &self.db }
    }

    /// Returns the nodes that share the database.
    pub fn nodes(&self) -> Nodes<'_> {
        Nodes { db: &self.db }
    }

    /// Returns the sweep.
    pub fn sweep(&self) -> Sweep<'_> {
        Sweep { db: &self.db }
    }

    /// Returns the removal of old data.
    pub fn retention(&self) -> Retention<'_> {
        Retention { db: &self.db }
    }

    /// Returns the upkeep of the database.
    pub fn upkeep(&self) -> Upkeep<'_> {
        Upkeep {
            db: &self.db,
            windows: &self.windows,
        }
    }
}
