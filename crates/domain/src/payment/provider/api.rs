//! The calls and answers that every provider has.

use crate::money::Money;
use crate::payment::provided::Payment;
use std::fmt;

/// Maximum length of a reference that a webhook names, in characters.
const MAX_REFERENCE_CHARACTERS: usize = 200;

/// A call of a provider's API, below its base URL.
#[derive(Clone, Eq, PartialEq)]
pub struct ApiCall {
    /// The path with the query.
    pub path: String,
    /// The value of the header `Authorization`.
    pub authorization: String,
    /// The JSON body of a POST, or `None` for a GET.
    pub body: Option<String>,
}

/// The authorization is never shown.
impl fmt::Debug for ApiCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiCall")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// The answer of a provider.
#[derive(Clone, Copy, Debug)]
pub struct ApiAnswer<'a> {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: &'a [u8],
}

/// A payment that is to be made on a page of the provider.
#[derive(Clone, Copy, Debug)]
pub struct Checkout<'a> {
    /// The reference of the top-up.
    pub reference: &'a str,
    /// The amount that the customer pays.
    pub total: Money,
    /// The address of the customer.
    pub email: &'a str,
    /// The name of the customer.
    pub name: &'a str,
    /// The page to which the provider sends the customer back.
    pub return_url: &'a str,
}

/// The answer of a provider is not one that its documentation describes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the answer is none that the documentation of the provider describes")]
pub struct Unread;

/// The headers of a webhook, by name in lower case.
pub type Headers<'a> = &'a (dyn Fn(&str) -> Option<&'a str> + Sync);

/// A payment provider. It makes no calls itself.
pub trait Provider: fmt::Debug + Send + Sync {
    /// Returns the call that a provider with short-lived tokens needs before any other.
    fn login(&self) -> Option<ApiCall> {
        None
    }

    /// Reads the token of a login.
    fn token(&self, _answer: ApiAnswer<'_>) -> Result<String, Unread> {
        Err(Unread)
    }

    /// Returns the call that makes a page for a payment. `token` is that of the login.
    fn create(&self, checkout: &Checkout<'_>, token: &str) -> ApiCall;

    /// Reads the address of the page.
    fn checkout_url(&self, answer: ApiAnswer<'_>) -> Result<String, Unread>;

    /// Returns the call that asks for the payment of a reference.
    fn find(&self, reference: &str, token: &str) -> ApiCall;

    /// Reads the payment, or `None` if the provider has none with the reference.
    fn payment(&self, answer: ApiAnswer<'_>) -> Result<Option<Payment>, Unread>;

    /// Returns `true` if the provider signed the bytes of a webhook.
    fn is_signed(&self, headers: Headers<'_>, body: &[u8]) -> bool;

    /// Returns the reference that a webhook names. One without a reference is about something else
    /// than a payment.
    fn hook_reference(&self, body: &[u8]) -> Option<String>;
}

/// Returns a reference that can be asked for.
pub(super) fn usable(reference: String) -> Option<String> {
    let is_usable = reference.len() <= MAX_REFERENCE_CHARACTERS
        && !reference.is_empty()
        && reference.bytes().all(|byte| byte.is_ascii_graphic());
    is_usable.then_some(reference)
}

/// Returns a text as a part of a path or query. It has no spaces.
pub(super) fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Returns `true` if the provider knows no payment of the reference.
pub(super) fn is_unknown(answer: ApiAnswer<'_>) -> bool {
    matches!(answer.status, 400 | 404)
}
