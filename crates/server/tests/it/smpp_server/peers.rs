//! Real clients of other projects. `./test` or `tests/peers/install` installs them.

use super::start;
use crate::kit::esme::User;
use crate::kit::{Setup, until};
use engine::operators::NewSmppUser;
use smpp::esm_class;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
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
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let ids = ids_of(program, script, (address, &user)).await;
    assert_eq!(ogene.outcome(ids.trim()).await, ["delivrd"]);
    let received = ogene.received(1).await;
    assert_eq!(&received[0].submit.short_message[..], b"Kedu?");
    ogene.end().await;
}

/// Runs a client that submits two parts of a text and waits for the receipt of each. It prints the
/// ids.
async fn submits_parts(program: &str, script: &str) {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let ids = ids_of(program, script, (address, &user)).await;
    let ids: Vec<&str> = ids.lines().collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    for id in ids {
        assert_eq!(ogene.outcome(id).await, ["delivrd"]);
    }
    let received = ogene.received(2).await;
    for one in &received {
        assert_eq!(one.submit.esm_class, esm_class::UDHI);
        assert_eq!(&one.submit.short_message[..3], [5, 0, 3]);
    }
    let mut parts: Vec<u8> = received
        .iter()
        .map(|one| one.submit.short_message[5])
        .collect();
    parts.sort_unstable();
    assert_eq!(parts, [1, 2]);
    assert_eq!(ogene.total().await.to_string(), "988", "a page each");
    ogene.end().await;
}

/// Runs a client. Returns the ids that it prints.
async fn ids_of(program: &str, script: &str, (address, user): (SocketAddr, &User)) -> String {
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
    String::from_utf8(output.stdout).expect("text")
}

#[tokio::test]
async fn a_client_of_node_submits() {
    testkit::needs!(Peers);
    submits("node", "submit.js").await;
}

#[tokio::test]
async fn a_client_of_python_submits() {
    testkit::needs!(Peers);
    submits("python3", "submit.py").await;
}

#[tokio::test]
async fn a_client_of_node_submits_parts_and_gets_their_receipts() {
    testkit::needs!(Peers);
    submits_parts("node", "parts.js").await;
}

#[tokio::test]
async fn a_client_of_python_submits_parts_and_gets_their_receipts() {
    testkit::needs!(Peers);
    submits_parts("python3", "parts.py").await;
}

#[tokio::test]
async fn a_client_of_perl_submits() {
    testkit::needs!(NetSmpp);
    submits("perl", "submit.pl").await;
}

/// The programs of Kannel, which end with the test.
struct Kannel(Vec<Child>);

impl Kannel {
    fn start(directory: &Path, program: &str) -> Child {
        let log = std::fs::File::create(directory.join(program)).expect("a log");
        Command::new(program)
            .arg(directory.join("kannel.conf"))
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("it starts")
    }
}

impl Drop for Kannel {
    fn drop(&mut self) {
        for program in self.0.iter_mut().rev() {
            // It may have ended by itself.
            let _ = program.kill();
            let _ = program.wait();
        }
    }
}

/// Returns ports that were free a moment ago, as Kannel takes no port 0.
fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    let listeners: [std::net::TcpListener; COUNT] =
        std::array::from_fn(|_| std::net::TcpListener::bind("127.0.0.1:0").expect("a port"));
    listeners.map(|listener| listener.local_addr().expect("an address").port())
}

/// Asks Kannel by its HTTP interface. Returns `None` if it does not accept the text yet.
async fn send_by_kannel(port: u16, query: &str) -> Option<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let request = format!("GET /cgi-bin/sendsms?{query} HTTP/1.0\r\n\r\n");
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    answer.contains("Accepted for delivery").then_some(())
}

/// Kannel asks the URL once it has matched a receipt with its message.
#[tokio::test]
async fn kannel_submits_and_matches_the_receipt() {
    testkit::needs!(Kannel);
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let directory = tempfile::tempdir().expect("a directory");
    let [admin, boxes, sends] = free_ports();
    let template = std::fs::read_to_string(root().join("tests/peers/kannel.conf"));
    let mut config = template.expect("a template");
    for (word, value) in [
        ("ADMIN", admin.to_string()),
        ("BOXES", boxes.to_string()),
        ("SENDS", sends.to_string()),
        ("HOST", address.ip().to_string()),
        ("PORT", address.port().to_string()),
        ("SYSTEM_ID", user.user.system_id.clone()),
        ("PASSWORD", user.password.clone()),
    ] {
        config = config.replace(&format!("= {word}\n"), &format!("= {value}\n"));
    }
    std::fs::write(directory.path().join("kannel.conf"), config).expect("written");
    let bearerbox = Kannel::start(directory.path(), "bearerbox");
    let mut kannel = Kannel(vec![bearerbox]);
    until("the bearerbox is bound", async || {
        let labels = [user.user.system_id.as_str()];
        (ogene.metric("ogene_smpp_binds{", &labels).await == 1).then_some(())
    })
    .await;
    let smsbox = Kannel::start(directory.path(), "smsbox");
    kannel.0.push(smsbox);
    let receipts = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = receipts.local_addr().expect("an address");
    let query = format!(
        "username=ogene&password=ogene&from={}&to={}&text=Kedu%3F&dlr-mask=3\
         &dlr-url=http%3A%2F%2F{}%3A{}%2F%3Fstate%3D%25d",
        crate::kit::SENDER,
        crate::kit::MTN,
        url.ip(),
        url.port()
    );
    until("Kannel accepts the text", async || {
        send_by_kannel(sends, &query).await
    })
    .await;
    let received = ogene.received(1).await;
    assert_eq!(&received[0].submit.short_message[..], b"Kedu?");
    let (mut stream, _) = receipts.accept().await.expect("Kannel asks");
    let mut asked = [0; 14];
    stream.read_exact(&mut asked).await.expect("a request");
    assert_eq!(&asked, b"GET /?state=1 ", "delivered");
    let answer = b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n";
    stream.write_all(answer).await.expect("answered");
    drop(kannel);
    ogene.end().await;
}
