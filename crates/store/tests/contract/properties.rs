//! Money and recipients match the model after every step, in any order of events.

mod payments;

use super::chance::Chance;
use super::model::{Model, Promise, SentReceipt, Standing, Wallet};
use domain::{
    AccountId, BatchId, Component, DeliveryStatus, Gateway, MessageId, Money, Recipient, Terms,
};
use std::collections::HashSet;
use std::sync::Arc;
use store::{
    Accepted, Batch, BatchKind, CarrierReport, Claim, Claimed, Credited, Expiry, MessageKey,
    NewMessage, Planner, Progress, QueueState, Receipt, ReceiptStatus, Requested, Settled, Stop,
    StopKind, Transfer,
};
use storekit::{
    CARRIER, Kit, NOW, OTHER_CARRIER, SENDER, Sending, backup, backup_planner, by, claim, credit,
    doubted, fresh, put_back, refused, report, sending, silence, twins, two_legs,
};
use tokio::task::JoinSet;

twins!(money_and_recipients_always_match_the_model);

/// Number of steps. With `OGENE_LONG` there are many. PostgreSQL takes longer for each, so it has a
/// tenth of them.
const STEPS: u64 = 50_000;
const MANY_STEPS: u64 = 1_000_000;
/// Steps of one sequence, which has an account of its own.
const SEQUENCE: u64 = 100;
/// Sequences that share a database. Its old rows are soon most of those that a step searches.
const TOGETHER: usize = 10;
/// Number of concurrent databases.
const BESIDE: usize = 8;
const TIMEOUT_MS: i64 = 3_600_000;
/// The time at which all work is due, also resends.
const DUE: i64 = NOW + 60_000;
const CARRIERS: [&str; 2] = [CARRIER, OTHER_CARRIER];
const GATEWAYS: [Gateway; 3] = [
    Gateway::DirectRefund,
    Gateway::DirectCorporate,
    Gateway::DualBackup,
];

#[derive(Clone, Copy, Debug)]
enum Step {
    Credit,
    CreditAgain,
    Send,
    SendAgain,
    Claim,
    Release,
    PutBack,
    Taken,
    PartlyTaken,
    AllTaken,
    Refused,
    RefusedForNow,
    Doubted,
    Died,
    LateAnswer,
    LateRefusal,
    Moved,
    Receipt,
    Late,
    GiveUp,
    Cancel,
    PauseAndResume,
    TopUp,
    Payment,
    ExpireTopUp,
    DecideTopUp,
    Transfer,
    TransferAgain,
}

const CHOICES: [(u64, Step); 28] = [
    (2, Step::Credit),
    (1, Step::CreditAgain),
    (12, Step::Send),
    (1, Step::SendAgain),
    (12, Step::Claim),
    (1, Step::Release),
    (2, Step::PutBack),
    (10, Step::Taken),
    (4, Step::PartlyTaken),
    (2, Step::AllTaken),
    (4, Step::Refused),
    (3, Step::RefusedForNow),
    (5, Step::Doubted),
    (1, Step::Died),
    (1, Step::LateAnswer),
    (1, Step::LateRefusal),
    (2, Step::Moved),
    (30, Step::Receipt),
    (1, Step::Late),
    (2, Step::GiveUp),
    (2, Step::Cancel),
    (2, Step::PauseAndResume),
    (2, Step::TopUp),
    (5, Step::Payment),
    (1, Step::ExpireTopUp),
    (1, Step::DecideTopUp),
    (4, Step::Transfer),
    (1, Step::TransferAgain),
];

/// A sequence, which is printed if it fails.
struct Taken {
    seed: u64,
    steps: Vec<Step>,
}

impl Drop for Taken {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("OGENE_SEED={}: {:?}", self.seed, self.steps);
        }
    }
}

