//! Parsed callback URLs, with the parts that all requests to one of them share.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use domain::callback::signature::Signed;
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, InvalidHeaderValue,
    USER_AGENT,
};
use http::{HeaderValue, Request};
use http_body_util::Full;
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use std::collections::HashMap;
use std::sync::Arc;
use url::{Position, Url};

/// Maximum number of cached targets. All are dropped at this number.
const MAX_TARGETS: usize = 1_024;
const AGENT: HeaderValue = HeaderValue::from_static(concat!("Ogene/", env!("CARGO_PKG_VERSION")));
const ATTEMPT: HeaderName = HeaderName::from_static("ogene-attempt");
const ID: HeaderName = HeaderName::from_static("webhook-id");
const TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");

/// The variable part of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Post {
    pub(crate) body: Bytes,
    /// The number of the attempt, from 1.
    pub(crate) attempt: i64,
    /// The signature, if the account has a secret.
    pub(crate) signed: Option<Signed>,
}

/// A valid callback URL.
pub(crate) struct Target {
    pub(crate) url: Url,
    /// A request in origin form without body and attempt. It holds a placeholder for each header,
    /// so that the header map never grows.
    blank: Request<()>,
}

impl Target {
    /// Parses a URL. Returns `None` if it is invalid or does not fit into a request.
    fn read(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        let mut blank = Request::post(&url[Position::BeforePath..Position::AfterQuery])
            .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
            .header(
                CONTENT_TYPE,
                const { HeaderValue::from_static("application/json") },
            )
            .header(ACCEPT, const { HeaderValue::from_static("*/*") })
            .header(USER_AGENT, AGENT)
            .header(ATTEMPT, 1);
        if let Some(value) = basic_authentication(&url) {
            blank = blank.header(AUTHORIZATION, value);
        }
        let blank = blank.header(CONTENT_LENGTH, 0).body(()).ok()?;
        Some(Self { url, blank })
    }

    /// Returns the key of reusable connections: scheme, user, host and port of the URL.
    pub(crate) fn receiver(&self) -> &str {
        &self.url[..Position::BeforePath]
    }

    /// Returns the request for this post.
    pub(crate) fn request(&self, post: &Post) -> Result<Request<Full<Bytes>>, InvalidHeaderValue> {
        let (mut head, ()) = self.blank.clone().into_parts();
        head.headers.insert(ATTEMPT, post.attempt.into());
        head.headers.insert(CONTENT_LENGTH, post.body.len().into());
        if let Some(signed) = &post.signed {
            head.headers.insert(ID, signed.id.as_str().try_into()?);
            head.headers.insert(TIMESTAMP, signed.at_s.into());
            let signature = signed.signature.as_str().try_into()?;
            head.headers.insert(SIGNATURE, signature);
        }
        Ok(Request::from_parts(head, Full::new(post.body.clone())))
    }
}

/// Encodes user and password of the URL as in RFC 7617.
fn basic_authentication(url: &Url) -> Option<String> {
    let (user, password) = (url.username(), url.password());
    if user.is_empty() && password.is_none() {
        return None;
    }
    let mut pair: Vec<u8> = percent_decode_str(user).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(password.unwrap_or_default()));
    Some(format!("Basic {}", BASE64_STANDARD.encode(pair)))
}

/// A cache of targets. Most customers have one.
#[derive(Default)]
pub(crate) struct Targets(Mutex<HashMap<String, Arc<Target>>>);

impl Targets {
    /// Returns the target of a URL from the cache, or parses it.
    pub(crate) fn of(&self, url: &str) -> Option<Arc<Target>> {
        // A panic of another holder leaves the map consistent.
        let mut known = self.0.lock();
        if let Some(target) = known.get(url) {
            return Some(Arc::clone(target));
        }
        if known.len() >= MAX_TARGETS {
            known.clear();
        }
        let target = Arc::new(Target::read(url)?);
        known.insert(url.to_owned(), Arc::clone(&target));
        Some(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(targets: &Targets, attempt: i64) -> String {
        let url = "https://user:p%40ss@example.com:8443/hook?a=1#part";
        let post = Post {
            body: "{}".into(),
            attempt,
            signed: None,
        };
        let request = targets.of(url).unwrap().request(&post).unwrap();
        let headers = request.headers().iter();
        let headers = headers.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()));
        let headers: Vec<_> = headers.collect();
        format!(
            "{} {}\n{}",
            request.method(),
            request.uri(),
            headers.join("\n")
        )
    }

    #[test]
    fn a_cached_target_makes_the_same_request_as_a_new_one() {
        let targets = Targets::default();
        let first = posted(&targets, 1);
        let expected = format!(
            "POST /hook?a=1\nhost: example.com:8443\ncontent-type: application/json\naccept: */*\n\
             user-agent: Ogene/{}\nogene-attempt: 1\nauthorization: Basic dXNlcjpwQHNz\ncontent-length: 2",
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(first, expected);
        assert_eq!(posted(&targets, 1), first);
        let second = posted(&targets, 2);
        assert_eq!(
            second,
            first.replace("ogene-attempt: 1", "ogene-attempt: 2")
        );
    }

    #[test]
    fn the_cache_of_targets_has_a_bound() {
        let targets = Targets::default();
        for number in 0..=MAX_TARGETS {
            assert!(
                targets
                    .of(&format!("https://example.com/{number}"))
                    .is_some()
            );
        }
        assert_eq!(targets.0.lock().len(), 1);
        assert!(targets.of("no URL").is_none());
    }
}
