//! A count of the allocations of each measured case. A higher number needs a reason.

mod cases;

use cases::Measure;
use std::hint::black_box;

/// A report with one line for each case.
#[derive(Default)]
struct Allocations(Vec<String>);

impl Measure for Allocations {
    fn case<T>(&mut self, name: &str, mut work: impl FnMut() -> T) {
        let counted = allocation_counter::measure(|| drop(black_box(work())));
        self.0.push(format!("{name}: {}", counted.count_total));
    }
}

#[test]
fn the_codec_allocates_nothing_and_a_receipt_only_its_fields() {
    let mut allocations = Allocations::default();
    cases::measure(&mut allocations);
    insta::assert_snapshot!(allocations.0.join("\n"), @r"
    submit_sm: decode: 0
    submit_sm: encode: 0
    submit_sm: decode and encode: 0
    receipt: decode and encode the deliver_sm: 0
    receipt: own the deliver_sm: 6
    receipt: parse: 5
    ");
}
