//! The stored form of rows. It is the same for every kind of file.
//!
//! A row is its number (four octets) and its count of cells (two), and then its cells. A cell is
//! its fault (one octet, 0 for none), its length (two) and its text. Numbers are little endian.

/// The reason why a cell cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CellFault {
    /// A formula has no stored value.
    NoValue,
    /// The cell has an error such as `#N/A`.
    Error,
    /// The number has more digits than a spreadsheet keeps.
    DigitsLost,
    /// The text is too long.
    TooLong,
    /// Text follows a closing quote.
    Quote,
}

impl CellFault {
    const ALL: [Self; 5] = [
        Self::NoValue,
        Self::Error,
        Self::DigitsLost,
        Self::TooLong,
        Self::Quote,
    ];

    fn of(octet: u8) -> Option<Self> {
        let index = usize::from(octet).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }

    const fn octet(self) -> u8 {
        self as u8 + 1
    }
}

/// A cell of a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FileCell<'a> {
    /// The text.
    pub text: &'a str,
    /// The reason why it cannot be read.
    pub fault: Option<CellFault>,
}

/// A row of a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileRow<'a> {
    /// The number of the row as a spreadsheet shows it, from 1.
    pub number: u32,
    /// Its cells.
    pub cells: Vec<FileCell<'a>>,
}

impl<'a> FileRow<'a> {
    /// Returns a cell. A cell after the last one is empty.
    pub fn cell(&self, column: usize) -> FileCell<'a> {
        let empty = FileCell {
            text: "",
            fault: None,
        };
        self.cells.get(column).copied().unwrap_or(empty)
    }
}

/// Rows in their stored form.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PackedRows {
    octets: Vec<u8>,
    rows: u32,
}

impl PackedRows {
    /// Adds a row with its cells. Cells beyond 65,535 are dropped.
    pub fn push<'c>(
        &mut self,
        number: u32,
        cells: impl ExactSizeIterator<Item = (&'c str, Option<CellFault>)>,
    ) {
        let count = u16::try_from(cells.len()).unwrap_or(u16::MAX);
        self.rows += 1;
        self.octets.extend(number.to_le_bytes());
        self.octets.extend(count.to_le_bytes());
        for (text, fault) in cells.take(usize::from(count)) {
            let text = &text[..text.floor_char_boundary(usize::from(u16::MAX))];
            let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
            self.octets.push(fault.map_or(0, CellFault::octet));
            self.octets.extend(length.to_le_bytes());
            self.octets.extend(text.as_bytes());
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> u32 {
        self.rows
    }

    /// Returns `true` if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the octets that are stored.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Takes the octets, and leaves no row.
    pub fn take(&mut self) -> Vec<u8> {
        self.rows = 0;
        std::mem::take(&mut self.octets)
    }

    /// Returns the rows of stored octets. Octets that are no row end the list.
    pub fn rows(octets: &[u8]) -> impl Iterator<Item = FileRow<'_>> {
        let mut rest = Octets(octets);
        std::iter::from_fn(move || rest.row())
    }
}

struct Octets<'a>(&'a [u8]);

impl<'a> Octets<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn row(&mut self) -> Option<FileRow<'a>> {
        let number = u32::from_le_bytes(self.take(4)?.try_into().ok()?);
        let count = self.short()?;
        let mut cells = Vec::with_capacity(usize::from(count.min(256)));
        for _ in 0..count {
            let fault = CellFault::of(*self.take(1)?.first()?);
            let length = self.short()?;
            let text = str::from_utf8(self.take(usize::from(length))?).ok()?;
            cells.push(FileCell { text, fault });
        }
        Some(FileRow { number, cells })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn packed_rows_unpack_to_themselves(
            rows in prop::collection::vec(prop::collection::vec((".{0,20}", 0_u8..6), 0..5), 0..9),
        ) {
            let mut packed = PackedRows::default();
            for (number, cells) in (7..).zip(&rows) {
                let cells = cells.iter().map(|(text, fault)| (text.as_str(), CellFault::of(*fault)));
                packed.push(number, cells);
            }
            prop_assert_eq!(packed.len() as usize, rows.len());
            let unpacked: Vec<_> = PackedRows::rows(packed.octets()).collect();
            prop_assert_eq!(unpacked.len(), rows.len());
            for (number, (row, cells)) in (7..).zip(unpacked.iter().zip(&rows)) {
                prop_assert_eq!(row.number, number);
                let pairs: Vec<_> = row.cells.iter().map(|cell| (cell.text.to_owned(), cell.fault)).collect();
                let expected: Vec<_> = cells.iter().map(|(text, fault)| (text.clone(), CellFault::of(*fault))).collect();
                prop_assert_eq!(pairs, expected);
            }
        }

        #[test]
        fn any_octets_unpack_without_a_panic(octets in prop::collection::vec(any::<u8>(), 0..99)) {
            prop_assert!(PackedRows::rows(&octets).count() <= octets.len());
        }
    }
}
