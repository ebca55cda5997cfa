//! How long the codec and the receipt parser take: `cargo bench -p smpp`, or in short
//! `cargo bench -p smpp -- --quick`. The allocations of the same cases are a test: `allocations.rs`.
//!
//! Another implementation is measured beside ours, because the machine counts more than the code: it is
//! the ratio of both that can be compared between machines.

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

/// The buffers are kept and filled again, so that only decoding and encoding are measured.
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
