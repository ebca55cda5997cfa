//! The certificates of HTTPS and of the SMPP server. A renewed one serves the next connection, without a restart.

use crate::config::{Config, Tls};
use arc_swap::ArcSwap;
use parking_lot::{Mutex, MutexGuard};
use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The certificate in use.
#[derive(Debug)]
pub(super) struct Certificate {
    held: ArcSwap<CertifiedKey>,
    seen: Mutex<Seen>,
}

/// The certificates of the service.
#[derive(Clone, Debug, Default)]
pub(super) struct Certificates {
    /// The certificate of the API.
    pub(super) http: Option<Arc<Certificate>>,
    /// The certificate of the SMPP server, if it is another one.
    smpp: Option<Arc<Certificate>>,
}

impl Certificates {
    pub(super) fn new(config: &Config) -> Self {
        let held = |tls: &Option<Tls>| tls.clone().map(Certificate::new).map(Arc::new);
        Self {
            http: held(&config.http.tls),
            smpp: held(&config.smpp_server.tls),
        }
    }

    /// Returns the certificate of the SMPP server.
    pub(super) fn of_smpp(&self) -> Option<&Arc<Certificate>> {
        self.smpp.as_ref().or(self.http.as_ref())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Arc<Certificate>> {
        self.http.clone().into_iter().chain(self.smpp.clone())
    }

    /// Serves the certificates of a configuration.
    pub(super) fn replace(&self, config: &Config) {
        let pairs = [
            (&self.http, &config.http.tls),
            (&self.smpp, &config.smpp_server.tls),
        ];
        for (certificate, tls) in pairs {
            if let (Some(certificate), Some(tls)) = (certificate, tls) {
                certificate.replace(tls.clone());
            }
        }
    }
}

/// The files as they were last read.
#[derive(Debug)]
struct Seen {
    tls: Tls,
    /// The content of the files, if they could be read.
    octets: Option<Octets>,
    /// `true` after this content was refused once. A second refusal of the same content shows that
    /// no process is writing the files.
    is_refused: bool,
    is_logged: bool,
}

/// The bytes of a certificate and of its key.
type Octets = (Vec<u8>, Vec<u8>);

/// The result of a check of the files.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Look {
    /// The files are as before.
    Same,
    /// The files have changed and are in use.
    Renewed,
    /// The files cannot be used, for this reason, and were the same at two checks.
    Refused(String),
}

impl Certificate {
    pub(super) fn new(tls: Tls) -> Self {
        let held = ArcSwap::new(Arc::clone(&tls.certified));
        // The files may have changed since they were read, so the first check reads them again.
        let seen = Mutex::new(Seen {
            tls,
            octets: None,
            is_refused: false,
            is_logged: false,
        });
        Self { held, seen }
    }

    /// The TLS settings for the certificate: TLS 1.2 and 1.3.
    pub(super) fn server(certificate: &Arc<Self>) -> Result<ServerConfig, rustls::Error> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider);
        let builder = builder.with_safe_default_protocol_versions()?;
        let resolver = Arc::clone(certificate);
        Ok(builder.with_no_client_auth().with_cert_resolver(resolver))
    }

    /// Serves the certificate of a configuration.
    pub(super) fn replace(&self, tls: Tls) {
        self.held.store(Arc::clone(&tls.certified));
        let mut seen = self.seen();
        seen.tls = tls;
        seen.octets = None;
    }

    /// Reads the files and serves them if they have changed. A pair that does not fit together may
    /// be half renewed, so it is refused at the second check.
    pub(super) fn look(&self) -> Look {
        let mut seen = self.seen();
        let (certificate, key) = (seen.tls.certificate.clone(), seen.tls.key.clone());
        let octets = octets(&certificate, &key);
        let now = octets.as_ref().ok().cloned();
        let is_same = seen.octets.is_some() && now == seen.octets;
        if is_same && !seen.is_refused {
            return Look::Same;
        }
        let read = match octets {
            Ok(_) => Tls::read(certificate, key),
            Err(error) => Err(error),
        };
        let was_refused = seen.is_refused && now == seen.octets;
        seen.octets = now;
        match read {
            Ok(tls) => {
                let is_other = tls.certified.cert != seen.tls.certified.cert;
                self.held.store(Arc::clone(&tls.certified));
                seen.tls = tls;
                (seen.is_refused, seen.is_logged) = (false, false);
                if is_other { Look::Renewed } else { Look::Same }
            }
            Err(error) => {
                let is_told = was_refused && !seen.is_logged;
                seen.is_refused = true;
                seen.is_logged = was_refused;
                if is_told {
                    Look::Refused(error)
                } else {
                    Look::Same
                }
            }
        }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock()
    }
}

fn octets(certificate: &Path, key: &Path) -> Result<Octets, String> {
    let read = |file: &Path| {
        let read: io::Result<Vec<u8>> = fs::read(file);
        read.map_err(|error| format!("{} cannot be read: {error}", file.display()))
    };
    Ok((read(certificate)?, read(key)?))
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.held.load_full())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertifiedKey as Made, generate_simple_self_signed};

    #[test]
    fn a_pair_that_is_half_renewed_is_served_when_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let (certificate, key) = (
            directory.path().join("c.pem"),
            directory.path().join("k.pem"),
        );
        let made = || {
            let Made { cert, signing_key } = generate_simple_self_signed(["a".to_owned()]).unwrap();
            (cert.pem(), signing_key.serialize_pem(), cert.der().clone())
        };
        let (one, other) = (made(), made());
        fs::write(&certificate, &one.0).unwrap();
        fs::write(&key, &one.1).unwrap();
        let served = Certificate::new(Tls::read(certificate.clone(), key.clone()).unwrap());
        let shown = || served.held.load().cert.clone();
        assert_eq!(served.look(), Look::Same);

        fs::write(&certificate, &other.0).unwrap();
        assert_eq!(served.look(), Look::Same, "the key may follow");
        fs::write(&key, &other.1).unwrap();
        assert_eq!(served.look(), Look::Renewed);
        assert_eq!(shown(), [other.2]);

        fs::write(&certificate, "broken").unwrap();
        assert_eq!(served.look(), Look::Same);
        let Look::Refused(why) = served.look() else {
            panic!("it is not refused");
        };
        assert!(why.contains("c.pem cannot be used"), "{why}");
        assert_eq!(served.look(), Look::Same, "it is told once");
        fs::remove_file(&certificate).unwrap();
        assert_eq!((served.look(), shown().len()), (Look::Same, 1));
        fs::write(&certificate, &one.0).unwrap();
        fs::write(&key, &one.1).unwrap();
        assert_eq!(served.look(), Look::Renewed);
        assert_eq!(shown(), [one.2]);
    }
}
