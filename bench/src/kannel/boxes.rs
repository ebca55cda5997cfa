//! Kannel's two processes and its SMSC, in a directory that is removed with them.

use crate::comparison::{binds, listens};
use crate::process::{Process, Usage};
use crate::site::{Setup, free_address, start_smsc};
use anyhow::Result;
use serde_json::Value;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The user and password of `sendsms`, as a part of its query.
pub(super) const USER: &str = "username=bench&password=bench";

/// Fields are dropped in this order.
pub(super) struct Boxes {
    smsbox: Process,
    bearerbox: Process,
    smsc: Process,
    _dir: TempDir,
    /// The address of `sendsms`.
    pub(super) http: SocketAddr,
}

/// The ports of the parts.
struct Ports {
    admin: SocketAddr,
    smsbox: SocketAddr,
    sendsms: SocketAddr,
    smsc: SocketAddr,
}

impl Boxes {
    /// Starts all processes, and waits until all connections to the SMSC are bound.
    pub(super) async fn start(setup: &Setup) -> Result<Self> {
        let dir = tempfile::Builder::new()
            .prefix("bench-")
            .tempdir_in(&setup.target)?;
        let ports = Ports {
            admin: free_address()?,
            smsbox: free_address()?,
            sendsms: free_address()?,
            smsc: free_address()?,
        };
        fs::create_dir(dir.path().join("spool"))?;
        let file = dir.path().join("kannel.conf");
        fs::write(&file, configuration(setup, &ports, dir.path()))?;
        let smsc = start_smsc(setup, ports.smsc, dir.path()).await?;
        let start = |name: &'static str| {
            let mut command = Command::new(format!("/usr/sbin/{name}"));
            // The log has only warnings: a line for each message would cost time in the comparison.
            command.args(["-v", "2"]).arg(&file).current_dir(dir.path());
            Process::start(name, &mut command, dir.path())
        };
        let mut bearerbox = start("bearerbox")?;
        listens(ports.smsbox).await.or_else(|error| {
            bearerbox.check()?;
            Err(error)
        })?;
        let mut smsbox = start("smsbox")?;
        listens(ports.sendsms).await.or_else(|error| {
            smsbox.check()?;
            Err(error)
        })?;
        binds(&smsc, setup.binds.into()).await?;
        Ok(Self {
            smsbox,
            bearerbox,
            smsc,
            _dir: dir,
            http: ports.sendsms,
        })
    }

    /// Returns the usage of both processes since their start.
    pub(super) fn usage(&self) -> Result<Usage> {
        let mut all = self.bearerbox.usage()?;
        all.add(self.smsbox.usage()?);
        Ok(all)
    }

    /// Ends all processes. Returns the counts of the SMSC.
    pub(super) async fn stop(self) -> Result<Value> {
        // Kannel ends slowly, and its end is not measured.
        self.smsbox.kill()?;
        self.bearerbox.kill()?;
        Ok(serde_json::from_str(&self.smsc.stop().await?.0)?)
    }
}

fn configuration(setup: &Setup, ports: &Ports, dir: &Path) -> String {
    let Ports {
        admin,
        smsbox,
        sendsms,
        smsc,
    } = ports;
    format!(
        r#"group = core
admin-port = {admin_port}
admin-interface = "127.0.0.1"
admin-password = bench
smsbox-port = {smsbox_port}
smsbox-interface = "127.0.0.1"
log-level = 2
store-type = spool
store-location = "{spool}"
dlr-storage = internal

group = smsc
smsc = smpp
smsc-id = bench
host = "127.0.0.1"
port = {smsc_port}
smsc-username = bench
smsc-password = bench
system-type = ""
transceiver-mode = true
instances = {binds}
max-pending-submits = {window}

group = smsbox
bearerbox-host = "127.0.0.1"
sendsms-port = {sendsms_port}
sendsms-interface = "127.0.0.1"
log-level = 2

group = sendsms-user
username = bench
password = bench
concatenation = true
max-messages = 10
"#,
        admin_port = admin.port(),
        smsbox_port = smsbox.port(),
        sendsms_port = sendsms.port(),
        smsc_port = smsc.port(),
        spool = dir.join("spool").display(),
        binds = setup.binds,
        window = setup.window,
    )
}
