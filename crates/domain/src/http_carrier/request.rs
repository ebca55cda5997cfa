//! The request that submits a message.

use super::answer::AnswerRules;
use super::ids::joint_id;
use super::template::{HttpMessage, HttpRecipient, HttpTemplate, HttpTemplateFault, Placeholder};
use serde_json::{Map, Value};
use url::form_urlencoded::Serializer;
use url::{Position, Url};

/// The method of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum HttpMethod {
    /// The message is in the body.
    Post,
    /// The message is in the URL.
    Get,
}

/// The body of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BodyTemplate {
    /// There is none.
    Empty,
    /// A JSON text.
    Json(JsonTemplate),
    /// Fields as of an HTML form.
    Form(Vec<(String, HttpTemplate)>),
}

/// A JSON text whose strings are templates.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum JsonTemplate {
    /// A string.
    Text(HttpTemplate),
    /// A number, a boolean or null.
    Fixed(Value),
    /// A list.
    List(Vec<JsonTemplate>),
    /// An object.
    Object(Vec<(String, JsonTemplate)>),
}

impl JsonTemplate {
    /// Reads a template.
    pub fn parse(value: &Value) -> Result<Self, HttpTemplateFault> {
        Ok(match value {
            Value::String(text) => Self::Text(HttpTemplate::parse(text)?),
            Value::Array(items) => {
                let items = items.iter().map(Self::parse);
                Self::List(items.collect::<Result<_, _>>()?)
            }
            Value::Object(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, value)| Ok((name.clone(), Self::parse(value)?)));
                Self::Object(fields.collect::<Result<_, _>>()?)
            }
            fixed => Self::Fixed(fixed.clone()),
        })
    }

    /// Returns the value for a message. `{unicode}` alone is a boolean.
    fn fill(&self, message: &Addressed<'_>) -> Value {
        match self {
            Self::Text(text) if text.alone() == Some(Placeholder::Unicode) => {
                message.text.unicode.into()
            }
            Self::Text(text) => message.fill(text).into(),
            Self::Fixed(value) => value.clone(),
            Self::List(items) if self.is_repeated() => {
                let one = &items[0];
                message.each().map(|single| one.fill(&single)).collect()
            }
            Self::List(items) => items.iter().map(|item| item.fill(message)).collect(),
            Self::Object(fields) => {
                let fields = fields.iter();
                let fields = fields.map(|(name, value)| (name.clone(), value.fill(message)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns `true` for a list of one element with `{to}` or `{id}`. It has an element for each
    /// recipient.
    fn is_repeated(&self) -> bool {
        let Self::List(items) = self else {
            return false;
        };
        let [one] = &items[..] else {
            return false;
        };
        one.has(Placeholder::To) || one.has(Placeholder::Id)
    }

    /// Returns `true` if a repeated list has `{id}`.
    fn has_id_of_each(&self) -> bool {
        match self {
            Self::Text(_) | Self::Fixed(_) => false,
            Self::List(items) => {
                let in_item = self.is_repeated() && self.has(Placeholder::Id);
                in_item || items.iter().any(Self::has_id_of_each)
            }
            Self::Object(fields) => fields.iter().any(|(_, value)| value.has_id_of_each()),
        }
    }

    fn has(&self, placeholder: Placeholder) -> bool {
        match self {
            Self::Text(text) => text.has(placeholder),
            Self::Fixed(_) => false,
            Self::List(items) => items.iter().any(|item| item.has(placeholder)),
            Self::Object(fields) => fields.iter().any(|(_, value)| value.has(placeholder)),
        }
    }
}

/// A message with its recipients.
#[derive(Clone, Copy)]
struct Addressed<'a> {
    /// The message. With several recipients its number is the list of all numbers.
    text: HttpMessage<'a>,
    recipients: &'a [HttpRecipient],
}

impl<'a> Addressed<'a> {
    /// Returns the message once for each recipient.
    fn each(&self) -> impl Iterator<Item = Addressed<'a>> + use<'a> {
        let text = self.text;
        let several = (self.recipients.len() > 1).then_some(self.recipients);
        let singles = several.unwrap_or_default().iter().map(move |recipient| {
            let text = HttpMessage {
                to: &recipient.to,
                id: &recipient.id,
                ..text
            };
            Addressed {
                text,
                recipients: &[],
            }
        });
        let one = several.is_none().then_some(Addressed {
            text,
            recipients: &[],
        });
        one.into_iter().chain(singles)
    }

    /// Returns the text of a template. With `{to}` it is repeated for each number.
    fn fill(&self, template: &HttpTemplate) -> String {
        if !template.has(Placeholder::To) {
            return template.fill(&self.text);
        }
        let all = self.each().map(|single| {
            let text = HttpMessage {
                id: self.text.id,
                ..single.text
            };
            template.fill(&text)
        });
        all.collect::<Vec<_>>().join(SEPARATOR)
    }
}

/// Text between the numbers of several recipients.
const SEPARATOR: &str = ",";

/// The reason why a text is no URL of a carrier.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UrlFault {
    /// It is no URL of HTTP.
    #[error("is not a URL such as \"https://api.example.com/send\"")]
    NotHttp,
    /// A placeholder stands before its path.
    #[error("has a placeholder in its host; placeholders may stand in the path or query alone")]
    Host,
    /// It has a user name or a password.
    #[error("has a user name or password; send it in `headers`, or as the key `token`")]
    Credentials,
}

/// The template of a request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RequestTemplate {
    /// The method.
    pub method: HttpMethod,
    /// The URL, whose host is fixed.
    pub url: HttpTemplate,
    /// The headers. Their names are in lower case.
    pub headers: Vec<(String, HttpTemplate)>,
    /// The body.
    pub body: BodyTemplate,
}

/// The submit of a carrier: its request, and the reading of its answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpSubmit {
    /// The request.
    pub template: RequestTemplate,
    /// The reading of answers.
    pub answers: AnswerRules,
}

