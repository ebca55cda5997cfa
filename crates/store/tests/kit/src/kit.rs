//! The kit of the contract: a fresh database, messages to send, and a carrier that answers.

use database::{Cell, FILE, Server, Target, TestConnection};
use domain::resale::SubAccountRequest;
use domain::smpp_receipt::{ReceiptRequest, WantedReceipts};
use domain::token::TokenTerms;
use domain::{
    Account, AccountId, AccountStatus, BatchId, Bucket, Class, Component, DeliveryStatus, Draft,
    Environment, Gateway, MessageId, Money, NodeId, Priority, Recipient, Terms, Text,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use store::{
    Accepted, Batch, BatchKind, By, CallbackRoom, CarrierReport, Claim, Claimed, Credited, Ended,
    EntryKind, Expiry, LedgerEntry, NewMessage, OtpMoment, Outcome, Planner, Progress, QueueState,
    Receipt, ReceiptStatus, Settled, Store, TokenInfo,
};

/// The time of the tests, Unix milliseconds.
pub const NOW: i64 = 1_795_000_000_000;
pub const CARRIER: &str = "mtn";
/// A second carrier.
pub const OTHER_CARRIER: &str = "glo";
pub const NODE: NodeId = NodeId(7);
pub const SENDER: &str = "ACME";
const LEASE_MS: i64 = 30_000;
const HOUR_MS: i64 = 3_600_000;
/// The time for which answers of keys are stored.
pub const DAY_MS: i64 = 86_400_000;
/// Connections of a store to PostgreSQL.
const CONNECTIONS: u32 = 8;

static NEXT: AtomicI64 = AtomicI64::new(1);

/// Returns a number that no other call in this process returns.
pub fn fresh() -> i64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A database of its own (on PostgreSQL a schema, which is made much faster), with its opener.
pub struct Kit {
    pub store: Store,
    pub target: Target,
    home: Home,
    /// `true` if a rule plants faults on purpose.
    faulty: AtomicBool,
}

enum Home {
    Directory {
        _keep: tempfile::TempDir,
    },
    /// The URLs of the server and of the schema on it.
    Schema {
        server: String,
        schema: String,
        url: String,
    },
}

impl Kit {
    pub async fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let target = Target::Directory(directory.path().join("data"));
        Self::open(target, Home::Directory { _keep: directory }).await
    }

    pub async fn postgres() -> Self {
        let server = testkit::postgres_url();
        let schema = format!("contract_{}_{}", std::process::id(), fresh());
        administer(&server, &format!("drop schema if exists {schema} cascade")).await;
        administer(&server, &format!("create schema {schema}")).await;
        let separator = if server.contains('?') { '&' } else { '?' };
        let url = format!("{server}{separator}options[search_path]={schema}");
        let target = Target::Postgres(Server::new(&url, CONNECTIONS).unwrap());
        let home = Home::Schema {
            server,
            schema,
            url,
        };
        Self::open(target, home).await
    }

    /// Returns the same database, used as if several servers had its buckets.
    #[must_use]
    pub fn spread(self) -> Self {
        Self {
            store: self.store.as_distributed(),
            ..self
        }
    }

    async fn open(target: Target, home: Home) -> Self {
        Self {
            store: Store::open(&target).await.unwrap(),
            target,
            home,
            faulty: false.into(),
        }
    }

    /// Returns another empty database of the same kind.
    pub async fn another(&self) -> Self {
        match self.home {
            Home::Directory { .. } => Self::sqlite().await,
            Home::Schema { .. } => Self::postgres().await,
        }
    }

    /// Returns another node on the same PostgreSQL database, by way of this port.
    pub async fn by_port(&self, port: u16) -> Store {
        let Home::Schema { schema, .. } = &self.home else {
            unreachable!("SQLite has no port")
        };
        let url =
            format!("postgres://ogene@127.0.0.1:{port}/postgres?options[search_path]={schema}");
        let server = Server::new(&url, CONNECTIONS).unwrap();
        Store::open(&Target::Postgres(server)).await.unwrap()
    }

    /// Runs the expiry of all buckets, one after the other.
    pub async fn expire(&self, expiry: &Expiry) -> (Settled, bool) {
        let (mut all, mut any_more) = (Settled::default(), false);
        for bucket in self.store.buckets() {
            let (settled, more) = self.store.sweep().expire(bucket, expiry).await.unwrap();
            all.outcomes.extend(settled.outcomes);
            all.callbacks.extend(settled.callbacks);
            all.work.extend(settled.work);
            all.more_callbacks |= settled.more_callbacks;
            any_more |= more;
        }
        (all, any_more)
    }

    pub async fn tidy(&self, now_ms: i64) -> bool {
        let mut more = false;
        for bucket in self.store.buckets() {
            more |= self
                .store
                .sweep()
                .tidy(bucket, now_ms, now_ms - DAY_MS)
                .await
                .unwrap();
        }
        more
    }

    pub async fn orphans(&self, carrier: &str) -> Vec<Claimed> {
        let mut all = Vec::new();
        for bucket in self.store.buckets() {
            all.extend(self.store.queues().orphans(carrier, bucket).await.unwrap());
        }
        all
    }

    /// The keys are in order, each once.
    pub async fn batch_carriers(&self) -> Vec<String> {
        let mut all = BTreeSet::new();
        for bucket in self.store.buckets() {
            all.extend(self.store.queues().carriers(bucket).await.unwrap());
        }
        all.into_iter().collect()
    }

    pub async fn late_batches(&self, now_ms: i64) -> Vec<Claimed> {
        let mut all = Vec::new();
        for bucket in self.store.buckets() {
            all.extend(self.store.queues().late(bucket, now_ms).await.unwrap());
        }
        all
    }

    pub async fn free_callbacks(&self, now_ms: i64) -> u64 {
        let mut freed = 0;
        for bucket in self.store.buckets() {
            freed += self.store.outbox().free(bucket, now_ms).await.unwrap();
        }
        freed
    }

    /// Returns by carrier all queued recipients, and those that are held until then or longer.
    pub async fn queue_depths(&self, until_ms: i64) -> BTreeMap<String, [i64; 2]> {
        let mut depths = BTreeMap::new();
        for bucket in self.store.buckets() {
            let queues = self.store.queues().depths(bucket, until_ms).await.unwrap();
            for (carrier, depth, held) in queues {
                let [all, of_them] = depths.entry(carrier).or_default();
                (*all, *of_them) = (*all + depth, *of_them + held);
            }
        }
        depths
    }

    pub async fn doubt_counts(&self) -> BTreeMap<String, i64> {
        let mut counts = BTreeMap::new();
        for bucket in self.store.buckets() {
            for (carrier, count) in self.store.queues().doubt_counts(bucket).await.unwrap() {
                *counts.entry(carrier).or_default() += count;
            }
        }
        counts
    }

    pub async fn callback_counts(&self) -> HashMap<String, i64> {
        let mut counts = HashMap::new();
        for bucket in self.store.buckets() {
            for (state, count) in self.store.outbox().counts(bucket).await.unwrap() {
                *counts.entry(state).or_default() += count;
            }
        }
        counts
    }

    pub fn is_sqlite(&self) -> bool {
        matches!(self.home, Home::Directory { .. })
    }

    /// Ends a test, and checks that the database is sound.
    pub async fn finish(self) {
        if !self.faulty.load(Ordering::Relaxed) {
            let verification = self.store.upkeep().verify().await.unwrap();
            assert_eq!(verification.violations, Vec::<String>::new());
        }
        self.store.close().await;
        if let Home::Schema { server, schema, .. } = &self.home {
            administer(server, &format!("drop schema {schema} cascade")).await;
        }
    }

    /// Runs SQL without the store, like an operator in a database shell.
    pub async fn run(&self, sql: &str) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let mut shell = self.test_connection().await;
        shell.run(sql).await?;
        shell.close().await
    }

    /// Returns a connection without the store.
    pub async fn test_connection(&self) -> TestConnection {
        match &self.home {
            Home::Directory { .. } => TestConnection::sqlite(&self.data_dir().join(FILE)),
            Home::Schema { url, .. } => TestConnection::postgres(url).await,
        }
        .unwrap()
    }

    /// Returns the directory of an embedded database.
    pub fn data_dir(&self) -> &Path {
        match &self.target {
            Target::Directory(path) => path,
            Target::Postgres(_) => panic!("it is embedded"),
        }
    }

    /// Damages the database, which then need not be sound at the end.
    pub async fn plant(&self, sql: &str) {
        self.faulty.store(true, Ordering::Relaxed);
        self.run(sql).await.unwrap();
    }

    /// Damages the delivery to a number: these columns get such values.
    pub async fn damage(&self, recipient: Recipient, values: &str) {
        let digits = recipient.digits();
        let sql = format!("update deliveries set {values} where recipient = {digits}");
        self.plant(&sql).await;
    }

    /// Reads numbers without the store.
    pub async fn numbers(&self, sql: &str) -> Vec<i64> {
        self.read(sql).await
    }

    /// Reads texts without the store.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        self.read(sql).await
    }

    async fn read<T: Cell>(&self, sql: &str) -> Vec<T> {
        self.test_connection().await.column(sql).await.unwrap()
    }

    /// Makes a new account whose `sms_wallet` has so many naira.
    pub async fn account(&self, naira: i64) -> AccountId {
        let id = AccountId(fresh() * 100 + 42);
        self.store
            .accounts()
            .create(account(id), by(NOW))
            .await
            .unwrap();
        if naira > 0 {
            self.credit(id, Component::SmsWallet, naira).await;
        }
        id
    }

    /// Makes a sub-account of an account, with so many naira.
    pub async fn sub_account(&self, parent: AccountId, naira: i64) -> AccountId {
        let number = fresh();
        let id = AccountId::of_sub(parent, NOW + number, 0);
        let token = TokenInfo {
            id: format!("tok_{number}"),
            account: id,
            name: "first token".to_owned(),
            terms: TokenTerms::default(),
            created_at_ms: NOW,
            revoked_at_ms: None,
        };
        let mut hash = [7; 32];
        hash[..8].copy_from_slice(&number.to_be_bytes());
        let request = SubAccountRequest {
            name: "Ada Foods".to_owned(),
            email: "ada@example.ng".to_owned(),
        };
        let accounts = self.store.sub_accounts();
        let made = accounts.request((parent, request), (token, hash), None, by(NOW));
        let made = made.await.unwrap();
        assert!(matches!(made, Outcome::Made(_)), "{made:?}");
        if naira > 0 {
            self.credit(id, Component::SmsWallet, naira).await;
        }
        id
    }

    /// Returns this account, or makes another with so much credit in the bucket of `beside`.
    pub async fn in_bucket_of(
        &self,
        beside: AccountId,
        mut account: AccountId,
        naira: i64,
    ) -> AccountId {
        while self.store.bucket_of(account) != self.store.bucket_of(beside) {
            account = self.account(naira).await;
        }
        account
    }

    pub async fn credit(&self, account: AccountId, component: Component, naira: i64) {
        let entry = credit(account, component, naira, &format!("bank-{}", fresh()));
        assert_eq!(
            self.store.wallets().credit(entry, by(NOW)).await.unwrap(),
            Credited::New
        );
    }

    pub async fn balance(&self, account: AccountId) -> Money {
        self.store
            .wallets()
            .find(account)
            .await
            .unwrap()
            .unwrap()
            .total()
    }

    /// Accepts one message.
    pub async fn accept(&self, message: &NewMessage) -> Accepted {
        let mut answers = self
            .store
            .messages()
            .accept(NOW, vec![message.clone()])
            .await
            .unwrap();
        answers.pop().unwrap()
    }

    /// Creates a message and accepts it.
    pub async fn accepted(&self, sending: &Sending) -> NewMessage {
        let message = sending.message(&self.store);
        let answer = self.accept(&message).await;
        assert!(matches!(answer, Accepted::Yes { .. }), "{answer:?}");
        message
    }

    /// Accepts a message and claims its batches.
    pub async fn accept_and_claim(&self, message: &NewMessage) -> Vec<Claimed> {
        assert!(matches!(self.accept(message).await, Accepted::Yes { .. }));
        self.claim(1_000).await
    }

    pub async fn claim(&self, recipients: usize) -> Vec<Claimed> {
        self.store.claims().claim(claim(recipients)).await.unwrap()
    }

    /// Claims what is due at another time.
    pub async fn claim_at(&self, now_ms: i64) -> Vec<Claimed> {
        let claim = Claim {
            now_ms,
            until_ms: now_ms + HOUR_MS,
            ..claim(1_000)
        };
        self.store.claims().claim(claim).await.unwrap()
    }

    /// Claims for the other carrier.
    pub async fn claim_elsewhere(&self, recipients: usize) -> Vec<Claimed> {
        let claim = Claim {
            carrier: OTHER_CARRIER.into(),
            ..claim(recipients)
        };
        self.store.claims().claim(claim).await.unwrap()
    }

    /// Moves claims to the other carrier, and claims them there.
    pub async fn move_elsewhere(&self, claimed: Vec<Claimed>) -> Vec<Claimed> {
        let batches = claimed.into_iter().map(|claimed| claimed.batch).collect();
        let moved = self
            .store
            .claims()
            .release(batches, NOW, Some(OTHER_CARRIER.into()), NOW);
        moved.await.unwrap();
        self.claim_elsewhere(1_000).await
    }

    pub async fn report(&self, report: CarrierReport) -> (Settled, usize) {
        let mut settled = Settled::default();
        let parked = self
            .store
            .carrier_reports()
            .commit(Arc::new(report), &mut settled)
            .await;
        (settled, parked.unwrap().len())
    }

    /// Accepts a message, and reports that the carrier accepted all of it. The page ids are
    /// `<digits>-<page>`.
    pub async fn submit(&self, message: &NewMessage) -> Vec<Claimed> {
        let claimed = self.accept_and_claim(message).await;
        let progress = claimed.iter().map(taken).collect();
        self.report(report(progress, vec![])).await;
        claimed
    }

    /// Returns the state of each recipient of a message.
    pub async fn statuses(&self, message: &NewMessage) -> Vec<Option<DeliveryStatus>> {
        let draft = &message.draft;
        let report = self
            .store
            .messages()
            .report(draft.account, draft.environment, message.id, 0, 10_000)
            .await
            .unwrap()
            .unwrap();
        report
            .recipients
            .into_iter()
            .map(|(_, status)| status)
            .collect()
    }
}

