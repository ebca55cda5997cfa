//! The message of a `submit_sm`.

use super::fields::{Customer, SendFields};
use super::fingerprint::Fingerprint;
use super::send::{Body, Draft, draft_of};
use crate::account::Environment;
use crate::gateway::{Gateway, Rulebook};
use crate::prohibited::Prohibited;
use crate::refusal::Refusal;
use crate::smpp_receipt::ReceiptRequest;
use crate::text::RawPage;

/// The text of a submit.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SubmitText {
    /// A whole text, which is sent as written and cut into pages.
    Whole(String),
    /// A part of a longer text, or binary data. It is sent as it came, and billed as one page.
    Page(RawPage),
}

/// A text to one number, as a program submits it by SMPP.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SubmitFields {
    /// The sender ID.
    pub from: String,
    /// The number, or several numbers separated by commas if `takes_list` is `true`.
    pub to: String,
    /// `true` if there may be several recipients. Invalid numbers are then left out.
    pub takes_list: bool,
    /// The text.
    pub text: SubmitText,
    /// The gateway, or `None` for the default.
    pub gateway: Option<Gateway>,
    /// The earliest time of submission, Unix milliseconds. `None` means now.
    pub due_at_ms: Option<i64>,
    /// The validity after that time, seconds.
    pub validity_s: Option<i64>,
    /// The receipts that the user wants.
    pub receipts: Option<ReceiptRequest>,
}

