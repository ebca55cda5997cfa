//! HTTPS if a certificate is configured, with TLS 1.2 or newer (docs/spec/interface.md, section 2).

use crate::kit::http::{Answer, Request, ask_on, try_ask};
use crate::kit::{MTN, Ogene, Setup, to, until};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedKey, IsCa, KeyPair, generate_simple_self_signed,
};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig, SupportedProtocolVersion};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

struct Secured {
    ogene: Ogene,
    certificate: CertificateDer<'static>,
    directory: TempDir,
}

impl Secured {
    /// Replaces the file of the served certificate.
    fn write(&self, certificate: &str, key: &str) {
        let file = |name| self.directory.path().join(name);
        std::fs::write(file("c.pem"), certificate).expect("written");
        std::fs::write(file("k.pem"), key).expect("written");
    }

    /// Returns the certificate that a new connection gets.
    async fn shown(&self) -> CertificateDer<'static> {
        let stream = connect(self, rustls::ALL_VERSIONS).await;
        let (_, session) = stream.get_ref();
        let shown = session.peer_certificates().expect("a certificate");
        shown[0].clone().into_owned()
    }
}

/// Returns a client that trusts any of these certificates.
fn trusting(
    certificates: &[&CertificateDer<'static>],
    versions: &[&'static SupportedProtocolVersion],
) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    for &certificate in certificates {
        roots.add(certificate.clone()).expect("a root");
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    TlsConnector::from(Arc::new(config))
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
        directory,
    }
}

async fn connect(
    secured: &Secured,
    versions: &[&'static SupportedProtocolVersion],
) -> TlsStream<TcpStream> {
    let stream = TcpStream::connect(secured.ogene.address)
        .await
        .expect("a connection");
    let name = ServerName::try_from("localhost").expect("a name");
    trusting(&[&secured.certificate], versions)
        .connect(name, stream)
        .await
        .expect("TLS")
}

async fn ask(
    secured: &Secured,
    versions: &[&'static SupportedProtocolVersion],
    request: &Request,
) -> Answer {
    let stream = connect(secured, versions).await;
    ask_on(stream, request).await.expect("an answer")
}

/// Returns the answer of a server to a `ClientHello` that offers nothing newer than `version`.
async fn hello(address: SocketAddr, version: u8) -> Vec<u8> {
    let mut body = vec![3, version];
    body.extend([7; 32]);
    body.push(0);
    // The client offers two suites of that time, and no compression.
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
    // A correct client is served afterwards.
    let answer = ask(&secured, rustls::ALL_VERSIONS, &Request::get("/healthz")).await;
    assert_eq!(answer.status, 200);
    secured.ogene.end().await;
}

/// A certificate with its key, signed by an authority, both as PEM.
struct Renewing {
    authority: rcgen::Issuer<'static, KeyPair>,
    root: CertificateDer<'static>,
}

impl Renewing {
    fn new() -> Self {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("parameters");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = params
            .self_signed(&key)
            .expect("a certificate")
            .der()
            .clone();
        Self {
            authority: rcgen::Issuer::new(params, key),
            root,
        }
    }

    fn certificate(&self) -> (String, String, CertificateDer<'static>) {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
        let signed = params.signed_by(&key, &self.authority).expect("signed");
        (signed.pem(), key.serialize_pem(), signed.der().clone())
    }
}

#[tokio::test]
async fn a_renewed_certificate_is_served_without_a_restart() {
    let renewing = Renewing::new();
    let mut secured = secured().await;
    secured.certificate = renewing.root.clone();
    let mut served = Vec::new();
    for _ in 0..2 {
        let (certificate, key, der) = renewing.certificate();
        secured.write(&certificate, &key);
        until_shown(&secured, &der).await;
        served.push(der);
    }
    assert_ne!(served[0], served[1]);

    secured.write("broken", "");
    // A reload refuses the file as well, which changes nothing.
    secured.ogene.reload(&[]).await;
    secured.ogene.reload(&[]).await;
    assert_eq!(secured.shown().await, served[1]);
    let (certificate, key, der) = renewing.certificate();
    secured.write(&certificate, &key);
    secured.ogene.reload(&[]).await;
    until_shown(&secured, &der).await;
    secured.ogene.end().await;
}

async fn until_shown(secured: &Secured, certificate: &CertificateDer<'static>) {
    until("the certificate is served", async || {
        let stream = TcpStream::connect(secured.ogene.address).await.ok()?;
        let name = ServerName::try_from("localhost").expect("a name");
        let connector = trusting(&[&secured.certificate], rustls::ALL_VERSIONS);
        // The first certificate is of another authority.
        let stream = connector.connect(name, stream).await.ok()?;
        let shown = stream.get_ref().1.peer_certificates()?.first()?.clone();
        (shown == *certificate).then_some(())
    })
    .await;
}

/// Starts a TLS proxy before a server. Its certificate is one of an authority, as `openssl req -x509`
/// makes it, or of a server. Returns the certificate as PEM, and the address.
pub(crate) async fn tls_before(server: SocketAddr, is_authority: bool) -> (String, SocketAddr) {
    slow_tls_before(server, is_authority, &Arc::default()).await
}

/// Starts a TLS proxy that waits for so many milliseconds before each handshake.
pub(crate) async fn slow_tls_before(
    server: SocketAddr,
    is_authority: bool,
    delay_ms: &Arc<AtomicU64>,
) -> (String, SocketAddr) {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
    if is_authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    let certificate = params.self_signed(&key).expect("a certificate");
    let private = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .expect("a pair");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let delay_ms = Arc::clone(delay_ms);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            let delay = Duration::from_millis(delay_ms.load(Ordering::Relaxed));
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                let mut theirs = acceptor.accept(stream).await?;
                let mut ours = TcpStream::connect(server).await?;
                tokio::io::copy_bidirectional(&mut theirs, &mut ours).await
            });
        }
    });
    (certificate.pem(), address)
}

#[tokio::test]
async fn a_carriers_self_signed_certificate_in_tls_ca_is_trusted() {
    let mut ogene = Setup::new().start().await;
    ogene.bound("mtn", 2).await;
    let (certificate, address) = tls_before(ogene.smsc().address(), true).await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("carrier.pem");
    std::fs::write(&file, certificate).expect("written");
    let (address, file) = (
        format!("\"localhost:{}\"", address.port()),
        format!("{file:?}"),
    );
    ogene
        .reload(&[
            ("carriers.mtn.address", &address),
            ("carriers.mtn.tls", "true"),
            ("carriers.mtn.tls_ca", &file),
        ])
        .await;
    ogene.bound("mtn", 4).await;
    let id = ogene.sent_id(to(MTN, "By TLS")).await;
    assert_eq!(ogene.outcome(&id).await, ["delivrd"]);
    ogene.end().await;
}
