//! The received inbound messages of a carrier that are not committed yet. No effects here.

use super::transport::{BoundSession, LinkId, Origin};
use smpp::{CommandStatus, DeliverSm, Segment};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{ArrivedPage, KeptPages};

/// Memory of uncommitted pages of a carrier at which its connections are no longer read (back
/// pressure).
const MAX_OCTETS: usize = 4 * 1024 * 1024;
/// Pages of one commit at most.
const MAX_PAGES: usize = 500;
/// Memory of a page beside its octets and addresses.
const PAGE_OCTETS: usize = size_of::<ArrivedPage>() + size_of::<Origin>();

/// The answers to requests, by connection.
pub(crate) type InboundAnswers = Vec<(BoundSession, Vec<(u32, CommandStatus)>)>;

/// A page and the request to answer after its commit, until its connection is lost.
struct ReceivedPage {
    page: ArrivedPage,
    origin: Option<Origin>,
}

impl ReceivedPage {
    fn octets(&self) -> usize {
        let page = &self.page;
        PAGE_OCTETS + page.octets.len() + page.sender.len() + page.number.len()
    }
}

/// A page that is committed, and the connection and sequence number of its request.
pub(crate) struct PageToAnswer {
    pub(crate) session: Option<BoundSession>,
    pub(crate) sequence: u32,
}

/// The received inbound messages of one carrier.
pub(crate) struct InboundInbox {
    carrier: Arc<str>,
    /// The numbers of the bound connections. A link that connects again has another one.
    connections: BTreeMap<LinkId, i64>,
    /// Connections that delivered a page.
    delivering: BTreeSet<i64>,
    /// Connections that delivered a page, and have ended since the last commit.
    ended: Vec<i64>,
    pages: Vec<ReceivedPage>,
    octets: usize,
}

impl InboundInbox {
    pub(crate) fn new(carrier: Arc<str>) -> Self {
        Self {
            carrier,
            connections: BTreeMap::new(),
            delivering: BTreeSet::new(),
            ended: Vec::new(),
            pages: Vec::new(),
            octets: 0,
        }
    }

    /// Returns `true` if more pages may be read.
    pub(crate) fn has_capacity(&self) -> bool {
        self.octets < MAX_OCTETS
    }

    /// Returns `true` if there is nothing to commit.
    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.ended.is_empty()
    }

    /// Adds a bound connection under a number that no other connection has.
    pub(crate) fn bound(&mut self, link: LinkId, connection: i64) {
        self.lost(link);
        self.connections.insert(link, connection);
    }

    /// Removes a lost connection. Its pages are committed without an answer, and the carrier
    /// repeats them on another connection.
    pub(crate) fn lost(&mut self, link: LinkId) {
        for received in &mut self.pages {
            if received.origin.is_some_and(|(other, _)| other == link) {
                received.origin = None;
            }
        }
        if let Some(connection) = self.connections.remove(&link)
            && self.delivering.remove(&connection)
        {
            self.ended.push(connection);
        }
    }

    /// Adds a `deliver_sm` that is no receipt. `id` is the number of its row.
    pub(crate) fn deliver(&mut self, origin: Origin, deliver: &DeliverSm, id: i64, now_ms: i64) {
        let connection = self.connections.get(&origin.0).copied().unwrap_or_default();
        self.delivering.insert(connection);
        let received = ReceivedPage {
            page: page(&self.carrier, deliver, id, connection, now_ms),
            origin: Some(origin),
        };
        self.octets += received.octets();
        self.pages.push(received);
    }

    /// Takes the oldest pages for a commit, with their requests in the same order.
    pub(crate) fn take<'a>(
        &mut self,
        session: impl Fn(LinkId) -> Option<&'a BoundSession>,
    ) -> (KeptPages, Vec<PageToAnswer>) {
        let count = self.pages.len().min(MAX_PAGES);
        let mut kept = KeptPages {
            pages: Vec::with_capacity(count),
            // A connection has ended before the pages that other connections repeat.
            ended: std::mem::take(&mut self.ended),
            bound: self.connections.values().copied().collect(),
        };
        let mut answers = Vec::with_capacity(count);
        for received in self.pages.drain(..count) {
            self.octets -= received.octets();
            kept.pages.push(received.page);
            answers.push(PageToAnswer {
                session: received.origin.and_then(|(link, _)| session(link).cloned()),
                sequence: received.origin.map_or(0, |(_, sequence)| sequence),
            });
        }
        (kept, answers)
    }
}

