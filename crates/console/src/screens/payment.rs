//! The pages of a payment, which need no session: the page that pays in the sandbox, the page to
//! which a provider sends a customer back, and the receipt of a payment.

use askama::Template;

/// A page of a payment. It loads nothing else, so that it can be kept and printed.
#[derive(Clone, Debug, Eq, PartialEq, Template)]
#[template(path = "payment.html")]
pub struct PaymentPage {
    /// The title.
    pub title: String,
    /// The state of the payment, in a sentence.
    pub text: String,
    /// Facts of the payment.
    pub facts: Vec<(String, String)>,
    /// The label of the button that posts to the address of the page.
    pub action: Option<String>,
    /// The address and the label of a link.
    pub link: Option<(String, String)>,
}

/// The content security policy of a page of a payment. It permits the style of the page by its hash.
/// The form leads on to the page of the customer, and some browsers apply `form-action` to that, too.
pub const PAYMENT_CONTENT_SECURITY_POLICY: &str = "default-src 'none'; \
     style-src 'sha256-uzIZjdCRBFFdX6S1lsXkDpqiPK4jk0vwPGh3Q3Zt7l8='; form-action 'self' http: https:; \
     base-uri 'none'; frame-ancestors 'none'";

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_policy_permits_the_style_of_the_page() {
        let html = crate::html(&PaymentPage {
            title: String::new(),
            text: String::new(),
            facts: Vec::new(),
            action: None,
            link: None,
        });
        let (_, rest) = html.split_once("<style>").unwrap();
        let (style, _) = rest.split_once("</style>").unwrap();
        let hash = STANDARD.encode(Sha256::digest(style));
        let source = format!("style-src 'sha256-{hash}';");
        assert!(
            PAYMENT_CONTENT_SECURITY_POLICY.contains(&source),
            "{source}"
        );
    }

    #[test]
    fn a_page_of_a_payment_escapes_what_it_shows() {
        let page = PaymentPage {
            title: "<b>".to_owned(),
            text: "<i>".to_owned(),
            facts: vec![("<u>".to_owned(), "<script>".to_owned())],
            action: Some("<s>".to_owned()),
            link: Some(("\"><p>".to_owned(), "<q>".to_owned())),
        };
        let html = crate::html(&page);
        for given in ["<b>", "<i>", "<u>", "<script>", "<s>", "<p>\"", "<q>"] {
            assert!(!html.contains(given), "{given}: {html}");
        }
        assert!(html.contains("<form method=\"post\">"));
    }
}
