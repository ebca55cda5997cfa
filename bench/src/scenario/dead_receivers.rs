//! The rate of single messages to a healthy receiver, alone and beside 1,000 dead ones. Half of
//! these refuse connections, and the others accept them and never answer.

use super::checks::{SETTLE_TIMEOUT, close};
use super::curve;
use crate::callbacks::Callbacks;
use crate::figures::Figures;
use crate::load::{Request, closed_loop_on, open};
use crate::site::{Setup, Site, free_address};
use anyhow::Result;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

const REFUSING: u16 = 500;
const SILENT: u16 = 500;
/// Messages to each dead receiver.
const TO_EACH: u64 = 5;
/// Connections that send messages to dead receivers.
const CONNECTIONS: usize = 16;
const WARM_UP: u64 = 1_000;
const MESSAGES: u64 = 20_000;

pub(super) async fn run(setup: &Setup, quick: bool) -> Result<Figures> {
    let messages = if quick { MESSAGES / 10 } else { MESSAGES };
    let mut site = Site::prepare(setup)?;
    let callbacks = Callbacks::start()?;
    site.start().await?;
    let mut next = 0;
    let mut sent = |messages: u64| {
        next += messages;
        next - messages..next
    };
    curve::measure(&site, &callbacks, sent(WARM_UP)).await?;
    let alone = curve::measure(&site, &callbacks, sent(messages)).await?;

    // The system accepts their connections and leaves them in its queue.
    let silent = (0..SILENT)
        .map(|number| Ok(TcpListener::bind((address(1, number), 0))?))
        .collect::<Result<Vec<_>>>()?;
    let port = free_address()?.port();
    let refusing = (0..REFUSING).map(|number| SocketAddr::from((address(2, number), port)));
    let dead = silent
        .iter()
        .map(|listener| Ok(listener.local_addr()?))
        .chain(refusing.map(Ok))
        .collect::<Result<Vec<_>>>()?;
    let mut streams = open(&site.http, CONNECTIONS).await?;
    for address in &dead {
        let request = Request::new(&site, 1, Some(&format!("http://{address}/")));
        closed_loop_on(&mut streams, &request, sent(TO_EACH), Duration::MAX).await?;
    }
    let settled = sent(0).end;
    site.wait_for("ogene_settled_total", settled, SETTLE_TIMEOUT)
        .await?;
    let beside = curve::measure(&site, &callbacks, sent(messages)).await?;

    let mut figures = Figures::default();
    figures.set("messages_per_s_alone", alone.messages_per_s);
    figures.set("messages_per_s_beside_dead", beside.messages_per_s);
    let share = beside.messages_per_s / alone.messages_per_s;
    figures.set("share_of_rate_alone", share);
    let all = sent(0).end;
    close(&mut figures, site, all, all).await?;
    let told = callbacks.count();
    let well = WARM_UP + 2 * messages;
    figures.expect("callbacks", well, told.requests);
    figures.expect("callbacks of a delivery", well, told.delivered);
    Ok(figures)
}

/// Returns an address of the loopback interface for each receiver, so that each is an origin of its
/// own.
fn address(network: u8, number: u16) -> Ipv4Addr {
    let [high, low] = number.to_be_bytes();
    Ipv4Addr::new(127, network, high, low)
}
