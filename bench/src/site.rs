//! The measured site: the service, its carrier and one customer, in a directory that is removed
//! with it.

mod configuration;
mod setup;
pub(crate) mod smpp_users;

pub(crate) use configuration::{FIRST_CARRIER, HELD, LIMITS, OTP};
pub(crate) use setup::{Protocol, Setup};

use crate::database::Database;
use crate::http::Connection;
use crate::process::{Process, Usage, until};
use crate::quota::Quota;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// Time that a process may take until it accepts connections.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(30);
/// Interval at which `/metrics` is read during a wait. It is short enough for a figure, and long
/// enough to cost the service nothing.
const METRICS_INTERVAL: Duration = Duration::from_millis(25);
/// The names of the processes of the service.
pub(crate) const NODES: [&str; 4] = ["serve", "serve-2", "serve-3", "serve-4"];
/// Credit in naira, which is enough for every scenario.
const CREDIT: &str = "900000000.00";
/// The sender ID of every message.
pub(crate) const SENDER_ID: &str = "AdaFoods";

/// The service of one customer, with its addresses.
pub(crate) struct Site {
    services: Vec<Process>,
    /// The quota of each node, if its cores are limited.
    quotas: Vec<Quota>,
    smsc: Option<Process>,
    pub(crate) database: Database,
    /// The directory is removed after the processes are gone, because fields are dropped in this
    /// order.
    dir: TempDir,
    setup: Setup,
    /// The address of the API of each node.
    pub(crate) http: Vec<SocketAddr>,
    /// The address of the SMPP server of each node.
    pub(crate) smpp: Vec<SocketAddr>,
    /// The address at which the service expects its carrier.
    pub(crate) carrier: SocketAddr,
    /// The customer.
    pub(crate) account: String,
    /// The tokens of requests, by turns: the customer's, and those of other accounts.
    pub(crate) tokens: Vec<String>,
    empty_bytes: u64,
    logged_before: u64,
}

