//! Receipts in any dialect: the text of any `deliver_sm`, with any class, coding and parameters.

#![no_main]

use libfuzzer_sys::fuzz_target;
use smpp::{DeliverSm, ReceiptIds, Tlvs, receipt};

fuzz_target!(|octets: &[u8]| {
    let [esm_class, data_coding, length, rest @ ..] = octets else {
        return;
    };
    let (text, parameters) = rest.split_at(usize::from(*length).min(rest.len()));
    let deliver = DeliverSm {
        esm_class: *esm_class,
        data_coding: *data_coding,
        short_message: text.to_vec().into(),
        tlvs: Tlvs::Wire(parameters).to_vec(),
        ..DeliverSm::default()
    };
    if let Some(receipt) = receipt::parse(&deliver) {
        for ids in [
            ReceiptIds::Exact,
            ReceiptIds::HexResponseDecimalReceipt,
            ReceiptIds::DecimalResponseHexReceipt,
            ReceiptIds::Numeric,
        ] {
            let _ = (ids.receipt_key(&receipt.id), ids.response_key(&receipt.id));
        }
    }
});
