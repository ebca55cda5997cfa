//! The texts of personalised messages, and the customer's references of their recipients.
//!
//! A row holds the texts of [`ROW_RECIPIENTS`] recipients with adjacent numbers. A claim reads the
//! rows that have numbers of its batch.

use crate::rows::{id_bytes, number, recipient};
use database::{Error, Result, Tx, bulk, query, value};
use domain::{Bucket, MessageId, Recipient, RecipientText, RecipientTexts};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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

/// Returns the texts of these recipients of a personalised message. Recipients without a text are
/// left out.
pub(crate) async fn read(
    tx: &mut Tx,
    (bucket, message): (Bucket, MessageId),
    recipients: &[Recipient],
) -> Result<HashMap<Recipient, String>> {
    let mut wanted = recipients.to_vec();
    wanted.sort_unstable();
    let (Some(lowest), Some(highest)) = (wanted.first(), wanted.last()) else {
        return Ok(HashMap::new());
    };
    // Rows between two numbers may be many, so the keys show first which ones have wanted numbers.
    let keys: Vec<i64> = tx
        .fetch_all(
            query(
                "select first_recipient from recipient_texts
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
    let find = bulk(
        "select texts from recipient_texts
         where first_recipient = $1 and bucket = $2 and message_id = $3",
        "select texts from recipient_texts
         where first_recipient in (select * from unnest($1::bigint[])) and bucket = $2
             and message_id = $3",
    );
    let keys = rows_of(&keys, &wanted);
    let find = find.rows(&keys, |first| [value(*first)]);
    let find = find.bind(bucket.0).bind(id_bytes(&message));
    let rows: Vec<String> = tx.fetch_each(find).await?;
    let mut texts = HashMap::with_capacity(recipients.len());
    for row in rows {
        let row: BTreeMap<i64, String> = serde_json::from_str(&row)
            .map_err(|_| Error::Unreadable("texts of recipients".to_owned()))?;
        let row = row.into_iter().map(|(to, text)| (recipient(to), text));
        texts.extend(row.filter(|(to, _)| wanted.binary_search(to).is_ok()));
    }
    Ok(texts)
}

/// Returns the keys of the rows that have these recipients. Both lists are in ascending order.
fn rows_of(keys: &[i64], wanted: &[Recipient]) -> BTreeSet<i64> {
    let row_of = |to: &Recipient| {
        let rows_until = keys.partition_point(|first| *first <= number(*to));
        keys.get(rows_until.checked_sub(1)?).copied()
    };
    wanted.iter().filter_map(row_of).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_with_wanted_numbers_are_read() {
        let keys = [100, 200, 300, 400];
        let table: [(&[u64], &[i64]); 5] = [
            (&[], &[]),
            (&[99], &[]),
            (&[100, 150, 199], &[100]),
            (&[100, 400], &[100, 400]),
            (&[250, 999], &[200, 400]),
        ];
        for (wanted, expected) in table {
            let wanted: Vec<Recipient> =
                wanted.iter().copied().map(Recipient::from_digits).collect();
            let found: Vec<i64> = rows_of(&keys, &wanted).into_iter().collect();
            assert_eq!(found, expected, "{wanted:?}");
        }
    }
}
