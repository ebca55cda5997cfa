//! Certificates and keys from PEM files. They are read when the configuration is, so that a wrong one is a
//! fault with a key and a line.

use super::sections::TlsFiles;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// TLS 1.2 and 1.3 with the certificate and key of `files`.
///
/// # Errors
/// Which file cannot be used, and why.
pub(super) fn server(files: &TlsFiles) -> Result<ServerConfig, String> {
    let chain = certificates(&files.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| fault(&files.key, error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| fault(&files.certificate, error))
}

/// The certificates of a file by which a server is known, of which there is at least one.
///
/// # Errors
/// Why the file cannot be used.
pub(super) fn authorities(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let all = certificates(file)?;
    store::trust(&all).map_err(|error| fault(file, error))?;
    Ok(all)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Vec<_> = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect)
        .map_err(|error| fault(file, error))?;
    if all.is_empty() {
        return Err(fault(file, "holds no certificate"));
    }
    Ok(all)
}

fn fault(file: &Path, error: impl Display) -> String {
    format!("{} cannot be used: {error}", file.display())
}
