//! Personalised rows, idempotency keys, one-time passwords, and cells of an export.

use super::{Measure, PLAIN, customer, rules};
use domain::idempotency::{Operation, of_personalised, of_send};
use domain::otp::{Code, CodeKind, OtpId};
use domain::personalised::{JsonRows, Rows, Template, read_csv};
use domain::schedule::SendTimes;
use domain::search::{List, Position};
use domain::{Environment, Prohibited, SendFields, TextChanges, csv_cells, draft_personalised};
use serde::de::DeserializeSeed;
use std::hint::black_box;

/// Number of rows. All take the same time, so they represent a request of 100,000.
const ROWS: usize = 1_000;

pub(super) fn measure(to: &mut impl Measure) {
    personalised(to);
    keys(to);
    one_time_passwords(to);
    lists(to);
}

fn csv_file(rows: usize) -> String {
    let lines = (0..rows).map(|index| {
        let number = index * 7_919 % 10_000_000;
        format!(
            "0803{number:07},Ada {index},\"Lagos, Yaba\",{index}.50
"
        )
    });
    let lines: Vec<String> = lines.collect();
    format!(
        "to,name,town,amount
{}",
        lines.concat()
    )
}

fn json_array(rows: usize) -> String {
    let rows: Vec<String> = (0..rows)
        .map(|index| {
            let number = index * 7_919 % 10_000_000;
            format!(
                r#"{{"to":"0803{number:07}","variables":{{"name":"Ada {index}","town":"Lagos","amount":{index}.50}}}}"#
            )
        })
        .collect();
    format!("[{}]", rows.join(","))
}

fn read_json(array: &str) -> Option<Rows> {
    let mut rows = JsonRows::new(ROWS);
    let mut deserializer = serde_json::Deserializer::from_str(array);
    rows.deserialize(&mut deserializer).ok()?;
    Some(rows.into_rows())
}

fn fields() -> SendFields {
    SendFields {
        from: Some("Ogene".to_owned()),
        body: Some(format!(
            "Dear {{name}} of {{town}}, you owe {{amount}}. {PLAIN}"
        )),
        ..SendFields::default()
    }
}

fn personalised(to: &mut impl Measure) {
    let body = fields().body.unwrap_or_default();
    to.case("personalised: parse a template", || {
        Template::parse(black_box(&body))
    });
    let (customer, rules, prohibited) = (customer(), rules(), Prohibited::default());
    let (file, array) = (csv_file(ROWS), json_array(ROWS));
    to.case("personalised: read 1000 rows of CSV", || {
        read_csv(black_box(file.as_bytes()), ROWS)
    });
    to.case("personalised: read 1000 rows of JSON", || {
        read_json(black_box(&array))
    });
    let rows = read_csv(file.as_bytes(), ROWS).unwrap_or_default();
    to.case("personalised: draft 1000", || {
        draft_personalised(
            fields(),
            &rows,
            &customer,
            Environment::Live,
            &rules,
            &prohibited,
            0,
        )
    });
    to.case("personalised: fingerprint of 1000", || {
        let times = SendTimes::default();
        of_personalised(&fields(), &rows, times, Environment::Live, ROWS)
    });
}

fn keys(to: &mut impl Measure) {
    let single = SendFields {
        from: Some("Ogene".to_owned()),
        to: Some("2348031234567".to_owned()),
        body: Some(PLAIN.to_owned()),
        ..SendFields::default()
    };
    to.case("key: fingerprint of a single send", || {
        let (times, live) = (SendTimes::default(), Environment::Live);
        of_send(Operation::Send, black_box(&single), times, live, ROWS)
    });
}

fn one_time_passwords(to: &mut impl Measure) {
    let id = OtpId::new(1_801_414_800_000, [7; 10]);
    to.case("otp: derive a code", || {
        Code::derive(black_box(&[7; 32]), id, CodeKind::Numeric, 6)
    });
}

fn lists(to: &mut impl Measure) {
    let position = Position { id: 7, place: 9 };
    let cursor = position.encode(List::Messages, &[]);
    to.case("search: read a cursor", || {
        Position::decode(black_box(&cursor), List::Messages, &[]).is_ok()
    });
    let mut row = String::with_capacity(1_024);
    to.case("export: write a row", || {
        row.clear();
        for text in [
            "0192a3b4",
            "Ogene",
            "direct-refund",
            "order, 7",
            "delivrd",
            PLAIN,
        ] {
            csv_cells::push_text(&mut row, black_box(text));
            row.push(',');
        }
        csv_cells::push_plain(&mut row, 2_348_031_234_567_u64);
        row.push_str(csv_cells::ROW_END);
        row.len()
    });
    let written = "Ẹ káàbọ̀! “Big sale” – up to ₦5,000 off";
    to.case("quote: changes of a written text", || {
        let mut changes = TextChanges::default();
        changes.add(black_box(written));
        changes.into_list()
    });
}
