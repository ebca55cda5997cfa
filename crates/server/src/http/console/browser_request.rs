//! A request of a browser, before its user is known.

use super::cookies::Cookie;
use super::failure::Failure;
use super::form::Form;
use super::origin;
use super::state::Console;
use crate::http::extract::client;
use crate::http::respond::request_id;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use console::{Theme, screens};
use domain::Environment;
use domain::user::secret::Secret;
use engine::{Client, Visit};
use std::net::IpAddr;
use std::sync::Arc;

/// The header with the token of a form, which scripts send.
const TOKEN_HEADER: &str = "x-csrf-token";
/// The field with the token of a form.
const TOKEN_FIELD: &str = "csrf_token";
/// The header of requests that replace a part of a page.
const PARTIAL_HEADER: &str = "hx-request";

/// A request of a browser.
#[derive(Clone)]
pub(crate) struct BrowserRequest {
    pub(crate) console: Arc<Console>,
    /// The client. The log of sessions shows its address.
    pub(crate) client: Client,
    /// The colours that the user chose.
    pub(crate) theme: Theme,
    /// The environment that the user chose. A customer's pages show it.
    pub(super) environment: Environment,
    /// `true` if a script replaces a part of the page by the answer.
    pub(crate) is_partial: bool,
    params: Vec<(String, String)>,
    query: Form,
    headers: HeaderMap,
    uri: Uri,
    /// The secret of forms before a sign-in. It is new if the browser had none.
    form_secret: Secret,
    has_form_secret: bool,
}

impl BrowserRequest {
    pub(super) fn new(console: Arc<Console>, params: Vec<(String, String)>, parts: &Parts) -> Self {
        let headers = parts.headers.clone();
        let cookie = |cookie: Cookie| cookie.read(&headers, console.is_https);
        let theme = cookie(Cookie::Theme).map(Theme::parse).unwrap_or_default();
        let environment = match cookie(Cookie::Environment) {
            Some("sandbox") => Environment::Sandbox,
            _ => Environment::Live,
        };
        let form_secret = cookie(Cookie::Form).and_then(Secret::read);
        let word = |name: &str| {
            headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
        };
        Self {
            client: Client {
                address: address(parts, &console),
                agent: word("user-agent").unwrap_or_default().to_owned(),
            },
            theme,
            environment,
            is_partial: word(PARTIAL_HEADER) == Some("true"),
            params,
            query: Form::parse(parts.uri.query().unwrap_or_default().as_bytes()),
            uri: parts.uri.clone(),
            has_form_secret: form_secret.is_some(),
            form_secret: form_secret.unwrap_or_else(|| console.engine.sessions().new_secret()),
            headers,
            console,
        }
    }

    /// Returns a part of the path, such as `id` of `/console/messages/{id}`.
    pub(crate) fn param(&self, name: &str) -> &str {
        let found = self.params.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    /// Returns the fields of the query string.
    pub(crate) fn query(&self) -> &Form {
        &self.query
    }

    /// Returns the secret of the session that the browser has, ended or not.
    pub(super) fn session(&self) -> Option<Secret> {
        let value = Cookie::Session.read(&self.headers, self.console.is_https)?;
        Secret::read(value)
    }

    /// Returns the visit of the session that the browser has.
    pub(crate) async fn visit(&self) -> Result<Option<Visit>, engine::SessionError> {
        match self.session() {
            Some(secret) => self.console.engine.sessions().visit(&secret).await,
            None => Ok(None),
        }
    }

    /// Returns `true` if a form comes from a page of this service.
    pub(super) fn is_own(&self) -> bool {
        let public = self.console.public_origin.as_deref();
        origin::is_own(&self.headers, &self.uri, public)
    }

    /// Returns the secret of forms before a sign-in.
    pub(crate) fn form_secret(&self) -> &Secret {
        &self.form_secret
    }

    /// Returns the token of forms before a sign-in.
    pub(crate) fn form_token(&self) -> String {
        self.form_secret.form_token()
    }

    /// Returns `true` if a form before a sign-in has its token. A browser without the secret has
    /// never loaded the form.
    pub(super) fn is_form_token(&self, form: &Form) -> bool {
        self.has_form_secret && self.form_secret.is_form_token(self.token(form))
    }

    /// Returns the token that came with a request, in a field or in a header.
    pub(super) fn token<'t>(&'t self, form: &'t Form) -> &'t str {
        let header = self.headers.get(TOKEN_HEADER);
        let header = header.and_then(|value| value.to_str().ok());
        form.find(TOKEN_FIELD).or(header).unwrap_or_default()
    }

    /// Returns the path of the overview. It leads to the sign-in if there is no session.
    pub(super) fn home(&self) -> &'static str {
        if self.uri.path().starts_with("/operator") {
            "/operator/"
        } else {
            "/console/"
        }
    }

