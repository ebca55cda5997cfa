//! The storage format of pages (decision 0024). A row holds the pages whose ids differ in the last
//! character alone and whose messages were submitted in the same hour. Most carriers count, so a
//! row holds ten or sixteen pages.
//!
//! A row is a list of runs, each with the pages of one leg of one message. A run begins with the 16
//! bytes of the message id, the bucket of its delivery, the leg, and the number of pages. Each page
//! has the last character of its id, twice its number (plus one for a guess), and the recipient.
//! Numbers are in base 128, the lowest digit first; each byte but the last has its high bit set.

use super::page::PageRef;
use database::{Error, Result};
use domain::{Bucket, Leg, MessageId, Recipient};
use uuid::Uuid;

const HOUR_MS: i64 = 3_600_000;

/// Bytes of a message id.
const ID_OCTETS: usize = 16;

/// Splits an id into a prefix and its last character. An id that does not end in an ASCII letter or
/// digit is not split, and its character is zero.
pub(crate) fn split(id: &str) -> (&str, u8) {
    match id.as_bytes().last() {
        Some(&last) if last.is_ascii_alphanumeric() => (id.split_at(id.len() - 1).0, last),
        _ => (id, 0),
    }
}

/// Returns the start of the hour of a moment, Unix milliseconds. Pages of a prefix that were
/// submitted in the same hour share a row.
pub(crate) fn hour_of(at_ms: i64) -> i64 {
    at_ms - at_ms.rem_euclid(HOUR_MS)
}

/// Returns the prefix of a recipient's own row, used once a prefix has too many pages. No carrier
/// has reason to use its separator in an id. One that does names pages of that recipient.
pub(super) fn apart(prefix: &str, recipient: Recipient) -> String {
    format!("{prefix}\u{1}{}", recipient.digits())
}

/// Returns the last hour of which all pages were submitted before a time, Unix milliseconds.
pub(crate) fn last_before(before_ms: i64) -> i64 {
    before_ms - HOUR_MS
}

/// Encodes pages, each with the last character of its id.
pub(crate) fn encode(pages: &[(u8, PageRef)]) -> Vec<u8> {
    let mut octets = Vec::with_capacity(pages.len() * 2 * ID_OCTETS);
    let names = |part: &PageRef| (part.message, part.home, part.leg);
    for run in pages.chunk_by(|(_, one), (_, next)| names(one) == names(next)) {
        let Some((_, first)) = run.first() else {
            continue;
        };
        octets.extend_from_slice(first.message.0.as_bytes());
        for number in [
            first.home.0.unsigned_abs(),
            first.leg.number().unsigned_abs(),
            run.len() as u64,
        ] {
            put(&mut octets, number);
        }
        for (last, part) in run {
            octets.push(*last);
            put(
                &mut octets,
                2 * part.page.unsigned_abs() + u64::from(part.is_guess),
            );
            put(&mut octets, part.recipient.digits());
        }
    }
    octets
}

/// Decodes the output of [`encode`], also several outputs in sequence, of a row of that hour.
///
/// # Errors
///
/// [`Error::Unreadable`] if the bytes end too early or a number is too large.
pub(crate) fn decode(octets: &[u8], hour_ms: i64) -> Result<Vec<(u8, PageRef)>> {
    let mut pages = Vec::with_capacity(ID_OCTETS);
    each(octets, hour_ms, |last, part| pages.push((last, part)))?;
    Ok(pages)
}

/// Passes the pages of [`decode`] to a function, one after the other.
pub(super) fn each(octets: &[u8], hour_ms: i64, found: impl FnMut(u8, PageRef)) -> Result<()> {
    read(octets, hour_ms, found)
        .ok_or_else(|| Error::Unreadable(format!("pages of {} octets", octets.len())))
}

fn read(mut octets: &[u8], hour_ms: i64, mut found: impl FnMut(u8, PageRef)) -> Option<()> {
    while !octets.is_empty() {
        let (id, rest) = octets.split_at_checked(ID_OCTETS)?;
        octets = rest;
        let message = MessageId(Uuid::from_slice(id).ok()?);
        let home = Bucket(signed(take(&mut octets)?)?);
        let leg = Leg::from_number(signed(take(&mut octets)?)?)?;
        for _ in 0..take(&mut octets)? {
            let (&last, rest) = octets.split_first()?;
            octets = rest;
            let page = take(&mut octets)?;
            let part = PageRef {
                home,
                message,
                recipient: Recipient::from_digits(take(&mut octets)?),
                leg,
                page: signed(page / 2)?,
                hour_ms,
                is_guess: page % 2 == 1,
            };
            found(last, part);
        }
    }
    Some(())
}

