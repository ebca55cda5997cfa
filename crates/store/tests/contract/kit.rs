//! The kit of the contract: a fresh database, messages to send, and a carrier that answers.

use database::{Server, Target};
use domain::{
    Account, AccountId, AccountStatus, Bucket, Component, DeliveryStatus, Draft, Environment,
    Gateway, MessageId, Money, Priority, Recipient, Terms, Text,
};
use rusqlite::types::FromSql;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;
use store::{
    Accepted, Batch, BatchKind, By, CallbackRoom, CarrierReport, Claim, Claimed, Credited, Ended,
    EntryKind, Expiry, LedgerEntry, NewMessage, Planner, Progress, Receipt, ReceiptStatus, Settled,
    Store, WAITING,
};

/// Makes the two tests of each rule: one on SQLite, one on PostgreSQL.
macro_rules! twins {
    ($($rule:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                let kit = $crate::contract::kit::Kit::sqlite().await;
                super::$rule(&kit).await;
                kit.finish().await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                testkit::needs!(Postgres);
                let kit = $crate::contract::kit::Kit::postgres().await;
                super::$rule(&kit).await;
                kit.finish().await;
            })+
        }
    };
}
pub(crate) use twins;

/// Makes a third test of rules: on PostgreSQL, as if buckets lay on several servers.
macro_rules! spread {
    ($($rule:ident),+ $(,)?) => {
        mod spread {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                testkit::needs!(Postgres);
                let kit = $crate::contract::kit::Kit::postgres().await.spread();
                super::$rule(&kit).await;
                kit.finish().await;
            })+
        }
    };
}
pub(crate) use spread;

/// When the tests take place, Unix milliseconds.
pub(crate) const NOW: i64 = 1_795_000_000_000;
pub(crate) const CARRIER: &str = "mtn";
/// Another carrier, where one is not enough.
pub(crate) const OTHER_CARRIER: &str = "glo";
pub(crate) const NODE: i64 = 7;
pub(crate) const SENDER: &str = "ACME";
const LEASE_MS: i64 = 30_000;
/// The time for which answers of keys are kept.
pub(crate) const DAY_MS: i64 = 86_400_000;
/// Connections of a store to PostgreSQL.
const CONNECTIONS: u32 = 8;

static NEXT: AtomicI64 = AtomicI64::new(1);

