//! SMPP users: the credentials and limits with which a customer's program binds to the service.

mod dialect;
mod limits;
mod request;

pub use dialect::Dialect;
pub use limits::SmppLimits;
pub use request::{MAX_USERS, SmppUserFields, SmppUserRequest};

use crate::account::Environment;
use crate::client_address::AllowList;
use crate::gateway::Gateway;
use crate::ids::AccountId;
use crate::token::{BASE62, characters};
use sha2::{Digest, Sha256};
use std::fmt;
use std::net::IpAddr;
use subtle::ConstantTimeEq;

/// Number of characters of a password. The protocol allows 8, and clients cut longer ones.
pub const PASSWORD_CHARACTERS: usize = 8;
/// Maximum number of characters of a system id (SMPP 3.4, section 5.2.1).
pub const MAX_SYSTEM_ID_CHARACTERS: usize = 15;
/// Maximum number of connections of a user.
pub const MAX_BINDS: u32 = 100;
/// Maximum number of submits of a user in a second.
pub const MAX_PER_SECOND: u32 = 10_000;
/// Maximum number of unanswered requests of a connection.
pub const MAX_WINDOW: u32 = 1_000;
/// Number of random bytes for [`system_id`] and [`password`].
pub const RANDOM_BYTES: usize = 64;

/// The begin of every system id.
const PREFIX: &str = "og";
/// Number of random characters of a system id.
const ID_CHARACTERS: usize = 8;
/// The characters of system ids. No two of them look alike.
const LOWER: &[u8; 31] = b"abcdefghijkmnpqrstuvwxyz2345678";

const SECOND_US: i64 = 1_000_000;

/// An SMPP user of an account. Its password is known only by its hash.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SmppUser {
    /// The name with which the user binds.
    pub system_id: String,
    /// The account that pays.
    pub account: AccountId,
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
    /// Time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// Time of revocation, Unix milliseconds.
    pub revoked_at_ms: Option<i64>,
}

/// The pace of the requests of one user. As many as the limit of a second may come at once.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RequestPace {
    /// The time at which the requests so far are due at the limit, in microseconds.
    due_us: i64,
}

impl RequestPace {
    /// Counts a request. Returns `false` if the limit is exceeded, and then counts nothing.
    pub fn admit(&mut self, per_second: u32, steady_ms: i64) -> bool {
        self.admit_many(1, per_second, steady_ms)
    }

    /// Counts a request to so many numbers. It is admitted if the first of them is, and later requests
    /// wait for all of them.
    pub fn admit_many(&mut self, numbers: u32, per_second: u32, steady_ms: i64) -> bool {
        let now_us = steady_ms.saturating_mul(1_000);
        let interval = SECOND_US / i64::from(per_second.max(1));
        let begin_us = self.due_us.max(now_us);
        let is_allowed = begin_us + interval - now_us <= SECOND_US;
        if is_allowed {
            self.due_us = begin_us + interval * i64::from(numbers);
        }
        is_allowed
    }

    /// Returns `true` if earlier requests no longer count.
    pub const fn is_idle(&self, steady_ms: i64) -> bool {
        self.due_us <= steady_ms.saturating_mul(1_000)
    }
}

impl SmppUser {
    /// Returns the environment of its messages.
    pub const fn environment(&self) -> Environment {
        if self.sandbox {
            Environment::Sandbox
        } else {
            Environment::Live
        }
    }

    /// Returns `true` if the user may bind from an address.
    pub fn may_bind_from(&self, client: IpAddr) -> bool {
        self.allowed.allows(client)
    }
}

/// Returns the gateway that a `service_type` names: `otp` or a numeric alias. An empty one leaves the
/// gateway of the user. Returns `Err` for any other.
pub fn gateway_of(service_type: &str, user: &SmppUser) -> Result<Option<Gateway>, NoSuchGateway> {
    match service_type {
        "" => Ok(user.gateway),
        "otp" => Ok(Some(Gateway::Otp)),
        alias if alias.bytes().all(|byte| byte.is_ascii_digit()) => {
            Gateway::parse(alias).map(Some).ok_or(NoSuchGateway)
        }
        _ => Err(NoSuchGateway),
    }
}

/// The SHA-256 of a password that was right, so that the next bind needs no slow hash. It is kept in
/// memory alone.
#[derive(Clone, Copy)]
pub struct PasswordDigest([u8; 32]);

impl PasswordDigest {
    /// Returns the digest of a password.
    pub fn of(password: &str) -> Self {
        Self(Sha256::digest(password).into())
    }

