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
    /// The recipients on DND.
    pub dnd: HashSet<Recipient>,
}

/// The numbers of recipients that a send left out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LeftOut {
    /// Recipients who opted out.
    pub opted_out: usize,
    /// Recipients on DND who did not opt out.
    pub dnd: usize,
}

impl Unwanted {
    /// Returns `true` if nobody is left out.
    pub fn is_empty(&self) -> bool {
        self.opted_out.is_empty() && self.dnd.is_empty()
    }

    /// Returns `true` if a recipient gets nothing.
    pub fn contains(&self, recipient: Recipient) -> bool {
        self.opted_out.contains(&recipient) || self.dnd.contains(&recipient)
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
            } else if self.dnd.contains(&recipient) {
                left_out.dnd += 1;
            }
        }
        if left_out.opted_out + left_out.dnd == all {
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
        let unwanted = |opted_out: usize, dnd: std::ops::Range<usize>| Unwanted {
            opted_out: all[..opted_out].iter().copied().collect(),
            dnd: all[dnd].iter().copied().collect(),
        };
        for (opted_out, dnd, expected) in [
            (0, 0..0, Ok((0, 0))),
            (2, 0..0, Ok((2, 0))),
            (1, 0..2, Ok((1, 1))),
            (0, 1..3, Ok((0, 2))),
            (1, 1..3, Err(Refusal::NobodyLeft)),
            (3, 0..0, Err(Refusal::NobodyLeft)),
        ] {
            let counted = unwanted(opted_out, dnd).count(all.into_iter());
            let counted = counted.map(|left_out| (left_out.opted_out, left_out.dnd));
            assert_eq!(counted, expected);
        }
    }
}
