//! The requests of customers about their callbacks: a new secret, and a replay.

use crate::ids::MessageId;
use crate::refusal::Refusal;

/// The default time in which the previous secret still signs.
pub const DEFAULT_OVERLAP_S: i64 = 24 * 3_600;
/// The longest such time.
pub const MAX_OVERLAP_S: i64 = 7 * 24 * 3_600;

/// The unparsed fields of a request for a secret.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SecretFields {
    /// The seconds in which the previous secrets still sign.
    pub overlap: Option<String>,
}

/// A request for a secret.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SecretRequest {
    /// The seconds in which the previous secrets still sign.
    pub overlap_s: i64,
}

impl SecretRequest {
    /// Parses the fields.
    pub fn read(fields: &SecretFields) -> Result<Self, Refusal> {
        let overlap_s = match fields.overlap.as_deref().map(str::trim) {
            None | Some("") => DEFAULT_OVERLAP_S,
            Some(text) => seconds(text).ok_or_else(|| {
                let fault = format!("`overlap` must be 0 to {MAX_OVERLAP_S} seconds.");
                Refusal::Malformed(fault)
            })?,
        };
        Ok(Self { overlap_s })
    }
}

fn seconds(text: &str) -> Option<i64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = text.parse().ok().filter(|_| is_number)?;
    (0..=MAX_OVERLAP_S).contains(&seconds).then_some(seconds)
}

/// The unparsed fields of a request for a replay.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ReplayFields {
    /// The message whose callbacks are replayed.
    pub message_id: Option<String>,
}

/// A request for a replay.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReplayRequest {
    /// The message whose callbacks are replayed, or `None` for all of the account.
    pub message: Option<MessageId>,
}

impl ReplayRequest {
    /// Parses the fields. A text that is no id is the id of no message.
    pub fn read(fields: &ReplayFields) -> Result<Self, Refusal> {
        let message = match fields.message_id.as_deref().map(str::trim) {
            None | Some("") => None,
            Some(text) => Some(text.parse().map_err(|_| Refusal::UnknownMessage)?),
        };
        Ok(Self { message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_previous_secret_signs_for_a_day_unless_said_otherwise() {
        for (overlap, seconds) in [
            (None, Some(86_400)),
            (Some(" "), Some(86_400)),
            (Some("0"), Some(0)),
            (Some(" 604800 "), Some(604_800)),
            (Some("604801"), None),
            (Some("-1"), None),
            (Some("+1"), None),
            (Some("24h"), None),
            (Some("99999999999999999999"), None),
        ] {
            let fields = SecretFields {
                overlap: overlap.map(str::to_owned),
            };
            let read = SecretRequest::read(&fields).map(|request| request.overlap_s);
            assert_eq!(read.ok(), seconds, "{overlap:?}");
        }
    }

    #[test]
    fn a_replay_is_of_one_message_or_of_all() {
        let read = |id: Option<&str>| {
            let message_id = id.map(str::to_owned);
            ReplayRequest::read(&ReplayFields { message_id }).map(|request| request.message)
        };
        assert_eq!(read(None), Ok(None));
        let id = "019a5c1e-9f00-7abc-8000-000000000001";
        assert_eq!(read(Some(id)), Ok(id.parse().ok()));
        assert!(read(Some(id)).unwrap().is_some());
        assert_eq!(read(Some("all")), Err(Refusal::UnknownMessage));
    }
}
