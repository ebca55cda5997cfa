//! The requests, answers and receipts of known providers, as their public documentation has them.

use super::answer::AnswerRules;
use super::pointer::Pointer;
use super::poll::HttpPoll;
use super::receipt::{HttpReceipts, StateWords};
use super::request::{BodyTemplate, HttpMethod, HttpSubmit, JsonTemplate, RequestTemplate};
use super::template::{HttpTemplate, HttpTemplateFault};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

/// A provider.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HttpPreset {
    /// Termii.
    Termii,
    /// Africa's Talking.
    AfricasTalking,
    /// `BulkSMSNigeria`, version 2 of its interface.
    BulkSmsNigeria,
    /// Twilio.
    Twilio,
    /// Another Ogene.
    Ogene,
}

/// The account at a provider.
#[derive(Clone, Copy, Debug, Default)]
pub struct PresetAccount<'a> {
    /// The URL before the path of an operation, without a slash at its end.
    pub base_url: &'a str,
    /// The token or key.
    pub token: &'a str,
    /// The name of the account, where the provider needs one.
    pub account: &'a str,
    /// The route of the provider.
    pub route: &'a str,
    /// `true` if the request names the URL for receipts.
    pub has_receipts: bool,
    /// `true` if a request may have several recipients.
    pub has_several: bool,
}

