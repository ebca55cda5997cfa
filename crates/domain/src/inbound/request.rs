//! The request of a customer for a route.

use super::route::{keyword, number};
use crate::callback_url;
use crate::refusal::Refusal;
use std::fmt::Display;

/// Maximum number of routes of an account.
pub const MAX_ROUTES: usize = 1_000;

/// The raw fields of a request for a route.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct RouteFields {
    /// The number.
    pub number: Option<String>,
    /// The keyword.
    pub keyword: Option<String>,
    /// The URL that gets the messages.
    pub url: Option<String>,
    /// The SMPP user that gets the messages, in place of a URL.
    pub smpp_user: Option<String>,
}

/// A request for a route.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RouteRequest {
    /// The number in digits.
    pub number: String,
    /// The keyword in its stored form, or nothing for all other texts.
    pub keyword: String,
    /// The URL that gets the messages.
    pub url: Option<String>,
    /// The SMPP user that gets the messages, in place of a URL.
    pub smpp_user: Option<String>,
}

impl RouteRequest {
    /// Parses the fields of a request.
    pub fn read(fields: &RouteFields, private_callbacks: bool) -> Result<Self, Refusal> {
        let given = |field: &Option<String>| {
            let text = field.as_deref().unwrap_or_default().trim();
            Some(text.to_owned()).filter(|text| !text.is_empty())
        };
        let number = number(&given(&fields.number).unwrap_or_default());
        let number = number.map_err(|fault| malformed("number", &fault))?;
        let keyword = given(&fields.keyword).map(|text| keyword(&text));
        let keyword = keyword.transpose();
        let keyword = keyword.map_err(|fault| malformed("keyword", &fault))?;
        let url = given(&fields.url);
        if let Some(url) = &url {
            let checked = callback_url::check_stored(url, private_callbacks);
            checked.map_err(|fault| malformed("url", &fault))?;
        }
        let smpp_user = given(&fields.smpp_user);
        if url.is_some() && smpp_user.is_some() {
            let text = "`url` and `smpp_user` exclude each other: the messages of a route go to one \
                        place. Leave one of them out.";
            return Err(Refusal::Malformed(text.to_owned()));
        }
        Ok(Self {
            number,
            keyword: keyword.unwrap_or_default(),
            url,
            smpp_user,
        })
    }
}

fn malformed(field: &str, fault: &dyn Display) -> Refusal {
    Refusal::Malformed(format!("`{field}` cannot be used: {fault}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(number: &str, keyword: &str, url: &str) -> Result<RouteRequest, String> {
        let fields = RouteFields {
            number: Some(number.to_owned()),
            keyword: Some(keyword.to_owned()),
            url: Some(url.to_owned()),
            smpp_user: None,
        };
        RouteRequest::read(&fields, false).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn a_request_is_read_in_the_stored_form() {
        let request = read(" 32811", "Promo!", "https://shop.example.ng/in").unwrap();
        assert_eq!((&*request.number, &*request.keyword), ("32811", "promo"));
        assert_eq!(request.url.as_deref(), Some("https://shop.example.ng/in"));
        let all = read("+2348031234567", " ", "").unwrap();
        assert_eq!(
            (&*all.number, &*all.keyword, all.url),
            ("2348031234567", "", None)
        );
    }

    #[test]
    fn the_messages_of_a_route_go_to_one_place() {
        let mut fields = RouteFields {
            number: Some("32811".to_owned()),
            smpp_user: Some(" u0000001 ".to_owned()),
            ..RouteFields::default()
        };
        let request = RouteRequest::read(&fields, false).unwrap();
        assert_eq!(request.smpp_user.as_deref(), Some("u0000001"));
        fields.url = Some("https://shop.example.ng/in".to_owned());
        let refusal = RouteRequest::read(&fields, false).unwrap_err().to_string();
        assert!(refusal.starts_with("`url` and `smpp_user`"), "{refusal}");
    }

    #[test]
    fn a_wrong_field_is_named() {
        for (fields, field) in [
            (("", "", ""), "`number`"),
            (("Ogene", "", ""), "`number`"),
            (("32811", "?!", ""), "`keyword`"),
            (("32811", "", "ftp://shop.example.ng"), "`url`"),
            (("32811", "", "http://127.0.0.1/"), "`url`"),
            (("32811", "", "https://shop.example.ng/\nin"), "`url`"),
            (("32811", "", "https://shop.example.ng/\0"), "`url`"),
        ] {
            let (number, keyword, url) = fields;
            let refusal = read(number, keyword, url).unwrap_err();
            assert!(refusal.starts_with(field), "{refusal}");
        }
    }
}
