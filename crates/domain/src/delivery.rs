//! The delivery state machine: the status of one recipient, and its refund, callback and second
//! leg.

mod cancelled;
mod ending;
mod reassign;
mod state;

pub use state::{Delivery, DeliveryEvent, DeliveryStatus, PENDING, Refund, Terms, Transition};

use crate::leg::Leg;
use crate::page_set::PageSet;
use cancelled::cancelled;
use ending::{failed, not_delivered, quiet, unused_second_leg};
use reassign::pages_named;

/// Applies an event. Returns `None` if it changes nothing.
///
/// The first final status stays, with one exception: a late delivery corrects an expiry of our own,
/// without a second callback or charge (docs/spec/delivery.md, section 1).
pub fn transition(before: &Delivery, terms: Terms, event: DeliveryEvent) -> Option<Transition> {
    let mut delivery = before.clone();
    if let Some((leg, pages)) = event.ends_doubt() {
        delivery.end_doubt(leg, pages);
    }
    match event {
        DeliveryEvent::Submitted { leg } => {
            delivery.leg = delivery.leg.max(Some(leg));
            quiet(before, delivery)
        }
        DeliveryEvent::Doubted { leg } => quiet(before, doubted(delivery, leg)),
        DeliveryEvent::Acknowledged { .. } => quiet(before, delivery),
        DeliveryEvent::PageDelivered { leg, page } => page_delivered(delivery, terms, leg, page),
        DeliveryEvent::PagesNamed {
            leg,
            guessed,
            named,
        } => quiet(before, pages_named(delivery, leg, guessed, named)),
        DeliveryEvent::Failed { leg, status } => failed(delivery, terms, leg, status),
        DeliveryEvent::Cancelled { leg, status } => cancelled(delivery, terms, leg, status),
        DeliveryEvent::PutBack => put_back(delivery, terms),
        DeliveryEvent::GaveUp => gave_up(delivery, terms),
    }
}

fn doubted(mut delivery: Delivery, leg: Leg) -> Delivery {
    delivery.leg = delivery.leg.max(Some(leg));
    if !delivery.status.is_final() && !delivery.has_failed(leg) {
        let all = PageSet::first_pages(delivery.pages);
        let index = leg.index();
        // A second loss does not change pages whose receipts arrived already.
        if !delivery.doubts(leg) {
            delivery.doubted_pages[index] = all.without(delivery.delivered_pages[index]);
        }
        delivery.recompute_status();
    }
    delivery
}

fn page_delivered(mut delivery: Delivery, terms: Terms, leg: Leg, page: i64) -> Option<Transition> {
    let open = !delivery.status.is_final() || delivery.gave_up;
    if !open || delivery.has_failed(leg) {
        return None;
    }
    let before = delivery.clone();
    let delivered = &mut delivery.delivered_pages[leg.index()];
    *delivered = delivered.with(PageSet::of(page));
    if delivered.count() < delivery.pages {
        return quiet(&before, delivery);
    }
    delivery.end(DeliveryStatus::Delivered);
    if delivery.gave_up {
        delivery.gave_up = false;
        return quiet(&before, delivery);
    }
    Some(Transition {
        refund: unused_second_leg(&delivery, terms),
        delivery,
        callback: true,
        second_leg: false,
    })
}

/// Takes back the submission of a second leg. If the recipient has ended meanwhile, the reserve is
/// refunded now.
fn put_back(mut delivery: Delivery, terms: Terms) -> Option<Transition> {
    if delivery.leg < Some(Leg::Second) {
        return None;
    }
    let before = delivery.clone();
    delivery.leg = Some(Leg::First);
    let has_charge_back = terms.refund_undelivered && delivery.status != DeliveryStatus::Delivered;
    let refund = if delivery.status.is_final() && !has_charge_back {
        unused_second_leg(&delivery, terms)
    } else {
        None
    };
    quiet(&before, delivery).map(|change| Transition { refund, ..change })
}

fn gave_up(mut delivery: Delivery, terms: Terms) -> Option<Transition> {
    if delivery.status.is_final() {
        return None;
    }
    delivery.end(DeliveryStatus::Expired);
    delivery.gave_up = true;
    Some(not_delivered(delivery, terms))
}

#[cfg(test)]
mod tests {
    use super::*;
    use DeliveryEvent as E;
    use DeliveryStatus as S;
    use proptest::prelude::*;

    const REFUND: Terms = Terms {
        refund_undelivered: true,
        two_legs: false,
    };
    const CORPORATE: Terms = Terms {
        refund_undelivered: false,
        two_legs: false,
    };
    const DUAL: Terms = Terms {
        refund_undelivered: false,
        two_legs: true,
    };

