//! E-mail over the SMTP server of the operator.

use lettre::message::{Mailbox, header::ContentType};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use rustls::pki_types::CertificateDer;
use std::fmt;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// Timeout of a mail, with the wait for a place.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Mails that are sent at once. Further ones wait for a place.
static PLACES: Semaphore = Semaphore::const_new(4);

/// The encryption of the connection to the SMTP server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum MailTls {
    /// The connection begins in plain text, and must change to TLS (port 587).
    StartTls,
    /// The connection has TLS from its first octet (port 465).
    Implicit,
    /// The connection has no TLS.
    Off,
}

/// The SMTP server, and the sender of mails.
#[derive(Clone, Eq, PartialEq)]
pub struct MailSettings {
    /// Its host name, which its certificate must have.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The encryption.
    pub tls: MailTls,
    /// The authorities that are trusted beside those of the system.
    pub tls_ca: Vec<CertificateDer<'static>>,
    /// The user name and the password, if the server asks for them.
    pub login: Option<(String, String)>,
    /// The sender, such as `Ogene <sms@example.ng>`.
    pub from: String,
}

/// A mail of plain text to one address.
#[derive(Clone, Copy, Debug)]
pub struct Mail<'a> {
    /// The address.
    pub to: &'a str,
    /// The subject.
    pub subject: &'a str,
    /// The text.
    pub text: &'a str,
}

/// The reason why a mail was not sent. It names no address, user or password.
#[derive(Debug, Error)]
pub enum MailError {
    /// The sender or the address is none that a mail can have.
    #[error("the mail has an address that SMTP does not allow")]
    Address,
    /// The server did not take the mail in time.
    #[error("the SMTP server did not answer in time")]
    Timeout,
    /// The server refused the mail, or the login.
    #[error("the SMTP server refused it with {0}")]
    Refused(u16),
    /// There is no connection to the server as the settings demand it.
    #[error("the connection to the SMTP server failed: {0}")]
    Connection(String),
}

/// The settings without the password.
impl fmt::Debug for MailSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MailSettings")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("tls", &self.tls)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

impl MailSettings {
    /// Returns `true` if a text is a sender of mails.
    pub fn is_sender(text: &str) -> bool {
        !text.contains(char::is_control) && text.parse::<Mailbox>().is_ok()
    }

    /// Sends a mail. The server has it when this returns.
    pub async fn send(&self, mail: Mail<'_>) -> Result<(), MailError> {
        let from: Mailbox = self.from.parse().map_err(|_| MailError::Address)?;
        let to: Address = mail.to.parse().map_err(|_| MailError::Address)?;
        let hello = ClientId::Domain(from.email.domain().to_owned());
        let message = Message::builder()
            .from(from)
            .to(Mailbox::new(None, to))
            .subject(mail.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(mail.text.to_owned())
            .map_err(|_| MailError::Address)?;
        let sent = timeout(TIMEOUT, async {
            let _place = PLACES.acquire().await;
            // The authorities of the system are files.
            let settings = self.clone();
            let transport = spawn_blocking(move || settings.transport(hello)).await;
            let transport = transport.map_err(connection)??;
            transport.send(message).await.map_err(MailError::from)
        });
        sent.await.map_err(|_| MailError::Timeout)?.map(|_| ())
    }

    fn transport(
        self,
        hello: ClientId,
    ) -> Result<AsyncSmtpTransport<Tokio1Executor>, lettre::transport::smtp::Error> {
        let tls = match self.tls {
            MailTls::StartTls => Tls::Required(self.parameters()?),
            MailTls::Implicit => Tls::Wrapper(self.parameters()?),
            MailTls::Off => Tls::None,
        };
        let transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&self.host)
            .port(self.port)
            .hello_name(hello)
            .timeout(Some(TIMEOUT))
            .tls(tls);
        Ok(match self.login {
            Some((user, password)) => transport.credentials(Credentials::new(user, password)),
            None => transport,
        }
        .build())
    }

    fn parameters(&self) -> Result<TlsParameters, lettre::transport::smtp::Error> {
        let mut parameters = TlsParameters::builder(self.host.clone());
        for authority in &self.tls_ca {
            let authority = Certificate::from_der(authority.to_vec())?;
            parameters = parameters.add_root_certificate(authority);
        }
        parameters.build_rustls()
    }
}

impl From<lettre::transport::smtp::Error> for MailError {
    fn from(error: lettre::transport::smtp::Error) -> Self {
        match error.status() {
            // The text of the server may repeat the address.
            Some(code) => Self::Refused(code.into()),
            None if error.is_timeout() => Self::Timeout,
            None if error.is_response() => {
                Self::Connection("its answer is not one of SMTP".to_owned())
            }
            None => connection(error),
        }
    }
}

fn connection(error: impl fmt::Display) -> MailError {
    MailError::Connection(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_is_an_address_with_or_without_a_name() {
        for (text, expected) in [
            ("sms@example.ng", true),
            ("Ogene <sms@example.ng>", true),
            ("Ogene", false),
            ("", false),
            ("sms@example.ng\r\nBcc: x@example.ng", false),
        ] {
            assert_eq!(MailSettings::is_sender(text), expected, "{text}");
        }
    }

    #[test]
    fn the_debug_form_of_settings_has_no_password() {
        let settings = MailSettings {
            host: "smtp.example.ng".to_owned(),
            port: 587,
            tls: MailTls::StartTls,
            tls_ca: Vec::new(),
            login: Some(("ogene".to_owned(), "hush-hsh".to_owned())),
            from: "sms@example.ng".to_owned(),
        };
        let shown = format!("{settings:?}");
        assert!(shown.contains("smtp.example.ng") && !shown.contains("hush"));
    }
}
