//! Encodes the receipts of the simulator.

use super::script::{Quirk, ReceiptDates, ReceiptForm, ReceiptLabels, ReceiptStyle};
use crate::codec::{AddressFields, Pdu, Sm, encode, encode_empty};
use crate::command::Command;
use crate::long::udh;
use crate::pdu::{ShortMessage, esm_class};
use crate::receipt::{ReceiptIds, ReceiptState};
use crate::status::CommandStatus;
use crate::tlv::{Tlvs, tag};
use std::borrow::Cow;
use std::fmt::Write as _;

/// Number of characters of an overlong field.
const LONG_CHARACTERS: usize = 60_000;
/// An undefined parameter and its length. Two of them make the PDU too long.
const FILLING: (u16, usize) = (0x1400, 40_000);

/// A receipt or message for a client.
#[derive(Debug)]
pub(super) enum Outgoing {
    Receipt(Box<PendingReceipt>),
    /// A message of a subscriber.
    Message(Box<ShortMessage>),
    /// The same, which is delivered again after the end of the connection that answers it.
    Again(Box<ShortMessage>),
}

/// The content of a receipt. It is compact, since a million of them may be queued.
#[derive(Clone, Debug)]
pub(super) struct PendingReceipt {
    pub(super) id: u64,
    pub(super) state: ReceiptState,
    pub(super) intermediate: bool,
    /// The number of the segment, 1 or 2, or 0 for a receipt in one piece.
    pub(super) segment: u8,
    /// Type of number and numbering plan of the sender, then of the recipient.
    pub(super) kinds: [u8; 4],
    /// The digits of the sender, then of the recipient.
    pub(super) digits: Box<[u8]>,
    pub(super) source_octets: usize,
    /// The submit time in Unix seconds.
    pub(super) submitted_at_s: u64,
}

impl PendingReceipt {
    pub(super) fn of(submit: &Sm<'_>, id: u64, state: ReceiptState, submitted_at_s: u64) -> Self {
        let (from, to) = (submit.source, submit.destination);
        Self {
            id,
            state,
            intermediate: false,
            segment: 0,
            kinds: [from.ton, from.npi, to.ton, to.npi],
            digits: [from.digits, to.digits].concat().into(),
            source_octets: from.digits.len(),
            submitted_at_s,
        }
    }

    /// Returns the receipts that are written as separate `deliver_sm`.
    pub(super) fn segments(self, style: &ReceiptStyle) -> impl Iterator<Item = Self> {
        let two = style.has(Quirk::TwoParts) || style.has(Quirk::TwoPartsSar);
        let numbers = if two { 1..=2 } else { 0..=0 };
        numbers.map(move |segment| Self {
            segment,
            ..self.clone()
        })
    }

    /// Returns the intermediate receipt before this one.
    pub(super) fn first(&self) -> Self {
        Self {
            state: ReceiptState::Enroute,
            intermediate: true,
            ..self.clone()
        }
    }
}

/// Returns the message id in `submit_sm_resp`.
pub(super) fn response_id(ids: ReceiptIds, id: u64) -> String {
    match ids {
        ReceiptIds::Exact | ReceiptIds::DecimalResponseHexReceipt => id.to_string(),
        ReceiptIds::HexResponseDecimalReceipt => format!("{id:X}"),
        ReceiptIds::Numeric => format!("{id:020}"),
    }
}

fn receipt_id(ids: ReceiptIds, id: u64) -> String {
    match ids {
        ReceiptIds::DecimalResponseHexReceipt => format!("{id:x}"),
        ReceiptIds::Exact | ReceiptIds::HexResponseDecimalReceipt | ReceiptIds::Numeric => {
            id.to_string()
        }
    }
}

/// Appends a receipt as `deliver_sm` or `data_sm`.
pub(super) fn write(
    out: &mut Vec<u8>,
    outgoing: &Outgoing,
    style: &ReceiptStyle,
    sequence: u32,
    now_s: u64,
) -> Result<(), CommandStatus> {
    match outgoing {
        Outgoing::Message(message) | Outgoing::Again(message) => {
            let pdu = Pdu::Deliver(Sm::of(message));
            encode(out, CommandStatus::ROK, sequence, &pdu)
        }
        Outgoing::Receipt(receipt) => write_receipt(out, receipt, style, sequence, now_s),
    }
}