/// A number that no other call in this process gives.
pub(crate) fn fresh() -> i64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A database of its own (on PostgreSQL a schema, which is made much faster), with what opened it.
pub(crate) struct Kit {
    pub(crate) store: Store,
    pub(crate) target: Target,
    home: Home,
    /// Set by rules that plant faults on purpose.
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
    pub(crate) async fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let target = Target::Directory(directory.path().join("data"));
        Self::open(target, Home::Directory { _keep: directory }).await
    }

    pub(crate) async fn postgres() -> Self {
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

    /// The same, worked on as if its buckets lay on several servers.
    pub(crate) fn spread(self) -> Self {
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

    /// Another database of the same kind, with nothing in it.
    pub(crate) async fn another(&self) -> Self {
        match self.home {
            Home::Directory { .. } => Self::sqlite().await,
            Home::Schema { .. } => Self::postgres().await,
        }
    }

    /// Another node on the same PostgreSQL database, by way of that port of this machine.
    pub(crate) async fn by_port(&self, port: u16) -> Store {
        let Home::Schema { schema, .. } = &self.home else {
            unreachable!("SQLite has no port")
        };
        let url =
            format!("postgres://ogene@127.0.0.1:{port}/postgres?options[search_path]={schema}");
        let server = Server::new(&url, CONNECTIONS).unwrap();
        Store::open(&Target::Postgres(server)).await.unwrap()
    }

    /// Expires all buckets, one after the other.
    pub(crate) async fn expire(&self, expiry: &Expiry) -> (Settled, bool) {
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

    pub(crate) async fn tidy(&self, now_ms: i64) -> bool {
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

    pub(crate) async fn orphans(&self, carrier: &str) -> Vec<Claimed> {
        let mut all = Vec::new();
        for bucket in self.store.buckets() {
            all.extend(self.store.queues().orphans(carrier, bucket).await.unwrap());
        }
        all
    }

    /// In order, each once.
    pub(crate) async fn batch_carriers(&self) -> Vec<String> {
        let mut all = BTreeSet::new();
        for bucket in self.store.buckets() {
            all.extend(self.store.queues().carriers(bucket).await.unwrap());
        }
        all.into_iter().collect()
    }

    pub(crate) async fn late_batches(&self, now_ms: i64) -> Vec<Claimed> {
        let mut all = Vec::new();
        for bucket in self.store.buckets() {
            all.extend(self.store.queues().late(bucket, now_ms).await.unwrap());
        }
        all
    }

    pub(crate) async fn free_callbacks(&self, now_ms: i64) -> u64 {
        let mut freed = 0;
        for bucket in self.store.buckets() {
            freed += self.store.outbox().free(bucket, now_ms).await.unwrap();
        }
        freed
    }

    /// By carrier: all that wait, and those that are held until then or longer.
    pub(crate) async fn queue_depths(&self, until_ms: i64) -> BTreeMap<String, [i64; 2]> {
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

    pub(crate) async fn doubt_counts(&self) -> BTreeMap<String, i64> {
        let mut counts = BTreeMap::new();
        for bucket in self.store.buckets() {
            for (carrier, count) in self.store.queues().doubt_counts(bucket).await.unwrap() {
                *counts.entry(carrier).or_default() += count;
            }
        }
        counts
    }

    pub(crate) async fn callback_counts(&self) -> HashMap<String, i64> {
        let mut counts = HashMap::new();
        for bucket in self.store.buckets() {
            for (state, count) in self.store.outbox().counts(bucket).await.unwrap() {
                *counts.entry(state).or_default() += count;
            }
        }
        counts
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        matches!(self.home, Home::Directory { .. })
    }

    /// Ends a test: whatever it did, the database must be sound.
    pub(crate) async fn finish(self) {
        if !self.faulty.load(Ordering::Relaxed) {
            let verification = self.store.upkeep().verify().await.unwrap();
            assert_eq!(verification.violations, Vec::<String>::new());
        }
        self.store.close().await;
        if let Home::Schema { server, schema, .. } = &self.home {
            administer(server, &format!("drop schema {schema} cascade")).await;
        }
    }

    fn url(&self) -> &str {
        match &self.home {
            Home::Schema { url, .. } => url,
            Home::Directory { .. } => panic!("SQLite has no URL"),
        }
    }

    /// Runs SQL past the store, as an operator with a database shell would.
    pub(crate) async fn run(&self, sql: &str) -> Result<(), Box<dyn std::error::Error>> {
        match &self.target {
            Target::Directory(path) => sqlite(path).execute_batch(sql)?,
            Target::Postgres(_) => {
                let mut connection = PgConnection::connect(self.url()).await?;
                let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
                sql.execute(&mut connection).await?;
                connection.close().await?;
            }
        }
        Ok(())
    }

    /// Damages the database: it need not be sound at the end.
    pub(crate) async fn plant(&self, sql: &str) {
        self.faulty.store(true, Ordering::Relaxed);
        self.run(sql).await.unwrap();
    }

    /// Damages the delivery to a number: these columns have such values.
    pub(crate) async fn damage(&self, recipient: Recipient, values: &str) {
        let digits = recipient.digits();
        let sql = format!("update deliveries set {values} where recipient = {digits}");
        self.plant(&sql).await;
    }

    /// Reads numbers past the store.
    pub(crate) async fn numbers(&self, sql: &str) -> Vec<i64> {
        self.read(sql).await
    }

    /// Reads texts past the store.
    pub(crate) async fn texts(&self, sql: &str) -> Vec<String> {
        self.read(sql).await
    }

    async fn read<T>(&self, sql: &str) -> Vec<T>
    where
        T: FromSql + Send + Unpin + for<'r> sqlx::Decode<'r, Postgres> + sqlx::Type<Postgres>,
    {
        match &self.target {
            Target::Directory(path) => column(&sqlite(path), sql),
            Target::Postgres(_) => {
                let mut connection = PgConnection::connect(self.url()).await.unwrap();
                sqlx::query_scalar(AssertSqlSafe(sql.to_owned()))
                    .fetch_all(&mut connection)
                    .await
                    .unwrap()
            }
        }
    }

    /// A new account whose `sms_wallet` holds so many naira.
    pub(crate) async fn account(&self, naira: i64) -> AccountId {
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

    /// That account, or another with so much credit that shares the bucket of `beside`.
    pub(crate) async fn in_bucket_of(
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

    pub(crate) async fn credit(&self, account: AccountId, component: Component, naira: i64) {
        let entry = credit(account, component, naira, &format!("bank-{}", fresh()));
        assert_eq!(
            self.store.wallets().credit(entry, by(NOW)).await.unwrap(),
            Credited::New
        );
    }

    pub(crate) async fn balance(&self, account: AccountId) -> Money {
        self.store
            .wallets()
            .find(account)
            .await
            .unwrap()
            .unwrap()
            .total()
    }

    /// Accepts one message.
    pub(crate) async fn accept(&self, message: &NewMessage) -> Accepted {
        let mut answers = self
            .store
            .messages()
            .accept(NOW, vec![message.clone()])
            .await
            .unwrap();
        answers.pop().unwrap()
    }

    /// Accepts a message and claims its work.
    pub(crate) async fn accept_and_claim(&self, message: &NewMessage) -> Vec<Claimed> {
        assert!(matches!(self.accept(message).await, Accepted::Yes { .. }));
        self.claim(1_000).await
    }

    pub(crate) async fn claim(&self, recipients: usize) -> Vec<Claimed> {
        self.store.claims().claim(claim(recipients)).await.unwrap()
    }

    /// Claims from the other carrier.
    pub(crate) async fn claim_elsewhere(&self, recipients: usize) -> Vec<Claimed> {
        let claim = Claim {
            carrier: OTHER_CARRIER.into(),
            ..claim(recipients)
        };
        self.store.claims().claim(claim).await.unwrap()
    }

    /// Gives what was claimed to the other carrier, and claims it there.
    pub(crate) async fn move_elsewhere(&self, claimed: Vec<Claimed>) -> Vec<Claimed> {
        let batches = claimed.into_iter().map(|claimed| claimed.batch).collect();
        let moved = self
            .store
            .claims()
            .release(batches, NOW, Some(OTHER_CARRIER.into()), NOW);
        moved.await.unwrap();
        self.claim_elsewhere(1_000).await
    }

    pub(crate) async fn report(&self, report: CarrierReport) -> (Settled, usize) {
        let mut settled = Settled::default();
        let parked = self
            .store
            .carrier_reports()
            .commit(Arc::new(report), &mut settled)
            .await;
        (settled, parked.unwrap().len())
    }

    /// Accepts a message and has the carrier take all of it: the page ids are `<digits>-<page>`.
    pub(crate) async fn submit(&self, message: &NewMessage) -> Vec<Claimed> {
        let claimed = self.accept_and_claim(message).await;
        let progress = claimed.iter().map(taken).collect();
        self.report(report(progress, vec![])).await;
        claimed
    }

    /// Where each recipient of a message stands.
    pub(crate) async fn statuses(&self, message: &NewMessage) -> Vec<Option<DeliveryStatus>> {
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

/// The embedded database of a directory, past the store.
pub(crate) fn sqlite(directory: &std::path::Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(directory.join("ogene.db")).unwrap();
    connection.busy_timeout(Duration::from_secs(10)).unwrap();
    connection
}

/// The first column of what is found in an embedded database.
pub(crate) fn column<T: FromSql>(database: &rusqlite::Connection, sql: &str) -> Vec<T> {
    let mut statement = database.prepare(sql).unwrap();
    let found = statement.query_map([], |row| row.get(0)).unwrap();
    found.map(Result::unwrap).collect()
}

pub(crate) async fn administer(server: &str, sql: &str) {
    let mut connection = PgConnection::connect(server).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

pub(crate) fn account(id: AccountId) -> Account {
    Account {
        id,
        email: "ops@example.ng".to_owned(),
        name: "Example".to_owned(),
        status: AccountStatus::Active,
        verification: domain::Verification::Unverified,
        created_at_ms: NOW,
    }
}

pub(crate) fn credit(
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

/// An operator at that moment.
pub(crate) fn by(at_ms: i64) -> By {
    By {
        actor: "cli:ada".into(),
        at_ms,
    }
}

pub(crate) fn message_id(at_ms: i64) -> MessageId {
    let mut chance = [0; 10];
    chance[2..].copy_from_slice(&fresh().to_be_bytes());
    MessageId::new(at_ms, chance)
}

pub(crate) fn number(count: usize) -> Recipient {
    Recipient::from_digits(2_348_030_000_000 + count as u64)
}

pub(crate) fn naira(naira: i64) -> Money {
    Money::from_naira(naira)
}

/// A message to be; what a test does not care about has a plain value.
#[derive(Clone)]
pub(crate) struct Sending {
    pub(crate) account: AccountId,
    pub(crate) environment: Environment,
    pub(crate) gateway: Gateway,
    /// To so many numbers, from the first of [`number`] on.
    pub(crate) recipients: usize,
    pub(crate) first_number: usize,
    /// The price of each, in naira.
    pub(crate) price: i64,
    /// The part of the price that is for the second leg.
    pub(crate) reserve: i64,
    pub(crate) pages: i64,
    pub(crate) terms: Terms,
    pub(crate) priority: Priority,
    pub(crate) accepted_at_ms: i64,
    /// When its batch is due.
    pub(crate) due_at_ms: i64,
    /// When the message is due, where that is later than its acceptance.
    pub(crate) scheduled_ms: Option<i64>,
    pub(crate) callback_url: Option<&'static str>,
}

pub(crate) fn sending(account: AccountId) -> Sending {
    Sending {
        account,
        environment: Environment::Live,
        gateway: Gateway::DirectRefund,
        recipients: 1,
        first_number: 1,
        price: 6,
        reserve: 0,
        pages: 1,
        terms: Terms {
            refund_undelivered: true,
            two_legs: false,
        },
        priority: Priority::Normal,
        accepted_at_ms: NOW,
        due_at_ms: NOW,
        scheduled_ms: None,
        callback_url: None,
    }
}

/// A message over both legs: 6 naira for the first, 4 more for the second.
pub(crate) fn two_legs(account: AccountId) -> Sending {
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
    pub(crate) fn draft(&self) -> Draft {
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
            adjustments: domain::Adjustments::default(),
            classes: Vec::new(),
            page_count: self.pages,
            cost: naira(self.price) * i64::try_from(recipients.len()).unwrap(),
            recipients,
            priority: self.priority,
            due_at_ms: self.scheduled_ms,
            texts: None,
            callback_url: self.callback_url.map(str::to_owned),
            customer_reference: Some("order-1".to_owned()),
            fingerprint,
        }
    }

    pub(crate) fn message(&self, store: &Store) -> NewMessage {
        let (id, draft) = (message_id(self.accepted_at_ms), self.draft());
        let batch = Batch {
            bucket: store.bucket_of(self.account),
            carrier: CARRIER.into(),
            claimed_by: WAITING,
            claimed_until_ms: 0,
            priority: self.priority,
            due_at_ms: self.due_at_ms,
            id: fresh(),
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

pub(crate) fn claim(recipients: usize) -> Claim {
    Claim {
        carrier: CARRIER.into(),
        node: NODE,
        now_ms: NOW,
        until_ms: NOW + LEASE_MS,
        recipients,
        priority: Priority::Bulk,
        next_id: fresh() * 1_000_000,
    }
}

/// The carrier's id of a page.
pub(crate) fn page_id(recipient: Recipient, page: i64) -> String {
    format!("{}-{page}", recipient.digits())
}

/// Nothing came back yet.
pub(crate) fn silence(claimed: &Claimed) -> Progress {
    Progress::of(claimed.clone())
}

/// The carrier took everything.
pub(crate) fn taken(claimed: &Claimed) -> Progress {
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

/// The outcome of everything is unknown; it goes out once more.
pub(crate) fn doubted(claimed: &Claimed) -> Progress {
    let again = Batch {
        claimed_by: WAITING,
        claimed_until_ms: 0,
        id: fresh(),
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

/// The carrier refused everything.
pub(crate) fn refused(claimed: &Claimed) -> Progress {
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

/// Everything goes back as it was: nothing of it was on the wire.
pub(crate) fn put_back(claimed: &Claimed) -> Progress {
    Progress {
        again: vec![Batch {
            claimed_by: WAITING,
            claimed_until_ms: 0,
            id: fresh(),
            ..claimed.batch.clone()
        }],
        ..silence(claimed)
    }
}

pub(crate) fn receipt(carrier_id: &str, recipient: Recipient, status: DeliveryStatus) -> Receipt {
    Receipt {
        carrier: CARRIER.into(),
        carrier_id: carrier_id.to_owned(),
        other_id: None,
        recipient: Some(recipient),
        sender: SENDER.to_owned(),
        status: ReceiptStatus::Final(status),
        error: None,
    }
}

/// A receipt of page 1.
pub(crate) fn outcome(recipient: Recipient, status: DeliveryStatus) -> Receipt {
    receipt(&page_id(recipient, 1), recipient, status)
}

pub(crate) fn delivered(recipient: Recipient) -> Receipt {
    outcome(recipient, DeliveryStatus::Delivered)
}

pub(crate) fn undelivered(recipient: Recipient) -> Receipt {
    outcome(recipient, DeliveryStatus::Undelivered)
}

pub(crate) fn report(progress: Vec<Progress>, receipts: Vec<Receipt>) -> CarrierReport {
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
    }
}

/// A receipt as the other carrier's.
pub(crate) fn elsewhere(receipt: Receipt) -> Receipt {
    Receipt {
        carrier: OTHER_CARRIER.into(),
        ..receipt
    }
}

/// Returns a report of the other carrier.
pub(crate) fn report_elsewhere(progress: Vec<Progress>, receipts: Vec<Receipt>) -> CarrierReport {
    report(progress, receipts.into_iter().map(elsewhere).collect())
}

/// Plans second legs over the same carrier.
pub(crate) fn backup_planner() -> Planner {
    Arc::new(|leg| {
        let (charge, reserve) = (leg.charge, leg.reserve);
        let batch = backup(leg.bucket, leg.message, leg.recipient, charge, reserve);
        Some(Batch {
            pages: leg.pages,
            ..batch
        })
    })
}

/// The batch of a second leg for one recipient.
pub(crate) fn backup(
    bucket: Bucket,
    message: MessageId,
    recipient: Recipient,
    charge: Money,
    reserve: Money,
) -> Batch {
    Batch {
        bucket,
        carrier: CARRIER.into(),
        claimed_by: WAITING,
        claimed_until_ms: 0,
        priority: Priority::Normal,
        due_at_ms: NOW,
        id: fresh(),
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