    /// Returns the path of the page from which a form came.
    pub(crate) fn came_from(&self) -> String {
        let referer = self.headers.get(header::REFERER);
        let uri = referer.and_then(|value| Uri::try_from(value.as_bytes()).ok());
        let path = uri.as_ref().map(Uri::path).unwrap_or_default();
        let is_ours = path.starts_with("/console/") || path.starts_with("/operator/");
        let is_plain = !path.contains("//") && !path.contains('\\');
        if is_ours && is_plain {
            path
        } else {
            self.home()
        }
        .to_owned()
    }

    /// Returns the origin at which the browser reaches the service.
    pub(crate) fn origin(&self) -> String {
        if let Some(public) = &self.console.public_origin {
            return public.clone();
        }
        let scheme = if self.console.is_https {
            "https"
        } else {
            "http"
        };
        let host = self
            .headers
            .get(header::HOST)
            .and_then(|host| host.to_str().ok());
        let host = host.or(self.uri.authority().map(Authority::as_str));
        format!("{scheme}://{}", host.unwrap_or("localhost"))
    }

    /// Returns `true` if the browser takes an answer that is compressed by gzip.
    pub(crate) fn takes_gzip(&self) -> bool {
        let accepted = self.headers.get(header::ACCEPT_ENCODING);
        let accepted = accepted
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        accepted
            .split(',')
            .any(|coding| coding.trim() == "gzip" || coding.trim().starts_with("gzip;q=1"))
    }

    /// Returns the notice that the page before left.
    pub(super) fn notice(&self) -> Option<&str> {
        Cookie::Notice.read(&self.headers, self.console.is_https)
    }

    /// Returns the secret that a form has just made, as its cookie has it.
    pub(super) fn made_cookie(&self) -> Option<&str> {
        Cookie::Made.read(&self.headers, self.console.is_https)
    }

    /// Returns a page as an answer. A new secret of forms is set with it.
    pub(crate) fn page(&self, status: StatusCode, html: String) -> Response {
        let response = (status, Html(html)).into_response();
        if self.has_form_secret {
            return response;
        }
        self.with_cookie(response, Cookie::Form, self.form_secret.text())
    }

    /// Returns the answer to this request if it failed: a page, or a part of one for a script.
    pub(super) fn failed(&self, failure: &Failure) -> Response {
        let status = failure.status();
        if matches!(failure, Failure::SignedOut) && !self.is_partial {
            return self.to_sign_in();
        }
        let (id, home, theme) = (request_id::current(), self.home(), self.theme);
        let mut page = screens::Failure::of_status(status.as_u16(), &id, home, theme);
        if let Some((title, text)) = failure.text() {
            (page.title, page.text) = (title.to_owned(), text);
        }
        let mut response = (status, Html(console::html(&page))).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }

    /// Returns the answer that leads to another page.
    pub(crate) fn redirect(&self, path: &str) -> Response {
        let location = HeaderValue::try_from(path);
        let location = location.unwrap_or_else(|_| HeaderValue::from_static(self.home()));
        (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
    }

    /// Returns the answer that leads to the sign-in, and back to this page after it.
    pub(super) fn to_sign_in(&self) -> Response {
        let path = self.uri.path_and_query().map_or("", |path| path.as_str());
        let next: String =
            percent_encoding::utf8_percent_encode(path, percent_encoding::NON_ALPHANUMERIC)
                .to_string();
        let response = self.redirect(&format!("/sign-in?next={next}"));
        self.with_cookie(response, Cookie::Session, "")
    }

    /// Adds a cookie to an answer, or removes it with an empty value.
    pub(crate) fn with_cookie(
        &self,
        mut response: Response,
        cookie: Cookie,
        value: &str,
    ) -> Response {
        if let Some(line) = cookie.write(value, self.console.is_https) {
            response.headers_mut().append(header::SET_COOKIE, line);
        }
        response
    }
}

fn address(parts: &Parts, console: &Console) -> IpAddr {
    client::address(parts, &console.settings.load().trusted_proxies)
}
