//! `[mail]`: the SMTP server by which one-time links go to their users.

use super::public_url::PublicUrl;
use super::section::Section;
use super::tls;
use engine::{MailSettings, MailTls};
use std::net::IpAddr;
use std::path::PathBuf;

const TLS: [(&str, MailTls); 3] = [
    ("starttls", MailTls::StartTls),
    ("tls", MailTls::Implicit),
    ("off", MailTls::Off),
];

/// Reads the section. Without `server` there is no mail.
pub(super) fn read(
    mut section: Section<'_>,
    public_url: Option<&PublicUrl>,
) -> Option<MailSettings> {
    let is_set = section.has("server");
    let place = section.place_of("server");
    let tls = section.one_of("tls", &TLS).unwrap_or(MailTls::StartTls);
    let server: String = section.get("server").unwrap_or_default();
    let (host, port) = split(&server).unwrap_or_default();
    let settings = MailSettings {
        host: host.to_owned(),
        port,
        tls,
        tls_ca: authorities(&mut section),
        login: login(&mut section),
        from: sender(&mut section, is_set).unwrap_or_default(),
    };
    if !is_set {
        section.finish();
        return None;
    }
    if host.is_empty() {
        let fault = format!("{server:?} is not a host and port such as smtp.example.ng:587");
        section.fault_at(&place, "server", fault);
    } else if public_url.is_none() {
        let fault = "needs `http.public_url`, with which the links in mails begin";
        section.fault_at(&place, "server", fault);
    } else if settings.login.is_some() && tls == MailTls::Off && !is_loopback(host) {
        let fault = "would send the password in plain text: set `tls`";
        section.fault_at(&place, "server", fault);
    }
    section.finish();
    Some(settings)
}

/// Returns host and port. An IPv6 address comes without its brackets, since the system resolves it
/// without them.
fn split(server: &str) -> Option<(&str, u16)> {
    let (host, port) = server.rsplit_once(':')?;
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    let is_plain = !host.is_empty() && !host.contains([' ', '/', '@', '[', ']']);
    let port = port.parse().ok().filter(|port| *port > 0)?;
    is_plain.then_some((host, port))
}

fn is_loopback(host: &str) -> bool {
    let address: Option<IpAddr> = host.parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}

fn sender(section: &mut Section<'_>, is_needed: bool) -> Option<String> {
    let place = section.place_of("from");
    let from: String = if is_needed {
        section.require("from")?
    } else {
        section.get("from")?
    };
    if !MailSettings::is_sender(&from) {
        let fault = format!("{from:?} is not a sender such as \"Ogene <sms@example.ng>\"");
        section.fault_at(&place, "from", fault);
    }
    Some(from)
}

fn login(section: &mut Section<'_>) -> Option<(String, String)> {
    let place = section.place_of("username");
    let user: Option<String> = section.get("username");
    let password = section.secret("password", "password_file");
    match (user, password) {
        (Some(user), Some(password)) => Some((user, password.reveal().to_owned())),
        (None, None) => None,
        (Some(_), None) => {
            let fault = "needs `password`, or `password_file` with a file that has it";
            section.fault_at(&place, "username", fault);
            None
        }
        (None, Some(_)) => {
            section.fault("username", "is missing; a password has a user name");
            None
        }
    }
}

fn authorities(section: &mut Section<'_>) -> Vec<rustls::pki_types::CertificateDer<'static>> {
    let place = section.place_of("tls_ca");
    let Some(file) = section.get::<PathBuf>("tls_ca") else {
        return Vec::new();
    };
    tls::authorities(&file).unwrap_or_else(|fault| {
        section.fault_at(&place, "tls_ca", fault);
        Vec::new()
    })
}