/// Judges a submit as a send of the account. The sender ID is never appended to the text. The
/// fingerprint is one of its own, since no submit is a duplicate of another.
pub fn draft_submit(
    submit: SubmitFields,
    fingerprint: Fingerprint,
    customer: &Customer,
    environment: Environment,
    rules: &Rulebook,
    prohibited: &Prohibited,
    now_ms: i64,
) -> Result<Draft, Refusal> {
    let (text, body) = match submit.text {
        SubmitText::Whole(text) => (Some(text), Body::Written),
        SubmitText::Page(page) => (None, Body::Page(page)),
    };
    let fields = SendFields {
        from: Some(submit.from),
        to: Some(submit.to),
        body: text,
        gateway: submit.gateway.map(|gateway| gateway.as_str().to_owned()),
        unicode: Some("true".to_owned()),
        append_sender: Some("none".to_owned()),
        ..SendFields::default()
    };
    let takes_list = submit.takes_list;
    let fields = (fields, body);
    let message = draft_of(fields, customer, environment, rules, prohibited, now_ms)?;
    // A list of numbers is no destination of a `submit_sm`.
    if !takes_list && (message.recipients.len() != 1 || message.invalid_count > 0) {
        return Err(Refusal::RecipientInvalid);
    }
    Ok(Draft {
        due_at_ms: submit.due_at_ms,
        validity_s: submit.validity_s,
        receipts: submit.receipts,
        fingerprint,
        ..message
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{customer, rules};
    use super::*;
    use crate::text::Alphabet;

    fn judge(to: &str, text: &str, gateway: Option<Gateway>) -> Result<Draft, Refusal> {
        judge_text((to, false), SubmitText::Whole(text.to_owned()), gateway)
    }

    fn judge_text(
        (to, takes_list): (&str, bool),
        text: SubmitText,
        gateway: Option<Gateway>,
    ) -> Result<Draft, Refusal> {
        judge_by(&rules(), (to, takes_list), text, gateway)
    }

    fn judge_by(
        rules: &Rulebook,
        (to, takes_list): (&str, bool),
        text: SubmitText,
        gateway: Option<Gateway>,
    ) -> Result<Draft, Refusal> {
        let submit = SubmitFields {
            from: "Ogene".to_owned(),
            to: to.to_owned(),
            takes_list,
            text,
            gateway,
            due_at_ms: Some(9_000),
            validity_s: Some(60),
            receipts: None,
        };
        let prohibited = Prohibited::default();
        draft_submit(
            submit,
            [7; 16],
            &customer(),
            Environment::Live,
            rules,
            &prohibited,
            0,
        )
    }

    #[test]
    fn a_submit_is_taken_as_written_and_has_its_own_fingerprint() {
        // The preferred carrier of this network replaces sender IDs.
        let draft = judge("2348051234567", "caf\u{E9} \u{1ECD}", None).unwrap();
        assert_eq!(draft.text.as_str(), "caf\u{E9} \u{1ECD}");
        assert_eq!(draft.text.alphabet(), Alphabet::Ucs2);
        assert_eq!(draft.fingerprint, [7; 16]);
        assert_eq!((draft.due_at_ms, draft.validity_s), (Some(9_000), Some(60)));
        assert!(!draft.classes[0].suffixed);
        assert_eq!(draft.gateway, Gateway::DirectRefund);
        let otp = judge("2348031234567", "Your code is 1234", Some(Gateway::Otp));
        assert_eq!(otp.unwrap().gateway, Gateway::Otp);
    }

    #[test]
    fn a_part_is_one_page_and_its_text_is_judged() {
        let header = [5, 0, 3, 7, 2, 1];
        let octets = |coding: u8, text: &[u8]| {
            let octets = [&header, text].concat();
            let page = RawPage::read(coding, true, &octets, None).unwrap();
            SubmitText::Page(page)
        };
        let to = ("2348031234567", false);
        // A whole text of one space is refused.
        let plain = judge_text(to, octets(0, b" "), None).unwrap();
        let binary = judge_text(to, octets(0xF5, &[0xFF; 134]), None).unwrap();
        let unicode = judge_text(to, octets(8, b"\0h\0i"), None).unwrap();
        for (draft, text) in [
            (&plain, " "),
            (&binary, "Binary data, 134 octets"),
            (&unicode, "hi"),
        ] {
            assert_eq!((draft.page_count, draft.text.as_str()), (1, text));
        }
        assert_eq!(plain.cost, binary.cost);
        assert!(unicode.cost > plain.cost, "it goes out as UTF-16");
        let code = judge_text(to, octets(0, b"Your OTP is 482913"), None);
        assert!(matches!(code, Err(Refusal::Transactional { .. })));
    }

    #[test]
    fn binary_data_needs_a_carrier_that_takes_it() {
        let mut rules = rules();
        for carrier in &mut rules.carriers {
            carrier.takes_binary = carrier.name == "mtn";
        }
        let page = |coding| {
            let page = RawPage::read(coding, true, &[2, 0x70, 0, 1], None).unwrap();
            SubmitText::Page(page)
        };
        let judged = |to, coding| judge_by(&rules, (to, true), page(coding), None);
        let (mtn, glo) = ("2348031234567", "2348051234567");
        assert!(judged(mtn, 0xF5).is_ok());
        assert!(judged(glo, 0).is_ok(), "a text has no need of it");
        for to in [glo, "2348031234567,2348051234567"] {
            let refusal = judged(to, 0xF5).unwrap_err().to_string();
            let start = "No carrier of the gateway `direct-refund` takes binary data";
            assert!(refusal.starts_with(start), "{refusal}");
        }
    }

    #[test]
    fn a_list_of_numbers_is_no_destination() {
        for to in ["2348031234567,2348031234568", "2348031234567,x", "x"] {
            assert_eq!(
                judge(to, "hi", None).unwrap_err(),
                Refusal::RecipientInvalid
            );
        }
        assert_eq!(judge("", "hi", None).unwrap_err(), Refusal::ToMissing);
    }

    #[test]
    fn a_list_is_one_message_without_its_invalid_numbers() {
        let hi = SubmitText::Whole("hi".to_owned());
        let list = "2348031234567,x,2348051234567";
        let draft = judge_text((list, true), hi.clone(), None).unwrap();
        assert_eq!((draft.recipients.len(), draft.invalid_count), (2, 1));
        let none = judge_text(("x,y", true), hi, None);
        assert_eq!(none.unwrap_err(), Refusal::NoValidRecipient);
    }
}
