//! Correction of receipts that were assigned to pages before the response named them.

use super::state::Delivery;
use crate::leg::Leg;
use crate::page_set::PageSet;

/// Replaces all pages at once, because two of them may swap. There are no more pages than before,
/// so nothing ends.
pub(super) fn pages_named(
    mut delivery: Delivery,
    leg: Leg,
    guessed: PageSet,
    named: PageSet,
) -> Delivery {
    if !delivery.status.is_final() || delivery.gave_up {
        let pages = &mut delivery.delivered_pages[leg.index()];
        *pages = pages.without(guessed).with(named);
    }
    delivery
}

#[cfg(test)]
mod tests {
    use crate::delivery::{Delivery, DeliveryEvent as E, DeliveryStatus, Terms, transition};
    use crate::leg::Leg;
    use crate::page_set::PageSet;

    const REFUND: Terms = Terms {
        refund_undelivered: true,
        two_legs: false,
    };
    const SENT: E = E::Submitted { leg: Leg::First };

    #[test]
    fn a_response_corrects_guessed_pages() {
        let table: [(&[(i64, i64)], u64); 8] = [
            (&[(1, 1)], 0b001),
            (&[(1, 2)], 0b010),
            (&[(1, 3), (2, 2)], 0b110),
            // Two pages swap.
            (&[(1, 2), (2, 1)], 0b011),
            (&[(1, 2), (2, 3)], 0b110),
            // Two guesses are the same page.
            (&[(1, 2), (2, 2)], 0b010),
            (&[(1, 3), (2, 3)], 0b100),
            (&[], 0),
        ];
        for (pages, expected) in table {
            let mut delivery = Delivery::unsent(3);
            let mut happen = |event| {
                if let Some(change) = transition(&delivery, REFUND, event) {
                    assert_eq!((change.refund, change.callback), (None, false));
                    delivery = change.delivery;
                }
                delivery.clone()
            };
            happen(E::Doubted { leg: Leg::First });
            for &(guessed, _) in pages {
                happen(E::PageDelivered {
                    leg: Leg::First,
                    page: guessed,
                });
            }
            let submitted = happen(SENT);
            let delivery = match submitted.named(Leg::First, pages) {
                Some(event) => happen(event),
                None => submitted,
            };
            assert_eq!(
                delivery.delivered_pages,
                [PageSet(expected), PageSet::EMPTY],
                "{pages:?}"
            );
            assert_eq!(delivery.status, DeliveryStatus::Sent);
        }
        let acknowledged = Delivery::unsent(2).named(Leg::First, &[(1, 2)]);
        assert_eq!(acknowledged, None, "nothing was delivered");
    }
}
