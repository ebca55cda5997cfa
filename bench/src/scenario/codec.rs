//! A page of 200 octets, decoded and encoded. `cargo bench -p smpp` measures the same beside
//! another implementation, and this scenario brings it into the table.

use crate::figures::{Figures, float, median};
use anyhow::{Context, Result, anyhow, ensure};
use smpp::codec::{Pdu, Sm, decode, encode};
use smpp::{Address, CommandStatus, SubmitSm, first_frame};
use std::fmt::Debug;
use std::hint::black_box;
use std::time::Instant;

const OCTETS: usize = 200;
/// The octets that a connection writes at once.
const BUFFER: usize = 1 << 16;
const TIMES: u32 = 1_000_000;
const ROUNDS: u32 = 5;

pub(super) fn run(quick: bool) -> Result<Figures> {
    let times = if quick { TIMES / 10 } else { TIMES };
    let submit = SubmitSm {
        source: Address::alphanumeric("Ogene"),
        destination: Address::international("2348031234501"),
        validity_period: "000001000000000R".to_owned(),
        registered_delivery: 1,
        short_message: vec![b'a'; 133].into(),
        ..SubmitSm::default()
    };
    let mut octets = Vec::new();
    write(&mut octets, &Pdu::Submit(Sm::of(&submit)))?;
    ensure!(octets.len() == OCTETS, "a page of {} octets", octets.len());
    let mut out = Vec::with_capacity(BUFFER);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        for _ in 0..times {
            again(&mut out, black_box(&octets))?;
        }
        rounds.push(began.elapsed().as_secs_f64() * 1e9 / float(times.into()));
    }
    ensure!(out.ends_with(&octets), "what was read was not written");
    let mut figures = Figures::default();
    figures.set("decode_and_encode_ns", median(rounds));
    Ok(figures)
}

/// Decodes a page, and appends its encoding to the previous ones.
fn again(out: &mut Vec<u8>, octets: &[u8]) -> Result<()> {
    if out.len() + octets.len() > BUFFER {
        out.clear();
    }
    let frame = first_frame(octets)?.context("a page without its end")?;
    let page = decode(frame.header.command, frame.body).map_err(refused)?;
    write(out, &page)
}

fn write(out: &mut Vec<u8>, page: &Pdu<'_>) -> Result<()> {
    encode(out, CommandStatus::ROK, 1, page).map_err(refused)
}

fn refused(what: impl Debug) -> anyhow::Error {
    anyhow!("the codec failed: {what:?}")
}
