//! The meaning of a carrier's answer to a submit.

use super::pointer::Pointer;
use super::template::HttpRecipient;
use crate::parse_international;
use crate::retry::SubmitFault;
use serde_json::Value;
use std::collections::HashMap;

/// The class of an answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum HttpAnswer {
    /// The carrier accepted the message under this id, which is empty if it named none.
    Accepted {
        /// The id.
        id: String,
    },
    /// The carrier rejected the message.
    Rejected {
        /// The fault, which decides the next step.
        fault: SubmitFault,
        /// The carrier's word for it.
        error: String,
        /// A label from a small set: a word of the configuration, or the HTTP status.
        label: String,
    },
    /// The carrier refused several recipients together, and accepted none of them. It did not name
    /// the one that it refuses.
    RefusedTogether,
    /// The carrier may have accepted the message.
    InDoubt,
}

/// The words of answers, by class. A word is the value at `error`. Without `error` the HTTP status
/// is the word, such as `429` or `4xx`. With it, `HTTP 429` counts if the value is not listed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct AnswerRules {
    /// The list of results, if a request may have several recipients. The other pointers lead into
    /// one result then.
    pub items: Option<Pointer>,
    /// The number of a result. Without it the results have the order of the recipients.
    pub to: Option<Pointer>,
    /// The carrier's id of the message. Without it, the carrier uses our `{id}`.
    pub id: Option<Pointer>,
    /// The place of the word. Without it the HTTP status is the word.
    pub error: Option<Pointer>,
    /// The message was accepted.
    pub accepted: Vec<String>,
    /// The carrier is too busy, so the message waits.
    pub throttled: Vec<String>,
    /// The message is rejected for ever.
    pub refused: Vec<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Class {
    Accepted,
    Throttled,
    Refused,
}

impl AnswerRules {
    fn class(&self, is_it: impl Fn(&str) -> bool) -> Option<(Class, &str)> {
        let lists = [
            (Class::Refused, &self.refused),
            (Class::Throttled, &self.throttled),
            (Class::Accepted, &self.accepted),
        ];
        let mut words = lists
            .into_iter()
            .flat_map(|(class, words)| words.iter().map(move |word| (class, word.as_str())));
        words.find(|(_, word)| is_it(word))
    }

    /// Returns the class of an answer for each recipient of its request.
    pub fn classify_all(
        &self,
        status: u16,
        body: &[u8],
        recipients: &[HttpRecipient],
    ) -> Vec<HttpAnswer> {
        let json: Option<Value> = serde_json::from_slice(body).ok();
        let json = json.as_ref();
        let Some(items) = &self.items else {
            let recipients = recipients.iter();
            return recipients
                .map(|one| self.class_of(status, json, &one.id))
                .collect();
        };
        if let Some(results) = json.and_then(|json| items.list(json)) {
            return self.class_of_each(status, results, recipients);
        }
        let of_all = match self.class_of(status, json, "") {
            // The carrier accepted something, and no result shows for whom.
            HttpAnswer::Accepted { .. } => HttpAnswer::InDoubt,
            HttpAnswer::Rejected {
                fault: SubmitFault::RecipientRejected,
                ..
            } if recipients.len() > 1 => HttpAnswer::RefusedTogether,
            other => other,
        };
        vec![of_all; recipients.len()]
    }

    /// Returns the class of each recipient by its own result. A recipient without one, or with
    /// several, is in doubt.
    fn class_of_each(
        &self,
        status: u16,
        results: &[Value],
        recipients: &[HttpRecipient],
    ) -> Vec<HttpAnswer> {
        let class =
            |result: &Value, one: &HttpRecipient| self.class_of(status, Some(result), &one.id);
        let Some(to) = &self.to else {
            if results.len() != recipients.len() {
                return vec![HttpAnswer::InDoubt; recipients.len()];
            }
            let pairs = results.iter().zip(recipients);
            return pairs.map(|(result, one)| class(result, one)).collect();
        };
        let mut by_number: HashMap<String, Option<&Value>> = HashMap::new();
        for result in results {
            let number = to.word(result).and_then(|to| parse_international(&to));
            if let Some(number) = number {
                let found = by_number.entry(number.to_string());
                found
                    .and_modify(|found| *found = None)
                    .or_insert(Some(result));
            }
        }
        let found = |one: &HttpRecipient| by_number.get(&one.to).copied().flatten();
        let recipients = recipients.iter();
        let classes = recipients.map(|one| match found(one) {
            Some(result) => class(result, one),
            None => HttpAnswer::InDoubt,
        });
        classes.collect()
    }

    /// Returns the class of an answer to the submit with this id of ours.
    pub fn classify(&self, status: u16, body: &[u8], own_id: &str) -> HttpAnswer {
        let json: Option<Value> = serde_json::from_slice(body).ok();
        self.class_of(status, json.as_ref(), own_id)
    }

