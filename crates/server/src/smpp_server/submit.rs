//! The fields of a `submit_sm` or `data_sm`.

use super::refusals::Refused;
use domain::smpp_receipt::{ReceiptRequest, WantedReceipts};
use domain::smpp_time::TimeFault;
use domain::smpp_user::{self, SmppUser};
use domain::{SubmitFields, read_coded, smpp_time};
use smpp::codec::Sm;
use smpp::{CommandStatus, esm_class, tag};

/// Maximum number of characters of an address (SMPP 3.4, section 4.4.1).
const MAX_ADDRESS_CHARACTERS: usize = 20;
/// The optional parameters of parts.
const PARTS: [u16; 3] = [
    tag::SAR_MSG_REF_NUM,
    tag::SAR_TOTAL_SEGMENTS,
    tag::SAR_SEGMENT_SEQNUM,
];

/// Reads the fields of a message, or returns the first refusal. A field that would change what is
/// sent, and that is not supported, is refused.
pub(super) fn read(
    message: &Sm<'_>,
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
    let to = address(message.destination.digits).ok_or_else(|| {
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
    let octets = octets(message)?;
    let text = read_coded(message.data_coding, octets)
        .map_err(|fault| refused(CommandStatus::RSUBMITFAIL, fault.to_string()))?;
    Ok(SubmitFields {
        from,
        to,
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
    let has_parts = message
        .tlvs
        .into_iter()
        .any(|(tag, _)| PARTS.contains(&tag));
    let table = [
        (
            message.esm_class & esm_class::UDHI != 0,
            CommandStatus::RINVESMCLASS,
            "parts with a user data header are not supported: send the whole text in message_payload",
        ),
        (
            has_parts,
            CommandStatus::ROPTPARNOTALLWD,
            "parts with sar_ parameters are not supported: send the whole text in message_payload",
        ),
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

fn address(octets: &[u8]) -> Option<String> {
    let text = text(octets)?;
    (text.chars().count() <= MAX_ADDRESS_CHARACTERS).then(|| text.to_owned())
}

fn refused(status: CommandStatus, reason: impl Into<std::borrow::Cow<'static, str>>) -> Refused {
    Refused {
        status,
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
