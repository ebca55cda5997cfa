//! Distinguishes codes from other runs of letters and digits: amounts, dates, times, phone and
//! account numbers, USSD codes, parts of addresses and others.

use super::phrase::{Words, is_one_of};
use std::ops::Range;

/// Number of letters and digits of a code.
const CODE_LENGTH: std::ops::RangeInclusive<usize> = 4..=8;
/// Number of digits from which groups form a phone, account, meter or card number.
const LONG_NUMBER: usize = 9;
/// Currencies that precede an amount without a space.
const CURRENCIES: &str = "n ngn usd gbp rs";
/// Units that follow a quantity or a time without a space.
const UNITS: &str = "k m b g l x kg gb mb tb kb km cm mm ml cl hp kv kva kwh sqm mah am pm h hr \
    hrs min mins sec secs day days wks st nd rd th naira pcs";
/// Words that may directly precede a code: `use 482913`.
const BEFORE_CODE: &str = "is code codes otp pin passcode password pass token use using enter \
    input type provide submit quote with as be are share disclose p";
/// Words whose number is no code, even after a colon: `Room: 1204`.
const NO_CODE_AFTER: &str = "amount amt bal balance total fee fees price cost due levy dues room \
    seat hall gate plot block flat house shop ref reference rrn rrr id no number acct acc ac \
    card invoice order ticket time date tel call phone units points score serial terminal \
    booking pickup table";
/// Words that may follow a code. Before any other word a number is a quantity: `1250 outlets`.
const AFTER_CODE: &str = "is to as for and or if it this do dont don will expires valid in on at \
    within your the by when before please kindly now never not use with into one login \
    verification code thanks thank regards enter call expire";
/// Words of advertising.
const OFFERS: &str = "promo discount coupon voucher off offer offers refer referral invite";

/// A run with the length and form of a code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Returns all runs that may be a code by themselves and by the adjacent characters.
pub(super) fn candidates(text: &str) -> Vec<Code> {
    let mut codes = Vec::new();
    let mut words = Words::of(text).peekable();
    while let Some(word) = words.next() {
        if !is_number(&text[word.clone()]) {
            codes.extend(mixed(text, &word));
            continue;
        }
        let mut groups = vec![word];
        while let Some(next) = words.next_if(|next| continues(text, &groups, next)) {
            groups.push(next);
        }
        codes.extend(from_groups(text, &groups));
    }
    codes
}

/// Returns the likely codes without an assignment by a code word. They are not in an offer, are no
/// year or round amount, and are between words that go with a code.
pub(super) fn likely(codes: Vec<Code>, text: &str) -> Vec<Code> {
    if is_offer(text) {
        return Vec::new();
    }
    let is_likely = |code: &Code| {
        code.looks_likely(text) && code.fits_the_word_before(text) && code.fits_the_word_after(text)
    };
    codes.into_iter().filter(is_likely).collect()
}

impl Code {
    fn looks_likely(&self, text: &str) -> bool {
        let spelled = &text[self.start..self.end];
        if is_number(spelled) {
            !is_year(spelled) && !is_round(spelled)
        } else {
            is_likely_mixed(spelled)
        }
    }

    fn fits_the_word_before(&self, text: &str) -> bool {
        let before = &text[..self.start];
        let (rest, word, between) = cut_last_word(before);
        if word.is_empty() || between.contains(['.', '!', '?', ',', ';', '\n']) {
            return true;
        }
        match between {
            // INV-48291
            "-" => word.len() <= 2 || is_one_of(word, BEFORE_CODE),
            // Ref is 48291
            " " if is_one_of(word, "is") => !is_one_of(cut_last_word(rest).1, NO_CODE_AFTER),
            " " => is_one_of(word, BEFORE_CODE) || self.begins_a_statement(text),
            _ => !is_one_of(word, NO_CODE_AFTER),
        }
    }

    /// Returns `true` for `Hi Tunde 482913 is your OTP`.
    fn begins_a_statement(&self, text: &str) -> bool {
        text[self.end..].starts_with(" is ")
    }

    fn fits_the_word_after(&self, text: &str) -> bool {
        let Some(after) = text[self.end..].strip_prefix(' ') else {
            return true;
        };
        let word = first_word(after);
        word.is_empty() || is_one_of(word, AFTER_CODE)
    }
}

/// Returns the text before its last word, the word, and the text after it.
fn cut_last_word(text: &str) -> (&str, &str, &str) {
    let to_end = text.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    let word = last_word(to_end);
    let (rest, between) = (&to_end[..to_end.len() - word.len()], &text[to_end.len()..]);
    (rest, word, between)
}

/// Returns `true` if a group of digits continues with the next one: `0803 123 4567`, `12-05-2026`.
fn continues(text: &str, groups: &[Range<usize>], next: &Range<usize>) -> bool {
    let end = groups.last().map_or(0, |group| group.end);
    matches!(&text[end..next.start], " " | "-" | "." | " - ") && is_number(&text[next.clone()])
}

