//! Personalised drafts: texts, charges, faults, and the order of the checks.

use super::*;
use crate::draft::tests::{customer, fields, rules};
use crate::personalised::{JsonRows, RowFault, read_csv};
use crate::text::Alphabet;
use proptest::prelude::*;
use serde::de::DeserializeSeed;

fn judge_with(text: &str, csv: &str, rules: &Rulebook) -> Result<PersonalisedDraft, Refusal> {
    let rows = read_csv(csv.as_bytes(), rules.max_recipients)?;
    let prohibited = Prohibited::new(&["casino".to_owned()]);
    let fields = fields(text);
    draft_personalised(
        fields,
        &rows,
        &customer(),
        Environment::Live,
        rules,
        &prohibited,
        0,
    )
}

fn judge(text: &str, csv: &str) -> Result<PersonalisedDraft, Refusal> {
    judge_with(text, csv, &rules())
}

fn faults(text: &str, csv: &str) -> Vec<(u32, String, &'static str)> {
    match judge(text, csv) {
        Err(Refusal::Rows(faults)) => {
            let named = faults.named().iter();
            named
                .map(|RowFault { row, field, reason }| (*row, field.clone(), reason.as_str()))
                .collect()
        }
        other => panic!("{other:?}"),
    }
}

type IsIt = fn(&Refusal) -> bool;

const MTN: &str = "2348031234567";
const GLO: &str = "2348051234567";

#[test]
fn each_recipient_has_its_own_text_pages_and_charge() {
    let csv = format!(
        "to,name,body,customer_reference\n{MTN},Ada,,\n{GLO},Obi,,r2\n0{},,{}é,\n",
        "8031234568",
        "x".repeat(200)
    );
    let draft = judge("from=ogene&body=Hello {name}&append=all&reference=r", &csv).unwrap();
    let found: Vec<_> = draft
        .recipients
        .iter()
        .map(|recipient| {
            let text = draft.text(recipient).chars().take(12).collect::<String>();
            (
                recipient.row,
                text,
                recipient.pages,
                recipient.charge,
                draft.reference_of(recipient),
            )
        })
        .collect();
    let naira = Money::from_naira;
    assert_eq!(
        found,
        [
            (1, "Hello Ada".to_owned(), 1, naira(6), Some("r")),
            (2, "Hello Obi".to_owned(), 1, naira(6), Some("r2")),
            (3, "xxxxxxxxxxxx".to_owned(), 2, naira(12), Some("r")),
        ]
    );
    assert_eq!(
        (draft.page_count, draft.pages_total, draft.cost),
        (2, 4, naira(24))
    );
    assert!(draft.adjustments.text_changed && draft.recipients.iter().all(|one| one.suffixed));
}

#[test]
fn route_and_charge_follow_the_network_as_in_a_send() {
    let csv = format!("to,name\n{MTN},Ada\n{GLO},Ọbi\n");
    let draft = judge("from=ogene&body=Hi {name}&unicode=1", &csv).unwrap();
    let found: Vec<_> = draft
        .recipients
        .iter()
        .map(|one| (one.carrier, one.suffixed, one.alphabet, one.charge))
        .collect();
    let naira = Money::from_naira;
    assert_eq!(
        found,
        [
            (0, false, Alphabet::Gsm, naira(6)),
            (1, true, Alphabet::Ucs2, naira(12))
        ]
    );
    let dual = judge("from=ogene&body=Hi {name}&gateway=dual-backup", &csv).unwrap();
    let one = &dual.recipients[0];
    assert_eq!((one.charge, one.reserve), (naira(8), naira(2)));
}

