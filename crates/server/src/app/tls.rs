//! HTTPS: certificate and key from PEM files.

use super::Error;
use crate::config::TlsFiles;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;

/// TLS 1.2 and 1.3 with the certificate of `files`.
pub(super) fn server(files: &TlsFiles) -> Result<ServerConfig, Error> {
    let chain = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| fault(&files.certificate, error))?;
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| fault(&files.key, error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| fault(&files.certificate, error))
}

fn fault(file: &Path, error: impl std::fmt::Display) -> Error {
    Error::Tls(format!("{}: {error}", file.display()))
}
