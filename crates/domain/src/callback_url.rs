//! The URL that a customer wants to be called back at.

use crate::address;
use std::net::IpAddr;
use url::{Host, Url};

/// The longest URL that is taken, in characters.
pub const MAX_URL_CHARS: usize = 2048;

/// Why a URL is not taken.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UrlFault {
    /// Longer than [`MAX_URL_CHARS`].
    #[error("it is longer than {MAX_URL_CHARS} characters")]
    TooLong,
    /// No URL, without a host, or of another scheme than http and https.
    #[error("it is not an http or https URL")]
    NotHttp,
    /// The host is literally an address that may not be called.
    #[error("it leads to an address that may not be called")]
    NotPublic,
}

/// Whether callbacks may be asked for at this URL (`decisions.md`, API-2015).
///
/// Read as a browser reads it, so `http://2130706433/` and `http://0x7f.1/` are the loopback address they
/// look nothing like. A name is not looked up: where it leads is judged at every connect. User and password
/// are allowed, since that is where receivers keep a secret; they are sent as basic authentication.
pub fn check(url: &str, allow_private: bool) -> Result<(), UrlFault> {
    // A character takes at least one byte, so most URLs need no counting.
    if url.len() > MAX_URL_CHARS && url.chars().count() > MAX_URL_CHARS {
        return Err(UrlFault::TooLong);
    }
    let url = Url::parse(url).map_err(|_| UrlFault::NotHttp)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlFault::NotHttp);
    }
    let address: IpAddr = match url.host() {
        None => return Err(UrlFault::NotHttp),
        Some(Host::Domain(_)) => return Ok(()),
        Some(Host::Ipv4(address)) => address.into(),
        Some(Host::Ipv6(address)) => address.into(),
    };
    if allow_private || address::is_public(address) {
        Ok(())
    } else {
        Err(UrlFault::NotPublic)
    }
}

/// Scheme, host and port in lower case, such as `https://example.ng:443`: what fairness is keyed by.
///
/// Nothing of user, password, path or query is in it, so it may be logged. What is no URL has the empty
/// origin: it was never accepted, and would fail there without holding up anybody.
pub fn origin(url: &str) -> String {
    let Ok(url) = Url::parse(url) else {
        return String::new();
    };
    match (url.host_str(), url.port_or_known_default()) {
        (Some(host), Some(port)) => format!("{}://{host}:{port}", url.scheme()),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn http_urls_with_a_host_are_taken() {
        for url in [
            "https://example.ng/hook",
            "HTTP://EXAMPLE.NG",
            "http://example.ng:8080/a?secret=b#c",
            "https://user:secret@example.ng/",
            "https://xn--ls8h.example/",
            "https://💩.example/",
            "http://8.8.8.8/",
            "http://[2a00::1]:9000/",
            "http://localhost/",
        ] {
            assert_eq!(check(url, false), Ok(()), "{url}");
        }
    }

    #[test]
    fn what_is_no_http_url_is_refused() {
        for url in [
            "",
            "example.ng/hook",
            "/hook",
            "http://",
            "https:///",
            "http://:80/",
            "http://a b/",
            "http://example.ng:99999/",
            "http://[::1/",
            "http://1.2.3.4.5/",
            "http://256.0.0.1/",
            "ftp://example.ng/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "gopher://127.0.0.1:25/",
            "unix:/run/socket",
            "mailto:a@example.ng",
        ] {
            assert_eq!(check(url, true), Err(UrlFault::NotHttp), "{url}");
        }
    }

    #[test]
    fn a_literal_private_address_is_refused_in_every_notation_unless_allowed() {
        for host in [
            "127.0.0.1",
            "127.1",
            "127.0.0.1.",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "0177.0.0.1",
            "%31%32%37.0.0.1",
            "１２７.0.0.1",
            "127。0。0。1",
            "0",
            "10.1.2.3",
            "169.254.169.254",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "[fd00::1]",
        ] {
            let url = format!("http://{host}:8080/hook");
            assert_eq!(check(&url, false), Err(UrlFault::NotPublic), "{url}");
            assert_eq!(check(&url, true), Ok(()), "{url}");
        }
    }

    #[test]
    fn a_url_has_at_most_2048_characters() {
        let url = |path: usize| format!("https://example.ng/{}", "é".repeat(path));
        assert_eq!(check(&url(MAX_URL_CHARS - 19), false), Ok(()));
        assert_eq!(
            check(&url(MAX_URL_CHARS - 18), false),
            Err(UrlFault::TooLong)
        );
    }

    #[test]
    fn an_origin_is_scheme_host_and_port_in_lower_case() {
        let table = [
            ("HTTPS://Example.NG/Hook?Secret=1", "https://example.ng:443"),
            ("http://example.ng:8080", "http://example.ng:8080"),
            (
                "https://user:secret@example.ng:443/",
                "https://example.ng:443",
            ),
            ("http://0x7f.1/", "http://127.0.0.1:80"),
            ("http://[2A00::1]/", "http://[2a00::1]:80"),
            ("no url", ""),
        ];
        for (url, expected) in table {
            assert_eq!(origin(url), expected, "{url}");
        }
    }
}
