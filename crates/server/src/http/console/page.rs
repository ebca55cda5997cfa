//! A route of the console: its path, the access that it needs, and its handler.
//!
//! The access is checked before the handler runs: the session, then the permission, and for a form
//! its origin and its token. A handler therefore checks only that a thing belongs to the account.

use super::browser_request::BrowserRequest;
use super::failure::Failure;
use super::form::Form;
use super::state::Console;
use super::visitor::Visitor;
use axum::extract::{RawPathParams, Request, State};
use axum::response::Response;
use axum::routing::{MethodRouter, get as on_get, post as on_post};
use domain::user::role::Permission;
use std::sync::Arc;

/// The result of a handler.
pub(crate) type Answered = Result<Response, Failure>;

/// The access that a route needs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// Nobody needs to be known.
    Public,
    /// A session, even one that lacks the second factor.
    Session,
    /// A user with this permission.
    Needs(Permission),
}

/// A route.
pub(crate) struct Page {
    /// `GET` or `POST`.
    pub(crate) method: &'static str,
    /// The path, with parts such as `{id}`.
    pub(crate) path: &'static str,
    /// The access that it needs.
    pub(crate) access: Access,
    pub(super) route: MethodRouter<Arc<Console>>,
}

/// A page that a user with a permission may see.
pub(crate) fn get<F>(
    path: &'static str,
    permission: Permission,
    handler: impl Fn(Visitor) -> F + Clone + Send + Sync + 'static,
) -> Page
where
    F: Future<Output = Answered> + Send + 'static,
{
    let access = Access::Needs(permission);
    let run =
        move |State(console): State<Arc<Console>>, params: RawPathParams, request: Request| {
            let handler = handler.clone();
            async move {
                let (browser, _) = opened(console, &params, request);
                let answered = match admit(&browser, access).await {
                    Ok(visitor) => handler(visitor).await,
                    Err(failure) => Err(failure),
                };
                answered.unwrap_or_else(|failure| browser.failed(&failure))
            }
        };
    Page {
        method: "GET",
        path,
        access,
        route: on_get(run),
    }
}

/// A form that a user with a permission may send.
pub(crate) fn post<F>(
    path: &'static str,
    permission: Permission,
    handler: impl Fn(Visitor, Form) -> F + Clone + Send + Sync + 'static,
) -> Page
where
    F: Future<Output = Answered> + Send + 'static,
{
    form_of(path, Access::Needs(permission), handler)
}

/// A form of a session that may lack the second factor.
pub(crate) fn post_half<F>(
    path: &'static str,
    handler: impl Fn(Visitor, Form) -> F + Clone + Send + Sync + 'static,
) -> Page
where
    F: Future<Output = Answered> + Send + 'static,
{
    form_of(path, Access::Session, handler)
}

fn form_of<F>(
    path: &'static str,
    access: Access,
    handler: impl Fn(Visitor, Form) -> F + Clone + Send + Sync + 'static,
) -> Page
where
    F: Future<Output = Answered> + Send + 'static,
{
    let run =
        move |State(console): State<Arc<Console>>, params: RawPathParams, request: Request| {
            let handler = handler.clone();
            async move {
                let (browser, request) = opened(console, &params, request);
                let answered = match admit_form(&browser, access, request).await {
                    Ok((visitor, form)) => handler(visitor, form).await,
                    Err(failure) => Err(failure),
                };
                answered.unwrap_or_else(|failure| browser.failed(&failure))
            }
        };
    Page {
        method: "POST",
        path,
        access,
        route: on_post(run),
    }
}

