//! What is measured: the service, its carrier, and one customer, in a directory that goes with it.

use crate::http::Connection;
use crate::process::{Process, Usage, until};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

/// How long a process may take until it takes connections.
const START_PATIENCE: Duration = Duration::from_secs(30);
/// How often `/metrics` is read while something is waited for: often enough for a figure, seldom enough to
/// cost the service nothing.
const METRICS_EVERY: Duration = Duration::from_millis(25);
/// What the processes of the service are called.
pub(crate) const NODES: [&str; 4] = ["serve", "serve-2", "serve-3", "serve-4"];
/// Naira, enough for every scenario.
const CREDIT: &str = "900000000.00";
/// The sender ID of every message.
pub(crate) const SENDER_ID: &str = "AdaFoods";

/// What is the same for all scenarios of a run.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// The release binary.
    pub(crate) ogene: PathBuf,
    /// Where the directories of the scenarios are made.
    pub(crate) target: PathBuf,
    pub(crate) binds: u32,
    pub(crate) window: u32,
    pub(crate) receipt_delay: String,
    pub(crate) database: Database,
    /// Processes of the service; more than one only on PostgreSQL.
    pub(crate) nodes: usize,
}

/// Where everything is kept.
#[derive(Clone, Copy, Debug, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Database {
    /// Embedded.
    Sqlite,
    /// A server of the benchmark's own, on its defaults.
    Postgres,
}

/// One customer's service, and how to reach it.
pub(crate) struct Site {
    services: Vec<Process>,
    smsc: Option<Process>,
    postgres: Option<Postgres>,
    /// Removed after the processes are gone: fields are dropped in this order.
    dir: TempDir,
    setup: Setup,
    /// Where the API of each node listens.
    pub(crate) http: Vec<SocketAddr>,
    /// Where the service looks for its carrier.
    pub(crate) carrier: SocketAddr,
    /// The customer's token.
    pub(crate) token: String,
}

impl Site {
    /// Writes the configuration and makes the customer. Nothing runs yet.
    pub(crate) fn prepare(setup: &Setup) -> Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("bench-")
            .tempdir_in(&setup.target)?;
        let mut site = Self {
            services: Vec::new(),
            smsc: None,
            postgres: match setup.database {
                Database::Sqlite => None,
                Database::Postgres => Some(Postgres::start()?),
            },
            http: (0..setup.nodes)
                .map(|_| free_address())
                .collect::<Result<_>>()?,
            carrier: free_address()?,
            token: String::new(),
            setup: setup.clone(),
            dir,
        };
        fs::write(site.dir.path().join("ogene.toml"), site.configuration())?;
        site.ogene(&["migrate"])?;
        site.make_customer()?;
        Ok(site)
    }

    fn configuration(&self) -> String {
        format!(
            r#"{database}
[limits]
sends_per_minute = 1000000
[callbacks]
allow_private_targets = true
[carriers.bench]
address = "{carrier}"
system_id = "bench"
password = "bench"
binds = {binds}
window = {window}
[gateways.direct-refund]
carriers = ["bench"]
price = "6.00"
"#,
            database = match &self.postgres {
                None => format!("data_dir = '{}'", self.dir.path().join("data").display()),
                Some(postgres) => format!("database_url = '{}'", postgres.url),
            },
            carrier = self.carrier,
            binds = self.setup.binds,
            window = self.setup.window,
        )
    }

    fn make_customer(&mut self) -> Result<()> {
        let made = self.ogene(&[
            "account",
            "create",
            "--name",
            "Bench",
            "--email",
            "bench@example.ng",
        ])?;
        let id = text(&made, "user_id")?;
        let made = self.ogene(&["token", "create", "--account", &id, "--name", "bench"])?;
        self.token = text(&made, "token")?;
        let sender = ["--account", &id, "--sender-id", SENDER_ID];
        let register = [
            &["sender-id", "register", "--purpose", "Orders"],
            &sender[..],
        ];
        self.ogene(&register.concat())?;
        self.ogene(&[&["sender-id", "approve"], &sender[..]].concat())?;
        let credit = [
            "wallet",
            "credit",
            "--amount",
            CREDIT,
            "--reference",
            "bench",
        ];
        self.ogene(&[&credit[..], &["--account", &id]].concat())?;
        Ok(())
    }

    /// Runs a command of `ogene` and gives its JSON.
    pub(crate) fn ogene(&self, arguments: &[&str]) -> Result<Value> {
        let output = self.command().args(arguments).output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            bail!("ogene {}: {}", arguments.join(" "), why.trim());
        }
        Ok(serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.setup.ogene);
        let config = self.dir.path().join("ogene.toml");
        command.arg("--json").arg("--config").arg(config);
        command
    }

    /// Starts `ogene serve`, as many as there are nodes; gives the time until `/readyz` of all answered 200.
    pub(crate) async fn start_service(&mut self) -> Result<Duration> {
        let began = tokio::time::Instant::now();
        for (name, http) in NODES.iter().zip(&self.http) {
            let mut command = self.command();
            command.env("OGENE_HTTP_LISTEN", http.to_string());
            let service = Process::start(name, command.arg("serve"), self.dir.path())?;
            self.services.push(service);
        }
        for (service, &http) in self.services.iter_mut().zip(&self.http) {
            while !is_ready(http).await {
                service.check()?;
                if began.elapsed() > START_PATIENCE {
                    bail!("the service is not ready within {START_PATIENCE:?}");
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
        Ok(began.elapsed())
    }

    /// Starts `ogene smsc` where the service looks for it, or elsewhere.
    pub(crate) async fn start_smsc(&mut self, address: SocketAddr) -> Result<()> {
        let mut command = Command::new(&self.setup.ogene);
        command.args(["smsc", "--json", "--listen", &address.to_string()]);
        command.args(["--receipt-delay", &self.setup.receipt_delay]);
        let smsc = Process::start("smsc", &mut command, self.dir.path())?;
        let smsc = self.smsc.insert(smsc);
        until(START_PATIENCE, || TcpStream::connect(address).is_ok())
            .await
            .context("the SMSC takes no connections")?;
        smsc.check()
    }

    /// Starts both and waits until all binds are up.
    pub(crate) async fn start(&mut self) -> Result<()> {
        self.start_smsc(self.carrier).await?;
        self.start_service().await?;
        self.wait_until_bound().await
    }

    /// Waits until all binds are up.
    pub(crate) async fn wait_until_bound(&self) -> Result<()> {
        let binds = u64::from(self.setup.binds);
        self.wait_for("ogene_binds", binds, START_PATIENCE).await
    }

    /// Waits until a metric, summed over its labels and over the nodes, reaches a value.
    pub(crate) async fn wait_for(
        &self,
        metric: &str,
        least: u64,
        patience: Duration,
    ) -> Result<()> {
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
                return Ok(());
            }
            if began.elapsed() > patience {
                bail!("{metric} is {found} and not {least} after {patience:?}");
            }
            tokio::time::sleep(METRICS_EVERY).await;
        }
    }

    /// What the service used since it began, all nodes together.
    pub(crate) fn usage(&self) -> Result<Usage> {
        let mut all = Usage::default();
        for service in &self.services {
            all.add(service.usage()?);
        }
        Ok(all)
    }

    /// SIGKILL.
    pub(crate) fn kill_service(&mut self) -> Result<()> {
        self.services.drain(..).try_for_each(Process::kill)
    }

    /// Asks the service to stop, and gives the time that took.
    pub(crate) async fn stop_service(&mut self) -> Result<Duration> {
        let mut longest = Duration::ZERO;
        for service in self.services.drain(..) {
            longest = longest.max(service.stop().await?.1);
        }
        Ok(longest)
    }

    /// Stops the simulator and gives what it counted.
    pub(crate) async fn stop_smsc(&mut self) -> Result<Value> {
        let smsc = self.smsc.take().context("the SMSC runs")?;
        Ok(serde_json::from_str(&smsc.stop().await?.0)?)
    }

    /// Bytes that the database takes on the disk.
    pub(crate) fn stored_bytes(&self) -> Result<u64> {
        match &self.postgres {
            None => bytes_below(&self.dir.path().join("data")),
            // The log is recycled, and is no part of what is kept.
            Some(postgres) => bytes_below(&postgres.dir.path().join("data/base")),
        }
    }
}