impl HttpPreset {
    /// The names in a configuration.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("termii", Self::Termii),
        ("africastalking", Self::AfricasTalking),
        ("bulksmsnigeria", Self::BulkSmsNigeria),
        ("twilio", Self::Twilio),
        ("ogene", Self::Ogene),
    ];

    /// Returns the key of the account's name, if the provider needs one.
    pub const fn account_key(self) -> Option<&'static str> {
        match self {
            Self::AfricasTalking => Some("username"),
            Self::Twilio => Some("account_sid"),
            Self::Termii | Self::BulkSmsNigeria | Self::Ogene => None,
        }
    }

    /// Returns the key of the route with its default, if the provider has routes.
    pub const fn route_key(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Termii => Some(("channel", "generic")),
            Self::BulkSmsNigeria | Self::Ogene => Some(("gateway", "direct-refund")),
            Self::AfricasTalking | Self::Twilio => None,
        }
    }

    /// Returns `true` if the provider documents an answer for each recipient of a request. The
    /// others take one recipient, or answer with one id for all, which no receipt could tell apart.
    pub const fn takes_several(self) -> bool {
        match self {
            Self::AfricasTalking => true,
            Self::Termii | Self::BulkSmsNigeria | Self::Twilio | Self::Ogene => false,
        }
    }

    /// Returns the submit of an account.
    pub fn submit(self, account: &PresetAccount<'_>) -> Result<HttpSubmit, HttpTemplateFault> {
        let PresetAccount {
            base_url,
            token,
            account: name,
            route,
            has_receipts,
            has_several,
        } = *account;
        let url = match self {
            Self::Termii => format!("{base_url}/api/sms/send"),
            Self::AfricasTalking => format!("{base_url}/version1/messaging"),
            Self::BulkSmsNigeria | Self::Ogene => format!("{base_url}/sms"),
            Self::Twilio => format!("{base_url}/2010-04-01/Accounts/{name}/Messages.json"),
        };
        let header = |name: &str, value: &str| (name.to_owned(), HttpTemplate::fixed(value));
        let bearer = header("authorization", &format!("Bearer {token}"));
        let headers = match self {
            Self::Termii => Vec::new(),
            Self::AfricasTalking => vec![header("apikey", token)],
            Self::BulkSmsNigeria => vec![bearer],
            Self::Ogene => {
                let key = ("idempotency-key".to_owned(), HttpTemplate::parse("{id}")?);
                vec![bearer, key]
            }
            Self::Twilio => {
                let pair = BASE64_STANDARD.encode(format!("{name}:{token}"));
                vec![header("authorization", &format!("Basic {pair}"))]
            }
        };
        let body = match self {
            Self::Termii => json_body(&json!({
                "to": "{to}", "from": "{from}", "sms": "{body}", "type": "plain",
                "channel": escaped(route), "api_key": escaped(token),
            }))?,
            Self::BulkSmsNigeria | Self::Ogene => {
                let mut fields = json!({
                    "to": "{to}", "from": "{from}", "body": "{body}", "unicode": "{unicode}",
                    "gateway": escaped(route), "append_sender": "none",
                    "customer_reference": "{id}",
                });
                if has_receipts {
                    fields["callback_url"] = "{receipt_url}".into();
                }
                json_body(&fields)?
            }
            Self::AfricasTalking => form_body(&[
                ("username", &escaped(name)),
                ("to", "+{to}"),
                ("message", "{body}"),
                ("from", "{from}"),
            ])?,
            Self::Twilio => {
                let receipts = has_receipts.then_some(("StatusCallback", "{receipt_url}"));
                let fields = [("To", "+{to}"), ("From", "{from}"), ("Body", "{body}")];
                form_body(&fields.into_iter().chain(receipts).collect::<Vec<_>>())?
            }
        };
        Ok(HttpSubmit {
            template: RequestTemplate {
                method: HttpMethod::Post,
                url: HttpTemplate::fixed(&url),
                headers,
                body,
            },
            answers: self.answers(has_several),
        })
    }

    /// Returns the query of the state of a message, if the provider documents one.
    pub fn poll(self, account: &PresetAccount<'_>) -> Result<Option<HttpPoll>, HttpTemplateFault> {
        let PresetAccount {
            base_url,
            account: name,
            ..
        } = *account;
        let base_url = escaped(base_url);
        let (url, state, error) = match self {
            Self::Twilio => (
                format!(
                    "{base_url}/2010-04-01/Accounts/{}/Messages/{{id}}.json",
                    escaped(name)
                ),
                "/status",
                Some("/error_code"),
            ),
            Self::Ogene => (
                format!("{base_url}/delivery-reports?message_id={{id}}"),
                "/data/reports/0/delivery_status",
                None,
            ),
            Self::Termii | Self::AfricasTalking | Self::BulkSmsNigeria => return Ok(None),
        };
        let submit = self.submit(account)?.template;
        let is_fixed = |(name, _): &(String, HttpTemplate)| name != "idempotency-key";
        Ok(Some(HttpPoll {
            template: RequestTemplate {
                method: HttpMethod::Get,
                url: HttpTemplate::parse(&url)?,
                headers: submit.headers.into_iter().filter(is_fixed).collect(),
                body: BodyTemplate::Empty,
            },
            state: Pointer::known(state),
            error: error.map(Pointer::known),
            states: self.receipts().states,
        }))
    }

    /// Returns the reading of receipts.
    pub fn receipts(self) -> HttpReceipts {
        let (id, state, error) = match self {
            Self::Termii => ("/message_id", "/status", None),
            Self::AfricasTalking => ("/id", "/status", Some("/failureReason")),
            Self::Twilio => ("/MessageSid", "/MessageStatus", Some("/ErrorCode")),
            Self::BulkSmsNigeria | Self::Ogene => ("/message_id", "/delivery_status", None),
        };
        let states: &[(&'static str, &[&str])] = match self {
            Self::Termii => &[
                (
                    "DELIVRD",
                    &["Delivered", "DELIVERED | Message delivered to handset"],
                ),
                ("UNDELIV", &["Message Failed", "DND Active on Phone Number"]),
                ("EXPIRED", &["Expired"]),
                ("REJECTD", &["Rejected"]),
            ],
            Self::AfricasTalking => &[
                ("DELIVRD", &["Success"]),
                ("UNDELIV", &["Failed", "AbsentSubscriber"]),
                ("EXPIRED", &["Expired"]),
                ("REJECTD", &["Rejected"]),
            ],
            Self::Twilio => &[
                ("DELIVRD", &["delivered"]),
                ("UNDELIV", &["undelivered"]),
                ("UNKNOWN", &["failed"]),
            ],
            Self::BulkSmsNigeria | Self::Ogene => &[
                ("DELIVRD", &["delivrd", "delivered", "success"]),
                ("UNDELIV", &["undeliv", "undelivered"]),
                ("EXPIRED", &["expired"]),
                ("REJECTD", &["rejectd", "rejected"]),
                ("UNKNOWN", &["failed", "cancelled"]),
            ],
        };
        let states = states.iter().map(|(state, words)| (*state, owned(words)));
        let addresses = match self {
            Self::Twilio => Some((Pointer::known("/To"), Pointer::known("/From"))),
            Self::Termii | Self::AfricasTalking | Self::BulkSmsNigeria | Self::Ogene => None,
        };
        HttpReceipts {
            items: None,
            id: Pointer::known(id),
            state: Pointer::known(state),
            error: error.map(Pointer::known),
            addresses,
            states: StateWords(states.collect()),
        }
    }

    fn answers(self, has_several: bool) -> AnswerRules {
        let (id, error) = match self {
            Self::AfricasTalking if has_several => ("/messageId", "/statusCode"),
            Self::Termii => ("/message_id", "/code"),
            Self::AfricasTalking => (
                "/SMSMessageData/Recipients/0/messageId",
                "/SMSMessageData/Recipients/0/statusCode",
            ),
            Self::Twilio => ("/sid", "/code"),
            Self::BulkSmsNigeria | Self::Ogene => ("/data/message_id", "/code"),
        };
        let (accepted, throttled, refused): (&[&str], &[&str], &[&str]) = match self {
            Self::Termii => (&["ok"], &["HTTP 429"], &[]),
            // Processed, sent, queued; then invalid number, unsupported number, blacklisted, DND.
            Self::AfricasTalking => (
                &["100", "101", "102"],
                &["HTTP 429"],
                &["403", "404", "406", "409"],
            ),
            // Invalid number, not reachable, opted out, no mobile number.
            Self::Twilio => (
                &["HTTP 201"],
                &["20429", "14107", "HTTP 429"],
                &["21211", "21214", "21610", "21614"],
            ),
            Self::BulkSmsNigeria => (&["API-0000", "HTTP 2xx"], &["HTTP 429"], &["API-2013"]),
            // Invalid number, prohibited text, too long; then opted out or DND.
            Self::Ogene => (
                &["API-0000"],
                &["API-3004", "API-2018", "API-5003", "HTTP 429"],
                &[
                    "API-2002", "API-2006", "API-2008", "API-2010", "API-2021", "API-3002",
                ],
            ),
        };
        let results = has_several && self.takes_several();
        let results = results.then_some(("/SMSMessageData/Recipients", "/number"));
        AnswerRules {
            items: results.map(|(items, _)| Pointer::known(items)),
            to: results.map(|(_, to)| Pointer::known(to)),
            id: Some(Pointer::known(id)),
            error: Some(Pointer::known(error)),
            accepted: owned(accepted),
            throttled: owned(throttled),
            refused: owned(refused),
        }
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Returns a text in the form of a template without placeholders.
pub fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

fn json_body(fields: &serde_json::Value) -> Result<BodyTemplate, HttpTemplateFault> {
    Ok(BodyTemplate::Json(JsonTemplate::parse(fields)?))
}

fn form_body(fields: &[(&str, &str)]) -> Result<BodyTemplate, HttpTemplateFault> {
    let fields = fields
        .iter()
        .map(|(name, value)| Ok(((*name).to_owned(), HttpTemplate::parse(value)?)));
    Ok(BodyTemplate::Form(fields.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::super::answer::HttpAnswer;
    use super::super::template::{HttpRecipient, MESSAGE};
    use super::*;
    use crate::DeliveryStatus;
    use crate::retry::SubmitFault;

    const ACCOUNT: PresetAccount<'_> = PresetAccount {
        base_url: "https://api.example.com",
        token: "k{1}",
        account: "AC1",
        route: "dnd",
        has_receipts: true,
        has_several: false,
    };

    #[test]
    fn each_provider_gets_number_sender_and_text() {
        for (name, preset) in HttpPreset::WORDS {
            let submit = preset.submit(&ACCOUNT).unwrap();
            assert!(submit.is_complete(), "{name}");
            let own_urls = !matches!(preset, HttpPreset::Termii | HttpPreset::AfricasTalking);
            assert_eq!(submit.has_receipt_url(), own_urls, "{name}");
            assert!(submit.server().is_ok(), "{name}");
            let none = PresetAccount {
                has_receipts: false,
                ..ACCOUNT
            };
            assert!(!preset.submit(&none).unwrap().has_receipt_url(), "{name}");
        }
        let request = HttpPreset::Termii
            .submit(&ACCOUNT)
            .unwrap()
            .request(&MESSAGE);
        assert_eq!(request.url, "https://api.example.com/api/sms/send");
        let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
        let expected = json!({
            "to": MESSAGE.to, "from": "Ogene", "sms": MESSAGE.body, "type": "plain",
            "channel": "dnd", "api_key": "k{1}",
        });
        assert_eq!(body, expected);
        let request = HttpPreset::Twilio
            .submit(&ACCOUNT)
            .unwrap()
            .request(&MESSAGE);
        let path = "https://api.example.com/2010-04-01/Accounts/AC1/Messages.json";
        assert_eq!(request.url, path);
        assert_eq!(request.headers[0].1, "Basic QUMxOmt7MX0=");
    }

    #[test]
    fn africas_talking_answers_for_each_recipient() {
        let several = HttpPreset::WORDS.map(|(_, preset)| preset.takes_several());
        assert_eq!(several, [false, true, false, false, false]);
        let account = PresetAccount {
            has_several: true,
            ..ACCOUNT
        };
        let submit = HttpPreset::AfricasTalking.submit(&account).unwrap();
        let recipients = ["2348031234567", "2348051234567", "2348011234567"];
        let recipients = recipients.map(|to| HttpRecipient {
            to: to.to_owned(),
            id: to.to_owned(),
        });
        let request = submit.request_to(&MESSAGE, &recipients);
        let to = "to=%2B2348031234567%2C%2B2348051234567%2C%2B2348011234567&";
        assert!(request.body.contains(to), "{}", request.body);
        let answer = br#"{"SMSMessageData":{"Message":"Sent to 1/3","Recipients":[
            {"statusCode":403,"number":"+2348051234567","status":"InvalidPhoneNumber","messageId":"None"},
            {"statusCode":101,"number":"+2348031234567","status":"Success","messageId":"ATXid_1"}]}}"#;
        let found = submit.answers.classify_all(201, answer, &recipients);
        let [first, second, third] = &found[..] else {
            panic!("three answers")
        };
        let id = "ATXid_1".to_owned();
        assert_eq!(*first, HttpAnswer::Accepted { id });
        let is_refused = matches!(
            second,
            HttpAnswer::Rejected {
                fault: SubmitFault::RecipientRejected,
                ..
            }
        );
        assert!(is_refused, "{second:?}");
        assert_eq!(*third, HttpAnswer::InDoubt);
    }

    #[test]
    fn the_state_is_asked_for_where_the_provider_documents_it() {
        let polls = HttpPreset::WORDS.map(|(_, preset)| preset.poll(&ACCOUNT).unwrap());
        let [
            termii,
            africastalking,
            bulksmsnigeria,
            Some(twilio),
            Some(ogene),
        ] = polls
        else {
            panic!("two providers have a query")
        };
        assert_eq!([termii, africastalking, bulksmsnigeria], [None, None, None]);
        let request = twilio.request("SM/1");
        let url = "https://api.example.com/2010-04-01/Accounts/AC1/Messages/SM%2F1.json";
        assert_eq!(request.url, url);
        assert_eq!(request.headers[0].1, "Basic QUMxOmt7MX0=");
        let answer = br#"{"sid":"SM1","status":"undelivered","error_code":30003}"#;
        let read = twilio.receipt("SM1", 200, answer).unwrap();
        assert_eq!(read.status, Some(DeliveryStatus::Undelivered));
        assert_eq!(read.error.as_deref(), Some("30003"));
        let request = ogene.request("m1");
        let url = "https://api.example.com/delivery-reports?message_id=m1";
        assert_eq!(request.url, url);
        let headers = request.headers.iter().map(|(name, _)| name.as_str());
        assert_eq!(headers.collect::<Vec<_>>(), ["authorization"]);
        let answer =
            br#"{"data":{"reports":[{"recipient":"2348031234567","delivery_status":"delivrd"}]}}"#;
        let read = ogene.receipt("m1", 200, answer).unwrap();
        assert_eq!(
            (read.id.as_str(), read.status),
            ("m1", Some(DeliveryStatus::Delivered))
        );
    }

    #[test]
    fn the_documented_answer_of_each_provider_is_understood() {
        use HttpPreset::{AfricasTalking, BulkSmsNigeria, Ogene, Termii, Twilio};
        let accepted = |id: &str| HttpAnswer::Accepted { id: id.to_owned() };
        for (preset, status, body, id) in [
            (
                Termii,
                200,
                r#"{"code":"ok","balance":9,"message_id":"912282"}"#,
                "912282",
            ),
            (
                AfricasTalking,
                201,
                r#"{"SMSMessageData":{"Message":"Sent to 1/1","Recipients":[{"statusCode":101,
                "number":"+2348031234567","status":"Success","messageId":"ATXid_1"}]}}"#,
                "ATXid_1",
            ),
            (
                Twilio,
                201,
                r#"{"sid":"SM1","status":"queued","error_code":null}"#,
                "SM1",
            ),
            (
                BulkSmsNigeria,
                200,
                r#"{"status":"success","data":{"message_id":"m1"}}"#,
                "m1",
            ),
            (
                Ogene,
                200,
                r#"{"status":"success","code":"API-0000","data":{"message_id":"m1"}}"#,
                "m1",
            ),
        ] {
            let submit = preset.submit(&ACCOUNT).unwrap();
            let found = submit.answers.classify(status, body.as_bytes(), "ours");
            assert_eq!(found, accepted(id), "{preset:?}");
        }
    }

    #[test]
    fn a_rejection_of_each_provider_has_its_fault() {
        use HttpPreset::{AfricasTalking, Ogene, Termii, Twilio};
        let fault = |preset: HttpPreset, status, body: &str| {
            let submit = preset.submit(&ACCOUNT).unwrap();
            match submit.answers.classify(status, body.as_bytes(), "ours") {
                HttpAnswer::Rejected { fault, .. } => fault,
                other => panic!("{preset:?} {other:?}"),
            }
        };
        let refused = SubmitFault::RecipientRejected;
        let at = r#"{"SMSMessageData":{"Recipients":[{"statusCode":403}]}}"#;
        assert_eq!(fault(AfricasTalking, 201, at), refused);
        // The HTTP status of the whole request is no status of the recipient.
        assert_eq!(
            fault(AfricasTalking, 403, "forbidden"),
            SubmitFault::Temporary
        );
        assert_eq!(
            fault(Twilio, 400, r#"{"code":21211,"status":400}"#),
            refused
        );
        assert_eq!(
            fault(Twilio, 429, r#"{"code":20429}"#),
            SubmitFault::Throttled
        );
        assert_eq!(
            fault(Twilio, 401, r#"{"code":20003}"#),
            SubmitFault::NotBound
        );
        assert_eq!(fault(Termii, 429, ""), SubmitFault::Throttled);
        assert_eq!(
            fault(Ogene, 402, r#"{"code":"API-3001"}"#),
            SubmitFault::Temporary
        );
        assert_eq!(fault(Ogene, 422, r#"{"code":"API-2006"}"#), refused);
    }

    #[test]
    fn the_documented_receipts_of_each_provider_are_understood() {
        use DeliveryStatus::{Delivered, Failed, Undelivered};
        for (preset, body, id, status) in [
            (
                HttpPreset::Termii,
                r#"{"type":"outbound","message_id":"5964","status":"DELIVERED | Message delivered to handset"}"#,
                "5964",
                Some(Delivered),
            ),
            (
                HttpPreset::Termii,
                r#"{"message_id":"5964","status":"Message Sent"}"#,
                "5964",
                None,
            ),
            (
                HttpPreset::AfricasTalking,
                "id=ATXid_1&status=Success&phoneNumber=%2B2348031234567&networkCode=62130",
                "ATXid_1",
                Some(Delivered),
            ),
            (
                HttpPreset::Twilio,
                "MessageSid=SM1&MessageStatus=undelivered&ErrorCode=30003",
                "SM1",
                Some(Undelivered),
            ),
            (
                HttpPreset::Twilio,
                "MessageSid=SM1&MessageStatus=sent",
                "SM1",
                None,
            ),
            (
                HttpPreset::BulkSmsNigeria,
                r#"{"message_id":"m1","recipient":"2348031234567","delivery_status":"delivrd"}"#,
                "m1",
                Some(Delivered),
            ),
            (
                HttpPreset::Ogene,
                r#"{"message_id":"m1","delivery_status":"failed"}"#,
                "m1",
                Some(Failed),
            ),
        ] {
            let read = preset.receipts().read(body.as_bytes()).unwrap();
            let [one] = &read[..] else { panic!("{body}") };
            assert_eq!((one.id.as_str(), one.status), (id, status), "{body}");
        }
    }
}
