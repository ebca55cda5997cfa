//! The pages of one inbound message, in any order.

use super::decode::decode;

/// A page as its carrier delivered it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InboundPage {
    /// The number of the row that keeps it. Numbers grow with time.
    pub id: i64,
    /// The number of this page, from 1.
    pub number: u8,
    /// The number of pages of the message.
    pub total: u8,
    /// The alphabet of the octets.
    pub data_coding: u8,
    /// The text without a user data header.
    pub octets: Vec<u8>,
    /// The time of arrival, Unix milliseconds.
    pub received_at_ms: i64,
}

/// A message whose pages wait no longer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JoinedPages {
    /// The rows of its pages, with those of repeated pages.
    pub ids: Vec<i64>,
    /// The text. The texts of missing pages are left out.
    pub body: String,
    /// The octets of all pages, in order.
    pub octets: Vec<u8>,
    /// The alphabet of the first page.
    pub data_coding: u8,
    /// `true` if no page is missing.
    pub complete: bool,
    /// `true` if the first page is there, so that the text begins where its sender began.
    pub has_first_page: bool,
    /// The arrival of the first page, Unix milliseconds.
    pub received_at_ms: i64,
}

/// Joins pages that share addresses, reference and total. Phones use a reference again, so another
/// text for a page that is there begins the next message, and ends the one before. Pages that wait
/// for others are in no result.
pub fn join(mut pages: Vec<InboundPage>, now_ms: i64, join_timeout_ms: i64) -> Vec<JoinedPages> {
    pages.sort_by_key(|page| page.id);
    let mut done = Vec::new();
    let mut open: Vec<InboundPage> = Vec::new();
    for page in pages {
        let is_other = |known: &InboundPage| {
            known.number == page.number
                && (known.data_coding, &known.octets) != (page.data_coding, &page.octets)
        };
        if open.iter().any(is_other) {
            done.push(joined(std::mem::take(&mut open)));
        }
        open.push(page);
        if is_complete(&open) {
            done.push(joined(std::mem::take(&mut open)));
        }
    }
    let since_ms = open.iter().map(|page| page.received_at_ms).min();
    if since_ms.is_some_and(|since_ms| since_ms <= now_ms - join_timeout_ms) {
        done.push(joined(open));
    }
    done
}

fn is_complete(pages: &[InboundPage]) -> bool {
    let total = pages.first().map_or(1, |page| page.total);
    (1..=total).all(|number| pages.iter().any(|page| page.number == number))
}

fn joined(pages: Vec<InboundPage>) -> JoinedPages {
    let ids = pages.iter().map(|page| page.id).collect();
    let received_at_ms = pages.iter().map(|page| page.received_at_ms).min();
    let complete = is_complete(&pages);
    let mut pages = pages;
    pages.sort_by_key(|page| (page.number, page.id));
    pages.dedup_by_key(|page| page.number);
    JoinedPages {
        ids,
        body: body(&pages),
        octets: pages
            .iter()
            .flat_map(|page| &page.octets)
            .copied()
            .collect(),
        data_coding: pages.first().map_or(0, |page| page.data_coding),
        complete,
        has_first_page: pages.first().is_some_and(|page| page.number == 1),
        received_at_ms: received_at_ms.unwrap_or(0),
    }
}

/// Returns the text of pages in order. Adjacent pages of one alphabet are decoded together, because
/// a character may be cut between two of them.
fn body(pages: &[InboundPage]) -> String {
    let follows = |one: &InboundPage, next: &InboundPage| {
        one.data_coding == next.data_coding && one.number + 1 == next.number
    };
    let runs = pages.chunk_by(follows);
    let texts = runs.map(|run| {
        let octets: Vec<u8> = run.iter().flat_map(|page| &page.octets).copied().collect();
        decode(run.first().map_or(0, |page| page.data_coding), &octets)
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TIMEOUT_MS: i64 = 300_000;

    fn page(id: i64, number: u8, total: u8, text: &str) -> InboundPage {
        InboundPage {
            id,
            number,
            total,
            data_coding: 0,
            octets: text.into(),
            received_at_ms: 1_000 + id,
        }
    }

    fn bodies(pages: &[InboundPage], now_ms: i64) -> Vec<(String, bool)> {
        let done = join(pages.to_vec(), now_ms, TIMEOUT_MS);
        done.into_iter()
            .map(|one| (one.body, one.complete))
            .collect()
    }

    proptest! {
        #[test]
        fn pages_are_joined_in_any_order(
            order in Just((1..=5_u8).collect::<Vec<_>>()).prop_shuffle(),
            repeated in 0..4_usize,
        ) {
            let text = |number: u8| number.to_string();
            let mut pages: Vec<_> = (1..).zip(&order).map(|(place, &number)| page(2 * place, number, 5, &text(number))).collect();
            // One page arrives twice before the last.
            let again = InboundPage { id: 9, ..pages[repeated].clone() };
            pages.push(again);
            let done = join(pages, 2_000, TIMEOUT_MS);
            prop_assert_eq!(done.len(), 1);
            prop_assert_eq!((&*done[0].body, done[0].complete, done[0].ids.len()), ("12345", true, 6));
        }
    }

    #[test]
    fn pages_wait_for_the_others_until_the_time_out() {
        let pages = [page(1, 3, 3, "c"), page(2, 1, 3, "a")];
        let until_ms = 1_001 + TIMEOUT_MS;
        assert_eq!(bodies(&pages, until_ms - 1), []);
        assert_eq!(bodies(&pages, until_ms), [("ac".to_owned(), false)]);
        assert_eq!(bodies(&[page(1, 1, 1, "a")], 0), [("a".to_owned(), true)]);
        assert_eq!(bodies(&[], until_ms), []);
    }

    #[test]
    fn a_text_without_its_first_page_is_marked() {
        for (number, has_first_page) in [(1, true), (2, false)] {
            let done = join(
                vec![page(1, number, 2, "stop")],
                1_001 + TIMEOUT_MS,
                TIMEOUT_MS,
            );
            assert_eq!(done[0].has_first_page, has_first_page);
        }
    }

    #[test]
    fn another_text_for_a_page_begins_the_next_message() {
        let pages = [
            page(1, 1, 2, "old"),
            page(2, 1, 2, "new "),
            page(3, 2, 2, "text"),
        ];
        let expected = [("old".to_owned(), false), ("new text".to_owned(), true)];
        assert_eq!(bodies(&pages, 2_000), expected);
    }

    #[test]
    fn a_character_that_is_cut_between_pages_is_whole() {
        let unicode = |id, number, octets: &[u8]| InboundPage {
            data_coding: 8,
            octets: octets.into(),
            ..page(id, number, 2, "")
        };
        let pages = [unicode(1, 1, b"\xD8\x3D"), unicode(2, 2, b"\xDE\x00")];
        assert_eq!(bodies(&pages, 2_000), [("😀".to_owned(), true)]);
        let mixed = [unicode(1, 1, b"\x1E\xCC"), page(2, 2, 2, "k")];
        assert_eq!(bodies(&mixed, 2_000), [("Ọk".to_owned(), true)]);
    }
}
