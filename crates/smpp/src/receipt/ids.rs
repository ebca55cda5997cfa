//! Message ids. Carriers may format them differently in responses and receipts.

use std::str::FromStr;

/// The mapping between the id in a response and the id in its receipt.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ReceiptIds {
    /// Both are the same text.
    #[default]
    Exact,
    /// The response has a hexadecimal number, and the receipt the same one in decimal.
    HexResponseDecimalReceipt,
    /// The response has a decimal number, and the receipt the same one in hexadecimal.
    DecimalResponseHexReceipt,
    /// Both are decimal numbers, and one has leading zeros.
    Numeric,
}

impl ReceiptIds {
    /// All mappings with their names in the configuration.
    pub const WORDS: [(&'static str, Self); 4] = [
        ("exact", Self::Exact),
        (
            "hex-response-decimal-receipt",
            Self::HexResponseDecimalReceipt,
        ),
        (
            "decimal-response-hex-receipt",
            Self::DecimalResponseHexReceipt,
        ),
        ("numeric", Self::Numeric),
    ];

    /// Returns the key of an id in a response. It equals the `receipt_key` of its receipt.
    pub fn response_key(&self, id: &str) -> String {
        match self {
            Self::Exact => id.trim().to_owned(),
            Self::HexResponseDecimalReceipt => key(id, 16),
            Self::DecimalResponseHexReceipt | Self::Numeric => key(id, 10),
        }
    }

    /// Returns the key of an id in a receipt.
    pub fn receipt_key(&self, id: &str) -> String {
        match self {
            Self::Exact => id.trim().to_owned(),
            Self::DecimalResponseHexReceipt => key(id, 16),
            Self::HexResponseDecimalReceipt | Self::Numeric => key(id, 10),
        }
    }
}

impl FromStr for ReceiptIds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, mode)| *mode).ok_or_else(|| {
            let words = Self::WORDS.map(|(word, _)| word).join(", ");
            format!("unknown receipt_ids \"{text}\": one of {words}")
        })
    }
}

/// Returns a number in decimal. An id that is no number stays the same in lower case.
fn key(id: &str, radix: u32) -> String {
    let id = id.trim();
    let digits = match radix {
        16 => id
            .strip_prefix("0x")
            .or(id.strip_prefix("0X"))
            .unwrap_or(id),
        _ => id,
    };
    // `from_str_radix` would accept a sign.
    let number = digits
        .bytes()
        .all(|octet| octet.is_ascii_alphanumeric())
        .then(|| u128::from_str_radix(digits, radix).ok())
        .flatten();
    number.map_or_else(|| id.to_ascii_lowercase(), |number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_forms_of_an_id_have_one_key() {
        use ReceiptIds::*;
        let table = [
            (Exact, "Ab-1 ", " Ab-1", true),
            (Exact, "ab", "AB", false),
            (Exact, "024", "24", false),
            (HexResponseDecimalReceipt, "1F4A9", "128169", true),
            (HexResponseDecimalReceipt, "0x001f4a9", "0000128169", true),
            (HexResponseDecimalReceipt, "10", "10", false),
            (DecimalResponseHexReceipt, "128169", "0001F4A9", true),
            (
                DecimalResponseHexReceipt,
                "not-a-number",
                "NOT-A-NUMBER",
                true,
            ),
            (Numeric, "000024", "24", true),
            (Numeric, "0", "0000", true),
            (Numeric, "24", "25", false),
            (Numeric, "+24", "24", false),
        ];
        for (mode, response, receipt, same) in table {
            assert_eq!(
                mode.response_key(response) == mode.receipt_key(receipt),
                same,
                "{mode:?} {response} {receipt}"
            );
        }
    }

    #[test]
    fn an_id_too_long_for_a_number_is_kept() {
        let long = "F".repeat(40);
        let mode = ReceiptIds::HexResponseDecimalReceipt;
        assert_eq!(mode.response_key(&long), long.to_lowercase());
    }

    proptest! {
        #[test]
        fn both_forms_of_any_number_have_one_key(number: u64, zeros in 0usize..5) {
            let zeros = "0".repeat(zeros);
            let hex = ReceiptIds::HexResponseDecimalReceipt;
            prop_assert_eq!(
                hex.response_key(&format!("{zeros}{number:X}")), hex.receipt_key(&number.to_string())
            );
            let decimal = ReceiptIds::DecimalResponseHexReceipt;
            prop_assert_eq!(
                decimal.response_key(&number.to_string()), decimal.receipt_key(&format!("{zeros}{number:x}"))
            );
        }
    }

    #[test]
    fn the_words_of_the_configuration_are_read() {
        assert_eq!("numeric".parse(), Ok(ReceiptIds::Numeric));
        assert!("hex".parse::<ReceiptIds>().unwrap_err().contains("exact"));
    }
}
