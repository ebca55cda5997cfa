//! The passkeys of users, and the challenges that wait for an answer.

use super::passkey_rows::{Challenge, ChallengeRow, Passkey, PasskeyRow};
use super::passkey_use::{Add, Begin, EndChallenge, PasskeyAdded, Remove, SignIn};
use super::session_rows::NewSession;
use crate::operators::audit::By;
use database::{Db, Result, query};
use domain::AccountId;
use domain::user::UserId;
use domain::user::secret::SecretHash;

/// The passkeys.
#[derive(Clone, Copy)]
pub struct Passkeys<'s> {
    pub(crate) db: &'s Db,
}

impl Passkeys<'_> {
    /// Returns the passkeys of a user, the oldest first.
    pub async fn of_user(self, user: UserId) -> Result<Vec<Passkey>> {
        let read = query("select * from passkeys where user_id = $1 order by created_at_ms");
        let rows: Vec<PasskeyRow> = self.db.fetch_all(read.bind(user.0)).await?;
        Ok(rows.into_iter().map(PasskeyRow::passkey).collect())
    }

    /// Returns the passkey with an id.
    pub async fn find(self, credential: &[u8]) -> Result<Option<Passkey>> {
        let read = query("select * from passkeys where credential_id = $1").bind(credential);
        let row: Option<PasskeyRow> = self.db.fetch_optional(read).await?;
        Ok(row.map(PasskeyRow::passkey))
    }

    /// Begins a challenge, in place of an earlier one of the same browser. Returns `false` if a
    /// sign-in finds no place.
    pub async fn begin(self, challenge: Challenge, now_ms: i64) -> Result<bool> {
        self.db.change(Begin { challenge, now_ms }).await
    }

    /// Returns the challenge of a browser that has not ended.
    pub async fn challenge(self, hash: &SecretHash, now_ms: i64) -> Result<Option<Challenge>> {
        let read = query(
            "select * from passkey_challenges where challenge_hash = $1 and expires_at_ms > $2",
        );
        let read = read.bind(&hash[..]).bind(now_ms);
        let row: Option<ChallengeRow> = self.db.fetch_optional(read).await?;
        Ok(row.map(ChallengeRow::challenge))
    }

    /// Ends a challenge whose answer was refused.
    pub async fn end(self, hash: SecretHash) -> Result<()> {
        self.db.change(EndChallenge { hash }).await
    }

    /// Adds the passkey that answered a challenge. All sessions of the user end, but the one that
    /// has the challenge.
    pub async fn add(self, challenge: Challenge, passkey: Passkey, by: By) -> Result<PasskeyAdded> {
        let add = Add {
            challenge,
            passkey,
            by,
        };
        self.db.change(add).await
    }

    /// Begins the session of a user whose passkey answered a challenge, and keeps the new state of
    /// the passkey. Returns `false` if the challenge or the old state was used already.
    pub async fn sign_in(
        self,
        challenge: Challenge,
        (passkey, state): (Passkey, Vec<u8>),
        account: Option<AccountId>,
        session: NewSession,
        by: By,
    ) -> Result<bool> {
        let sign_in = SignIn {
            challenge,
            passkey,
            state,
            account,
            session,
            by,
        };
        self.db.change(sign_in).await
    }

    /// Removes a passkey. All sessions of the user end but one. Returns `false` if it was removed
    /// already.
    pub async fn remove(self, passkey: Passkey, kept: SecretHash, by: By) -> Result<bool> {
        self.db.change(Remove { passkey, kept, by }).await
    }
}
