//! The texts of personalised messages, and the customer's references of their recipients.
//!
//! A row holds the texts of [`ROW_RECIPIENTS`] recipients with adjacent numbers. A claim reads the
//! rows between the lowest and the highest number of its batch.

use crate::rows::{id_bytes, number, recipient};
use database::{Error, Result, Tx, bulk, query, value};
use domain::{Bucket, MessageId, Recipient, RecipientText, RecipientTexts};
use std::collections::{BTreeMap, HashMap};

/// Recipients in a row of texts.
const ROW_RECIPIENTS: usize = 100;

/// The key of a delivery.
type DeliveryKey = (Bucket, MessageId, Recipient);

/// Stores the texts and references of a new personalised message.
pub(crate) async fn insert(
    tx: &mut Tx,
    bucket: Bucket,
    message: MessageId,
    texts: &RecipientTexts,
) -> Result<()> {
    let all: Vec<RecipientText<'_>> = texts.iter().collect();
    let rows = all.chunks(ROW_RECIPIENTS).map(|row| {
        let first = row.first().map_or(0, |one| number(one.recipient));
        let texts = row.iter().map(|one| (number(one.recipient), one.text));
        serde_json::to_string(&texts.collect::<BTreeMap<_, _>>())
            .map(|texts| (first, texts))
            .map_err(|_| Error::Impossible("texts have no JSON"))
    });
    let rows: Vec<(i64, String)> = rows.collect::<Result<_>>()?;
    let insert = bulk(
        "insert into recipient_texts (bucket, message_id, first_recipient, texts)
             values ($3, $4, $1, $2)",
        "insert into recipient_texts (bucket, message_id, first_recipient, texts)
             select $3, $4, v.first_recipient, v.texts
             from unnest($1::bigint[], $2::text[]) v (first_recipient, texts)",
    );
    let insert = insert.rows(&rows, |(first, texts)| [value(*first), value(texts)]);
    let insert = insert.bind(bucket.0).bind(id_bytes(&message));
    tx.execute_each(insert).await?;
    insert_references(tx, bucket, message, &all).await
}

async fn insert_references(
    tx: &mut Tx,
    bucket: Bucket,
    message: MessageId,
    all: &[RecipientText<'_>],
) -> Result<()> {
    let own = all.iter();
    let own = own.filter_map(|one| Some((one.recipient, one.customer_reference?)));
    let own: Vec<(Recipient, &str)> = own.collect();
    let insert = bulk(
        "insert into recipient_references (bucket, message_id, recipient, customer_reference)
         values ($3, $4, $1, $2)",
        "insert into recipient_references (bucket, message_id, recipient, customer_reference)
         select $3, $4, v.recipient, v.customer_reference
         from unnest($1::bigint[], $2::text[]) v (recipient, customer_reference)",
    );
    let insert = insert.rows(&own, |(to, own)| [value(number(*to)), value(*own)]);
    let insert = insert.bind(bucket.0).bind(id_bytes(&message));
    tx.execute_each(insert).await?;
    Ok(())
}

/// Returns the texts of these recipients of a personalised message, which are in the order of their
/// numbers. Recipients without a text are left out.
pub(crate) async fn read(
    tx: &mut Tx,
    (bucket, message): (Bucket, MessageId),
    recipients: &[Recipient],
) -> Result<HashMap<Recipient, String>> {
    let (Some(lowest), Some(highest)) = (recipients.iter().min(), recipients.iter().max()) else {
        return Ok(HashMap::new());
    };
    let rows: Vec<String> = tx
        .fetch_all(
            query(
                "select texts from recipient_texts
                 where bucket = $1 and message_id = $2 and first_recipient <= $4
                     and first_recipient >= coalesce((
                         select max(first_recipient) from recipient_texts
                         where bucket = $1 and message_id = $2 and first_recipient <= $3), 0)
                 order by first_recipient",
            )
            .bind(bucket.0)
            .bind(id_bytes(&message))
            .bind(number(*lowest))
            .bind(number(*highest)),
        )
        .await?;
    let mut wanted = recipients.to_vec();
    wanted.sort_unstable();
    let mut texts = HashMap::with_capacity(recipients.len());
    for row in rows {
        let row: BTreeMap<i64, String> = serde_json::from_str(&row)
            .map_err(|_| Error::Unreadable("texts of recipients".to_owned()))?;
        let row = row.into_iter().map(|(to, text)| (recipient(to), text));
        texts.extend(row.filter(|(to, _)| wanted.binary_search(to).is_ok()));
    }
    Ok(texts)
}

/// Returns the customer's own references of these recipients, as far as they have one.
pub(crate) async fn references(
    tx: &mut Tx,
    keys: &[DeliveryKey],
) -> Result<HashMap<(MessageId, Recipient), String>> {
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let find = bulk(
        "select message_id, recipient, customer_reference from recipient_references
         where bucket = $1 and message_id = $2 and recipient = $3",
        "select message_id, recipient, customer_reference from recipient_references
         where (bucket, message_id, recipient) in (
             select * from unnest($1::bigint[], $2::bytea[], $3::bigint[]))",
    );
    let find = find.rows(keys, |(bucket, message, to)| {
        [
            value(bucket.0),
            value(id_bytes(message)),
            value(number(*to)),
        ]
    });
    let rows: Vec<(Vec<u8>, i64, String)> = tx.fetch_each(find).await?;
    rows.into_iter()
        .map(|(id, to, reference)| Ok(((crate::rows::message_id(&id)?, recipient(to)), reference)))
        .collect()
}

/// Removes the texts of messages.
pub(crate) async fn remove(tx: &mut Tx, bucket: Bucket, messages: &[MessageId]) -> Result<()> {
    let remove = bulk(
        "delete from recipient_texts where message_id = $1 and bucket = $2",
        "delete from recipient_texts
         where message_id in (select * from unnest($1::bytea[])) and bucket = $2",
    );
    let remove = remove.rows(messages, |message| [value(id_bytes(message))]);
    tx.execute_each(remove.bind(bucket.0)).await?;
    Ok(())
}

/// Removes the references of messages.
pub(crate) async fn remove_references(
    tx: &mut Tx,
    bucket: Bucket,
    messages: &[MessageId],
) -> Result<()> {
    let remove = bulk(
        "delete from recipient_references where message_id = $1 and bucket = $2",
        "delete from recipient_references
         where message_id in (select * from unnest($1::bytea[])) and bucket = $2",
    );
    let remove = remove.rows(messages, |message| [value(id_bytes(message))]);
    tx.execute_each(remove.bind(bucket.0)).await?;
    Ok(())
}
