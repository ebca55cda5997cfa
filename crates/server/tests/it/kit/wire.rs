//! This module decodes the PDUs that a simulator received, as a handset does.

use smpp::simulator::{Fate, Received, Rule, Script};
use smpp::{DeliverSm, ReceiptState, esm_class};
use std::collections::BTreeMap;

/// GSM 03.38, the default alphabet, by septet; the escape is a placeholder.
const GSM: &str = "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u{1B}ÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
/// The GSM extension table, after the escape.
const EXTENSION: [(u8, char); 10] = [
    (0x0A, '\u{0C}'),
    (0x14, '^'),
    (0x28, '{'),
    (0x29, '}'),
    (0x2F, '\\'),
    (0x3C, '['),
    (0x3D, '~'),
    (0x3E, ']'),
    (0x40, '|'),
    (0x65, '€'),
];
const ESCAPE: u8 = 0x1B;

/// Returns the text of GSM septets, one in each octet.
pub(crate) fn gsm(octets: &[u8]) -> String {
    let alphabet: Vec<char> = GSM.chars().collect();
    let mut text = String::new();
    let mut octets = octets.iter();
    while let Some(&octet) = octets.next() {
        if octet == ESCAPE {
            let code = *octets.next().expect("something follows the escape");
            let found = EXTENSION.iter().find(|(known, _)| *known == code);
            text.push(found.expect("a character of the extension table").1);
        } else {
            text.push(alphabet[usize::from(octet)]);
        }
    }
    text
}

/// Returns the text of UCS-2 octets.
pub(crate) fn ucs2(octets: &[u8]) -> String {
    let units: Vec<u16> = octets
        .chunks(2)
        .map(|pair| u16::from_be_bytes([pair[0], pair[1]]))
        .collect();
    String::from_utf16(&units).expect("UTF-16")
}

/// Returns the pages of one number, in the order of their user data headers, without these headers.
pub(crate) fn pages(received: &[Received], number: &str) -> Vec<Vec<u8>> {
    let mut pages = BTreeMap::new();
    for message in received
        .iter()
        .filter(|one| one.submit.destination.digits == number)
    {
        let octets = &message.submit.short_message;
        if message.submit.esm_class & esm_class::UDHI == 0 {
            pages.insert(1, octets.to_vec());
        } else {
            assert_eq!(octets[..3], [5, 0, 3], "an 8-bit concatenation header");
            pages.insert(octets[5], octets[6..].to_vec());
        }
    }
    pages.into_values().collect()
}

/// Returns the text of a number, as its handset shows it.
pub(crate) fn text(received: &[Received], number: &str) -> String {
    let of_it = received
        .iter()
        .find(|one| one.submit.destination.digits == number);
    let octets = pages(received, number).concat();
    match of_it.expect("it got something").submit.data_coding {
        0 => gsm(&octets),
        8 => ucs2(&octets),
        other => panic!("data_coding {other}"),
    }
}

/// Returns a simulator without faults that records the submits of a test.
pub(crate) fn good() -> Script {
    Script {
        record: 10_000,
        ..Script::default()
    }
}

/// Returns the number of pages that a number got.
pub(crate) fn count(received: &[Received], number: &str) -> usize {
    received
        .iter()
        .filter(|one| one.submit.destination.digits == number)
        .count()
}

/// Returns the rule for numbers that end like this.
pub(crate) fn rule(suffix: &str, fate: Fate) -> Rule {
    Rule {
        suffix: suffix.to_owned(),
        fate,
    }
}

/// Returns a receipt with this state.
pub(crate) fn receipt(state: ReceiptState) -> Fate {
    Fate::Receipt(state)
}

/// Returns a hand-made receipt of an accepted message, with the text that most carriers write.
pub(crate) fn written(received: &Received, word: &str) -> DeliverSm {
    written_for(
        received,
        received.message_id.as_deref().expect("accepted"),
        word,
    )
}

/// Returns the same receipt with another id.
pub(crate) fn written_for(received: &Received, id: &str, word: &str) -> DeliverSm {
    let text = format!(
        "id:{id} sub:001 dlvrd:001 submit date:2611210316 done date:2611210317 stat:{word} err:000 text:"
    );
    DeliverSm {
        source: received.submit.destination.clone(),
        destination: received.submit.source.clone(),
        esm_class: esm_class::RECEIPT,
        short_message: text.into(),
        ..DeliverSm::default()
    }
}
