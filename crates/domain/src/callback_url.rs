//! The callback URL of a customer.

use crate::public_address;
use crate::truncate::truncate;
use std::net::IpAddr;
use url::{Host, Url};

/// Maximum length of a URL in characters.
pub const MAX_URL_CHARS: usize = 2048;

/// Maximum length of a host, and of a label between two dots (RFC 1035, section 2.3.4).
const MAX_HOST_OCTETS: usize = 253;
const MAX_LABEL_OCTETS: usize = 63;

/// The reason why a URL is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UrlFault {
    /// Longer than [`MAX_URL_CHARS`].
    #[error("it is longer than {MAX_URL_CHARS} characters")]
    TooLong,
    /// Not a URL, without a host, or with another scheme than http and https.
    #[error("it is not an http or https URL")]
    NotHttp,
    /// The host is an address that may not be called.
    #[error("it leads to an address that may not be called")]
    NotPublic,
    /// The host or one of its labels is longer than DNS allows.
    #[error(
        "its host is no name that can be looked up: use at most {MAX_HOST_OCTETS} characters, and {MAX_LABEL_OCTETS} between two dots (a name in other letters counts in its `xn--` form)"
    )]
    NoName,
}

/// Checks a callback URL (docs/spec/delivery.md, section 4).
///
/// The URL is parsed as a browser does, so `http://2130706433/` and `http://0x7f.1/` are recognised
/// as the loopback address. A name is not resolved here, because each connection checks its
/// address. User and password are allowed, and are sent as basic authentication.
pub fn check(url: &str, allow_private: bool) -> Result<(), UrlFault> {
    // A character has at least one byte, so most URLs need no counting.
    if url.len() > MAX_URL_CHARS && url.chars().count() > MAX_URL_CHARS {
        return Err(UrlFault::TooLong);
    }
    let url = Url::parse(url).map_err(|_| UrlFault::NotHttp)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlFault::NotHttp);
    }
    let address: IpAddr = match url.host() {
        None => return Err(UrlFault::NotHttp),
        Some(Host::Domain(name)) if is_dns_name(name) => return Ok(()),
        Some(Host::Domain(_)) => return Err(UrlFault::NoName),
        Some(Host::Ipv4(address)) => address.into(),
        Some(Host::Ipv6(address)) => address.into(),
    };
    if allow_private || public_address::is_public(address) {
        Ok(())
    } else {
        Err(UrlFault::NotPublic)
    }
}

/// Checks a URL that is stored for later callbacks, which holds no control character. Parsers of URLs
/// drop them, a line break ends the URL in the outbox, and PostgreSQL cannot store U+0000.
pub fn check_stored(url: &str, allow_private: bool) -> Result<(), UrlFault> {
    if url.contains(char::is_control) {
        return Err(UrlFault::NotHttp);
    }
    check(url, allow_private)
}

/// Returns `true` if a name in its `xn--` form fits into DNS. A dot at its end does not count.
fn is_dns_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.len() <= MAX_HOST_OCTETS && name.split('.').all(|label| label.len() <= MAX_LABEL_OCTETS)
}

/// Returns scheme, host and port in lower case, such as `https://example.ng:443`. Callbacks are
/// queued by origin.
///
/// An origin has no user, password, path or query, so it may be logged. A text that is no URL
/// has an empty origin. The origin is part of a key, so it is cut if the host is no name
/// ([`UrlFault::NoName`]).
pub fn origin(url: &str) -> String {
    let Ok(url) = Url::parse(url) else {
        return String::new();
    };
    match (url.host_str(), url.port_or_known_default()) {
        (Some(host), Some(port)) => truncate(format!("{}://{host}:{port}", url.scheme())),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truncate::MAX_KEY_OCTETS;

    #[test]
    fn http_urls_with_a_host_are_accepted() {
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
    fn any_other_text_than_an_http_url_is_refused() {
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
    fn a_private_address_is_refused_in_every_notation() {
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

    /// Returns a thousand different characters.
    fn chinese(from: u32) -> String {
        let all = (from..from + 1_000).filter_map(char::from_u32);
        all.collect()
    }

    #[test]
    fn a_host_that_is_no_dns_name_is_refused() {
        let labels = |length: usize, labels: usize| vec!["a".repeat(length); labels].join(".");
        let (longest, dotted) = (
            labels(63, 3) + "." + &"b".repeat(61),
            labels(63, 3) + ".ng.",
        );
        assert_eq!(longest.len(), MAX_HOST_OCTETS);
        for host in [&longest, &(longest.clone() + "."), &dotted] {
            assert_eq!(check(&format!("https://{host}/"), false), Ok(()), "{host}");
        }
        for host in [
            longest.clone() + "b",
            labels(64, 1) + ".ng",
            // The host has few characters, but thousands of octets in its `xn--` form.
            chinese(0x4E00) + "." + &chinese(0x6000),
        ] {
            let url = format!("https://{host}/");
            assert_eq!(check(&url, true), Err(UrlFault::NoName), "{host}");
        }
    }

    #[test]
    fn an_origin_has_a_bound_for_any_url() {
        let url = |last: u32| format!("https://{}.{}/", chinese(0x4E00), chinese(last));
        let [one, other] = [url(0x6000), url(0x7000)].map(|url| origin(&url));
        assert!(one.len() <= MAX_KEY_OCTETS, "{}", one.len());
        assert!(one.starts_with("https://"));
        assert_ne!(one, other);
        assert_eq!(one, origin(&url(0x6000)));
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
