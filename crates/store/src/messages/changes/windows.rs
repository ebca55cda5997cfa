//! The duplicate window of a cancelled message.

use crate::messages::duplicates;
use crate::messages::recipient_texts;
use crate::rows::{environment, id_bytes};
use database::{Result, Tx, query};
use domain::{AccountId, Bucket, Fingerprint, MessageId, fingerprint, recipient_list};

struct ContentRow {
    account_id: i64,
    sandbox: bool,
    body: Option<String>,
    otp_id: Option<Vec<u8>>,
    recipients: Vec<u8>,
}

database::from_row!(ContentRow {
    account_id,
    sandbox,
    body,
    otp_id,
    recipients
});

/// Opens the duplicate window of a message again, so that the same send is accepted.
pub(super) async fn reopen(
    tx: &mut Tx,
    bucket: Bucket,
    message: MessageId,
    now_ms: i64,
) -> Result<()> {
    if !duplicates::may_be_open(message.accepted_at_ms(), now_ms) {
        return Ok(());
    }
    if let Some(fingerprint) = fingerprint_of(tx, bucket, message).await? {
        let window = (bucket, fingerprint);
        duplicates::close_window_of(tx, window, message.accepted_at_ms()).await?;
    }
    Ok(())
}

/// Returns the fingerprint of a stored message. One-time passwords have no duplicates.
async fn fingerprint_of(
    tx: &mut Tx,
    bucket: Bucket,
    message: MessageId,
) -> Result<Option<Fingerprint>> {
    let row: Option<ContentRow> = tx
        .fetch_optional(
            query(
                "select account_id, sandbox, body, otp_id, recipients from messages
                 where bucket = $1 and message_id = $2",
            )
            .bind(bucket.0)
            .bind(id_bytes(&message)),
        )
        .await?;
    let Some(row) = row.filter(|row| row.otp_id.is_none()) else {
        return Ok(None);
    };
    let recipients = recipient_list::unpack(&row.recipients);
    let (account, environment) = (AccountId(row.account_id), environment(row.sandbox));
    if let Some(body) = &row.body {
        let of_text = fingerprint::of_text(account, environment, body, &recipients);
        return Ok(Some(of_text));
    }
    let texts = recipient_texts::read(tx, (bucket, message), &recipients).await?;
    let texts = texts.iter().map(|(to, text)| (*to, text.as_str()));
    Ok(Some(fingerprint::of_texts(account, environment, texts)))
}
