//! A share of a whole, as a bar behind a row.

use askama::Template;

/// A bar whose length is a share of a whole. The number stands beside it, so the bar is hidden from
/// screen readers.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Template)]
#[template(path = "parts/share.html")]
pub struct Share {
    /// Thousandths of the whole.
    pub per_mille: u64,
}

impl Share {
    /// Returns the share of a part in a whole. A share of nothing is nothing.
    pub const fn of(part: u64, whole: u64) -> Self {
        let per_mille = match part.saturating_mul(1000).checked_div(whole) {
            Some(share) if share > 1000 => 1000,
            Some(share) => share,
            None => 0,
        };
        Self { per_mille }
    }

    fn percent(self) -> String {
        format!("{}.{}", self.per_mille / 10, self.per_mille % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_between_nothing_and_all() {
        let cases = [
            (0, 0, "0.0"),
            (1, 8, "12.5"),
            (8, 8, "100.0"),
            (9, 8, "100.0"),
        ];
        for (part, whole, percent) in cases {
            assert_eq!(Share::of(part, whole).percent(), percent);
        }
    }
}
