//! Encodes the pages of a batch as `submit_sm`, or keeps their texts whole for HTTP.

use bytes::Bytes;
use domain::otp::with_code;
use domain::{Alphabet, RawPage, Recipient, Text, is_binary};
use smpp::{Address, SubmitSm, esm_class};
use store::{Body, Claimed};

/// Requests a receipt for the final outcome, good or bad (SMPP 3.4, section 5.2.17).
const FINAL_RECEIPT: u8 = 1;
/// `data_coding` of UCS-2. The default alphabet of the SMSC is 0 (section 5.2.19).
const UCS2: u8 = 8;
/// The highest `priority_flag` (section 5.2.14).
const URGENT: u8 = 3;

/// The pages of a batch.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    template: SubmitSm,
    texts: Texts,
}

/// The encoded texts of a batch.
#[derive(Debug)]
enum Texts {
    /// All recipients share one text.
    Shared(Encoded),
    /// Each recipient has its own, in the order of the batch. All have the same number of pages.
    Personalised(Vec<Encoded>),
}

/// The number of submits of a long text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cut {
    /// One for each page.
    Pages,
    /// One for the whole text, in UTF-8. The carrier cuts it.
    Whole,
}

/// An encoded text.
#[derive(Debug)]
struct Encoded {
    data_coding: u8,
    /// The octets of each submit.
    pages: Vec<Bytes>,
    /// Number of pages of the text.
    total: usize,
}

impl Default for Texts {
    fn default() -> Self {
        Self::Personalised(Vec::new())
    }
}

impl Encoded {
    /// Returns a page that goes out as it came. Its text alone goes to a carrier that cuts texts, and
    /// binary data does not.
    fn raw(page: &RawPage, cut: Cut) -> Option<Self> {
        let (data_coding, octets) = match cut {
            Cut::Pages => (page.data_coding, page.octets.clone()),
            Cut::Whole if is_binary(page.data_coding) => return None,
            Cut::Whole => {
                // The readable text decides, since a page in Latin 1 may need UTF-16 there.
                let text = Text::from_stored(Text::of_page(page.clone()).as_str().to_owned());
                (data_coding_of(&text), text.as_str().into())
            }
        };
        Some(Self {
            data_coding,
            pages: vec![octets.into()],
            total: 1,
        })
    }

    /// Encodes the pages of a text. Long ones begin with a header that has this reference.
    fn new(text: &Text, reference: u8, cut: Cut) -> Self {
        let data_coding = data_coding_of(text);
        let pages = text.pages();
        if cut == Cut::Whole {
            return Self {
                data_coding,
                total: pages.len(),
                pages: vec![text.as_str().to_owned().into()],
            };
        }
        let total = u8::try_from(pages.len()).unwrap_or(u8::MAX);
        let pages = (1..=total).zip(pages).map(|(number, page)| {
            let mut data = Vec::with_capacity(page.len() + 6);
            if total > 1 {
                data.extend_from_slice(&smpp::udh(reference, total, number));
            }
            data.extend_from_slice(&page);
            data.into()
        });
        Self {
            data_coding,
            total: total.into(),
            pages: pages.collect(),
        }
    }
}

impl Pages {
    /// Encodes the pages. Without `validity_ms` the carrier uses its own validity. Returns `None`
    /// if a recipient has no text.
    pub(crate) fn new(
        claimed: &Claimed,
        otp_key: &[u8],
        cut: Cut,
        (service_type, validity_ms): (&str, Option<i64>),
    ) -> Option<Self> {
        let (batch, content) = (&claimed.batch, &claimed.content);
        // The reference derives from the message id, so resent pages join the pages of the first
        // submit.
        let reference = batch.message.0.as_bytes()[15];
        let encode = |text: &str| {
            let text = Text::from_stored(text.to_owned());
            let text = if batch.suffixed {
                text.with_sender(&content.sender)
            } else {
                text
            };
            Encoded::new(&text, reference, cut)
        };
        let texts = match &content.body {
            Body::Shared(text) => Texts::Shared(encode(text)),
            Body::OneTimePassword(template, otp) => {
                let template = Text::from_stored(template.clone());
                Texts::Shared(encode(with_code(&template, &otp.code(otp_key)).as_str()))
            }
            Body::Page(page) => Texts::Shared(Encoded::raw(page, cut)?),
            Body::Personalised(own) => {
                let recipients = batch.recipients.iter();
                let texts = recipients.map(|recipient| Some(encode(own.get(recipient)?)));
                Texts::Personalised(texts.collect::<Option<_>>()?)
            }
        };
        let mut pages = Self {
            template: SubmitSm {
                service_type: service_type.to_owned(),
                source: source(&content.sender),
                priority: if batch.priority == domain::Priority::Otp {
                    URGENT
                } else {
                    0
                },
                validity_period: validity_ms.map_or_else(String::new, validity_period),
                registered_delivery: FINAL_RECEIPT,
                ..SubmitSm::default()
            },
            texts,
        };
        let has_header = match &content.body {
            Body::Page(page) => page.has_header && cut == Cut::Pages,
            _ => pages.count() > 1,
        };
        if has_header {
            pages.template.esm_class = esm_class::UDHI;
        }
        Some(pages)
    }

    /// Encodes a text that belongs to no batch. The carrier uses its own validity.
    pub(crate) fn of_text(sender: &str, text: &Text, cut: Cut, service_type: &str) -> Self {
        let reference = sender.bytes().fold(1, u8::wrapping_add);
        let mut pages = Self {
            template: SubmitSm {
                service_type: service_type.to_owned(),
                source: source(sender),
                registered_delivery: FINAL_RECEIPT,
                ..SubmitSm::default()
            },
            texts: Texts::Shared(Encoded::new(text, reference, cut)),
        };
        if pages.count() > 1 {
            pages.template.esm_class = esm_class::UDHI;
        }
        pages
    }

