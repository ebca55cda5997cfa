//! Whatever happens in whatever order, money is where the ledger says.

use super::kit::{
    Kit, NOW, Sending, backup_planner, claim, doubted, page_id, receipt, refused, report, sending,
    taken, twins, two_legs,
};
use domain::{AccountId, Component, DeliveryStatus, Gateway, Money, Recipient};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use store::{Claim, Claimed, Expiry};

twins!(whatever_happens_the_balance_is_the_sum_of_the_ledger);

/// Sequences tried on each database, and how long they are.
const SEQUENCES: usize = 12;
const STEPS: usize = 40;
const TIMEOUT: i64 = 3_600_000;

#[derive(Clone, Debug)]
enum Step {
    Credit(Component, i64),
    Send {
        recipients: usize,
        price: i64,
        pages: i64,
        dual: bool,
    },
    Claim(usize),
    Release,
    Taken,
    Refused,
    Doubted,
    Receipt {
        which: usize,
        page: i64,
        status: DeliveryStatus,
    },
    Expire,
}

fn step() -> impl Strategy<Value = Step> {
    let status = prop_oneof![
        3 => Just(DeliveryStatus::Delivered),
        2 => Just(DeliveryStatus::Undelivered),
        1 => Just(DeliveryStatus::Expired),
    ];
    prop_oneof![
        2 => (proptest::sample::select(&Component::ALL[..]), 1..40_i64)
            .prop_map(|(component, naira)| Step::Credit(component, naira)),
        6 => (1..6_usize, 5..12_i64, 1..3_i64, any::<bool>())
            .prop_map(|(recipients, price, pages, dual)| Step::Send { recipients, price, pages, dual }),
        5 => (1..8_usize).prop_map(Step::Claim),
        1 => Just(Step::Release),
        5 => Just(Step::Taken),
        2 => Just(Step::Refused),
        2 => Just(Step::Doubted),
        12 => (0..1_000_usize, 1..3_i64, status)
            .prop_map(|(which, page, status)| Step::Receipt { which, page, status }),
        1 => Just(Step::Expire),
    ]
}

/// What the node and the carrier know.
struct World<'k> {
    kit: &'k Kit,
    account: AccountId,
    now_ms: i64,
    recipients: Vec<Recipient>,
    in_hand: Vec<Claimed>,
}

impl World<'_> {
    async fn take(&mut self, step: &Step) {
        match *step {
            Step::Credit(component, naira) => self.kit.credit(self.account, component, naira).await,
            Step::Send {
                recipients,
                price,
                pages,
                dual,
            } => {
                let base = if dual {
                    two_legs(self.account)
                } else {
                    sending(self.account)
                };
                let first_number = self.recipients.len() + 1;
                let sending = Sending {
                    recipients,
                    first_number,
                    price,
                    pages,
                    ..base
                };
                let message = sending.message(&self.kit.store);
                self.recipients.extend(&message.draft.recipients);
                self.kit.accept(&message).await;
            }
            Step::Claim(recipients) => {
                let claim = Claim {
                    now_ms: self.now_ms + 60_000,
                    ..claim(recipients)
                };
                self.in_hand
                    .extend(self.kit.store.claim(claim).await.unwrap());
            }
            Step::Release => {
                let batches = self
                    .in_hand
                    .drain(..)
                    .map(|claimed| claimed.batch)
                    .collect();
                self.kit.store.release(batches, NOW, None).await.unwrap();
            }
            Step::Taken => self.answer(taken).await,
            Step::Refused => self.answer(refused).await,
            Step::Doubted => self.answer(doubted).await,
            Step::Receipt {
                which,
                page,
                status,
            } => {
                if let Some(&to) = self.recipients.get(which % self.recipients.len().max(1)) {
                    let heard = receipt(&page_id(to, page), to, status);
                    self.kit.report(report(vec![], vec![heard])).await;
                }
            }
            Step::Expire => {
                for gateway in [Gateway::DirectRefund, Gateway::DualBackup] {
                    let now_ms = NOW + TIMEOUT + 1;
                    let expiry = Expiry {
                        gateway,
                        timeout_ms: TIMEOUT,
                        now_ms,
                        planner: backup_planner(),
                    };
                    self.kit.expire(&expiry).await;
                }
            }
        }
    }

    async fn answer(&mut self, how: impl Fn(&Claimed) -> store::Progress) {
        if let Some(claimed) = self.in_hand.pop() {
            self.kit.report(report(vec![how(&claimed)], vec![])).await;
        }
    }
}

async fn whatever_happens_the_balance_is_the_sum_of_the_ledger(kit: &Kit) {
    let mut runner = TestRunner::new(Config::default());
    let sequences = proptest::collection::vec(step(), STEPS);
    for _ in 0..SEQUENCES {
        let steps = sequences.new_tree(&mut runner).unwrap().current();
        let account = kit.account(100).await;
        let mut world = World {
            kit,
            account,
            now_ms: NOW,
            recipients: vec![],
            in_hand: vec![],
        };
        for step in &steps {
            world.take(step).await;
        }
        world.take(&Step::Release).await;
        let violations = kit.store.verify().await.unwrap().violations;
        assert_eq!(violations, Vec::<String>::new(), "after {steps:?}");
        let ledger = kit.store.statement(account, 100_000).await.unwrap();
        let sum: Money = ledger.iter().map(|entry| entry.amount).sum();
        assert_eq!(kit.balance(account).await, sum, "after {steps:?}");
    }
}
