//! Requests that are the same, and requests that are not.

use super::*;
use crate::draft::tests::fields;
use crate::otp::{OtpFields, OtpId, hash_of_typed};
use crate::personalised::read_csv;
use proptest::prelude::*;

fn send(text: &str) -> Option<RequestFingerprint> {
    let times = SendTimes::default();
    of_send(Operation::Send, &fields(text), times, Environment::Live, 10)
}

const GOOD: &str = "from=Ogene&to=2348031234567,2348051234567&body=Hi";

#[test]
fn notation_aliases_and_order_do_not_count() {
    let same = [
        "body=Hi&to=08051234567;+234 803 123 4567&from= ogene ",
        "from=OGENE&to=2348051234567,2348031234567,2348031234567&body=Hi",
        "from=Ogene&to=2348031234567,2348051234567,x1&body=Hi",
        "from=Ogene&to=2348031234567,2348051234567&body=Hi&gateway=direct-refund",
        "from=Ogene&to=2348031234567,2348051234567&body=Hi&gateway=1&dnd=2",
        "from=Ogene&to=2348031234567,2348051234567&body=Hi&dnd=0",
        "from=Ogene&to=2348031234567,2348051234567&body=Hi&unicode=false&append=hosted",
        "from=Ogene&to=2348031234567,2348051234567&body=Hi&unicode=0&append=2",
        "from=Ogene&to=2348031234567,2348051234567&body=Hi&url= &reference= ",
        "from=Ogene&to=2348031234567,2348051234567&body=Hi&ignored=send_when",
    ];
    for text in same {
        assert_eq!(send(text), send(GOOD), "{text}");
    }
    assert_eq!(
        send(&format!("{GOOD}&dnd=4")),
        send(&format!("{GOOD}&gateway=dual-backup"))
    );
    assert!(send(GOOD).is_some());
}

#[test]
fn every_field_that_changes_the_message_counts() {
    let others = [
        "from=Ogene&to=2348031234567&body=Hi".to_owned(),
        GOOD.replace("body=Hi", "body=Hi "),
        GOOD.replace("from=Ogene", "from=Other"),
        format!("{GOOD}&gateway=otp"),
        format!("{GOOD}&unicode=1"),
        format!("{GOOD}&append=none"),
        format!("{GOOD}&url=https://example.com/"),
        format!("{GOOD}&reference=r"),
    ];
    let mut found: Vec<_> = others.iter().map(|text| send(text)).collect();
    let times = [
        SendTimes {
            send_at_ms: Some(0),
            validity_s: None,
        },
        SendTimes {
            send_at_ms: None,
            validity_s: Some(60),
        },
    ];
    for times in times {
        found.push(of_send(
            Operation::Send,
            &fields(GOOD),
            times,
            Environment::Live,
            10,
        ));
    }
    let legacy = of_send(
        Operation::LegacySend,
        &fields(GOOD),
        SendTimes::default(),
        Environment::Live,
        10,
    );
    found.extend([send(GOOD), legacy]);
    let count = found.len();
    assert!(found.iter().all(Option::is_some));
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), count);
}

#[test]
fn a_request_that_cannot_be_read_has_no_fingerprint() {
    for text in [
        "to=08031234567&body=Hi",
        "from=Ogene&body=Hi",
        "from=Ogene&to=08031234567",
        "from=Ogene&to=08031234567&body=Hi&gateway=x",
        "from=Ogene&to=08031234567&body=Hi&dnd=9",
        "from=Ogene&to=08031234567&body=Hi&unicode=2",
        "from=Ogene&to=08031234567&body=Hi&append=9",
        "from=Ogene&to=1,2,3,4,5,6,7,8,9,10,11&body=Hi",
    ] {
        assert_eq!(send(text), None, "{text}");
    }
}

fn personalised(text: &str, csv: &str) -> Option<RequestFingerprint> {
    let rows = read_csv(csv.as_bytes(), 10).unwrap();
    of_personalised(
        &fields(text),
        &rows,
        SendTimes::default(),
        Environment::Live,
        10,
    )
}

