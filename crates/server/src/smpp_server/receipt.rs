//! The `deliver_sm` of a receipt.

use super::refusals::message_state;
use domain::smpp_receipt;
use smpp::codec::{AddressFields, Sm};
use smpp::{CommandStatus, Tlv, Tlvs, esm_class, tag};
use store::{Callback, MessageReceipt};

/// The type of network in `network_error_code`: GSM.
const GSM: u8 = 3;
/// Type and plan of an international number, and of a name.
const NUMBER: (u8, u8) = (1, 1);
const NAME: (u8, u8) = (5, 0);

/// Writes the `deliver_sm` of a receipt. It has the optional parameters that all clients read.
pub(super) fn write(
    event: &Callback,
    receipt: &MessageReceipt,
    deliver: impl FnOnce(&Sm<'_>) -> Result<(), CommandStatus>,
) -> Result<(), CommandStatus> {
    let text = smpp_receipt::text(event.message, &receipt.end, &receipt.quoted);
    let recipient = event.recipient.to_string();
    let id = format!("{}\0", event.message);
    let state = message_state(Some(receipt.end.status));
    let mut tlvs = vec![
        Tlv::new(tag::RECEIPTED_MESSAGE_ID, id.into_bytes()),
        Tlv::new(tag::MESSAGE_STATE, vec![state]),
    ];
    if let Some(code) = receipt.end.error {
        let [high, low] = code.to_be_bytes();
        tlvs.push(Tlv::new(tag::NETWORK_ERROR_CODE, vec![GSM, high, low]));
    }
    deliver(&Sm {
        source: address(&recipient),
        destination: address(&receipt.sender),
        esm_class: esm_class::RECEIPT,
        short_message: text.as_bytes(),
        tlvs: Tlvs::List(&tlvs),
        ..Sm::default()
    })
}

pub(super) fn address(digits: &str) -> AddressFields<'_> {
    let is_number = digits.bytes().all(|octet| octet.is_ascii_digit());
    let (ton, npi) = if is_number { NUMBER } else { NAME };
    AddressFields {
        ton,
        npi,
        digits: digits.as_bytes(),
    }
}
