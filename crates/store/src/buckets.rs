//! Buckets: the parts of the key space of the message tables.

use database::Db;
use domain::{AccountId, Bucket};

/// Buckets over which accounts are spread on PostgreSQL.
const BUCKETS: i64 = 16;

/// The buckets of a database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buckets {
    /// `true` if there is one bucket.
    is_embedded: bool,
    /// `true` if one server has all buckets.
    has_one_server: bool,
}

impl Buckets {
    /// The buckets of a PostgreSQL server.
    pub(crate) const OF_SERVER: Self = Self {
        is_embedded: false,
        has_one_server: true,
    };

    /// Returns the buckets of a database.
    pub(crate) fn of(db: &Db) -> Self {
        Self {
            is_embedded: db.is_embedded(),
            has_one_server: db.has_one_server(),
        }
    }

    /// Returns `true` if there is one bucket.
    pub(crate) fn is_embedded(self) -> bool {
        self.is_embedded
    }

    /// Returns the number of buckets.
    pub(crate) fn count(self) -> i64 {
        if self.is_embedded { 1 } else { BUCKETS }
    }

    /// Returns all buckets.
    pub(crate) fn all(self) -> impl Iterator<Item = Bucket> + use<> {
        (0..self.count()).map(Bucket)
    }

    /// Returns the bucket of an account.
    pub(crate) fn account(self, account: AccountId) -> Bucket {
        Bucket(account.0.rem_euclid(self.count()))
    }

    /// Returns the bucket of rows that are keyed by a carrier's id alone: pages, by the prefix of
    /// the id, and parked receipts. It must never change for an id, so the hash is our own
    /// (FNV-1a).
    pub(crate) fn carrier_id(self, carrier: &str, id: &str) -> Bucket {
        if self.is_embedded {
            return Bucket(0);
        }
        let octets = carrier.bytes().chain([0]).chain(id.bytes());
        let hash = octets.fold(0xCBF2_9CE4_8422_2325_u64, |hash, octet| {
            (hash ^ u64::from(octet)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        Bucket(i64::try_from(hash >> 32).unwrap_or(0).rem_euclid(BUCKETS))
    }

    /// Returns `true` if one transaction may change rows of both buckets. Otherwise they may lie on
    /// two servers, and money never moves on two at once.
    pub(crate) fn may_share_transaction(self, one: Bucket, other: Bucket) -> bool {
        self.has_one_server || one == other
    }

    /// Splits work into the parts that one transaction each can do: all of it where one server has
    /// all buckets. The order within a part stays.
    pub(crate) fn split_by_transaction<T>(
        self,
        work: impl IntoIterator<Item = T>,
        bucket: impl Fn(&T) -> Bucket,
    ) -> Vec<Vec<T>> {
        let mut parts: Vec<(Bucket, Vec<T>)> = Vec::new();
        for one in work {
            let bucket = bucket(&one);
            let may_join =
                |(of, _): &&mut (Bucket, Vec<T>)| self.may_share_transaction(*of, bucket);
            match parts.iter_mut().find(may_join) {
                Some((_, part)) => part.push(one),
                None => parts.push((bucket, vec![one])),
            }
        }
        parts.into_iter().map(|(_, part)| part).collect()
    }
}
