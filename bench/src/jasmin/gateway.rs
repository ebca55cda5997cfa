//! Jasmin's three processes, its `RabbitMQ` and Redis, and its SMSC, in a directory that is removed
//! with them.

use super::console::Console;
use crate::comparison::{binds, listens};
use crate::database::REPOSITORY;
use crate::process::{Process, Usage};
use crate::site::{Setup, free_address, start_smsc};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The user and the password of the load.
pub(super) const USER: &str = "bench";

/// Fields are dropped in this order.
pub(super) struct Gateway {
    daemons: Vec<Process>,
    redis: Process,
    broker: Process,
    _names: Names,
    smsc: Process,
    dir: TempDir,
    /// The address of the SMPP server.
    pub(super) smpp: SocketAddr,
}

/// The addresses of the parts.
struct Addresses {
    amqp: SocketAddr,
    redis: SocketAddr,
    smpp: SocketAddr,
    smpp_users: SocketAddr,
    clients: SocketAddr,
    router: SocketAddr,
    console: SocketAddr,
    http: SocketAddr,
    smsc: SocketAddr,
}

impl Gateway {
    /// Starts all processes, and waits until all connections to the SMSC are bound.
    pub(super) async fn start(setup: &Setup) -> Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("bench-")
            .tempdir_in(&setup.target)?;
        let addresses = Addresses::free()?;
        let smsc = start_smsc(setup, addresses.smsc, dir.path()).await?;
        let names = Names(free_address()?);
        let broker = start_broker(&addresses, &names, dir.path())?;
        let redis = start_redis(&addresses, dir.path())?;
        listens(addresses.amqp).await?;
        listens(addresses.redis).await?;
        fs::create_dir_all(dir.path().join("etc/jasmin/store"))?;
        fs::write(dir.path().join("jasmin.cfg"), addresses.configuration()?)?;
        let mut daemons = Vec::new();
        for (name, module, class) in DAEMONS {
            daemons.push(start_daemon(name, module, class, dir.path())?);
            if name == "jasmind" {
                listens(addresses.console).await?;
                listens(addresses.smpp_users).await?;
            }
        }
        configure(setup, &addresses).await?;
        listens(addresses.smpp).await?;
        binds(&smsc, setup.binds.into()).await?;
        Ok(Self {
            daemons,
            redis,
            broker,
            _names: names,
            smsc,
            dir,
            smpp: addresses.smpp,
        })
    }

    /// Returns the usage of Jasmin, `RabbitMQ` and Redis since their start.
    pub(super) fn usage(&self) -> Result<Usage> {
        let mut all = self.redis.usage()?;
        let pid = fs::read_to_string(self.dir.path().join("rabbitmq.pid"))?;
        all.add(Usage::of(pid.trim().parse()?)?);
        for daemon in &self.daemons {
            all.add(daemon.usage()?);
        }
        Ok(all)
    }

    /// Ends all processes. Returns the counts of the SMSC.
    pub(super) async fn stop(self) -> Result<Value> {
        // Jasmin ends slowly, and its end is not measured.
        for daemon in self.daemons {
            daemon.kill()?;
        }
        self.redis.kill()?;
        drop(self.broker);
        Ok(serde_json::from_str(&self.smsc.stop().await?.0)?)
    }
}

/// The processes of Jasmin: name, module and class of each. Jasmin recommends one for receipts and
/// one for their delivery.
const DAEMONS: [(&str, &str, &str); 3] = [
    ("jasmind", "jasmind", "JasminDaemon"),
    ("dlrlookupd", "dlrlookupd", "DlrlookupDaemon"),
    ("dlrd", "dlrd", "DlrDaemon"),
];

/// Starts a process of Jasmin without its script, which locks a file of the whole machine.
fn start_daemon(name: &'static str, module: &str, class: &str, dir: &Path) -> Result<Process> {
    let program = format!(
        "import sys\nfrom twisted.internet import reactor\nfrom jasmin.bin.{module} import {class}, Options\n\
         options = Options()\noptions.parseOptions(sys.argv[1:])\n{class}(options).start()\nreactor.run()"
    );
    let mut command = Command::new(home().join("bin/python"));
    command
        .args(["-c", &program, "-c"])
        .arg(dir.join("jasmin.cfg"));
    command.env("ROOT_PATH", dir).current_dir(dir);
    Process::start(name, &mut command, dir)
}

/// The folder in which Jasmin is installed.
fn home() -> PathBuf {
    Path::new(REPOSITORY).join("target/jasmin")
}

