//! The bounds of the fields of one request.

use domain::Refusal;
use std::cell::Cell;

/// Maximum fields apart from recipients. Nested values and empty parts of a form count as well.
const MAX_OTHER_FIELDS: usize = 10_000;

/// The counts of the fields of one request while they are read.
pub(crate) struct Bounds {
    max_recipients: usize,
    recipients: Cell<usize>,
    others: Cell<usize>,
    has_rows: bool,
}

/// The error for too many fields. [`Bounds::exceeded`] has the refusal.
pub(crate) struct Exceeded;

impl Bounds {
    /// Makes the bounds of a request with a maximum number of recipients. Twice as many are read,
    /// so that a list that is slightly too long is refused by the checks that precede this one.
    pub(crate) fn new(max_recipients: usize) -> Self {
        Self {
            max_recipients,
            recipients: Cell::new(0),
            others: Cell::new(0),
            has_rows: false,
        }
    }

    /// Makes the bounds of a personalised send, whose rows are read as well.
    pub(crate) fn with_rows(max_recipients: usize) -> Self {
        Self {
            has_rows: true,
            ..Self::new(max_recipients)
        }
    }

    /// Returns `true` if the rows of a personalised send are read.
    pub(crate) fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// Returns the maximum number of recipients.
    pub(crate) fn max_recipients(&self) -> usize {
        self.max_recipients
    }

    /// Counts a recipient.
    pub(crate) fn recipient(&self) -> Result<(), Exceeded> {
        count(&self.recipients, self.max_recipients.saturating_mul(2))
    }

    /// Counts any other field.
    pub(crate) fn other(&self) -> Result<(), Exceeded> {
        count(&self.others, MAX_OTHER_FIELDS)
    }

    /// Returns the refusal if a bound was exceeded.
    pub(crate) fn exceeded(&self) -> Option<Refusal> {
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