/// The state of the node and the carrier.
struct World<'k> {
    kit: &'k Kit,
    chance: &'k mut Chance,
    /// The account, which belongs to the parent.
    account: AccountId,
    parent: AccountId,
    model: Model,
    top_ups: Vec<payments::Known>,
    transfers: Vec<Transfer>,
    /// The number of the last receipt.
    receipts: i64,
    /// The accepted messages.
    messages: Vec<NewMessage>,
    /// Messages that were cancelled whole, so that the same send is no duplicate.
    reopened: HashSet<MessageId>,
    credits: Vec<(Component, i64, String)>,
    in_hand: Vec<Claimed>,
    /// The claims of a dead process.
    lost: Vec<Claimed>,
    /// Ids that the carrier gave or will give, with their recipients.
    ids: Vec<(&'static str, String, Recipient)>,
    next_number: usize,
    settled: usize,
}

/// The carrier of the page.
fn carrier(claimed: &Claimed) -> &'static str {
    let of_batch = |name: &&&str| **name == &*claimed.batch.carrier;
    CARRIERS.iter().find(of_batch).unwrap()
}

/// The carrier's id of a page in flight.
fn page_id(claimed: &Claimed, to: Recipient, page: i64) -> String {
    format!("{}-{}-{page}", to.digits(), claimed.batch.id.0)
}

fn ids(claimed: &Claimed, to: Recipient) -> Vec<String> {
    let pages = 1..=claimed.batch.pages;
    pages.map(|page| page_id(claimed, to, page)).collect()
}

/// The leg, counted from 0.
fn leg(claimed: &Claimed) -> usize {
    usize::from(claimed.batch.leg == domain::Leg::Second)
}

fn taken(claimed: &Claimed, most: usize) -> Progress {
    let (now, later) = claimed.batch.recipients.split_at(most);
    Progress {
        submitted: now.iter().map(|&to| (to, ids(claimed, to))).collect(),
        remaining: later.to_vec(),
        ..silence(claimed)
    }
}

fn refused_for_now(claimed: &Claimed) -> Progress {
    let kind = match claimed.batch.kind {
        BatchKind::Backup => BatchKind::Again,
        kind => kind,
    };
    Progress {
        again: vec![Batch {
            state: QueueState::Waiting,
            claimed_until_ms: 0,
            id: BatchId(fresh()),
            kind,
            tries: 1,
            ..claimed.batch.clone()
        }],
        ..silence(claimed)
    }
}

/// Returns the progress of a lost claim: it is resent once, unless it is a copy.
fn lost(claimed: &Claimed) -> Progress {
    match claimed.batch.kind {
        BatchKind::Resend => Progress {
            again: Vec::new(),
            ..doubted(claimed)
        },
        _ => doubted(claimed),
    }
}

/// Plans second legs over another carrier than that of most first legs.
fn elsewhere() -> Planner {
    let planner = backup_planner();
    Arc::new(move |leg| {
        let batch = planner(leg)?;
        Some(Batch {
            carrier: OTHER_CARRIER.into(),
            ..batch
        })
    })
}

