//! Doubts: the carriers that may have pages of a recipient in doubt, as stored with the delivery.

use crate::rows;
use database::{Db, Error, Result, query};
use domain::{Bucket, Leg, MessageId, PageSet, Recipient};
use std::fmt::Write as _;

/// The carriers that may have pages in doubt, by leg. A copy may have gone to another carrier than
/// the first, and the second leg to a third. Only receipts of these carriers adopt.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Doubts(Vec<(Leg, String)>);

impl Doubts {
    /// Returns a leg in doubt with one carrier.
    pub(crate) fn with(leg: Leg, carrier: &str) -> Self {
        Self(vec![(leg, carrier.to_owned())])
    }

    /// Returns `true` if a carrier may have that leg.
    pub(crate) fn contain(&self, leg: Leg, carrier: &str) -> bool {
        self.0
            .iter()
            .any(|(of, with)| *of == leg && with == carrier)
    }

    /// Returns `true` if a carrier may have any leg.
    pub(crate) fn are_with(&self, carrier: &str) -> bool {
        self.0.iter().any(|(_, with)| with == carrier)
    }

    /// Adds the carriers of others.
    pub(crate) fn join(&mut self, others: Self) {
        for (leg, carrier) in others.0 {
            if !self.contain(leg, &carrier) {
                self.0.push((leg, carrier));
            }
        }
    }

    /// Returns the stored text, such as `1:3:mtn,glo 2:1:airtel`. For each leg in doubt it has the
    /// number, the pages as bits, and the carriers. Names of carriers contain none of the
    /// separators. It returns `None` if nothing is in doubt.
    pub(crate) fn to_text(&self, pages: [PageSet; 2]) -> Option<String> {
        let mut text = String::new();
        for (leg, pages) in Leg::ALL.into_iter().zip(pages) {
            if pages.is_empty() {
                continue;
            }
            let of_leg = self.0.iter().filter(|(of, _)| *of == leg);
            let carriers: Vec<&str> = of_leg.map(|(_, with)| &**with).collect();
            let space = if text.is_empty() { "" } else { " " };
            let carriers = carriers.join(",");
            // A write to a text does not fail.
            let _ = write!(
                text,
                "{space}{}:{}:{carriers}",
                leg.number(),
                pages.to_stored()
            );
        }
        (!text.is_empty()).then_some(text)
    }

    /// Parses a stored text into the pages in doubt by leg, and their carriers.
    pub(crate) fn from_text(text: Option<&str>) -> Result<([PageSet; 2], Self)> {
        let (mut pages, mut doubts) = ([PageSet::EMPTY; 2], Self::default());
        for part in text.unwrap_or_default().split_whitespace() {
            let (leg, bits, carriers) =
                leg_of(part).ok_or_else(|| Error::Unreadable(format!("the doubts {text:?}")))?;
            pages[leg.index()] = bits;
            for carrier in carriers.split(',') {
                doubts.0.push((leg, carrier.to_owned()));
            }
        }
        Ok((pages, doubts))
    }
}

fn leg_of(text: &str) -> Option<(Leg, PageSet, &str)> {
    let (leg, rest) = text.split_once(':')?;
    let (pages, carriers) = rest.split_once(':')?;
    let leg = Leg::from_number(leg.parse().ok()?)?;
    Some((leg, PageSet::from_stored(pages.parse().ok()?), carriers))
}

/// Returns the number of recipients in doubt in a bucket, by their last carrier.
pub(crate) async fn counts(db: &Db, bucket: Bucket) -> Result<Vec<(String, i64)>> {
    // The query uses the index of the doubts over all buckets, since few are in doubt. The sign
    // keeps both databases from a scan of the whole bucket.
    let rows: Vec<(String, i64)> = db
        .fetch_all(
            query(
                "select d.carrier, count(*) from deliveries d
             where +d.bucket = $1 and d.recipient > 0 and d.doubts is not null group by d.carrier",
            )
            .bind(bucket.0),
        )
        .await?;
    Ok(rows)
}

/// A recipient in doubt.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Doubtful {
    /// The message.
    pub message: MessageId,
    /// The recipient.
    pub recipient: Recipient,
    /// The carrier of the last submit.
    pub carrier: String,
    /// The time of the last submit, Unix milliseconds.
    pub submitted_at_ms: i64,
}

/// Returns some recipients in doubt of a bucket.
pub(crate) async fn some(db: &Db, bucket: Bucket, limit: u32) -> Result<Vec<Doubtful>> {
    let rows: Vec<(Vec<u8>, i64, String, i64)> = db
        .fetch_all(
            query(
                "select d.message_id, d.recipient, d.carrier, cast(d.submitted_at_s as bigint)
             from deliveries d
             where +d.bucket = $1 and d.recipient > 0 and d.doubts is not null limit $2",
            )
            .bind(bucket.0)
            .bind(i64::from(limit)),
        )
        .await?;
    let doubtful = rows.into_iter().map(|(message, recipient, carrier, at_s)| {
        Ok(Doubtful {
            message: rows::message_id(&message)?,
            recipient: rows::recipient(recipient),
            carrier,
            submitted_at_ms: at_s.saturating_mul(1_000),
        })
    });
    doubtful.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn legs_pages_and_carriers_are_stored_as_text() {
        let mut doubts = Doubts::with(Leg::First, "mtn");
        doubts.join(Doubts::with(Leg::Second, "air-tel"));
        doubts.join(Doubts::with(Leg::First, "glo_2"));
        doubts.join(Doubts::with(Leg::First, "mtn"));
        let text = doubts.to_text([PageSet(3), PageSet(1)]);
        assert_eq!(text.as_deref(), Some("1:3:mtn,glo_2 2:1:air-tel"));
        assert_eq!(
            doubts.to_text([PageSet::EMPTY, PageSet(1)]).as_deref(),
            Some("2:1:air-tel")
        );
        assert_eq!(doubts.to_text([PageSet::EMPTY; 2]), None);
    }

    #[test]
    fn what_is_no_such_text_is_unreadable() {
        for text in ["1", "1:2", "x:1:mtn", "1:x:mtn", "3:1:mtn"] {
            assert!(Doubts::from_text(Some(text)).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(
            pages in prop::array::uniform2((1..1u64 << 46).prop_map(PageSet)),
            carriers in prop::collection::vec(
                (prop::sample::select(&Leg::ALL[..]), "[a-z0-9_-]{1,8}"), 0..6),
        ) {
            let mut doubts = Doubts::with(Leg::First, "first");
            doubts.join(Doubts::with(Leg::Second, "second"));
            for (leg, carrier) in carriers {
                doubts.join(Doubts::with(leg, &carrier));
            }
            let text = doubts.to_text(pages);
            let (read, again) = Doubts::from_text(text.as_deref()).unwrap();
            prop_assert_eq!(read, pages);
            prop_assert_eq!(again.to_text(read), text);
        }
    }
}