fn bytes_below(path: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        let (entry, metadata) = {
            let entry = entry?;
            let metadata = entry.metadata()?;
            (entry, metadata)
        };
        bytes += if metadata.is_dir() {
            bytes_below(&entry.path())?
        } else {
            metadata.len()
        };
    }
    Ok(bytes)
}

/// A PostgreSQL server on its defaults, as the tests start it.
struct Postgres {
    url: String,
    dir: TempDir,
}

impl Postgres {
    fn start() -> Result<Self> {
        let dir = tempfile::Builder::new().prefix("bench-").tempdir()?;
        let output = Self::script("start", dir.path()).output()?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            bail!("PostgreSQL did not start: {}", why.trim());
        }
        let said = String::from_utf8(output.stdout)?;
        let url = said.lines().last().context("no URL")?.to_owned();
        Ok(Self { url, dir })
    }

    fn script(action: &str, dir: &Path) -> Command {
        let mut command = Command::new("tests/postgres");
        command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        command.arg(action).arg(dir);
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // What is left running would be found by the next look at the machine; there is nobody to tell here.
        let _ = Self::script("crash", self.dir.path()).output();
    }
}

/// A port of the loopback interface that nobody listens on.
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

fn text(json: &Value, name: &str) -> Result<String> {
    let text = json[name].as_str();
    Ok(text
        .with_context(|| format!("no {name} in {json}"))?
        .to_owned())
}

/// A metric of the Prometheus text, summed over its labels.
fn sum(text: &str, metric: &str) -> f64 {
    text.lines()
        .filter_map(|line| line.strip_prefix(metric))
        .filter(|rest| rest.starts_with(['{', ' ']))
        .filter_map(|rest| rest.rsplit_once(' ')?.1.parse::<f64>().ok())
        .sum()
}

/// Where the release binary is: as told, or built now.
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
    fn a_metric_is_summed_over_its_labels_and_not_confused_with_longer_names() {
        let text =
            "# TYPE a_total counter\na_total{x=\"1\"} 2\na_total{x=\"2\"} 3\na_total_more 9\nb 1\n";
        assert_eq!(format!("{}", sum(text, "a_total")), "5");
        assert_eq!(format!("{}", sum(text, "b")), "1");
    }
}
