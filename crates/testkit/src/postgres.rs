//! The PostgreSQL server that the tests of a process share.

use crate::root::root;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The server's URL, or the reason why there is none.
static SERVER: OnceLock<Result<String, String>> = OnceLock::new();

/// Returns the URL of the PostgreSQL server: that of `OGENE_TEST_POSTGRES`, or of one that ends
/// with this process.
#[must_use]
pub fn postgres_url() -> String {
    match server() {
        Ok(url) => url.clone(),
        Err(reason) => panic!("{reason}: begin the test with needs!(Postgres)"),
    }
}

pub(crate) fn obstacle() -> Option<String> {
    server().as_ref().err().cloned()
}

pub(crate) fn is_installed() -> bool {
    fs::read_dir("/usr/lib/postgresql").is_ok_and(|versions| {
        versions
            .filter_map(Result::ok)
            .any(|version| version.path().join("bin/initdb").is_file())
    })
}

fn server() -> &'static Result<String, String> {
    SERVER.get_or_init(|| match std::env::var("OGENE_TEST_POSTGRES") {
        Ok(url) => Ok(url),
        Err(_) if is_installed() => start(),
        Err(_) => Err("PostgreSQL is not installed and OGENE_TEST_POSTGRES names no server".into()),
    })
}

/// Starts a server. A shell waits for the end of its input, which is the end of this process, and ends the server.
fn start() -> Result<String, String> {
    let name = format!("ogene-test-postgres-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    let script = root().join("tests/postgres");
    let failed = |error: &dyn std::fmt::Display| format!("PostgreSQL did not start: {error}");
    let output = Command::new(&script).arg("start").arg(&directory).output();
    let output = output.map_err(|error| failed(&error))?;
    if !output.status.success() {
        return Err(failed(&String::from_utf8_lossy(&output.stderr)));
    }
    end_with_this_process(&script, &directory).map_err(|error| failed(&error))?;
    let url = String::from_utf8_lossy(&output.stdout);
    Ok(url.trim().to_owned())
}

fn end_with_this_process(script: &Path, directory: &Path) -> std::io::Result<()> {
    let watcher = Command::new("sh")
        .args([
            "-c",
            r#"trap "" INT HUP; cat; "$1" crash "$2"; rm -rf "$2""#,
            "sh",
        ])
        .args([script, directory])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // Its input closes when this process ends, however it ends.
    std::mem::forget(watcher);
    Ok(())
}
