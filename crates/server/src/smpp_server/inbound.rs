//! The `deliver_sm` of an inbound message.

use super::receipt::address;
use domain::inbound::InboundMessage;
use domain::{Alphabet, Text};
use smpp::codec::Sm;
use smpp::{CommandStatus, Tlv, Tlvs, tag};

/// The `data_coding` of GSM 03.38, and of UTF-16.
const GSM: u8 = 0;
const UTF_16: u8 = 8;
/// Maximum number of octets of `short_message`.
const MAX_SHORT_OCTETS: usize = 254;

/// Writes the `deliver_sm` of an inbound message. A long text is in `message_payload`, since it was
/// joined already. `data_coding` 0 is GSM 03.38, with a septet in each octet.
pub(super) fn write(
    message: &InboundMessage,
    deliver: impl FnOnce(&Sm<'_>) -> Result<(), CommandStatus>,
) -> Result<(), CommandStatus> {
    let text = Text::from_stored(message.body.clone().unwrap_or_default());
    let octets = text.pages().concat();
    let is_short = octets.len() <= MAX_SHORT_OCTETS;
    let payload = [Tlv::new(tag::MESSAGE_PAYLOAD, octets.clone())];
    deliver(&Sm {
        source: address(&message.sender),
        destination: address(&message.number),
        data_coding: match text.alphabet() {
            Alphabet::Gsm => GSM,
            Alphabet::Ucs2 => UTF_16,
        },
        short_message: if is_short { &octets } else { &[] },
        tlvs: if is_short {
            Tlvs::default()
        } else {
            Tlvs::List(&payload)
        },
        ..Sm::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::MessageId;

    fn written(body: &str) -> (u8, Vec<u8>, Vec<Tlv>) {
        let message = InboundMessage {
            id: MessageId::new(0, [7; 10]),
            account: None,
            route: None,
            carrier: "mtn".to_owned(),
            keyword: String::new(),
            number: "32811".to_owned(),
            sender: "2348031234567".to_owned(),
            complete: true,
            in_reply_to: None,
            received_at_ms: 0,
            body: Some(body.to_owned()),
        };
        let mut seen = None;
        let written = write(&message, |sm| {
            assert_eq!(sm.source.digits, b"2348031234567");
            assert_eq!(sm.destination.digits, b"32811");
            assert_eq!(sm.esm_class, 0);
            let octets = sm.short_message.to_vec();
            seen = Some((sm.data_coding, octets, sm.tlvs.to_vec()));
            Ok(())
        });
        written.unwrap();
        seen.unwrap()
    }

    #[test]
    fn a_text_is_whole_in_the_alphabet_that_has_it() {
        let (coding, octets, tlvs) = written("5\u{20AC} @");
        assert_eq!((coding, &*octets), (0, &b"5\x1B\x65 \0"[..]));
        assert!(tlvs.is_empty());
        let (coding, octets, _) = written("\u{1ECD}");
        assert_eq!((coding, &*octets), (8, &[0x1E, 0xCD][..]));
        let (coding, octets, tlvs) = written(&"a".repeat(255));
        assert_eq!((coding, octets.len()), (0, 0));
        assert_eq!(tlvs, [Tlv::new(tag::MESSAGE_PAYLOAD, vec![b'a'; 255])]);
    }
}
