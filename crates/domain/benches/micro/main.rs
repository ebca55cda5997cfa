//! Benchmarks of the decisions on a send: `cargo bench -p domain`, or faster `cargo bench -p domain
//! -- --quick`. A test counts the allocations of the same cases (`allocations.rs`).

mod cases;

use cases::Measure;
use criterion::{Criterion, criterion_group, criterion_main};

impl Measure for Criterion {
    fn case<T>(&mut self, name: &str, mut work: impl FnMut() -> T) {
        self.bench_function(name, |bencher| bencher.iter(&mut work));
    }
}

fn all(criterion: &mut Criterion) {
    cases::measure(criterion);
}

criterion_group!(benches, all);
criterion_main!(benches);
