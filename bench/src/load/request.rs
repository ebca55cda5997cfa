//! The requests of the load, whose recipients and numbers are filled in for each send.

use crate::site::{SENDER_ID, Site};
use std::sync::Arc;

/// Digits of a recipient.
pub(crate) const RECIPIENT_DIGITS: usize = 13;
/// Digits of the number in a text.
pub(crate) const NUMBER_DIGITS: usize = 8;
/// The text before the number in every message.
pub(crate) const BEFORE_NUMBER: &str = "Your order ";
/// The text after it.
const AFTER_NUMBER: &str = " is on its way. Thank you for shopping with Ada Foods.";
const JSON: &str = "application/json";
/// Numbers from 0801 to 0809, which are valid in every number plan of the service.
pub(crate) const NUMBERS: u64 = 90_000_000;
/// A number prime to [`NUMBERS`], so that prefixes are mixed and no number repeats.
const STEP: u64 = 61_803_399;
/// A number prime to any number of accounts, so that all of them take turns.
const APART: u64 = 6_180_331;

/// A send request. Its recipients and its number are filled in for each send.
#[derive(Clone)]
pub(crate) struct Request {
    octets: Vec<u8>,
    recipients_at: usize,
    recipients: usize,
    /// Octets from one recipient to the next.
    apart: usize,
    /// Octets from a recipient to the number of its own text, in a personalised send.
    own_number: Option<usize>,
    /// The place where the first recipient is repeated.
    again_at: Option<usize>,
    /// The places of the number of the request: in its text, and in its `Idempotency-Key`.
    numbers_at: Vec<usize>,
    tokens: Arc<[String]>,
    token_at: usize,
}

