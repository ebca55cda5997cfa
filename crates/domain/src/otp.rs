//! One-time passwords: request, code, verification, and limits of sending.
//!
//! The code derives from a key of the server and the id of the one-time password, so the database
//! does not contain it.

mod code;
mod id;
mod limits;
mod text;
mod verify;

pub use code::{Code, CodeKind, GivenCode, hash_of_typed};
pub use id::OtpId;
pub use limits::{MAX_RESENDS, RESEND_INTERVAL_MS, Resends, WINDOW_MS, check_number, check_resend};
pub(crate) use text::example_of;
pub use text::{DEFAULT_BODY, NewOtp, OtpMessage, OtpText, check_body, masked_receipt, with_code};
pub use verify::{OtpState, Reason, Verification, Verified, check_cancel};

use crate::refusal::Refusal;
use std::ops::RangeInclusive;

/// Allowed lengths of a code.
const LENGTHS: RangeInclusive<u32> = 4..=10;
const DEFAULT_LENGTH: u32 = 6;
/// Allowed lifetimes of a code, seconds.
const LIFETIMES_S: RangeInclusive<u32> = 60..=3_600;
const DEFAULT_LIFETIME_S: u32 = 600;
/// Allowed maximum numbers of wrong codes.
const ATTEMPTS: RangeInclusive<u32> = 1..=10;
const DEFAULT_ATTEMPTS: u32 = 3;

/// The raw fields of a request that a send does not have.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct OtpFields {
    /// The text with `{code}`.
    pub body: Option<String>,
    /// The length of the code.
    pub length: Option<String>,
    /// The kind of characters of the code.
    pub kind: Option<String>,
    /// The lifetime of the code, seconds.
    pub expires_in: Option<String>,
    /// The number of wrong codes after which the verification fails.
    pub max_attempts: Option<String>,
}

/// A checked request for a one-time password.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OtpRequest {
    /// The text with `{code}`.
    pub body: String,
    /// The length of the code.
    pub length: u32,
    /// The kind of characters of the code.
    pub kind: CodeKind,
    /// The lifetime of the code, seconds.
    pub expires_in_s: u32,
    /// The number of wrong codes after which the verification fails.
    pub max_attempts: u32,
}

impl OtpRequest {
    /// Parses the fields. Blank ones have their default.
    pub fn read(fields: &OtpFields) -> Result<Self, Refusal> {
        let body = given(fields.body.as_ref()).unwrap_or(DEFAULT_BODY);
        check_body(body)?;
        let kind = match given(fields.kind.as_ref()).map(str::trim) {
            None => CodeKind::Numeric,
            Some(name) => CodeKind::from_name(name).ok_or_else(|| {
                Refusal::Malformed("`kind` must be numeric or alphanumeric.".to_owned())
            })?,
        };
        let expires_in = fields.expires_in.as_ref();
        let max_attempts = fields.max_attempts.as_ref();
        Ok(Self {
            body: body.to_owned(),
            kind,
            length: number("length", fields.length.as_ref(), LENGTHS, DEFAULT_LENGTH)?,
            expires_in_s: number("expires_in", expires_in, LIFETIMES_S, DEFAULT_LIFETIME_S)?,
            max_attempts: number("max_attempts", max_attempts, ATTEMPTS, DEFAULT_ATTEMPTS)?,
        })
    }
}

fn given(field: Option<&String>) -> Option<&str> {
    field
        .map(String::as_str)
        .filter(|text| !text.trim().is_empty())
}

fn number(
    name: &str,
    field: Option<&String>,
    range: RangeInclusive<u32>,
    default: u32,
) -> Result<u32, Refusal> {
    let Some(text) = given(field).map(str::trim) else {
        return Ok(default);
    };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let value: Option<u32> = text.parse().ok().filter(|_| is_number);
    value.filter(|value| range.contains(value)).ok_or_else(|| {
        Refusal::Malformed(format!(
            "`{name}` must be a whole number from {} to {}.",
            range.start(),
            range.end()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(change: impl FnOnce(&mut OtpFields)) -> Result<OtpRequest, String> {
        let mut fields = OtpFields::default();
        change(&mut fields);
        OtpRequest::read(&fields).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn fields_that_are_blank_have_their_default() {
        let expected = OtpRequest {
            body: DEFAULT_BODY.to_owned(),
            length: 6,
            kind: CodeKind::Numeric,
            expires_in_s: 600,
            max_attempts: 3,
        };
        assert_eq!(read(|_| {}), Ok(expected.clone()));
        let blank = |fields: &mut OtpFields| {
            fields.length = Some(" ".to_owned());
            fields.body = Some("\n".to_owned());
        };
        assert_eq!(read(blank), Ok(expected));
    }

    #[test]
    fn a_number_outside_of_its_range_is_refused_with_the_range() {
        for text in ["3", "11", "6.0", "-6", "six", "99999999999"] {
            let refusal = read(|fields| fields.length = Some(text.to_owned())).unwrap_err();
            assert_eq!(refusal, "`length` must be a whole number from 4 to 10.");
        }
        for (text, value) in [("4", 4), (" 10 ", 10)] {
            let request = read(|fields| fields.length = Some(text.to_owned()));
            assert_eq!(request.map(|request| request.length), Ok(value));
        }
        for text in ["59", "3601"] {
            assert!(read(|fields| fields.expires_in = Some(text.to_owned())).is_err());
        }
        for text in ["0", "11"] {
            assert!(read(|fields| fields.max_attempts = Some(text.to_owned())).is_err());
        }
    }

    #[test]
    fn another_kind_or_a_body_without_code_is_refused() {
        let kind = read(|fields| fields.kind = Some("hex".to_owned())).unwrap_err();
        assert_eq!(kind, "`kind` must be numeric or alphanumeric.");
        let kind = read(|fields| fields.kind = Some("alphanumeric".to_owned()));
        assert_eq!(kind.map(|request| request.kind), Ok(CodeKind::Alphanumeric));
        let body = read(|fields| fields.body = Some("Your code".to_owned())).unwrap_err();
        assert!(body.contains("`{code}`"), "{body}");
    }
}
