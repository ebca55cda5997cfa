//! A receipt as its carrier sent it, in a short form for the database.
//!
//! Nearly all receipts have the same labels, and each of these takes one octet.

use crate::hex::hex;

/// Octets of a text that are kept at most.
const MAX_TEXT_OCTETS: usize = 250;
/// Parameters that are kept at most, and octets of the value of one.
const MAX_PARAMETERS: usize = 16;
const MAX_VALUE_OCTETS: usize = 65;

/// The parts of texts that are stored as one octet, from 1 on. The longer one of two that begin
/// alike comes first. Stored receipts depend on the places.
const PARTS: [&str; 18] = [
    " sub:001 dlvrd:001 submit date:",
    " sub:001 dlvrd:000 submit date:",
    " submit date:",
    " done date:",
    " stat:DELIVRD err:000 text:",
    " stat:DELIVRD err:000 Text:",
    " stat:DELIVRD err:",
    " stat:UNDELIV err:",
    " stat:EXPIRED err:",
    " stat:REJECTD err:",
    " stat:DELIVRD",
    " stat:",
    " err:",
    " sub:",
    " dlvrd:",
    " text:",
    " Text:",
    "id:",
];

/// The label behind which a receipt repeats the begin of the message. A colon or an equals sign
/// follows it.
const TEXT_LABEL: &str = "text";
/// The tag of `receipted_message_id` (SMPP 3.4, section 5.3.2.12).
const RECEIPTED_MESSAGE_ID: u16 = 0x001E;

/// A receipt as its carrier sent it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RawReceipt {
    /// Its text, up to the begin of the message that it repeats.
    pub text: String,
    /// Its optional parameters: tag and value.
    pub parameters: Vec<(u16, Vec<u8>)>,
}

impl RawReceipt {
    /// Returns what is kept of a receipt. The begin of the message is left out: it may hold a code,
    /// and texts have a retention of their own.
    pub fn of<'a>(text: &[u8], parameters: impl Iterator<Item = (u16, &'a [u8])>) -> Self {
        let text = String::from_utf8_lossy(text);
        let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
        let mut text: String = text.chars().map(plain).collect();
        if let Some(begin) = begin_of_message(&text) {
            text.truncate(begin);
        }
        text.truncate(text.floor_char_boundary(MAX_TEXT_OCTETS));
        let kept = parameters.take(MAX_PARAMETERS);
        Self {
            text,
            parameters: kept
                .map(|(tag, value)| (tag, value.iter().take(MAX_VALUE_OCTETS).copied().collect()))
                .collect(),
        }
    }

    /// Returns the carrier's id of the message, as the receipt names it: its parameter
    /// `receipted_message_id`, or the field `id` of its text (SMPP 3.4, appendix B).
    pub fn carrier_message_id(&self) -> Option<String> {
        let parameter = self.parameters.iter();
        let parameter = parameter.filter(|(tag, _)| *tag == RECEIPTED_MESSAGE_ID);
        let parameter = parameter.map(|(_, value)| {
            let id = value.split(|octet| *octet == 0).next().unwrap_or_default();
            String::from_utf8_lossy(id).into_owned()
        });
        let begin = self.text.get(..3).unwrap_or_default();
        let is_named = begin.eq_ignore_ascii_case("id:") || begin.eq_ignore_ascii_case("id=");
        let named = self.text.get(3..).filter(|_| is_named);
        let named = named.and_then(|rest| rest.split_whitespace().next());
        let mut ids = parameter.chain(named.map(str::to_owned));
        ids.find(|id| !id.is_empty())
    }

    /// Returns the short form.
    pub fn pack(&self) -> Vec<u8> {
        let mut packed = Vec::with_capacity(64);
        packed.push(u8::try_from(self.parameters.len()).unwrap_or(u8::MAX));
        for (tag, value) in &self.parameters {
            packed.extend(tag.to_be_bytes());
            packed.push(u8::try_from(value.len()).unwrap_or(u8::MAX));
            packed.extend(value);
        }
        let mut rest = self.text.as_str();
        while let Some(letter) = rest.chars().next() {
            let mut parts = (1..).zip(PARTS);
            let part = parts.find_map(|(octet, part)| Some((octet, rest.strip_prefix(part)?)));
            rest = if let Some((octet, behind)) = part {
                packed.push(octet);
                behind
            } else {
                let (first, behind) = rest.split_at(letter.len_utf8());
                packed.extend(first.bytes());
                behind
            };
        }
        packed
    }

    /// Returns its parameters as they are shown: tags and values in hexadecimal digits.
    pub fn shown_parameters(&self) -> impl Iterator<Item = (String, String)> {
        self.parameters
            .iter()
            .map(|(tag, value)| (format!("0x{tag:04X}"), hex(value)))
    }

    /// Returns the receipt of a short form. Returns `None` if it is none.
    pub fn unpack(packed: &[u8]) -> Option<Self> {
        let (&count, mut rest) = packed.split_first()?;
        let mut parameters = Vec::new();
        for _ in 0..count {
            let (head, behind) = rest.split_first_chunk::<3>()?;
            let (value, behind) = behind.split_at_checked(head[2].into())?;
            parameters.push((u16::from_be_bytes([head[0], head[1]]), value.to_vec()));
            rest = behind;
        }
        let mut text = Vec::with_capacity(128);
        for &octet in rest {
            match usize::from(octet)
                .checked_sub(1)
                .and_then(|at| PARTS.get(at))
            {
                Some(part) => text.extend(part.bytes()),
                None => text.push(octet),
            }
        }
        Some(Self {
            text: String::from_utf8(text).ok()?,
            parameters,
        })
    }
}

