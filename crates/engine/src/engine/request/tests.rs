//! A quote and a send of the same request.

use super::*;
use crate::accept::Sent;
use domain::personalised::read_csv;
use domain::{
    Account, AccountId, AccountStatus, Alphabet, CarrierRules, CodeWords, Gateway, GatewayRules,
    InDoubt, Legs, MessageId, NumberPlan, Preference, Price, SenderId, SenderStatus, Tariff,
    Verification, sender,
};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::HashMap;

const NOW_MS: i64 = 1_795_000_000_000;

fn gateway(gateway: Gateway, naira: i64) -> GatewayRules {
    let base = Price {
        plain: Money::from_naira(naira),
        unicode: Money::from_naira(2 * naira + 1),
    };
    let promotional = matches!(gateway, Gateway::DirectRefund | Gateway::DualBackup);
    GatewayRules {
        gateway,
        tariff: Tariff {
            base,
            networks: Vec::new(),
            accounts: HashMap::new(),
        },
        preference: Preference {
            default: vec![0],
            networks: Vec::new(),
        },
        refund_undelivered: gateway == Gateway::DirectRefund,
        transactional: !promotional,
        respects: domain::Respected {
            opt_outs: promotional,
            dnd: false,
        },
        in_doubt: InDoubt::Hold,
        receipt_timeout_ms: 1,
        validity_ms: 1,
        legs: (gateway == Gateway::DualBackup).then_some(Legs {
            first: Gateway::DirectRefund,
            second: Gateway::DirectCorporate,
            timeout_ms: 120_000,
        }),
        quiet_hours: None,
    }
}

/// Returns rules by which one network is sent over a carrier that rewrites the sender.
fn rules() -> Rulebook {
    let plan = NumberPlan::nigeria();
    let glo = plan.networks().iter().position(|name| name == "glo");
    let mut refund = gateway(Gateway::DirectRefund, 6);
    refund.preference.networks = vec![None; plan.networks().len()];
    refund.preference.networks[glo.unwrap()] = Some(vec![1]);
    let carrier = |name: &str, rewrites_sender| CarrierRules {
        name: name.to_owned(),
        rewrites_sender,
        takes_binary: true,
    };
    Rulebook {
        plan,
        carriers: vec![carrier("mtn", false), carrier("hosted", true)],
        gateways: vec![
            refund,
            gateway(Gateway::DirectCorporate, 8),
            gateway(Gateway::DualBackup, 0),
        ],
        code_words: CodeWords::standard(),
        max_recipients: 4,
        private_callbacks: false,
    }
}

fn customer() -> Customer {
    let sender = |name: &str, status| {
        let sender = SenderId {
            name: name.to_owned(),
            status,
            purpose: String::new(),
            international: false,
            approved_at_ms: None,
            rejection_reason: None,
        };
        (sender::key(name), sender)
    };
    Customer {
        account: Account {
            id: AccountId(7),
            email: String::new(),
            name: String::new(),
            status: AccountStatus::Active,
            verification: Verification::Verified,
            created_at_ms: 0,
        },
        senders: HashMap::from([
            sender("Ogene", SenderStatus::Approved),
            sender("Waiting", SenderStatus::Pending),
        ]),
        resale: None,
    }
}

/// Values of which the first ones are the most frequent, and `None`.
fn mostly(
    good: &'static [&'static str],
    bad: &'static [&'static str],
) -> impl Strategy<Value = Option<String>> {
    prop_oneof![
        20 => select(good).prop_map(|text| Some(text.to_owned())),
        1 => select(bad).prop_map(|text| Some(text.to_owned())),
        1 => Just(None),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z €ẹ]{1,330}",
        2 => "[ -~]{0,40}[é₦😀]{0,80}",
        1 => select(&["Your OTP is 482913", "The casino is open", " ", "{name}", "😀"][..])
            .prop_map(str::to_owned),
    ]
}

fn fields() -> impl Strategy<Value = SendFields> {
    let to = "(2348031234567|08051234567|07091234567|2348051234568|12345|)(,08031234567|,08051234567|,1){0,4}";
    let times = (
        mostly(&[""], &["2020-01-01 10:00:00", "soon"]),
        mostly(&["", "600"], &["59", "x"]),
    );
    let marks = (
        mostly(&["0", "1"], &["perhaps"]),
        mostly(&["none", "hosted", "all"], &["some"]),
    );
    let others = (
        mostly(
            &["", "https://shop.example.ng/"],
            &["ftp://x", "http://127.0.0.1/"],
        ),
        mostly(&["order-1"], &["\0"]),
    );
    let gateway = mostly(
        &["", "direct-refund", "direct-corporate", "dual-backup"],
        &["otp", "premium"],
    );
    let from = mostly(&["Ogene", " ogene "], &["Waiting", "Nobody", "?", " "]);
    (from, to, text(), gateway, marks, times, others).prop_map(
        |(from, to, body, gateway, marks, times, others)| SendFields {
            from,
            to: Some(to),
            body: Some(body),
            gateway,
            dnd: None,
            unicode: marks.0,
            append_sender: marks.1,
            callback_url: others.0,
            customer_reference: others.1,
            send_at: times.0,
            validity: times.1,
            ignored: vec!["nobody_reads_it".to_owned()],
        },
    )
}

