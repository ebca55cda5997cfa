//! The text of a receipt: labels in any case and order, some missing, all followed by a colon.

use crate::codec;

/// The fields that matter; `None` where the label is missing or nothing is behind it.
#[derive(Debug, Default)]
pub(super) struct Fields {
    pub(super) id: Option<String>,
    pub(super) state: Option<String>,
    pub(super) error: Option<String>,
    pub(super) submit_date: Option<String>,
    pub(super) done_date: Option<String>,
}

#[derive(Clone, Copy)]
enum Label {
    Id,
    Count,
    SubmitDate,
    DoneDate,
    State,
    Error,
    Text,
}

const LABELS: [(&[u8], Label); 13] = [
    (b"id:", Label::Id),
    (b"sub:", Label::Count),
    (b"dlvrd:", Label::Count),
    (b"submit date:", Label::SubmitDate),
    (b"submitdate:", Label::SubmitDate),
    (b"submit_date:", Label::SubmitDate),
    (b"done date:", Label::DoneDate),
    (b"donedate:", Label::DoneDate),
    (b"done_date:", Label::DoneDate),
    (b"stat:", Label::State),
    (b"status:", Label::State),
    (b"err:", Label::Error),
    (b"text:", Label::Text),
];

impl Fields {
    /// Finds every label; a value is what lies between it and the next one.
    pub(super) fn find(text: &[u8]) -> Self {
        let mut fields = Self::default();
        let mut open: Option<(Label, usize)> = None;
        let mut at = 0;
        while at < text.len() {
            let Some((label, length)) = label_at(text, at) else {
                at += 1;
                continue;
            };
            fields.close(open, &text[..at]);
            at += length;
            open = Some((label, at));
            // It quotes the message itself, which may hold anything.
            if matches!(label, Label::Text) {
                break;
            }
        }
        fields.close(open, text);
        fields
    }

    /// Whether the text alone is evidence enough.
    pub(super) fn look_like_a_receipt(&self) -> bool {
        self.id.is_some() && self.state.is_some()
    }

    fn close(&mut self, open: Option<(Label, usize)>, until: &[u8]) {
        let Some((label, start)) = open else { return };
        let value = until.get(start..).unwrap_or_default().trim_ascii();
        let field = match label {
            Label::Id => &mut self.id,
            Label::State => &mut self.state,
            Label::Error => &mut self.error,
            Label::SubmitDate => &mut self.submit_date,
            Label::DoneDate => &mut self.done_date,
            Label::Count | Label::Text => return,
        };
        let value = match label {
            Label::SubmitDate | Label::DoneDate => value,
            // Behind the first word is a label of the carrier's own.
            Label::Id | Label::State | Label::Error | Label::Count | Label::Text => {
                first_word(value)
            }
        };
        if field.is_none() && !value.is_empty() {
            *field = Some(codec::text(value));
        }
    }
}

/// The label that begins here, and its length. A label begins a word.
fn label_at(text: &[u8], at: usize) -> Option<(Label, usize)> {
    let before = at.checked_sub(1).map(|before| text[before]);
    if before.is_some_and(|octet| octet.is_ascii_alphanumeric() || octet == b'_') {
        return None;
    }
    LABELS.iter().find_map(|(name, label)| {
        let found = text.get(at..at + name.len())?;
        found
            .eq_ignore_ascii_case(name)
            .then_some((*label, name.len()))
    })
}

fn first_word(value: &[u8]) -> &[u8] {
    value
        .split(|octet| octet.is_ascii_whitespace() || *octet == 0)
        .next()
        .unwrap_or_default()
}
