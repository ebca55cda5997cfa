//! The counter of a send equals the bill, for generated texts.
//!
//! Each text goes through the forms of the console: the counter, and then the send. The bill is what
//! the ledger has. A text without a price must be refused, and must cost nothing.

use super::file::uploaded;
use super::{Browser, member, token};
use crate::kit::http::Answer;
use crate::kit::{Ogene, SENDER, Setup};
use domain::Money;
use domain::user::role::Role;
use std::collections::HashMap;
use std::fmt::Write as _;
use tokio::task::JoinSet;

/// Number of texts. With `OGENE_LONG` there are more.
const TEXTS: u64 = 2_000;
const MANY_TEXTS: u64 = 100_000;
/// The customers that send at the same time.
const CUSTOMERS: u64 = 4;
const CREDIT: &str = "90000000.00";
/// One text in so many is sent to a file, with placeholders.
const FILES: u64 = 20;
/// The percentage of texts that must have a price, so that the test compares much.
const LEAST_PRICED: usize = 60;

const GATEWAYS: [&str; 5] = [
    "direct-refund",
    "direct-corporate",
    "otp",
    "dual-backup",
    "international",
];
/// Words of texts, by what they need: plain GSM, the rest of its table, its extension table,
/// characters that are made plain, characters that are removed, UCS-2, emoji, and placeholders.
const PIECES: [&[&str]; 8] = [
    &[
        "Dear ",
        "customer ",
        "your ",
        "parcel ",
        "is ",
        "here. ",
        "Pay ",
        "5,000 ",
        "a",
        " ",
        "\n",
        "\r\n",
        "7",
    ],
    &[
        "@", "£", "¥", "è", "é", "ù", "ì", "ò", "Ç", "Ø", "ø", "Å", "å", "Δ", "_", "Φ", "Ω", "Æ",
        "æ", "ß", "É", "¤", "¡", "Ä", "Ñ", "§", "¿", "ü", "à",
    ],
    &["^", "{", "}", "\\", "[", "~", "]", "|", "€"],
    &[
        "“", "”", "‘", "’", "–", "—", "…", "\u{a0}", "\t", "•", "´", "`", "ç", "ﬁ", "½", "™",
        "\u{2028}",
    ],
    &[
        "\u{200b}", "\u{feff}", "\u{ad}", "\u{7}", "\u{0}", "\u{200d}", "\u{200e}", "\u{1b}",
        "\u{fffd}",
    ],
    &[
        "ẹ",
        "ọ̀",
        "ṣ",
        "ń",
        "ɗ",
        "ƙ",
        "₦",
        "مرحبا",
        "你好",
        "Ж",
        "e\u{301}",
        "č",
    ],
    &["😀", "👍🏽", "👩‍👩‍👧‍👦", "🇳🇬", "❤️", "1️⃣", "\u{10ffff}"],
    &["{name}", "{Name}", "{", "}", "{{", "{ due }", "{}"],
];
/// Lengths around the ends of pages: of GSM and of UCS-2, and of texts that are too long.
const LENGTHS: [u64; 14] = [
    1, 20, 66, 70, 71, 134, 135, 153, 160, 161, 306, 307, 460, 1_600,
];
/// The begins of numbers: four networks, abroad, and numbers that are not valid.
const BEGINS: [&str; 7] = [
    "234803", "234802", "234805", "234809", "+447911", "080", "99",
];

/// A sequence of pseudo-random numbers (splitmix64), which a seed repeats.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> usize {
        usize::try_from(self.next() % end).expect("it is small")
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64)]
    }
}

