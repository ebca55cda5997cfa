//! A count of the allocations of each measured case. A higher number needs a reason.

mod cases;

use cases::Measure;
use std::hint::black_box;

/// A report with one line for each case.
#[derive(Default)]
struct Allocations(Vec<String>);

impl Measure for Allocations {
    fn case<T>(&mut self, name: &str, mut work: impl FnMut() -> T) {
        // Lazy initialisation is not counted.
        drop(work());
        let counted = allocation_counter::measure(|| drop(black_box(work())));
        self.0.push(format!("{name}: {}", counted.count_total));
    }
}

#[test]
fn a_decision_allocates_little_and_nothing_for_each_recipient() {
    let mut allocations = Allocations::default();
    cases::measure(&mut allocations);
    insta::assert_snapshot!(allocations.0.join("\n"), @r"
    text: prepare a plain one: 1
    text: make a written one plain: 1
    text: prepare a Unicode one: 1
    pages: count one: 0
    pages: cut one: 4
    pages: count ten: 0
    pages: cut ten: 15
    pages: count ten Unicode: 0
    pages: cut ten Unicode: 15
    token: judge junk of its length: 0
    token: judge junk of 8 kB: 0
    token: judge a good one: 0
    token: hash: 0
    number: parse one: 0
    number: read a list of 1000: 10
    number: read a list of 100000: 17
    content: an ordinary text: 0
    content: a one-time password: 6
    content: two prohibited phrases: 1
    accept: 1: 12
    accept: 1000: 29
    accept: 100000: 43
    personalised: parse a template: 10
    personalised: read 1000 rows of CSV: 53
    personalised: read 1000 rows of JSON: 42
    personalised: draft 1000: 1039
    personalised: fingerprint of 1000: 24
    key: fingerprint of a single send: 2
    otp: derive a code: 1
    search: read a cursor: 2
    export: write a row: 0
    quote: changes of a written text: 14
    ");
}
