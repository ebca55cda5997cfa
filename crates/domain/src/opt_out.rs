//! Opt-outs: numbers that an account sends nothing to.

mod csv;
mod request;

pub use csv::read_csv;
pub use request::{
    MAX_OPT_OUTS, MAX_REASON_CHARACTERS, MAX_ROWS, OptOut, OptOutFields, OptOutRequest,
    parse_recipient,
};

use crate::number::recipient::Recipient;
use crate::refusal::Refusal;
use std::collections::HashSet;

/// Recipients of a send who must get nothing.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Unwanted {
    /// The recipients who opted out.
    pub opted_out: HashSet<Recipient>,
}

/// The numbers of recipients that a send left out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LeftOut {
    /// Recipients who opted out.
    pub opted_out: usize,
}

impl Unwanted {
    /// Returns `true` if nobody is left out.
    pub fn is_empty(&self) -> bool {
        self.opted_out.is_empty()
    }

    /// Returns `true` if a recipient gets nothing.
    pub fn contains(&self, recipient: Recipient) -> bool {
        self.opted_out.contains(&recipient)
    }

    /// Counts the recipients of a send who are left out. A send that nobody is left of is refused.
    pub(crate) fn count(
        &self,
        recipients: impl ExactSizeIterator<Item = Recipient>,
    ) -> Result<LeftOut, Refusal> {
        let all = recipients.len();
        let mut left_out = LeftOut::default();
        for recipient in recipients {
            if self.opted_out.contains(&recipient) {
                left_out.opted_out += 1;
            }
        }
        if left_out.opted_out == all {
            return Err(Refusal::NobodyLeft);
        }
        Ok(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_that_nobody_is_left_of_is_refused() {
        let all = [1, 2, 3].map(Recipient::from_digits);
        let unwanted = |count: usize| Unwanted {
            opted_out: all[..count].iter().copied().collect(),
        };
        for (count, expected) in [(0, Ok(0)), (2, Ok(2)), (3, Err(Refusal::NobodyLeft))] {
            let counted = unwanted(count).count(all.into_iter());
            assert_eq!(counted.map(|left_out| left_out.opted_out), expected);
        }
    }
}
