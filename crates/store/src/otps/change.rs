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
    pub(super) moment: OtpMoment,
    pub(super) step: S,
    pub(super) keyed: Option<KeyedChange<OtpChange<S::Result>>>,
}

/// The moment of a change.
#[derive(Clone, Copy, Debug)]
pub struct OtpMoment {
    /// Now, Unix milliseconds.
    pub now_ms: i64,
    /// The number of the change, which no other one has. The change is found by it if the answer to
    /// its commit is lost. Its effect may be that of another attempt.
    pub number: i64,
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
        let result = match self.step.take(&mut otp.verification, self.moment.now_ms) {
            Ok(result) => result,
            Err(refusal) => return Ok(Some(Outcome::Refused(refusal))),
        };
        if otp.verification != before {
            let update = query(
                "update otps set wrong_attempts = $3, verified = $4, cancelled = $5,
                     last_change = $6
                 where bucket = $1 and otp_id = $2",
            );
            let after = otp.verification;
            let update = update
                .bind(owner.0.0)
                .bind(&self.id.0.as_bytes()[..])
                .bind(i64::from(after.wrong_attempts))
                .bind(after.is_verified)
                .bind(after.is_cancelled)
                .bind(self.moment.number);
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
        if let Some(known) = keys::look_up(tx, &place, &keyed.request, self.moment.now_ms).await? {
            return Ok(Some(known));
        }
        let changed = self.change(tx).await?;
        if let Some(Outcome::Made(change)) = &changed {
            let new = NewAnswer {
                place: &place,
                request: &keyed.request,
                answer: (keyed.answer)(change),
            };
            keys::keep(tx, &[new], self.moment.now_ms).await?;
        }
        Ok(changed)
    }

    /// A change with a key is found by its kept answer, and another one by its number. A wrong
    /// attempt that another one followed is not found, and counts twice.
    async fn is_committed(
        &self,
        tx: &mut Tx,
        changed: &Option<Outcome<OtpChange<S::Result>>>,
    ) -> Result<bool> {
        let Some(Outcome::Made(_)) = changed else {
            return Ok(true);
        };
        if let Some(keyed) = &self.keyed {
            let (place, now_ms) = (self.place(keyed), self.moment.now_ms);
            return keys::is_kept(tx, &place, &keyed.request, now_ms).await;
        }
        let find = query("select last_change from otps where bucket = $1 and otp_id = $2");
        let find = find.bind(self.owner().0.0).bind(&self.id.0.as_bytes()[..]);
        let last: Option<Option<i64>> = tx.fetch_optional(find).await?;
        Ok(last.flatten() == Some(self.moment.number))
    }
}