/// Returns a text that mixes a few kinds of pieces, and about ends where a page ends.
fn text(chance: &mut Chance) -> String {
    let kinds: Vec<&[&str]> = (0..=chance.below(3))
        .map(|_| *chance.one_of(&PIECES))
        .collect();
    let length = *chance.one_of(&LENGTHS) + chance.next() % 4;
    let mut text = String::new();
    while (text.chars().count() as u64) < length {
        // Most of a text is plain.
        let kind = if chance.below(4) == 0 {
            *chance.one_of(&kinds)
        } else {
            PIECES[0]
        };
        text.push_str(kind[chance.below(kind.len() as u64)]);
    }
    if chance.below(3) == 0 {
        // Such a text has nothing but its kinds.
        text.clear();
        while (text.chars().count() as u64) < length {
            let kind = *chance.one_of(&kinds);
            text.push_str(kind[chance.below(kind.len() as u64)]);
        }
    }
    text
}

/// Returns some numbers, of which the first is valid and belongs to this text alone.
fn numbers(chance: &mut Chance, number: u64) -> String {
    let mut all = (2_348_031_000_000 + number).to_string();
    for _ in 0..chance.below(6) {
        let separator = chance.one_of(&[",", "\r\n", " , ", ";"]);
        let (begin, rest) = (chance.one_of(&BEGINS), chance.below(9_000_000) + 1_000_000);
        // Writing to a string does not fail.
        let _ = write!(all, "{separator}{begin}{rest}");
    }
    all
}

/// Returns a file of recipients, some of whose cells are empty.
fn rows(chance: &mut Chance, number: u64) -> String {
    let mut file = "Phone,Name,Due\n".to_owned();
    for row in 0..=chance.below(8) as u64 {
        let name = chance.one_of(&[
            "Ada",
            "Ọlá",
            "Zoë 😀",
            "N’Golo",
            "",
            "A very long name of a customer",
        ]);
        let _ = writeln!(
            file,
            "{},{name},{} May",
            2_348_031_000_000 + number * 8 + row,
            row + 1
        );
    }
    file
}

/// The figures that a counter shows.
struct Shown {
    cost: Money,
    pages: String,
}

fn shown(counter: &Answer) -> Option<Shown> {
    assert_eq!(counter.status, 200, "{}", counter.text());
    let figure = |label: &str| {
        let start = format!("{label}</span> <span class=\"figure-value\">");
        let (_, rest) = counter.text().split_once(&start)?;
        let text = rest.split("</span>").next()?;
        Some(
            text.replace("<small>", "")
                .replace("</small>", "")
                .replace(['₦', ','], ""),
        )
    };
    Some(Shown {
        cost: figure("Cost")?.parse().ok()?,
        pages: figure("Pages")?,
    })
}

/// A message that was sent, with what its counter showed.
struct Sent {
    message: String,
    cost: Money,
    /// The pages of the longest text, where the counter shows them.
    pages: Option<String>,
    what: String,
}

/// A customer, and its browser.
struct Sender {
    browser: Browser,
    csrf: String,
    sent: Vec<Sent>,
}

impl Sender {
    async fn start(ogene: &Ogene) -> Self {
        let customer = ogene.customer(CREDIT).await;
        let (mut browser, _) = member(ogene, Some(customer.id), Role::Owner).await;
        let csrf = token(&browser.get("/console/send").await);
        Self {
            browser,
            csrf,
            sent: Vec::new(),
        }
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let csrf = self.csrf.clone();
        let mut all = fields.to_vec();
        all.push(("csrf_token", &csrf));
        self.browser.post(path, &all).await
    }

