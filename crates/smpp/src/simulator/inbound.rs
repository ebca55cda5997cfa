//! Inbound messages: texts of subscribers that the simulator delivers to its clients.

use super::delay::Delay;
use super::random::Random;
use crate::long::udh;
use crate::pdu::{Address, DeliverSm, MAX_SHORT_MESSAGE_OCTETS, esm_class};
use crate::tlv::{Tlv, tag};
use std::time::Duration;

/// Octets of a page beside its header: 153 characters of GSM 03.38, or 67 of UCS-2.
const GSM_PAGE_OCTETS: usize = 153;
const UCS2_PAGE_OCTETS: usize = 134;
/// `data_coding` of UCS-2.
const UCS2: u8 = 8;
/// Digits of the longest short code.
const MAX_SHORT_CODE_DIGITS: usize = 8;
/// The delay before pages are delivered again. Their connection has ended by then.
pub(super) const AGAIN_DELAY: Duration = Duration::from_secs(1);

/// The inbound messages of a script. Each client gets them once, when it first binds to receive.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InboundScript {
    /// The messages.
    pub messages: Vec<Inbound>,
    /// Their form.
    pub form: InboundForm,
    /// The order of the pages of each message.
    pub order: InboundOrder,
    /// The time from the bind to the first message, and from each message to the next one.
    pub delay: Delay,
    /// `true` if a connection is closed once the pages on it are answered, and the next one gets
    /// the same pages again. A real SMSC does so if the answers were lost.
    pub again: bool,
}

/// A text of a subscriber.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Inbound {
    /// The international number of the subscriber.
    pub from: String,
    /// The number that the text was sent to: a short code or an international number.
    pub to: String,
    /// The text.
    pub text: String,
}

/// The form of inbound messages.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum InboundForm {
    /// In one `deliver_sm`. A text of more than 254 octets is in `message_payload`.
    #[default]
    Whole,
    /// In `message_payload`.
    Payload,
    /// In pages with user data headers, whose reference has 8 bits.
    Udh,
    /// In pages with user data headers, whose reference has 16 bits.
    UdhWide,
    /// In pages with SAR parameters.
    Sar,
}

/// The order of the pages of an inbound message.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum InboundOrder {
    /// The first page comes first.
    #[default]
    Forward,
    /// The last page comes first.
    Backward,
    /// The order is random.
    Shuffled,
}

impl Inbound {
    /// Returns the message in the PDUs of a form. Pages share the reference.
    pub fn pages(&self, form: InboundForm, reference: u16) -> Vec<DeliverSm> {
        let (data_coding, pages) = cut(&self.text);
        let total = u8::try_from(pages.len()).unwrap_or(u8::MAX);
        if total <= 1 || matches!(form, InboundForm::Whole | InboundForm::Payload) {
            return vec![self.whole(data_coding, pages.concat(), form)];
        }
        let [high, low] = reference.to_be_bytes();
        let numbered = (1..=total).zip(pages);
        let pages = numbered.map(|(number, text)| {
            let header = match form {
                InboundForm::UdhWide => vec![6, 8, 4, high, low, total, number],
                InboundForm::Sar => Vec::new(),
                _ => udh(low, total, number).to_vec(),
            };
            let mut page = self.pdu(data_coding);
            if header.is_empty() {
                page.tlvs = vec![
                    Tlv::new(tag::SAR_MSG_REF_NUM, vec![high, low]),
                    Tlv::new(tag::SAR_TOTAL_SEGMENTS, vec![total]),
                    Tlv::new(tag::SAR_SEGMENT_SEQNUM, vec![number]),
                ];
            } else {
                page.esm_class = esm_class::UDHI;
            }
            page.short_message = [header, text].concat().into();
            page
        });
        pages.collect()
    }

    fn whole(&self, data_coding: u8, text: Vec<u8>, form: InboundForm) -> DeliverSm {
        let mut pdu = self.pdu(data_coding);
        if form == InboundForm::Payload || text.len() > MAX_SHORT_MESSAGE_OCTETS {
            pdu.tlvs = vec![Tlv::new(tag::MESSAGE_PAYLOAD, text)];
        } else {
            pdu.short_message = text.into();
        }
        pdu
    }

