//! The request of a customer for a token (docs/spec/tokens.md, section 3).

use super::scope::Scopes;
use super::terms::TokenTerms;
use crate::client_address::{AddressRange, AllowList};
use crate::refusal::{ObjectRefusal, Refusal};
use crate::time::{FORMS, parse_time};
use std::fmt::Display;

/// Maximum number of tokens of an account that are not revoked.
pub const MAX_TOKENS: usize = 1_000;
/// Maximum number of characters of a name.
pub const MAX_NAME_CHARACTERS: usize = 255;
/// Maximum number of ranges from which a token may be used.
pub const MAX_RANGES: usize = 100;
/// The highest limit of a token in requests a minute.
pub const MAX_PER_MINUTE: u32 = 1_000_000;

/// The raw fields of a request for a token.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TokenFields {
    /// The name.
    pub name: Option<String>,
    /// The scopes.
    pub scopes: Option<Vec<String>>,
    /// The time from which the token is refused.
    pub expires_at: Option<String>,
    /// The ranges from which the token may be used.
    pub allow: Option<Vec<String>>,
    /// The maximum number of requests in a minute.
    pub per_minute: Option<String>,
}

/// A request for a token.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TokenRequest {
    /// The name.
    pub name: String,
    /// The terms.
    pub terms: TokenTerms,
}

impl TokenRequest {
    /// Parses the fields of a request. It does not depend on the clock, so that a repeated request
    /// has the same fingerprint.
    pub fn read(fields: &TokenFields) -> Result<Self, Refusal> {
        Ok(Self {
            name: name(fields.name.as_deref())?,
            terms: TokenTerms {
                expires_at_ms: expiry(fields.expires_at.as_deref())?,
                allowed: ranges(fields.allow.as_deref().unwrap_or_default())?,
                scopes: scopes(fields.scopes.as_deref().unwrap_or_default())?,
                per_minute: per_minute(fields.per_minute.as_deref())?,
            },
        })
    }

    /// Checks the request against the clock, and against the terms of the token that makes it.
    pub fn check(&self, maker: &TokenTerms, now_ms: i64) -> Result<(), Refusal> {
        let expiry = self.terms.expires_at_ms;
        if expiry.is_some_and(|at_ms| at_ms <= now_ms) {
            return Err(Refusal::Malformed(
                "`expires_at` is in the past. Give a time that is ahead.".to_owned(),
            ));
        }
        if maker.covers(&self.terms) {
            Ok(())
        } else {
            Err(Refusal::Object(ObjectRefusal::TokenExceeds))
        }
    }
}

fn name(text: Option<&str>) -> Result<String, Refusal> {
    let text = text.unwrap_or_default().trim();
    match text.chars().count() {
        _ if text.contains(char::is_control) => Err(Refusal::Malformed(
            "`name` has a control character, such as a line break or a tab.".to_owned(),
        )),
        1..=MAX_NAME_CHARACTERS => Ok(text.to_owned()),
        0 => Err(Refusal::Malformed(
            "The field `name` is missing: name the program that will use the token.".to_owned(),
        )),
        _ => Err(Refusal::Malformed(format!(
            "`name` has more than {MAX_NAME_CHARACTERS} characters."
        ))),
    }
}

fn expiry(text: Option<&str>) -> Result<Option<i64>, Refusal> {
    let given = text.filter(|text| !text.trim().is_empty());
    given.map(parse_time).transpose().map_err(|_| {
        Refusal::Malformed(format!("`expires_at` is not a time. Give one as {FORMS}."))
    })
}

fn ranges(texts: &[String]) -> Result<AllowList, Refusal> {
    let ranges = texts.iter().map(|text| text.parse());
    let ranges: Result<Vec<AddressRange>, _> = ranges.collect();
    let ranges = ranges.map_err(|fault| malformed("allow", &fault))?;
    if ranges.len() > MAX_RANGES {
        let fault = format!("it has more than {MAX_RANGES} ranges");
        return Err(malformed("allow", &fault));
    }
    Ok(AllowList(ranges))
}

fn scopes(names: &[String]) -> Result<Scopes, Refusal> {
    let scopes = Scopes::named(names.iter().map(String::as_str));
    scopes.map_err(|fault| malformed("scopes", &fault))
}

fn per_minute(text: Option<&str>) -> Result<Option<u32>, Refusal> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let limit = text.parse().ok().filter(|_| is_number);
    match limit {
        Some(limit @ 1..=MAX_PER_MINUTE) => Ok(Some(limit)),
        _ => Err(Refusal::Malformed(format!(
            "`per_minute` must be a number from 1 to {MAX_PER_MINUTE}."
        ))),
    }
}