/// Returns the place behind the first label of a text, in any spelling that carriers use.
fn begin_of_message(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    lower.match_indices(TEXT_LABEL).find_map(|(at, label)| {
        let behind = lower[at + label.len()..].trim_start();
        let value = behind.strip_prefix([':', '='])?;
        Some(lower.len() - value.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const USUAL: &str = "id:0123456789 sub:001 dlvrd:001 submit date:2611300022 done \
        date:2611300023 stat:DELIVRD err:000 text:Your code is 1234";

    #[test]
    fn a_usual_receipt_is_stored_in_few_octets() {
        let raw = RawReceipt::of(USUAL.as_bytes(), [(0x0427, &[2][..])].into_iter());
        assert_eq!(raw.text, USUAL.replace("Your code is 1234", ""));
        let packed = raw.pack();
        assert_eq!(packed.len(), 39);
        assert_eq!(RawReceipt::unpack(&packed), Some(raw));
    }

    #[test]
    fn a_receipt_names_the_carriers_id_of_its_message() {
        let parameter: (u16, &[u8]) = (0x001E, b"7f3a\0");
        let empty: (u16, &[u8]) = (0x001E, b"\0");
        for (text, parameter, id) in [
            (USUAL, None, Some("0123456789")),
            (USUAL, Some(parameter), Some("7f3a")),
            (USUAL, Some(empty), Some("0123456789")),
            ("ID=77 stat=DELIVRD", None, Some("77")),
            ("id: 88 stat:DELIVRD", None, Some("88")),
            ("stat:DELIVRD", None, None),
            ("id:", None, None),
            ("", None, None),
        ] {
            let raw = RawReceipt::of(text.as_bytes(), parameter.into_iter());
            assert_eq!(raw.carrier_message_id().as_deref(), id, "{text}");
        }
    }

    #[test]
    fn the_begin_of_the_message_is_left_out() {
        for (text, kept) in [
            (
                "id:1 stat:DELIVRD err:0 Text:1234",
                "id:1 stat:DELIVRD err:0 Text:",
            ),
            (
                "id:1 stat:DELIVRD text: 1234 text:5",
                "id:1 stat:DELIVRD text:",
            ),
            ("id=1 stat=DELIVRD TEXT = 1234", "id=1 stat=DELIVRD TEXT ="),
            (
                "id:1 context 7 stat:DELIVRDtext=1234",
                "id:1 context 7 stat:DELIVRDtext=",
            ),
            ("id:1\nstat:DELIVRD", "id:1 stat:DELIVRD"),
        ] {
            assert_eq!(RawReceipt::of(text.as_bytes(), [].into_iter()).text, kept);
        }
    }

    #[test]
    fn a_short_form_that_ends_early_is_none() {
        for packed in [&[][..], &[1], &[1, 0, 30, 2, 49], &[0, 0xFF]] {
            assert_eq!(RawReceipt::unpack(packed), None, "{packed:?}");
        }
    }

    proptest! {
        #[test]
        fn each_short_form_is_read_as_it_was(
            text: Vec<u8>,
            labels in proptest::collection::vec(0..PARTS.len(), 0..6),
            values in proptest::collection::vec((any::<u16>(), any::<Vec<u8>>()), 0..12),
        ) {
            let labels: String = labels.into_iter().map(|at| PARTS[at]).collect();
            let text = [labels.as_bytes(), &text].concat();
            let parameters = values.iter().map(|(tag, value)| (*tag, value.as_slice()));
            let raw = RawReceipt::of(&text, parameters);
            prop_assert!(raw.text.len() <= MAX_TEXT_OCTETS);
            prop_assert_eq!(RawReceipt::unpack(&raw.pack()), Some(raw));
        }
    }
}