pub async fn administer(server: &str, sql: &str) {
    let mut shell = TestConnection::postgres(server).await.unwrap();
    shell.run(sql).await.unwrap();
    shell.close().await.unwrap();
}

pub fn account(id: AccountId) -> Account {
    Account {
        id,
        email: "ops@example.ng".to_owned(),
        name: "Example".to_owned(),
        status: AccountStatus::Active,
        verification: domain::Verification::Unverified,
        created_at_ms: NOW,
    }
}

pub fn credit(
    account: AccountId,
    component: Component,
    naira: i64,
    reference: &str,
) -> LedgerEntry {
    LedgerEntry {
        account,
        subject: message_id(NOW),
        recipient: None,
        kind: EntryKind::Credit,
        component,
        amount: Money::from_naira(naira),
        created_at_ms: NOW,
        reference: Some(reference.to_owned()),
    }
}

/// Returns an operator at this time.
pub fn by(at_ms: i64) -> By {
    By {
        actor: "cli:ada".into(),
        at_ms,
    }
}

pub fn message_id(at_ms: i64) -> MessageId {
    let mut chance = [0; 10];
    chance[2..].copy_from_slice(&fresh().to_be_bytes());
    MessageId::new(at_ms, chance)
}

pub fn number(count: usize) -> Recipient {
    Recipient::from_digits(2_348_030_000_000 + count as u64)
}

