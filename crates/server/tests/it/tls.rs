//! HTTPS where a certificate is configured, and nothing older than TLS 1.2 (interface-spec.md 1).

use crate::kit::http::{Answer, Request, ask_on, try_ask};
use crate::kit::{MTN, Ogene, Setup, to};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore, SupportedProtocolVersion};
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

struct Secured {
    ogene: Ogene,
    certificate: CertificateDer<'static>,
}

async fn secured() -> Secured {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let directory = tempfile::tempdir().expect("a directory");
    let (certificate, key) = (
        directory.path().join("c.pem"),
        directory.path().join("k.pem"),
    );
    std::fs::write(&certificate, cert.pem()).expect("written");
    std::fs::write(&key, signing_key.serialize_pem()).expect("written");
    let files = format!("{{ certificate = {certificate:?}, key = {key:?} }}");
    let ogene = Setup::new().set("http.tls", &files).start().await;
    Secured {
        ogene,
        certificate: cert.der().clone(),
    }
}

async fn ask(
    secured: &Secured,
    versions: &[&'static SupportedProtocolVersion],
    request: &Request,
) -> Answer {
    let mut roots = RootCertStore::empty();
    roots.add(secured.certificate.clone()).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(secured.ogene.address)
        .await
        .expect("a connection");
    let name = ServerName::try_from("localhost").expect("a name");
    let stream = TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
        .expect("TLS");
    ask_on(stream, request).await.expect("an answer")
}

/// What a server says to a `ClientHello` that offers nothing newer than `version`.
async fn hello(address: SocketAddr, version: u8) -> Vec<u8> {
    let mut body = vec![3, version];
    body.extend([7; 32]);
    body.push(0);
    // Two suites of that time, and no compression.
    body.extend([0, 4, 0xC0, 0x13, 0x00, 0x2F, 1, 0]);
    let length = u8::try_from(body.len()).expect("short");
    let mut record = vec![22, 3, 1, 0, length + 4, 1, 0, 0, length];
    record.extend(body);
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.write_all(&record).await.expect("written");
    let mut answer = Vec::new();
    // A reset after the alert is an answer too.
    let _ = stream.read_to_end(&mut answer).await;
    answer
}

#[tokio::test]
async fn https_is_served_with_tls_1_2_and_1_3() {
    let secured = secured().await;
    let token = secured.ogene.shop.token.clone();
    let versions = [&rustls::version::TLS12, &rustls::version::TLS13];
    for (number, version) in versions.into_iter().enumerate() {
        let request = Request::send(&token, &to(MTN, &format!("Text {number}")));
        let answer = ask(&secured, &[version], &request).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    secured.ogene.received(2).await;
    secured.ogene.end().await;
}

#[tokio::test]
async fn tls_1_1_and_plain_http_are_refused() {
    const ALERT: u8 = 21;
    let secured = secured().await;
    for version in [1, 2] {
        let answer = hello(secured.ogene.address, version).await;
        assert!(
            answer.first().is_none_or(|&kind| kind == ALERT),
            "{answer:?}"
        );
    }
    assert!(
        try_ask(secured.ogene.address, &Request::get("/healthz"))
            .await
            .is_err()
    );
    // Whoever speaks rightly is served afterwards.
    let answer = ask(&secured, rustls::ALL_VERSIONS, &Request::get("/healthz")).await;
    assert_eq!(answer.status, 200);
    secured.ogene.end().await;
}
