//! Benchmarks of the codec and the receipt parser: `cargo bench -p smpp`, or faster `cargo bench -p
//! smpp -- --quick`. A test counts the allocations of the same cases (`allocations.rs`).
//!
//! Another implementation is measured too. The ratio of both can be compared between machines, and
//! the times cannot.

mod cases;

use bytes::BytesMut;
use cases::Measure;
use criterion::{Criterion, criterion_group, criterion_main};
use rusmpp_core::command::owned::Command;
use rusmpp_core::decode::owned::DecodeWithLength as _;
use rusmpp_core::encode::owned::Encode as _;
use smpp::codec::{Pdu, Sm};
use std::hint::black_box;

impl Measure for Criterion {
    fn case<T>(&mut self, name: &str, mut work: impl FnMut() -> T) {
        self.bench_function(name, |bencher| bencher.iter(&mut work));
    }
}

fn ours(criterion: &mut Criterion) {
    cases::measure(criterion);
}

/// The buffers are reused, so that only decoding and encoding are measured.
fn rusmpp(criterion: &mut Criterion) {
    let octets = cases::wire(&Pdu::Submit(Sm::of(&cases::submit())));
    let (mut input, mut out) = (BytesMut::new(), BytesMut::with_capacity(1 << 16));
    criterion.bench_function("submit_sm: rusmpp, decode and encode", |bencher| {
        bencher.iter(|| {
            input.clear();
            input.extend_from_slice(black_box(&octets[4..]));
            out.clear();
            let length = input.len();
            if let Ok((command, _)) = Command::decode(&mut input, length) {
                command.encode(&mut out);
            }
        });
    });
}

criterion_group!(benches, ours, rusmpp);
criterion_main!(benches);
