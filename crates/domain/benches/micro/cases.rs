//! The measured cases, for time and allocations.

mod sending;

use domain::{
    Account, AccountId, AccountStatus, CarrierRules, CodeWords, Customer, Environment, Gateway,
    GatewayRules, InDoubt, Money, NumberPlan, Preference, Price, Prohibited, Rulebook, SendFields,
    SenderId, SenderStatus, Tariff, Text, Verification, parse_national, read_recipients, sender,
    token,
};
use std::collections::HashMap;
use std::hint::black_box;

/// A measurement of repeated work.
pub(crate) trait Measure {
    fn case<T>(&mut self, name: &str, work: impl FnMut() -> T);
}

/// A page of ordinary text.
const PLAIN: &str = "Dear customer, your order 10482 has left our shop in Yaba and reaches you \
    tomorrow before noon. Call 0803 123 4567 to change the address. Thank you.";
/// A typical page with quotes, a dash, the naira sign, letters with hooks and tones, and an emoji.
const WRITTEN: &str = "Ẹ káàbọ̀! “Big sale” – up to ₦5,000 off everything in the shop… Don’t miss it 🎉 \
    this Saturday, 10am – 4pm. Ọjà tuntun has come.";
/// A one-time password.
const CODE: &str = "Your Ogene verification code is 482913. It expires in 10 minutes. Do not share \
    it with anybody, we never ask for it.";

pub(crate) fn measure(to: &mut impl Measure) {
    texts(to);
    tokens(to);
    numbers(to);
    content(to);
    accept(to);
    sending::measure(to);
}

fn texts(to: &mut impl Measure) {
    let prepare = |body| Text::prepare(black_box(body), false);
    to.case("text: prepare a plain one", || prepare(PLAIN));
    to.case("text: make a written one plain", || prepare(WRITTEN));
    to.case("text: prepare a Unicode one", || {
        Text::prepare(black_box(WRITTEN), true)
    });

    let one = Text::from_stored(PLAIN.to_owned());
    let ten = Text::from_stored("a".repeat(1_530));
    let unicode = Text::from_stored("ẹ".repeat(670));
    for (name, text) in [("one", one), ("ten", ten), ("ten Unicode", unicode)] {
        to.case(&format!("pages: count {name}"), || {
            black_box(&text).page_count()
        });
        to.case(&format!("pages: cut {name}"), || black_box(&text).pages());
    }
}

/// The check of a token before its lookup.
fn tokens(to: &mut impl Measure) {
    let made = token::make(&[7; token::RANDOM_BYTES]).unwrap_or_default();
    let altered = made.replace("ogl_7", "ogl_8");
    let long = "x".repeat(8_000);
    for (name, text) in [
        ("junk of its length", &altered),
        ("junk of 8 kB", &long),
        ("a good one", &made),
    ] {
        to.case(&format!("token: judge {name}"), || {
            token::is_well_formed(black_box(text))
        });
    }
    to.case("token: hash", || token::hash(black_box(&made)));
}

/// A list of different numbers in local form.
fn list(count: usize) -> String {
    let numbers: Vec<String> = (0..count)
        .map(|index| format!("0803{:07}", index * 7_919 % 10_000_000))
        .collect();
    numbers.join(",")
}

fn numbers(to: &mut impl Measure) {
    to.case("number: parse one", || {
        parse_national(black_box("+234 803 123 4567"))
    });
    for count in [1_000, 100_000] {
        let list = list(count);
        to.case(&format!("number: read a list of {count}"), || {
            read_recipients(black_box(&list), parse_national, count)
        });
    }
}

fn content(to: &mut impl Measure) {
    let words = CodeWords::standard();
    to.case("content: an ordinary text", || {
        words.transactional(black_box(PLAIN))
    });
    to.case("content: a one-time password", || {
        words.transactional(black_box(CODE))
    });
    let prohibited = Prohibited::new(&["casino".to_owned(), "double your money".to_owned()]);
    to.case("content: two prohibited phrases", || {
        prohibited.find(black_box(PLAIN)).is_some()
    });
}

/// The whole decision on a send, without the checks that need the database. It consumes the fields,
/// so they are copied each time.
fn accept(to: &mut impl Measure) {
    let (customer, rules, prohibited) = (customer(), rules(), Prohibited::default());
    for count in [1, 1_000, 100_000] {
        let fields = SendFields {
            from: Some("Ogene".to_owned()),
            to: Some(list(count)),
            body: Some(PLAIN.to_owned()),
            ..SendFields::default()
        };
        to.case(&format!("accept: {count}"), || {
            domain::draft(
                fields.clone(),
                &customer,
                Environment::Live,
                &rules,
                &prohibited,
                0,
            )
        });
    }
}

fn customer() -> Customer {
    let approved = SenderId {
        name: "Ogene".to_owned(),
        status: SenderStatus::Approved,
        purpose: String::new(),
        international: false,
        approved_at_ms: None,
        rejection_reason: None,
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
        senders: HashMap::from([(sender::key("Ogene"), approved)]),
        resale: None,
    }
}

fn rules() -> Rulebook {
    let base = Price {
        plain: Money::from_naira(6),
        unicode: Money::from_naira(12),
    };
    let refund = GatewayRules {
        gateway: Gateway::DirectRefund,
        tariff: Tariff {
            base,
            networks: Vec::new(),
            accounts: HashMap::new(),
        },
        preference: Preference {
            default: vec![0],
            networks: Vec::new(),
        },
        refund_undelivered: true,
        transactional: false,
        in_doubt: InDoubt::Hold,
        receipt_timeout_ms: 1,
        validity_ms: 1,
        legs: None,
        respects: domain::Respected {
            opt_outs: true,
            dnd: false,
        },
        quiet_hours: None,
    };
    Rulebook {
        plan: NumberPlan::nigeria(),
        carriers: vec![CarrierRules {
            name: "mtn".to_owned(),
            rewrites_sender: false,
            takes_binary: true,
        }],
        gateways: vec![refund],
        code_words: CodeWords::standard(),
        max_recipients: 100_000,
        private_callbacks: false,
    }
}
