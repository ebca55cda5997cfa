//! The request of a customer for an SMPP user (docs/spec/smpp-users.md).

use super::dialect::Dialect;
use super::limits::SmppLimits;
use crate::client_address::{AddressRange, AllowList};
use crate::draft::flag;
use crate::gateway::Gateway;
use crate::refusal::Refusal;
use crate::token::MAX_RANGES;

/// Maximum number of SMPP users of an account that are not revoked. Only the operator makes more.
pub const MAX_USERS: usize = 100;

/// The raw fields of a request for an SMPP user.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SmppUserFields {
    /// `true` if its messages are simulated.
    pub sandbox: Option<String>,
    /// Maximum number of connections to a node.
    pub binds: Option<String>,
    /// Maximum number of submits in a second.
    pub per_second: Option<String>,
    /// Maximum number of unanswered requests of a connection.
    pub window: Option<String>,
    /// The ranges from which the user may bind.
    pub allow: Option<Vec<String>>,
    /// The gateway of its messages.
    pub gateway: Option<String>,
    /// `true` if it understands vendor statuses.
    pub vendor_statuses: Option<String>,
    /// `true` if its `data_coding` 0 is Latin 1.
    pub latin_1: Option<String>,
}

/// A request for an SMPP user.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SmppUserRequest {
    /// `true` if its messages are simulated.
    pub sandbox: bool,
    /// The limits.
    pub limits: SmppLimits,
    /// The addresses from which the user may bind.
    pub allowed: AllowList,
    /// The gateway of its messages, or `None` for the default.
    pub gateway: Option<Gateway>,
    /// The dialect of its program.
    pub dialect: Dialect,
}

impl SmppUserRequest {
    /// Parses the fields of a request. The limits are at most those of a new user. Only the operator
    /// gives more.
    pub fn read(fields: &SmppUserFields) -> Result<Self, Refusal> {
        let most = SmppLimits::default();
        let yes = |name, text: &Option<String>| flag(name, text.as_deref());
        Ok(Self {
            sandbox: yes("sandbox", &fields.sandbox)?,
            limits: SmppLimits {
                binds: limit("binds", fields.binds.as_deref(), most.binds)?,
                per_second: limit("per_second", fields.per_second.as_deref(), most.per_second)?,
                window: limit("window", fields.window.as_deref(), most.window)?,
            },
            allowed: ranges(fields.allow.as_deref().unwrap_or_default())?,
            gateway: gateway(fields.gateway.as_deref())?,
            dialect: Dialect {
                vendor_statuses: yes("vendor_statuses", &fields.vendor_statuses)?,
                latin_1: yes("latin_1", &fields.latin_1)?,
            },
        })
    }
}

fn limit(name: &str, text: Option<&str>, most: u32) -> Result<u32, Refusal> {
    let Some(text) = given(text) else {
        return Ok(most);
    };
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let read = text
        .parse()
        .ok()
        .filter(|limit| is_number && (1..=most).contains(limit));
    read.ok_or_else(|| {
        Refusal::Malformed(format!(
            "`{name}` must be a number from 1 to {most}. Ask the operator for a higher limit."
        ))
    })
}

fn ranges(texts: &[String]) -> Result<AllowList, Refusal> {
    let ranges = texts.iter().map(|text| text.parse());
    let ranges: Result<Vec<AddressRange>, _> = ranges.collect();
    let ranges =
        ranges.map_err(|fault| Refusal::Malformed(format!("`allow` cannot be used: {fault}.")))?;
    if ranges.len() > MAX_RANGES {
        return Err(Refusal::Malformed(format!(
            "`allow` has more than {MAX_RANGES} ranges."
        )));
    }
    Ok(AllowList(ranges))
}

fn gateway(text: Option<&str>) -> Result<Option<Gateway>, Refusal> {
    let read = given(text).map(|name| {
        Gateway::parse(name).ok_or_else(|| {
            let fault = "`gateway` is unknown. Give one such as direct-refund, otp or 2.";
            Refusal::Malformed(fault.to_owned())
        })
    });
    read.transpose()
}

fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_the_limits_of_a_new_user_by_default() {
        let request = SmppUserRequest::read(&SmppUserFields::default()).unwrap();
        assert_eq!(request.limits, SmppLimits::default());
        assert_eq!((request.sandbox, request.gateway), (false, None));
        assert!(request.allowed.0.is_empty());
        assert_eq!(request.dialect, Dialect::default());
    }

    #[test]
    fn each_field_is_read() {
        let text = |text: &str| Some(text.to_owned());
        let fields = SmppUserFields {
            sandbox: text("true"),
            binds: text("2"),
            per_second: text("20"),
            window: text(" 5 "),
            allow: Some(vec!["203.0.113.0/24".to_owned()]),
            gateway: text("8"),
            vendor_statuses: text("1"),
            latin_1: text("false"),
        };
        let request = SmppUserRequest::read(&fields).unwrap();
        let SmppLimits {
            binds,
            per_second,
            window,
        } = request.limits;
        assert_eq!((binds, per_second, window), (2, 20, 5));
        assert!(request.sandbox && request.dialect.vendor_statuses);
        assert!(!request.dialect.latin_1);
        assert_eq!(request.gateway, Some(Gateway::Otp));
        assert_eq!(request.allowed.to_string(), "203.0.113.0/24");
    }

    #[test]
    fn a_field_that_cannot_be_used_is_refused() {
        let text = |text: &str| Some(text.to_owned());
        let none = SmppUserFields::default;
        for fields in [
            SmppUserFields {
                binds: text("0"),
                ..none()
            },
            SmppUserFields {
                binds: text("5"),
                ..none()
            },
            SmppUserFields {
                per_second: text("101"),
                ..none()
            },
            SmppUserFields {
                window: text("+1"),
                ..none()
            },
            SmppUserFields {
                gateway: text("pigeon"),
                ..none()
            },
            SmppUserFields {
                sandbox: text("maybe"),
                ..none()
            },
            SmppUserFields {
                allow: Some(vec!["x".to_owned()]),
                ..none()
            },
            SmppUserFields {
                allow: Some(vec!["::1".to_owned(); MAX_RANGES + 1]),
                ..none()
            },
        ] {
            let refused = SmppUserRequest::read(&fields);
            assert!(matches!(refused, Err(Refusal::Malformed(_))), "{fields:?}");
        }
    }
}
