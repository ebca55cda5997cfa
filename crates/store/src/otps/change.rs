//! Attempts at a code, and cancellations.

use super::row::{Otp, find};
use crate::wallets::Owner;
use database::{Change, Result, Tx, query};
use domain::Refusal;
use domain::otp::{Code, GivenCode, OtpId, Verified, check_cancel};

/// A change of a one-time password of an account.
pub(super) struct ChangeOtp {
    pub(super) owner: Owner,
    pub(super) sandbox: bool,
    pub(super) id: OtpId,
    pub(super) now_ms: i64,
    pub(super) step: Step,
}

pub(super) enum Step {
    Verify(Code, GivenCode),
    Cancel,
}

/// The one-time password after a change, and the answer to an attempt.
pub(super) type Changed = std::result::Result<(Otp, Option<Verified>), Refusal>;

impl Change for ChangeOtp {
    type Output = Option<Changed>;

    async fn apply(&self, tx: &mut Tx) -> Result<Option<Changed>> {
        let Some(mut otp) = find(tx, self.owner, self.sandbox, self.id).await? else {
            return Ok(None);
        };
        let before = otp.verification;
        let verified = match &self.step {
            Step::Verify(expected, given) => {
                let verified = before.attempt(expected, given, self.now_ms);
                otp.verification = verified.after;
                Some(verified)
            }
            Step::Cancel => {
                if let Err(refusal) = check_cancel(&before, self.now_ms) {
                    return Ok(Some(Err(refusal)));
                }
                otp.verification.is_cancelled = true;
                None
            }
        };
        if otp.verification != before {
            let update = query(
                "update otps set wrong_attempts = $3, verified = $4, cancelled = $5
                 where bucket = $1 and otp_id = $2",
            );
            let after = otp.verification;
            let update = update
                .bind(self.owner.0.0)
                .bind(&self.id.0.as_bytes()[..])
                .bind(i64::from(after.wrong_attempts))
                .bind(after.is_verified)
                .bind(after.is_cancelled);
            tx.execute(update).await?;
        }
        Ok(Some(Ok((otp, verified))))
    }

    /// A change that another attempt followed is found by its effect: nothing takes one back.
    async fn is_committed(&self, tx: &mut Tx, changed: &Option<Changed>) -> Result<bool> {
        let Some(Ok((otp, _))) = changed else {
            return Ok(true);
        };
        let found = find(tx, self.owner, self.sandbox, self.id).await?;
        Ok(found.is_some_and(|now| {
            let (now, then) = (now.verification, otp.verification);
            now.wrong_attempts >= then.wrong_attempts
                && now.is_verified >= then.is_verified
                && now.is_cancelled >= then.is_cancelled
        }))
    }
}