    /// Runs events from the start. Returns the status, the refunds, and the numbers of callbacks
    /// and second legs.
    fn run(terms: Terms, pages: i64, events: &[E]) -> (S, Vec<Refund>, usize, usize) {
        let mut delivery = Delivery::unsent(pages);
        let (mut refunds, mut callbacks, mut second_legs) = (Vec::new(), 0, 0);
        for &event in events {
            if let Some(change) = transition(&delivery, terms, event) {
                delivery = change.delivery;
                refunds.extend(change.refund);
                callbacks += usize::from(change.callback);
                second_legs += usize::from(change.second_leg);
            }
        }
        (delivery.status, refunds, callbacks, second_legs)
    }

    const SENT: E = E::Submitted { leg: Leg::First };
    const SENT_2: E = E::Submitted { leg: Leg::Second };
    const PAGE: E = E::PageDelivered {
        leg: Leg::First,
        page: 1,
    };
    const PAGE_2: E = E::PageDelivered {
        leg: Leg::Second,
        page: 1,
    };
    const UNDELIV: E = E::Failed {
        leg: Leg::First,
        status: S::Undelivered,
    };
    const REJECTD_2: E = E::Failed {
        leg: Leg::Second,
        status: S::Rejected,
    };

    #[test]
    fn a_delivered_recipient_keeps_its_charge_and_has_one_callback() {
        assert_eq!(
            run(REFUND, 1, &[SENT, PAGE, PAGE, UNDELIV, E::GaveUp]),
            (S::Delivered, vec![], 1, 0)
        );
    }

    #[test]
    fn an_undelivered_recipient_is_refunded_once() {
        assert_eq!(
            run(REFUND, 1, &[SENT, UNDELIV, UNDELIV, PAGE]),
            (S::Undelivered, vec![Refund::Charge], 1, 0)
        );
        assert_eq!(
            run(CORPORATE, 1, &[SENT, UNDELIV]),
            (S::Undelivered, vec![], 1, 0)
        );
    }

    #[test]
    fn all_pages_deliver_a_recipient_and_one_fails_it() {
        let page = |page| E::PageDelivered {
            leg: Leg::First,
            page,
        };
        let [one, two, three] = [page(1), page(2), page(3)];
        assert_eq!(run(REFUND, 3, &[SENT, three, one]).0, S::Sent);
        assert_eq!(run(REFUND, 3, &[SENT, three, one, two]).0, S::Delivered);
        assert_eq!(run(REFUND, 3, &[SENT, one, one, one, two]).0, S::Sent);
        assert_eq!(
            run(REFUND, 3, &[SENT, one, UNDELIV, two, three]).0,
            S::Undelivered
        );
    }

    #[test]
    fn an_unsent_cancelled_recipient_is_refunded_on_any_gateway() {
        let cancelled = |leg| E::Cancelled {
            leg,
            status: S::Cancelled,
        };
        for terms in [REFUND, CORPORATE, DUAL] {
            let run = |events: &[E]| run(terms, 1, events);
            let all = (S::Cancelled, vec![Refund::Charge], 1, 0);
            assert_eq!(run(&[cancelled(Leg::First)]), all, "{terms:?}");
            assert_eq!(
                run(&[cancelled(Leg::First), cancelled(Leg::First), SENT, PAGE]),
                all
            );
            assert_eq!(run(&[SENT, PAGE, cancelled(Leg::First)]).0, S::Delivered);
        }
        let reserve = (S::Failed, vec![Refund::Reserve], 1, 1);
        assert_eq!(
            run(DUAL, 1, &[SENT, UNDELIV, cancelled(Leg::Second)]),
            reserve
        );
        let put_back = [SENT, cancelled(Leg::Second), PAGE];
        assert_eq!(
            run(DUAL, 1, &put_back),
            (S::Delivered, vec![Refund::Reserve], 1, 0),
            "the first leg goes on"
        );
        let again = [
            SENT,
            cancelled(Leg::Second),
            UNDELIV,
            cancelled(Leg::Second),
        ];
        assert_eq!(run(DUAL, 1, &again), reserve);
        let doubted = [
            SENT,
            E::Doubted { leg: Leg::Second },
            cancelled(Leg::Second),
        ];
        assert_eq!(run(DUAL, 1, &doubted).0, S::InDoubt, "it may be sent");
    }

