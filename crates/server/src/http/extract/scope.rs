//! The scopes that permit each operation (docs/spec/tokens.md, section 2).

use axum::http::Method;
use domain::token::{Scope, Scopes};

const SEND: Scopes = Scopes::of(&[Scope::Send]);
const READ: Scopes = Scopes::of(&[Scope::Read]);

/// Returns the scopes of which a token needs one. A token that may change a thing may read it.
pub(crate) fn permitting(method: &Method, path: &str) -> Scopes {
    let below = ["/v2/", "/v1/"]
        .iter()
        .find_map(|version| Some(path.split_once(version)?.1));
    let changing = changing(below.unwrap_or_default());
    match (changing, method) {
        // A send by GET is a send.
        (Some(Changed::Sends), _) => SEND,
        (Some(Changed::By(scope)), &Method::GET | &Method::HEAD) => {
            Scopes::of(&[scope, Scope::Read])
        }
        (Some(Changed::By(scope)), _) => Scopes::of(&[scope]),
        (Some(Changed::Never), _) => READ,
        (None, _) => Scopes::ALL,
    }
}

/// The operations below a part of the path.
enum Changed {
    /// They send, also by GET.
    Sends,
    /// The holder of this scope changes what they read.
    By(Scope),
    /// No operation changes what they read.
    Never,
}

/// Returns the operations below a path, or `None` if it is unknown.
fn changing(path: &str) -> Option<Changed> {
    let mut parts = path.split('/');
    let (first, second) = (parts.next()?, parts.next().unwrap_or_default());
    let last = parts.next_back().unwrap_or_default();
    Some(match (first, second) {
        ("sms", "delivery-reports") | ("delivery" | "delivery-reports", _) => {
            Changed::By(Scope::Send)
        }
        ("sms", _) => Changed::Sends,
        ("otp" | "messages", _) | ("exports", "recipients.csv") => Changed::By(Scope::Send),
        ("balance" | "wallet" | "top-ups" | "alerts", _) | ("exports", "wallet.csv") => {
            Changed::By(Scope::Wallet)
        }
        ("sub-accounts", _) if last == "transfer" => Changed::By(Scope::Wallet),
        (
            "sender-ids" | "inbound" | "opt-outs" | "tokens" | "smpp-users" | "webhooks"
            | "sub-accounts",
            _,
        )
        | ("exports", "opt-outs.csv") => Changed::By(Scope::Manage),
        ("usage" | "account", _) => Changed::Never,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_may_change_a_thing_may_read_it() {
        for (method, path, scopes) in [
            (Method::POST, "/api/v2/sms", "send"),
            (Method::GET, "/api/v2/sms/create", "send"),
            (Method::GET, "/api/v1/sms/create", "send"),
            (Method::POST, "/api/sandbox/v2/sms/quote", "send"),
            (Method::GET, "/api/v2/sms/delivery-reports/1", "send,read"),
            (Method::POST, "/api/v2/messages/1/cancel", "send"),
            (Method::GET, "/api/v2/messages/1/recipients", "send,read"),
            (Method::GET, "/api/v2/balance", "read,wallet"),
            (Method::GET, "/api/v2/exports/wallet.csv", "read,wallet"),
            (Method::GET, "/api/v2/inbound", "read,manage"),
            (Method::DELETE, "/api/v2/inbound/routes/1", "manage"),
            (Method::DELETE, "/api/v2/opt-outs/1", "manage"),
            (Method::GET, "/api/v2/exports/opt-outs.csv", "read,manage"),
            (Method::POST, "/api/v2/tokens", "manage"),
            (Method::POST, "/api/v2/sub-accounts/1/transfer", "wallet"),
            (Method::PATCH, "/api/v2/sub-accounts/1", "manage"),
            (Method::GET, "/api/v2/usage", "read"),
        ] {
            let found = permitting(&method, path).to_string();
            assert_eq!(found, scopes, "{method} {path}");
        }
    }
}