    /// Compares a password in constant time.
    pub fn is_of(&self, password: &str) -> bool {
        self.0.ct_eq(&Self::of(password).0).into()
    }
}

impl fmt::Debug for PasswordDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordDigest(…)")
    }
}

/// A `service_type` names no gateway.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NoSuchGateway;

/// Creates a system id from random bytes. Returns `None` in the rare case that too few are usable.
pub fn system_id(random: &[u8; RANDOM_BYTES]) -> Option<String> {
    Some(PREFIX.to_owned() + &characters(random, LOWER, ID_CHARACTERS)?)
}

/// Creates a password from random bytes. Returns `None` in the rare case that too few are usable.
pub fn password(random: &[u8; RANDOM_BYTES]) -> Option<String> {
    characters(random, BASE62, PASSWORD_CHARACTERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(gateway: Option<Gateway>) -> SmppUser {
        SmppUser {
            system_id: "ogabc".to_owned(),
            account: AccountId(1),
            sandbox: false,
            limits: SmppLimits::default(),
            allowed: "203.0.113.0/24".parse().unwrap(),
            gateway,
            dialect: Dialect::default(),
            created_at_ms: 0,
            revoked_at_ms: None,
        }
    }

    #[test]
    fn credentials_fit_into_the_fields_of_a_bind() {
        let random: [u8; RANDOM_BYTES] =
            std::array::from_fn(|at| u8::try_from(at * 7 % 256).unwrap());
        let (id, secret) = (system_id(&random).unwrap(), password(&random).unwrap());
        assert!(
            id.len() <= MAX_SYSTEM_ID_CHARACTERS && id.is_ascii(),
            "{id}"
        );
        assert_eq!(secret.len(), PASSWORD_CHARACTERS);
        assert_ne!(password(&[9; RANDOM_BYTES]), Some(secret));
        assert_eq!(system_id(&[255; RANDOM_BYTES]), None);
        assert_eq!((248 % LOWER.len(), 248 % BASE62.len()), (0, 0));
    }

    #[test]
    fn a_digest_belongs_to_one_password() {
        let digest = PasswordDigest::of("k3yB0ard");
        assert!(digest.is_of("k3yB0ard"));
        assert!(!digest.is_of("k3yB0arD") && !digest.is_of("") && !digest.is_of("k3yB0ard1"));
        assert_eq!(format!("{digest:?}"), "PasswordDigest(…)");
    }

    #[test]
    fn a_service_type_names_a_gateway() {
        let own = user(Some(Gateway::DirectCorporate));
        let table = [
            ("", Ok(Some(Gateway::DirectCorporate))),
            ("otp", Ok(Some(Gateway::Otp))),
            ("8", Ok(Some(Gateway::Otp))),
            ("1", Ok(Some(Gateway::DirectRefund))),
            ("9", Err(NoSuchGateway)),
            ("CMT", Err(NoSuchGateway)),
            ("direct-refund", Err(NoSuchGateway)),
        ];
        for (service_type, expected) in table {
            assert_eq!(gateway_of(service_type, &own), expected, "{service_type}");
        }
        assert_eq!(gateway_of("", &user(None)), Ok(None));
    }

    #[test]
    fn a_user_binds_from_its_addresses_alone() {
        let user = user(None);
        assert!(user.may_bind_from("203.0.113.7".parse().unwrap()));
        assert!(!user.may_bind_from("203.0.114.7".parse().unwrap()));
    }

    #[test]
    fn a_second_admits_its_limit_at_once_and_then_at_its_rate() {
        let mut pace = RequestPace::default();
        let admitted = |pace: &mut RequestPace, at_ms| {
            let all = 0..100;
            all.filter(|_| pace.admit(10, at_ms)).count()
        };
        assert_eq!(admitted(&mut pace, 5_000), 10);
        assert_eq!(admitted(&mut pace, 5_099), 0);
        assert_eq!(admitted(&mut pace, 5_100), 1);
        assert_eq!(admitted(&mut pace, 5_500), 4);
        assert_eq!(admitted(&mut pace, 60_000), 10);
        let mut slow = RequestPace::default();
        assert!(slow.admit(1, 0));
        assert!(!slow.admit(1, 999) && !slow.is_idle(999));
        assert!(slow.is_idle(1_000));
        let mut list = RequestPace::default();
        assert!(list.admit_many(30, 10, 0));
        assert!(!list.admit_many(1, 10, 2_000));
        assert!(list.admit_many(1, 10, 2_100));
        assert!(slow.admit(1, 1_000));
    }
}