/// An upload that a user with a permission may make. The origin and, in the header `x-csrf-token`
/// or the query field `csrf_token`, the token are checked before the handler reads the body.
pub(crate) fn upload<F>(
    path: &'static str,
    permission: Permission,
    handler: impl Fn(Visitor, Request) -> F + Clone + Send + Sync + 'static,
) -> Page
where
    F: Future<Output = Answered> + Send + 'static,
{
    let access = Access::Needs(permission);
    let run =
        move |State(console): State<Arc<Console>>, params: RawPathParams, request: Request| {
            let handler = handler.clone();
            async move {
                let (browser, request) = opened(console, &params, request);
                let admitted = admit(&browser, access).await.and_then(|visitor| {
                    let is_own = browser.is_own() && visitor.is_token(browser.query());
                    is_own.then_some(visitor).ok_or(Failure::Forged)
                });
                let answered = match admitted {
                    Ok(visitor) => handler(visitor, request).await,
                    Err(failure) => Err(failure),
                };
                answered.unwrap_or_else(|failure| browser.failed(&failure))
            }
        };
    Page {
        method: "POST",
        path,
        access,
        route: on_post(run),
    }
}

/// A page that everybody may see.
pub(crate) fn get_public<F>(
    path: &'static str,
    handler: impl Fn(BrowserRequest) -> F + Clone + Send + Sync + 'static,
) -> Page
where
    F: Future<Output = Answered> + Send + 'static,
{
    let run =
        move |State(console): State<Arc<Console>>, params: RawPathParams, request: Request| {
            let handler = handler.clone();
            async move {
                let (browser, _) = opened(console, &params, request);
                let answered = handler(browser.clone()).await;
                answered.unwrap_or_else(|failure| browser.failed(&failure))
            }
        };
    Page {
        method: "GET",
        path,
        access: Access::Public,
        route: on_get(run),
    }
}

/// A form that everybody may send. Its origin and the token of forms before a sign-in are checked.
pub(crate) fn post_public<F>(
    path: &'static str,
    handler: impl Fn(BrowserRequest, Form) -> F + Clone + Send + Sync + 'static,
) -> Page
where
    F: Future<Output = Answered> + Send + 'static,
{
    let run = move |State(console): State<Arc<Console>>,
                    params: RawPathParams,
                    request: Request| {
        let handler = handler.clone();
        async move {
            let (browser, request) = opened(console, &params, request);
            let answered = match read_form(&browser, request).await {
                Ok(form) if browser.is_form_token(&form) => handler(browser.clone(), form).await,
                Ok(_) => Err(Failure::Forged),
                Err(failure) => Err(failure),
            };
            answered.unwrap_or_else(|failure| browser.failed(&failure))
        }
    };
    Page {
        method: "POST",
        path,
        access: Access::Public,
        route: on_post(run),
    }
}

/// Answers a path without a page.
pub(super) async fn unknown_page(
    State(console): State<Arc<Console>>,
    params: RawPathParams,
    request: Request,
) -> Response {
    let (browser, _) = opened(console, &params, request);
    browser.failed(&Failure::NotFound)
}

fn opened(
    console: Arc<Console>,
    params: &RawPathParams,
    request: Request,
) -> (BrowserRequest, Request) {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let params = params.iter().map(owned).collect();
    let (parts, body) = request.into_parts();
    let browser = BrowserRequest::new(console, params, &parts);
    (browser, Request::from_parts(parts, body))
}

/// Returns the visitor, unless the session has ended or the role lacks the permission.
async fn admit(browser: &BrowserRequest, access: Access) -> Result<Visitor, Failure> {
    let visit = browser.visit().await?.ok_or(Failure::SignedOut)?;
    match access {
        Access::Needs(_) if !visit.is_signed_in => return Err(Failure::SignedOut),
        Access::Needs(permission) if !visit.may(permission) => return Err(Failure::Forbidden),
        Access::Public | Access::Session | Access::Needs(_) => {}
    }
    Ok(Visitor::new(browser.clone(), visit))
}

async fn admit_form(
    browser: &BrowserRequest,
    access: Access,
    request: Request,
) -> Result<(Visitor, Form), Failure> {
    let visitor = admit(browser, access).await?;
    let form = read_form(browser, request).await?;
    if !visitor.is_token(&form) {
        return Err(Failure::Forged);
    }
    Ok((visitor, form))
}

/// Reads a form of a page of this service.
async fn read_form(browser: &BrowserRequest, request: Request) -> Result<Form, Failure> {
    if !browser.is_own() {
        return Err(Failure::Forged);
    }
    let (parts, body) = request.into_parts();
    let time = browser.console.settings.load().body.time;
    Form::read(&parts.headers, body, time).await
}