    /// Returns the number of submits for a recipient.
    pub(crate) fn count(&self) -> usize {
        self.text(0).map_or(0, |text| text.pages.len())
    }

    /// Returns the submit of one page to one recipient, which has this index in the batch.
    pub(crate) fn submit(&self, recipient: Recipient, index: usize, page: usize) -> SubmitSm {
        let text = self.text(index);
        let octets = text.and_then(|text| text.pages.get(page)).cloned();
        SubmitSm {
            destination: Address::international(recipient.to_string()),
            data_coding: text.map_or(0, |text| text.data_coding),
            short_message: octets.unwrap_or_default(),
            ..self.template.clone()
        }
    }

    /// Returns the number of pages that one submit has.
    pub(crate) fn per_submit(&self) -> usize {
        let text = self.text(0);
        text.map_or(1, |text| text.total / text.pages.len().max(1))
    }

    /// Returns the sender, the whole text, and whether it has characters outside GSM 03.38. The
    /// recipient has this index in the batch.
    pub(crate) fn whole(&self, index: usize) -> (String, String, bool) {
        let text = self.text(index);
        let octets = text.and_then(|text| text.pages.first());
        let body = octets.map_or(&[][..], |octets| octets);
        (
            self.template.source.digits.clone(),
            String::from_utf8_lossy(body).into_owned(),
            text.is_some_and(|text| text.data_coding == UCS2),
        )
    }

    /// Returns `true` if two recipients have the same text.
    pub(crate) fn have_one_text(&self, index: usize, other: usize) -> bool {
        match &self.texts {
            Texts::Shared(_) => true,
            Texts::Personalised(texts) => match (texts.get(index), texts.get(other)) {
                (Some(text), Some(other)) => text.pages == other.pages,
                _ => false,
            },
        }
    }

    fn text(&self, index: usize) -> Option<&Encoded> {
        match &self.texts {
            Texts::Shared(text) => Some(text),
            Texts::Personalised(texts) => texts.get(index),
        }
    }
}

/// Returns the `data_coding` of a text.
fn data_coding_of(text: &Text) -> u8 {
    match text.alphabet() {
        Alphabet::Gsm => 0,
        Alphabet::Ucs2 => UCS2,
    }
}

/// Returns the source address: digits are a short code or a number, anything else is a name.
fn source(sender: &str) -> Address {
    const SHORT_CODE_DIGITS: usize = 8;
    if !sender.bytes().all(|byte| byte.is_ascii_digit()) {
        Address::alphanumeric(sender)
    } else if sender.len() <= SHORT_CODE_DIGITS {
        Address {
            ton: 3,
            npi: 0,
            digits: sender.to_owned(),
        }
    } else {
        Address::international(sender)
    }
}

/// Returns a relative `validity_period`: `YYMMDDhhmmss000R` (SMPP 3.4, section 7.1.1).
fn validity_period(validity_ms: i64) -> String {
    // Seconds are rounded up, so that the time since acceptance does not shorten the value.
    let seconds = (validity_ms.saturating_add(999) / 1_000).clamp(1, 99 * 86_400);
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Months have 30 days here.
    let (months, days) = (days / 30, days % 30);
    let (hours, minutes, seconds) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("00{months:02}{days:02}{hours:02}{minutes:02}{seconds:02}000R")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_its_readable_text_for_a_carrier_that_cuts() {
        let raw = |coding, text: &[u8]| {
            let octets = [&[5, 0, 3, 7, 2, 1][..], text].concat();
            let page = RawPage::read(coding, true, &octets, None).unwrap();
            let whole = Encoded::raw(&page, Cut::Whole);
            whole.map(|whole| (whole.data_coding, whole.pages.concat()))
        };
        let sent = |coding: u8, text: &str| Some((coding, text.as_bytes().to_vec()));
        assert_eq!(raw(0, b"hi"), sent(0, "hi"));
        assert_eq!(raw(8, b"\x1E\xCD"), sent(UCS2, "\u{1ECD}"));
        // A page of Latin 1 that has no room for UTF-16 is not in GSM 03.38 either.
        assert_eq!(raw(3, &[0xE7; 134]), sent(UCS2, &"\u{E7}".repeat(134)));
        assert_eq!(raw(0xF5, b"\xFF"), None);
    }

    #[test]
    fn the_validity_period_is_relative() {
        let table = [
            (-1, "000000000001000R"),
            (1, "000000000001000R"),
            (59_001, "000000000100000R"),
            (60_000, "000000000100000R"),
            (600_000, "000000001000000R"),
            (48 * 3_600_000, "000002000000000R"),
            (31 * 86_400_000, "000101000000000R"),
        ];
        for (ms, text) in table {
            assert_eq!(validity_period(ms), text);
        }
    }

    #[test]
    fn a_sender_is_a_name_a_short_code_or_a_number() {
        assert_eq!(
            source("Ogene"),
            Address {
                ton: 5,
                npi: 0,
                digits: "Ogene".into()
            }
        );
        assert_eq!(
            source("32811"),
            Address {
                ton: 3,
                npi: 0,
                digits: "32811".into()
            }
        );
        assert_eq!(
            source("2348031234"),
            Address {
                ton: 1,
                npi: 1,
                digits: "2348031234".into()
            }
        );
    }
}