/// A request in the form that is sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpRequest {
    /// The method.
    pub method: HttpMethod,
    /// The URL.
    pub url: String,
    /// The headers, with the `content-type` of a body.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl RequestTemplate {
    /// Checks the URL, and returns its part before the path.
    pub fn server(&self) -> Result<Url, UrlFault> {
        let start = self.url.start();
        let is_fixed = self.url == HttpTemplate::fixed(start);
        let (_, after_scheme) = start.split_once("://").ok_or(UrlFault::NotHttp)?;
        if !is_fixed && !after_scheme.contains(['/', '?', '#']) {
            return Err(UrlFault::Host);
        }
        let url = Url::parse(start).map_err(|_| UrlFault::NotHttp)?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(UrlFault::NotHttp);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlFault::Credentials);
        }
        Url::parse(&url[..Position::BeforePath]).map_err(|_| UrlFault::NotHttp)
    }

    pub(super) fn has(&self, placeholder: Placeholder) -> bool {
        let in_body = match &self.body {
            BodyTemplate::Empty => false,
            BodyTemplate::Json(json) => json.has(placeholder),
            BodyTemplate::Form(fields) => fields.iter().any(|(_, value)| value.has(placeholder)),
        };
        let mut headers = self.headers.iter();
        in_body || self.url.has(placeholder) || headers.any(|(_, value)| value.has(placeholder))
    }

    /// Returns the request with the values of a message.
    pub(super) fn request(&self, message: &HttpMessage<'_>) -> HttpRequest {
        self.filled(&Addressed {
            text: *message,
            recipients: &[],
        })
    }

    fn filled(&self, message: &Addressed<'_>) -> HttpRequest {
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| (name.clone(), value.fill(&message.text)));
        let (content_type, body) = match &self.body {
            BodyTemplate::Empty => (None, String::new()),
            BodyTemplate::Json(json) => (Some("application/json"), json.fill(message).to_string()),
            BodyTemplate::Form(fields) => {
                let mut form = Serializer::new(String::new());
                for (name, value) in fields {
                    form.append_pair(name, &message.fill(value));
                }
                (Some("application/x-www-form-urlencoded"), form.finish())
            }
        };
        let content_type = content_type.map(|kind| ("content-type".to_owned(), kind.to_owned()));
        HttpRequest {
            method: self.method,
            url: self.url.fill_url(&message.text),
            headers: headers.chain(content_type).collect(),
            body,
        }
    }
}

