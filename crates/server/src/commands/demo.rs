//! `ogene demo`: the whole service with nothing to configure. Only the SMSC differs from
//! production.

mod callbacks;
mod customer;
mod first_message;
mod history;
mod simulator;
mod welcome;

use super::answer::{Answer, Failure};
use super::context::{Context, actor, actor_at};
use super::serve::bind;
use super::signals;
use crate::app;
use crate::config::Config;
use crate::logs;
use callbacks::Receiver;
use clap::Args;
use customer::Customer;
use engine::Clock;
use engine::operators::{Actor, LinkText, Operations};
use first_message::{Caller, SYSTEM_ID};
use history::History;
use simulator::RECEIPT_DELAY;
use smpp::simulator::Smsc;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;
use welcome::Welcome;

/// The addresses of the service and the simulator, if they are free.
const HTTP: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
const SMPP: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 2775);
/// The longest time for the traffic of the hour before. A machine that is slower sends less of it.
const HISTORY_TIMEOUT: Duration = Duration::from_secs(5);
/// The level of the log. The output of the demo is between the lines of the log on the terminal.
const LOG_LEVEL: &str = "warn";

/// The arguments of a demo.
#[derive(Args)]
#[command(
    after_help = "A new database first gets the traffic of an hour, so that the console has something to show. The demo then \
    sends one message and shows its life from acceptance to callback. Its recipient answers with an inbound message. The demo \
    prints a curl command that sends and one that reads the report.\n\n\
    Example: ogene demo"
)]
pub(super) struct Demo {
    /// Keep the database in this directory [default: a temporary one, removed at the end]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Address of the API [default: 127.0.0.1:8080, or a free port if that is taken]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

impl Demo {
    pub(super) async fn run(self, context: &Context) -> Result<Answer, Failure> {
        let stop = signals::stop_or_hangup()?;
        let temporary = tempfile::Builder::new().prefix("ogene-demo-").tempdir()?;
        let data_dir = self
            .data_dir
            .clone()
            .unwrap_or_else(|| temporary.path().to_owned());
        let actor = actor();

        let now_ms = actor.clock().now_ms();
        let smsc = Smsc::listen(free(SMPP).await?, simulator::script(now_ms, RECEIPT_DELAY)?)?;
        let listener = match self.listen {
            Some(address) => bind(address, "--listen").await?,
            None => free(HTTP).await?,
        };
        let callbacks = callbacks::receive().await?;
        let config = Config::read(&configuration(smsc.address()), "demo", [])
            .map_err(Failure::configuration)?;
        let config = Config { data_dir, ..config };
        logs::start(&config.log);

        let prepared = prepare(&config, &actor, &smsc, &callbacks);
        let Prepared {
            customer: Customer { account, token },
            links,
            has_history,
        } = Box::pin(prepared).await?;
        callbacks.show();

        let (http, data_dir) = (listener.local_addr()?, config.data_dir.clone());
        let source = app::Source::fixed(config.clone());
        let serving = app::serve(config, source, actor.clock().clone(), listener, stop);
        let shown = async {
            let caller = Caller {
                http,
                token: &token,
            };
            let now_ms = actor.clock().now_ms();
            let address = callbacks.address;
            let life = first_message::send_and_follow(&caller, &smsc, callbacks, now_ms).await;
            let welcome = Welcome {
                http,
                smpp: smsc.address(),
                callbacks: address,
                has_history,
                account,
                token: token.clone(),
                links: links.each_ref().map(|link| link.secret.text()),
                life,
                data_dir: &data_dir,
                is_temporary: self.data_dir.is_none(),
            };
            let answer = welcome.answer()?;
            let written = answer.write(context.global.json, &mut io::stdout());
            // A closed reader does not end the demo.
            match written.and_then(|()| io::stdout().flush()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    Err(Failure::from(error))
                }
                _ => Ok(()),
            }
        };
        tokio::pin!(serving);
        tokio::select! {
            ended = &mut serving => ended?,
            shown = shown => {
                shown?;
                serving.await?;
            }
        }
        smsc.stop().await;
        Ok(Answer::none())
    }
}

/// The customer, and links to the console.
struct Prepared {
    customer: Customer,
    links: [LinkText; 2],
    /// `true` if the customer is new and sent the traffic of an hour.
    has_history: bool,
}

/// Prepares the database. The lock of the directory is free again afterwards.
async fn prepare(
    config: &Config,
    actor: &Actor,
    smsc: &Smsc,
    callbacks: &Receiver,
) -> Result<Prepared, Failure> {
    let _lock = app::lock(config)?;
    let store = app::open(config).await?;
    let operations = Operations::new(store.clone(), actor.clone());
    if let Some(account) = customer::find(&operations).await? {
        let customer = customer::known(&operations, account).await?;
        let links = customer::links(&operations, account).await?;
        store.close().await;
        return Ok(Prepared {
            customer,
            links,
            has_history: false,
        });
    }
    let now_ms = actor.clock().now_ms();
    let clock = Clock::manual(now_ms - history::LENGTH_MS);
    let past = Operations::new(store.clone(), actor_at(clock.clone()));
    let customer = customer::make(&past).await?;
    let links = customer::links(&operations, customer.account).await?;
    let history = History {
        smsc,
        callbacks,
        account: customer.account,
        token: &customer.token,
        clock,
        now_ms,
    };
    history
        .send(store, config.settings(), HISTORY_TIMEOUT)
        .await?;
    Ok(Prepared {
        customer,
        links,
        has_history: true,
    })
}

/// Listens on `address`, or on a free port of the same host if it is taken.
async fn free(address: SocketAddr) -> io::Result<TcpListener> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind((address.ip(), 0)).await,
    }
}

/// Returns the configuration of the demo: one carrier, and callbacks to this machine.
fn configuration(smsc: SocketAddr) -> String {
    format!(
        r#"
        [callbacks]
        allow_private_targets = true
        [log]
        level = "{LOG_LEVEL}"
        [carriers.simulator]
        address = "{smsc}"
        system_id = "{SYSTEM_ID}"
        password = "demo"
        [gateways.direct-refund]
        carriers = ["simulator"]
        [gateways.direct-corporate]
        carriers = ["simulator"]
        [gateways.otp]
        carriers = ["simulator"]
        [gateways.dual-backup]
        [gateways.international]
        carriers = ["simulator"]
        "#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_is_configured_without_fault() {
        let config = Config::read(&configuration(SMPP), "demo", []).expect("no fault");
        assert_eq!(config.gateways.len(), 5);
        assert_eq!(config.notes, Vec::<String>::new());
        assert!(simulator::script(0, RECEIPT_DELAY).is_ok());
    }

    #[tokio::test]
    async fn a_taken_port_is_no_obstacle() {
        let taken = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = taken.local_addr().expect("an address");
        let other = free(address).await.expect("another port");
        assert_ne!(other.local_addr().expect("an address"), address);
    }
}
