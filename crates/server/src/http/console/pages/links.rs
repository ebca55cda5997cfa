//! One-time links. A link is used by its button, because scanners of mail open every address.

use super::super::browser_request::BrowserRequest;
use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::sign_in::begun;
use axum::http::StatusCode;
use axum::response::Response;
use console::Notice;
use console::parts::{Field, Kind};
use console::screens::PlainForm;
use domain::user::link::{LinkPurpose, LinkState};
use domain::user::password::MIN_CHARACTERS;
use domain::user::secret::Secret;
use engine::{LinkFields, OpenLink};

/// `GET /links/{secret}`.
pub(super) async fn page(browser: BrowserRequest) -> Answered {
    let (secret, link) = found(&browser).await?;
    if is_for_another(&browser, &link).await? {
        return Ok(browser.redirect(&format!("/sign-in?next=/links/{}", secret.text())));
    }
    Ok(form(
        &browser,
        &secret,
        &link,
        &Form::default(),
        (StatusCode::OK, None),
    ))
}

/// `POST /links/{secret}`.
pub(super) async fn consume(browser: BrowserRequest, fields: Form) -> Answered {
    let (secret, link) = found(&browser).await?;
    let given = LinkFields {
        email: fields.get("email").to_owned(),
        name: fields.get("name").to_owned(),
        password: fields.get("password").to_owned(),
    };
    let visit = browser.visit().await?;
    let sessions = browser.console.engine.sessions();
    let used = sessions
        .use_link(&secret, given, visit.as_ref(), &browser.client)
        .await;
    match used.map_err(Failure::from) {
        Ok(None) => Ok(browser.redirect("/sign-in")),
        Ok(Some(begins)) => {
            let visit = sessions.visit(&begins).await?.ok_or(Failure::SignedOut)?;
            Ok(begun(
                &browser,
                super::sign_in::home(visit.account),
                &begins,
            ))
        }
        Err(failure) => {
            let (status, text) = failure.shown()?;
            Ok(form(
                &browser,
                &secret,
                &link,
                &fields,
                (status, Some(text)),
            ))
        }
    }
}

/// Returns the link of the address, while it is open.
async fn found(browser: &BrowserRequest) -> Result<(Secret, OpenLink), Failure> {
    let secret = Secret::read(browser.param("secret")).ok_or(Failure::NotFound)?;
    let link = browser.console.engine.sessions().open_link(&secret).await?;
    let link = link.ok_or(Failure::NotFound)?;
    let ended = match link.state {
        LinkState::Open => return Ok((secret, link)),
        LinkState::Used => "The link was used already. Sign in, or ask for a new link.",
        LinkState::Expired => "The link has expired. Ask for a new one.",
    };
    Err(Failure::Refused(ended.to_owned()))
}

/// Returns `true` if the user of an invitation has a password, and is not the one who is signed in.
async fn is_for_another(browser: &BrowserRequest, link: &OpenLink) -> Result<bool, Failure> {
    if link.purpose != LinkPurpose::Invitation || link.needs_password {
        return Ok(false);
    }
    let visit = browser.visit().await?;
    Ok(visit.is_none_or(|visit| visit.email != link.email))
}

fn form(
    browser: &BrowserRequest,
    secret: &Secret,
    link: &OpenLink,
    fields: &Form,
    (status, error): (StatusCode, Option<String>),
) -> Response {
    let (title, text, action) = words(link);
    let mut shown = Vec::new();
    if link.purpose == LinkPurpose::SetUp {
        let email = Field::new(Kind::Input("email"), "email", "E-mail address");
        shown.push(email.value(fields.get("email")).autocomplete("username"));
    }
    if link.needs_name {
        let name = Field::text("name", "Your name");
        shown.push(name.value(fields.get("name")).autocomplete("name"));
    }
    if link.needs_password {
        let hint = format!("At least {MIN_CHARACTERS} characters. A sentence is best.");
        let password = Field::password("password", "Password").hint(hint);
        shown.push(password.autocomplete("new-password"));
    }
    let href = format!("/links/{}", secret.text());
    let screen = PlainForm {
        text,
        notices: error.map(Notice::refused).into_iter().collect(),
        fields: shown,
        csrf_token: browser.form_token(),
        theme: browser.theme,
        ..PlainForm::new(title, &href, action)
    };
    browser.page(status, console::html(&screen))
}

/// Returns title, purpose and name of the button.
fn words(link: &OpenLink) -> (&'static str, String, &'static str) {
    let place = if link.account_name.is_empty() {
        "this installation".to_owned()
    } else {
        link.account_name.clone()
    };
    match link.purpose {
        LinkPurpose::SetUp => (
            "Set up the console",
            "You become the first operator of this installation.".to_owned(),
            "Become the operator",
        ),
        LinkPurpose::Invitation => {
            let role = link.role.map_or("member", domain::user::role::Role::as_str);
            (
                "Join the console",
                format!("{} joins {place} as {role}.", link.email),
                "Join",
            )
        }
        LinkPurpose::Reset => (
            "Choose a password",
            format!("It is for {}. All sessions of this user end.", link.email),
            "Save the password",
        ),
        LinkPurpose::Demo => (
            "Open the demo",
            format!("You see {place} as {}.", link.email),
            "Open",
        ),
    }
}