#[test]
fn repeated_and_invalid_numbers_are_left_out() {
    let csv = format!(
        "to,n\n{MTN},1\nx1,2\n0{},3\n,4\n{GLO},5\n{MTN},6\n",
        &MTN[3..]
    );
    let mut rules = rules();
    rules.max_recipients = 6;
    let draft = judge_with("from=ogene&body=Hi {n}", &csv, &rules).unwrap();
    let texts: Vec<_> = draft.recipients.iter().map(|one| draft.text(one)).collect();
    assert_eq!(texts, ["Hi 1", "Hi 5"]);
    assert_eq!((draft.repeated, draft.repeated_count), (vec![3, 6], 2));
    assert_eq!(draft.invalid, ["x1", "(none in row 4)"]);
    assert_eq!(draft.invalid_count, 2);
}

#[test]
fn every_fault_of_a_row_is_named_with_its_reason() {
    let long = "x".repeat(1_531);
    let table = [
        (
            "Hi {name}",
            "to,nick\n08031234567,A\n",
            vec![(1, "name", "unknown")],
        ),
        (
            "Hi {name}",
            "to,nick,name\n08031234567,A,B\n08031234568,A\n",
            vec![(2, "name", "missing")],
        ),
        (
            "{name}",
            &format!("to,name\n08031234567,{long}\n"),
            vec![(1, "body", "too_long")],
        ),
        (
            "{name}",
            "to,name\n08031234567,\n08031234568,😀\n",
            vec![(1, "body", "empty"), (2, "body", "empty")],
        ),
        (
            "{name}",
            "to,name\n08031234567,Your OTP is 482913\n",
            vec![(1, "body", "not_permitted")],
        ),
        (
            "{name}",
            "to,name\n08031234567,Visit the CASINO\n",
            vec![(1, "body", "prohibited")],
        ),
        (
            "{a}{b}",
            "to,a\n08031234567\n08031234568,1\n",
            vec![
                (1, "a", "missing"),
                (1, "b", "unknown"),
                (2, "b", "unknown"),
            ],
        ),
        (
            "Hi",
            &format!("to,customer_reference\n08031234567,{}\n", "r".repeat(256)),
            vec![(1, "customer_reference", "too_long")],
        ),
    ];
    for (body, csv, expected) in table {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(row, field, reason)| (row, field.to_owned(), reason))
            .collect();
        assert_eq!(
            faults(&format!("from=ogene&body={body}"), csv),
            expected,
            "{body}"
        );
    }
    let own = "to,body\n08031234567,Hi\n08031234568,\n";
    assert_eq!(
        faults("from=ogene", own),
        [(2, "body".to_owned(), "missing")]
    );
}

#[test]
fn rows_that_are_left_out_have_no_faults() {
    let csv = "to,name\n08031234567,Ada\n08031234567\nx1\n";
    let draft = judge("from=ogene&body=Hi {name}", csv).unwrap();
    assert_eq!((draft.recipients.len(), draft.repeated), (1, vec![2]));
}

#[test]
fn the_first_fault_in_the_order_of_checks_is_the_answer() {
    let ok = "to,name\n08031234567,Ada\n";
    let table: [(&str, &str, IsIt); 14] = [
        ("body={name", ok, |r| *r == Refusal::FromMissing),
        ("from=x&body={name", "to\n", |r| *r == Refusal::ToMissing),
        ("from=x&body= ", ok, |r| *r == Refusal::BodyMissing),
        ("from=twelve chars&body={", ok, |r| {
            *r == Refusal::SenderForm
        }),
        ("from=waiting&body={", ok, |r| {
            *r == Refusal::SenderNotApproved
        }),
        ("from=ogene&gateway=x&body={", ok, |r| {
            matches!(r, Refusal::UnknownGateway { .. })
        }),
        ("from=ogene&unicode=2&body={", ok, |r| {
            matches!(r, Refusal::Malformed(_))
        }),
        ("from=ogene&url=x&body={", ok, |r| {
            matches!(r, Refusal::CallbackUrl(_))
        }),
        ("from=ogene&body={", "to\nx1\n", |r| {
            r.to_string()
                .starts_with("`body`: the brace at character 1 ")
        }),
        ("from=ogene&body=Hi", "to\n1\n2\n3\n4\n", |r| {
            *r == Refusal::TooManyRecipients { limit: 3 }
        }),
        ("from=abroad&body={x}", "to\nx1\n", |r| {
            *r == Refusal::RecipientInvalid
        }),
        ("from=abroad&body={x}", "to\nx1\nx2\n", |r| {
            *r == Refusal::NoValidRecipient
        }),
        ("from=abroad&body={x}", ok, |r| {
            matches!(r, Refusal::InternationalSender { .. })
        }),
        ("from=ogene", "to,body\n08031234567,}\n", |r| {
            r.to_string()
                .starts_with("Row 1: `body`: the brace at character 1 ")
        }),
    ];
    for (text, csv, is_it) in table {
        let refusal = judge(text, csv).unwrap_err();
        assert!(is_it(&refusal), "{text}: {refusal:?}");
    }
}

