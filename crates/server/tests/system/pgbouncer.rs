//! Debian's pgbouncer before a test's own PostgreSQL.

use crate::customer::wait_until;
use crate::postgres::Postgres;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// PostgreSQL's port and pgbouncer's, which name their sockets.
const SERVER_PORT: u16 = 5432;
const POOL_PORT: u16 = 6432;
/// Connections of each pool.
const POOL_SIZE: usize = 60;

/// A pgbouncer on a socket beside that of its server, with a database for each mode. It ends with the test.
pub(super) struct Pgbouncer {
    child: Child,
    directory: PathBuf,
}

impl Pgbouncer {
    pub(super) fn start(server: &Postgres) -> Self {
        let directory = server.path();
        let users = directory.join("users.txt");
        fs::write(&users, "\"ogene\" \"\"\n").expect("written");
        let (home, users) = (directory.display(), users.display());
        let to = format!("host={home} port={SERVER_PORT} dbname=postgres");
        let settings = format!(
            "[databases]\nsession = {to} pool_mode=session\ntransaction = {to} pool_mode=transaction\n\
             [pgbouncer]\nlisten_addr =\nlisten_port = {POOL_PORT}\nunix_socket_dir = {home}\n\
             auth_type = trust\nauth_file = {users}\ndefault_pool_size = {POOL_SIZE}\n"
        );
        let file = directory.join("pgbouncer.ini");
        fs::write(&file, settings).expect("written");
        let mut command = Command::new("pgbouncer");
        if is_root() {
            command.args(["-u", "postgres"]);
        }
        let child = command
            .arg(file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("pgbouncer is installed");
        let socket = directory.join(format!(".s.PGSQL.{POOL_PORT}"));
        wait_until("pgbouncer listens", || socket.exists());
        let directory = directory.to_owned();
        Self { child, directory }
    }

    /// The database behind the pool of a mode.
    pub(super) fn url(&self, mode: &str) -> String {
        let directory = self.directory.display();
        format!("postgres://ogene@localhost:{POOL_PORT}/{mode}?host={directory}")
    }
}

impl Drop for Pgbouncer {
    fn drop(&mut self) {
        let killed = self.child.kill();
        let _ended = killed.and_then(|()| self.child.wait());
    }
}

/// pgbouncer refuses to run as root.
fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id is there");
    id.stdout.trim_ascii() == b"0"
}