impl Site {
    /// Writes the configuration and makes the customer. No process runs yet.
    pub(crate) fn prepare(setup: &Setup) -> Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("bench-")
            .tempdir_in(&setup.target)?;
        let addresses = || (0..setup.nodes).map(|_| free_address());
        let mut site = Self {
            services: Vec::new(),
            quotas: (0..setup.nodes)
                .filter_map(|_| setup.cores.map(Quota::make))
                .collect::<Result<_>>()?,
            smsc: None,
            database: Database::make(setup.database, dir.path().join("data"))?,
            http: addresses().collect::<Result<_>>()?,
            smpp: addresses().collect::<Result<_>>()?,
            carrier: free_address()?,
            account: String::new(),
            tokens: Vec::new(),
            empty_bytes: 0,
            logged_before: 0,
            setup: setup.clone(),
            dir,
        };
        site.configure()?;
        site.ogene(&["migrate"])?;
        site.make_customer()?;
        site.empty_bytes = site.database.stored_bytes()?;
        site.logged_before = site.database.logged_bytes()?;
        Ok(site)
    }

    fn configure(&self) -> Result<()> {
        let text = configuration::text(&self.setup, &self.database, self.carrier);
        Ok(fs::write(self.dir.path().join("ogene.toml"), text)?)
    }

    /// Removes the limit of the carrier from the next start on.
    pub(crate) fn unlimit(&mut self) -> Result<()> {
        self.setup.max_per_second = None;
        self.configure()
    }

    fn make_customer(&mut self) -> Result<()> {
        self.account = self.add_customer("bench@example.ng")?;
        Ok(())
    }

    /// Makes a customer with credit, whose token takes turns with the others. Returns the account.
    pub(crate) fn add_customer(&mut self, email: &str) -> Result<String> {
        let id = self.make_account("Bench", email)?;
        self.tokens.push(self.make_token(&id)?);
        self.make_sender(&id)?;
        let credit = [
            "wallet",
            "credit",
            "--amount",
            CREDIT,
            "--reference",
            "bench",
        ];
        self.ogene(&[&credit[..], &["--account", &id]].concat())?;
        Ok(id)
    }

    /// Makes a token of an account.
    pub(crate) fn make_token(&self, account: &str) -> Result<String> {
        let made = self.ogene(&["token", "create", "--account", account, "--name", "bench"])?;
        text(&made, "token")
    }

    /// Registers and approves the sender ID of the load for an account.
    pub(crate) fn make_sender(&self, account: &str) -> Result<()> {
        let sender = ["--account", account, "--sender-id", SENDER_ID];
        let register = [
            &["sender-id", "register", "--purpose", "Orders"],
            &sender[..],
        ];
        self.ogene(&register.concat())?;
        self.ogene(&[&["sender-id", "approve"], &sender[..]].concat())?;
        Ok(())
    }

    /// Makes an account. Returns its id.
    pub(crate) fn make_account(&self, name: &str, email: &str) -> Result<String> {
        let create = ["account", "create", "--name", name, "--email", email];
        text(&self.ogene(&create)?, "user_id")
    }

    /// Runs a command of `ogene`. Returns its JSON.
    pub(crate) fn ogene(&self, arguments: &[&str]) -> Result<Value> {
        let output = self.command(None).args(arguments).output()?;
        if !output.status.success() {
            let why = [output.stderr, output.stdout].concat();
            let why = String::from_utf8_lossy(&why);
            bail!("ogene {}: {}", arguments.join(" "), why.trim());
        }
        Ok(serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
    }

    /// Starts a command of `ogene`, whose usage can be read while it runs.
    pub(crate) fn start_command(&self, name: &'static str, arguments: &[&str]) -> Result<Process> {
        Process::start(name, self.command(None).args(arguments), self.directory())
    }

    /// Returns the directory of the site, which is removed with it.
    pub(crate) fn directory(&self) -> &Path {
        self.dir.path()
    }

    fn command(&self, quota: Option<&Quota>) -> Command {
        let mut command = match quota {
            Some(quota) => quota.command(self.setup.ogene.as_os_str()),
            None => Command::new(&self.setup.ogene),
        };
        let config = self.dir.path().join("ogene.toml");
        command.arg("--json").arg("--config").arg(config);
        command
    }

    /// Starts `ogene serve`, once for each node. Returns the time until `/readyz` of all nodes
    /// answered 200.
    pub(crate) async fn start_service(&mut self) -> Result<Duration> {
        let began = tokio::time::Instant::now();
        let addresses = self.http.iter().zip(&self.smpp);
        for (node, (name, (http, smpp))) in NODES.iter().zip(addresses).enumerate() {
            let mut command = self.command(self.quotas.get(node));
            command.env("OGENE_HTTP_LISTEN", http.to_string());
            if self.setup.smpp_connections.is_some() {
                command.env("OGENE_SMPP_SERVER_LISTEN", smpp.to_string());
            }
            let service = Process::start(name, command.arg("serve"), self.dir.path())?;
            self.services.push(service);
        }
        for (service, &http) in self.services.iter_mut().zip(&self.http) {
            while !is_ready(http).await {
                service.check()?;
                if began.elapsed() > START_TIMEOUT {
                    bail!("the service is not ready within {START_TIMEOUT:?}");
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        Ok(began.elapsed())
    }

    /// Starts `ogene smsc` at the address of the carrier, or at another one.
    pub(crate) async fn start_smsc(&mut self, address: SocketAddr) -> Result<()> {
        let smsc = start_smsc(&self.setup, address, self.dir.path()).await?;
        self.smsc = Some(smsc);
        Ok(())
    }

    /// Starts service and SMSC, and waits until all connections are bound.
    pub(crate) async fn start(&mut self) -> Result<()> {
        self.start_smsc(self.carrier).await?;
        self.start_service().await?;
        self.wait_until_bound().await
    }

    /// Waits until all connections are bound.
    pub(crate) async fn wait_until_bound(&self) -> Result<()> {
        let binds = match self.setup.protocol {
            Protocol::Smpp => u64::from(self.setup.binds) * self.setup.carriers as u64,
            // One node is connected to a carrier by HTTP.
            Protocol::Http => 1,
        };
        self.wait_for("ogene_binds", binds, START_TIMEOUT).await?;
        Ok(())
    }

    /// Waits until a metric, summed over its labels and over the nodes, reaches a value. Returns
    /// its value then.
    pub(crate) async fn wait_for(
        &self,
        metric: &str,
        least: u64,
        timeout: Duration,
    ) -> Result<f64> {
        let mut connections = Vec::with_capacity(self.http.len());
        for &http in &self.http {
            connections.push(Connection::open(http).await?);
        }
        let began = tokio::time::Instant::now();
        loop {
            let mut found = 0.0;
            for connection in &mut connections {
                found += sum(&connection.get("/metrics").await?, metric);
            }
            if found >= crate::figures::float(least) {
                return Ok(found);
            }
            if began.elapsed() > timeout {
                let all = self.services.iter().chain(&self.smsc);
                let logs: Vec<_> = all.map(Process::last_lines).collect();
                bail!(
                    "{metric} is {found} and not {least} after {timeout:?}: {}",
                    logs.join(" | ")
                );
            }
            tokio::time::sleep(METRICS_INTERVAL).await;
        }
    }

    /// Waits until the SMSC has sent so many receipts, and has a response to each.
    pub(crate) async fn wait_until_answered(&self, receipts: u64, timeout: Duration) -> Result<()> {
        let smsc = self.smsc.as_ref().context("the SMSC runs")?;
        let answered = || {
            // The SMSC prints its figures once a second. The last line is the newest, and may be
            // incomplete.
            let log = smsc.log();
            log.lines()
                .rev()
                .find_map(|line| serde_json::from_str::<Value>(line).ok()?["answered"].as_u64())
                .is_some_and(|answered| answered >= receipts)
        };
        until(timeout, answered)
            .await
            .context("receipts are missing")?;
        Ok(())
    }

    /// Returns the usage of all nodes since their start.
    pub(crate) fn usage(&self) -> Result<Usage> {
        let mut all = Usage::default();
        for service in &self.services {
            all.add(service.usage()?);
        }
        Ok(all)
    }

    /// Kills the nodes (SIGKILL).
    pub(crate) fn kill_service(&mut self) -> Result<()> {
        self.services.drain(..).try_for_each(Process::kill)
    }

    /// Stops the service. Returns the time until it ended.
    pub(crate) async fn stop_service(&mut self) -> Result<Duration> {
        let mut longest = Duration::ZERO;
        for service in self.services.drain(..) {
            longest = longest.max(service.stop().await?.1);
        }
        Ok(longest)
    }

    /// Stops the simulator. Returns its counts.
    pub(crate) async fn stop_smsc(&mut self) -> Result<Value> {
        let smsc = self.smsc.take().context("the SMSC runs")?;
        Ok(serde_json::from_str(&smsc.stop().await?.0)?)
    }

    /// Returns the bytes that PostgreSQL has written to its log since the customer was made.
    pub(crate) fn logged_bytes(&self) -> Result<u64> {
        let bytes = self.database.logged_bytes()?;
        Ok(bytes.saturating_sub(self.logged_before))
    }

    /// Returns the growth of the database in bytes since the customer was made.
    pub(crate) fn stored_bytes(&self) -> Result<u64> {
        let bytes = self.database.stored_bytes()?;
        Ok(bytes.saturating_sub(self.empty_bytes))
    }
}

/// Starts `ogene smsc`, and waits until it accepts connections.
pub(crate) async fn start_smsc(setup: &Setup, address: SocketAddr, dir: &Path) -> Result<Process> {
    let mut command = Command::new(&setup.ogene);
    command.args(["smsc", "--json", "--listen", &address.to_string()]);
    command.args(["--response-delay", &setup.response_delay]);
    command.args(["--receipt-delay", &setup.receipt_delay]);
    let mut smsc = Process::start("smsc", &mut command, dir)?;
    until(START_TIMEOUT, || TcpStream::connect(address).is_ok())
        .await
        .context("the SMSC takes no connections")?;
    smsc.check()?;
    Ok(smsc)
}

/// Returns a free port of the loopback interface.
pub(crate) fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?)
}

async fn is_ready(http: SocketAddr) -> bool {
    match Connection::open(http).await {
        Ok(mut connection) => connection.get("/readyz").await.is_ok(),
        Err(_) => false,
    }
}

/// Returns a text of an answer by its name.
pub(crate) fn text(json: &Value, name: &str) -> Result<String> {
    let text = json[name].as_str();
    Ok(text
        .with_context(|| format!("no {name} in {json}"))?
        .to_owned())
}

/// Returns a metric of the Prometheus text, summed over its labels.
fn sum(text: &str, metric: &str) -> f64 {
    text.lines()
        .filter_map(|line| line.strip_prefix(metric))
        .filter(|rest| rest.starts_with(['{', ' ']))
        .filter_map(|rest| rest.rsplit_once(' ')?.1.parse::<f64>().ok())
        .sum()
}

/// Returns the path of the release binary: the given one, or the one that cargo builds now.
pub(crate) fn binary(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(path) = given {
        return path
            .canonicalize()
            .with_context(|| format!("{}", path.display()));
    }
    let output = Command::new(env!("CARGO"))
        .args(["build", "--release", "-p", "server", "--bin", "ogene"])
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stderr(std::process::Stdio::inherit())
        .output()?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let executable = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.context("cargo did not build ogene")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_summed_over_its_labels_by_its_whole_name() {
        let text =
            "# TYPE a_total counter\na_total{x=\"1\"} 2\na_total{x=\"2\"} 3\na_total_more 9\nb 1\n";
        assert_eq!(format!("{}", sum(text, "a_total")), "5");
        assert_eq!(format!("{}", sum(text, "b")), "1");
    }
}
