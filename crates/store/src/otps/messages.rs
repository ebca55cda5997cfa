//! The messages of one-time passwords, as the accept transaction decides and stores them.

use super::row::{Otp, find, times};
use crate::rows::{id_bytes, number};
use crate::wallets::Owner;
use database::{Result, Tx, query};
use domain::otp::{OtpId, WINDOW_MS, check_number, check_resend};
use domain::{Draft, Environment, MessageId, Recipient, Refusal};
use std::collections::HashMap;

/// The longest time from the first message of a one-time password to its last, and the window in
/// which messages to a number are counted after it.
const COUNTED_FOR_MS: i64 = 2 * WINDOW_MS;

/// The one-time passwords of a group of messages: what is known of them, and what the group adds.
#[derive(Default)]
pub(crate) struct OtpChecks {
    /// The one-time passwords that are sent again.
    known: HashMap<OtpId, Otp>,
    /// The times of messages of an account to a number.
    sent: HashMap<(Owner, bool, Recipient), Vec<i64>>,
}

/// The account, the environment and the number of a message.
fn line_of(owner: Owner, draft: &Draft) -> Option<(Owner, bool, Recipient)> {
    let to = *draft.recipients.first()?;
    Some((owner, draft.environment == Environment::Sandbox, to))
}

impl OtpChecks {
    /// Reads what the checks of these drafts need.
    pub(crate) async fn of<'d>(
        tx: &mut Tx,
        drafts: impl Iterator<Item = (Owner, &'d Draft)>,
        now_ms: i64,
    ) -> Result<Self> {
        let mut checks = Self::default();
        for (owner, draft) in drafts {
            checks.read(tx, owner, draft, now_ms).await?;
        }
        Ok(checks)
    }

    async fn read(&mut self, tx: &mut Tx, owner: Owner, draft: &Draft, now_ms: i64) -> Result<()> {
        let (Some(otp), Some(line)) = (draft.otp, line_of(owner, draft)) else {
            return Ok(());
        };
        let (_, sandbox, to) = line;
        if otp.first.is_none()
            && let Some(found) = find(tx, owner, sandbox, otp.text.id).await?
        {
            self.known.insert(otp.text.id, found);
        }
        if self.sent.contains_key(&line) {
            return Ok(());
        }
        let lists: Vec<String> = tx
            .fetch_all(
                query(
                    "select sent_times from otps
                     where bucket = $1 and account_id = $2 and recipient = $3
                         and created_at_ms > $4 and sandbox = $5",
                )
                .bind(owner.0.0)
                .bind(owner.1.0)
                .bind(number(to))
                .bind(now_ms - COUNTED_FOR_MS)
                .bind(sandbox),
            )
            .await?;
        let sent = lists.iter().flat_map(|list| times(list)).collect();
        self.sent.insert(line, sent);
        Ok(())
    }

    /// Decides whether a message of a one-time password may go.
    pub(crate) fn check(
        &self,
        owner: Owner,
        draft: &Draft,
        now_ms: i64,
    ) -> std::result::Result<(), Refusal> {
        let (Some(otp), Some(line)) = (draft.otp, line_of(owner, draft)) else {
            return Ok(());
        };
        if otp.first.is_none() {
            let known = self
                .known
                .get(&otp.text.id)
                .ok_or(Refusal::UnknownMessage)?;
            check_resend(&known.verification, known.resends, now_ms)?;
        }
        let sent = self.sent.get(&line).map_or(&[][..], Vec::as_slice);
        check_number(sent, otp.number_limit, now_ms)
    }

    /// Counts a message that goes.
    pub(crate) fn note(&mut self, owner: Owner, draft: &Draft, now_ms: i64) {
        let (Some(otp), Some(line)) = (draft.otp, line_of(owner, draft)) else {
            return;
        };
        self.sent.entry(line).or_default().push(now_ms);
        if let Some(known) = self.known.get_mut(&otp.text.id) {
            known.resends.count += 1;
            known.resends.last_sent_at_ms = now_ms;
        }
    }
}

/// Stores the message of a one-time password.
pub(crate) async fn keep(
    tx: &mut Tx,
    (bucket, account): Owner,
    id: MessageId,
    draft: &Draft,
    now_ms: i64,
) -> Result<()> {
    let (Some(otp), Some(&to)) = (draft.otp, draft.recipients.first()) else {
        return Ok(());
    };
    let Some(first) = otp.first else {
        let again = query(
            "update otps set message_id = $3, sent_times = sent_times || ',' || $4
             where bucket = $1 and otp_id = $2",
        );
        let again = again
            .bind(bucket.0)
            .bind(&otp.text.id.0.as_bytes()[..])
            .bind(id_bytes(&id))
            .bind(now_ms.to_string());
        tx.execute(again).await?;
        return Ok(());
    };
    let insert = query(
        "insert into otps (bucket, otp_id, account_id, sandbox, recipient, message_id, kind, length,
             created_at_ms, expires_at_ms, max_attempts, wrong_attempts, verified, cancelled,
             sent_times, sender, body, callback_url, customer_reference)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, false, false, $12, $13, $14, $15,
             $16)",
    );
    let insert = insert
        .bind(bucket.0)
        .bind(&otp.text.id.0.as_bytes()[..])
        .bind(account.0)
        .bind(draft.environment == Environment::Sandbox)
        .bind(number(to))
        .bind(id_bytes(&id))
        .bind(otp.text.kind.as_str())
        .bind(i64::from(otp.text.length))
        .bind(now_ms)
        .bind(otp.expires_at_ms)
        .bind(i64::from(first.max_attempts))
        .bind(now_ms.to_string())
        .bind(&draft.sender)
        .bind(draft.text.as_str())
        .bind(&draft.callback_url)
        .bind(&draft.customer_reference);
    tx.execute(insert).await?;
    Ok(())
}