    fn class_of(&self, status: u16, json: Option<&Value>, own_id: &str) -> HttpAnswer {
        let said = self.error.as_ref();
        let said = said.and_then(|error| error.word(json?));
        let by_word = said.as_deref().and_then(|said| {
            let is_it = |word: &str| word.eq_ignore_ascii_case(said);
            self.class(is_it)
        });
        let by_status = || {
            let is_it = |word: &str| match word.strip_prefix("HTTP ") {
                Some(word) => is_status(word, status),
                None => self.error.is_none() && is_status(word, status),
            };
            self.class(is_it)
        };
        let error = || said.clone().unwrap_or_else(|| format!("HTTP {status}"));
        let rejected = |fault, label: &str| HttpAnswer::Rejected {
            fault,
            error: error(),
            label: label.to_owned(),
        };
        match by_word.or_else(by_status) {
            Some((Class::Accepted, _)) => {
                let id = match &self.id {
                    None => Some(own_id.to_owned()),
                    Some(pointer) => json.and_then(|json| pointer.word(json)),
                };
                let id = id.unwrap_or_default();
                return HttpAnswer::Accepted { id };
            }
            Some((Class::Throttled, label)) => return rejected(SubmitFault::Throttled, label),
            Some((Class::Refused, label)) => {
                return rejected(SubmitFault::RecipientRejected, label);
            }
            None => {}
        }
        let label = format!("HTTP {status}");
        let is_unread = (200..300).contains(&status) && said.is_none();
        if status == UNAUTHORIZED {
            rejected(SubmitFault::NotBound, &label)
        } else if is_unread || WITHOUT_ANSWER.contains(&status) && said.is_none() {
            HttpAnswer::InDoubt
        } else {
            rejected(SubmitFault::Temporary, &label)
        }
    }
}

/// Returns `true` if a word such as `200` or `2xx` means this HTTP status.
fn is_status(word: &str, status: u16) -> bool {
    let hundreds = word.strip_suffix("xx").and_then(|digit| digit.parse().ok());
    hundreds == Some(status / 100) || word.parse() == Ok(status)
}