    #[test]
    fn a_late_delivery_corrects_an_expiry_without_a_callback() {
        assert_eq!(
            run(REFUND, 1, &[SENT, E::GaveUp, PAGE]),
            (S::Delivered, vec![Refund::Charge], 1, 0)
        );
        assert_eq!(
            run(REFUND, 1, &[SENT, E::GaveUp, UNDELIV]),
            (S::Expired, vec![Refund::Charge], 1, 0)
        );
    }

    #[test]
    fn the_second_leg_follows_a_failed_first_and_is_charged() {
        assert_eq!(
            run(DUAL, 1, &[SENT, UNDELIV, SENT_2, PAGE_2]),
            (S::Delivered, vec![], 1, 1)
        );
        assert_eq!(
            run(DUAL, 1, &[SENT, UNDELIV, SENT_2, REJECTD_2]),
            (S::Rejected, vec![], 1, 1)
        );
    }

    #[test]
    fn the_reserve_is_refunded_without_a_second_leg() {
        assert_eq!(
            run(DUAL, 1, &[SENT, PAGE]),
            (S::Delivered, vec![Refund::Reserve], 1, 0)
        );
        assert_eq!(
            run(DUAL, 1, &[SENT, UNDELIV, REJECTD_2]),
            (S::Rejected, vec![Refund::Reserve], 1, 1)
        );
    }

    #[test]
    fn the_reserve_is_refunded_after_a_put_back() {
        let reserve = vec![Refund::Reserve];
        let ends: [&[E]; 4] = [
            &[SENT, SENT_2, E::PutBack, PAGE],
            &[SENT, SENT_2, PAGE, E::PutBack],
            &[SENT, SENT_2, PAGE, E::PutBack, E::PutBack],
            &[SENT, SENT_2, E::PutBack, SENT_2, PAGE, E::PutBack],
        ];
        for events in ends {
            let delivered = (S::Delivered, reserve.clone(), 1, 0);
            assert_eq!(run(DUAL, 1, events), delivered, "{events:?}");
        }
        let expired = (S::Expired, reserve, 1, 0);
        assert_eq!(
            run(DUAL, 1, &[SENT, SENT_2, E::GaveUp, E::PutBack]),
            expired
        );
        let sent = (S::Sent, vec![], 0, 0);
        assert_eq!(run(DUAL, 1, &[SENT, SENT_2, E::PutBack]), sent);
        assert_eq!(run(DUAL, 1, &[E::PutBack]), sent);
    }

    #[test]
    fn a_full_refund_is_followed_by_no_reserve() {
        let terms = Terms {
            refund_undelivered: true,
            two_legs: true,
        };
        let given_up = [SENT, SENT_2, E::GaveUp, E::PutBack];
        assert_eq!(run(terms, 1, &given_up).1, [Refund::Charge]);
        let delivered = [SENT, SENT_2, PAGE, E::PutBack];
        assert_eq!(run(terms, 1, &delivered).1, [Refund::Reserve]);
    }

    #[test]
    fn the_first_delivery_of_either_leg_wins() {
        assert_eq!(
            run(DUAL, 1, &[SENT, SENT_2, PAGE]),
            (S::Delivered, vec![], 1, 0)
        );
        assert_eq!(
            run(DUAL, 1, &[SENT, SENT_2, REJECTD_2, PAGE]),
            (S::Delivered, vec![], 1, 0)
        );
        assert_eq!(
            run(DUAL, 1, &[SENT, SENT_2, UNDELIV, PAGE_2]),
            (S::Delivered, vec![], 1, 0)
        );
    }

    #[test]
    fn a_failed_leg_stays_failed() {
        // Another page of the failed leg may be delivered, but only the other leg counts.
        assert_eq!(
            run(DUAL, 1, &[SENT, SENT_2, UNDELIV, PAGE]),
            (S::Sent, vec![], 0, 0)
        );
        // A leg does not fail twice.
        assert_eq!(
            run(DUAL, 1, &[SENT, UNDELIV, UNDELIV]),
            (S::Sent, vec![], 0, 1)
        );
    }

    #[test]
    fn a_second_leg_that_fails_before_the_first_makes_no_third() {
        assert_eq!(
            run(DUAL, 1, &[SENT, REJECTD_2]),
            (S::Sent, vec![], 0, 0),
            "it waited until its time was over"
        );
    }

    #[test]
    fn a_receipt_ends_the_doubt() {
        let doubted = E::Doubted { leg: Leg::First };
        let acknowledged = E::Acknowledged {
            leg: Leg::First,
            page: 1,
        };
        assert_eq!(run(REFUND, 1, &[doubted]).0, S::InDoubt);
        assert_eq!(run(REFUND, 1, &[doubted, acknowledged]).0, S::Sent);
        assert_eq!(
            run(REFUND, 1, &[doubted, PAGE]),
            (S::Delivered, vec![], 1, 0)
        );
    }

