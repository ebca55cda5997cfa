use super::*;
use std::collections::BTreeSet;

#[test]
fn equal_seeds_make_equal_plans() {
    assert_eq!(plan(7), plan(7));
    assert_ne!(plan(7), plan(8));
}

#[test]
fn the_plan_is_in_order_and_within_the_hour() {
    for seed in 0..50 {
        let planned = plan(seed);
        assert!(planned.is_sorted_by_key(|one| one.at_s), "{seed}");
        assert!(planned.iter().all(|one| (0..3_590).contains(&one.at_s)));
    }
}

#[test]
fn each_recipient_of_a_text_is_another_one() {
    for one in plan(1_114) {
        let (Action::Send(text) | Action::OneTimePassword(text) | Action::Schedule(text, _)) =
            one.action
        else {
            continue;
        };
        let different: BTreeSet<_> = text.to.iter().collect();
        assert_eq!(different.len(), text.to.len(), "{}", text.body);
    }
}
