use super::*;
use crate::pdu::Address;
use crate::tlv::Tlv;
use ReceiptState::{
    Accepted, Deleted, Delivered, Enroute, Expired, Other, Rejected, Undeliverable, Unknown,
};
use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

const USUAL: &str = "id:0123456789 sub:001 dlvrd:001 submit date:2611201200 done date:2611201201 stat:DELIVRD err:000 text:Hello";

fn deliver(esm_class: u8, text: &str, tlvs: Vec<Tlv>) -> DeliverSm {
    DeliverSm {
        source: Address::international("2348031234567"),
        destination: Address::alphanumeric("Ogene"),
        esm_class,
        short_message: text.to_owned().into(),
        tlvs,
        ..DeliverSm::default()
    }
}

fn receipt(text: &str) -> Receipt {
    parse(&deliver(esm_class::RECEIPT, text, Vec::new())).unwrap()
}

/// Returns id, state, error, submit date and done date. A dash stands for a missing one.
fn summary(receipt: &Receipt) -> String {
    let or_dash = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".into());
    format!(
        "{} {:?} {} {} {}",
        receipt.id,
        receipt.state,
        or_dash(&receipt.error),
        or_dash(&receipt.submit_date),
        or_dash(&receipt.done_date)
    )
}

/// The dialects of carriers: name, text and content.
const DIALECTS: &[(&str, &str, &str)] = &[
    (
        "the usual",
        USUAL,
        "0123456789 Delivered 000 2611201200 2611201201",
    ),
    (
        "Text with a capital",
        "id:1 sub:001 dlvrd:001 submit date:2611201200 done date:2611201201 stat:DELIVRD err:000 Text:stat:UNDELIV id:9",
        "1 Delivered 000 2611201200 2611201201",
    ),
    (
        "no text at all",
        "id:1 sub:001 dlvrd:001 submit date:2611201200 done date:2611201201 stat:EXPIRED err:3E7",
        "1 Expired 3E7 2611201200 2611201201",
    ),
    (
        "dates without a space in the label",
        "id:1 submitdate:2611201200 donedate:2611201201 stat:UNDELIV err:abcd",
        "1 Undeliverable abcd 2611201200 2611201201",
    ),
    (
        "dates of twelve digits",
        "id:1 submit date:261120120059 done date:261120120101 stat:DELIVRD err:0",
        "1 Delivered 0 261120120059 261120120101",
    ),
    (
        "dates of fourteen digits",
        "id:1 submit date:20261120120059 done date:20261120120101 stat:DELIVRD err:0",
        "1 Delivered 0 20261120120059 20261120120101",
    ),
    (
        "REJECTED in full",
        "id:1 stat:REJECTED err:0085",
        "1 Rejected 0085 - -",
    ),
    (
        "an id with letters and dashes",
        "id:c449ab97-f44c-a0ca sub:001 stat:DELIVRD err:000",
        "c449ab97-f44c-a0ca Delivered 000 - -",
    ),
    (
        "another order",
        "stat:DELIVRD done date:2611201201 err:000 id:77",
        "77 Delivered 000 - 2611201201",
    ),
    ("fields missing", "id:77 stat:DELIVRD", "77 Delivered - - -"),
    (
        "empty fields",
        "id:77 sub: dlvrd: submit date: done date: stat:UNKNOWN err: text:",
        "77 Unknown - - -",
    ),
    (
        "capitals everywhere",
        "ID:77 SUB:001 STAT:delivrd ERR:000 TEXT:",
        "77 Delivered 000 - -",
    ),
    (
        "lines instead of spaces",
        "id:77\nstat:DELIVRD\r\nerr:000",
        "77 Delivered 000 - -",
    ),
    (
        "signs of equality",
        "id=77 sub=001 submit date=2611201200 stat=DELIVRD err=000 text=stat=UNDELIV",
        "77 Delivered 000 2611201200 -",
    ),
    (
        "commas",
        "id:77,sub:001,dlvrd:001,submit date:2611201200,done date:2611201201,stat:UNDELIV,err:001,text:Hello, id:9",
        "77 Undeliverable 001 2611201200 2611201201",
    ),
    (
        "semicolons and blanks",
        "id: 77; stat: DELIVRD; done date: 26-11-20 12:01; err: 000;",
        "77 Delivered 000 - 26-11-20 12:01",
    ),
    (
        "bars",
        "id:77|stat:EXPIRED|err:000|text:",
        "77 Expired 000 - -",
    ),
    (
        "many blanks, also within labels and around their signs",
        "  id : 77   sub:001  submit  date :2611201200\tstat :  DELIVRD   err:  0",
        "77 Delivered 0 2611201200 -",
    ),
    (
        "words in full",
        "ID:77 Submit_Date:2611201200 Status:DELIVERED Error:000",
        "77 Delivered 000 2611201200 -",
    ),
    (
        "a label of the carrier's own",
        "id:77 net:62130 stat:DELIVRD mccmnc:62120 err:000",
        "77 Delivered 000 - -",
    ),
    (
        "leading zeros kept",
        "id:0000077 stat:DELIVRD",
        "0000077 Delivered - - -",
    ),
    (
        "a state by number",
        "id:77 stat:5 err:001",
        "77 Undeliverable 001 - -",
    ),
    (
        "a block list",
        "id:77 stat:DND err:0x12",
        "77 Other(\"DND\") 0x12 - -",
    ),
];