impl Request {
    pub(crate) fn new(site: &Site, recipients: usize, callback_url: Option<&str>) -> Self {
        let callback = callback_url.map(|url| format!(r#","callback_url":"{url}""#));
        Self::with(site, recipients, &callback.unwrap_or_default())
    }

    /// Returns a request that names its gateway.
    pub(crate) fn over(site: &Site, gateway: &str, recipients: usize) -> Self {
        Self::with(site, recipients, &format!(r#","gateway":"{gateway}""#))
    }

    /// Returns a request with more fields, which begin with a comma.
    pub(crate) fn with(site: &Site, recipients: usize, more: &str) -> Self {
        let to = vec!["0".repeat(RECIPIENT_DIGITS); recipients].join(",");
        let number = "0".repeat(NUMBER_DIGITS);
        let before_to = format!(r#"{{"from":"{SENDER_ID}","to":""#);
        let before_number = format!(r#"","body":"{BEFORE_NUMBER}"#);
        let body = format!("{before_to}{to}{before_number}{number}{AFTER_NUMBER}\"{more}}}");
        let head = Head::of(site, "/sms", JSON, "", body.len());
        let body_at = head.text.len();
        Self {
            recipients_at: body_at + before_to.len(),
            apart: RECIPIENT_DIGITS + 1,
            own_number: None,
            numbers_at: vec![body_at + before_to.len() + to.len() + before_number.len()],
            recipients,
            again_at: None,
            tokens: site.tokens.as_slice().into(),
            token_at: head.token_at,
            octets: (head.text + &body).into_bytes(),
        }
    }

    /// Returns a request with a key of its own, so that it may be repeated.
    pub(crate) fn keyed(site: &Site, recipients: usize, more: &str) -> Self {
        const BEFORE_KEY: &str = "Idempotency-Key: bench-";
        let mut request = Self::with(site, recipients, more);
        // The key stands before the first header, so that all later places move alike.
        let line = format!("{BEFORE_KEY}{}\r\n", "0".repeat(NUMBER_DIGITS));
        let at = request.octets.iter().position(|&octet| octet == b'\n');
        let at = at.map_or(0, |end| end + 1);
        request.octets.splice(at..at, line.bytes());
        request.token_at += line.len();
        request.recipients_at += line.len();
        request.numbers_at[0] += line.len();
        request.numbers_at.push(at + BEFORE_KEY.len());
        request
    }

    /// Returns a personalised send, each of whose recipients has another text, as JSON.
    pub(crate) fn personalised(site: &Site, recipients: usize) -> Self {
        let before_rows = format!(
            r#"{{"from":"{SENDER_ID}","body":"{BEFORE_NUMBER}{{n}}{AFTER_NUMBER}","messages":["#
        );
        let (before_to, before_own) = (r#"{"to":""#, r#"","variables":{"n":""#);
        let rows = Rows {
            before_to,
            before_own,
            after_own: r#""}}"#,
            between: ",",
        };
        Self::of_rows(site, recipients, JSON, "", [&before_rows, "]}"], &rows)
    }

    /// Returns a personalised send as CSV. Its text is in the address.
    pub(crate) fn personalised_csv(site: &Site, recipients: usize) -> Self {
        let text = format!("{BEFORE_NUMBER}{{n}}{AFTER_NUMBER}").replace(' ', "%20");
        let query = format!("?from={SENDER_ID}&body={text}");
        let rows = Rows {
            before_to: "",
            before_own: ",",
            after_own: "",
            between: "\n",
        };
        Self::of_rows(
            site,
            recipients,
            "text/csv",
            &query,
            ["to,n\n", "\n"],
            &rows,
        )
    }

    fn of_rows(
        site: &Site,
        recipients: usize,
        media_type: &str,
        query: &str,
        [before, after]: [&str; 2],
        row: &Rows,
    ) -> Self {
        let (recipient, number) = ("0".repeat(RECIPIENT_DIGITS), "0".repeat(NUMBER_DIGITS));
        let Rows {
            before_to,
            before_own,
            after_own,
            between,
        } = row;
        let one = format!("{before_to}{recipient}{before_own}{number}{after_own}");
        let rows = vec![one.as_str(); recipients].join(between);
        let body = format!("{before}{rows}{after}");
        let head = Head::of(site, "/sms/personalised", media_type, query, body.len());
        Self {
            recipients_at: head.text.len() + before.len() + before_to.len(),
            apart: one.len() + between.len(),
            own_number: Some(RECIPIENT_DIGITS + before_own.len()),
            numbers_at: Vec::new(),
            recipients,
            again_at: None,
            tokens: site.tokens.as_slice().into(),
            token_at: head.token_at,
            octets: (head.text + &body).into_bytes(),
        }
    }

    /// Returns the first recipient of the request that was filled last.
    pub(crate) fn recipient(&self) -> String {
        let digits = &self.octets[self.recipients_at..][..RECIPIENT_DIGITS];
        String::from_utf8_lossy(digits).into_owned()
    }

    /// Returns the same send to one recipient for Kannel: to its `sendsms`, with a `dlr-url` that
    /// names the recipient.
    pub(crate) fn kannel(user: &str, callback_url: &str) -> Self {
        let recipient = "0".repeat(RECIPIENT_DIGITS);
        let number = "0".repeat(NUMBER_DIGITS);
        let encoded = callback_url.replace(':', "%3A").replace('/', "%2F");
        let before_to = format!("GET /cgi-bin/sendsms?{user}&from={SENDER_ID}&to=");
        let before_number = format!("&text={}", BEFORE_NUMBER.replace(' ', "+"));
        // The mask asks for final states only, and %d is the state.
        let before_again = format!(
            "+is+on+its+way.+Thank+you+for+shopping+with+Ada+Foods.&dlr-mask=3&dlr-url={encoded}%3Fstatus%3D%25d%26recipient%3D"
        );
        let rest = " HTTP/1.1\r\nHost: bench\r\n\r\n";
        let number_at = before_to.len() + RECIPIENT_DIGITS + before_number.len();
        let text: [&str; 7] = [
            &before_to,
            &recipient,
            &before_number,
            &number,
            &before_again,
            &recipient,
            rest,
        ];
        Self {
            octets: text.concat().into_bytes(),
            recipients_at: before_to.len(),
            recipients: 1,
            apart: RECIPIENT_DIGITS + 1,
            own_number: None,
            again_at: Some(number_at + NUMBER_DIGITS + before_again.len()),
            numbers_at: vec![number_at],
            tokens: Arc::new([]),
            token_at: 0,
        }
    }

    /// Writes the request of this number. No two requests share a recipient. Accounts take turns in
    /// an order that mixes them, because the accounts of customers who send together have unrelated
    /// ids.
    pub(crate) fn fill(&mut self, number: u64) -> &[u8] {
        let accounts = self.tokens.len() as u64;
        if accounts > 1 {
            // The value is below the length, so it fits.
            let turn = usize::try_from(number.wrapping_mul(APART) % accounts).unwrap_or(0);
            let token = self.tokens[turn].as_bytes();
            self.octets[self.token_at..][..token.len()].copy_from_slice(token);
        }
        for &at in &self.numbers_at {
            write_digits(&mut self.octets[at..][..NUMBER_DIGITS], number);
        }
        let first = number * self.recipients as u64;
        let recipients = self.octets[self.recipients_at..].chunks_mut(self.apart);
        for (recipient, number) in recipients.take(self.recipients).zip(first..) {
            if let Some(at) = self.own_number {
                write_digits(&mut recipient[at..][..NUMBER_DIGITS], number);
            }
            write_digits(&mut recipient[..RECIPIENT_DIGITS], recipient_of(number));
        }
        if let Some(again_at) = self.again_at {
            let recipient = self.recipients_at..self.recipients_at + RECIPIENT_DIGITS;
            self.octets.copy_within(recipient, again_at);
        }
        &self.octets
    }
}

/// Returns the recipient at a place of the order in which the load names them.
pub(crate) const fn recipient_of(place: u64) -> u64 {
    2_348_010_000_000 + place.wrapping_mul(STEP) % NUMBERS
}

/// Returns the text of this number.
pub(crate) fn text(number: u64) -> String {
    format!("{BEFORE_NUMBER}{number:0>NUMBER_DIGITS$}{AFTER_NUMBER}")
}

/// Writes the last digits of a number, which fill the place.
pub(crate) fn write_digits(place: &mut [u8], mut number: u64) {
    for digit in place.iter_mut().rev() {
        // The remainder is below ten.
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
}

/// The head of a request, and the place of its token.
struct Head {
    text: String,
    token_at: usize,
}

impl Head {
    fn of(site: &Site, path: &str, media_type: &str, query: &str, length: usize) -> Self {
        let before_token = format!(
            "POST /api/v2{path}{query} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer ",
            site.http[0]
        );
        let token = &site.tokens[0];
        Self {
            text: format!(
                "{before_token}{token}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n"
            ),
            token_at: before_token.len(),
        }
    }
}

/// The text around the recipient and the number of each row of a personalised send.
struct Rows {
    before_to: &'static str,
    before_own: &'static str,
    after_own: &'static str,
    between: &'static str,
}
