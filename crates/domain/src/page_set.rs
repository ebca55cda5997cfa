//! Sets of the pages of a message.

/// The last page that fits into a stored set of 63 bits. The longest message has 46 pages, with
/// 1,530 characters of two UCS-2 units each.
const MAX_PAGE: i64 = 63;

/// A set of pages. Bit 0 is page 1.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct PageSet(pub u64);

impl PageSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);
    /// The set of all pages.
    pub const ALL: Self = Self(u64::MAX);

    /// Returns the set of one page, counted from 1.
    pub fn of(page: i64) -> Self {
        let bit = page.clamp(1, MAX_PAGE) - 1;
        Self(1 << bit)
    }

    /// Returns the pages from 1 to `count`.
    pub fn first_pages(count: i64) -> Self {
        Self(Self::of(count + 1).0 - 1)
    }

    /// Returns the set of stored bits.
    pub const fn from_stored(bits: i64) -> Self {
        Self(bits.cast_unsigned())
    }

    /// Returns the bits that are stored.
    pub const fn to_stored(self) -> i64 {
        self.0.cast_signed()
    }

    /// Returns `true` if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of pages.
    pub fn count(self) -> i64 {
        i64::from(self.0.count_ones())
    }

    /// Returns `true` if the set contains a page.
    pub fn contains(self, page: i64) -> bool {
        self.0 & Self::of(page).0 != 0
    }

    /// Returns the lowest page.
    pub fn first(self) -> Option<i64> {
        (!self.is_empty()).then(|| i64::from(self.0.trailing_zeros()) + 1)
    }

    /// Returns the union.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the pages of this set that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_the_bit_of_its_number() {
        assert_eq!(PageSet::of(1), PageSet(0b1));
        assert_eq!(PageSet::of(3), PageSet(0b100));
        assert_eq!(PageSet::of(0), PageSet(0b1));
        assert_eq!(PageSet::of(99), PageSet(1 << 62));
        assert_eq!(PageSet::first_pages(0), PageSet::EMPTY);
        assert_eq!(PageSet::first_pages(3), PageSet(0b111));
    }

    #[test]
    fn sets_are_joined_and_cut() {
        let set = PageSet::of(2).with(PageSet::of(5));
        assert_eq!((set.count(), set.first()), (2, Some(2)));
        assert!(set.contains(5) && !set.contains(1));
        assert_eq!(set.without(PageSet::of(2)).first(), Some(5));
        assert!(set.without(PageSet::ALL).is_empty());
        assert_eq!(PageSet::EMPTY.first(), None);
        assert_eq!(PageSet::from_stored(set.to_stored()), set);
    }
}
