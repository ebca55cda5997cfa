//! TLS to carriers.

use crate::error::StartError;
use crate::settings::CarrierSettings;
use std::fmt::Display;
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

/// Returns the TLS connector of a carrier, or `None` if it uses plain TCP.
pub(crate) fn connector(carrier: &CarrierSettings) -> Result<Option<TlsConnector>, StartError> {
    let fault = |reason: &dyn Display| StartError::Tls {
        carrier: carrier.name.clone(),
        reason: reason.to_string(),
    };
    if !carrier.uses_tls() {
        return Ok(None);
    }
    let mut named = carrier.tls_ca.clone();
    if named.is_empty() {
        named = rustls_native_certs::load_native_certs().certs;
        // Unusable certificates of the system are ignored.
        named.retain(|certificate| RootCertStore::empty().add(certificate.clone()).is_ok());
    }
    if named.is_empty() {
        return Err(fault(&"no certificate authority is known; set `tls_ca`"));
    }
    let trust = database::trust(&named).map_err(|error| fault(&error))?;
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| fault(&error))?
        .dangerous()
        .with_custom_certificate_verifier(trust)
        .with_no_client_auth();
    Ok(Some(TlsConnector::from(Arc::new(config))))
}