fn write_receipt(
    out: &mut Vec<u8>,
    receipt: &PendingReceipt,
    style: &ReceiptStyle,
    sequence: u32,
    now_s: u64,
) -> Result<(), CommandStatus> {
    let mut text = match style.form {
        ReceiptForm::Text | ReceiptForm::Both => encoded(&text(receipt, style, now_s), style),
        ReceiptForm::Tlv => Vec::new(),
    };
    let data_sm = style.has(Quirk::DataSm);
    let in_payload = style.has(Quirk::Payload) || style.has(Quirk::LongError) || data_sm;
    let mut tlvs = parameters(receipt, style);
    let mut esm_class = match (style.has(Quirk::Unmarked), receipt.intermediate) {
        (true, _) => 0,
        (false, true) => esm_class::INTERMEDIATE,
        (false, false) => esm_class::RECEIPT,
    };
    if receipt.segment > 0 {
        // The cut never separates the two octets of a UCS-2 character.
        let second = text.split_off(text.len() / 4 * 2);
        text = if receipt.segment == 1 { text } else { second };
        let [reference, ..] = receipt.id.to_le_bytes();
        if style.has(Quirk::TwoPartsSar) {
            push_tlv(&mut tlvs, tag::SAR_MSG_REF_NUM, &[0, reference]);
            push_tlv(&mut tlvs, tag::SAR_TOTAL_SEGMENTS, &[2]);
            push_tlv(&mut tlvs, tag::SAR_SEGMENT_SEQNUM, &[receipt.segment]);
        } else {
            esm_class |= esm_class::UDHI;
            text.splice(..0, udh(reference, 2, receipt.segment));
        }
    }
    if in_payload && !text.is_empty() {
        push_tlv(&mut tlvs, tag::MESSAGE_PAYLOAD, &text);
    }
    if style.has(Quirk::NulBeforeTlvs) {
        tlvs.insert(0, 0);
    }
    if style.has(Quirk::Overlong) {
        let (tag, octets) = FILLING;
        push_tlv(&mut tlvs, tag, &vec![0; octets]);
        push_tlv(&mut tlvs, tag, &vec![0; octets]);
    }
    let (source, destination) = receipt.digits.split_at(receipt.source_octets);
    let source = lengthened(source, style);
    let [from_ton, from_npi, to_ton, to_npi] = receipt.kinds;
    let message = Sm {
        // Sender and recipient are swapped in a receipt.
        source: if style.has(Quirk::NamedSource) {
            address(5, 0, b"Receipts")
        } else {
            address(to_ton, to_npi, destination)
        },
        destination: address(from_ton, from_npi, &source),
        esm_class,
        data_coding: if style.has(Quirk::Ucs2) { 8 } else { 0 },
        short_message: if in_payload { b"" } else { &text },
        tlvs: Tlvs::Wire(&tlvs),
        ..Sm::default()
    };
    let pdu = if data_sm {
        Pdu::Data(message)
    } else {
        Pdu::Deliver(message)
    };
    if style.has(Quirk::LongAddress) || style.has(Quirk::Overlong) {
        write_unchecked(out, &message, sequence);
        return Ok(());
    }
    encode(out, CommandStatus::ROK, sequence, &pdu)
}

/// Encodes the optional parameters for id and state.
fn parameters(receipt: &PendingReceipt, style: &ReceiptStyle) -> Vec<u8> {
    let mut tlvs = Vec::new();
    if style.form == ReceiptForm::Text {
        return tlvs;
    }
    let id = if style.has(Quirk::OwnParameterId) {
        own_id(receipt.id)
    } else {
        receipt_id(style.ids, receipt.id)
    };
    // The id has a NUL, as the protocol requires.
    let id = [id.as_bytes(), &[0]].concat();
    push_tlv(&mut tlvs, tag::RECEIPTED_MESSAGE_ID, &id);
    let wrong_state = [
        (Quirk::StateScheduled, 0),
        (Quirk::StateEnroute, 1),
        (Quirk::StateAccepted, 6),
    ];
    let wrong_state = wrong_state.into_iter().find(|(quirk, _)| style.has(*quirk));
    let state = wrong_state.map_or(receipt.state.number(), |(_, state)| state);
    if style.has(Quirk::WideState) {
        push_tlv(&mut tlvs, tag::MESSAGE_STATE, &[0, state]);
    } else {
        push_tlv(&mut tlvs, tag::MESSAGE_STATE, &[state]);
    }
    tlvs
}

