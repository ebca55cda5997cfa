//! `ogene demo`: the whole service with nothing to configure. Only the SMSC differs from
//! production.

mod callbacks;
mod first_message;
mod welcome;

use super::answer::{Answer, Failure};
use super::context::{Context, actor};
use super::serve::bind;
use super::signals;
use crate::app;
use crate::config::Config;
use crate::logs;
use clap::Args;
use domain::search::MAX_LIMIT;
use domain::token::TokenTerms;
use domain::user::role::Role;
use domain::{AccountId, Component, Money, SenderStatus};
use engine::operators::{LinkText, Operations, PageRequest};
use first_message::{Caller, SENDER_ID};
use smpp::simulator::{Delay, Script, Smsc, parse_rule};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;
use welcome::Welcome;

/// The addresses of the service and the simulator, if they are free.
const HTTP: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);
const SMPP: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 2775);
/// The customer of the demo.
const EMAIL: &str = "demo@ogene.example";
const OPERATOR_EMAIL: &str = "operator@ogene.example";
const CREDIT: Money = Money::from_naira(1_000);
/// The outcomes of numbers with these endings. All others are delivered.
const RULES: [&str; 4] = [
    "0002=undeliv",
    "0003=expired",
    "0004=rejectd",
    "0005=pending",
];
const RECEIPT_DELAY: Delay = Delay {
    from: Duration::from_millis(500),
    to: Duration::from_millis(1_500),
};
/// The level of the log. The output of the demo is between the lines of the log on the terminal.
const LOG_LEVEL: &str = "warn";

/// The arguments of a demo.
#[derive(Args)]
#[command(
    after_help = "The demo sends one message and shows its life from acceptance to callback. It then prints a curl command \
    that sends and one that reads the report.\n\n\
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

        let smsc = Smsc::listen(free(SMPP).await?, script(actor.clock().now_ms())?)?;
        let listener = match self.listen {
            Some(address) => bind(address, "--listen").await?,
            None => free(HTTP).await?,
        };
        let (callbacks, outcomes) = callbacks::receive().await?;
        let config = Config::read(&configuration(smsc.address()), "demo", [])
            .map_err(Failure::configuration)?;
        let config = Config { data_dir, ..config };
        logs::start(&config.log);

        let lock = app::lock(&config)?;
        let store = app::open(&config).await?;
        let operations = Operations::new(store.clone(), actor.clone());
        let (account, token) = prepare(&operations).await?;
        let links = links(&operations, account).await?;
        store.close().await;
        drop(lock);

        let (http, data_dir) = (listener.local_addr()?, config.data_dir.clone());
        let source = app::Source::fixed(config.clone());
        let serving = app::serve(config, source, actor.clock().clone(), listener, stop);
        let shown = async {
            let caller = Caller {
                http,
                token: &token,
            };
            let now_ms = actor.clock().now_ms();
            let life =
                first_message::send_and_follow(&caller, &smsc, callbacks, outcomes, now_ms).await;
            let welcome = Welcome {
                http,
                smpp: smsc.address(),
                callbacks,
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

/// Listens on `address`, or on a free port of the same host if it is taken.
async fn free(address: SocketAddr) -> io::Result<TcpListener> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind((address.ip(), 0)).await,
    }
}

fn script(now_ms: i64) -> Result<Script, Failure> {
    let rules = RULES
        .into_iter()
        .map(parse_rule)
        .collect::<Result<_, _>>()
        .map_err(Failure::new)?;
    Ok(Script {
        rules,
        receipt_delay: RECEIPT_DELAY,
        last_message_id: now_ms.unsigned_abs() * 1_000,
        ..Script::default()
    })
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
        system_id = "ogene"
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

/// Prepares an account with credit and an approved sender ID, once for a directory, and a new
/// token.
async fn prepare(operations: &Operations) -> Result<(AccountId, String), Failure> {
    let account = match found(operations).await? {
        Some(account) => account,
        None => operations.accounts().create("Demo", EMAIL).await?.id,
    };
    operations
        .wallets()
        .credit(account, CREDIT, "demo", Component::SmsWallet)
        .await?;
    let senders = operations.senders();
    let senders = senders.list(Some(account), &PageRequest::default()).await?;
    if senders.items.is_empty() {
        operations
            .senders()
            .register(account, SENDER_ID, "The demo", false)
            .await?;
        let approved = SenderStatus::Approved;
        operations
            .senders()
            .set_status(account, SENDER_ID, approved, None)
            .await?;
    }
    let (_, token) = operations
        .tokens()
        .create(account, "demo", TokenTerms::default())
        .await?;
    Ok((account, token))
}

/// Returns one-time links that are signed in to the console: as the customer, and as an operator.
async fn links(operations: &Operations, account: AccountId) -> Result<[LinkText; 2], Failure> {
    let users = operations.users();
    let customer = users.demo_link(EMAIL, Some(account), Role::Owner).await?;
    let users = operations.users();
    let operator = users
        .demo_link(OPERATOR_EMAIL, None, Role::Operator)
        .await?;
    Ok([customer, operator])
}

/// Returns the account that an earlier demo made.
async fn found(operations: &Operations) -> Result<Option<AccountId>, Failure> {
    let mut request = PageRequest::default();
    loop {
        let page = operations.accounts().list(&request).await?;
        let mut accounts = page.items.iter();
        let account = accounts.find(|account| account.email == EMAIL);
        if account.is_some() || page.next.is_none() {
            return Ok(account.map(|account| account.id));
        }
        request = PageRequest::new(MAX_LIMIT, page.next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_is_configured_without_fault() {
        let config = Config::read(&configuration(SMPP), "demo", []).expect("no fault");
        assert_eq!(config.gateways.len(), 5);
        assert_eq!(config.notes, Vec::<String>::new());
        assert!(script(0).is_ok());
    }

    #[tokio::test]
    async fn a_taken_port_is_no_obstacle() {
        let taken = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = taken.local_addr().expect("an address");
        let other = free(address).await.expect("another port");
        assert_ne!(other.local_addr().expect("an address"), address);
    }
}
