//! Polling: the request for the state of a message, its answer, and the times of requests.

use super::pointer::Pointer;
use super::receipt::{HttpReceipt, StateWords};
use super::request::{HttpRequest, RequestTemplate, UrlFault};
use super::template::{HttpMessage, Placeholder};
use url::Url;

/// The request for the state of a message, and the reading of its answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpPoll {
    /// The request. Its `{id}` is the carrier's id of the message.
    pub template: RequestTemplate,
    /// The state.
    pub state: Pointer,
    /// The carrier's error code.
    pub error: Option<Pointer>,
    /// The words for the states.
    pub states: StateWords,
}

impl HttpPoll {
    /// Checks the URL, and returns its part before the path.
    pub fn server(&self) -> Result<Url, UrlFault> {
        self.template.server()
    }

    /// Returns `true` if the request names the message by its id and by nothing else.
    pub fn is_complete(&self) -> bool {
        let others = [
            Placeholder::To,
            Placeholder::From,
            Placeholder::Body,
            Placeholder::ReceiptUrl,
            Placeholder::Unicode,
        ];
        let has_other = others.into_iter().any(|other| self.template.has(other));
        self.template.has(Placeholder::Id) && !has_other
    }

    /// Returns the request for the message with this id of the carrier.
    pub fn request(&self, id: &str) -> HttpRequest {
        self.template.request(&HttpMessage {
            to: "",
            from: "",
            body: "",
            id,
            receipt_url: "",
            unicode: false,
        })
    }

    /// Reads an answer. Returns `None` if it has no state.
    pub fn receipt(&self, id: &str, status: u16, body: &[u8]) -> Option<HttpReceipt> {
        if !(200..300).contains(&status) {
            return None;
        }
        let answer = serde_json::from_slice(body).ok()?;
        let said = self.state.word(&answer)?;
        let error = self.error.as_ref().and_then(|error| error.word(&answer));
        Some(HttpReceipt::new(id.to_owned(), &self.states, &said, error))
    }
}

/// The times at which the state of a message is asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PollTimes {
    /// The time from one request to the next, milliseconds.
    pub interval_ms: i64,
    /// The time after the submit in which requests are made, milliseconds.
    pub period_ms: i64,
}

impl PollTimes {
    /// Returns the time of the last request for a message that was submitted now. It is the end of
    /// the period or of the validity, whichever comes first.
    pub fn ends_at_ms(self, now_ms: i64, expires_at_ms: i64) -> i64 {
        let ends_at_ms = expires_at_ms.min(now_ms.saturating_add(self.period_ms));
        ends_at_ms.max(now_ms)
    }

    /// Returns the time of the next request, or `None` if this one is the last.
    pub fn next_at_ms(self, now_ms: i64, ends_at_ms: i64) -> Option<i64> {
        let next_at_ms = now_ms.saturating_add(self.interval_ms);
        (now_ms < ends_at_ms).then(|| next_at_ms.min(ends_at_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::super::request::{BodyTemplate, HttpMethod};
    use super::super::template::HttpTemplate;
    use super::*;
    use crate::DeliveryStatus;

    fn poll(url: &str) -> HttpPoll {
        HttpPoll {
            template: RequestTemplate {
                method: HttpMethod::Get,
                url: HttpTemplate::parse(url).unwrap(),
                headers: Vec::new(),
                body: BodyTemplate::Empty,
            },
            state: Pointer::parse("/0/status").unwrap(),
            error: None,
            states: StateWords(vec![("DELIVRD", vec!["Delivered".to_owned()])]),
        }
    }

    #[test]
    fn a_request_for_a_state_has_the_id_alone() {
        let of_id = poll("https://a.example/status/{id}");
        assert!(of_id.is_complete());
        assert_eq!(of_id.request("m 1").url, "https://a.example/status/m%201");
        assert!(!poll("https://a.example/status").is_complete());
        assert!(!poll("https://a.example/{id}?to={to}").is_complete());
    }

    #[test]
    fn an_answer_without_a_state_is_no_receipt() {
        let poll = poll("https://a.example/{id}");
        let read = |status, body: &str| poll.receipt("m1", status, body.as_bytes());
        let delivered = read(200, r#"[{"status":"delivered"}]"#).unwrap();
        assert_eq!(delivered.id, "m1");
        assert_eq!(delivered.status, Some(DeliveryStatus::Delivered));
        assert_eq!(read(200, r#"[{"status":"Sent"}]"#).unwrap().status, None);
        for (status, body) in [
            (200, "[]"),
            (200, "<html>"),
            (404, r#"[{"status":"Delivered"}]"#),
            (503, ""),
        ] {
            assert_eq!(read(status, body), None, "{status} {body}");
        }
    }

    #[test]
    fn requests_end_with_the_period_or_the_validity() {
        let times = PollTimes {
            interval_ms: 60,
            period_ms: 1_000,
        };
        assert_eq!(times.ends_at_ms(100, 5_000), 1_100);
        assert_eq!(times.ends_at_ms(100, 400), 400);
        assert_eq!(times.ends_at_ms(100, 50), 100, "it is asked once");
        for (now_ms, next) in [(100, Some(160)), (380, Some(400)), (400, None), (500, None)] {
            assert_eq!(times.next_at_ms(now_ms, 400), next, "{now_ms}");
        }
    }
}