fn csv() -> impl Strategy<Value = String> {
    let number = select(&["2348031234567", "08051234567", "07091234567", "1", ""][..]);
    let row = (number, "[a-zé€😀]{0,90}", "[a-z]{0,90}")
        .prop_map(|(to, name, body)| format!("{to},{name},{body}\n"));
    proptest::collection::vec(row, 0..6).prop_map(|rows| format!("to,name,body\n{}", rows.concat()))
}

/// Returns the request for a send, and for its quote.
fn requests(fields: &SendFields, csv: Option<&str>) -> Option<[SendRequest; 2]> {
    let request = || {
        Some(match csv {
            None => SendRequest::Shared(fields.clone()),
            Some(csv) => {
                let fields = SendFields {
                    to: None,
                    ..fields.clone()
                };
                SendRequest::Personalised(fields, read_csv(csv.as_bytes(), 5).ok()?)
            }
        })
    };
    Some([request()?, request()?])
}

/// The recipients who opted out.
fn unwanted() -> Unwanted {
    Unwanted {
        opted_out: [Recipient::from_digits(2_348_051_234_568)].into(),
        ..Unwanted::default()
    }
}

/// Checks that a quote shows what the send charges, or is refused alike.
fn check(requests: [SendRequest; 2]) -> Result<(), TestCaseError> {
    let (customer, rules) = (customer(), rules());
    let prohibited = Prohibited::new(&["casino".to_owned()]);
    let [of_send, of_quote] = requests;
    let live = Environment::Live;
    let body = of_quote.body();
    let prepare = |request: SendRequest| {
        let mut drafted = request.draft(&customer, live, &rules, &prohibited, NOW_MS)?;
        drafted.leave_out(&unwanted())?;
        Ok::<_, Refusal>(drafted)
    };
    let drafted = prepare(of_send).map(Drafted::into_draft);
    let quoted = prepare(of_quote).map(|drafted| drafted.into_quote(body.as_deref(), &rules));
    let (draft, quote) = match (drafted, quoted) {
        (Ok(draft), Ok((_, quote))) => (draft, quote),
        (drafted, quoted) => {
            prop_assert_eq!(drafted.err(), quoted.err());
            return Ok(());
        }
    };
    let id = MessageId::new(NOW_MS, [7; 10]);
    let sent = Sent::new(&draft, id, Money::ZERO);
    prop_assert_eq!(quote.cost, sent.cost);
    prop_assert_eq!(quote.page_count, sent.page_count);
    prop_assert_eq!(quote.alphabet == Alphabet::Ucs2, sent.unicode);
    prop_assert_eq!(quote.recipients_count, sent.recipients_count);
    prop_assert_eq!(quote.invalid, sent.invalid_recipients);
    prop_assert_eq!(quote.left_out, sent.left_out);
    let is_sent = |one| draft.recipients.contains(one);
    prop_assert!(!unwanted().opted_out.iter().any(is_sent));
    prop_assert_eq!(quote.adjustments, sent.adjustments);
    // The charge of the classes is what the transaction draws and refunds.
    let of_classes = |charge: fn(&domain::Class) -> i64| -> i64 {
        let count = |class: &domain::Class| i64::try_from(class.recipients.len()).unwrap();
        draft
            .classes
            .iter()
            .map(|class| charge(class) * count(class))
            .sum()
    };
    prop_assert_eq!(quote.pages_total, of_classes(|class| class.pages));
    prop_assert_eq!(quote.cost.units(), of_classes(|class| class.charge.units()));
    if let Some(own) = sent.personalised {
        prop_assert_eq!(quote.pages_total, own.pages_total);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_quote_is_what_the_send_charges_or_its_refusal(fields in fields()) {
        if let Some(requests) = requests(&fields, None) {
            check(requests)?;
        }
    }

    #[test]
    fn a_quote_of_rows_is_what_the_send_charges(fields in fields(), csv in csv()) {
        if let Some(requests) = requests(&fields, Some(&csv)) {
            check(requests)?;
        }
    }
}
