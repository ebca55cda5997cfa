//! Parses the text of a receipt (appendix B, whose form each vendor varies). Labels come in any
//! case and order, some are missing, and a colon or an equals sign follows them. Carriers add other
//! text between the fields.

/// The fields of a receipt. `None` means a missing label or an empty value.
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

/// The labels. A blank in a label matches any number of blanks and underscores.
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
    /// Finds every label. A value ends at the next label.
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
            // The text field quotes the message, which may contain labels.
            if matches!(label, Label::Text) {
                break;
            }
        }
        fields.close(open, text);
        fields
    }

    /// Returns `true` if the text has the form of a receipt.
    pub(super) fn have_id_and_state(&self) -> bool {
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
            // The words after the first one are a field of the carrier's own.
            Label::Id | Label::State | Label::Error | Label::Count | Label::Text => {
                first_word(value)
            }
        };
        if field.is_none() && !value.is_empty() {
            *field = Some(value);
        }
    }
}

/// Returns the label at the start of a text, and its length with the sign after it.
fn label_at(text: &[u8]) -> Option<(Label, usize)> {
    let initial = text.first()?.to_ascii_lowercase();
    // Most words do not begin with the initial of a label.
    let mut named = LABELS.iter().filter(|(name, _)| name[0] == initial);
    named.find_map(|(name, label)| {
        let [b':' | b'=', value @ ..] = after(text, name)?.trim_ascii_start() else {
            return None;
        };
        Some((*label, text.len() - value.len()))
    })
}

/// Returns the text after a name at its start.
fn after<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
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

/// Returns the number of octets to the next place where a word, and so a label, can begin.
fn octets_to_next_word(text: &[u8]) -> usize {
    let is_within = |octet: &u8| octet.is_ascii_alphanumeric() || *octet == b'_';
    let end = text.iter().position(|octet| !is_within(octet));
    end.map_or(text.len(), |end| end + 1)
}

/// Removes separators around a value.
fn trim(mut value: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = value
        && is_separator(*first)
    {
        value = rest;
    }
    while let [rest @ .., last] = value
        && is_separator(*last)
    {
        value = rest;
    }
    value
}

fn first_word(value: &[u8]) -> &[u8] {
    value
        .split(|octet| is_separator(*octet))
        .next()
        .unwrap_or_default()
}

/// Returns `true` if the octet separates fields. Ids and states do not contain it.
const fn is_separator(octet: u8) -> bool {
    octet.is_ascii_whitespace() || matches!(octet, 0 | b',' | b';' | b'|')
}
