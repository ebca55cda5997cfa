//! The acceptance of a mismatch by an operator.

use super::terms::{MAX_TOP_UP, is_in_kobo};
use super::top_up::{TopUp, TopUpState};
use crate::ids::AccountId;
use crate::money::Money;

/// The decision of an operator to credit a mismatch.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Acceptance {
    /// The account, where the payment names none.
    pub account: Option<AccountId>,
    /// The amount to credit, or `None` for the amount of the top-up.
    pub amount: Option<Money>,
}

/// The reason why a mismatch cannot be accepted or rejected.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum AcceptFault {
    /// There is no such top-up.
    #[error("there is no such top-up")]
    NotFound,
    /// The top-up is no mismatch.
    #[error("the top-up is {}, and only a mismatch can be decided", .0.as_str())]
    NoMismatch(TopUpState),
    /// The payment names no account.
    #[error("the payment names no account; name the account to credit")]
    NoAccount,
    /// The top-up belongs to another account.
    #[error("the top-up belongs to account {0}")]
    OtherAccount(AccountId),
    /// The account does not exist.
    #[error("there is no such account")]
    UnknownAccount,
    /// The payment names no amount.
    #[error("the payment has no top-up with an amount; give the amount to credit")]
    NoAmount,
    /// The amount cannot be credited.
    #[error("an amount is above 0, at most {MAX_TOP_UP}, with at most two decimals")]
    Amount,
    /// The reference was credited before.
    #[error("the account was credited under this reference before; reject the top-up")]
    CreditedBefore,
}

/// Checks that an operator may decide about a top-up. A rejected one can still be accepted.
pub fn check_decision(top_up: &TopUp, accepts: bool) -> Result<(), AcceptFault> {
    let was_rejected = top_up.state == TopUpState::Failed && top_up.decided_at_ms.is_some();
    if top_up.state == TopUpState::Mismatch || (accepts && was_rejected) {
        return Ok(());
    }
    Err(AcceptFault::NoMismatch(top_up.state))
}

/// Returns the account that an acceptance credits.
pub fn accepted_for(top_up: &TopUp, acceptance: Acceptance) -> Result<AccountId, AcceptFault> {
    match (top_up.account, acceptance.account) {
        (Some(own), Some(other)) if own != other => Err(AcceptFault::OtherAccount(own)),
        (Some(own), _) => Ok(own),
        (None, Some(given)) => Ok(given),
        (None, None) => Err(AcceptFault::NoAccount),
    }
}

/// Returns the top-up once an operator has accepted its mismatch. Another amount than that of the
/// top-up has its own VAT and no bonus.
pub fn accept(
    mut top_up: TopUp,
    acceptance: Acceptance,
    now_ms: i64,
) -> Result<TopUp, AcceptFault> {
    check_decision(&top_up, true)?;
    top_up.account = Some(accepted_for(&top_up, acceptance)?);
    let amount = acceptance.amount.unwrap_or(top_up.price.amount);
    if acceptance.amount.is_none() && amount.is_zero() {
        return Err(AcceptFault::NoAmount);
    }
    if !amount.is_positive() || amount > MAX_TOP_UP || !is_in_kobo(amount) {
        return Err(AcceptFault::Amount);
    }
    if amount != top_up.price.amount {
        top_up.price.amount = amount;
        top_up.price.vat = top_up.price.vat_rate.of(amount);
        top_up.price.bonus = Money::ZERO;
    }
    top_up.decided_at_ms = Some(now_ms);
    top_up.pay(now_ms);
    Ok(top_up)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payment::{Mismatch, Payment, PaymentStatus, Received, TopUpId};

    fn unknown() -> TopUp {
        let payment = Payment {
            reference: "T0001".to_owned(),
            status: PaymentStatus::Paid,
            received: Received {
                amount: Money::from_naira(900),
                currency: "NGN".to_owned(),
                payment_id: "1".to_owned(),
            },
        };
        TopUp::unknown(TopUpId::new(1, [7; 10]), "paystack", &payment, 1)
    }

    fn owned() -> TopUp {
        let mut top_up = unknown();
        top_up.account = Some(AccountId(7));
        top_up.price.amount = Money::from_naira(1_000);
        top_up.price.vat_rate = "7.5".parse().unwrap();
        top_up.price.vat = Money::from_naira(75);
        top_up.price.bonus = Money::from_naira(50);
        top_up.mismatch(Mismatch::Amount);
        top_up
    }

    #[test]
    fn a_mismatch_is_credited_with_its_amount_or_another() {
        let whole = accept(owned(), Acceptance::default(), 5).unwrap();
        let price = whole.price;
        assert_eq!((whole.state, price), (TopUpState::Paid, owned().price));
        let amount = Some(Money::from_naira(800));
        let acceptance = Acceptance {
            account: None,
            amount,
        };
        let less = accept(owned(), acceptance, 5).unwrap();
        assert_eq!(less.price.vat, Money::from_naira(60));
        assert_eq!(
            (less.price.bonus, less.decided_at_ms),
            (Money::ZERO, Some(5))
        );
    }

    #[test]
    fn an_acceptance_that_cannot_be_made_is_refused() {
        let (account, amount) = (Some(AccountId(7)), Some(Money::from_naira(1)));
        let given = |account, amount| Acceptance { account, amount };
        let paid = TopUp {
            state: TopUpState::Paid,
            ..owned()
        };
        let other = AcceptFault::OtherAccount(AccountId(7));
        let part = Some(Money::from_units(1));
        let table = [
            (unknown(), given(None, amount), AcceptFault::NoAccount),
            (unknown(), given(account, None), AcceptFault::NoAmount),
            (unknown(), given(account, part), AcceptFault::Amount),
            (owned(), given(None, Some(Money::ZERO)), AcceptFault::Amount),
            (owned(), given(Some(AccountId(8)), None), other),
            (
                paid,
                given(None, None),
                AcceptFault::NoMismatch(TopUpState::Paid),
            ),
        ];
        for (top_up, acceptance, fault) in table {
            assert_eq!(accept(top_up, acceptance, 5), Err(fault), "{acceptance:?}");
        }
        let mut rejected = owned();
        rejected.reject(4);
        let again = AcceptFault::NoMismatch(TopUpState::Failed);
        assert_eq!(check_decision(&rejected, false), Err(again));
        assert!(accept(rejected, Acceptance::default(), 5).is_ok());
    }
}
