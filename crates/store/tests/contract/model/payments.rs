//! The model of top-ups and transfers.

use super::{Model, Wallet, add};
use domain::payment::TopUpState;
use domain::resale::Direction;
use domain::{Component, Money};

/// The account of a top-up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Owner {
    Parent,
    Sub,
}

/// A payment as its provider confirms it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Told {
    Paid,
    /// Paid with another amount.
    Less,
    Pending,
    Failed,
}

/// The effect of a payment or of a decision.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Effect {
    Nothing,
    /// It is credited, and its receipt has this number.
    Credit(i64),
    Fail,
    Mismatch,
}

#[derive(Clone, Debug)]
pub(crate) struct TopUpModel {
    pub(crate) owner: Owner,
    pub(crate) state: TopUpState,
    amount: Money,
    bonus: Money,
    is_rejected: bool,
}

impl TopUpModel {
    pub(crate) fn new(owner: Owner, amount: Money, bonus: Money) -> Self {
        Self {
            owner,
            state: TopUpState::Pending,
            amount,
            bonus,
            is_rejected: false,
        }
    }

    /// The time to pay is over.
    pub(crate) fn expire(&mut self) {
        if self.state == TopUpState::Pending {
            self.state = TopUpState::Expired;
        }
    }

    fn is_decided(&self) -> bool {
        self.is_rejected || matches!(self.state, TopUpState::Paid | TopUpState::Mismatch)
    }
}

impl Model {
    /// A payment is reported.
    pub(crate) fn report(
        &mut self,
        top_up: &mut TopUpModel,
        told: Told,
        receipts: &mut i64,
    ) -> Effect {
        match told {
            _ if top_up.is_decided() => Effect::Nothing,
            Told::Failed if top_up.state == TopUpState::Pending => {
                top_up.state = TopUpState::Failed;
                Effect::Fail
            }
            Told::Pending | Told::Failed => Effect::Nothing,
            Told::Less => {
                top_up.state = TopUpState::Mismatch;
                Effect::Mismatch
            }
            Told::Paid => self.credit(top_up, receipts),
        }
    }

    /// An operator decides about a mismatch. Returns `None` if the decision is refused.
    pub(crate) fn decide(
        &mut self,
        top_up: &mut TopUpModel,
        accepts: bool,
        receipts: &mut i64,
    ) -> Option<Effect> {
        let was_rejected = top_up.is_rejected && top_up.state == TopUpState::Failed;
        if top_up.state != TopUpState::Mismatch && !(accepts && was_rejected) {
            return None;
        }
        if accepts {
            return Some(self.credit(top_up, receipts));
        }
        top_up.state = TopUpState::Failed;
        top_up.is_rejected = true;
        Some(Effect::Fail)
    }

    fn credit(&mut self, top_up: &mut TopUpModel, receipts: &mut i64) -> Effect {
        top_up.state = TopUpState::Paid;
        *receipts += 1;
        let wallet = match top_up.owner {
            Owner::Parent => &mut self.parent,
            Owner::Sub => &mut self.wallet,
        };
        add(wallet, Component::UniversalWallet, top_up.amount);
        add(wallet, Component::SmsBonus, top_up.bonus);
        Effect::Credit(*receipts)
    }

    /// Moves money between the parent and its sub-account. Returns `true` if the wallet that gives
    /// holds it.
    pub(crate) fn transfer(&mut self, direction: Direction, amount: Money) -> bool {
        let before = total(&self.parent) + total(&self.wallet);
        let (gives, takes) = match direction {
            Direction::ToSub => (&mut self.parent, &mut self.wallet),
            Direction::FromSub => (&mut self.wallet, &mut self.parent),
        };
        if total(gives) < amount {
            return false;
        }
        let mut rest = amount;
        for component in Component::ALL {
            let held = gives.get(&component).copied().unwrap_or(Money::ZERO);
            let moved = rest.min(held.max(Money::ZERO));
            add(gives, component, -moved);
            add(takes, component, moved);
            rest -= moved;
        }
        let after = total(&self.parent) + total(&self.wallet);
        assert_eq!((rest, after), (Money::ZERO, before));
        true
    }
}

fn total(wallet: &Wallet) -> Money {
    wallet.values().copied().sum()
}
