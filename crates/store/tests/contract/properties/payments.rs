//! The steps of money between a parent, its sub-account and a payment provider.

use super::World;
use crate::contract::model::payments::{Effect, Owner, Told, TopUpModel};
use domain::payment::{
    Acceptance, NewTopUp, Payment, PaymentStatus, Percent, Priced, Received, TopUp, TopUpId,
    TopUpState, Verdict,
};
use domain::resale::{Direction, TransferRequest};
use domain::{Component, Environment, Money, ObjectRefusal, Refusal};
use store::{Outcome, SettledTopUp, Transfer};
use storekit::{NOW, by, fresh, message_id, naira};

/// A top-up, and what the model knows about it.
pub(super) struct Known {
    top_up: TopUp,
    model: TopUpModel,
}

/// Number of reports of one payment at the same moment.
const AT_ONCE: usize = 3;

impl World<'_> {
    pub(super) async fn create_top_up(&mut self) {
        let owner = self.chance.pick(&[(1, Owner::Parent), (1, Owner::Sub)]);
        let amount = naira(i64::try_from(self.chance.between(1, 60)).unwrap());
        let bonus = naira(self.chance.pick(&[(2, 0), (1, 2)]));
        let mut random = [0; 10];
        random[2..].copy_from_slice(&fresh().to_be_bytes());
        let account = match owner {
            Owner::Parent => self.parent,
            Owner::Sub => self.account,
        };
        let new = NewTopUp {
            id: TopUpId::new(NOW, random),
            account,
            environment: Environment::Live,
            provider: "paystack".to_owned(),
            price: Priced {
                amount,
                vat: naira(1),
                vat_rate: Percent::from_hundredths(750),
                bonus,
                component: Component::UniversalWallet,
            },
            checkout_url: "https://checkout.example.com/x".to_owned(),
            return_url: None,
            expires_ms: 1_000,
        };
        let top_up = TopUp::new(new, NOW);
        let created = self
            .kit
            .store
            .top_ups()
            .create(account, top_up.clone(), None);
        assert_eq!(created.await.unwrap(), Outcome::Made(top_up.clone()));
        let model = TopUpModel::new(owner, amount, bonus);
        self.top_ups.push(Known { top_up, model });
    }

    /// A webhook, the return page and the search report a payment at the same moment.
    pub(super) async fn report_payment(&mut self) {
        let Some(at) = self.chance.place(self.top_ups.len()) else {
            return;
        };
        let told = self.chance.pick(&[
            (6, Told::Paid),
            (2, Told::Less),
            (2, Told::Pending),
            (1, Told::Failed),
        ]);
        let times = self.chance.pick(&[(3, 1), (1, AT_ONCE)]);
        let known = &mut self.top_ups[at];
        let payment = payment(&known.top_up, told);
        let effect = self
            .model
            .report(&mut known.model, told, &mut self.receipts);
        let id = known.top_up.id;
        let mut reports = tokio::task::JoinSet::new();
        for _ in 0..times {
            let (store, payment) = (self.kit.store.clone(), payment.clone());
            reports.spawn(async move { store.top_ups().settle(id, payment, NOW).await.unwrap() });
        }
        let settled = reports.join_all().await;
        let effects = settled.iter().map(effect_of);
        let seen: Vec<Effect> = effects.filter(|one| *one != Effect::Nothing).collect();
        let expected: Vec<Effect> = Some(effect)
            .filter(|effect| *effect != Effect::Nothing)
            .into_iter()
            .collect();
        assert_eq!(seen, expected, "{told:?}");
        let states = settled.iter().map(|one| one.top_up.state);
        let state = self.top_ups[at].model.state;
        assert!(states.into_iter().all(|one| one == state), "{settled:?}");
    }

    pub(super) async fn expire_top_up(&mut self) {
        let Some(at) = self.chance.place(self.top_ups.len()) else {
            return;
        };
        let known = &mut self.top_ups[at];
        known.model.expire();
        let top_ups = self.kit.store.top_ups();
        top_ups.expire(known.top_up.id).await.unwrap();
        let found = top_ups.find(known.top_up.id).await.unwrap().unwrap();
        assert_eq!(found.state, known.model.state);
    }

    /// An operator accepts or rejects a top-up, which the store permits for mismatches alone.
    pub(super) async fn decide_top_up(&mut self) {
        let is_mismatch = |known: &&mut Known| known.model.state == TopUpState::Mismatch;
        let any = self.chance.is_among(30);
        let at = self.chance.place(self.top_ups.len());
        let accepts = self.chance.is_among(60);
        let mut all = self.top_ups.iter_mut();
        let known = match at {
            Some(at) if any => all.nth(at),
            _ => all.find(is_mismatch),
        };
        let Some(known) = known else {
            return;
        };
        let expected = self
            .model
            .decide(&mut known.model, accepts, &mut self.receipts);
        let (top_ups, id) = (self.kit.store.top_ups(), known.top_up.id);
        let decided = if accepts {
            let accepted = top_ups.accept(id, Acceptance::default(), by(NOW));
            accepted.await.unwrap()
        } else {
            top_ups.reject(id, by(NOW)).await.unwrap()
        };
        assert_eq!(decided.is_ok(), expected.is_some(), "{decided:?}");
        if let (Ok(top_up), Some(effect)) = (decided, expected) {
            let number = match effect {
                Effect::Credit(number) => Some(number),
                Effect::Nothing | Effect::Fail | Effect::Mismatch => None,
            };
            assert_eq!(
                (top_up.state, top_up.receipt_number),
                (known.model.state, number)
            );
        }
    }

    pub(super) async fn transfer(&mut self) {
        let direction = self
            .chance
            .pick(&[(3, Direction::ToSub), (2, Direction::FromSub)]);
        let amount = naira(i64::try_from(self.chance.between(1, 90)).unwrap());
        let request = TransferRequest {
            amount,
            direction,
            reference: format!("order-{}", fresh()),
        };
        let holds = self.model.transfer(direction, amount);
        match self.moved(request.clone()).await {
            Outcome::Made(transfer) => {
                assert!(holds && transfer.request == request, "{transfer:?}");
                self.transfers.push(transfer);
            }
            refused => {
                let is_dear = matches!(
                    refused,
                    Outcome::Refused(Refusal::InsufficientFunds { needed, available })
                        if needed == amount && available < amount
                );
                assert!(is_dear && !holds, "{refused:?}");
            }
        }
    }

    /// A reference counts once.
    pub(super) async fn transfer_again(&mut self) {
        let Some(at) = self.chance.place(self.transfers.len()) else {
            return;
        };
        let known = self.transfers[at].clone();
        let mut request = known.request.clone();
        let is_same = self.chance.is_among(60);
        if !is_same {
            request.amount += Money::from_units(1);
        }
        let expected = if is_same {
            Outcome::Made(known)
        } else {
            Outcome::Refused(Refusal::Object(ObjectRefusal::ReferenceUsed))
        };
        assert_eq!(self.moved(request).await, expected);
    }

    async fn moved(&self, request: TransferRequest) -> Outcome<Transfer> {
        let transfer = Transfer {
            id: message_id(NOW),
            account: self.account,
            request,
            created_at_ms: NOW,
        };
        let accounts = self.kit.store.sub_accounts();
        let made = accounts.transfer(self.parent, transfer, None, by(NOW));
        made.await.unwrap()
    }

    /// Receipts are numbered without gap or repeat.
    pub(super) async fn compare_receipts(&self) {
        let mut numbers = receipts(self.kit).await;
        numbers.sort_unstable();
        let expected: Vec<i64> = (1..=self.receipts).collect();
        assert_eq!(numbers, expected);
    }
}

