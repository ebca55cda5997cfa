//! One-time passwords: their messages, and the attempts at their codes. No row has a code.

use crate::buckets::Buckets;
use crate::rows::{id_bytes, message_id, named, number, recipient};
use crate::wallets::Owner;
use database::{Change, Db, Error, Result, Tx, locking, query};
use domain::otp::{
    Code, CodeKind, GivenCode, OtpId, Resends, Verification, Verified, WINDOW_MS, check_cancel,
    check_number, check_resend,
};
use domain::{AccountId, Bucket, Draft, Environment, MessageId, Recipient, Refusal};
use std::collections::HashMap;
use uuid::Uuid;

/// Time for which a one-time password stays after it was made.
const KEPT_FOR_MS: i64 = 86_400_000;
/// The longest time from the first message of a one-time password to its last, and the window in
/// which messages to a number are counted after it.
const COUNTED_FOR_MS: i64 = 2 * WINDOW_MS;

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

struct OtpRow {
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
    sent_at_ms: String,
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
    sent_at_ms,
    sender,
    body,
    callback_url,
    customer_reference
});

impl OtpRow {
    fn read(self) -> Result<Otp> {
        let id = Uuid::from_slice(&self.otp_id)
            .map_err(|_| Error::Unreadable("the id of a one-time password".to_owned()))?;
        let small = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
        let sent = times(&self.sent_at_ms);
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
fn times(list: &str) -> Vec<i64> {
    list.split(',')
        .filter_map(|time| time.parse().ok())
        .collect()
}

/// Reads a one-time password of an account in an environment, and locks it.
async fn find(
    tx: &mut Tx,
    (bucket, account): Owner,
    sandbox: bool,
    id: OtpId,
) -> Result<Option<Otp>> {
    let sql = locking!(
        "select otp_id, recipient, message_id, kind, length, expires_at_ms, max_attempts,
             wrong_attempts, verified, cancelled, sent_at_ms, sender, body, callback_url,
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

/// The one-time passwords of a group of messages: what is known of them, and what the group adds.
#[derive(Default)]
pub(crate) struct OtpChecks {
    /// The one-time passwords that are sent again.
    known: HashMap<OtpId, Otp>,
    /// The times of messages of an account to a number.
    sent: HashMap<(Owner, bool, Recipient), Vec<i64>>,
}

/// The account, the environment and the number of a message.
fn number_of(owner: Owner, draft: &Draft) -> Option<(Owner, bool, Recipient)> {
    let to = *draft.recipients.first()?;
    Some((owner, draft.environment == Environment::Sandbox, to))
}

impl OtpChecks {
    /// Reads what the checks of a message need.
    pub(crate) async fn read(
        &mut self,
        tx: &mut Tx,
        owner: Owner,
        draft: &Draft,
        now_ms: i64,
    ) -> Result<()> {
        let (Some(otp), Some(number)) = (draft.otp, number_of(owner, draft)) else {
            return Ok(());
        };
        let (_, sandbox, to) = number;
        if otp.first.is_none()
            && let Some(found) = find(tx, owner, sandbox, otp.text.id).await?
        {
            self.known.insert(otp.text.id, found);
        }
        if self.sent.contains_key(&number) {
            return Ok(());
        }
        let lists: Vec<String> = tx
            .fetch_all(
                query(
                    "select sent_at_ms from otps
                     where bucket = $1 and account_id = $2 and recipient = $3
                         and created_at_ms > $4 and sandbox = $5",
                )
                .bind(owner.0.0)
                .bind(owner.1.0)
                .bind(crate::rows::number(to))
                .bind(now_ms - COUNTED_FOR_MS)
                .bind(sandbox),
            )
            .await?;
        let sent = lists.iter().flat_map(|list| times(list)).collect();
        self.sent.insert(number, sent);
        Ok(())
    }

    /// Decides whether a message of a one-time password may go.
    pub(crate) fn check(
        &self,
        owner: Owner,
        draft: &Draft,
        now_ms: i64,
    ) -> std::result::Result<(), Refusal> {
        let (Some(otp), Some(number)) = (draft.otp, number_of(owner, draft)) else {
            return Ok(());
        };
        if otp.first.is_none() {
            let known = self
                .known
                .get(&otp.text.id)
                .ok_or(Refusal::UnknownMessage)?;
            check_resend(&known.verification, known.resends, now_ms)?;
        }
        let sent = self.sent.get(&number).map_or(&[][..], Vec::as_slice);
        check_number(sent, otp.number_limit, now_ms)
    }

    /// Counts a message that goes.
    pub(crate) fn note(&mut self, owner: Owner, draft: &Draft, now_ms: i64) {
        let (Some(otp), Some(number)) = (draft.otp, number_of(owner, draft)) else {
            return;
        };
        self.sent.entry(number).or_default().push(now_ms);
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
            "update otps set message_id = $3, sent_at_ms = sent_at_ms || ',' || $4
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
             sent_at_ms, sender, body, callback_url, customer_reference)
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

/// Removes the oldest one-time passwords of a bucket, and returns their number.
pub(crate) async fn remove_old(tx: &mut Tx, bucket: Bucket, now_ms: i64, most: i64) -> Result<u64> {
    let before_ms = now_ms - KEPT_FOR_MS;
    let remove = query(
        "delete from otps where bucket = $1 and created_at_ms < $2 and created_at_ms <= coalesce(
             (select created_at_ms from otps where bucket = $1 and created_at_ms < $2
              order by created_at_ms limit 1 offset $3), $2)",
    );
    tx.execute(remove.bind(bucket.0).bind(before_ms).bind(most - 1))
        .await
}

/// A change of a one-time password of an account.
struct ChangeOtp {
    owner: Owner,
    sandbox: bool,
    id: OtpId,
    now_ms: i64,
    step: Step,
}

enum Step {
    Verify(Code, GivenCode),
    Cancel,
}

/// The one-time password after a change, and the answer to an attempt.
type Changed = std::result::Result<(Otp, Option<Verified>), Refusal>;

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

/// The one-time passwords of accounts.
#[derive(Clone, Copy)]
pub struct Otps<'s> {
    pub(crate) db: &'s Db,
}

impl Otps<'_> {
    /// Returns a one-time password.
    pub async fn get(
        self,
        account: AccountId,
        environment: Environment,
        id: OtpId,
    ) -> Result<Option<Otp>> {
        let owner = (Buckets::of(self.db).account(account), account);
        let find = query(
            "select otp_id, recipient, message_id, kind, length, expires_at_ms, max_attempts,
                 wrong_attempts, verified, cancelled, sent_at_ms, sender, body, callback_url,
                 customer_reference
             from otps where bucket = $1 and otp_id = $2 and account_id = $3 and sandbox = $4",
        );
        let find = find
            .bind(owner.0.0)
            .bind(&id.0.as_bytes()[..])
            .bind(account.0)
            .bind(environment == Environment::Sandbox);
        let row: Option<OtpRow> = self.db.fetch_optional(find).await?;
        row.map(OtpRow::read).transpose()
    }

    /// Judges a code that was given, in one transaction: of two attempts at once the second is
    /// judged by what the first left. Returns `None` if the account has no such one-time password.
    pub async fn verify(
        self,
        account: AccountId,
        environment: Environment,
        id: OtpId,
        (expected, given): (Code, GivenCode),
        now_ms: i64,
    ) -> Result<Option<Verified>> {
        let step = Step::Verify(expected, given);
        let changed = self.change(account, environment, id, step, now_ms).await?;
        Ok(changed.and_then(|changed| changed.ok()?.1))
    }

    /// Cancels a one-time password.
    pub async fn cancel(
        self,
        account: AccountId,
        environment: Environment,
        id: OtpId,
        now_ms: i64,
    ) -> Result<Option<std::result::Result<Otp, Refusal>>> {
        let changed = self
            .change(account, environment, id, Step::Cancel, now_ms)
            .await?;
        Ok(changed.map(|changed| changed.map(|(otp, _)| otp)))
    }

    async fn change(
        self,
        account: AccountId,
        environment: Environment,
        id: OtpId,
        step: Step,
        now_ms: i64,
    ) -> Result<Option<Changed>> {
        let owner = (Buckets::of(self.db).account(account), account);
        let sandbox = environment == Environment::Sandbox;
        let change = ChangeOtp {
            owner,
            sandbox,
            id,
            now_ms,
            step,
        };
        self.db.change(change).await
    }

    /// Returns the key from which codes are derived. The first node that needs it stores `fresh`.
    pub async fn server_key(self, fresh: [u8; 32]) -> Result<Vec<u8>> {
        self.db.change(MakeKey { fresh }).await
    }
}

/// The name of the key from which codes are derived.
const CODES: &str = "otp";

struct MakeKey {
    fresh: [u8; 32],
}

impl Change for MakeKey {
    type Output = Vec<u8>;

    async fn apply(&self, tx: &mut Tx) -> Result<Vec<u8>> {
        let insert = query(
            "insert into server_keys (name, key) values ($1, $2) on conflict (name) do nothing",
        );
        tx.execute(insert.bind(CODES).bind(&self.fresh[..])).await?;
        let (key,): (Vec<u8>,) = tx
            .fetch_one(query("select key from server_keys where name = $1").bind(CODES))
            .await?;
        Ok(key)
    }
}
