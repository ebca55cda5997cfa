//! Trust in the certificate of a server: signed by a named authority, or itself named.
//!
//! OpenSSL, and with it libpq, trusts any certificate in the file. This includes one of `openssl
//! req -x509`, which signs itself and may sign others. The `webpki` crate refuses an authority's
//! certificate as that of a server. Validity and name are checked in both cases.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};
use std::sync::Arc;

/// The reason why certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct TrustError(String);

/// Returns the verifier of a server's certificate that trusts these.
///
/// # Errors
/// A certificate cannot be used, or the list is empty.
pub fn trust(
    certificates: &[CertificateDer<'static>],
) -> Result<Arc<dyn ServerCertVerifier>, TrustError> {
    trust_with(certificates, Names::Checked)
}

/// The names for which the certificate of a server may be valid.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Names {
    /// The name by which the server is reached.
    Checked,
    /// Any name.
    Any,
}

/// Returns the same verifier, with the given check of names.
pub(crate) fn trust_with(
    certificates: &[CertificateDer<'static>],
    names: Names,
) -> Result<Arc<dyn ServerCertVerifier>, TrustError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates {
        let added = roots.add(certificate.clone());
        added.map_err(|error| TrustError(error.to_string()))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| TrustError(error.to_string()))?;
    Ok(Arc::new(Trust {
        signed,
        named: certificates.to_vec(),
        names,
    }))
}

#[derive(Debug)]
struct Trust {
    /// The verifier of certificates that an authority signed.
    signed: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
    names: Names,
}

/// Returns `true` if a certificate is refused for its signer, or for its right to sign. Its purpose
/// and validity are checked before that.
pub(crate) fn is_of_signer(error: &Error) -> bool {
    match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => true,
        Error::InvalidCertificate(CertificateError::Other(OtherError(cause))) => matches!(
            cause.downcast_ref::<webpki::Error>(),
            Some(webpki::Error::CaUsedAsEndEntity)
        ),
        _ => false,
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.signed.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match verified {
            Err(error) if is_of_signer(&error) && self.named.contains(end_entity) => {
                if self.names == Names::Checked {
                    verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                }
                Ok(ServerCertVerified::assertion())
            }
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.names == Names::Any => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed
            .verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed
            .verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair};
    use std::time::Duration;

    /// The date 2026-06-01 in seconds. Certificates of rcgen are valid from 1975 to 4096.
    const NOW_S: u64 = 1_780_272_000;

    fn certificate(edit: impl FnOnce(&mut CertificateParams)) -> CertificateDer<'static> {
        let mut params = CertificateParams::new(["smsc.example.ng".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        edit(&mut params);
        let key = KeyPair::generate().unwrap();
        params.self_signed(&key).unwrap().der().clone()
    }

    fn verified(
        named: &CertificateDer<'static>,
        shown: &CertificateDer<'_>,
        name: &'static str,
    ) -> Result<(), Error> {
        let now = UnixTime::since_unix_epoch(Duration::from_secs(NOW_S));
        let name = ServerName::try_from(name).unwrap();
        let trust = trust(std::slice::from_ref(named)).unwrap();
        let verified = trust.verify_server_cert(shown, &[], &name, &[], now);
        verified.map(drop)
    }

    #[test]
    fn a_certificate_that_is_named_itself_is_trusted() {
        let authority = certificate(|_| {});
        let server = certificate(|params| params.is_ca = IsCa::ExplicitNoCa);
        let plain = certificate(|params| params.is_ca = IsCa::NoCa);
        for named in [authority, server, plain] {
            verified(&named, &named, "smsc.example.ng").unwrap();
        }
    }

    #[test]
    fn one_that_looks_like_the_named_one_is_not() {
        let (named, other) = (certificate(|_| {}), certificate(|_| {}));
        let refused = verified(&named, &other, "smsc.example.ng");
        assert!(refused.is_err());
    }

    #[test]
    fn the_name_validity_and_use_of_a_named_one_are_checked() {
        let named = certificate(|_| {});
        let refused = verified(&named, &named, "other.example.ng").unwrap_err();
        assert!(
            refused.to_string().contains("not valid for name"),
            "{refused}"
        );
        let old = certificate(|params| params.not_after = rcgen::date_time_ymd(2025, 1, 1));
        let refused = verified(&old, &old, "smsc.example.ng").unwrap_err();
        assert!(refused.to_string().contains("expired"), "{refused}");
        let early = certificate(|params| params.not_before = rcgen::date_time_ymd(2027, 1, 1));
        let refused = verified(&early, &early, "smsc.example.ng").unwrap_err();
        assert!(refused.to_string().contains("not valid yet"), "{refused}");
        let client = certificate(|params| {
            params.is_ca = IsCa::NoCa;
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        });
        verified(&client, &client, "smsc.example.ng").unwrap_err();
    }
}
