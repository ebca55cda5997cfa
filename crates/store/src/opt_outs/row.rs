//! The rows of opt-outs.

use crate::rows::{message_id, recipient};
use database::Result;
use domain::AccountId;
use domain::opt_out::OptOut;

pub(super) struct OptOutRow {
    account_id: i64,
    recipient: i64,
    opt_out_id: Vec<u8>,
    sender: String,
    reason: String,
    created_at_ms: i64,
}

database::from_row!(OptOutRow {
    account_id,
    recipient,
    opt_out_id,
    sender,
    reason,
    created_at_ms
});

impl OptOutRow {
    pub(super) fn opt_out(self) -> Result<OptOut> {
        let given = |text: String| Some(text).filter(|text| !text.is_empty());
        Ok(OptOut {
            id: message_id(&self.opt_out_id)?,
            account: AccountId(self.account_id),
            recipient: recipient(self.recipient),
            sender: given(self.sender),
            reason: given(self.reason),
            created_at_ms: self.created_at_ms,
        })
    }
}
