//! The fields of a form.

use super::failure::Failure;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, header};
use http_body_util::{BodyExt, Limited};
use percent_encoding::percent_decode;
use std::borrow::Cow;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum size of a form without a file.
const MAX_BYTES: usize = 256 << 10;
/// Maximum number of fields of a form or a query.
const MAX_FIELDS: usize = 2_000;

/// The fields of a form or of a query string, in their order.
#[derive(Clone, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads a URL-encoded text.
    pub(crate) fn parse(encoded: &[u8]) -> Self {
        let pairs = encoded.split(|&byte| byte == b'&');
        let pairs = pairs.filter(|pair| !pair.is_empty()).take(MAX_FIELDS);
        let fields = pairs.map(|pair| {
            let mut halves = pair.splitn(2, |&byte| byte == b'=');
            let mut next = || decoded(halves.next().unwrap_or_default());
            (next(), next())
        });
        Self(fields.collect())
    }

    /// Returns a form with these fields, for a page that another page fills in.
    pub(super) fn of<const N: usize>(fields: [(&str, String); N]) -> Self {
        let owned = |(name, value): (&str, String)| (name.to_owned(), value);
        Self(fields.into_iter().map(owned).collect())
    }

    /// Returns a form with these fields.
    pub(super) fn of_pairs<'f>(fields: impl Iterator<Item = (&'f str, &'f str)>) -> Self {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self(fields.map(owned).collect())
    }

    /// Reads the body of a form.
    pub(super) async fn read(
        headers: &HeaderMap,
        body: Body,
        time: Duration,
    ) -> Result<Self, Failure> {
        let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        let is_form =
            kind.is_some_and(|kind| kind.starts_with(b"application/x-www-form-urlencoded"));
        if !is_form {
            return Err(Failure::NotAForm);
        }
        let body = timeout(time, Limited::new(body, MAX_BYTES).collect()).await;
        let body = body.map_err(|_| Failure::Slow)?;
        let bytes = body.map_err(|_| Failure::TooLarge)?.to_bytes();
        Ok(Self::parse(&bytes))
    }

    /// Returns the value of a field, or an empty text.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    /// Returns the value of a field that was sent and is not empty.
    pub(crate) fn find(&self, name: &str) -> Option<&str> {
        let mut fields = self.0.iter();
        let found = fields.find(|(given, _)| given == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }

    /// Returns the values of a field that may be sent many times, such as a box of each row.
    #[cfg_attr(not(test), expect(dead_code, reason = "the pages that follow ask it"))]
    pub(crate) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        let fields = self.0.iter().filter(move |(given, _)| given == name);
        fields.map(|(_, value)| value.as_str())
    }
}

/// Returns the text of a name or value. Octets that are no UTF-8 are replaced.
fn decoded(encoded: &[u8]) -> String {
    let spaced: Cow<'_, [u8]> = if encoded.contains(&b'+') {
        let bytes = encoded
            .iter()
            .map(|&byte| if byte == b'+' { b' ' } else { byte });
        Cow::Owned(bytes.collect())
    } else {
        Cow::Borrowed(encoded)
    };
    percent_decode(&spaced).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded_in_their_order() {
        let form = Form::parse(b"name=Ada+%26+co&empty=&row=1&row=2&bad=%FF&flag&&a=b=c");
        assert_eq!(form.get("name"), "Ada & co");
        assert_eq!(form.find("empty"), None);
        assert_eq!(form.all("row").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(form.get("bad"), "\u{fffd}");
        assert_eq!((form.get("flag"), form.get("a")), ("", "b=c"));
    }

    #[test]
    fn the_number_of_fields_has_a_bound() {
        let form = Form::parse("a=1&".repeat(MAX_FIELDS + 5).as_bytes());
        assert_eq!(form.all("a").count(), MAX_FIELDS);
    }
}
