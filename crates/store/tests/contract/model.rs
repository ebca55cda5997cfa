//! A small reference model of money and recipients. It follows docs/spec in memory, without any
//! code of the product.

pub(crate) mod payments;

use domain::{Component, DeliveryStatus, MessageId, Money, Recipient};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use store::{BatchKind, ReceiptStatus};

/// The state of a recipient.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Standing {
    Waiting,
    Sent,
    InDoubt,
    Ended(DeliveryStatus),
}

/// The refund policy of a gateway.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Promise {
    /// An undelivered recipient is refunded.
    Refund,
    Nothing,
    /// A second leg is sent if the first fails. Its extra price is refunded if it was never sent.
    SecondLeg {
        reserve: Money,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Person {
    message: MessageId,
    price: Money,
    /// The part of the price that the parent gets.
    margin: Money,
    pages: usize,
    promise: Promise,
    pub(crate) standing: Standing,
    /// The recipient expired without a receipt.
    gave_up: bool,
    /// `true` if the second leg may be in flight.
    on_second: bool,
    /// For each leg, the pages without a known response, and the carriers that may have them.
    doubted: [BTreeSet<usize>; 2],
    doubters: [BTreeSet<&'static str>; 2],
    failed: [bool; 2],
    delivered: [BTreeSet<usize>; 2],
}

impl Person {
    /// Updates the doubt: a recipient is in doubt while one of its pages is.
    fn weigh(&mut self) {
        let is_known = self.doubted.iter().all(BTreeSet::is_empty);
        self.doubters
            .iter_mut()
            .zip(&self.doubted)
            .filter(|(_, pages)| pages.is_empty())
            .for_each(|(carriers, _)| carriers.clear());
        if !matches!(self.standing, Standing::Ended(_)) {
            self.standing = if is_known {
                Standing::Sent
            } else {
                Standing::InDoubt
            };
        }
    }

    /// Moves receipts that were assigned to other pages.
    fn rename(&mut self, leg: usize, moved: &[(usize, usize)]) {
        if matches!(self.standing, Standing::Ended(_)) && !self.gave_up {
            return;
        }
        let delivered = &mut self.delivered[leg];
        let heard = |(guessed, _): &&(usize, usize)| delivered.contains(guessed);
        let moved: Vec<_> = moved.iter().filter(heard).collect();
        for (guessed, _) in &moved {
            delivered.remove(guessed);
        }
        delivered.extend(moved.iter().map(|(_, page)| page));
    }
}

/// A receipt.
#[derive(Clone, Debug)]
pub(crate) struct SentReceipt {
    pub(crate) carrier: &'static str,
    pub(crate) id: String,
    pub(crate) to: Recipient,
    pub(crate) status: ReceiptStatus,
}

impl SentReceipt {
    /// The carrier's id, which no other message has.
    fn key(&self) -> (&'static str, String) {
        (self.carrier, self.id.clone())
    }
}

/// A wallet.
pub(crate) type Wallet = BTreeMap<Component, Money>;

/// Adds an amount, which may be negative, to a component of a wallet.
pub(crate) fn add(wallet: &mut Wallet, component: Component, amount: Money) {
    *wallet.entry(component).or_insert(Money::ZERO) += amount;
}

/// The unrefunded payment of each component for a message, in the order of drawing.
type Paid = Vec<(Component, Money)>;

#[derive(Default)]
pub(crate) struct Model {
    pub(crate) wallet: Wallet,
    /// The wallet of the parent.
    pub(crate) parent: Wallet,
    pub(crate) people: BTreeMap<Recipient, Person>,
    /// The number of recipients with a reported outcome.
    pub(crate) ended: usize,
    paid: HashMap<MessageId, Paid>,
    /// The page of a carrier's id: leg (counted from 0) and number.
    pages: HashMap<(&'static str, String), (Recipient, usize, usize)>,
    /// Receipts that match no page yet.
    parked: Vec<SentReceipt>,
}

impl Model {
    /// Returns `true` if the wallet pays for it; then it is accepted, and the parent gets its margin.
    pub(crate) fn send(
        &mut self,
        message: MessageId,
        to: &[Recipient],
        (price, margin): (Money, Money),
        pages: usize,
        promise: Promise,
    ) -> bool {
        let mut due = price * i64::try_from(to.len()).unwrap();
        if self.wallet.values().copied().sum::<Money>() < due {
            return false;
        }
        let mut paid = Paid::new();
        for component in Component::ALL {
            let held = self.wallet.entry(component).or_insert(Money::ZERO);
            let drawn = due.min(*held);
            *held -= drawn;
            due -= drawn;
            paid.push((component, drawn));
        }
        self.paid.insert(message, paid);
        let margins = margin * i64::try_from(to.len()).unwrap();
        add(&mut self.parent, Component::UniversalWallet, margins);
        let person = Person {
            message,
            price,
            margin,
            pages,
            promise,
            standing: Standing::Waiting,
            gave_up: false,
            on_second: false,
            doubted: Default::default(),
            doubters: Default::default(),
            failed: [false; 2],
            delivered: Default::default(),
        };
        self.people
            .extend(to.iter().map(|&to| (to, person.clone())));
        true
    }

    /// Returns `true` if the recipient may be claimed now.
    pub(crate) fn claim(&mut self, to: Recipient, leg: usize, kind: BatchKind) -> bool {
        let person = self.person(to);
        let open = !matches!(person.standing, Standing::Ended(_));
        match kind {
            BatchKind::First => person.standing == Standing::Waiting,
            BatchKind::Resend => !person.doubted[leg].is_empty() && (leg == 1 || !person.on_second),
            BatchKind::Backup => open && !std::mem::replace(&mut person.on_second, true),
            BatchKind::Again => open,
        }
    }

    /// Puts the recipient back: it was not submitted.
    pub(crate) fn release(&mut self, to: Recipient, kind: BatchKind) {
        if kind != BatchKind::Backup {
            return;
        }
        let person = self.person(to);
        person.on_second = false;
        if let (Standing::Ended(_), Promise::SecondLeg { reserve }) =
            (person.standing, person.promise)
        {
            let message = person.message;
            self.refund(message, reserve);
        }
    }

    /// The carrier accepted it, with these ids.
    pub(crate) fn take(
        &mut self,
        to: Recipient,
        leg: usize,
        carrier: &'static str,
        ids: Vec<String>,
    ) {
        let person = self.person(to);
        person.doubted[leg].clear();
        person.weigh();
        let mut moved = Vec::new();
        for (page, id) in (1..).zip(ids) {
            let guessed = self.pages.insert((carrier, id), (to, leg, page));
            moved.extend(guessed.map(|(.., guessed)| (guessed, page)));
        }
        self.person(to).rename(leg, &moved);
        let known = |heard: &SentReceipt| self.pages.contains_key(&heard.key());
        let (now, later) = self.parked.drain(..).partition(known);
        self.parked = later;
        self.hear_all(now);
    }

    /// The response is unknown.
    pub(crate) fn doubt(&mut self, to: Recipient, leg: usize, carrier: &'static str) {
        let person = self.person(to);
        if !matches!(person.standing, Standing::Ended(_)) && !person.failed[leg] {
            // Earlier receipts stay known.
            if person.doubted[leg].is_empty() {
                let pages = 1..=person.pages;
                let unheard = pages.filter(|page| !person.delivered[leg].contains(page));
                person.doubted[leg] = unheard.collect();
            }
            person.doubters[leg].insert(carrier);
        }
        person.weigh();
        let is_of = |heard: &SentReceipt| heard.to == to && heard.carrier == carrier;
        let (now, later) = self.parked.drain(..).partition(is_of);
        self.parked = later;
        self.hear_all(now);
    }

    /// The carrier refused it, or its time was over. A refused copy does not change the first.
    pub(crate) fn refuse(
        &mut self,
        to: Recipient,
        leg: usize,
        kind: BatchKind,
        end: DeliveryStatus,
    ) {
        if kind != BatchKind::Resend {
            self.fail(to, leg, end);
        }
    }

    /// A node that was removed as dead reports the refusal. Its claims have been in doubt since, if
    /// that was not ended.
    pub(crate) fn refuse_late(&mut self, to: Recipient, leg: usize, kind: BatchKind) {
        if !self.person(to).doubted[leg].is_empty() {
            self.refuse(to, leg, kind, DeliveryStatus::Rejected);
        }
    }

    /// Submitted recipients had no receipt in time.
    pub(crate) fn give_up(&mut self) {
        let people: Vec<Recipient> = self.people.keys().copied().collect();
        for to in people {
            let person = self.person(to);
            if matches!(person.standing, Standing::Sent | Standing::InDoubt) {
                person.gave_up = true;
                self.end(to, DeliveryStatus::Expired);
            }
        }
    }

    /// Ends the recipients of a message that no carrier has, with a refund of their whole price.
    /// Returns `true` if all recipients are cancelled.
    pub(crate) fn cancel(&mut self, message: MessageId) -> bool {
        let is_its = |person: &Person| person.message == message;
        let own = self.people.iter().filter(|(_, person)| is_its(person));
        let own: Vec<Recipient> = own.map(|(to, _)| *to).collect();
        let end = Standing::Ended(DeliveryStatus::Cancelled);
        for &to in &own {
            let person = self.person(to);
            if person.standing == Standing::Waiting {
                person.standing = end;
                let price = person.price;
                self.ended += 1;
                self.refund(message, price);
                self.take_margin_back(to);
            }
        }
        own.iter().all(|&to| self.person(to).standing == end)
    }

    /// Receipts arrive one after the other.
    pub(crate) fn hear_all(&mut self, all: Vec<SentReceipt>) {
        let mut seen = HashSet::new();
        for heard in all {
            if seen.insert((heard.id.clone(), heard.status)) {
                self.settle_joined(heard);
            }
        }
    }

    fn settle_joined(&mut self, heard: SentReceipt) {
        let Some((to, leg, page)) = self.meant(&heard) else {
            self.parked.push(heard);
            return;
        };
        match heard.status {
            ReceiptStatus::Pending => {
                let person = self.person(to);
                person.doubted[leg].remove(&page);
                person.weigh();
            }
            ReceiptStatus::Final(DeliveryStatus::Delivered) => self.deliver(to, leg, page),
            ReceiptStatus::Final(end) => self.fail(to, leg, end),
        }
    }

    /// Finds the page of a receipt: that of its id, or else the first page in doubt with this
    /// carrier.
    fn meant(&mut self, heard: &SentReceipt) -> Option<(Recipient, usize, usize)> {
        if let Some(known) = self.pages.get(&heard.key()) {
            return Some(*known);
        }
        let person = self.person(heard.to);
        let mut legs = [0, 1].into_iter();
        let leg = legs.find(|&leg| {
            person.doubters[leg].contains(heard.carrier) && !person.doubted[leg].is_empty()
        })?;
        let meant = (heard.to, leg, *person.doubted[leg].first()?);
        self.pages.insert(heard.key(), meant);
        Some(meant)
    }

    fn person(&mut self, to: Recipient) -> &mut Person {
        self.people.get_mut(&to).expect("somebody was sent to")
    }

    /// A message is delivered once all its pages are. A late delivery corrects our own expiry, and
    /// moves no money.
    fn deliver(&mut self, to: Recipient, leg: usize, page: usize) {
        let person = self.person(to);
        let over = matches!(person.standing, Standing::Ended(_)) && !person.gave_up;
        if over || person.failed[leg] {
            return;
        }
        person.delivered[leg].insert(page);
        person.doubted[leg].remove(&page);
        if person.delivered[leg].len() < person.pages {
            person.weigh();
        } else if std::mem::take(&mut person.gave_up) {
            person.standing = Standing::Ended(DeliveryStatus::Delivered);
        } else {
            self.end(to, DeliveryStatus::Delivered);
        }
    }

    /// A leg has failed as soon as one page has.
    fn fail(&mut self, to: Recipient, leg: usize, end: DeliveryStatus) {
        let person = self.person(to);
        if matches!(person.standing, Standing::Ended(_)) || person.failed[leg] {
            return;
        }
        person.failed[leg] = true;
        person.doubted[leg].clear();
        let other = matches!(person.promise, Promise::SecondLeg { .. }) && !person.failed[1 - leg];
        if other {
            person.weigh();
        } else {
            self.end(to, end);
        }
    }

    fn end(&mut self, to: Recipient, end: DeliveryStatus) {
        self.ended += 1;
        let person = self.person(to);
        person.standing = Standing::Ended(end);
        person.doubted = Default::default();
        let (message, price) = (person.message, person.price);
        match person.promise {
            Promise::Refund if end != DeliveryStatus::Delivered => {
                self.refund(message, price);
                self.take_margin_back(to);
            }
            Promise::SecondLeg { reserve } if !person.on_second => self.refund(message, reserve),
            Promise::Refund | Promise::Nothing | Promise::SecondLeg { .. } => {}
        }
    }

    /// The margin of a refunded recipient may take the wallet of the parent below zero.
    fn take_margin_back(&mut self, to: Recipient) {
        let margin = self.person(to).margin;
        add(&mut self.parent, Component::UniversalWallet, -margin);
    }

    /// Refunds go back to the component that was drawn last first.
    fn refund(&mut self, message: MessageId, mut amount: Money) {
        for (component, paid) in self.paid.get_mut(&message).unwrap().iter_mut().rev() {
            let back = amount.min(*paid);
            *paid -= back;
            amount -= back;
            *self.wallet.entry(*component).or_insert(Money::ZERO) += back;
        }
        assert_eq!(amount, Money::ZERO, "no more goes back than was paid");
    }
}