fn page(
    carrier: &Arc<str>,
    deliver: &DeliverSm,
    id: i64,
    connection: i64,
    now_ms: i64,
) -> ArrivedPage {
    let segment = Segment::of(deliver);
    let octets = smpp::content(deliver);
    let (sender, number) = (
        text(&deliver.source.digits),
        text(&deliver.destination.digits),
    );
    let place = segment.map_or((0, 1, 1), |segment| {
        (segment.reference, segment.total, segment.number)
    });
    ArrivedPage {
        fingerprint: domain::inbound::fingerprint(
            (&sender, &number),
            place,
            deliver.data_coding,
            octets,
        ),
        id,
        carrier: carrier.to_string(),
        sender,
        number,
        reference: segment.map_or(id, |segment| segment.reference.into()),
        total: place.1,
        page: place.2,
        data_coding: deliver.data_coding,
        octets: octets.to_vec(),
        received_at_ms: now_ms,
        connection,
    }
}

/// Returns an address without the characters that a database does not take.
fn text(address: &str) -> String {
    address.replace('\0', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use smpp::{Address, esm_class, udh};

    fn deliver(text: &[u8], esm_class: u8) -> DeliverSm {
        DeliverSm {
            source: Address::international("2348031234567"),
            destination: Address::international("32811"),
            esm_class,
            short_message: text.to_vec().into(),
            ..DeliverSm::default()
        }
    }

    fn taken(inbox: &mut InboundInbox) -> KeptPages {
        inbox.take(|_| None).0
    }

    #[test]
    fn a_page_has_its_place_in_its_message() {
        let mut inbox = InboundInbox::new("mtn".into());
        inbox.bound(0, 70);
        let part = [&udh(9, 3, 2)[..], b"text"].concat();
        inbox.deliver((0, 1), &deliver(b"Yes", 0), 1, 5);
        inbox.deliver((0, 2), &deliver(&part, esm_class::UDHI), 2, 6);
        let pages = taken(&mut inbox).pages;
        let places = pages
            .iter()
            .map(|page| (page.reference, page.total, page.page));
        assert_eq!(places.collect::<Vec<_>>(), [(1, 1, 1), (9, 3, 2)]);
        assert_eq!(pages[1].octets, b"text");
        assert_eq!((pages[0].connection, pages[1].received_at_ms), (70, 6));
        assert!(inbox.is_empty() && inbox.octets == 0);
    }

    #[test]
    fn the_end_of_a_connection_that_delivered_is_committed() {
        let mut inbox = InboundInbox::new("mtn".into());
        inbox.bound(0, 70);
        inbox.bound(1, 71);
        inbox.deliver((0, 1), &deliver(b"Yes", 0), 1, 5);
        inbox.lost(0);
        inbox.lost(1);
        inbox.bound(0, 72);
        let kept = taken(&mut inbox);
        assert_eq!((kept.ended, kept.bound), (vec![70], vec![72]));
        assert_eq!(kept.pages.len(), 1);
        assert!(inbox.is_empty());
    }

    #[test]
    fn uncommitted_pages_have_a_bound() {
        let mut inbox = InboundInbox::new("mtn".into());
        inbox.bound(0, 70);
        let mut count = 0;
        while inbox.has_capacity() {
            count += 1;
            inbox.deliver((0, 1), &deliver(&[b'x'; 160], 0), count, 5);
        }
        assert!(count > 1_000, "{count}");
        while !inbox.is_empty() {
            assert!(taken(&mut inbox).pages.len() <= MAX_PAGES);
        }
        assert_eq!(inbox.octets, 0);
    }
}
