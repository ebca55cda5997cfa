//! How many fields of one request are read: more than a request can mean take time and mean nothing.

use domain::Refusal;
use std::cell::Cell;

/// Fields beside recipients, the values within them and empty pieces of a form included.
const MAX_OTHER_FIELDS: usize = 10_000;

/// Counts the fields of one request while they are read.
pub(in crate::http) struct Bounds {
    max_recipients: usize,
    recipients: Cell<usize>,
    others: Cell<usize>,
}

/// More fields came than are read; [`Bounds::exceeded`] has the refusal.
pub(in crate::http) struct Exceeded;

impl Bounds {
    /// Those of a request that may have so many recipients. Twice as many are read, so that a list that is somewhat too
    /// long is refused in its turn, after what is checked before it.
    pub(in crate::http) fn new(max_recipients: usize) -> Self {
        Self {
            max_recipients,
            recipients: Cell::new(0),
            others: Cell::new(0),
        }
    }

    /// Recipients that the request may have.
    pub(in crate::http) fn max_recipients(&self) -> usize {
        self.max_recipients
    }

    /// Counts a recipient.
    pub(in crate::http) fn recipient(&self) -> Result<(), Exceeded> {
        count(&self.recipients, self.max_recipients.saturating_mul(2))
    }

    /// Counts anything else.
    pub(in crate::http) fn other(&self) -> Result<(), Exceeded> {
        count(&self.others, MAX_OTHER_FIELDS)
    }

    /// Why nothing more was read, where a bound was exceeded.
    pub(in crate::http) fn exceeded(&self) -> Option<Refusal> {
        if self.others.get() > MAX_OTHER_FIELDS {
            return Some(Refusal::Malformed(format!(
                "The request has more than {MAX_OTHER_FIELDS} fields beside its recipients."
            )));
        }
        let limit = self.max_recipients;
        (self.recipients.get() > limit.saturating_mul(2))
            .then_some(Refusal::TooManyRecipients { limit })
    }
}

fn count(counter: &Cell<usize>, most: usize) -> Result<(), Exceeded> {
    counter.set(counter.get() + 1);
    if counter.get() > most {
        Err(Exceeded)
    } else {
        Ok(())
    }
}
