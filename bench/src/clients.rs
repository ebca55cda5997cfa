//! The customer by SMPP: loads over some bound clients. Each function gives the clients to tasks of
//! their own and takes them back.

mod answers;
mod client;
mod flood;
mod numbers;
mod page;
mod receipts;

pub(crate) use answers::Answers;
pub(crate) use client::Client;
pub(crate) use flood::Flood;
pub(crate) use receipts::Receipts;

use crate::figures::Latencies;
use crate::load::pace;
use crate::site::smpp_users::Credentials;
use anyhow::{Context, Result, bail};
use numbers::{Next, Numbers};
use smpp::BindKind;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};

/// Interval at which receipts are counted while clients wait for them.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);
/// Timeout of the response to an `enquire_link` or `unbind`.
const LINK_TIMEOUT: Duration = Duration::from_secs(30);

/// Binds so many clients of these users by turns, to the nodes by turns.
pub(crate) async fn bind(
    nodes: &[SocketAddr],
    users: &[Credentials],
    kind: BindKind,
    count: usize,
    receipts: &Arc<Receipts>,
) -> Result<Vec<Client>> {
    let mut clients = Vec::with_capacity(count);
    let places = nodes.iter().cycle().zip(users.iter().cycle());
    for (&node, user) in places.take(count) {
        clients.push(Client::bind(node, user, kind, Arc::clone(receipts)).await?);
    }
    Ok(clients)
}

/// Sends the pages of these numbers. Each client keeps up to `window` submits without a response,
/// and all together send at most so many a second. The load ends early, without a fault, when the
/// time is over. Receipts are answered meanwhile.
pub(crate) async fn closed_loop(
    clients: &mut Vec<Client>,
    window: usize,
    per_second: u32,
    numbers: Range<u64>,
    time: Duration,
) -> Result<Answers> {
    let began = Instant::now();
    let numbers = Arc::new(Numbers::new(numbers, per_second, began, time));
    let mut senders = JoinSet::new();
    for client in clients.drain(..) {
        senders.spawn(send(client, window, Arc::clone(&numbers), began));
    }
    let mut all = Answers::new(began)?;
    while let Some(sender) = senders.join_next().await {
        let (answers, client) = sender.context("a client panicked")??;
        all.join(&answers);
        clients.push(client);
    }
    all.checked()
}

async fn send(
    mut client: Client,
    window: usize,
    numbers: Arc<Numbers>,
    began: Instant,
) -> Result<(Answers, Client)> {
    let mut answers = Answers::new(began)?;
    loop {
        let now = Instant::now();
        let mut next = None;
        while next.is_none() && client.open() < window {
            match numbers.next(now) {
                Next::Number(number) => client.submit(number, now),
                other => next = Some(other),
            }
        }
        match next {
            Some(Next::Over) if client.open() == 0 => return Ok((answers, client)),
            Some(Next::At(due)) => tokio::select! {
                stepped = client.step(&mut answers) => stepped?,
                () = sleep_until(due.into()) => {}
            },
            _ => client.step(&mut answers).await?,
        }
    }
}

/// Sends the pages of these numbers over one client, one each `every`. A latency begins at the due
/// time of its submit.
pub(crate) async fn open_loop(
    client: &mut Client,
    window: usize,
    numbers: Range<u64>,
    every: Duration,
) -> Result<Answers> {
    let began = Instant::now() + every;
    let mut dues = pace(began, every, numbers);
    let mut answers = Answers::new(began)?;
    let mut is_over = false;
    while !is_over || client.open() > 0 {
        tokio::select! {
            due = dues.recv(), if !is_over && client.open() < window => match due {
                Some((number, due)) => {
                    answers.lateness.record(due.elapsed());
                    client.submit(number, due);
                }
                None => is_over = true,
            },
            stepped = client.step(&mut answers) => stepped?,
        }
    }
    answers.checked()
}

/// Answers receipts until so many recipients have one. Returns the time of the last one.
pub(crate) async fn receive(
    clients: &mut Vec<Client>,
    receipts: &Arc<Receipts>,
    recipients: u64,
    limit: Duration,
) -> Result<Instant> {
    let began = Instant::now();
    let mut receivers = JoinSet::new();
    for mut client in clients.drain(..) {
        let receipts = Arc::clone(receipts);
        receivers.spawn(async move {
            let mut answers = Answers::new(began)?;
            loop {
                let received = receipts.count().recipients;
                if received >= recipients {
                    client.flush().await?;
                    return anyhow::Ok(client);
                }
                if began.elapsed() > limit {
                    bail!("receipts of {received} recipients, not {recipients}, in {limit:?}");
                }
                if let Ok(stepped) = timeout(LOOK_INTERVAL, client.step(&mut answers)).await {
                    stepped?;
                }
            }
        });
    }
    while let Some(receiver) = receivers.join_next().await {
        clients.push(receiver.context("a client panicked")??);
    }
    receipts.count().last.context("no receipt came")
}

/// Answers each `enquire_link` of the service for so long.
pub(crate) async fn attend(clients: &mut Vec<Client>, time: Duration) -> Result<()> {
    let until = Instant::now() + time;
    let mut attending = JoinSet::new();
    for mut client in clients.drain(..) {
        attending.spawn(async move {
            let mut answers = Answers::new(until)?;
            loop {
                tokio::select! {
                    stepped = client.step(&mut answers) => stepped?,
                    () = sleep_until(until.into()) => break,
                }
            }
            client.flush().await?;
            anyhow::Ok(client)
        });
    }
    while let Some(client) = attending.join_next().await {
        clients.push(client.context("a client panicked")??);
    }
    Ok(())
}

/// Sends an `enquire_link` over each client, all at once. Returns the latencies of the responses.
pub(crate) async fn enquire(clients: &mut Vec<Client>) -> Result<Latencies> {
    let mut enquiring = JoinSet::new();
    for mut client in clients.drain(..) {
        enquiring.spawn(async move {
            let began = Instant::now();
            let response = timeout(LINK_TIMEOUT, client.enquire()).await;
            response.context("an enquire_link has no response")??;
            anyhow::Ok((began.elapsed(), client))
        });
    }
    let mut latencies = Latencies::new()?;
    while let Some(client) = enquiring.join_next().await {
        let (latency, client) = client.context("a client panicked")??;
        latencies.record(latency);
        clients.push(client);
    }
    Ok(latencies)
}

/// Unbinds all clients.
pub(crate) async fn unbind(clients: Vec<Client>) -> Result<()> {
    let mut unbinding = JoinSet::new();
    for client in clients {
        unbinding.spawn(async move {
            let unbound = timeout(LINK_TIMEOUT, client.unbind()).await;
            unbound.context("an unbind has no response")?
        });
    }
    while let Some(unbound) = unbinding.join_next().await {
        unbound.context("a client panicked")??;
    }
    Ok(())
}
