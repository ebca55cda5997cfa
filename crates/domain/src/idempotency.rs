//! Idempotency keys: a repeated request with the same key gets the first answer again.
//!
//! A key is looked up by account and environment, after the request is parsed and before anything
//! that depends on state. So a [`RequestFingerprint`] depends only on the fields of the request.

mod fingerprint;
mod key;
mod operation;
mod requests;

pub use fingerprint::{FingerprintWriter, RequestFingerprint};
pub use key::{HEADER, IdempotencyKey, MAX_KEY_CHARACTERS};
pub use operation::Operation;
pub use requests::{
    of_alert, of_answers, of_change, of_opt_outs, of_otp, of_personalised, of_replay, of_route,
    of_secret, of_send, of_sender, of_smpp_user, of_sub_account, of_sub_account_change, of_token,
    of_top_up, of_transfer, of_verification,
};

use crate::refusal::Refusal;

/// Seconds after which a request with a key in use may be repeated.
const RETRY_AFTER_S: u64 = 1;

/// The state of a key when a request arrives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeyState {
    /// No request with this key succeeded.
    Unused,
    /// The first request with this key is still running.
    InUse,
    /// A request with this key succeeded.
    Kept {
        /// The fingerprint of the request.
        request: RequestFingerprint,
        /// The time of its commit, Unix milliseconds.
        kept_at_ms: i64,
    },
}

/// The decision on a request with a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Decision {
    /// The request is handled. Its answer is stored if it succeeds.
    Handle,
    /// The request gets the stored answer.
    Replay,
}

/// Returns the refusal of a request whose key is in use.
pub fn in_use() -> Refusal {
    Refusal::KeyInUse {
        retry_after_s: RETRY_AFTER_S,
    }
}

/// Decides on a request with a key, which is stored for `window_ms`.
///
/// While the first request runs, other requests with its key are refused. They may be repeated
/// later, because a failed first request releases the key.
pub fn decide(
    state: KeyState,
    request: RequestFingerprint,
    now_ms: i64,
    window_ms: i64,
) -> Result<Decision, Refusal> {
    match state {
        KeyState::Unused => Ok(Decision::Handle),
        KeyState::InUse => Err(in_use()),
        KeyState::Kept { kept_at_ms, .. } if now_ms - kept_at_ms >= window_ms => {
            Ok(Decision::Handle)
        }
        KeyState::Kept { request: kept, .. } if kept == request => Ok(Decision::Replay),
        KeyState::Kept { .. } => Err(Refusal::KeyUsed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: &str) -> RequestFingerprint {
        let mut writer = FingerprintWriter::new(Operation::Send);
        writer.text("body", Some(name));
        writer.finish()
    }

    #[test]
    fn a_key_decides_by_its_state_and_request() {
        let (one, other) = (request("one"), request("other"));
        let kept = KeyState::Kept {
            request: one,
            kept_at_ms: 1_000,
        };
        let in_use = Err(Refusal::KeyInUse { retry_after_s: 1 });
        let table = [
            (KeyState::Unused, one, 0, Ok(Decision::Handle)),
            (KeyState::InUse, one, 0, in_use.clone()),
            (KeyState::InUse, other, 0, in_use),
            (kept, one, 1_000, Ok(Decision::Replay)),
            (kept, other, 1_000, Err(Refusal::KeyUsed)),
            (kept, one, 1_099, Ok(Decision::Replay)),
            (kept, other, 1_100, Ok(Decision::Handle)),
            (kept, one, 1_100, Ok(Decision::Handle)),
            (kept, one, 900, Ok(Decision::Replay)),
        ];
        for (state, request, now, decision) in table {
            assert_eq!(decide(state, request, now, 100), decision, "{state:?}");
        }
    }
}
