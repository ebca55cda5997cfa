//! The texts of a personalised message, by recipient.

use crate::number::recipient::Recipient;
use std::ops::Range;

/// The text of one recipient.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RecipientText<'a> {
    /// The number.
    pub recipient: Recipient,
    /// The prepared text, before any suffix.
    pub text: &'a str,
    /// The caller's reference for this recipient. It replaces the reference of the message.
    pub customer_reference: Option<&'a str>,
}

/// The texts of a personalised message, in the order of the numbers.
#[derive(Clone, Debug, Default)]
pub struct RecipientTexts {
    texts: String,
    rows: Vec<StoredText>,
    /// The pages of all recipients.
    pub pages_total: i64,
    /// `true` if the text of a recipient is sent as Unicode.
    pub unicode: bool,
    /// The first rows whose number is in an earlier row.
    pub repeated: Vec<u32>,
    /// The number of rows whose number is in an earlier row.
    pub repeated_count: usize,
}

#[derive(Clone, Debug)]
pub(super) struct StoredText {
    pub(super) recipient: Recipient,
    pub(super) text: Range<u32>,
    pub(super) customer_reference: Option<Box<str>>,
}

impl<'a> FromIterator<RecipientText<'a>> for RecipientTexts {
    fn from_iter<I: IntoIterator<Item = RecipientText<'a>>>(all: I) -> Self {
        let mut texts = String::new();
        let end = |texts: &String| u32::try_from(texts.len()).unwrap_or(u32::MAX);
        let rows = all.into_iter().map(|one| {
            let start = end(&texts);
            texts.push_str(one.text);
            StoredText {
                recipient: one.recipient,
                text: start..end(&texts),
                customer_reference: one.customer_reference.map(Into::into),
            }
        });
        let rows = rows.collect();
        Self::new(texts, rows)
    }
}

impl RecipientTexts {
    pub(super) fn new(texts: String, mut rows: Vec<StoredText>) -> Self {
        rows.sort_unstable_by_key(|row| row.recipient);
        Self {
            texts,
            rows,
            ..Self::default()
        }
    }

    /// Returns the number of recipients.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns `true` if there are no recipients.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns all texts in the order of the numbers.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = RecipientText<'_>> {
        self.rows.iter().map(|row| self.read(row))
    }

    /// Returns the text of a recipient.
    pub fn text(&self, recipient: Recipient) -> Option<&str> {
        let found = self
            .rows
            .binary_search_by_key(&recipient, |row| row.recipient);
        Some(self.read(self.rows.get(found.ok()?)?).text)
    }

    fn read<'a>(&'a self, row: &'a StoredText) -> RecipientText<'a> {
        RecipientText {
            recipient: row.recipient,
            text: &self.texts[row.text.start as usize..row.text.end as usize],
            customer_reference: row.customer_reference.as_deref(),
        }
    }
}