impl HttpSubmit {
    /// Checks the URL, and returns its part before the path.
    pub fn server(&self) -> Result<Url, UrlFault> {
        self.template.server()
    }

    /// Returns `true` if the request has the number and the text of the message.
    pub fn is_complete(&self) -> bool {
        [Placeholder::To, Placeholder::Body]
            .into_iter()
            .all(|placeholder| self.template.has(placeholder))
    }

    /// Returns `true` if the request has the URL for receipts.
    pub fn has_receipt_url(&self) -> bool {
        self.template.has(Placeholder::ReceiptUrl)
    }

    /// Returns `true` if a header has the text of the message, which may have several lines.
    pub fn has_body_in_header(&self) -> bool {
        let mut headers = self.template.headers.iter();
        headers.any(|(_, value)| value.has(Placeholder::Body))
    }

    /// Returns `true` if a header has the number of the recipient.
    pub fn has_number_in_header(&self) -> bool {
        let mut headers = self.template.headers.iter();
        headers.any(|(_, value)| value.has(Placeholder::To))
    }

    /// Returns `true` if the carrier can tell by our id which recipient a result belongs to.
    pub fn has_id_of_each(&self) -> bool {
        match &self.template.body {
            BodyTemplate::Json(json) => json.has_id_of_each(),
            BodyTemplate::Empty | BodyTemplate::Form(_) => false,
        }
    }

    /// Returns the request for a message to one recipient.
    pub fn request(&self, message: &HttpMessage<'_>) -> HttpRequest {
        self.template.request(message)
    }

    /// Returns the request for a message to these recipients, in the place of its number and id.
    /// Several recipients have an id together, which depends on all of them.
    pub fn request_to(
        &self,
        message: &HttpMessage<'_>,
        recipients: &[HttpRecipient],
    ) -> HttpRequest {
        if let [one] = recipients {
            return self.request(&HttpMessage {
                to: &one.to,
                id: &one.id,
                ..*message
            });
        }
        let all: Vec<&str> = recipients.iter().map(|one| one.to.as_str()).collect();
        let (to, id) = (all.join(SEPARATOR), joint_id(recipients));
        let text = HttpMessage {
            to: &to,
            id: &id,
            ..*message
        };
        self.template.filled(&Addressed { text, recipients })
    }
}

#[cfg(test)]
mod tests {
    use super::super::template::MESSAGE;
    use super::*;
    use serde_json::json;

    fn submit(url: &str, body: BodyTemplate) -> HttpSubmit {
        HttpSubmit {
            template: RequestTemplate {
                method: HttpMethod::Post,
                url: HttpTemplate::parse(url).unwrap(),
                headers: vec![("x-ref".to_owned(), HttpTemplate::parse("{id}").unwrap())],
                body,
            },
            answers: AnswerRules::default(),
        }
    }

