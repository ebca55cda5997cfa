//! The address under which browsers reach the service.

use super::tree::{Node, Value};
use super::value::Read;

/// The origin of an address: scheme, host and port, such as `https://sms.example.ng`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublicUrl(String);

impl PublicUrl {
    /// Returns the origin, without a slash at its end.
    pub fn origin(&self) -> &str {
        &self.0
    }

    /// Returns `true` if browsers reach the service over TLS.
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl Read for PublicUrl {
    fn read(node: &Node) -> Result<Self, String> {
        let text = match &node.value {
            Value::Text(text) | Value::Variable(text) => text,
            other => return Err(format!("must be a text in quotes, not {}", other.kind())),
        };
        let fault = || format!("{text:?} is not an address such as \"https://sms.example.ng\"");
        let origin = text.strip_suffix('/').unwrap_or(text).to_lowercase();
        let host = origin
            .strip_prefix("https://")
            .or_else(|| origin.strip_prefix("http://"));
        let host = host.ok_or_else(fault)?;
        let is_plain = |sign: char| sign.is_ascii_alphanumeric() || ".-:[]".contains(sign);
        if host.is_empty() || !host.chars().all(is_plain) {
            return Err(fault());
        }
        Ok(Self(origin))
    }
}