    fn pdu(&self, data_coding: u8) -> DeliverSm {
        let is_short_code = self.to.len() <= MAX_SHORT_CODE_DIGITS;
        DeliverSm {
            source: Address::international(&*self.from),
            destination: if is_short_code {
                Address {
                    ton: 3,
                    npi: 0,
                    digits: self.to.clone(),
                }
            } else {
                Address::international(&*self.to)
            },
            data_coding,
            ..DeliverSm::default()
        }
    }
}

impl InboundScript {
    /// Returns the pages of all messages, each with its delay after the bind.
    pub(super) fn schedule(&self, random: &mut Random) -> Vec<(Duration, DeliverSm)> {
        let mut at = Duration::ZERO;
        let mut all = Vec::new();
        for (reference, message) in (1..).zip(&self.messages) {
            at += self.delay.pick(random);
            let mut pages = message.pages(self.form, reference);
            match self.order {
                InboundOrder::Forward => {}
                InboundOrder::Backward => pages.reverse(),
                InboundOrder::Shuffled => random.shuffle(&mut pages),
            }
            all.extend(pages.into_iter().map(|page| (at, page)));
        }
        all
    }
}

/// Returns the `data_coding` of a text, and its octets in pages.
fn cut(text: &str) -> (u8, Vec<Vec<u8>>) {
    let is_gsm = text.chars().all(has_code_of_ascii);
    let (data_coding, most) = if is_gsm {
        (0, GSM_PAGE_OCTETS)
    } else {
        (UCS2, UCS2_PAGE_OCTETS)
    };
    let mut pages = vec![Vec::new()];
    for letter in text.chars() {
        let octets = if is_gsm {
            letter.to_string().into_bytes()
        } else {
            let mut units = [0; 2];
            let units = letter.encode_utf16(&mut units).iter();
            units.flat_map(|unit| unit.to_be_bytes()).collect()
        };
        match pages.last_mut() {
            Some(page) if page.len() + octets.len() <= most => page.extend(octets),
            _ => pages.push(octets),
        }
    }
    (data_coding, pages)
}

/// Returns `true` if a character has the same code in GSM 03.38 and in ASCII.
fn has_code_of_ascii(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | ' '..='#' | '%'..='?' | 'A'..='Z' | 'a'..='z')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::long::{Segment, content};

    fn message(text: String) -> Inbound {
        Inbound {
            from: "2348031234567".to_owned(),
            to: "32811".to_owned(),
            text,
        }
    }

    #[test]
    fn a_long_text_is_cut_into_pages_of_its_form() {
        let long = message("Lagos ".repeat(60));
        for (form, reference) in [
            (InboundForm::Udh, 2),
            (InboundForm::UdhWide, 0x0102),
            (InboundForm::Sar, 0x0102),
        ] {
            let pages = long.pages(form, 0x0102);
            let segments: Vec<_> = pages.iter().filter_map(Segment::of).collect();
            let segment = |number| Segment {
                reference,
                total: 3,
                number,
            };
            assert_eq!(segments, [1, 2, 3].map(segment), "{form:?}");
            let text: Vec<u8> = pages.iter().flat_map(content).copied().collect();
            assert_eq!(text, long.text.as_bytes(), "{form:?}");
        }
        for form in [InboundForm::Whole, InboundForm::Payload] {
            let [whole] = &long.pages(form, 1)[..] else {
                panic!("{form:?}")
            };
            assert_eq!(whole.tlv(tag::MESSAGE_PAYLOAD), Some(long.text.as_bytes()));
        }
        let short = message("Hi".to_owned());
        assert_eq!(*short.pages(InboundForm::Sar, 1)[0].short_message, *b"Hi");
    }

    #[test]
    fn a_text_outside_ascii_is_ucs2_and_no_character_is_cut() {
        let text = format!("{}\u{1F600}\u{1ECC}", "a".repeat(66));
        let pages = message(text.clone()).pages(InboundForm::Udh, 7);
        assert_eq!((pages.len(), pages[0].data_coding), (2, UCS2));
        assert_eq!(content(&pages[0]).len(), 132, "the pair is on page two");
        let octets: Vec<u8> = pages.iter().flat_map(content).copied().collect();
        let units: Vec<u16> = octets
            .chunks(2)
            .map(|unit| u16::from_be_bytes([unit[0], unit[1]]))
            .collect();
        assert_eq!(String::from_utf16(&units).unwrap(), text);
        // The code of the dollar sign in GSM 03.38 is not that of ASCII.
        let dollar = message("$".to_owned()).pages(InboundForm::Whole, 1);
        assert_eq!(dollar[0].data_coding, UCS2);
    }
}