/// The HTTP status of wrong credentials.
const UNAUTHORIZED: u16 = 401;
/// The HTTP statuses of a proxy that has no answer of the carrier.
const WITHOUT_ANSWER: [u16; 2] = [502, 504];

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(error: Option<&str>, id: Option<&str>, words: [&[&str]; 3]) -> AnswerRules {
        let pointer = |text: Option<&str>| text.map(|text| Pointer::parse(text).unwrap());
        let words = words.map(|list| list.iter().map(|word| (*word).to_owned()).collect());
        let [accepted, throttled, refused] = words;
        AnswerRules {
            items: None,
            to: None,
            id: pointer(id),
            error: pointer(error),
            accepted,
            throttled,
            refused,
        }
    }

    fn accepted(id: &str) -> HttpAnswer {
        HttpAnswer::Accepted { id: id.to_owned() }
    }

    fn rejected(fault: SubmitFault, error: &str, label: &str) -> HttpAnswer {
        HttpAnswer::Rejected {
            fault,
            error: error.to_owned(),
            label: label.to_owned(),
        }
    }

    #[test]
    fn the_word_of_an_answer_decides_its_class() {
        use SubmitFault::{NotBound, RecipientRejected, Temporary, Throttled};
        let words: [&[&str]; 3] = [&["ok"], &["busy", "HTTP 429"], &["bad_number"]];
        let rules = rules(Some("/code"), Some("/id"), words);
        for (status, body, expected) in [
            (200, r#"{"code":"ok","id":"m1"}"#, accepted("m1")),
            (200, r#"{"code":"OK","id":77}"#, accepted("77")),
            // Without an id the recipient is in doubt.
            (200, r#"{"code":"ok"}"#, accepted("")),
            (
                200,
                r#"{"code":"busy"}"#,
                rejected(Throttled, "busy", "busy"),
            ),
            (
                429,
                "slow down",
                rejected(Throttled, "HTTP 429", "HTTP 429"),
            ),
            (
                429,
                r#"{"code":"later"}"#,
                rejected(Throttled, "later", "HTTP 429"),
            ),
            (
                400,
                r#"{"code":"bad_number"}"#,
                rejected(RecipientRejected, "bad_number", "bad_number"),
            ),
            (
                200,
                r#"{"code":"no_route"}"#,
                rejected(Temporary, "no_route", "HTTP 200"),
            ),
            (400, "", rejected(Temporary, "HTTP 400", "HTTP 400")),
            (503, "", rejected(Temporary, "HTTP 503", "HTTP 503")),
            (401, "", rejected(NotBound, "HTTP 401", "HTTP 401")),
            (200, "", HttpAnswer::InDoubt),
            (200, r#"{"code":"o"#, HttpAnswer::InDoubt),
            (200, r#"{"status":"new format"}"#, HttpAnswer::InDoubt),
            (502, "<html>", HttpAnswer::InDoubt),
            (504, "", HttpAnswer::InDoubt),
        ] {
            let found = rules.classify(status, body.as_bytes(), "ours");
            assert_eq!(found, expected, "{status} {body}");
        }
    }

    #[test]
    fn the_http_status_counts_without_a_word() {
        let words: [&[&str]; 3] = [&["2xx"], &["429"], &["400", "422"]];
        let rules = rules(None, None, words);
        let class = |status| rules.classify(status, b"anything", "ours");
        assert_eq!(class(202), accepted("ours"));
        let throttled = rejected(SubmitFault::Throttled, "HTTP 429", "429");
        assert_eq!(class(429), throttled);
        let refused = rejected(SubmitFault::RecipientRejected, "HTTP 422", "422");
        assert_eq!(class(422), refused);
        let temporary = rejected(SubmitFault::Temporary, "HTTP 500", "HTTP 500");
        assert_eq!(class(500), temporary);
    }

    /// Returns the classes of an answer to two recipients. Results lie at `/all`.
    fn of_two(to: Option<&str>, status: u16, body: &str) -> Vec<HttpAnswer> {
        let words: [&[&str]; 3] = [&["ok"], &["busy", "HTTP 429"], &["bad_number", "HTTP 422"]];
        let rules = AnswerRules {
            items: Some(Pointer::parse("/all").unwrap()),
            to: to.map(|to| Pointer::parse(to).unwrap()),
            ..rules(Some("/code"), Some("/id"), words)
        };
        let recipients = [("2348031234567", "a"), ("2348051234567", "b")];
        let recipients = recipients.map(|(to, id)| HttpRecipient {
            to: to.to_owned(),
            id: id.to_owned(),
        });
        rules.classify_all(status, body.as_bytes(), &recipients)
    }

    #[test]
    fn each_recipient_has_its_own_result() {
        let bad = rejected(SubmitFault::RecipientRejected, "bad_number", "bad_number");
        let busy = rejected(SubmitFault::Throttled, "busy", "busy");
        let in_order = r#"{"all":[{"code":"bad_number"},{"code":"ok","id":"m2"}]}"#;
        assert_eq!(of_two(None, 200, in_order), [bad.clone(), accepted("m2")]);
        assert_eq!(of_two(None, 422, in_order), [bad.clone(), accepted("m2")]);
        let odd = r#"{"all":[{"to":"+2348051234567","code":"busy"},{"to":"2348099999999","code":"ok","id":"x"},
                     {"to":2348031234567,"code":"ok","id":"m1"}]}"#;
        assert_eq!(of_two(Some("/to"), 200, odd), [accepted("m1"), busy]);
        // Without an id the recipient is in doubt.
        let half = r#"{"all":[{"code":"ok"},{"code":"bad_number"}]}"#;
        assert_eq!(of_two(None, 200, half), [accepted(""), bad]);
    }

    #[test]
    fn a_recipient_without_a_result_is_in_doubt() {
        let doubt = || HttpAnswer::InDoubt;
        for body in [
            r#"{"all":[]}"#,
            r#"{"all":[{"code":"ok","id":"m1"}]}"#,
            r#"{"all":[{"code":"ok","id":"1"},{"code":"ok","id":"2"},{"code":"ok","id":"3"}]}"#,
            r#"{"all":{"code":"ok"}}"#,
            r#"{"code":"ok","id":"m1"}"#,
            "",
        ] {
            assert_eq!(of_two(None, 200, body), [doubt(), doubt()], "{body}");
        }
        let missing = r#"{"all":[{"to":"2348031234567","code":"ok","id":"m1"}]}"#;
        assert_eq!(of_two(Some("/to"), 200, missing), [accepted("m1"), doubt()]);
        let twice = r#"{"all":[{"to":"2348031234567","code":"ok","id":"m1"},
                       {"to":"2348031234567","code":"bad_number"},
                       {"to":"2348051234567","code":"ok","id":"m2"}]}"#;
        assert_eq!(of_two(Some("/to"), 200, twice), [doubt(), accepted("m2")]);
        assert_eq!(of_two(None, 502, "<html>"), [doubt(), doubt()]);
    }

    #[test]
    fn an_answer_without_results_is_that_of_all_recipients() {
        let same = |answer: HttpAnswer| vec![answer; 2];
        let throttled = rejected(SubmitFault::Throttled, "HTTP 429", "HTTP 429");
        assert_eq!(of_two(None, 429, ""), same(throttled));
        let unbound = rejected(SubmitFault::NotBound, "HTTP 401", "HTTP 401");
        assert_eq!(of_two(None, 401, ""), same(unbound));
        let temporary = rejected(SubmitFault::Temporary, "HTTP 500", "HTTP 500");
        assert_eq!(of_two(None, 500, ""), same(temporary));
        // One wrong number among good ones is no refusal of all of them.
        let together = || same(HttpAnswer::RefusedTogether);
        assert_eq!(of_two(None, 422, ""), together());
        assert_eq!(of_two(None, 400, r#"{"code":"bad_number"}"#), together());
    }
}