#[test]
fn every_dialect_is_parsed() {
    for (dialect, text, expected) in DIALECTS {
        assert_eq!(summary(&receipt(text)), *expected, "{dialect}");
    }
}

#[test]
fn every_word_has_its_state() {
    let table = [
        ("DELIVRD", Delivered, true),
        ("UNDELIV", Undeliverable, true),
        ("EXPIRED", Expired, true),
        ("REJECTD", Rejected, true),
        ("REJECTED", Rejected, true),
        ("DELETED", Deleted, true),
        ("SKIPPED", Deleted, true),
        ("FAILED", Deleted, true),
        ("UNKNOWN", Unknown, true),
        ("BLACKLIST", Other("BLACKLIST".into()), true),
        ("ACCEPTD", Accepted, false),
        ("ENROUTE", Enroute, false),
        ("SCHEDULED", Enroute, false),
        ("BUFFRED", Enroute, false),
        ("BUFFERD", Enroute, false),
        ("ACKED", Enroute, false),
        ("SENT", Enroute, false),
        ("PENDING", Enroute, false),
        ("ENQUEUE", Enroute, false),
    ];
    for (word, state, is_final) in table {
        let receipt = receipt(&format!("id:1 stat:{word} err:000"));
        assert_eq!(
            (&receipt.state, receipt.is_final()),
            (&state, is_final),
            "{word}"
        );
        assert_eq!(receipt.raw_state, word);
    }
}

fn id(value: &str) -> Tlv {
    Tlv::new(tag::RECEIPTED_MESSAGE_ID, value.to_owned())
}

fn state(value: &[u8]) -> Tlv {
    Tlv::new(tag::MESSAGE_STATE, value.to_vec())
}

#[test]
fn both_ids_are_returned_if_text_and_parameter_differ() {
    let table = [
        (vec![id("ABC\0")], "ABC", Some("0123456789")),
        (vec![id("0123456789")], "0123456789", None),
        (vec![id("\0")], "0123456789", None),
        (vec![], "0123456789", None),
    ];
    for (tlvs, first, other) in table {
        let receipt = parse(&deliver(0x04, USUAL, tlvs)).unwrap();
        assert_eq!((&*receipt.id, receipt.other_id.as_deref()), (first, other));
        assert_eq!(receipt.done_date.as_deref(), Some("2611201201"));
    }
}

