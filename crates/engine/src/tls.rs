//! TLS to carriers.

use crate::{CarrierSettings, StartError};
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

/// A connector for each carrier that is reached by TLS, in their order.
pub(crate) fn connectors(
    carriers: &[CarrierSettings],
) -> Result<Vec<Option<TlsConnector>>, StartError> {
    carriers
        .iter()
        .map(|carrier| carrier.tls.then(|| connector(carrier)).transpose())
        .collect()
}

fn connector(carrier: &CarrierSettings) -> Result<TlsConnector, StartError> {
    let fault = |reason: String| StartError::Tls {
        carrier: carrier.name.clone(),
        reason,
    };
    let mut roots = RootCertStore::empty();
    match &carrier.tls_ca {
        Some(path) => {
            let certificates = CertificateDer::pem_file_iter(path)
                .map_err(|error| fault(format!("{} cannot be read: {error}", path.display())))?;
            for certificate in certificates {
                let certificate = certificate.map_err(|error| fault(error.to_string()))?;
                roots
                    .add(certificate)
                    .map_err(|error| fault(error.to_string()))?;
            }
        }
        None => {
            // A certificate of the system that cannot be used is passed over.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err(fault(
            "no certificate authority is known; set `tls_ca`".to_owned(),
        ));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| fault(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