/// Returns the codes in groups of digits that belong together.
fn from_groups(text: &str, groups: &[Range<usize>]) -> Vec<Code> {
    let (first, last) = (&groups[0], &groups[groups.len() - 1]);
    let whole = Code {
        start: first.start,
        end: last.end,
    };
    if groups.len() == 1 {
        return Vec::from_iter(is_code(text, &whole).then_some(whole));
    }
    let spelled = &text[whole.start..whole.end];
    let digits: usize = groups.iter().map(Range::len).sum();
    let has_year = groups.iter().any(|group| is_year(&text[group.clone()]));
    // 482 913 and 4 8 2 9, but not 12-05-26 or 2.5
    let is_one_code = CODE_LENGTH.contains(&digits)
        && groups
            .iter()
            .all(|group| group.len() == first.len() && group.len() != 2)
        && !has_year
        && !spelled.contains('.');
    if is_one_code {
        return Vec::from_iter(touches_nothing(text, &whole).then_some(whole));
    }
    if digits >= LONG_NUMBER || spelled.contains(['-', '.']) {
        return Vec::new();
    }
    let each = groups.iter().map(|group| Code {
        start: group.start,
        end: group.end,
    });
    each.filter(|code| is_code(text, code)).collect()
}

/// Returns a code of letters and digits.
fn mixed(text: &str, word: &Range<usize>) -> Option<Code> {
    let code = Code {
        start: word.start,
        end: word.end,
    };
    let spelled = &text[word.clone()];
    let has_digit = spelled.bytes().any(|byte| byte.is_ascii_digit());
    (has_digit && !is_amount_or_quantity(spelled) && is_code(text, &code)).then_some(code)
}

fn is_code(text: &str, code: &Code) -> bool {
    CODE_LENGTH.contains(&(code.end - code.start)) && touches_nothing(text, code)
}

/// Returns `true` if the adjacent characters leave the run a word of its own.
fn touches_nothing(text: &str, code: &Code) -> bool {
    let (before, after) = (&text[..code.start], &text[code.end..]);
    touches_nothing_before(before) && touches_nothing_after(after)
}

fn touches_nothing_before(before: &str) -> bool {
    let mut characters = before.chars().rev();
    let touching = characters.next();
    let beyond = characters.next();
    match touching {
        None => true,
        Some(
            '₦' | '$' | '£' | '€' | '#' | '*' | '/' | '@' | '_' | '\\' | '&' | '+' | '%' | '~'
            | '?',
        ) => false,
        // N 5000
        Some(' ') => !is_one_of(last_word(before.trim_end()), "n ngn usd gbp naira"),
        // 10:30, 5,000
        Some(':' | ',') => !beyond.is_some_and(|c| c.is_ascii_digit()),
        // www.shop2.ng, 2.50
        Some('.' | '=') => !beyond.is_some_and(char::is_alphanumeric),
        // G-482913, OTP-482913; 14-482913 is part of a longer number.
        Some('-') => !last_word(&before[..before.len() - 1]).contains(|c: char| c.is_ascii_digit()),
        Some(other) => !other.is_alphanumeric(),
    }
}

fn touches_nothing_after(after: &str) -> bool {
    let mut characters = after.chars();
    let touching = characters.next();
    let beyond = characters.next();
    match touching {
        None => true,
        Some('*' | '#' | '/' | '@' | '%' | '_' | '=' | '+' | '&' | '\\') => false,
        Some(':' | ',') => !beyond.is_some_and(|c| c.is_ascii_digit()),
        Some('.') => !beyond.is_some_and(|c| c.is_ascii_digit() || c.is_ascii_lowercase()),
        Some('-') => !beyond.is_some_and(char::is_alphanumeric),
        // 5000 naira
        Some(' ') => !is_one_of(first_word(after.trim_start()), "naira ngn kobo only per"),
        Some(other) => !other.is_alphanumeric(),
    }
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default()
}

fn last_word(text: &str) -> &str {
    text.rsplit(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default()
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns `true` for `N5000`, `10GB` and `1030hrs`.
fn is_amount_or_quantity(word: &str) -> bool {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let currency = word.trim_end_matches(|c: char| c.is_ascii_digit());
    is_one_of(unit, UNITS) || is_one_of(currency, CURRENCIES)
}

fn is_year(number: &str) -> bool {
    number.len() == 4 && (number.starts_with("19") || number.starts_with("20"))
}

/// Returns `true` for a round number, which is more often an amount than a code.
fn is_round(number: &str) -> bool {
    number.ends_with("00") && number.len() <= 5 || number.ends_with("000")
}

/// Returns `true` if the text is an offer, whose code is for a discount.
fn is_offer(text: &str) -> bool {
    Words::of(text).any(|word| is_one_of(&text[word], OFFERS))
}

/// Returns `true` for upper-case letters mixed with digits: `A7K9Q2` and `KD48291`, but not
/// `SAVE20`.
fn is_likely_mixed(word: &str) -> bool {
    let letters_first = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digits_after = word
        .bytes()
        .skip(letters_first)
        .all(|byte| byte.is_ascii_digit());
    let is_name_with_number = letters_first > 2 && digits_after;
    !word.bytes().any(|byte| byte.is_ascii_lowercase()) && !is_name_with_number
}
