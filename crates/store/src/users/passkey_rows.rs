//! Rows of passkeys and of their challenges.

use database::{Result, Tx, query};
use domain::user::UserId;
use domain::user::secret::SecretHash;

/// A passkey of a user, with what a sign-in is checked against.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Passkey {
    /// The id that the authenticator made.
    pub credential: Vec<u8>,
    /// The user.
    pub user: UserId,
    /// The name that the user gave it.
    pub name: String,
    /// The public key, in the form of the library that checks it.
    pub public_key: Vec<u8>,
    /// The counter of uses with further flags, in the same form.
    pub state: Vec<u8>,
    /// The ways to reach the authenticator, in the same form.
    pub transports: u8,
    /// Time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// Time of the last sign-in, or `None` before the first.
    pub used_at_ms: Option<i64>,
}

pub(super) struct PasskeyRow {
    credential_id: Vec<u8>,
    user_id: i64,
    name: String,
    public_key: Vec<u8>,
    state: Vec<u8>,
    transports: i64,
    created_at_ms: i64,
    used_at_ms: Option<i64>,
}

database::from_row!(PasskeyRow {
    credential_id,
    user_id,
    name,
    public_key,
    state,
    transports,
    created_at_ms,
    used_at_ms
});

impl PasskeyRow {
    pub(super) fn passkey(self) -> Passkey {
        Passkey {
            credential: self.credential_id,
            user: UserId(self.user_id),
            name: self.name,
            public_key: self.public_key,
            state: self.state,
            transports: u8::try_from(self.transports).unwrap_or_default(),
            created_at_ms: self.created_at_ms,
            used_at_ms: self.used_at_ms,
        }
    }
}

/// A challenge that waits for its answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Challenge {
    /// The hash of the secret that the browser has: of its session, or of its forms.
    pub hash: SecretHash,
    /// The user who adds a passkey, or `None` at a sign-in.
    pub user: Option<UserId>,
    /// The address of the client.
    pub client: String,
    /// The challenge with what its answer is checked against, in the form of the library.
    pub state: Vec<u8>,
    /// Time of the end, Unix milliseconds.
    pub expires_at_ms: i64,
}

pub(super) struct ChallengeRow {
    challenge_hash: Vec<u8>,
    user_id: Option<i64>,
    client: String,
    state: Vec<u8>,
    expires_at_ms: i64,
}

database::from_row!(ChallengeRow {
    challenge_hash,
    user_id,
    client,
    state,
    expires_at_ms
});

impl ChallengeRow {
    pub(super) fn challenge(self) -> Challenge {
        Challenge {
            hash: self.challenge_hash.try_into().unwrap_or_default(),
            user: self.user_id.map(UserId),
            client: self.client,
            state: self.state,
            expires_at_ms: self.expires_at_ms,
        }
    }
}

/// Takes a challenge that was answered. Returns `false` if it was used, replaced, or has ended.
pub(super) async fn take(tx: &mut Tx, challenge: &Challenge, now_ms: i64) -> Result<bool> {
    let remove = query(
        "delete from passkey_challenges where challenge_hash = $1 and state = $2
             and expires_at_ms > $3",
    );
    let remove = remove.bind(&challenge.hash[..]).bind(&challenge.state[..]);
    Ok(tx.execute(remove.bind(now_ms)).await? == 1)
}