pub fn naira(naira: i64) -> Money {
    Money::from_naira(naira)
}

/// A message before its acceptance. Fields without meaning for a test have plain values.
#[derive(Clone)]
pub struct Sending {
    pub account: AccountId,
    pub environment: Environment,
    pub gateway: Gateway,
    /// The number of recipients, from the first of [`number`] on.
    pub recipients: usize,
    pub first_number: usize,
    /// The price of each recipient, in naira.
    pub price: i64,
    /// The part of the price that is for the second leg.
    pub reserve: i64,
    /// The parent, and its part of the price of each recipient, in naira.
    pub parent: Option<(AccountId, i64)>,
    pub pages: i64,
    pub terms: Terms,
    pub priority: Priority,
    pub accepted_at_ms: i64,
    /// The due time of its batch.
    pub due_at_ms: i64,
    /// The due time of the message, if it is later than its acceptance.
    pub scheduled_ms: Option<i64>,
    /// The validity of the request, seconds.
    pub validity_s: Option<i64>,
    pub callback_url: Option<&'static str>,
    pub receipts: Option<(&'static str, WantedReceipts)>,
}

pub fn sending(account: AccountId) -> Sending {
    Sending {
        account,
        environment: Environment::Live,
        gateway: Gateway::DirectRefund,
        recipients: 1,
        first_number: 1,
        price: 6,
        reserve: 0,
        parent: None,
        pages: 1,
        terms: Terms {
            refund_undelivered: true,
            two_legs: false,
        },
        priority: Priority::Normal,
        accepted_at_ms: NOW,
        due_at_ms: NOW,
        scheduled_ms: None,
        validity_s: None,
        callback_url: None,
        receipts: None,
    }
}

/// A message over both legs: 6 naira for the first, 4 more for the second.
pub fn two_legs(account: AccountId) -> Sending {
    Sending {
        gateway: Gateway::DualBackup,
        price: 10,
        reserve: 4,
        terms: Terms {
            refund_undelivered: false,
            two_legs: true,
        },
        ..sending(account)
    }
}

impl Sending {
    pub fn draft(&self) -> Draft {
        let recipients: Vec<Recipient> = (self.first_number..)
            .take(self.recipients)
            .map(number)
            .collect();
        let mut fingerprint = [0; 16];
        fingerprint[..8].copy_from_slice(&fresh().to_be_bytes());
        Draft {
            account: self.account,
            environment: self.environment,
            gateway: self.gateway,
            sender: SENDER.to_owned(),
            text: Text::from_stored("Your order is ready".to_owned()),
            invalid: Vec::new(),
            invalid_count: 0,
            left_out: domain::opt_out::LeftOut::default(),
            adjustments: domain::Adjustments::default(),
            classes: vec![Class {
                carrier: 0,
                suffixed: false,
                pages: self.pages,
                charge: naira(self.price),
                reserve: naira(self.reserve),
                margin: naira(self.parent.map_or(0, |(_, margin)| margin)),
                recipients: recipients.clone(),
            }],
            parent: self.parent.map(|(parent, _)| parent),
            page_count: self.pages,
            cost: naira(self.price) * i64::try_from(recipients.len()).unwrap(),
            recipients,
            priority: self.priority,
            due_at_ms: self.scheduled_ms,
            texts: None,
            validity_s: self.validity_s,
            otp: None,
            callback_url: self.callback_url.map(str::to_owned),
            customer_reference: Some("order-1".to_owned()),
            receipts: self.receipts.map(|(user, wanted)| ReceiptRequest {
                system_id: user.to_owned(),
                wanted,
            }),
            fingerprint,
        }
    }