/// Returns an id that no response has.
fn own_id(id: u64) -> String {
    format!("smsc-{id}")
}

fn encoded(text: &str, style: &ReceiptStyle) -> Vec<u8> {
    if style.has(Quirk::Ucs2) {
        text.encode_utf16().flat_map(u16::to_be_bytes).collect()
    } else {
        text.as_bytes().to_vec()
    }
}

/// Returns the address of the sender in the length of the style.
fn lengthened<'a>(source: &'a [u8], style: &ReceiptStyle) -> Cow<'a, [u8]> {
    if style.has(Quirk::LongAddress) {
        source.repeat(LONG_CHARACTERS / source.len().max(1)).into()
    } else {
        source.into()
    }
}

/// Encodes a `deliver_sm` whose fields may exceed the protocol.
fn write_unchecked(out: &mut Vec<u8>, message: &Sm<'_>, sequence: u32) {
    let start = out.len();
    encode_empty(out, Command::DELIVER_SM, CommandStatus::ROK, sequence);
    out.push(0);
    for address in [message.source, message.destination] {
        out.extend_from_slice(&[address.ton, address.npi]);
        out.extend_from_slice(address.digits);
        out.push(0);
    }
    let text = message.short_message;
    let length = u8::try_from(text.len()).unwrap_or(u8::MAX);
    let coding = message.data_coding;
    out.extend_from_slice(&[message.esm_class, 0, 0, 0, 0, 0, 0, coding, 0, length]);
    out.extend_from_slice(&text[..usize::from(length)]);
    if let Tlvs::Wire(octets) = message.tlvs {
        out.extend_from_slice(octets);
    }
    let length = u32::try_from(out.len() - start).unwrap_or(u32::MAX);
    out[start..start + 4].copy_from_slice(&length.to_be_bytes());
}

fn address(ton: u8, npi: u8, digits: &[u8]) -> AddressFields<'_> {
    AddressFields { ton, npi, digits }
}

fn push_tlv(out: &mut Vec<u8>, tag: u16, value: &[u8]) {
    let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
    out.extend_from_slice(&tag.to_be_bytes());
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(value);
}

fn text(receipt: &PendingReceipt, style: &ReceiptStyle, now_s: u64) -> String {
    let id = if style.has(Quirk::OwnTextId) {
        own_id(receipt.id)
    } else {
        receipt_id(style.ids, receipt.id)
    };
    let delivered = u8::from(receipt.state == ReceiptState::Delivered);
    let state = receipt.state.word();
    let error = if receipt.state.is_final() && delivered == 0 {
        "001"
    } else {
        "000"
    };
    let (submit, done) = match style.labels {
        ReceiptLabels::Short => ("submitdate", "donedate"),
        ReceiptLabels::Usual | ReceiptLabels::CapitalText | ReceiptLabels::Capitals => {
            ("submit date", "done date")
        }
    };
    let mut text = String::with_capacity(160);
    let _ = write!(text, "id:{id} sub:001 dlvrd:{delivered:03} {submit}:");
    push_date(&mut text, style.dates, receipt.submitted_at_s);
    let _ = write!(text, " {done}:");
    push_date(&mut text, style.dates, now_s);
    if !style.has(Quirk::NoStat) {
        let _ = write!(text, " stat:{state}");
    }
    let _ = write!(text, " err:{error}");
    if style.has(Quirk::LongError) {
        text.extend(std::iter::repeat_n('E', LONG_CHARACTERS - error.len()));
    }
    match style.labels {
        ReceiptLabels::Usual => text.push_str(" text:"),
        ReceiptLabels::CapitalText => text.push_str(" Text:"),
        ReceiptLabels::Short => {}
        ReceiptLabels::Capitals => {
            text.push_str(" text:");
            // The id keeps its case. Labels contain no digits, and ids no labels.
            text = capitals(&text, &id);
        }
    }
    text
}

