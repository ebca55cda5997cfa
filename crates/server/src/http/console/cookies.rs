//! Cookies: the session, the secret of forms before a sign-in, a notice, a new secret, the colours,
//! and the environment.
//!
//! Over TLS a name begins with `__Host-`: a browser then takes the cookie from this host alone, for
//! every path, over TLS. Over plain HTTP on loopback browsers refuse such names.

use axum::http::{HeaderMap, HeaderValue, header};

/// A cookie of the console.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cookie {
    /// The secret of the session.
    Session,
    /// The secret from which the token of forms derives before a sign-in.
    Form,
    /// A notice for the next page.
    Notice,
    /// A secret that a form has just made, for the page that shows it once.
    Made,
    /// The colours.
    Theme,
    /// The environment that the pages of a customer show.
    Environment,
}

impl Cookie {
    fn name(self, is_https: bool) -> &'static str {
        match (self, is_https) {
            (Self::Session, true) => "__Host-ogene",
            (Self::Session, false) => "ogene",
            (Self::Form, true) => "__Host-ogene-form",
            (Self::Form, false) => "ogene-form",
            (Self::Notice, true) => "__Host-ogene-notice",
            (Self::Notice, false) => "ogene-notice",
            (Self::Made, true) => "__Host-ogene-made",
            (Self::Made, false) => "ogene-made",
            (Self::Theme, true) => "__Host-ogene-theme",
            (Self::Theme, false) => "ogene-theme",
            (Self::Environment, true) => "__Host-ogene-environment",
            (Self::Environment, false) => "ogene-environment",
        }
    }

    /// Returns the time in seconds for which a browser keeps the cookie, or `None` until it is
    /// closed. The server ends a session.
    const fn max_age_s(self) -> Option<u32> {
        match self {
            Self::Session | Self::Environment => None,
            Self::Form => Some(86_400),
            Self::Notice | Self::Made => Some(60),
            Self::Theme => Some(365 * 86_400),
        }
    }

    /// Returns the value of the cookie in a request. Two cookies of one name are refused, since one
    /// of them comes from elsewhere.
    pub(crate) fn read(self, headers: &HeaderMap, is_https: bool) -> Option<&str> {
        let lines = headers.get_all(header::COOKIE).iter();
        let pairs = lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let mut values = pairs
            .filter(|(name, _)| *name == self.name(is_https))
            .map(|(_, value)| value);
        let value = values.next()?;
        values.all(|other| other == value).then_some(value)
    }

    /// Returns the header that sets the cookie, or removes it with an empty value.
    pub(crate) fn write(self, value: &str, is_https: bool) -> Option<HeaderValue> {
        let name = self.name(is_https);
        let age = match (value, self.max_age_s()) {
            ("", _) => "; Max-Age=0".to_owned(),
            (_, Some(seconds)) => format!("; Max-Age={seconds}"),
            (_, None) => String::new(),
        };
        let secure = if is_https { "; Secure" } else { "" };
        let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{age}{secure}");
        HeaderValue::try_from(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[&'static str]) -> HeaderMap {
        let lines = lines
            .iter()
            .map(|line| (header::COOKIE, HeaderValue::from_static(line)));
        lines.collect()
    }

    #[test]
    fn a_cookie_is_read_by_its_whole_name() {
        let table: [(&[&str], Option<&str>); 7] = [
            (&["ogene=one"], Some("one")),
            (&["a=b; ogene=one; ogene-form=two"], Some("one")),
            (&["a=b", "ogene=one"], Some("one")),
            (&["ogene=one; ogene=one"], Some("one")),
            // A cookie that another site of the domain planted beside ours.
            (&["ogene=one; ogene=two"], None),
            (&["xogene=one; ogene-form=two"], None),
            (&[], None),
        ];
        for (lines, expected) in table {
            let headers = headers(lines);
            let found = Cookie::Session.read(&headers, false);
            assert_eq!(found, expected, "{lines:?}");
        }
        let plain = headers(&["ogene=one"]);
        assert_eq!(Cookie::Session.read(&plain, true), None);
    }

    #[test]
    fn a_cookie_is_for_this_host_and_no_script() {
        let set = |value, is_https| Cookie::Session.write(value, is_https).unwrap();
        assert_eq!(
            set("one", true),
            "__Host-ogene=one; Path=/; HttpOnly; SameSite=Lax; Secure"
        );
        assert_eq!(
            set("one", false),
            "ogene=one; Path=/; HttpOnly; SameSite=Lax"
        );
        assert_eq!(
            set("", false),
            "ogene=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0"
        );
    }
}
