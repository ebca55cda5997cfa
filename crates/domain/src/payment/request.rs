//! The request of a customer for a top-up.

use super::terms::{Priced, Terms};
use crate::money::Money;
use crate::refusal::Refusal;
use url::Url;

/// Maximum length of the page to which a customer returns, in characters.
pub const MAX_RETURN_URL_CHARACTERS: usize = 2_000;

/// The raw fields of a request for a top-up.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TopUpFields {
    /// The amount.
    pub amount: Option<String>,
    /// The name of the provider.
    pub provider: Option<String>,
    /// The page to which the customer returns.
    pub return_url: Option<String>,
}

/// A request for a top-up.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TopUpRequest {
    /// The price.
    pub price: Priced,
    /// The name of the provider, or `None` for the default one.
    pub provider: Option<String>,
    /// The page to which the customer returns.
    pub return_url: Option<String>,
}

impl TopUpRequest {
    /// Parses the fields of a request.
    pub fn read(fields: &TopUpFields, terms: &Terms) -> Result<Self, Refusal> {
        let given = |field: &Option<String>| {
            let text = field.as_deref().unwrap_or_default().trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let amount: Option<Money> = given(&fields.amount).and_then(|text| text.parse().ok());
        let Some(amount) = amount else {
            return Err(Refusal::Malformed(
                "`amount` must be an amount in naira with at most two decimals, such as 5000.00."
                    .to_owned(),
            ));
        };
        let price = terms.price(amount);
        let price = price.map_err(|fault| Refusal::Malformed(format!("`amount`: {fault}.")))?;
        let return_url = given(&fields.return_url);
        if return_url.as_deref().is_some_and(|url| !is_page(url)) {
            return Err(Refusal::Malformed(format!(
                "`return_url` must be an http or https URL of at most {MAX_RETURN_URL_CHARACTERS} characters."
            )));
        }
        Ok(Self {
            price,
            provider: given(&fields.provider),
            return_url,
        })
    }
}

/// Returns `true` for the URL of a page to which a customer can be sent. A control character, which
/// parsers of URLs drop, fits neither into a header nor into PostgreSQL.
pub fn is_page(url: &str) -> bool {
    let is_web = |url: Url| matches!(url.scheme(), "http" | "https");
    url.len() <= MAX_RETURN_URL_CHARACTERS
        && !url.contains(char::is_control)
        && Url::parse(url).is_ok_and(is_web)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payment::Percent;
    use crate::wallet::Component;

    fn read(amount: &str, return_url: &str) -> Result<TopUpRequest, Refusal> {
        let terms = Terms {
            vat: Percent::from_hundredths(750),
            minimum: Money::from_naira(500),
            component: Component::UniversalWallet,
            bonuses: Vec::new(),
            expires_ms: 1,
        };
        let fields = TopUpFields {
            amount: Some(amount.to_owned()),
            provider: Some(" ".to_owned()),
            return_url: Some(return_url.to_owned()),
        };
        TopUpRequest::read(&fields, &terms)
    }

    #[test]
    fn a_request_has_an_amount_and_may_have_a_return_page() {
        let request = read(" 1000.5 ", "https://shop.example.ng/thanks?a=1").unwrap();
        assert_eq!(request.price.amount.to_string(), "1000.50");
        assert_eq!(request.price.vat.to_string(), "75.04");
        assert_eq!(request.provider, None, "a blank field is absent");
        assert_eq!(read("500", "").unwrap().return_url, None);
    }

    #[test]
    fn a_malformed_field_is_named() {
        let long = format!("https://a.example/{}", "a".repeat(2_000));
        for (amount, url, field) in [
            ("", "", "amount"),
            ("1,000", "", "amount"),
            ("499.99", "", "amount"),
            ("1000.001", "", "amount"),
            ("1000", "ftp://a.example", "return_url"),
            ("1000", "javascript:alert(1)", "return_url"),
            ("1000", "https://a.example/\nb", "return_url"),
            ("1000", "https://a.example/\0b", "return_url"),
            ("1000", &long, "return_url"),
        ] {
            let refusal = read(amount, url).unwrap_err().to_string();
            assert!(refusal.contains(field), "{amount} {url}: {refusal}");
        }
    }
}