#[test]
fn the_final_state_counts_and_the_text_if_both_are_final() {
    let table: &[(&str, &[u8], ReceiptState)] = &[
        ("DELIVRD", &[0], Delivered),
        ("DELIVRD", &[1], Delivered),
        ("DELIVRD", &[6], Delivered),
        ("DELIVRD", &[0, 2], Delivered),
        ("DELIVRD", &[2, 0], Delivered),
        ("DELIVRD", &[], Delivered),
        ("DELIVRD", &[77], Delivered),
        ("DELIVRD", &[5], Delivered),
        ("UNDELIV", &[2], Undeliverable),
        ("ENROUTE", &[2], Delivered),
        ("ACCEPTD", &[0, 5], Undeliverable),
        ("ENROUTE", &[6], Enroute),
        ("ENROUTE", &[77], Enroute),
        // A word of the carrier's own counts less than a state of the protocol.
        ("OK", &[2], Delivered),
        ("DND", &[1], Other("DND".into())),
        ("", &[2], Delivered),
        ("", &[0, 2], Delivered),
        ("", &[5, 0], Undeliverable),
        ("", b"2", Delivered),
        ("", &[0], Enroute),
        ("", &[6], Accepted),
        ("", &[77], Other("77".into())),
    ];
    for (word, parameter, expected) in table {
        let text = match *word {
            "" => "id:77 sub:001 dlvrd:001 err:000 text:".to_owned(),
            word => format!("id:77 stat:{word} err:000"),
        };
        for esm_class in [0x04, 0x00] {
            let receipt = parse(&deliver(esm_class, &text, vec![state(parameter)])).unwrap();
            assert_eq!(receipt.state, *expected, "{word} {parameter:?}");
            assert_eq!((&*receipt.id, receipt.marked), ("77", esm_class != 0));
        }
    }
}

#[test]
fn a_receipt_without_a_state_is_not_parsed() {
    for parameter in [
        vec![],
        vec![state(&[])],
        vec![state(&[1, 2])],
        vec![state(&[0, 2, 3])],
    ] {
        let text = "id:77 sub:001 dlvrd:001 err:000 text:";
        assert_eq!(parse(&deliver(0x04, text, parameter.clone())), None);
        assert_eq!(parse(&deliver(0x00, text, parameter)), None);
    }
}

/// Encodes a text as UTF-16.
fn utf16(text: &str, octets: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(octets).collect()
}

#[test]
fn the_text_is_read_in_any_alphabet() {
    let text = USUAL.replace("Hello", "مرحبا بك في المتجر");
    // Eight septets are packed into seven octets.
    let mut packed = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for septet in USUAL.bytes() {
        bits |= u32::from(septet) << count;
        count += 7;
        while count >= 8 {
            packed.push((bits & 0xFF).try_into().unwrap());
            bits >>= 8;
            count -= 8;
        }
    }
    packed.push(bits.try_into().unwrap());
    let texts = [
        ("UCS-2", 8, utf16(&text, u16::to_be_bytes)),
        (
            "UCS-2 of a message waiting group",
            0xE0,
            utf16(&text, u16::to_be_bytes),
        ),
        (
            "UCS-2 said to be the default",
            0,
            utf16(USUAL, u16::to_be_bytes),
        ),
        ("the other order", 8, utf16(&text, u16::to_le_bytes)),
        (
            "a byte order mark",
            8,
            utf16(&format!("\u{FEFF}{USUAL}"), u16::to_be_bytes),
        ),
        (
            "with a zero at the end",
            8,
            [utf16(USUAL, u16::to_be_bytes), vec![0]].concat(),
        ),
        ("Latin-1", 3, USUAL.replace("Hello", "\u{1}").into_bytes()),
        ("ASCII said to be UCS-2", 8, USUAL.as_bytes().to_vec()),
        ("packed septets", 0, packed),
        ("UTF-8", 4, text.clone().into_bytes()),
    ];
    for (alphabet, data_coding, octets) in texts {
        for in_payload in [false, true] {
            let payload = Tlv::new(tag::MESSAGE_PAYLOAD, octets.clone());
            let message = DeliverSm {
                data_coding,
                short_message: if in_payload {
                    Bytes::new()
                } else {
                    octets.clone().into()
                },
                ..deliver(
                    0x04,
                    "",
                    if in_payload {
                        vec![payload]
                    } else {
                        Vec::new()
                    },
                )
            };
            let receipt = parse(&message).expect(alphabet);
            let expected = "0123456789 Delivered 000 2611201200 2611201201";
            assert_eq!(summary(&receipt), expected, "{alphabet}");
        }
    }
}