/// Returns the numbers of all receipts.
pub(super) async fn receipts(kit: &storekit::Kit) -> Vec<i64> {
    let all = kit.store.top_ups().list_all(None, None, 100_000);
    let all = all.await.unwrap();
    all.iter().filter_map(|one| one.receipt_number).collect()
}

fn payment(top_up: &TopUp, told: Told) -> Payment {
    let status = match told {
        Told::Paid | Told::Less => PaymentStatus::Paid,
        Told::Pending => PaymentStatus::Pending,
        Told::Failed => PaymentStatus::Failed,
    };
    let less = match told {
        Told::Less => Money::from_units(1),
        Told::Paid | Told::Pending | Told::Failed => Money::ZERO,
    };
    Payment {
        reference: top_up.reference.clone(),
        status,
        received: Received {
            amount: top_up.total() - less,
            currency: "NGN".to_owned(),
            payment_id: "4099260516".to_owned(),
        },
    }
}

fn effect_of(settled: &SettledTopUp) -> Effect {
    match settled.verdict {
        Verdict::Nothing => Effect::Nothing,
        Verdict::Credit => Effect::Credit(settled.top_up.receipt_number.unwrap()),
        Verdict::Fail => Effect::Fail,
        Verdict::Mismatch(_) => Effect::Mismatch,
    }
}
