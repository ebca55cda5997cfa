//! Quotes of both sends, beside their drafts.

use super::*;
use crate::account::Environment;
use crate::draft::draft_personalised;
use crate::draft::tests::{customer, fields, rules};
use crate::personalised::read_csv;
use crate::prohibited::Prohibited;
use proptest::prelude::*;

fn quote(text: &str) -> Quote {
    let (fields, rules) = (fields(text), rules());
    let body = fields.body.clone().unwrap();
    let prohibited = Prohibited::default();
    let draft = crate::draft(
        fields,
        &customer(),
        Environment::Live,
        &rules,
        &prohibited,
        0,
    )
    .unwrap();
    let quote = Quote::of(&draft, &body, &rules);
    assert_eq!(quote.cost, draft.cost);
    quote
}

fn quote_rows(text: &str, csv: &str) -> Quote {
    let (fields, rules) = (fields(text), rules());
    let body = fields.body.clone();
    let rows = read_csv(csv.as_bytes(), 3).unwrap();
    let prohibited = Prohibited::default();
    let live = Environment::Live;
    let draft =
        draft_personalised(fields, &rows, &customer(), live, &rules, &prohibited, 0).unwrap();
    Quote::of_personalised(&draft, &rows, body.as_deref(), &rules)
}

fn by_network(quote: &Quote) -> Vec<(&str, i64, i64, Money)> {
    let list = quote.by_network.iter();
    list.map(|of| (of.network.as_str(), of.recipients, of.pages, of.cost))
        .collect()
}

fn changes(quote: &Quote) -> Vec<(char, &str, usize)> {
    let list = quote.changes.iter();
    list.map(|change| (change.from, change.to.as_str(), change.count))
        .collect()
}

#[test]
fn a_quote_names_cost_text_and_networks() {
    let body = format!("Pay ₦{}", "5".repeat(150));
    let quote = quote(&format!(
        "from=ogene&to=2348031234567,2348051234567,08030000000&body={body}"
    ));
    let naira = Money::from_naira;
    assert_eq!(
        by_network(&quote),
        [("mtn", 2, 2, naira(12)), ("glo", 1, 2, naira(12))]
    );
    assert_eq!(
        (quote.recipients_count, quote.page_count, quote.pages_total),
        (3, 2, 4)
    );
    assert_eq!(
        quote.prepared_body,
        format!("Pay N{} - Ogene", "5".repeat(150))
    );
    assert_eq!(quote.alphabet, Alphabet::Gsm);
    assert_eq!(changes(&quote), [('₦', "N", 1)]);
    assert!(quote.is_covered_by(naira(24)) && !quote.is_covered_by(naira(23)));
}

#[test]
fn a_text_that_is_sent_as_written_has_no_changes() {
    let quote = quote("from=ogene&to=2348031234567&body=“Ọjọ́” 😀&unicode=1");
    assert_eq!(
        (quote.alphabet, quote.prepared_body.as_str()),
        (Alphabet::Ucs2, "“Ọjọ́” 😀")
    );
    assert_eq!(changes(&quote), []);
}

#[test]
fn the_quote_of_rows_has_the_longest_text_and_all_changes() {
    let csv = "to,name\n2348031234567,Adé\n2348031234567,é\n2348051234567,Éménike\n";
    let quote = quote_rows("from=ogene&body=Hi {name}", csv);
    assert_eq!(quote.prepared_body, "Hi Emenike - Ogene");
    assert_eq!(changes(&quote), [('é', "e", 2), ('É', "E", 1)]);
    let naira = Money::from_naira;
    assert_eq!(
        by_network(&quote),
        [("mtn", 1, 1, naira(6)), ("glo", 1, 1, naira(6))]
    );
    assert_eq!((quote.recipients_count, quote.pages_total), (2, 2));
}

#[test]
fn the_quotes_of_parts_add_up_to_that_of_the_whole() {
    let lines = [
        "2348031234567,Adé",
        "2348031234568,éé",
        "2348051234567,Éménike",
    ];
    let of = |lines: &[&str]| {
        let csv = format!("to,name\n{}\n", lines.join("\n"));
        quote_rows("from=ogene&body=Hi {name}", &csv)
    };
    let whole = of(&lines);
    let mut parts = of(&lines[..1]);
    parts.add(of(&lines[1..2]));
    parts.add(of(&lines[2..]));
    assert_eq!(changes(&parts), [('é', "e", 4), ('É', "E", 1)]);
    assert_eq!(parts, whole);
}

#[test]
fn numbers_of_no_known_network_are_others() {
    let quote = quote("from=ogene&to=07091234567,08031234567&body=Hi");
    let networks: Vec<&str> = quote
        .by_network
        .iter()
        .map(|of| of.network.as_str())
        .collect();
    assert_eq!(networks, ["mtn", OTHER_NETWORK]);
}

proptest! {
    #[test]
    fn the_parts_of_a_quote_add_up(body in "[a-zé😀 ]{1,300}x", append in 1..4_u8, unicode: bool) {
        let quote = quote(&format!(
            "from=ogene&to=2348031234567,2348051234567,07091234567&append={append}&unicode={}&body={body}",
            u8::from(unicode),
        ));
        let cost: Money = quote.by_network.iter().map(|of| of.cost).sum();
        let pages: i64 = quote.by_network.iter().map(|of| of.pages).sum();
        prop_assert_eq!((cost, pages), (quote.cost, quote.pages_total));
        let text = Text::from_stored(quote.prepared_body.clone());
        prop_assert_eq!(i64::try_from(text.page_count()).unwrap(), quote.page_count);
    }
}