fn malformed(field: &str, fault: &dyn Display) -> Refusal {
    Refusal::Malformed(format!("`{field}` cannot be used: {fault}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::token::scope::Scope;

    fn fields() -> TokenFields {
        TokenFields {
            name: Some(" web shop ".to_owned()),
            ..TokenFields::default()
        }
    }

    #[test]
    fn a_request_has_all_scopes_and_no_end_by_default() {
        let request = TokenRequest::read(&fields()).unwrap();
        assert_eq!(request.name, "web shop");
        assert_eq!(request.terms, TokenTerms::default());
    }

    #[test]
    fn each_field_is_read() {
        let fields = TokenFields {
            scopes: Some(vec!["read".to_owned()]),
            expires_at: Some("2027-01-31 18:00:00".to_owned()),
            allow: Some(vec!["203.0.113.0/24".to_owned()]),
            per_minute: Some("60".to_owned()),
            ..fields()
        };
        let terms = TokenRequest::read(&fields).unwrap().terms;
        assert_eq!(terms.scopes, Scopes::of(&[Scope::Read]));
        assert_eq!(terms.expires_at_ms, parse_time("2027-01-31 18:00:00").ok());
        assert_eq!(terms.allowed.to_string(), "203.0.113.0/24");
        assert_eq!(terms.per_minute, Some(60));
    }

    #[test]
    fn a_wrong_field_is_named() {
        let text = |text: &str| Some(text.to_owned());
        let list = |text: &str| Some(vec![text.to_owned()]);
        let table = [
            (
                "`name`",
                TokenFields {
                    name: text(" "),
                    ..fields()
                },
            ),
            (
                "`name`",
                TokenFields {
                    name: Some("x".repeat(256)),
                    ..fields()
                },
            ),
            (
                "`name`",
                TokenFields {
                    name: text("web\0shop"),
                    ..fields()
                },
            ),
            (
                "`scopes`",
                TokenFields {
                    scopes: list("admin"),
                    ..fields()
                },
            ),
            (
                "`expires_at`",
                TokenFields {
                    expires_at: text("soon"),
                    ..fields()
                },
            ),
            (
                "`allow`",
                TokenFields {
                    allow: list("home"),
                    ..fields()
                },
            ),
            (
                "`per_minute`",
                TokenFields {
                    per_minute: text("0"),
                    ..fields()
                },
            ),
            (
                "`per_minute`",
                TokenFields {
                    per_minute: text("+5"),
                    ..fields()
                },
            ),
        ];
        for (name, fields) in table {
            let refusal = TokenRequest::read(&fields).unwrap_err().to_string();
            assert!(refusal.contains(name), "{fields:?}: {refusal}");
        }
    }

    #[test]
    fn a_token_is_never_more_than_the_token_that_makes_it() {
        let terms = |scopes: &[Scope], allowed: &str, expires_at_ms, per_minute| TokenTerms {
            expires_at_ms,
            allowed: allowed.parse().unwrap(),
            scopes: Scopes::of(scopes),
            per_minute,
        };
        let maker = terms(
            &[Scope::Read, Scope::Manage],
            "10.0.0.0/8",
            Some(9_000),
            Some(60),
        );
        let read = [Scope::Read];
        for (asked, fits) in [
            (maker.clone(), true),
            (terms(&read, "10.1.0.0/16", Some(8_000), Some(10)), true),
            (
                terms(&[Scope::Send], "10.0.0.0/8", Some(8_000), Some(10)),
                false,
            ),
            (terms(&read, "", Some(8_000), Some(10)), false),
            (terms(&read, "10.0.0.0/7", Some(8_000), Some(10)), false),
            (terms(&read, "10.0.0.0/8", None, Some(10)), false),
            (terms(&read, "10.0.0.0/8", Some(9_001), Some(10)), false),
            (terms(&read, "10.0.0.0/8", Some(8_000), None), false),
            (terms(&read, "10.0.0.0/8", Some(8_000), Some(61)), false),
        ] {
            let request = TokenRequest {
                name: "made".to_owned(),
                terms: asked,
            };
            let expected = if fits {
                Ok(())
            } else {
                Err(Refusal::Object(ObjectRefusal::TokenExceeds))
            };
            assert_eq!(request.check(&maker, 1_000), expected, "{request:?}");
            assert!(request.check(&TokenTerms::default(), 1_000).is_ok());
            let late = request.check(&TokenTerms::default(), 10_000);
            assert_eq!(late.is_ok(), request.terms.expires_at_ms.is_none());
        }
    }
}
