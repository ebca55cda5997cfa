//! The judgement of a payment as its provider confirms it.

use super::provided::{CURRENCY, Mismatch, Payment, PaymentStatus};
use super::top_up::{TopUp, TopUpState};

/// The effect of a payment on its top-up.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Nothing changes.
    Nothing,
    /// The account gets its credit.
    Credit,
    /// The top-up has failed.
    Fail,
    /// The payment does not fit.
    Mismatch(Mismatch),
}

/// Returns the effect of a payment on its top-up.
pub fn judge(top_up: &TopUp, payment: &Payment) -> Verdict {
    match payment.status {
        _ if !top_up.is_open() => Verdict::Nothing,
        PaymentStatus::Failed if top_up.state == TopUpState::Pending => Verdict::Fail,
        PaymentStatus::Pending | PaymentStatus::Failed => Verdict::Nothing,
        PaymentStatus::Paid if payment.reference != top_up.reference => {
            Verdict::Mismatch(Mismatch::Reference)
        }
        PaymentStatus::Paid if payment.received.currency != CURRENCY => {
            Verdict::Mismatch(Mismatch::Currency)
        }
        PaymentStatus::Paid if payment.received.amount != top_up.total() => {
            Verdict::Mismatch(Mismatch::Amount)
        }
        PaymentStatus::Paid => Verdict::Credit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payment::{NewTopUp, Percent, Priced, Received, TopUpId};
    use crate::{AccountId, Component, Environment, Money};

    fn top_up() -> TopUp {
        let new = NewTopUp {
            id: TopUpId::new(1_801_414_800_000, [7; 10]),
            account: AccountId(1),
            environment: Environment::Live,
            provider: "paystack".to_owned(),
            price: Priced {
                amount: Money::from_naira(1_000),
                vat: Money::from_naira(75),
                vat_rate: Percent::from_hundredths(750),
                bonus: Money::ZERO,
                component: Component::UniversalWallet,
            },
            checkout_url: "https://checkout.example.com/1".to_owned(),
            return_url: None,
            expires_ms: 1,
        };
        TopUp::new(new, 1_801_414_800_000)
    }

    fn payment(status: PaymentStatus) -> Payment {
        Payment {
            reference: top_up().reference,
            status,
            received: Received {
                amount: Money::from_naira(1_075),
                currency: "NGN".to_owned(),
                payment_id: "4099260516".to_owned(),
            },
        }
    }

    #[test]
    fn only_the_exact_payment_of_an_open_top_up_credits() {
        use PaymentStatus::{Failed, Paid, Pending};
        let credit = Verdict::Credit;
        let table = [
            (
                TopUpState::Pending,
                [credit, Verdict::Nothing, Verdict::Fail],
            ),
            (
                TopUpState::Expired,
                [credit, Verdict::Nothing, Verdict::Nothing],
            ),
            (
                TopUpState::Failed,
                [credit, Verdict::Nothing, Verdict::Nothing],
            ),
            (TopUpState::Paid, [Verdict::Nothing; 3]),
            (TopUpState::Mismatch, [Verdict::Nothing; 3]),
        ];
        for (state, verdicts) in table {
            let top_up = TopUp { state, ..top_up() };
            let judged = [Paid, Pending, Failed].map(|status| judge(&top_up, &payment(status)));
            assert_eq!(judged, verdicts, "{state:?}");
        }
        let mut decided = top_up();
        decided.reject(1);
        assert_eq!(judge(&decided, &payment(Paid)), Verdict::Nothing);
    }

    #[test]
    fn a_payment_that_does_not_fit_is_a_mismatch() {
        let paid = payment(PaymentStatus::Paid);
        let mut others = vec![(paid.clone(), Verdict::Credit); 4];
        others[0].0.received.amount = Money::from_units(10_749_999);
        others[0].1 = Verdict::Mismatch(Mismatch::Amount);
        others[1].0.received.amount = Money::from_naira(1_076);
        others[1].1 = Verdict::Mismatch(Mismatch::Amount);
        others[2].0.received.currency = "USD".to_owned();
        others[2].1 = Verdict::Mismatch(Mismatch::Currency);
        others[3].0.reference = "ogene-1".to_owned();
        others[3].1 = Verdict::Mismatch(Mismatch::Reference);
        for (payment, verdict) in others {
            assert_eq!(judge(&top_up(), &payment), verdict, "{payment:?}");
        }
    }

    #[test]
    fn time_ends_a_pending_top_up_and_no_other() {
        for state in TopUpState::ALL {
            let mut top_up = TopUp {
                state: *state,
                ..top_up()
            };
            top_up.expire();
            let after = match state {
                TopUpState::Pending => TopUpState::Expired,
                other => *other,
            };
            assert_eq!((top_up.state, top_up.is_watched), (after, false));
        }
    }
}
