//! How long the decisions about a send take: `cargo bench -p domain`, or in short
//! `cargo bench -p domain -- --quick`. The allocations of the same cases are a test: `allocations.rs`.

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
