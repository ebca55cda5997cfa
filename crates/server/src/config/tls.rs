//! Certificates and keys from PEM files. They are read when the configuration is, so that a wrong one is a
//! fault with a key and a line.

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `http.tls`: PEM files, and what was read of them.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The certificate, with its chain.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Both.
    pub certified: Arc<CertifiedKey>,
}

impl Tls {
    /// Reads both files.
    ///
    /// # Errors
    /// Which file cannot be used, and why.
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

/// The certificates of a file by which a server is known, of which there is at least one.
///
/// # Errors
/// Why the file cannot be used.
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
