//! Templates of requests to a carrier: `{to}` is replaced by the number, and `{{` and `}}` are
//! braces.

use url::form_urlencoded::byte_serialize;

/// The message that a request submits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HttpMessage<'a> {
    /// The international number in digits.
    pub to: &'a str,
    /// The sender ID.
    pub from: &'a str,
    /// The whole text.
    pub body: &'a str,
    /// Our id of the submit.
    pub id: &'a str,
    /// The URL to which the carrier posts receipts. It is empty without one.
    pub receipt_url: &'a str,
    /// `true` if the text has characters outside GSM 03.38.
    pub unicode: bool,
}

/// A recipient of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpRecipient {
    /// The international number in digits.
    pub to: String,
    /// Our id of the submit to this recipient.
    pub id: String,
}

/// The reason why a text is no template.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HttpTemplateFault {
    /// It has a placeholder that does not exist.
    #[error(
        "has the placeholder {{{0}}}, which does not exist; there are {{to}}, {{from}}, {{body}}, \
         {{id}}, {{receipt_url}} and {{unicode}}"
    )]
    Unknown(String),
    /// A brace is neither doubled nor part of a placeholder.
    #[error("has a lone brace; write {{{{ or }}}} for a brace that is to be sent")]
    LoneBrace,
}

/// A value of the message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Placeholder {
    To,
    From,
    Body,
    Id,
    ReceiptUrl,
    Unicode,
}

const PLACEHOLDERS: [(&str, Placeholder); 6] = [
    ("to", Placeholder::To),
    ("from", Placeholder::From),
    ("body", Placeholder::Body),
    ("id", Placeholder::Id),
    ("receipt_url", Placeholder::ReceiptUrl),
    ("unicode", Placeholder::Unicode),
];

impl Placeholder {
    fn value<'a>(self, of: &HttpMessage<'a>) -> &'a str {
        match self {
            Self::To => of.to,
            Self::From => of.from,
            Self::Body => of.body,
            Self::Id => of.id,
            Self::ReceiptUrl => of.receipt_url,
            Self::Unicode if of.unicode => "true",
            Self::Unicode => "false",
        }
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum Part {
    Text(String),
    Value(Placeholder),
}

/// A text with placeholders.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct HttpTemplate(Vec<Part>);

impl HttpTemplate {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, HttpTemplateFault> {
        let mut template = Self::default();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            template.push(&rest[..at]);
            let from_brace = &rest[at..];
            if from_brace.starts_with("{{") || from_brace.starts_with("}}") {
                template.push(&from_brace[..1]);
                rest = &from_brace[2..];
                continue;
            }
            let inner = from_brace.strip_prefix('{');
            let Some((name, after)) = inner.and_then(|inner| inner.split_once('}')) else {
                return Err(HttpTemplateFault::LoneBrace);
            };
            let known = PLACEHOLDERS.iter().find(|(known, _)| *known == name);
            let Some((_, placeholder)) = known else {
                return Err(HttpTemplateFault::Unknown(name.to_owned()));
            };
            template.0.push(Part::Value(*placeholder));
            rest = after;
        }
        template.push(rest);
        Ok(template)
    }

    /// Returns a text without placeholders.
    pub fn fixed(text: &str) -> Self {
        let mut template = Self::default();
        template.push(text);
        template
    }

    /// Returns the text of a message.
    pub fn fill(&self, message: &HttpMessage<'_>) -> String {
        self.with(|text, value| text.push_str(value.value(message)))
    }

    /// Returns the text of a message as part of a URL.
    pub(super) fn fill_url(&self, message: &HttpMessage<'_>) -> String {
        self.with(|text, value| {
            let octets = value.value(message).as_bytes();
            for piece in byte_serialize(octets) {
                // In a path a plus is a plus.
                text.push_str(if piece == "+" { "%20" } else { piece });
            }
        })
    }

    /// Returns the placeholder, if there is nothing else.
    pub(super) fn alone(&self) -> Option<Placeholder> {
        match self.0[..] {
            [Part::Value(one)] => Some(one),
            _ => None,
        }
    }

    /// Returns `true` if it has this placeholder.
    pub(super) fn has(&self, placeholder: Placeholder) -> bool {
        self.0.contains(&Part::Value(placeholder))
    }

    /// Returns the fixed text before the first placeholder.
    pub(super) fn start(&self) -> &str {
        match self.0.first() {
            Some(Part::Text(text)) => text,
            Some(Part::Value(_)) | None => "",
        }
    }

    fn with(&self, mut push: impl FnMut(&mut String, Placeholder)) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Text(fixed) => text.push_str(fixed),
                Part::Value(value) => push(&mut text, *value),
            }
        }
        text
    }

    fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.0.push(Part::Text(text.to_owned())),
        }
    }
}

#[cfg(test)]
pub(super) const MESSAGE: HttpMessage<'_> = HttpMessage {
    to: "2348031234567",
    from: "Ogene",
    body: "Naira & kobo: {50}%",
    id: "7f",
    receipt_url: "https://sms.example.ng/hooks/carriers/agg/s",
    unicode: true,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_placeholder_is_replaced_by_its_value() {
        for (template, text, in_url) in [
            ("+{to}", "+2348031234567", "+2348031234567"),
            ("{from}/{id}", "Ogene/7f", "Ogene/7f"),
            (
                "{body}",
                "Naira & kobo: {50}%",
                "Naira%20%26%20kobo%3A%20%7B50%7D%25",
            ),
            ("{unicode}", "true", "true"),
            ("{{to}}", "{to}", "{to}"),
            ("", "", ""),
        ] {
            let parsed = HttpTemplate::parse(template).unwrap();
            assert_eq!(parsed.fill(&MESSAGE), text, "{template}");
            assert_eq!(parsed.fill_url(&MESSAGE), in_url, "{template}");
        }
    }

    #[test]
    fn a_fault_of_a_template_names_its_cause() {
        for (template, fault) in [
            ("{text}", HttpTemplateFault::Unknown("text".to_owned())),
            ("{to", HttpTemplateFault::LoneBrace),
            ("to}", HttpTemplateFault::LoneBrace),
        ] {
            assert_eq!(HttpTemplate::parse(template), Err(fault), "{template}");
        }
    }
}