    #[test]
    fn doubt_of_a_leg_is_ended_by_events_of_that_leg() {
        let (doubted, doubted_2) = (
            E::Doubted { leg: Leg::First },
            E::Doubted { leg: Leg::Second },
        );
        assert_eq!(run(DUAL, 1, &[doubted, SENT_2]).0, S::InDoubt);
        assert_eq!(run(DUAL, 1, &[doubted, SENT_2, SENT]).0, S::Sent);
        assert_eq!(run(DUAL, 1, &[doubted, SENT_2, REJECTD_2]).0, S::InDoubt);
        assert_eq!(run(DUAL, 1, &[doubted, doubted_2, UNDELIV]).0, S::InDoubt);
        assert_eq!(
            run(DUAL, 1, &[doubted, doubted_2, UNDELIV, SENT_2]).0,
            S::Sent
        );
        assert_eq!(run(DUAL, 1, &[SENT, UNDELIV, doubted]).0, S::Sent);
        assert_eq!(
            run(DUAL, 1, &[doubted, SENT_2, REJECTD_2, PAGE]),
            (S::Delivered, vec![], 1, 0)
        );
    }

    #[test]
    fn a_recipient_is_in_doubt_until_each_page_has_a_receipt() {
        let acknowledged = E::Acknowledged {
            leg: Leg::First,
            page: 2,
        };
        let page = |page| E::PageDelivered {
            leg: Leg::First,
            page,
        };
        let mut delivery = Delivery::unsent(3);
        let mut left = Vec::new();
        let doubted = E::Doubted { leg: Leg::First };
        for event in [doubted, page(1), acknowledged, doubted, page(3)] {
            delivery =
                transition(&delivery, REFUND, event).map_or(delivery, |change| change.delivery);
            left.push((delivery.status, delivery.doubted_page(Leg::First, &[])));
        }
        let expected = [
            (S::InDoubt, Some(1)),
            (S::InDoubt, Some(2)),
            (S::InDoubt, Some(3)),
            (S::InDoubt, Some(3)),
            (S::Sent, None),
        ];
        assert_eq!(left, expected);
    }

    #[test]
    fn the_page_in_doubt_is_the_first_without_a_receipt() {
        let page = |leg, page| E::PageDelivered { leg, page };
        let doubted = transition(&Delivery::unsent(2), DUAL, E::Doubted { leg: Leg::Second });
        let delivery = doubted.unwrap().delivery;
        let left = |events: &[E]| delivery.doubted_page(Leg::Second, events);
        assert_eq!(left(&[]), Some(1));
        assert_eq!(
            left(&[page(Leg::First, 1), UNDELIV, SENT]),
            Some(1),
            "another leg"
        );
        assert_eq!(left(&[page(Leg::Second, 1)]), Some(2));
        assert_eq!(
            left(&[E::Acknowledged {
                leg: Leg::Second,
                page: 1
            }]),
            Some(2)
        );
        assert_eq!(left(&[page(Leg::Second, 2), page(Leg::Second, 1)]), None);
        assert_eq!(left(&[REJECTD_2]), None);
        assert_eq!(left(&[SENT_2]), None);
        assert_eq!(delivery.doubted_page(Leg::First, &[]), None);
    }

    #[test]
    fn pages_and_legs_are_stored_as_bits() {
        let end = |events: &[E]| {
            let start = Delivery::unsent(3);
            events.iter().fold(start, |delivery, &event| {
                transition(&delivery, DUAL, event).map_or(delivery, |change| change.delivery)
            })
        };
        let page = |leg, page| E::PageDelivered { leg, page };
        let both_legs = end(&[SENT, page(Leg::First, 1), SENT_2, page(Leg::Second, 3)]);
        assert_eq!(both_legs.delivered_pages, [PageSet(0b001), PageSet(0b100)]);
        assert_eq!(end(&[SENT, UNDELIV]).failed_legs, 0b01);
        assert_eq!(end(&[SENT, SENT_2, REJECTD_2]).failed_legs, 0b10);
    }

    #[test]
    fn each_status_has_its_name_in_the_api() {
        let words = [
            (S::Sent, "sent awaiting status"),
            (S::InDoubt, "sent awaiting status"),
            (S::Delivered, "delivrd"),
            (S::Undelivered, "undeliv"),
            (S::Expired, "expired"),
            (S::Rejected, "rejectd"),
            (S::Failed, "failed"),
            (S::Cancelled, "cancelled"),
        ];
        for (status, word) in words {
            assert_eq!(status.outside(), word);
        }
    }