#[test]
fn a_payload_is_read_if_the_short_message_has_no_label() {
    let payload = vec![Tlv::new(tag::MESSAGE_PAYLOAD, USUAL.as_bytes())];
    let receipt = parse(&deliver(0x04, " ", payload)).unwrap();
    assert_eq!(receipt.id, "0123456789");
}

#[test]
fn a_gsm_underscore_equals_an_ascii_one() {
    assert_eq!(receipt("id:a\u{11}1 stat:DELIVRD").id, "a_1");
}

/// Cuts a text after `at` octets into two segments with user data headers.
fn cut(text: &str, at: usize) -> [DeliverSm; 2] {
    let part = |number: u8, part: &[u8]| DeliverSm {
        short_message: [&crate::udh(7, 2, number)[..], part].concat().into(),
        ..deliver(0x44, "", Vec::new())
    };
    let (first, second) = text.as_bytes().split_at(at);
    [part(1, first), part(2, second)]
}

#[test]
fn a_receipt_is_read_at_any_cut() {
    for at in 0..=USUAL.len() {
        let joined = join(&cut(USUAL, at));
        let read = parse(&joined).unwrap();
        assert_eq!(read, receipt(USUAL), "{at}");
        assert_eq!(joined.esm_class, 0x04);
    }
}

#[test]
fn an_incomplete_receipt_keeps_complete_words_only() {
    let state_at = USUAL.find("DELIVRD").unwrap();
    for at in 0..=USUAL.len() {
        let [first, second] = cut(USUAL, at);
        let read = parse(&join(&[first]));
        if at > state_at + "DELIVRD".len() {
            let read = read.expect("it has id and state");
            assert_eq!((&*read.id, read.state), ("0123456789", Delivered));
        } else {
            assert_eq!(read, None, "{at}");
        }
        assert_eq!(parse(&join(&[second])), None, "{at}");
    }
    // Each segment has complete parameters.
    let [_, mut second] = cut(USUAL, 20);
    second.tlvs = vec![id("77"), state(&[2])];
    assert_eq!(
        summary(&parse(&join(&[second])).unwrap()),
        "77 Delivered - - -"
    );
}

#[test]
fn parameters_alone_are_enough() {
    let id = Tlv::new(tag::RECEIPTED_MESSAGE_ID, &b"no-nul"[..]);
    let state = |state: u8| Tlv::new(tag::MESSAGE_STATE, vec![state]);
    let error = |value: &'static [u8]| Tlv::new(tag::NETWORK_ERROR_CODE, value);
    let table = [
        (vec![id.clone(), state(2)], "no-nul Delivered - - -"),
        (
            vec![id.clone(), state(8), error(&[3, 0, 34])],
            "no-nul Rejected 034 - -",
        ),
        (
            vec![id.clone(), state(3), error(&[1, 2])],
            "no-nul Expired 258 - -",
        ),
        (vec![id.clone(), state(77)], "no-nul Other(\"77\") - - -"),
    ];
    for (tlvs, expected) in table {
        // Some carriers leave `esm_class` zero.
        for esm_class in [0x04, 0x00] {
            let receipt = parse(&deliver(esm_class, "", tlvs.clone())).unwrap();
            assert_eq!(summary(&receipt), expected);
        }
    }
    assert_eq!(parse(&deliver(0x04, "", vec![id])), None, "no state");
    assert_eq!(parse(&deliver(0x04, "", vec![state(2)])), None, "no id");
}