    #[test]
    fn a_request_has_the_message_as_json_or_as_a_form() {
        let json = json!({
            "to": ["+{to}"], "text": "{body}", "unicode": "{unicode}", "type": "u:{unicode}", "n": 1
        });
        let json = BodyTemplate::Json(JsonTemplate::parse(&json).unwrap());
        let request = submit("https://api.example.com/send", json).request(&MESSAGE);
        assert_eq!(
            request.body,
            r#"{"n":1,"text":"Naira & kobo: {50}%","to":["+2348031234567"],"type":"u:true","unicode":true}"#
        );
        let headers = [("x-ref", "7f"), ("content-type", "application/json")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(request.headers, headers);
        let field = |name: &str, value| (name.to_owned(), HttpTemplate::parse(value).unwrap());
        let form = BodyTemplate::Form(vec![field("to", "+{to}"), field("body", "{body}")]);
        let request = submit("https://api.example.com/{id}", form).request(&MESSAGE);
        assert_eq!(request.url, "https://api.example.com/7f");
        assert_eq!(
            request.body,
            "to=%2B2348031234567&body=Naira+%26+kobo%3A+%7B50%7D%25"
        );
    }

    #[test]
    fn a_request_has_a_list_of_its_recipients() {
        let recipients = [("2348031234567", "a1"), ("2348051234567", "b2")];
        let recipients = recipients.map(|(to, id)| HttpRecipient {
            to: to.to_owned(),
            id: id.to_owned(),
        });
        let json = json!({
            "text": "{body}", "all": "+{to}", "list": ["+{to}"], "fixed": ["a", "{from}"],
            "each": [{ "to": "{to}", "ref": "{id}" }], "ref": "{id}"
        });
        let json = BodyTemplate::Json(JsonTemplate::parse(&json).unwrap());
        let submit = submit("https://api.example.com/send?to={to}", json);
        assert!(submit.has_id_of_each());
        let request = submit.request_to(&MESSAGE, &recipients);
        let query = "to=2348031234567%2C2348051234567";
        assert_eq!(request.url, format!("https://api.example.com/send?{query}"));
        let joint = joint_id(&recipients);
        assert_eq!(request.headers[0].1, joint);
        let body: Value = serde_json::from_str(&request.body).unwrap();
        let expected = json!({
            "text": MESSAGE.body, "all": "+2348031234567,+2348051234567",
            "list": ["+2348031234567", "+2348051234567"], "fixed": ["a", "Ogene"],
            "each": [
                { "to": "2348031234567", "ref": "a1" }, { "to": "2348051234567", "ref": "b2" }
            ],
            "ref": joint,
        });
        assert_eq!(body, expected);
        // One recipient has the request of a carrier that takes no more.
        let one = submit.request_to(&MESSAGE, &recipients[..1]);
        let message = HttpMessage {
            id: "a1",
            ..MESSAGE
        };
        assert_eq!(one, submit.request(&message));
        let form = vec![("to".to_owned(), HttpTemplate::parse("+{to}").unwrap())];
        let submit = super::HttpSubmit {
            template: RequestTemplate {
                body: BodyTemplate::Form(form),
                ..submit.template
            },
            ..submit
        };
        let request = submit.request_to(&MESSAGE, &recipients);
        assert_eq!(request.body, "to=%2B2348031234567%2C%2B2348051234567");
        assert!(!submit.has_id_of_each());
    }

    #[test]
    fn the_host_of_a_carrier_is_fixed() {
        for (url, server) in [
            (
                "https://api.example.com/send?to={to}",
                Ok("https://api.example.com/"),
            ),
            ("http://127.0.0.1:8080", Ok("http://127.0.0.1:8080/")),
            ("https://api.example.com{to}", Err(UrlFault::Host)),
            ("https://{from}/send", Err(UrlFault::Host)),
            ("https://{id}@api.example.com/", Err(UrlFault::Host)),
            ("{to}", Err(UrlFault::NotHttp)),
            ("api.example.com/{to}", Err(UrlFault::NotHttp)),
            (
                "https://api.example.com?to={to}",
                Ok("https://api.example.com/"),
            ),
            ("https://u:p@api.example.com/", Err(UrlFault::Credentials)),
            ("https://u@api.example.com/{to}", Err(UrlFault::Credentials)),
            ("ftp://api.example.com/", Err(UrlFault::NotHttp)),
            ("api.example.com/send", Err(UrlFault::NotHttp)),
        ] {
            let found = submit(url, BodyTemplate::Empty).server();
            let found = found.as_ref().map(Url::as_str).map_err(|fault| *fault);
            assert_eq!(found, server, "{url}");
        }
    }

    #[test]
    fn a_request_needs_number_and_text() {
        let complete = |url| submit(url, BodyTemplate::Empty).is_complete();
        assert!(complete("https://a.example/?to={to}&text={body}"));
        assert!(!complete("https://a.example/?to={to}"));
        assert!(!complete("https://a.example/?text={body}"));
    }
}