    fn event() -> impl Strategy<Value = E> {
        let leg = proptest::sample::select(&Leg::ALL[..]);
        let bad = prop_oneof![
            Just(S::Undelivered),
            Just(S::Expired),
            Just(S::Rejected),
            Just(S::Failed)
        ];
        prop_oneof![
            leg.clone().prop_map(|leg| E::Submitted { leg }),
            leg.clone().prop_map(|leg| E::Doubted { leg }),
            leg.clone().prop_map(|leg| E::Cancelled {
                leg,
                status: S::Cancelled
            }),
            (leg.clone(), 1..4i64).prop_map(|(leg, page)| E::Acknowledged { leg, page }),
            (leg.clone(), 1..4i64).prop_map(|(leg, page)| E::PageDelivered { leg, page }),
            (leg.clone(), bad).prop_map(|(leg, status)| E::Failed { leg, status }),
            (leg, 1..4i64, 1..4i64).prop_map(|(leg, guessed, named)| E::PagesNamed {
                leg,
                guessed: PageSet::of(guessed),
                named: PageSet::of(named),
            }),
            Just(E::GaveUp),
        ]
    }

    fn event_of_first_leg() -> impl Strategy<Value = E> {
        event().prop_map(|event| match event {
            E::Submitted { .. } => SENT,
            E::Doubted { .. } => E::Doubted { leg: Leg::First },
            E::Acknowledged { page, .. } => E::Acknowledged {
                leg: Leg::First,
                page,
            },
            E::PageDelivered { page, .. } => E::PageDelivered {
                leg: Leg::First,
                page,
            },
            E::Failed { status, .. } => E::Failed {
                leg: Leg::First,
                status,
            },
            E::PagesNamed { .. } | E::Cancelled { .. } | E::PutBack | E::GaveUp => E::GaveUp,
        })
    }

    proptest! {
        #[test]
        fn refund_and_callback_happen_at_most_once(
            events in proptest::collection::vec(event(), 0..40), pages in 1..4i64,
            terms in prop_oneof![Just(REFUND), Just(CORPORATE), Just(DUAL)],
        ) {
            let (status, refunds, callbacks, second_legs) = run(terms, pages, &events);
            prop_assert!(refunds.len() <= 1);
            prop_assert!(callbacks <= 1 && second_legs <= 1);
            prop_assert_eq!(callbacks == 1, status.is_final());
        }

        /// Events of the first leg may occur before, during and after the put-back.
        #[test]
        fn a_second_leg_that_is_put_back_costs_nothing(
            events in proptest::collection::vec(event_of_first_leg(), 0..20), pages in 1..4i64,
            terms in prop_oneof![Just(REFUND), Just(CORPORATE), Just(DUAL)],
            claimed in 0..20usize, put_back in 0..20usize,
        ) {
            // A recipient that has ended is not claimed.
            let is_open = |at: &usize| !run(terms, pages, &events[..*at]).0.is_final();
            let claimed = (0..=claimed.min(events.len())).rev().find(is_open).unwrap_or(0);
            let put_back = put_back.clamp(claimed, events.len().max(claimed));
            let (before, after) = events.split_at(put_back);
            let (before, meanwhile) = before.split_at(claimed);
            let none = run(terms, pages, &events);
            let events = [before, &[SENT_2], meanwhile, &[E::PutBack], after].concat();
            let (status, refunds, callbacks, _) = run(terms, pages, &events);
            prop_assert_eq!((status, refunds, callbacks), (none.0, none.1, none.2));
        }

        /// `settle::begin` of `store` relies on this: it settles an accepted submit without the
        /// terms of its message.
        #[test]
        fn an_accepted_submit_has_the_same_effect_under_all_terms(
            events in proptest::collection::vec(event(), 0..10), pages in 1..4i64, leg in proptest::sample::select(&Leg::ALL[..]),
            before in prop_oneof![Just(REFUND), Just(CORPORATE), Just(DUAL)],
        ) {
            let mut delivery = Delivery::unsent(pages);
            for event in events {
                if let Some(change) = transition(&delivery, before, event) {
                    delivery = change.delivery;
                }
            }
            let [one, others @ ..] = [REFUND, CORPORATE, DUAL]
                .map(|terms| transition(&delivery, terms, E::Submitted { leg }));
            prop_assert!(others.iter().all(|other| *other == one));
        }
    }
}