#[test]
fn the_text_may_be_in_the_payload() {
    let tlvs = vec![Tlv::new(tag::MESSAGE_PAYLOAD, USUAL.as_bytes())];
    let receipt = parse(&deliver(0x04, "", tlvs)).unwrap();
    assert_eq!(receipt.id, "0123456789");
}

#[test]
fn esm_class_decides_which_message_is_a_receipt() {
    let table = [
        (0x00, USUAL, Some((false, false))),
        (0x04, USUAL, Some((true, false))),
        (0x44, USUAL, Some((true, false))),
        (0x07, USUAL, Some((true, false))),
        (0x20, USUAL, Some((true, true))),
        (0x08, USUAL, None),
        (0x10, USUAL, None),
        (0x18, USUAL, None),
        (0x00, "Please send your id: 12 and stay", None),
        (0x00, "Kedu?", None),
        (0x04, "", None),
    ];
    for (esm_class, text, expected) in table {
        let found = parse(&deliver(esm_class, text, Vec::new()));
        let found = found.map(|receipt| (receipt.marked, receipt.intermediate));
        assert_eq!(found, expected, "{esm_class:#x} {text}");
    }
    let named = deliver(0x00, USUAL, vec![id("0123456789")]);
    assert!(parse(&named).unwrap().marked && is_marked(&named));
}

#[test]
fn an_intermediate_receipt_is_not_final() {
    let receipt = parse(&deliver(0x20, "id:1 stat:UNDELIV", Vec::new())).unwrap();
    assert!(receipt.state.is_final() && !receipt.is_final());
    let silent = parse(&deliver(0x20, "id:1", Vec::new())).unwrap();
    assert_eq!(silent.state, Enroute);
}

/// Parts of receipts in random order.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let words = prop_oneof![
        Just("id"),
        Just("submit date"),
        Just("stat"),
        Just("err"),
        Just("TEXT"),
        Just(":"),
        Just("="),
        Just(" "),
        Just("_"),
        Just(","),
        Just("\0"),
        Just("DELIVRD"),
        Just("77"),
    ];
    let noise = vec(any::<u8>(), 0..3);
    let piece = prop_oneof![9 => words.prop_map(Vec::from), 1 => noise];
    vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_parts_of_receipts_make_the_parser_panic(esm_class: u8, text in pieces()) {
        let message = DeliverSm { esm_class, short_message: text.into(), ..DeliverSm::default() };
        let _ = parse(&message);
    }

    #[test]
    fn fields_are_found_between_any_other_text(
        sign in "( {0,2}[:=] {0,2})",
        between in "( {1,3}|, ?|; ?|\\||\r?\n|\t)",
        id in "[A-Za-z0-9-]{1,20}",
        capitals: bool,
    ) {
        let label = |word: &str| if capitals { word.to_ascii_uppercase() } else { word.to_owned() } + &sign;
        let fields = [("id", id.as_str()), ("done date", "2611201201"), ("stat", "DELIVRD"), ("err", "0x1f")];
        let text = fields.map(|(word, value)| label(word) + value).join(&between);
        prop_assert_eq!(summary(&receipt(&text)), format!("{id} Delivered 0x1f - 2611201201"));
    }

    #[test]
    fn no_text_makes_the_parser_panic(esm_class: u8, text in vec(any::<u8>(), 0..80)) {
        let message = DeliverSm { esm_class, short_message: text.into(), ..DeliverSm::default() };
        let _ = parse(&message);
    }

    #[test]
    fn labels_between_any_words_are_found(id in "[A-Za-z0-9-]{1,20}", junk in "[ -9;-~]{0,20}") {
        let receipt = receipt(&format!("{junk} id:{id} stat:DELIVRD text:{junk}"));
        prop_assert_eq!((receipt.id, receipt.state), (id, Delivered));
    }
}
