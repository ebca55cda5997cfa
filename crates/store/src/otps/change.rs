//! Attempts at a code, and cancellations.

use super::row::{Otp, find};
use crate::buckets::Buckets;
use crate::idempotency::{self as keys, KeyedChange, NewAnswer, Outcome, Place};
use crate::wallets::Owner;
use database::{Change, Result, Tx, query};
use domain::otp::{Code, GivenCode, OtpId, Verification, Verified, check_cancel};
use domain::{AccountId, Environment, Refusal};

/// A change of a one-time password of an account.
pub(super) struct ChangeOtp<S: Step> {
    pub(super) buckets: Buckets,
    pub(super) account: AccountId,
    pub(super) environment: Environment,
    pub(super) id: OtpId,
    pub(super) now_ms: i64,
    pub(super) step: S,
    pub(super) keyed: Option<KeyedChange<OtpChange<S::Result>>>,
}

/// A step of a verification.
pub(super) trait Step: Send + Sync + 'static {
    /// The result of the step.
    type Result: Send + Sync + 'static;

    /// Changes the state of the verification, or refuses to.
    fn take(
        &self,
        verification: &mut Verification,
        now_ms: i64,
    ) -> std::result::Result<Self::Result, Refusal>;
}

/// The attempt to verify a code: the expected one and the typed one.
pub(super) struct Attempt(pub(super) Code, pub(super) GivenCode);

impl Step for Attempt {
    type Result = Verified;

    fn take(
        &self,
        verification: &mut Verification,
        now_ms: i64,
    ) -> std::result::Result<Verified, Refusal> {
        let Self(expected, given) = self;
        let verified = verification.attempt(expected, given, now_ms);
        *verification = verified.after;
        Ok(verified)
    }
}

/// The cancellation.
pub(super) struct Cancel;

impl Step for Cancel {
    type Result = ();

    fn take(
        &self,
        verification: &mut Verification,
        now_ms: i64,
    ) -> std::result::Result<(), Refusal> {
        check_cancel(verification, now_ms)?;
        verification.is_cancelled = true;
        Ok(())
    }
}

/// A one-time password after a change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OtpChange<R> {
    /// The one-time password.
    pub otp: Otp,
    /// The result of the change.
    pub result: R,
}

impl<S: Step> ChangeOtp<S> {
    fn owner(&self) -> Owner {
        (self.buckets.account(self.account), self.account)
    }

    fn is_sandbox(&self) -> bool {
        self.environment == Environment::Sandbox
    }

    fn place(&self, keyed: &KeyedChange<OtpChange<S::Result>>) -> Place {
        let key = &keyed.request.key;
        keys::place_of_key(self.buckets, self.account, self.environment, key)
    }

    async fn change(&self, tx: &mut Tx) -> Result<Option<Outcome<OtpChange<S::Result>>>> {
        let (owner, sandbox) = (self.owner(), self.is_sandbox());
        let Some(mut otp) = find(tx, owner, sandbox, self.id).await? else {
            return Ok(None);
        };
        let before = otp.verification;
        let result = match self.step.take(&mut otp.verification, self.now_ms) {
            Ok(result) => result,
            Err(refusal) => return Ok(Some(Outcome::Refused(refusal))),
        };
        if otp.verification != before {
            let update = query(
                "update otps set wrong_attempts = $3, verified = $4, cancelled = $5
                 where bucket = $1 and otp_id = $2",
            );
            let after = otp.verification;
            let update = update
                .bind(owner.0.0)
                .bind(&self.id.0.as_bytes()[..])
                .bind(i64::from(after.wrong_attempts))
                .bind(after.is_verified)
                .bind(after.is_cancelled);
            tx.execute(update).await?;
        }
        Ok(Some(Outcome::Made(OtpChange { otp, result })))
    }
}

impl<S: Step> Change for ChangeOtp<S> {
    type Output = Option<Outcome<OtpChange<S::Result>>>;

    async fn apply(&self, tx: &mut Tx) -> Result<Option<Outcome<OtpChange<S::Result>>>> {
        let Some(keyed) = &self.keyed else {
            return self.change(tx).await;
        };
        let place = self.place(keyed);
        if let Some(known) = keys::look_up(tx, &place, &keyed.request, self.now_ms).await? {
            return Ok(Some(known));
        }
        let changed = self.change(tx).await?;
        if let Some(Outcome::Made(change)) = &changed {
            let new = NewAnswer {
                place: &place,
                request: &keyed.request,
                answer: (keyed.answer)(change),
            };
            keys::keep(tx, &[new], self.now_ms).await?;
        }
        Ok(changed)
    }

    /// A change with a key is found by its kept answer. Another one is found by its effect, even if
    /// a later attempt followed, since no change is ever undone.
    async fn is_committed(
        &self,
        tx: &mut Tx,
        changed: &Option<Outcome<OtpChange<S::Result>>>,
    ) -> Result<bool> {
        let Some(Outcome::Made(change)) = changed else {
            return Ok(true);
        };
        if let Some(keyed) = &self.keyed {
            return keys::is_kept(tx, &self.place(keyed), &keyed.request, self.now_ms).await;
        }
        let found = find(tx, self.owner(), self.is_sandbox(), self.id).await?;
        Ok(found.is_some_and(|now| {
            let (now, then) = (now.verification, change.otp.verification);
            now.wrong_attempts >= then.wrong_attempts
                && now.is_verified >= then.is_verified
                && now.is_cancelled >= then.is_cancelled
        }))
    }
}