/// Starts `RabbitMQ` with a directory, a port and a name service of its own.
fn start_broker(addresses: &Addresses, names: &Names, dir: &Path) -> Result<Process> {
    fs::write(dir.join("plugins"), "[].")?;
    let mut command = Command::new("/usr/lib/rabbitmq/bin/rabbitmq-server");
    names.set(&mut command);
    for (name, file) in [
        ("HOME", "."),
        ("RABBITMQ_MNESIA_BASE", "rabbitmq"),
        ("RABBITMQ_LOG_BASE", "rabbitmq-log"),
        ("RABBITMQ_ENABLED_PLUGINS_FILE", "plugins"),
        ("RABBITMQ_PID_FILE", "rabbitmq.pid"),
        ("RABBITMQ_CONFIG_FILE", "rabbitmq"),
        ("RABBITMQ_CONF_ENV_FILE", "rabbitmq-env"),
    ] {
        command.env(name, dir.join(file));
    }
    command.env("RABBITMQ_NODENAME", "bench@localhost");
    command.env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1");
    command.env("RABBITMQ_NODE_PORT", addresses.amqp.port().to_string());
    command.env("RABBITMQ_DIST_PORT", free_address()?.port().to_string());
    Process::start("rabbitmq", &mut command, dir)
}

/// The address of Erlang's name service, which stays after `RabbitMQ` has ended.
struct Names(SocketAddr);

impl Names {
    fn set(&self, command: &mut Command) {
        command.env("ERL_EPMD_PORT", self.0.port().to_string());
        command.env("ERL_EPMD_ADDRESS", self.0.ip().to_string());
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        let mut command = Command::new("epmd");
        self.set(&mut command);
        // A destructor cannot report an error.
        let _ = command.args(["-relaxed_command_check", "-kill"]).output();
    }
}

/// Starts Redis, which appends each change to a file and syncs it each second.
fn start_redis(addresses: &Addresses, dir: &Path) -> Result<Process> {
    let mut command = Command::new("redis-server");
    command.args(["--bind", "127.0.0.1", "--port"]);
    command.arg(addresses.redis.port().to_string());
    command.args(["--save", "", "--appendonly", "yes", "--dir"]);
    Process::start("redis", command.arg(dir), dir)
}

/// Makes the carrier's connections, a route over all of them, and the user.
async fn configure(setup: &Setup, addresses: &Addresses) -> Result<()> {
    let mut console = Console::open(addresses.console).await?;
    let mut connectors = Vec::new();
    for bind in 0..setup.binds {
        let (id, port) = (format!("bench-{bind}"), addresses.smsc.port());
        let lines = [
            "smppccm -a".to_owned(),
            format!("cid {id}"),
            "host 127.0.0.1".to_owned(),
            format!("port {port}"),
            format!("username {USER}"),
            format!("password {USER}"),
            "loglevel 40".to_owned(),
            // Zero is no limit. The default is a message a second.
            "submit_throughput 0".to_owned(),
        ];
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        console.save(&lines).await?;
        console.run(&format!("smppccm -1 {id}")).await?;
        connectors.push(format!("smppc({id})"));
    }
    console
        .save(&["filter -a", "type transparentfilter", "fid all"])
        .await?;
    let connectors = format!("connectors {}", connectors.join(";"));
    let route = [
        "mtrouter -a",
        "type randomroundrobinmtroute",
        "order 10",
        "filters all",
        connectors.as_str(),
        "rate 0.0",
    ];
    console.save(&route).await?;
    console.save(&["group -a", "gid bench"]).await?;
    let user = [
        "user -a",
        "username bench",
        "password bench",
        "gid bench",
        "uid bench",
        "smpps_cred quota max_bindings 100",
    ];
    console.save(&user).await
}

impl Addresses {
    fn free() -> Result<Self> {
        Ok(Self {
            amqp: free_address()?,
            redis: free_address()?,
            smpp: free_address()?,
            smpp_users: free_address()?,
            clients: free_address()?,
            router: free_address()?,
            console: free_address()?,
            http: free_address()?,
            smsc: free_address()?,
        })
    }

    /// Returns the configuration, which all processes share.
    fn configuration(&self) -> Result<String> {
        let mut text = String::new();
        for (section, address) in [
            ("smpp-server", self.smpp),
            ("smpp-server-pb", self.smpp_users),
            ("client-management", self.clients),
            ("router", self.router),
            ("jcli", self.console),
            ("http-api", self.http),
        ] {
            let port = address.port();
            write!(text, "[{section}]\nbind = 127.0.0.1\nport = {port}\n")?;
            // The log has only errors: a line for each message would cost time in the comparison.
            writeln!(text, "authentication = False\nlog_level = ERROR")?;
        }
        let (amqp, redis) = (self.amqp.port(), self.redis.port());
        let spec = home().join("amqp.xml");
        let spec = spec
            .to_str()
            .context("the path of the repository is text")?;
        write!(
            text,
            "[amqp-broker]\nport = {amqp}\nspec = {spec}\nlog_level = ERROR\n\
             [redis-client]\nport = {redis}\nlog_level = ERROR\n\
             [smpp-server-pb-client]\nport = {}\n",
            self.smpp_users.port()
        )?;
        for section in [
            "service-smppclient",
            "sm-listener",
            "dlr",
            "deliversm-thrower",
            "dlr-thrower",
        ] {
            writeln!(text, "[{section}]\nlog_level = ERROR")?;
        }
        Ok(text)
    }
}