impl World<'_> {
    async fn take(&mut self, step: Step) {
        match step {
            Step::Credit => self.credit().await,
            Step::CreditAgain => self.credit_again().await,
            Step::Send => self.send().await,
            Step::SendAgain => self.send_again().await,
            Step::Claim => {
                let most = self.chance.between(1, 9);
                self.claim(usize::try_from(most).unwrap()).await;
            }
            Step::Release => self.release(None).await,
            Step::PutBack => self.put_back().await,
            Step::Taken => self.taken(usize::MAX).await,
            Step::PartlyTaken => self.taken(1).await,
            Step::AllTaken => self.all_taken().await,
            Step::Refused => self.refused().await,
            Step::RefusedForNow => {
                if let Some(claimed) = self.in_hand.pop() {
                    let progress = refused_for_now(&claimed);
                    self.report(vec![progress], vec![]).await;
                }
            }
            Step::Doubted => self.doubted().await,
            Step::Died => self.die().await,
            Step::LateAnswer => {
                if let Some(claimed) = self.lost.pop() {
                    self.took(&claimed, usize::MAX).await;
                }
            }
            Step::LateRefusal => {
                if let Some(claimed) = self.lost.pop() {
                    self.refused_late(&claimed).await;
                }
            }
            Step::Moved => {
                let to = CARRIERS[self.chance.place(CARRIERS.len()).unwrap()];
                self.release(Some(to)).await;
            }
            Step::Receipt => self.receipt().await,
            Step::Late => self.late().await,
            Step::GiveUp => self.give_up().await,
            Step::Cancel => self.cancel().await,
            Step::PauseAndResume => self.pause_and_resume().await,
            Step::TopUp => self.create_top_up().await,
            Step::Payment => self.report_payment().await,
            Step::ExpireTopUp => self.expire_top_up().await,
            Step::DecideTopUp => self.decide_top_up().await,
            Step::Transfer => self.transfer().await,
            Step::TransferAgain => self.transfer_again().await,
        }
    }

    async fn credit(&mut self) {
        let component = Component::ALL[self.chance.place(Component::ALL.len()).unwrap()];
        let naira = i64::try_from(self.chance.between(1, 150)).unwrap();
        let reference = format!("bank-{}", fresh());
        let entry = credit(self.account, component, naira, &reference);
        let answer = self
            .kit
            .store
            .wallets()
            .credit(entry, by(NOW))
            .await
            .unwrap();
        assert_eq!(answer, Credited::New);
        self.credits.push((component, naira, reference));
        let held = self.model.wallet.entry(component).or_insert(Money::ZERO);
        *held += Money::from_naira(naira);
    }

    async fn credit_again(&mut self) {
        let Some(at) = self.chance.place(self.credits.len()) else {
            return;
        };
        let (component, naira, reference) = &self.credits[at];
        let entry = credit(self.account, *component, *naira, reference);
        let answer = self
            .kit
            .store
            .wallets()
            .credit(entry, by(NOW))
            .await
            .unwrap();
        let amount = Money::from_naira(*naira);
        let component = *component;
        assert_eq!(answer, Credited::Before { amount, component });
    }

    async fn send(&mut self) {
        let pages = i64::try_from(self.chance.between(1, 4)).unwrap();
        let (base, promise) = match self.chance.pick(&[(4, 0), (2, 1), (4, 2)]) {
            0 => (sending(self.account), Promise::Refund),
            1 => {
                let terms = Terms {
                    refund_undelivered: false,
                    two_legs: false,
                };
                let base = Sending {
                    gateway: Gateway::DirectCorporate,
                    terms,
                    ..sending(self.account)
                };
                (base, Promise::Nothing)
            }
            _ => {
                let base = Sending {
                    reserve: pages,
                    ..two_legs(self.account)
                };
                let reserve = Money::from_naira(base.reserve);
                (base, Promise::SecondLeg { reserve })
            }
        };
        let recipients = usize::try_from(self.chance.between(1, 6)).unwrap();
        let margin = self.chance.pick(&[(2, 0), (3, pages)]);
        let sending = Sending {
            recipients,
            first_number: self.next_number,
            pages,
            price: pages * i64::try_from(self.chance.between(2, 5)).unwrap(),
            parent: Some((self.parent, margin)),
            ..base
        };
        self.next_number += recipients;
        let message = sending.message(&self.kit.store);
        let pays = self.model.send(
            message.id,
            &message.draft.recipients,
            (Money::from_naira(sending.price), Money::from_naira(margin)),
            usize::try_from(pages).unwrap(),
            promise,
        );
        let answer = self.kit.accept(&message).await;
        assert_eq!(matches!(answer, Accepted::Yes { .. }), pays, "{answer:?}");
        if pays {
            self.messages.push(message);
        }
    }

    async fn send_again(&mut self) {
        let Some(at) = self.chance.place(self.messages.len()) else {
            return;
        };
        if self.reopened.contains(&self.messages[at].id) {
            return;
        }
        let again = NewMessage {
            id: storekit::message_id(NOW),
            ..self.messages[at].clone()
        };
        let answer = self.kit.accept(&again).await;
        let duplicate = Accepted::No(domain::Refusal::Duplicate);
        assert_eq!(answer, duplicate);
    }

    async fn claim(&mut self, recipients: usize) {
        for carrier in CARRIERS {
            let claim = Claim {
                carrier: carrier.into(),
                now_ms: DUE,
                ..claim(recipients)
            };
            for claimed in self.kit.store.claims().claim(claim).await.unwrap() {
                for &to in &claimed.batch.recipients {
                    let right = self.model.claim(to, leg(&claimed), claimed.batch.kind);
                    assert!(right, "{to:?} was claimed: {claimed:?}");
                    let pages = ids(&claimed, to).into_iter();
                    self.ids.extend(pages.map(|id| (carrier, id, to)));
                }
                self.in_hand.push(claimed);
            }
        }
    }

    /// Puts claims back, to this carrier or to their own ones.
    async fn release(&mut self, to: Option<&str>) {
        let claimed = std::mem::take(&mut self.in_hand);
        for one in &claimed {
            for &to in &one.batch.recipients {
                self.model.release(to, one.batch.kind);
            }
        }
        let batches = claimed.into_iter().map(|claimed| claimed.batch).collect();
        let released = self
            .kit
            .store
            .claims()
            .release(batches, NOW, to.map(Into::into), NOW);
        released.await.unwrap();
    }

    /// Nothing of a claimed batch was submitted.
    async fn put_back(&mut self) {
        let Some(claimed) = self.in_hand.pop() else {
            return;
        };
        for &to in &claimed.batch.recipients {
            self.model.release(to, claimed.batch.kind);
        }
        self.report(vec![put_back(&claimed)], vec![]).await;
    }

    async fn taken(&mut self, most: usize) {
        let Some(mut claimed) = self.in_hand.pop() else {
            return;
        };
        let left = self.took(&claimed, most).await;
        if !left.is_empty() {
            claimed.batch.recipients = left;
            self.in_hand.push(claimed);
        }
    }

    /// Reports the first so many as accepted. Returns the rest.
    async fn took(&mut self, claimed: &Claimed, most: usize) -> Vec<Recipient> {
        let most = most.min(claimed.batch.recipients.len());
        let progress = self.taking(claimed, most);
        self.report(vec![progress], vec![]).await;
        claimed.batch.recipients[most..].to_vec()
    }

    /// The carriers accept all claims, and the same report has receipts of others.
    async fn all_taken(&mut self) {
        let in_hand = std::mem::take(&mut self.in_hand);
        let recipients = |one: &Claimed| one.batch.recipients.clone();
        let mut about = in_hand.iter().flat_map(recipients).collect();
        let receipts = self.heard(&mut about);
        let all = in_hand.iter().map(|one| (one, one.batch.recipients.len()));
        let progress = all.map(|(one, count)| self.taking(one, count)).collect();
        self.report(progress, receipts).await;
    }

    /// Returns the progress that the first `most` are accepted.
    fn taking(&mut self, claimed: &Claimed, most: usize) -> Progress {
        for &to in &claimed.batch.recipients[..most] {
            let ids = ids(claimed, to);
            self.model.take(to, leg(claimed), carrier(claimed), ids);
        }
        let taken = taken(claimed, most);
        let sent = claimed.batch.recipients[..most].to_vec();
        self.with_second_leg(claimed, sent, taken)
    }

    async fn refused(&mut self) {
        let Some(claimed) = self.in_hand.pop() else {
            return;
        };
        for &to in &claimed.batch.recipients {
            let end = DeliveryStatus::Rejected;
            self.model
                .refuse(to, leg(&claimed), claimed.batch.kind, end);
        }
        self.report(vec![refused(&claimed)], vec![]).await;
    }

    async fn refused_late(&mut self, claimed: &Claimed) {
        for &to in &claimed.batch.recipients {
            let kind = claimed.batch.kind;
            self.model.refuse_late(to, leg(claimed), kind);
        }
        self.report(vec![refused(claimed)], vec![]).await;
    }

    async fn doubted(&mut self) {
        if let Some(claimed) = self.in_hand.pop() {
            self.doubt(&claimed).await;
        }
    }

    async fn doubt(&mut self, claimed: &Claimed) {
        for &to in &claimed.batch.recipients {
            self.model.doubt(to, leg(claimed), carrier(claimed));
        }
        let sent = claimed.batch.recipients.clone();
        let progress = self.with_second_leg(claimed, sent, lost(claimed));
        self.report(vec![progress], vec![]).await;
    }

    /// Sometimes, recipients of a first leg are sent the second when their time is over.
    fn with_second_leg(
        &mut self,
        claimed: &Claimed,
        sent: Vec<Recipient>,
        progress: Progress,
    ) -> Progress {
        let two_legs = claimed.batch.leg == domain::Leg::First
            && claimed.content.gateway == Gateway::DualBackup;
        if !two_legs || sent.is_empty() || !self.chance.is_among(2) {
            return progress;
        }
        let Batch {
            bucket,
            message,
            charge,
            reserve,
            pages,
            ..
        } = claimed.batch;
        let timer = Batch {
            carrier: OTHER_CARRIER.into(),
            pages,
            recipients: sent,
            ..backup(
                bucket,
                message,
                claimed.batch.recipients[0],
                charge,
                reserve,
            )
        };
        Progress {
            again: progress.again.into_iter().chain([timer]).collect(),
            ..progress
        }
    }

    /// The process dies, and the next one takes over its claims.
    async fn die(&mut self) {
        self.lost.append(&mut self.in_hand);
        for carrier in CARRIERS {
            for orphan in self.kit.orphans(carrier).await {
                self.doubt(&orphan).await;
            }
        }
    }

    async fn receipt(&mut self) {
        let receipts = self.heard(&mut HashSet::new());
        if !receipts.is_empty() {
            self.report(vec![], receipts).await;
        }
    }

    /// Some receipts of both carriers, each of another recipient, and none of the named ones.
    fn heard(&mut self, about: &mut HashSet<Recipient>) -> Vec<Receipt> {
        let most = self.chance.between(1, 4);
        let mut receipts = Vec::new();
        for _ in 0..most {
            if let Some(at) = self.chance.place(self.ids.len())
                && about.insert(self.ids[at].2)
            {
                receipts.push(self.settle_joined(at));
            }
        }
        receipts
    }

    /// A receipt of a known id, or of an unknown one.
    fn settle_joined(&mut self, at: usize) -> Receipt {
        let (carrier, mut id, to) = self.ids[at].clone();
        if self.chance.is_among(3) {
            id = format!("nobody-{}", fresh());
        }
        let status = self.chance.pick(&[
            (2, ReceiptStatus::Pending),
            (9, ReceiptStatus::Final(DeliveryStatus::Delivered)),
            (2, ReceiptStatus::Final(DeliveryStatus::Undelivered)),
            (1, ReceiptStatus::Final(DeliveryStatus::Expired)),
        ]);
        let heard = SentReceipt {
            carrier,
            id,
            to,
            status,
        };
        let receipt = Receipt {
            carrier: carrier.into(),
            carrier_id: heard.id.clone(),
            other_id: None,
            recipient: Some(to),
            sender: SENDER.to_owned(),
            status,
            error: None,
            raw: None,
        };
        self.model.hear_all(vec![heard]);
        receipt
    }

    /// The time of queued recipients is over.
    async fn late(&mut self) {
        loop {
            let late = self.kit.late_batches(NOW + TIMEOUT_MS + 1).await;
            if late.is_empty() {
                return;
            }
            for claimed in late {
                let mut progress = refused(&claimed);
                for ended in &mut progress.ended {
                    ended.status = DeliveryStatus::Expired;
                    let (to, kind) = (ended.recipient, claimed.batch.kind);
                    self.model.refuse(to, leg(&claimed), kind, ended.status);
                }
                self.report(vec![progress], vec![]).await;
            }
        }
    }

    async fn give_up(&mut self) {
        self.model.give_up();
        for gateway in GATEWAYS {
            let expiry = Expiry {
                gateway,
                over_before_ms: NOW + 1,
                now_ms: NOW + TIMEOUT_MS + 1,
                planner: elsewhere(),
            };
            let (settled, _) = self.kit.expire(&expiry).await;
            self.settled += settled.outcomes.len();
        }
    }

    /// Requests a stop of a message. The node puts its recipients back, and the stop is completed.
    async fn stop(&mut self, kind: StopKind) -> Option<(MessageKey, Stop)> {
        let at = self.chance.place(self.messages.len())?;
        let message = &self.messages[at];
        let key = MessageKey {
            account: self.account,
            environment: message.draft.environment,
            message: message.id,
        };
        let changes = self.kit.store.changes();
        let requested = changes.request(key, kind, NOW, None).await.unwrap();
        let Ok(Requested::Stopping(stop)) = requested.unwrap() else {
            return None;
        };
        let in_hand = std::mem::take(&mut self.in_hand);
        let (own, others) = in_hand
            .into_iter()
            .partition(|one| one.batch.message == key.message && one.batch.is_unsent());
        self.in_hand = others;
        let own: Vec<Claimed> = own;
        for claimed in &own {
            for &to in &claimed.batch.recipients {
                self.model.release(to, claimed.batch.kind);
            }
            self.report(vec![put_back(claimed)], vec![]).await;
        }
        loop {
            let made = changes.step(&stop, NOW).await.unwrap();
            self.settled += made.settled.outcomes.len();
            if made.is_done {
                return Some((key, stop));
            }
        }
    }

    async fn cancel(&mut self) {
        let Some((key, stop)) = self.stop(StopKind::Cancel).await else {
            return;
        };
        let changes = self.kit.store.changes();
        let finished = changes.finish_cancel(stop.bucket, stop.message, NOW);
        assert!(finished.await.unwrap());
        if self.model.cancel(key.message) {
            self.reopened.insert(key.message);
        }
    }

    /// No unsent recipient of a paused message is claimed.
    async fn pause_and_resume(&mut self) {
        let Some((key, stop)) = self.stop(StopKind::Pause).await else {
            return;
        };
        let changes = self.kit.store.changes();
        changes.forget_pause(&stop).await.unwrap();
        self.claim(5).await;
        let of_it = |one: &Claimed| one.batch.message == key.message && one.batch.is_unsent();
        assert!(!self.in_hand.iter().any(of_it), "{key:?} is paused");
        let resumed = changes.resume(key, NOW, None, None).await.unwrap();
        assert!(resumed.unwrap().is_ok());
    }

    async fn report(&mut self, progress: Vec<Progress>, receipts: Vec<Receipt>) {
        let mut settled = Settled::default();
        let report = CarrierReport {
            planner: elsewhere(),
            ..report(progress, receipts)
        };
        let parked = self
            .kit
            .store
            .carrier_reports()
            .commit(Arc::new(report), &mut settled)
            .await;
        parked.unwrap();
        self.settled += settled.outcomes.len();
    }

    /// Each component has its expected balance, and every ended recipient has one callback. The
    /// recipients of one message, or of all, have their expected states.
    async fn compare(&mut self, all: bool) {
        self.compare_wallet(self.account, &self.model.wallet).await;
        self.compare_wallet(self.parent, &self.model.parent).await;
        assert_eq!(self.settled, self.model.ended, "came to an end");
        let one = self.chance.place(self.messages.len());
        for (at, message) in self.messages.iter().enumerate() {
            if !all && Some(at) != one {
                continue;
            }
            let statuses = self.kit.statuses(message).await;
            for (to, status) in message.draft.recipients.iter().zip(statuses) {
                let person = &self.model.people[to];
                let wanted = match person.standing {
                    Standing::Waiting => None,
                    Standing::Sent => Some(DeliveryStatus::Sent),
                    Standing::InDoubt => Some(DeliveryStatus::InDoubt),
                    Standing::Ended(status) => Some(status),
                };
                assert_eq!(status, wanted, "{person:?}");
            }
        }
    }

    async fn compare_wallet(&self, account: AccountId, expected: &Wallet) {
        let wallets = self.kit.store.wallets();
        let wallet = wallets.find(account).await.unwrap().unwrap();
        for component in Component::ALL {
            let held = expected.get(&component).copied().unwrap_or(Money::ZERO);
            let found = wallet.get(component);
            assert_eq!(found, held, "{component:?} of {account}");
        }
    }

    /// Settles everything.
    async fn finish(&mut self) {
        self.release(None).await;
        loop {
            self.claim(1_000).await;
            if self.in_hand.is_empty() {
                break;
            }
            while !self.in_hand.is_empty() {
                self.taken(usize::MAX).await;
            }
        }
        self.give_up().await;
        self.compare(true).await;
        self.compare_receipts().await;
        let mut people = self.model.people.values();
        assert!(people.all(|person| matches!(person.standing, Standing::Ended(_))));
        assert_eq!(self.model.ended, self.model.people.len(), "each ends once");
    }
}

