//! SMPP over TLS and behind proxies.

use super::start;
use crate::kit::Setup;
use crate::kit::esme::{Esme, User, message, own_address};
use engine::operators::NewSmppUser;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use smpp::codec::{BindFields, Pdu, encode};
use smpp::{BindKind, Command, CommandStatus};
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command as Program, Stdio};
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tokio_rustls::TlsConnector;

/// Writes a certificate and its key. Returns the setting that names them.
fn certificate(directory: &Path) -> String {
    let names = ["localhost".to_owned()];
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(names).expect("a certificate");
    let [certificate, key] = ["c.pem", "k.pem"].map(|name| directory.join(name));
    std::fs::write(&certificate, cert.pem()).expect("written");
    std::fs::write(&key, signing_key.serialize_pem()).expect("written");
    format!("{{ certificate = {certificate:?}, key = {key:?} }}")
}

/// Asks by `openssl s_client`, which verifies the certificate. Returns the command and status of
/// each answer.
fn ask_over_tls(
    address: SocketAddr,
    directory: &Path,
    requests: &[Vec<u8>],
) -> Vec<(Command, CommandStatus)> {
    let mut client = Program::new("openssl")
        .args(["s_client", "-quiet", "-verify_return_error"])
        .args(["-verify_hostname", "localhost", "-connect"])
        .arg(address.to_string())
        .arg("-CAfile")
        .arg(directory.join("c.pem"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let input = client.stdin.as_mut().expect("its input");
    let output = client.stdout.as_mut().expect("its output");
    let mut answers = Vec::new();
    for request in requests {
        input.write_all(request).expect("written");
        input.flush().expect("written");
        let mut head = [0; 16];
        output.read_exact(&mut head).expect("an answer");
        let [length, command, status, _] = *head.as_chunks::<4>().0 else {
            unreachable!()
        };
        let mut body = vec![0; u32::from_be_bytes(length) as usize - head.len()];
        output.read_exact(&mut body).expect("its body");
        let status = CommandStatus(u32::from_be_bytes(status));
        answers.push((Command(u32::from_be_bytes(command)), status));
    }
    client.kill().expect("it runs");
    client.wait().expect("it has run");
    answers
}

fn octets(sequence: u32, pdu: &Pdu<'_>) -> Vec<u8> {
    let mut octets = Vec::new();
    encode(&mut octets, CommandStatus::ROK, sequence, pdu).expect("it can be encoded");
    octets
}

fn bind(user: &User) -> Pdu<'_> {
    Pdu::Bind(
        BindKind::Transmitter,
        BindFields {
            system_id: user.user.system_id.as_bytes(),
            password: user.password.as_bytes(),
            interface_version: 0x34,
            ..BindFields::default()
        },
    )
}

#[tokio::test]
async fn a_client_binds_and_submits_over_tls() {
    testkit::needs!(Openssl);
    let directory = tempfile::tempdir().expect("a directory");
    let address = own_address();
    let setup = Setup::new().set("smpp_server.tls", &certificate(directory.path()));
    let setup = setup.set("smpp_server.tls_listen", &format!("\"{address}\""));
    let (ogene, plain, user) = start(setup, NewSmppUser::default()).await;
    let requests = [
        octets(1, &bind(&user)),
        octets(2, &Pdu::Submit(message(b"over TLS"))),
        octets(3, &Pdu::Unbind),
    ];
    let folder = directory.path().to_owned();
    let asking = spawn_blocking(move || ask_over_tls(address, &folder, &requests));
    let answers = asking.await.expect("no panic");
    let commands = [
        BindKind::Transmitter.command(),
        Command::SUBMIT_SM,
        Command::UNBIND,
    ];
    let expected = commands.map(|command| (command.response(), CommandStatus::ROK));
    assert_eq!(answers, expected);
    ogene.received(1).await;
    // Neither address takes what the other one does.
    let mut esme = Esme::connect(address).await;
    esme.write(&bind(&user)).await;
    esme.ended().await;
    // A client that never ends its handshake is disconnected.
    Esme::connect(address).await.ended().await;
    let mut esme = Esme::bound(plain, BindKind::Transmitter, &user).await;
    esme.submit(message(b"without TLS")).await.message_id();
    ogene.end().await;
}

/// Returns a client of TLS that trusts the certificate of a folder.
fn trusting(directory: &Path) -> TlsConnector {
    let pem = std::fs::read(directory.join("c.pem")).expect("a certificate");
    let certificate = CertificateDer::from_pem_slice(&pem).expect("a certificate");
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
}

/// Writes a header, binds over TLS, and returns the status of the answer.
async fn bind_behind(
    address: SocketAddr,
    header: &[u8],
    tls: &TlsConnector,
    user: &User,
) -> CommandStatus {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(header).await.expect("written");
    let name = ServerName::try_from("localhost").expect("a name");
    let mut stream = tls.connect(name, stream).await.expect("a handshake");
    stream
        .write_all(&octets(1, &bind(user)))
        .await
        .expect("written");
    let mut head = [0; 16];
    stream.read_exact(&mut head).await.expect("an answer");
    let [.., status, _] = *head.as_chunks::<4>().0 else {
        unreachable!()
    };
    CommandStatus(u32::from_be_bytes(status))
}

#[tokio::test]
async fn a_proxy_header_comes_before_tls() {
    let elsewhere = NewSmppUser {
        allowed: "203.0.113.0/24".parse().expect("a range"),
        ..NewSmppUser::default()
    };
    let directory = tempfile::tempdir().expect("a directory");
    let address = own_address();
    let setup = Setup::new()
        .set("http.trusted_proxies", r#"["127.0.0.0/8"]"#)
        .set("smpp_server.tls", &certificate(directory.path()))
        .set("smpp_server.tls_listen", &format!("\"{address}\""));
    let (ogene, _, user) = start(setup, elsewhere).await;
    let tls = trusting(directory.path());
    let version_2 = |last: u8| {
        let begin = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0C";
        let addresses = [203, 0, 113, last, 10, 0, 0, 1, 0, 1, 0, 2];
        [&begin[..], &addresses].concat()
    };
    for (header, status) in [
        (
            b"PROXY TCP4 203.0.113.9 10.0.0.1 4660 3550\r\n".to_vec(),
            CommandStatus::ROK,
        ),
        (version_2(7), CommandStatus::ROK),
        (
            b"PROXY TCP4 198.51.100.9 10.0.0.1 4660 3550\r\n".to_vec(),
            CommandStatus::RINVPASWD,
        ),
        (Vec::new(), CommandStatus::RINVPASWD),
    ] {
        let found = bind_behind(address, &header, &tls, &user).await;
        assert_eq!(found, status, "{header:?}");
    }
    ogene.end().await;
}

#[tokio::test]
async fn a_trusted_proxy_names_the_address_of_its_client() {
    let elsewhere = || NewSmppUser {
        allowed: "203.0.113.0/24".parse().expect("a range"),
        ..NewSmppUser::default()
    };
    let setup = Setup::new().set("http.trusted_proxies", r#"["127.0.0.0/8"]"#);
    let (ogene, address, user) = start(setup, elsewhere()).await;
    let version_2 = |last: u8| {
        let begin = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0C";
        let addresses = [203, 0, 113, last, 10, 0, 0, 1, 0, 1, 0, 2];
        [&begin[..], &addresses].concat()
    };
    let version_1 = b"PROXY TCP4 203.0.113.9 10.0.0.1 4660 2776\r\n".to_vec();
    for header in [version_1, version_2(7)] {
        let mut esme = Esme::connect(address).await;
        // The header may come in pieces.
        for octet in &header {
            esme.write_octets(&[*octet]).await;
        }
        let answer = esme.bind(BindKind::Transmitter, &user, 0x34).await;
        assert_eq!(answer.status, CommandStatus::ROK, "{header:?}");
        esme.submit(message(b"hi")).await.message_id();
    }
    let other = b"PROXY TCP4 198.51.100.9 10.0.0.1 4660 2776\r\n";
    for header in [&other[..], b"", b"PROXY UNKNOWN\r\n"] {
        let mut esme = Esme::connect(address).await;
        esme.write_octets(header).await;
        let answer = esme.bind(BindKind::Transmitter, &user, 0x34).await;
        assert_eq!(answer.status, CommandStatus::RINVPASWD, "{header:?}");
    }
    let endless = [&b"PROXY UNKNOWN "[..], &[b'x'; 200]].concat();
    let too_long = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xFF\xFF";
    for header in [&b"PROXY TCP4 nowhere\r\n"[..], &endless, too_long] {
        let mut broken = Esme::connect(address).await;
        broken.write_octets(header).await;
        assert!(broken.read().await.is_none(), "the server closes");
    }
    ogene.end().await;
}

#[tokio::test]
async fn another_address_cannot_name_a_client() {
    let (ogene, address, user) = start(Setup::new(), NewSmppUser::default()).await;
    let mut esme = Esme::connect(address).await;
    esme.write_octets(b"PROXY TCP4 203.0.113.9 10.0.0.1 4660 2776\r\n")
        .await;
    let answer = esme.read().await.expect("a nack");
    assert_eq!(answer.command, Command::GENERIC_NACK);
    assert!(esme.read().await.is_none(), "the server closes");
    Esme::bound(address, BindKind::Transmitter, &user).await;
    ogene.end().await;
}
