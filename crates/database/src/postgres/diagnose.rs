//! Diagnosis of the failures of a PostgreSQL server.

use super::remedy::{Diagnosis, Unusable};
use super::server::Server;
use super::tls_relay::{NO_TLS, UNREACHABLE};
use crate::error::Error;
use sqlx::postgres::PgDatabaseError;
use std::io;

/// Returns the error for a server with a fault.
pub(super) fn unusable(server: &Server, fault: Diagnosis) -> Error {
    Error::Unusable(Unusable::new(server, fault))
}

/// Diagnoses a failure to connect, or to run the first statement.
pub(super) fn judge(server: &Server, error: sqlx::Error) -> Error {
    let fault = match error {
        // The kind `InvalidData` of rustls means a certificate that is not trusted.
        sqlx::Error::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
            tls(error.to_string())
        }
        sqlx::Error::Io(error) => Diagnosis::Unreachable(error.to_string()),
        sqlx::Error::Tls(error) => tls(error.to_string()),
        sqlx::Error::Protocol(reason) => Diagnosis::Unreachable(not_postgres(reason)),
        sqlx::Error::Database(error) => {
            let refusal = error.try_downcast_ref::<PgDatabaseError>().map(|refusal| {
                let reason = refusal.message().to_owned();
                refused(refusal.code(), refusal.routine(), reason, server.is_plain())
            });
            match refusal.flatten() {
                Some(fault) => fault,
                None => return sqlx::Error::Database(error).into(),
            }
        }
        error => return error.into(),
    };
    unusable(server, fault)
}

/// Diagnoses a failure of TLS. A server may ask for a certificate before PostgreSQL answers.
fn tls(reason: String) -> Diagnosis {
    if reason.contains("CertificateRequired") {
        Diagnosis::ClientCertificate(reason)
    } else {
        Diagnosis::Tls(reason)
    }
}

/// Diagnoses a peer that is not PostgreSQL. The driver reads a zero where the connection was
/// closed.
fn not_postgres(reason: String) -> String {
    if reason.contains("SSLRequest: 0x00") {
        "it closed the connection without a word, as a proxy does that has no server".to_owned()
    } else {
        reason
    }
}

/// Diagnoses a refusal. Its text is in the server's language, so the code and the name of the
/// server's function decide.
fn refused(code: &str, routine: Option<&str>, reason: String, is_plain: bool) -> Option<Diagnosis> {
    Some(match code {
        UNREACHABLE => Diagnosis::Unreachable(reason),
        NO_TLS => Diagnosis::Tls(reason),
        "28P01" => Diagnosis::Password,
        "28000" if routine == Some("InitializeSessionUserId") => Diagnosis::Role(reason),
        // This is the only text that is compared: its code and routine are shared with other
        // errors.
        "28000" if reason.contains("valid client certificate") => {
            Diagnosis::ClientCertificate(reason)
        }
        "28000" if is_plain => Diagnosis::TlsRequired(reason),
        "28000" => Diagnosis::NotAdmitted(reason),
        "3D000" => Diagnosis::NoDatabase,
        "08P01" => Diagnosis::Startup(reason),
        // Two sessions shared one connection.
        "42P05" | "26000" => Diagnosis::TransactionPool,
        "42501" => Diagnosis::Right(reason),
        "53300" => Diagnosis::Full(reason),
        "57P03" => Diagnosis::NotReady,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_by_its_code_and_the_servers_own_function() {
        let reason = || "no".to_owned();
        let table = [
            ("28P01", "auth_failed", false, Some(Diagnosis::Password)),
            (
                "28000",
                "InitializeSessionUserId",
                true,
                Some(Diagnosis::Role(reason())),
            ),
            (
                "28000",
                "ClientAuthentication",
                false,
                Some(Diagnosis::NotAdmitted(reason())),
            ),
            (
                "28000",
                "ClientAuthentication",
                true,
                Some(Diagnosis::TlsRequired(reason())),
            ),
            ("3D000", "InitPostgres", false, Some(Diagnosis::NoDatabase)),
            (
                "53300",
                "InitProcess",
                false,
                Some(Diagnosis::Full(reason())),
            ),
            (
                "57P03",
                "ProcessStartupPacket",
                false,
                Some(Diagnosis::NotReady),
            ),
            ("08P01", "", false, Some(Diagnosis::Startup(reason()))),
            ("42P05", "", false, Some(Diagnosis::TransactionPool)),
            ("XX000", "elog", false, None),
        ];
        for (code, routine, is_plain, fault) in table {
            assert_eq!(
                refused(code, Some(routine), reason(), is_plain),
                fault,
                "{code} {routine}"
            );
        }
    }

    #[test]
    fn a_certificate_that_is_asked_for_is_told_from_other_refusals() {
        let reason = "connection requires a valid client certificate".to_owned();
        let fault = refused("28000", Some("ClientAuthentication"), reason.clone(), false);
        assert_eq!(fault, Some(Diagnosis::ClientCertificate(reason)));
        let alert = "received fatal alert: CertificateRequired".to_owned();
        assert_eq!(tls(alert.clone()), Diagnosis::ClientCertificate(alert));
        let other = "invalid peer certificate: UnknownIssuer".to_owned();
        assert_eq!(tls(other.clone()), Diagnosis::Tls(other));
    }

    #[test]
    fn a_sentence_says_what_is_wrong_and_what_to_do() {
        let server = Server::new("postgres://ada:hush@db.example.ng/ogene", 8).expect("a URL");
        let sentence = |fault| unusable(&server, fault).to_string();
        insta::assert_snapshot!(sentence(Diagnosis::TooOld("14.22".to_owned())), @"PostgreSQL at db.example.ng:5432 is version 14.22, and ogene needs 15 or newer: upgrade it");
        insta::assert_snapshot!(sentence(Diagnosis::NotReady), @"PostgreSQL at db.example.ng:5432 is starting or stopping: try again when it runs");
        insta::assert_snapshot!(sentence(Diagnosis::TransactionPool), @"what answers at db.example.ng:5432 is a pooler in transaction mode: name the server itself, or a pool in session mode");
        insta::assert_snapshot!(sentence(Diagnosis::DropsSettings("0".to_owned())), @"what answers at db.example.ng:5432 is a pooler that drops settings (`lock_timeout` is 0 after it was set to 3s): name the server itself, or a pool in session mode");
        insta::assert_snapshot!(sentence(Diagnosis::ClientCertificate("no".to_owned())), @"PostgreSQL at db.example.ng:5432 asks ada for a client certificate (no): name one with `sslcert` and `sslkey` in `database_url`");
        insta::assert_snapshot!(sentence(Diagnosis::Unreachable(not_postgres("unexpected response from SSLRequest: 0x00 (at a line)".to_owned()))), @"PostgreSQL at db.example.ng:5432 cannot be reached (it closed the connection without a word, as a proxy does that has no server): see that it runs and that `database_url` names its host and port");
    }
}