#[test]
fn rows_count_by_their_texts_in_any_order() {
    let of = |csv| personalised("from=Ogene&body=Hi {name}", csv);
    let one = of("to,name\n08031234567,Ada\n08051234567,Obi\n");
    assert!(one.is_some());
    assert_eq!(
        one,
        of("x;name;to\n;Obi;2348051234567\n1;Ada;8031234567\n;Eve;08031234567\n")
    );
    let own = personalised(
        "from=Ogene",
        "to,body\n08031234567,Hi Ada\n08051234567,Hi Obi\n",
    );
    assert_eq!(one, own);
    assert_ne!(one, of("to,name\n08031234567,Obi\n08051234567,Ada\n"));
    assert_ne!(
        one,
        of("to,name,customer_reference\n08031234567,Ada,1\n08051234567,Obi,\n")
    );
    assert_eq!(of("to\n08031234567\n"), None);
    assert_eq!(personalised("from=Ogene&body={", "to\n08031234567\n"), None);
}

#[test]
fn a_one_time_password_counts_by_its_parsed_fields() {
    let of = |text: &str, length: Option<&str>| {
        let own = OtpFields {
            length: length.map(str::to_owned),
            ..OtpFields::default()
        };
        of_otp(
            &fields(text),
            &OtpRequest::read(&own).unwrap(),
            Environment::Live,
        )
    };
    let one = of("from=Ogene&to=08031234567", None);
    assert!(one.is_some());
    assert_eq!(one, of("from=ogene&to=2348031234567", Some("6")));
    assert_ne!(one, of("from=ogene&to=2348031234567", Some("8")));
    assert_ne!(one, of("from=ogene&to=2348051234567", None));
    // A number may be repeated, as in a send.
    assert_eq!(one, of("from=Ogene&to=08031234567, 2348031234567,", None));
    assert_ne!(one, of("from=Ogene&to=08031234567&unicode=1", None));
    assert_eq!(of("from=ogene&to=x", None), None);
}

#[test]
fn an_attempt_counts_by_its_id_and_code() {
    let id = OtpId::new(1, [7; 10]);
    let of = |id: OtpId, code| of_verification(&id.to_string(), hash_of_typed(b"key", id, code));
    let one = of(id, "AB23");
    assert_eq!(one, of(id, " ab 23\n"));
    for other in [
        of(id, "AB24"),
        of(OtpId::new(2, [7; 10]), "AB23"),
        of(id, ""),
    ] {
        assert_ne!(one, other);
    }
    let other_key = hash_of_typed(b"other", id, "AB23");
    assert_ne!(one, of_verification(&id.to_string(), other_key));
}

#[test]
fn a_change_counts_by_operation_id_and_time() {
    let one = of_change(Operation::Cancel, "a", None);
    assert_eq!(one, of_change(Operation::Cancel, "a", None));
    for other in [
        of_change(Operation::Cancel, "b", None),
        of_change(Operation::Pause, "a", None),
        of_change(Operation::Cancel, "a", Some(0)),
    ] {
        assert_ne!(one, other);
    }
}

#[test]
fn a_request_for_a_sender_id_counts_by_name_and_purpose() {
    let of = |name: &str, purpose: &str| {
        of_sender(&SenderRequest {
            name: name.to_owned(),
            purpose: purpose.to_owned(),
        })
    };
    let one = of("AdaStores", "News");
    assert_eq!(one, of("AdaStores", "News"));
    assert_ne!(one, of("AdaStores", "Orders"));
    assert_ne!(one, of("AdaStore", "sNews"));
}

proptest! {
    #[test]
    fn any_order_of_recipients_is_the_same_request(
        mut digits in proptest::collection::vec(0..9_999_999_u64, 1..9), turn in 0..9_usize,
    ) {
        let of = |digits: &[u64]| {
            let list: Vec<String> = digits.iter().map(|digits| format!("23480{:08}", 30_000_000 + digits)).collect();
            send(&format!("from=Ogene&body=Hi&to={}", list.join(",")))
        };
        let one = of(&digits);
        let length = digits.len();
        digits.rotate_left(turn % length);
        prop_assert_eq!(one, of(&digits));
        digits.push(digits[0]);
        prop_assert_eq!(one, of(&digits));
    }
}