async fn money_and_recipients_always_match_the_model(kit: &Kit) {
    let long = std::env::var_os("OGENE_LONG").is_some();
    let steps = if long { MANY_STEPS } else { STEPS };
    let share = if kit.is_sqlite() { 1 } else { 10 };
    let seed = std::env::var("OGENE_SEED").map(|seed| seed.parse::<u64>().unwrap());
    let seeds = seed.map_or(0..steps / share / SEQUENCE, |seed| seed..seed + 1);
    let seeds: Vec<u64> = seeds.collect();
    let mut running = JoinSet::new();
    for seeds in seeds.chunks(TOGETHER) {
        // The sequences mostly wait, because the writer defers changes that no caller awaits.
        if running.len() == BESIDE {
            running.join_next().await.unwrap().unwrap();
        }
        let (kit, seeds) = (kit.another().await, seeds.to_vec());
        running.spawn(async move {
            let mut next_number = 1;
            for seed in seeds {
                next_number = run(&kit, seed, next_number).await;
            }
            kit.finish().await;
        });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
}

/// Runs the sequence of a seed with recipients from this number on. Returns the next number.
async fn run(kit: &Kit, seed: u64, next_number: usize) -> usize {
    let mut chance = Chance::new(seed);
    let parent = kit.account(0).await;
    let receipts = payments::receipts(kit).await.len();
    let mut world = World {
        kit,
        account: kit.sub_account(parent, 0).await,
        parent,
        chance: &mut chance,
        model: Model::default(),
        top_ups: vec![],
        transfers: vec![],
        receipts: i64::try_from(receipts).unwrap(),
        messages: vec![],
        reopened: HashSet::new(),
        credits: vec![],
        in_hand: vec![],
        lost: vec![],
        ids: vec![],
        next_number,
        settled: 0,
    };
    let mut taken = Taken {
        seed,
        steps: vec![],
    };
    for _ in 0..SEQUENCE {
        let step = world.chance.pick(&CHOICES);
        taken.steps.push(step);
        world.take(step).await;
        world.compare(false).await;
    }
    world.finish().await;
    world.next_number
}