    /// Counts a text and sends it, to typed numbers or to a file.
    async fn try_one(&mut self, chance: &mut Chance, number: u64) {
        let (body, gateway) = (text(chance), *chance.one_of(&GATEWAYS));
        let key = format!("counter-{number}");
        let mut fields = vec![("from", SENDER), ("body", &*body), ("gateway", gateway)];
        let is_file = number.is_multiple_of(FILES);
        let (to, file) = (numbers(chance, number), rows(chance, number));
        let path = if is_file {
            fields.extend([("mapped", "yes"), ("number", "0"), ("header", "yes")]);
            uploaded(&mut self.browser, &file).await
        } else {
            fields.push(("to", &to));
            "/console/send".to_owned()
        };
        let what = format!(
            "text {number}, {gateway}, {body:?} to {}",
            if is_file { &file } else { &to }
        );
        let counter = self.post(&format!("{path}/count"), &fields).await;
        fields.extend([("key", &*key), ("messages", "1")]);
        let target = if is_file {
            format!("{path}/send")
        } else {
            path.clone()
        };
        let answer = self.post(&target, &fields).await;
        let location = answer.header("location").unwrap_or_default();
        match shown(&counter) {
            None => {
                // A file whose rows are all left out makes no message.
                let is_empty = is_file && location == "/console/messages";
                assert!(
                    is_empty || answer.status == 422,
                    "{what}: no price, and {location}"
                );
            }
            Some(Shown { cost, pages }) => {
                assert_eq!(answer.status, 303, "{what}: a price, and {}", answer.text());
                let message = location
                    .strip_prefix("/console/messages/")
                    .expect("a message");
                self.sent.push(Sent {
                    message: message.replace('-', ""),
                    cost,
                    pages: (!is_file).then_some(pages),
                    what,
                });
            }
        }
        if is_file {
            self.post(&format!("{path}/delete"), &[]).await;
        }
    }
}

/// Returns the pages and the charge of each message, as the database has them.
fn bills(ogene: &Ogene) -> HashMap<String, (String, Money)> {
    let hex = match ogene.serves_embedded() {
        Some(_) => "lower(hex(m.message_id))",
        None => "encode(m.message_id, 'hex')",
    };
    let lines = ogene.sql(&format!(
        "select {hex}, m.page_count, -sum(l.amount) from messages m
         join ledger l on l.subject = m.message_id and l.kind = 'charge'
         group by m.message_id, m.page_count"
    ));
    let bill = |line: &str| {
        let mut parts = line.split('|');
        let mut next = || parts.next().expect("a column").to_owned();
        let (message, pages, charge) = (next(), next(), next());
        let charge = Money::from_units(charge.parse().expect("a number"));
        (message, (pages, charge))
    };
    lines.lines().map(bill).collect()
}

async fn start() -> Ogene {
    let most = "1000000";
    Setup::new()
        .set("limits.sends_per_minute", most)
        .set("limits.reads_per_minute", most)
        .set(
            "gateways.direct-refund.prices",
            r#"{ airtel = "6.5025", glo = { price = "5.10", unicode_price = "9.75" } }"#,
        )
        .set("gateways.direct-corporate.prices", r#"{ mtn = "7.35" }"#)
        .start()
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_counter_equals_the_bill_of_generated_texts() {
    let is_long = std::env::var_os("OGENE_LONG").is_some();
    let texts = if is_long { MANY_TEXTS } else { TEXTS };
    let seed = std::env::var("OGENE_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let ogene = start().await;
    let mut senders = JoinSet::new();
    for place in 0..CUSTOMERS {
        let mut sender = Sender::start(&ogene).await;
        senders.spawn(async move {
            for number in (place..texts).step_by(usize::try_from(CUSTOMERS).expect("few")) {
                sender
                    .try_one(&mut Chance(seed ^ (number << 20)), number)
                    .await;
            }
            sender.sent
        });
    }
    let sent: Vec<Sent> = senders.join_all().await.into_iter().flatten().collect();
    let bills = bills(&ogene);
    assert_eq!(bills.len(), sent.len(), "each message was counted");
    for Sent {
        message,
        cost,
        pages,
        what,
    } in &sent
    {
        let (charged_pages, charge) = bills
            .get(message)
            .unwrap_or_else(|| panic!("no bill: {what}"));
        assert_eq!(
            charge, cost,
            "seed {seed}, {what}: the charge and the counter"
        );
        if let Some(pages) = pages {
            assert_eq!(
                charged_pages, pages,
                "seed {seed}, {what}: the pages and the counter"
            );
        }
    }
    let priced = sent.len() * 100 / usize::try_from(texts).expect("it is small");
    assert!(
        priced >= LEAST_PRICED,
        "only {priced} % of the texts have a price"
    );
    ogene.end().await;
}
