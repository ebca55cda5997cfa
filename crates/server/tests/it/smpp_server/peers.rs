//! Real clients of other projects. `./test` or `tests/peers/install` installs them.

use super::start;
use crate::kit::Setup;
use engine::operators::NewSmppUser;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tokio::task::spawn_blocking;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the folder of the installed peers: `OGENE_PEERS`, or `target/peers`.
fn peers() -> PathBuf {
    let installed = std::env::var_os("OGENE_PEERS").map(PathBuf::from);
    installed.unwrap_or_else(|| root().join("target/peers"))
}

/// Runs a client that submits one text, waits for its receipt, asks for its state and unbinds. It
/// prints the id.
async fn submits(program: &str, script: &str) {
    testkit::needs!(Peers);
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut client = Command::new(program);
    client
        .arg(root().join("tests/peers").join(script))
        .args([address.ip().to_string(), address.port().to_string()])
        .args([&user.user.system_id, &user.password])
        .args([crate::kit::SENDER, crate::kit::MTN])
        .env("NODE_PATH", peers().join("node_modules"))
        .env("PYTHONPATH", peers().join("python"))
        .stdin(Stdio::null());
    let output = spawn_blocking(move || client.output()).await;
    let output = output.expect("no panic").expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {errors}");
    let id = String::from_utf8(output.stdout).expect("text");
    assert_eq!(ogene.outcome(id.trim()).await, ["delivrd"]);
    let received = ogene.received(1).await;
    assert_eq!(&received[0].submit.short_message[..], b"Kedu?");
    ogene.end().await;
}

#[tokio::test]
async fn a_client_of_node_submits() {
    submits("node", "submit.js").await;
}

#[tokio::test]
async fn a_client_of_python_submits() {
    submits("python3", "submit.py").await;
}
