//! The rows of one-time passwords.

use crate::rows::{message_id, named, recipient};
use crate::wallets::Owner;
use database::{Error, Result, Tx, locking, query};
use domain::otp::{CodeKind, OtpId, Resends, Verification};
use domain::{MessageId, Recipient};
use uuid::Uuid;

/// A one-time password.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Otp {
    /// Its id.
    pub id: OtpId,
    /// The number.
    pub recipient: Recipient,
    /// Its last message.
    pub message: MessageId,
    /// The characters of the code.
    pub kind: CodeKind,
    /// The number of its characters.
    pub length: u32,
    /// The state of its verification.
    pub verification: Verification,
    /// Its messages so far.
    pub resends: Resends,
    /// The sender ID.
    pub sender: String,
    /// The text, with a place for the code.
    pub body: String,
    /// The URL to which outcomes are POSTed.
    pub callback_url: Option<String>,
    /// The caller's own reference.
    pub customer_reference: Option<String>,
}

pub(super) struct OtpRow {
    otp_id: Vec<u8>,
    recipient: i64,
    message_id: Vec<u8>,
    kind: String,
    length: i64,
    expires_at_ms: i64,
    max_attempts: i64,
    wrong_attempts: i64,
    verified: bool,
    cancelled: bool,
    sent_times: String,
    sender: String,
    body: String,
    callback_url: Option<String>,
    customer_reference: Option<String>,
}

database::from_row!(OtpRow {
    otp_id,
    recipient,
    message_id,
    kind,
    length,
    expires_at_ms,
    max_attempts,
    wrong_attempts,
    verified,
    cancelled,
    sent_times,
    sender,
    body,
    callback_url,
    customer_reference
});

impl OtpRow {
    pub(super) fn read(self) -> Result<Otp> {
        let id = Uuid::from_slice(&self.otp_id)
            .map_err(|_| Error::Unreadable("the id of a one-time password".to_owned()))?;
        let small = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        let sent = times(&self.sent_times);
        Ok(Otp {
            id: OtpId(id),
            recipient: recipient(self.recipient),
            message: message_id(&self.message_id)?,
            kind: named(CodeKind::from_name, &self.kind)?,
            length: small(self.length),
            verification: Verification {
                wrong_attempts: small(self.wrong_attempts),
                max_attempts: small(self.max_attempts),
                expires_at_ms: self.expires_at_ms,
                is_verified: self.verified,
                is_cancelled: self.cancelled,
            },
            resends: Resends {
                count: u32::try_from(sent.len().saturating_sub(1)).unwrap_or(u32::MAX),
                last_sent_at_ms: sent.last().copied().unwrap_or(i64::MIN),
            },
            sender: self.sender,
            body: self.body,
            callback_url: self.callback_url,
            customer_reference: self.customer_reference,
        })
    }
}

/// Returns the times of a list such as `1795000000000,1795000030000`.
pub(super) fn times(list: &str) -> Vec<i64> {
    list.split(',')
        .filter_map(|time| time.parse().ok())
        .collect()
}

/// Reads a one-time password of an account in an environment, and locks it.
pub(super) async fn find(
    tx: &mut Tx,
    (bucket, account): Owner,
    sandbox: bool,
    id: OtpId,
) -> Result<Option<Otp>> {
    let sql = locking!(
        "select otp_id, recipient, message_id, kind, length, expires_at_ms, max_attempts,
             wrong_attempts, verified, cancelled, sent_times, sender, body, callback_url,
             customer_reference
         from otps where bucket = $1 and otp_id = $2 and account_id = $3 and sandbox = $4";
        "for update"
    );
    let find = query(sql)
        .bind(bucket.0)
        .bind(&id.0.as_bytes()[..])
        .bind(account.0)
        .bind(sandbox);
    let row: Option<OtpRow> = tx.fetch_optional(find).await?;
    row.map(OtpRow::read).transpose()
}
