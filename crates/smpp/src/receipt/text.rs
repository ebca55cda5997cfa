//! The text of a receipt (appendix B, which leaves its form to each vendor): labels in any case and order, some missing,
//! followed by a colon or an equals sign, and whatever each carrier puts between the fields.

/// The fields that matter; `None` where the label is missing or nothing is behind it.
#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    pub(super) id: Option<&'a [u8]>,
    pub(super) state: Option<&'a [u8]>,
    pub(super) error: Option<&'a [u8]>,
    pub(super) submit_date: Option<&'a [u8]>,
    pub(super) done_date: Option<&'a [u8]>,
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

/// A blank stands for any number of blanks or underscores, also none.
const LABELS: [(&[u8], Label); 10] = [
    (b"id", Label::Id),
    (b"sub", Label::Count),
    (b"dlvrd", Label::Count),
    (b"submit date", Label::SubmitDate),
    (b"done date", Label::DoneDate),
    (b"stat", Label::State),
    (b"status", Label::State),
    (b"err", Label::Error),
    (b"error", Label::Error),
    (b"text", Label::Text),
];

impl<'a> Fields<'a> {
    /// Finds every label; a value is what lies between it and the next one.
    pub(super) fn find(text: &'a [u8]) -> Self {
        let mut fields = Self::default();
        let mut open: Option<(Label, usize)> = None;
        let mut at = 0;
        while at < text.len() {
            let Some((label, length)) = label_at(&text[at..]) else {
                at += octets_to_next_word(&text[at..]);
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

    /// Returns whether the text alone is evidence enough.
    pub(super) fn look_like_a_receipt(&self) -> bool {
        self.id.is_some() && self.state.is_some()
    }

    fn close(&mut self, open: Option<(Label, usize)>, until: &'a [u8]) {
        let Some((label, start)) = open else { return };
        let value = trim(until.get(start..).unwrap_or_default());
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
            *field = Some(value);
        }
    }
}

/// The label that a text begins with, and its length with the sign behind it.
fn label_at(text: &[u8]) -> Option<(Label, usize)> {
    let initial = text.first()?.to_ascii_lowercase();
    // Most words begin like no label.
    let mut named = LABELS.iter().filter(|(name, _)| name[0] == initial);
    named.find_map(|(name, label)| {
        let [b':' | b'=', value @ ..] = behind(text, name)?.trim_ascii_start() else {
            return None;
        };
        Some((*label, text.len() - value.len()))
    })
}

/// Returns the text behind the name that it begins with.
fn behind<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    name.iter().try_fold(text, |rest, &octet| {
        if octet == b' ' {
            let is_word = |octet: &u8| !octet.is_ascii_whitespace() && *octet != b'_';
            let blanks = rest.iter().position(is_word)?;
            return rest.get(blanks..);
        }
        let (first, rest) = rest.split_first()?;
        first.eq_ignore_ascii_case(&octet).then_some(rest)
    })
}

/// How far it is to where a word may begin again, and with it a label.
fn octets_to_next_word(text: &[u8]) -> usize {
    let is_within = |octet: &u8| octet.is_ascii_alphanumeric() || *octet == b'_';
    let end = text.iter().position(|octet| !is_within(octet));
    end.map_or(text.len(), |end| end + 1)
}

/// A value without what stands around it.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = value
        && ends_a_value(*first)
    {
        value = rest;
    }
    while let [rest @ .., last] = value
        && ends_a_value(*last)
    {
        value = rest;
    }
    value
}

fn first_word(value: &[u8]) -> &[u8] {
    value
        .split(|octet| ends_a_value(*octet))
        .next()
        .unwrap_or_default()
}

/// Returns whether the octet stands between fields. Ids and states have none of it.
const fn ends_a_value(octet: u8) -> bool {
    octet.is_ascii_whitespace() || matches!(octet, 0 | b',' | b';' | b'|')
}