#[test]
fn the_character_u_0000_is_refused_with_its_row() {
    let csv = "to,name\n08031234567,a\0b\n";
    let refusal = judge("from=ogene&body={name}&unicode=1", csv).unwrap_err();
    assert!(
        refusal
            .to_string()
            .starts_with("Row 1: the text holds the character U+0000")
    );
    assert_eq!(
        judge("from=ogene&body={name}", csv).unwrap().cost,
        Money::from_naira(6)
    );
}

#[test]
fn unknown_fields_are_named() {
    let draft = judge("from=ogene&body=Hi&to=x", "to\n08031234567\n").unwrap();
    assert_eq!(draft.adjustments.ignored_fields, ["to"]);
}

#[test]
fn the_fingerprint_covers_numbers_and_texts_in_any_order() {
    let of = |body: &str, csv: &str| {
        judge(&format!("from=ogene&body={body}"), csv)
            .unwrap()
            .fingerprint
    };
    let one = of("Hi {n}", "to,n\n08031234567,1\n08031234568,2\n");
    assert_eq!(
        one,
        of("{x} {n}", "n,to,x\n2,08031234568,Hi\n1,+2348031234567,Hi\n")
    );
    assert_ne!(one, of("Hi {n}", "to,n\n08031234567,2\n08031234568,1\n"));
    assert_ne!(one, of("Hi {n}", "to,n\n08031234567,1\n"));
    let plain = crate::draft(
        fields("from=ogene&body=Hi&to=08031234567"),
        &customer(),
        Environment::Live,
        &rules(),
        &Prohibited::default(),
        0,
    );
    assert_ne!(of("Hi", "to\n08031234567\n"), plain.unwrap().fingerprint);
}

/// Returns the rows as a CSV file and as a JSON array.
fn both_forms(rows: &[(u32, String, bool)]) -> [Rows; 2] {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let (mut lines, mut array) = (vec!["to;name;own\n".to_owned()], Vec::new());
    for (number, name, is_own) in rows {
        let to = format!("080{:08}", 30_000_000 + number);
        let own = if *is_own { "yes" } else { "" };
        lines.push(format!("{to};{};{own}\r\n", quoted(name)));
        let variables = serde_json::json!({ "name": name, "own": own });
        array.push(serde_json::json!({ "variables": variables, "to": to }));
    }
    let mut of_json = JsonRows::new(rows.len());
    let array = serde_json::Value::from(array).to_string();
    of_json
        .deserialize(&mut serde_json::Deserializer::from_str(&array))
        .unwrap();
    let of_csv = read_csv(lines.concat().as_bytes(), rows.len()).unwrap();
    [of_csv, of_json.into_rows()]
}

