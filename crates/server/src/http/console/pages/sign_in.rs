//! Sign-in by password and code, and sign-out.

use super::super::browser_request::BrowserRequest;
use super::super::cookies::Cookie;
use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use axum::http::StatusCode;
use axum::response::Response;
use console::Notice;
use console::screens::PlainForm;
use domain::AccountId;
use domain::user::secret::Secret;
use engine::Visit;

/// The first page of a user who shows an account, or of an operator.
pub(super) fn home(account: Option<AccountId>) -> &'static str {
    match account {
        Some(_) => "/console/",
        None => "/operator/",
    }
}

/// `GET /sign-in`.
pub(super) async fn page(browser: BrowserRequest) -> Answered {
    match browser.visit().await? {
        Some(visit) => Ok(browser.redirect(&after(&visit, browser.query()))),
        None => Ok(form(&browser, browser.query(), StatusCode::OK, None)),
    }
}

/// `POST /sign-in`.
pub(super) async fn by_password(browser: BrowserRequest, fields: Form) -> Answered {
    let sessions = browser.console.engine.sessions();
    let (email, password) = (fields.get("email"), fields.get("password").to_owned());
    let signed_in = sessions.sign_in(email, password, &browser.client).await;
    let signed_in = match signed_in.map_err(Failure::from) {
        Ok(signed_in) => signed_in,
        Err(failure) => return refused(&browser, &fields, failure),
    };
    let path = if signed_in.needs_code {
        end_old(&browser).await?;
        format!("/sign-in/code?next={}", next(&fields).unwrap_or_default())
    } else {
        entered(&browser, &signed_in.secret, &fields).await?
    };
    Ok(begun(&browser, &path, &signed_in.secret))
}

/// Ends the session that the browser had before: nobody can have prepared the new one.
async fn end_old(browser: &BrowserRequest) -> Result<(), Failure> {
    if let Some(old) = browser.session() {
        let sessions = browser.console.engine.sessions();
        sessions.sign_out(&old).await?;
    }
    Ok(())
}

/// Returns the page to which a complete sign-in leads.
pub(super) async fn entered(
    browser: &BrowserRequest,
    secret: &Secret,
    fields: &Form,
) -> Result<String, Failure> {
    end_old(browser).await?;
    let visit = browser.console.engine.sessions().visit(secret).await?;
    let visit = visit.ok_or(Failure::SignedOut)?;
    Ok(after(&visit, fields))
}

/// Returns the form of the sign-in with the reason of a refusal.
pub(super) fn refused(browser: &BrowserRequest, fields: &Form, failure: Failure) -> Answered {
    let (status, text) = failure.shown()?;
    Ok(form(browser, fields, status, Some(text)))
}

/// `GET /sign-in/code`.
pub(super) async fn code_page(browser: BrowserRequest) -> Answered {
    match browser.visit().await? {
        Some(visit) if visit.is_signed_in => Ok(browser.redirect(&after(&visit, browser.query()))),
        Some(visit) => Ok(code_form(
            &browser,
            &visit,
            browser.query(),
            StatusCode::OK,
            None,
        )),
        None => Ok(browser.redirect("/sign-in")),
    }
}

/// `POST /sign-in/code`.
pub(super) async fn by_code(visitor: Visitor, fields: Form) -> Answered {
    let (sessions, code) = (visitor.sessions(), fields.get("code"));
    let given = sessions.give_second_factor(&visitor.visit, code, &visitor.client);
    match given.await.map_err(Failure::from) {
        Ok(secret) => {
            let path = next(&fields).unwrap_or(home(visitor.visit.account));
            Ok(begun(&visitor, path, &secret))
        }
        Err(failure) => {
            let (status, text) = failure.shown()?;
            Ok(code_form(
                &visitor,
                &visitor.visit,
                &fields,
                status,
                Some(text),
            ))
        }
    }
}

/// `POST /sign-out`.
pub(super) async fn sign_out(visitor: Visitor, _fields: Form) -> Answered {
    visitor.sessions().sign_out(&visitor.visit.secret).await?;
    Ok(visitor.with_cookie(visitor.redirect("/sign-in"), Cookie::Session, ""))
}

/// Leads to a page with a session that has just begun.
pub(super) fn begun(browser: &BrowserRequest, path: &str, secret: &Secret) -> Response {
    browser.with_cookie(browser.redirect(path), Cookie::Session, secret.text())
}

/// Returns the page that was asked for before the sign-in, if it is one of ours.
fn next(fields: &Form) -> Option<&str> {
    let next = fields.find("next")?;
    let is_ours = ["/console", "/operator", "/links/"]
        .iter()
        .any(|start| next.starts_with(start));
    let is_plain = next
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    (is_ours && is_plain && !next.contains("//")).then_some(next)
}

fn after(visit: &Visit, fields: &Form) -> String {
    if !visit.is_signed_in {
        return "/sign-in/code".to_owned();
    }
    next(fields).unwrap_or(home(visit.account)).to_owned()
}

fn hidden(fields: &Form) -> Vec<(String, String)> {
    let next = next(fields).map(|next| ("next".to_owned(), next.to_owned()));
    next.into_iter().collect()
}

fn form(
    browser: &BrowserRequest,
    fields: &Form,
    status: StatusCode,
    error: Option<String>,
) -> Response {
    let screen = PlainForm {
        notices: error.map(Notice::refused).into_iter().collect(),
        hidden: hidden(fields),
        csrf_token: browser.form_token(),
        theme: browser.theme,
        asks_passkey: browser.console.relying_party.is_some(),
        ..PlainForm::sign_in(fields.get("email"))
    };
    browser.page(status, console::html(&screen))
}

fn code_form(
    browser: &BrowserRequest,
    visit: &Visit,
    fields: &Form,
    status: StatusCode,
    error: Option<String>,
) -> Response {
    let screen = PlainForm {
        text: format!("You sign in as {}.", visit.email),
        notices: error.map(Notice::refused).into_iter().collect(),
        hidden: hidden(fields),
        csrf_token: visit.secret.form_token(),
        theme: browser.theme,
        ..PlainForm::second_factor()
    };
    browser.page(status, console::html(&screen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_leads_to_pages_of_this_service_alone() {
        for (given, expected) in [
            (
                "%2Fconsole%2Fmessages%3Fa%3Db",
                Some("/console/messages?a=b"),
            ),
            ("%2Foperator%2F", Some("/operator/")),
            ("https%3A%2F%2Fevil.example%2Fconsole", None),
            ("%2F%2Fevil.example%2Fconsole", None),
            ("%2Fconsole%2F%2Fevil.example", None),
            ("%2Fconsole%5Cevil", None),
            ("%2Fconsole%0D%0Ax%3Ay", None),
            ("%2Fdocs", None),
            ("", None),
        ] {
            let fields = Form::parse(format!("next={given}").as_bytes());
            assert_eq!(next(&fields), expected, "{given}");
        }
    }
}
