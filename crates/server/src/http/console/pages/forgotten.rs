//! The request for a link to choose a new password, at the sign-in.
//!
//! The answer precedes the search for the user. So neither its text nor its time shows whether a
//! user has the address.

use super::super::browser_request::BrowserRequest;
use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use crate::link_mail;
use axum::http::StatusCode;
use axum::response::Response;
use console::Notice;
use console::screens::PlainForm;
use domain::user::normalised_email;
use engine::{MailSettings, Sessions};
use std::sync::Arc;

/// `GET /sign-in/forgotten`.
pub(super) async fn page(browser: BrowserRequest) -> Answered {
    let screen = match browser.console.mail {
        Some(_) => PlainForm::forgotten(browser.query().get("email")),
        None => PlainForm::forgotten_without_mail(),
    };
    Ok(shown(&browser, StatusCode::OK, screen))
}

/// `POST /sign-in/forgotten`.
pub(super) async fn send(browser: BrowserRequest, fields: Form) -> Answered {
    let Some(mail) = browser.console.mail.clone() else {
        return page(browser).await;
    };
    let given = fields.get("email");
    let refused = |failure: Failure| -> Answered {
        let (status, text) = failure.shown()?;
        let screen = PlainForm {
            notices: vec![Notice::refused(text)],
            ..PlainForm::forgotten(given)
        };
        Ok(shown(&browser, status, screen))
    };
    let Some(email) = normalised_email(given) else {
        let text = "The e-mail address is not valid.";
        return refused(Failure::Refused(text.to_owned()));
    };
    let sessions = browser.console.engine.sessions();
    if let Err(error) = sessions.count_reset(&email, &browser.client).await {
        return refused(error.into());
    }
    let place = Arc::clone(&browser.console.resets).try_acquire_owned();
    let place = place.map_err(|_| Failure::Busy)?;
    let (origin, to) = (browser.origin(), email.clone());
    tokio::spawn(async move {
        send_link(&sessions, &mail, &origin, &to).await;
        drop(place);
    });
    let screen = PlainForm::forgotten_mailed(&email);
    Ok(shown(&browser, StatusCode::OK, screen))
}

/// Sends a link to the user with an address, if there is one. Failures reach the log alone.
async fn send_link(sessions: &Sessions, mail: &MailSettings, origin: &str, email: &str) {
    match sessions.forgotten_link(email).await {
        Ok(Some(link)) => {
            let address = format!("{origin}/links/{}", link.secret.text());
            if let Err(error) = link_mail::send(mail, &link, &address).await {
                tracing::warn!(%error, "mail: link of a reset at the sign-in not sent");
            }
        }
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(%error, "sign-in: no link for a reset, the database failed");
        }
    }
}

fn shown(browser: &BrowserRequest, status: StatusCode, screen: PlainForm) -> Response {
    let screen = PlainForm {
        csrf_token: browser.form_token(),
        theme: browser.theme,
        ..screen
    };
    browser.page(status, console::html(&screen))
}