proptest! {
    #[test]
    fn csv_and_json_make_the_same_draft(
        list in proptest::collection::vec((0..5_u32, "[a-z\"; ,\n😀é=']{0,20}", any::<bool>()), 1..6),
    ) {
        let mut rules = rules();
        rules.max_recipients = list.len();
        let [csv, json] = both_forms(&list).map(|rows| {
            let (fields, prohibited) = (fields("from=ogene&body=Hi {name}{own}."), Prohibited::default());
            draft_personalised(fields, &rows, &customer(), Environment::Live, &rules, &prohibited, 0).unwrap()
        });
        // A CSV cell drops the apostrophe of an export.
        if list.iter().all(|(_, name, _)| !name.starts_with("'=")) {
            prop_assert_eq!(csv.fingerprint, json.fingerprint);
            prop_assert_eq!(csv.recipients, json.recipients);
            prop_assert_eq!(csv.repeated, json.repeated);
        }
    }

    /// A personalised send of one text costs the same as a send of this text.
    #[test]
    fn one_text_for_all_costs_as_much_as_a_send(
        body in "[a-zA-Z éẹ😀€]{1,200}", unicode: bool, append in 1..4_u8,
    ) {
        let text = format!("from=ogene&body={body}&unicode={}&append={append}", u8::from(unicode));
        let personal = judge(&text, &format!("to\n{MTN}\n{GLO}\n"));
        let send = crate::draft(
            fields(&format!("{text}&to={MTN},{GLO}")), &customer(), Environment::Live, &rules(), &Prohibited::default(), 0,
        );
        match (personal, send) {
            (Ok(personal), Ok(send)) => {
                prop_assert_eq!(personal.cost, send.cost);
                prop_assert_eq!(personal.page_count, send.page_count);
                prop_assert_eq!(personal.text(&personal.recipients[0]), send.text.as_str());
                let (all, one) = (personal.adjustments, send.adjustments);
                prop_assert_eq!(all.text_changed, one.text_changed);
                prop_assert_eq!(all.removed_characters, 2 * one.removed_characters);
            }
            (personal, send) => prop_assert!(personal.is_err() && send.is_err()),
        }
    }
}

#[test]
fn a_personalised_draft_keeps_each_text_and_charge() {
    let csv = format!("to,name,customer_reference\n{GLO},Obi,r2\n{MTN},Ada,\n{GLO},Eve,\n");
    let draft = judge("from=ogene&body=Hello {name}&reference=r", &csv).unwrap();
    let cost = draft.cost;
    let draft = draft.into_draft();
    let texts = draft.texts.as_ref().unwrap();
    let found: Vec<_> = texts
        .iter()
        .map(|one| (one.text, one.customer_reference))
        .collect();
    assert_eq!(found, [("Hello Ada", None), ("Hello Obi", Some("r2"))]);
    assert_eq!(
        (texts.len(), texts.pages_total, &texts.repeated[..]),
        (2, 2, &[3][..])
    );
    for one in texts.iter() {
        assert_eq!(texts.text(one.recipient), Some(one.text));
    }
    let charged = draft
        .classes
        .iter()
        .map(|class| (class.charge, class.recipients.len()));
    let charged = charged.fold(Money::ZERO, |sum, (charge, count)| {
        sum + charge * i64::try_from(count).unwrap()
    });
    assert_eq!((charged, draft.cost), (cost, cost));
    assert!(draft.text.as_str().is_empty() && draft.recipients.len() == 2);
}

#[test]
fn recipients_of_a_class_are_in_the_order_of_their_texts() {
    let numbers = [2_348_031_000_003, 2_348_031_000_001, 2_348_031_000_002];
    let rows: Vec<String> = numbers.iter().map(|to| format!("{to},Ada\n")).collect();
    let csv = format!("to,name\n{}", rows.concat());
    let draft = judge("from=ogene&body=Hello {name}", &csv).unwrap();
    let draft = draft.into_draft();
    let in_rows = draft.recipients.iter().map(|to| to.digits());
    assert_eq!(in_rows.collect::<Vec<u64>>(), numbers);
    for class in &draft.classes {
        assert!(class.recipients.is_sorted());
    }
}
