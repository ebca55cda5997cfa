//! The `submit_sm` of the load, whose recipient and numbers are filled in for each submit.

use crate::load::{
    BEFORE_NUMBER, NUMBER_DIGITS, RECIPIENT_DIGITS, recipient_of, text, write_digits,
};
use crate::site::SENDER_ID;
use anyhow::{Context, Result, anyhow};
use smpp::codec::{Pdu, Sm, encode};
use smpp::{Address, CommandStatus, HEADER_OCTETS, SubmitSm};

/// The place of the sequence number in the header.
const SEQUENCE_AT: usize = HEADER_OCTETS - 4;

/// A `submit_sm` of one page, which asks for a receipt or for none.
pub(super) struct Page {
    octets: Vec<u8>,
    recipient_at: usize,
    number_at: usize,
}

impl Page {
    pub(super) fn new(asks_for_receipt: bool) -> Result<Self> {
        let recipient = "0".repeat(RECIPIENT_DIGITS);
        let submit = SubmitSm {
            source: Address::alphanumeric(SENDER_ID),
            destination: Address::international(recipient.as_str()),
            registered_delivery: u8::from(asks_for_receipt),
            short_message: text(0).into_bytes().into(),
            ..SubmitSm::default()
        };
        let mut octets = Vec::new();
        encode(
            &mut octets,
            CommandStatus::ROK,
            0,
            &Pdu::Submit(Sm::of(&submit)),
        )
        .map_err(|status| anyhow!("a page cannot be written: {status:?}"))?;
        let place = |part: &str| {
            let mut parts = octets.windows(part.len());
            let place = parts.position(|octets| octets == part.as_bytes());
            place.with_context(|| format!("no {part} in a page"))
        };
        Ok(Self {
            recipient_at: place(&recipient)?,
            number_at: place(BEFORE_NUMBER)? + BEFORE_NUMBER.len(),
            octets,
        })
    }

    /// Appends the submit of this number. Its recipient and text are those of the same number by
    /// HTTP.
    pub(super) fn write(&mut self, out: &mut Vec<u8>, sequence: u32, number: u64) {
        self.octets[SEQUENCE_AT..HEADER_OCTETS].copy_from_slice(&sequence.to_be_bytes());
        let place = &mut self.octets[self.recipient_at..][..RECIPIENT_DIGITS];
        write_digits(place, recipient_of(number));
        write_digits(&mut self.octets[self.number_at..][..NUMBER_DIGITS], number);
        out.extend_from_slice(&self.octets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use smpp::codec::decode;
    use smpp::first_frame;

    #[test]
    fn each_submit_has_its_own_recipient_and_text() {
        let mut page = Page::new(true).expect("a page");
        let mut out = Vec::new();
        page.write(&mut out, 7, 1);
        page.write(&mut out, 8, 2);
        let first = first_frame(&out).expect("no fault").expect("whole");
        let second = first_frame(&out[first.octets()..]).expect("no fault");
        let second = second.expect("whole");
        assert_eq!((first.header.sequence, second.header.sequence), (7, 8));
        let fields = |body| match decode(first.header.command, body) {
            Ok(Pdu::Submit(sm)) => (
                sm.destination.digits.to_vec(),
                sm.short_message.to_vec(),
                sm.registered_delivery,
            ),
            other => panic!("{other:?}"),
        };
        let (to, words, receipt) = fields(first.body);
        assert_eq!(to, recipient_of(1).to_string().into_bytes());
        assert_eq!((words, receipt), (text(1).into_bytes(), 1));
        let (to, words, _) = fields(second.body);
        assert_eq!(to, recipient_of(2).to_string().into_bytes());
        assert_eq!(words, text(2).into_bytes());
    }
}
