//! A secret that a form has just made, on its way to the page that shows it once.
//!
//! The form leads to the page, so a reload makes no second secret. A cookie carries the secret,
//! because no address may have it and any node may answer. The cookie counts in its session alone.

use super::cookies::Cookie;
use super::visitor::Visitor;
use axum::response::Response;
use console::screens::Listing;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Longest name of a secret. A cookie has room for it in any script.
const MAX_NAME_CHARACTERS: usize = 120;

/// The name of a secret, and the secret.
pub(crate) type Made = (String, String);

/// Leads to a list that shows a new secret once.
pub(crate) fn lead(visitor: &Visitor, path: &str, made: &Made) -> Response {
    let token = visitor.visit.secret.form_token();
    let value = format!("{token}.{}", packed(path, made));
    visitor.with_cookie(visitor.redirect(path), Cookie::Made, &value)
}

/// Returns the secret that the form before this list has made.
pub(crate) fn secret_of(visitor: &Visitor, path: &str) -> Option<Made> {
    let (token, packed) = visitor.made_cookie()?.split_once('.')?;
    let is_own = visitor.visit.secret.is_form_token(token);
    is_own.then(|| unpacked(path, packed)).flatten()
}

/// Returns a list as an answer. Its secret is shown this once.
pub(crate) fn answer(visitor: &Visitor, list: &Listing) -> Response {
    let response = visitor.answer(list);
    match list.secret {
        Some(_) => visitor.with_cookie(response, Cookie::Made, ""),
        None => response,
    }
}

/// Returns a secret for a page as a part of a cookie.
fn packed(path: &str, (name, secret): &Made) -> String {
    let name: String = name.chars().take(MAX_NAME_CHARACTERS).collect();
    let parts: [&str; 3] = [path, &name, secret];
    let parts = parts.map(|part| utf8_percent_encode(part, NON_ALPHANUMERIC).to_string());
    parts.join(".")
}

/// Returns the secret if it is one for this page.
fn unpacked(path: &str, packed: &str) -> Option<Made> {
    let mut parts = packed.split('.').map(|part| {
        let text = percent_decode_str(part).decode_utf8().ok()?;
        Some(text.into_owned())
    });
    let mut next = || parts.next().flatten();
    let (of, made) = (next()?, (next()?, next()?));
    (of == path && next().is_none()).then_some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_for_one_page_and_fits_into_a_cookie() {
        let made = ("The token “Ada; & co.”".to_owned(), "ogl_a.b=".to_owned());
        let value = packed("/console/tokens", &made);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"%.".contains(&byte);
        assert!(value.bytes().all(is_plain), "{value}");
        assert_eq!(unpacked("/console/tokens", &value), Some(made));
        assert_eq!(unpacked("/console/smpp-users", &value), None);
        for forged in [
            "",
            "a",
            "a.b",
            "%2Fconsole%2Ftokens.a.b.c",
            "%2Fconsole%2Ftokens.%FF.b",
        ] {
            assert_eq!(unpacked("/console/tokens", forged), None, "{forged}");
        }
        let long = ("\u{1f600}".repeat(1_000), "x".repeat(100));
        assert!(packed("/console/sub-accounts", &long).len() < 3_000);
    }
}