    pub fn message(&self, store: &Store) -> NewMessage {
        let (id, draft) = (message_id(self.accepted_at_ms), self.draft());
        let batch = Batch {
            bucket: store.bucket_of(self.account),
            carrier: CARRIER.into(),
            state: QueueState::Waiting,
            claimed_until_ms: 0,
            priority: self.priority,
            due_at_ms: self.due_at_ms,
            id: BatchId(fresh()),
            message: id,
            message_due_at_ms: self.scheduled_ms.unwrap_or(self.accepted_at_ms),
            kind: BatchKind::First,
            leg: domain::Leg::First,
            tries: 0,
            suffixed: false,
            pages: self.pages,
            charge: naira(self.price),
            reserve: naira(self.reserve),
            expires_at_ms: self.scheduled_ms.unwrap_or(NOW) + 3_600_000,
            recipients: draft.recipients.clone(),
        };
        NewMessage {
            id,
            draft: Arc::new(draft),
            terms: self.terms,
            batches: vec![batch],
            key: None,
        }
    }
}

pub fn claim(recipients: usize) -> Claim {
    Claim {
        carrier: CARRIER.into(),
        node: NODE,
        now_ms: NOW,
        until_ms: NOW + LEASE_MS,
        recipients,
        batches: usize::MAX,
        priority: Priority::Bulk,
        next_id: BatchId(fresh() * 1_000_000),
    }
}

/// Returns the moment of a change of a one-time password, with a number of its own.
pub fn otp_moment(now_ms: i64) -> OtpMoment {
    OtpMoment {
        now_ms,
        number: fresh(),
    }
}

/// Returns the carrier's id of a page.
pub fn page_id(recipient: Recipient, page: i64) -> String {
    format!("{}-{page}", recipient.digits())
}

/// No response has arrived.
pub fn silence(claimed: &Claimed) -> Progress {
    Progress::of(claimed.clone())
}

/// The carrier accepted all pages.
pub fn taken(claimed: &Claimed) -> Progress {
    let pages = claimed.batch.pages;
    let submitted = claimed.batch.recipients.iter().map(|&recipient| {
        let ids = (1..=pages).map(|page| page_id(recipient, page)).collect();
        (recipient, ids)
    });
    Progress {
        submitted: submitted.collect(),
        ..silence(claimed)
    }
}

/// The outcome of all pages is unknown, and they are sent once more.
pub fn doubted(claimed: &Claimed) -> Progress {
    let again = Batch {
        state: QueueState::Waiting,
        claimed_until_ms: 0,
        id: BatchId(fresh()),
        kind: BatchKind::Resend,
        due_at_ms: NOW + 10_000,
        ..claimed.batch.clone()
    };
    Progress {
        doubted: claimed.batch.recipients.clone(),
        again: vec![again],
        ..silence(claimed)
    }
}

/// The carrier refused all pages.
pub fn refused(claimed: &Claimed) -> Progress {
    let ended = claimed.batch.recipients.iter().map(|&recipient| Ended {
        recipient,
        status: DeliveryStatus::Rejected,
        error: "0x0B".to_owned(),
    });
    Progress {
        ended: ended.collect(),
        ..silence(claimed)
    }
}

/// All recipients are put back: none was submitted.
pub fn put_back(claimed: &Claimed) -> Progress {
    Progress {
        again: vec![Batch {
            state: QueueState::Waiting,
            claimed_until_ms: 0,
            id: BatchId(fresh()),
            ..claimed.batch.clone()
        }],
        ..silence(claimed)
    }
}

pub fn receipt(carrier_id: &str, recipient: Recipient, status: DeliveryStatus) -> Receipt {
    Receipt {
        carrier: CARRIER.into(),
        carrier_id: carrier_id.to_owned(),
        other_id: None,
        recipient: Some(recipient),
        sender: SENDER.to_owned(),
        status: ReceiptStatus::Final(status),
        error: None,
        raw: None,
    }
}

/// Returns a receipt of page 1.
pub fn outcome(recipient: Recipient, status: DeliveryStatus) -> Receipt {
    receipt(&page_id(recipient, 1), recipient, status)
}

pub fn delivered(recipient: Recipient) -> Receipt {
    outcome(recipient, DeliveryStatus::Delivered)
}

pub fn undelivered(recipient: Recipient) -> Receipt {
    outcome(recipient, DeliveryStatus::Undelivered)
}

pub fn report(progress: Vec<Progress>, receipts: Vec<Receipt>) -> CarrierReport {
    CarrierReport {
        now_ms: NOW,
        progress,
        receipts,
        planner: backup_planner(),
        node: NODE,
        claimed_until_ms: NOW + LEASE_MS,
        callback_room: CallbackRoom {
            live: 100,
            sandbox: 100,
        },
        first_number: fresh() * 1_000_000,
        polled: Vec::new(),
    }
}

/// Returns a receipt as from the other carrier.
pub fn elsewhere(receipt: Receipt) -> Receipt {
    Receipt {
        carrier: OTHER_CARRIER.into(),
        ..receipt
    }
}

/// Returns a report of the other carrier.
pub fn report_elsewhere(progress: Vec<Progress>, receipts: Vec<Receipt>) -> CarrierReport {
    report(progress, receipts.into_iter().map(elsewhere).collect())
}

/// Plans second legs over the same carrier.
pub fn backup_planner() -> Planner {
    Arc::new(|leg| {
        let (charge, reserve) = (leg.charge, leg.reserve);
        let batch = backup(leg.bucket, leg.message, leg.recipient, charge, reserve);
        Some(Batch {
            pages: leg.pages,
            ..batch
        })
    })
}

/// Returns the batch of a second leg for one recipient.
pub fn backup(
    bucket: Bucket,
    message: MessageId,
    recipient: Recipient,
    charge: Money,
    reserve: Money,
) -> Batch {
    Batch {
        bucket,
        carrier: CARRIER.into(),
        state: QueueState::Waiting,
        claimed_until_ms: 0,
        priority: Priority::Normal,
        due_at_ms: NOW,
        id: BatchId(fresh()),
        message,
        message_due_at_ms: message.accepted_at_ms(),
        kind: BatchKind::Backup,
        leg: domain::Leg::Second,
        tries: 0,
        suffixed: false,
        pages: 1,
        charge,
        reserve,
        expires_at_ms: NOW + 3_600_000,
        recipients: vec![recipient],
    }
}
