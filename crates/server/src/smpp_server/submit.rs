//! The fields of a `submit_sm` or `data_sm`.

use super::refusals::Refused;
use domain::smpp_receipt::{ReceiptRequest, WantedReceipts};
use domain::smpp_time::TimeFault;
use domain::smpp_user::{self, SmppUser};
use domain::{
    PageFault, RawPage, SarPart, SubmitFields, SubmitText, is_binary, read_coded, smpp_time,
};
use smpp::codec::Sm;
use smpp::{CommandStatus, esm_class, tag};

/// Maximum number of characters of an address (SMPP 3.4, section 4.4.1).
const MAX_ADDRESS_CHARACTERS: usize = 20;
/// The `data_coding` of Latin 1.
const LATIN_1: u8 = 3;

/// Reads the fields of a message, or returns the first refusal. A field that would change what is
/// sent, and that is not supported, is refused.
pub(super) fn read(
    message: &Sm<'_>,
    user: &SmppUser,
    now_ms: i64,
) -> Result<SubmitFields, Refused> {
    read_to(message, address(message.destination.digits), user, now_ms)
}

/// Reads the fields of a message to a list of numbers, as [`read`] does.
pub(super) fn read_list(
    message: &Sm<'_>,
    numbers: String,
    user: &SmppUser,
    now_ms: i64,
) -> Result<SubmitFields, Refused> {
    Ok(SubmitFields {
        takes_list: true,
        ..read_to(message, Some(numbers), user, now_ms)?
    })
}

fn read_to(
    message: &Sm<'_>,
    to: Option<String>,
    user: &SmppUser,
    now_ms: i64,
) -> Result<SubmitFields, Refused> {
    unsupported(message)?;
    let gateway = text(message.service_type)
        .and_then(|name| smpp_user::gateway_of(name, user).ok())
        .ok_or_else(|| {
            refused(
                CommandStatus::RINVSERTYP,
                "the service_type names no gateway",
            )
        })?;
    let from = address(message.source.digits).ok_or_else(|| {
        refused(
            CommandStatus::RINVSRCADR,
            "the source address is too long or not text",
        )
    })?;
    let to = to.ok_or_else(|| {
        refused(
            CommandStatus::RINVDSTADR,
            "the destination is too long or not text",
        )
    })?;
    let due_at_ms = text(message.schedule)
        .ok_or(TimeFault::Form)
        .and_then(|text| smpp_time::schedule(text, now_ms))
        .map_err(|fault| refused(CommandStatus::RINVSCHED, fault.to_string()))?;
    let validity_s = text(message.validity_period)
        .ok_or(TimeFault::Form)
        .and_then(|text| smpp_time::validity_s(text, due_at_ms, now_ms))
        .map_err(|fault| refused(CommandStatus::RINVEXPIRY, fault.to_string()))?;
    let text = submit_text(message, user.dialect.latin_1)?;
    Ok(SubmitFields {
        from,
        to,
        takes_list: false,
        text,
        gateway,
        due_at_ms,
        validity_s,
        receipts: receipts(message, user),
    })
}

fn receipts(message: &Sm<'_>, user: &SmppUser) -> Option<ReceiptRequest> {
    let wanted = WantedReceipts::from_registered_delivery(message.registered_delivery)?;
    let system_id = user.system_id.clone();
    Some(ReceiptRequest { system_id, wanted })
}

fn unsupported(message: &Sm<'_>) -> Result<(), Refused> {
    let table = [
        (
            message.replace_if_present != 0,
            CommandStatus::RINVREPFLAG,
            "replace_if_present_flag is not supported: set it to 0",
        ),
        (
            message.default_message != 0,
            CommandStatus::RINVDFTMSGID,
            "there are no predefined messages: set sm_default_msg_id to 0",
        ),
    ];
    match table.into_iter().find(|(is_so, ..)| *is_so) {
        Some((_, status, reason)) => Err(refused(status, reason)),
        None => Ok(()),
    }
}

/// Reads the text. A part of a longer text and binary data go out as they came.
fn submit_text(message: &Sm<'_>, is_latin_1: bool) -> Result<SubmitText, Refused> {
    let octets = octets(message)?;
    let data_coding = match message.data_coding {
        0 if is_latin_1 => LATIN_1,
        other => other,
    };
    let has_header = message.esm_class & esm_class::UDHI != 0;
    let sar = sar_part(message)?;
    if !has_header && sar.is_none() && !is_binary(data_coding) {
        return read_coded(data_coding, octets)
            .map(SubmitText::Whole)
            .map_err(|fault| refused(CommandStatus::RSUBMITFAIL, fault.to_string()));
    }
    let page = RawPage::read(data_coding, has_header, octets, sar);
    page.map(SubmitText::Page).map_err(|fault| {
        let status = match fault {
            PageFault::Coding(_) => CommandStatus::RSUBMITFAIL,
            PageFault::Header => CommandStatus::RINVESMCLASS,
            PageFault::TooLong => CommandStatus::RINVMSGLEN,
        };
        refused(status, fault.to_string())
    })
}

/// Returns the position of a part by `sar_` parameters. A text of one part is none.
fn sar_part(message: &Sm<'_>) -> Result<Option<SarPart>, Refused> {
    let parameter = |tag| message.tlvs.get(tag);
    let octet = |tag| match parameter(tag) {
        Some(&[octet]) => Some(octet),
        _ => None,
    };
    let all = [
        tag::SAR_MSG_REF_NUM,
        tag::SAR_TOTAL_SEGMENTS,
        tag::SAR_SEGMENT_SEQNUM,
    ];
    if all.into_iter().all(|tag| parameter(tag).is_none()) {
        return Ok(None);
    }
    let reference = match parameter(tag::SAR_MSG_REF_NUM) {
        Some(&[high, low]) => Some(u16::from_be_bytes([high, low])),
        _ => None,
    };
    let [_, total, number] = all.map(octet);
    match (reference, total, number) {
        (_, Some(1), Some(1)) => Ok(None),
        (Some(reference), Some(total), Some(number)) if (1..=total).contains(&number) => {
            Ok(Some(SarPart {
                reference,
                total,
                number,
            }))
        }
        _ => Err(refused(
            CommandStatus::RINVOPTPARAMVAL,
            "the sar_ parameters are incomplete, or their numbers do not fit",
        )),
    }
}

/// Returns the octets of the text.
fn octets<'a>(message: &Sm<'a>) -> Result<&'a [u8], Refused> {
    match message.tlvs.get(tag::MESSAGE_PAYLOAD) {
        None => Ok(message.short_message),
        Some(payload) if message.short_message.is_empty() => Ok(payload),
        Some(_) => Err(refused(
            CommandStatus::ROPTPARNOTALLWD,
            "the text is in short_message and in message_payload: use one of them",
        )),
    }
}

fn text(octets: &[u8]) -> Option<&str> {
    std::str::from_utf8(octets).ok()
}

pub(super) fn address(octets: &[u8]) -> Option<String> {
    let text = text(octets)?;
    (text.chars().count() <= MAX_ADDRESS_CHARACTERS).then(|| text.to_owned())
}

pub(super) fn refused(
    status: CommandStatus,
    reason: impl Into<std::borrow::Cow<'static, str>>,
) -> Refused {
    Refused {
        status,
        vendor: None,
        code: "",
        reason: reason.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_at_most_20_characters_of_text() {
        let longest = [b'1'; 20];
        assert_eq!(address(&longest).unwrap().len(), 20);
        assert_eq!(address(&[b'1'; 21]), None);
        assert_eq!(address(b"\xFF"), None);
        assert_eq!(address(b"").unwrap(), "");
    }
}
