//! The places of a token. The first place that has one decides.

use super::fields::Fields;
use axum::http::{HeaderMap, HeaderValue, header};

/// Returns the token of the header or the query string, in the order of docs/spec/interface.md,
/// section 3. Returns `None` if the body decides.
///
/// A place that is present but empty or unreadable decides too: its token belongs to no account.
pub(crate) fn before_body(headers: &HeaderMap, query: &Fields) -> Option<String> {
    let readable = |value: &HeaderValue| value.to_str().unwrap_or_default().trim().to_owned();
    let bearer = headers
        .get_all(header::AUTHORIZATION)
        .iter()
        .find_map(bearer);
    bearer
        .or_else(|| headers.get("api_token").map(readable))
        .or_else(|| of(query))
}

/// Returns the token of fields.
pub(crate) fn of(fields: &Fields) -> Option<String> {
    let token = fields.api_token.as_deref()?;
    Some(token.trim().to_owned())
}

/// Returns the token after `Bearer`, whose case does not matter (RFC 9110 section 11.1). Another
/// scheme is no token.
fn bearer(value: &HeaderValue) -> Option<String> {
    let bytes = value.as_bytes();
    let (scheme, rest) = bytes.split_at_checked("bearer".len())?;
    let ends = rest.first().is_none_or(u8::is_ascii_whitespace);
    (scheme.eq_ignore_ascii_case(b"bearer") && ends).then(|| {
        std::str::from_utf8(rest)
            .unwrap_or_default()
            .trim()
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(headers: &[(&'static str, &str)], query: Option<&str>) -> Option<String> {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let query = Fields {
            api_token: query.map(str::to_owned),
            ..Fields::default()
        };
        before_body(&headers, &query)
    }

    #[test]
    fn the_first_place_that_has_a_token_decides() {
        let bearer = ("authorization", "Bearer A");
        let header = ("api_token", "B");
        let table: [(&[_], Option<&str>, Option<&str>); 12] = [
            (&[bearer, header], Some("C"), Some("A")),
            (&[header], Some("C"), Some("B")),
            (&[], Some("C"), Some("C")),
            (&[], Some(" C\n"), Some("C")),
            (&[], None, None),
            (&[("authorization", "bearer  A ")], None, Some("A")),
            (&[("authorization", "Bearer")], Some("C"), Some("")),
            (&[("authorization", "Bearer ")], Some("C"), Some("")),
            (&[("authorization", "Basic QTpC"), header], None, Some("B")),
            (&[("authorization", "BearerA")], Some("C"), Some("C")),
            (&[("api_token", "")], Some("C"), Some("")),
            (&[], Some(""), Some("")),
        ];
        for (headers, query, token) in table {
            assert_eq!(
                found(headers, query).as_deref(),
                token,
                "{headers:?} {query:?}"
            );
        }
    }

    #[test]
    fn a_header_that_is_no_text_is_a_token_that_no_account_has() {
        let mut headers = HeaderMap::new();
        headers.insert("api_token", HeaderValue::from_bytes(b"\xFF").unwrap());
        assert_eq!(
            before_body(&headers, &Fields::default()).as_deref(),
            Some("")
        );
    }
}
