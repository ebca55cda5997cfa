//! A flood: clients that submit as fast as the service reads, whatever it answers.

use super::answers::Answers;
use super::client::Client;
use super::receipts::Receipts;
use crate::site::smpp_users::Credentials;
use anyhow::{Context, Result, anyhow};
use smpp::BindKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Size of the unwritten output from which a client waits until the service reads.
const MAX_UNWRITTEN_OCTETS: usize = 64 * 1024;
/// Longest wait for the responses to the submits that were written.
const REST_TIMEOUT: Duration = Duration::from_secs(30);

/// A running flood. It has a thread of its own, so that other clients do not wait for it.
pub(crate) struct Flood {
    thread: JoinHandle<Result<Answers>>,
    /// It is used once all clients are bound.
    all_bound: Option<oneshot::Receiver<()>>,
}

impl Flood {
    /// Binds so many clients of a user, and lets them submit these numbers and further ones for so
    /// long.
    pub(crate) fn start(
        node: SocketAddr,
        user: &Credentials,
        clients: usize,
        first: u64,
        time: Duration,
    ) -> Result<Self> {
        let (bound, all_bound) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let user = user.clone();
        let thread = std::thread::spawn(move || {
            runtime.block_on(run(node, &user, clients, first, time, bound))
        });
        Ok(Self {
            thread,
            all_bound: Some(all_bound),
        })
    }

    /// Waits until the clients submit.
    pub(crate) async fn began(&mut self) -> Result<()> {
        if let Some(all_bound) = self.all_bound.take() {
            all_bound.await.context("the flood did not begin")?;
        }
        Ok(())
    }

    /// Waits for the end. Returns the responses.
    pub(crate) async fn ended(self) -> Result<Answers> {
        let joined = tokio::task::spawn_blocking(move || self.thread.join());
        joined.await?.map_err(|_| anyhow!("the flood panicked"))?
    }
}

async fn run(
    node: SocketAddr,
    user: &Credentials,
    clients: usize,
    first: u64,
    time: Duration,
    all_bound: oneshot::Sender<()>,
) -> Result<Answers> {
    let receipts = Arc::new(Receipts::default());
    let mut bound = Vec::new();
    for _ in 0..clients {
        let kind = BindKind::Transmitter;
        bound.push(Client::bind(node, user, kind, Arc::clone(&receipts)).await?);
    }
    let began = Instant::now();
    // Nobody may wait for the begin.
    let _ = all_bound.send(());
    let mut senders = JoinSet::new();
    let all = clients as u64;
    for (place, client) in (0..all).zip(bound) {
        senders.spawn(submit(client, (first + place, all), began, time));
    }
    let mut answers = Answers::new(began)?;
    while let Some(sender) = senders.join_next().await {
        answers.join(&sender.context("a client panicked")??);
    }
    answers.time = time;
    Ok(answers)
}

/// Submits a number and each so many further ones.
async fn submit(
    mut client: Client,
    (mut number, apart): (u64, u64),
    began: Instant,
    time: Duration,
) -> Result<Answers> {
    let mut answers = Answers::new(began)?;
    while began.elapsed() < time {
        let now = Instant::now();
        while client.unwritten() < MAX_UNWRITTEN_OCTETS {
            client.submit(number, now);
            number += apart;
        }
        client.step(&mut answers).await?;
    }
    let rest = async {
        while client.open() > 0 {
            client.step(&mut answers).await?;
        }
        client.unbind().await
    };
    timeout(REST_TIMEOUT, rest)
        .await
        .context("submits without a response")??;
    Ok(answers)
}