fn put(octets: &mut Vec<u8>, mut number: u64) {
    loop {
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            octets.push(low & 0x7F);
            return;
        }
        octets.push(low | 0x80);
    }
}

fn take(octets: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for place in 0..9 {
        let (&octet, rest) = octets.split_first()?;
        *octets = rest;
        number |= u64::from(octet & 0x7F) << (7 * place);
        if octet < 0x80 {
            return Some(number);
        }
    }
    None
}

fn signed(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn part() -> impl Strategy<Value = (u8, PageRef)> {
        let message = prop_oneof![
            Just(1_u128),
            Just(0x0198_7654_3210_7000_8000_0000_0000_0002_u128),
            any::<u128>()
        ];
        let fields = (
            message,
            0_i64..16,
            prop::sample::select(&Leg::ALL[..]),
            1_i64..200,
            any::<bool>(),
        );
        (any::<u8>(), fields, 1_u64..1_000_000_000_000_000).prop_map(
            |(last, (message, home, leg, page, is_guess), digits)| {
                let part = PageRef {
                    home: Bucket(home),
                    message: MessageId(Uuid::from_u128(message)),
                    recipient: Recipient::from_digits(digits),
                    leg,
                    page,
                    hour_ms: 0,
                    is_guess,
                };
                (last, part)
            },
        )
    }

    proptest! {
        #[test]
        fn pages_are_read_as_they_were_written(pages in prop::collection::vec(part(), 0..40)) {
            prop_assert_eq!(decode(&encode(&pages), 0).unwrap(), pages);
        }

        #[test]
        fn what_was_written_behind_it_is_read_with_it(
            first in prop::collection::vec(part(), 0..10),
            second in prop::collection::vec(part(), 0..10),
        ) {
            let octets = [encode(&first), encode(&second)].concat();
            prop_assert_eq!(decode(&octets, 0).unwrap(), [first, second].concat());
        }

        #[test]
        fn what_ends_too_early_is_told(
            pages in prop::collection::vec(part(), 1..5),
            cut in any::<prop::sample::Index>(),
        ) {
            let octets = encode(&pages);
            let cut = cut.index(octets.len());
            // At the end of a run the remaining bytes are complete.
            if let Ok(read) = decode(&octets[..cut], 0) {
                prop_assert_eq!(&read[..], &pages[..read.len()]);
                prop_assert_eq!(encode(&read).len(), cut);
            }
        }

        #[test]
        fn nothing_read_stops_the_process(octets in prop::collection::vec(any::<u8>(), 0..200)) {
            drop(decode(&octets, 0));
        }

        #[test]
        fn an_id_is_its_stem_and_its_last_sign(id in "\\PC{0,8}") {
            let (prefix, last) = split(&id);
            let last = (last != 0).then(|| char::from(last));
            let whole: String = prefix.chars().chain(last).collect();
            prop_assert_eq!(whole, id);
        }
    }

    #[test]
    fn ids_that_count_have_a_stem_in_common() {
        for (id, split_as) in [
            ("1000000017", ("100000001", b'7')),
            ("a1F", ("a1", b'F')),
            ("7", ("", b'7')),
            ("", ("", 0)),
            ("12-", ("12-", 0)),
            ("1é", ("1é", 0)),
        ] {
            assert_eq!(split(id), split_as);
        }
    }

    #[test]
    fn a_page_of_a_campaign_takes_eight_octets() {
        let page = |number: u8| {
            let part = PageRef {
                home: Bucket(3),
                message: MessageId(Uuid::from_u128(1 << 100)),
                recipient: Recipient::from_digits(2_348_031_234_560 + u64::from(number)),
                leg: Leg::First,
                page: 1,
                hour_ms: 0,
                is_guess: false,
            };
            (b'0' + number, part)
        };
        let pages: Vec<_> = (0..10).map(page).collect();
        assert_eq!(encode(&pages).len(), 16 + 3 + 10 * 8);
    }
}
