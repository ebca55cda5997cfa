//! A test's own PostgreSQL, which the test configures, stops and starts.

use rcgen::{CertificateParams, KeyPair};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A server that ends with the test.
pub(super) struct Postgres(TempDir);

impl Postgres {
    /// Starts a server on a socket alone. A setting is `name=value`.
    pub(super) fn start(settings: &[&str]) -> Self {
        let server = Self(tempfile::tempdir().expect("a directory"));
        assert_done(&server.script("start", settings));
        server
    }

    /// Starts a server that also listens on loopback, requires TLS there, and admits as `rules`
    /// state. Returns its port.
    pub(super) fn start_with_tls(rules: &str) -> (Self, u16) {
        let params = CertificateParams::new(["127.0.0.1".to_owned()]);
        Self::start_with_certificate(rules, &params.expect("parameters"))
    }

    /// Starts the same with a self-signed certificate of this form.
    pub(super) fn start_with_certificate(rules: &str, params: &CertificateParams) -> (Self, u16) {
        const TRIES: usize = 5;
        for _ in 0..TRIES {
            let server = Self(tempfile::tempdir().expect("a directory"));
            // PostgreSQL accepts no port 0, and another process may take the free port first.
            let free = TcpListener::bind("127.0.0.1:0").expect("a port");
            let port = free.local_addr().expect("an address").port();
            drop(free);
            let (certificate, key, admission) = (
                server.certificate(),
                server.path().join("key.pem"),
                server.path().join("admission"),
            );
            let pair = KeyPair::generate().expect("a key");
            let own = params.self_signed(&pair).expect("a certificate");
            fs::write(&certificate, own.pem()).expect("written");
            fs::write(&key, pair.serialize_pem()).expect("written");
            private(&key);
            fs::write(&admission, rules).expect("written");
            let settings = [
                "listen_addresses=127.0.0.1".to_owned(),
                format!("port={port}"),
                "ssl=on".to_owned(),
                format!("ssl_cert_file={}", certificate.display()),
                format!("ssl_key_file={}", key.display()),
                format!("ssl_ca_file={}", certificate.display()),
                format!("hba_file={}", admission.display()),
            ];
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            if server.script("start", &settings).status.success() {
                return (server, port);
            }
        }
        panic!("{TRIES} ports were taken");
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns its self-signed certificate.
    pub(super) fn certificate(&self) -> PathBuf {
        self.path().join("certificate.pem")
    }

    /// Returns the URL of its socket, for a role and a database on a port.
    pub(super) fn url(&self, role: &str, database: &str, port: u16) -> String {
        let directory = self.path().display();
        format!("postgres://{role}@localhost:{port}/{database}?host={directory}")
    }

    /// Stops it in order, and starts it again.
    pub(super) fn restart(&self) {
        self.act("stop");
        self.act("restart");
    }

    /// Stops or starts the server with the script.
    pub(super) fn act(&self, action: &str) {
        assert_done(&self.script(action, &[]));
    }

    fn script(&self, action: &str, settings: &[&str]) -> Output {
        Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/postgres"))
            .arg(action)
            .arg(self.path())
            .args(settings)
            .output()
            .expect("the script is there")
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A server that never started cannot be stopped.
        self.script("crash", &[]);
    }
}

fn assert_done(output: &Output) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
}

/// PostgreSQL refuses a key that others may read.
fn private(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o600)).expect("set");
}
