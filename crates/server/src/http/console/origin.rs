//! The origin of a request that changes something. A form of another site is refused, whatever it
//! carries.

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

const FETCH_SITE: &str = "sec-fetch-site";

/// Returns `true` if a request comes from a page of this service. Browsers send at least one of both
/// headers with every form.
pub(super) fn is_own(headers: &HeaderMap, uri: &Uri, public_origin: Option<&str>) -> bool {
    let word = |name: &str| {
        headers
            .get(name)
            .map(|value| value.to_str().unwrap_or_default())
    };
    let site = word(FETCH_SITE);
    let origin = word(header::ORIGIN.as_str());
    let is_own_site = site.is_none_or(|site| site == "same-origin");
    let is_own_origin = origin.is_none_or(|origin| {
        let host = word(header::HOST.as_str()).or(uri.authority().map(Authority::as_str));
        let named = origin.split_once("://").map(|(_, host)| host);
        let is_host = named.is_some_and(|named| host.is_some_and(|host| same(named, host)));
        is_host || public_origin.is_some_and(|public| same(public, origin))
    });
    (site.is_some() || origin.is_some()) && is_own_site && is_own_origin
}

fn same(one: &str, other: &str) -> bool {
    !one.is_empty() && one.eq_ignore_ascii_case(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn judged(pairs: &[(&'static str, &'static str)]) -> bool {
        let headers = pairs.iter().map(|(name, value)| {
            (
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )
        });
        let headers: HeaderMap = headers.collect();
        is_own(
            &headers,
            &Uri::from_static("/sign-in"),
            Some("https://sms.example.ng"),
        )
    }

    #[test]
    fn only_a_page_of_this_service_may_send_a_form() {
        let host = ("host", "127.0.0.1:8080");
        let table: [(&[(&str, &str)], bool); 14] = [
            (&[host], false),
            (&[host, ("sec-fetch-site", "same-origin")], true),
            (&[host, ("sec-fetch-site", "same-site")], false),
            (&[host, ("sec-fetch-site", "cross-site")], false),
            (&[host, ("sec-fetch-site", "none")], false),
            (&[host, ("origin", "http://127.0.0.1:8080")], true),
            (&[host, ("origin", "HTTP://127.0.0.1:8080")], true),
            (&[host, ("origin", "http://127.0.0.1")], false),
            (
                &[host, ("origin", "http://127.0.0.1:8080.evil.example")],
                false,
            ),
            (&[host, ("origin", "https://evil.example")], false),
            (&[host, ("origin", "null")], false),
            (&[host, ("origin", "")], false),
            // A proxy may change the host, so the configuration names the origin.
            (&[host, ("origin", "https://sms.example.ng")], true),
            (
                &[
                    host,
                    ("origin", "https://sms.example.ng"),
                    ("sec-fetch-site", "cross-site"),
                ],
                false,
            ),
        ];
        for (pairs, expected) in table {
            assert_eq!(judged(pairs), expected, "{pairs:?}");
        }
    }
}