fn capitals(text: &str, id: &str) -> String {
    let rest = text
        .strip_prefix("id:")
        .and_then(|rest| rest.strip_prefix(id));
    format!("ID:{id}{}", rest.unwrap_or_default().to_ascii_uppercase())
}

/// Appends the date of a Unix time in the Gregorian calendar.
fn push_date(text: &mut String, dates: ReceiptDates, unix_s: u64) {
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    // Years begin in March here, so the leap day is the last day.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let _ = match dates {
        ReceiptDates::Fourteen => write!(text, "{year:04}"),
        ReceiptDates::Ten | ReceiptDates::Twelve => write!(text, "{:02}", year % 100),
    };
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    let _ = write!(text, "{month:02}{day:02}{hour:02}{minute:02}");
    if dates != ReceiptDates::Ten {
        let _ = write!(text, "{:02}", second % 60);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::decode;
    use crate::frame::first_frame;
    use crate::receipt;

    #[test]
    fn dates_follow_the_calendar() {
        let table = [
            (0, "19700101000000"),
            (951_782_399, "20000228235959"),
            (951_782_400, "20000229000000"),
            (1_795_219_261, "20261121000101"),
        ];
        for (unix_s, expected) in table {
            let mut text = String::new();
            push_date(&mut text, ReceiptDates::Fourteen, unix_s);
            assert_eq!(text, expected);
        }
    }

    /// Every style is encoded and parsed again.
    #[test]
    fn our_parser_reads_every_style() {
        let receipt = PendingReceipt {
            id: 305_419_896,
            state: ReceiptState::Undeliverable,
            intermediate: false,
            segment: 0,
            kinds: [5, 0, 1, 1],
            digits: b"Ogene2348031234567".as_slice().into(),
            source_octets: 5,
            submitted_at_s: 1_795_219_200,
        };
        let forms = [ReceiptForm::Text, ReceiptForm::Tlv, ReceiptForm::Both];
        let all_ids = [
            ReceiptIds::Exact,
            ReceiptIds::HexResponseDecimalReceipt,
            ReceiptIds::DecimalResponseHexReceipt,
            ReceiptIds::Numeric,
        ];
        let all_labels = [
            ReceiptLabels::Usual,
            ReceiptLabels::CapitalText,
            ReceiptLabels::Capitals,
            ReceiptLabels::Short,
        ];
        for form in forms {
            for ids in all_ids {
                for labels in all_labels {
                    for quirk in [
                        Quirk::Payload,
                        Quirk::DataSm,
                        Quirk::Unmarked,
                        Quirk::Shuffle,
                        Quirk::NulBeforeTlvs,
                        Quirk::WideState,
                        Quirk::NamedSource,
                        Quirk::LongError,
                        Quirk::LongAddress,
                    ] {
                        let style = ReceiptStyle {
                            form,
                            ids,
                            labels,
                            dates: ReceiptDates::Twelve,
                            quirks: vec![quirk],
                        };
                        let mut out = Vec::new();
                        let outgoing = Outgoing::Receipt(Box::new(receipt.clone()));
                        write(&mut out, &outgoing, &style, 1, 1_795_219_261).unwrap();
                        let frame = first_frame(&out).unwrap().unwrap();
                        let pdu = decode(frame.header.command, frame.body).unwrap();
                        let (Pdu::Deliver(sm) | Pdu::Data(sm)) = pdu else {
                            panic!("{pdu:?}")
                        };
                        let parsed = receipt::parse(&sm.to_owned()).unwrap();
                        assert_eq!(
                            ids.receipt_key(&parsed.id),
                            ids.response_key(&response_id(ids, receipt.id)),
                            "{style:?}"
                        );
                        assert_eq!(parsed.state, receipt.state, "{style:?}");
                        let dated = parsed.done_date.as_deref() == Some("261121000101");
                        assert_eq!(dated, form != ReceiptForm::Tlv, "{style:?}");
                        let named = quirk == Quirk::NamedSource;
                        assert_eq!(sm.source.digits == b"2348031234567", !named);
                    }
                }
            }
        }
    }
}
