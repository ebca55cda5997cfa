//! Certificates and keys from PEM files. They are read with the configuration, so that a fault of a
//! file has a key and a line.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `http.tls`: the PEM files and their content.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate, with its chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// The certificate and key, as read.
    pub certified: Arc<CertifiedKey>,
}

impl Tls {
    /// Reads both files.
    ///
    /// # Errors
    /// A file cannot be used, for this reason.
    pub fn read(certificate: PathBuf, key: PathBuf) -> Result<Self, String> {
        let chain = certificates(&certificate)?;
        let private = PrivateKeyDer::from_pem_file(&key).map_err(|error| fault(&key, error))?;
        let provider = rustls::crypto::ring::default_provider();
        let certified = CertifiedKey::from_der(chain, private, &provider)
            .map_err(|error| fault(&certificate, error))?;
        Ok(Self {
            certificate,
            key,
            certified: Arc::new(certified),
        })
    }
}

/// Reads the certificates of a file by which a server is trusted. There is at least one.
///
/// # Errors
/// The file cannot be used, for this reason.
pub(super) fn authorities(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let all = certificates(file)?;
    database::trust(&all).map_err(|error| fault(file, error))?;
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
