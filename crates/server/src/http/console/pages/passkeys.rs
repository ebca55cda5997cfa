//! Passkeys: a sign-in by one, and the passkeys of the user's own profile.

use super::super::browser_request::BrowserRequest;
use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::state::Console;
use super::super::visitor::Visitor;
use super::sign_in::{begun, entered, refused};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use console::Section;
use console::parts::{Choice, Field, Kind};
use console::screens::{AddPasskey, PasskeyList, PasskeyRow};
use domain::user::passkey::RelyingParty;
use domain::user::secret::Secret;
use engine::{PasskeyInfo, SessionError};

const PROFILE: &str = "/console/profile";

/// Returns the relying party, or a refusal where browsers allow no passkeys.
fn party(console: &Console) -> Result<&RelyingParty, Failure> {
    let text = "Passkeys need http.public_url with https and a domain, or with localhost.";
    let party = console.relying_party.as_ref();
    party.ok_or_else(|| Failure::Refused(text.to_owned()))
}

/// `POST /sign-in/passkey/begin`: the options for the browser, as JSON.
pub(super) async fn begin_sign_in(browser: BrowserRequest, _fields: Form) -> Answered {
    let sessions = browser.console.engine.sessions();
    let party = party(&browser.console)?;
    let options = sessions
        .begin_passkey(party, browser.form_secret(), &browser.client)
        .await?;
    let kind = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, kind)], options).into_response())
}

/// `POST /sign-in/passkey`.
pub(super) async fn sign_in(browser: BrowserRequest, fields: Form) -> Answered {
    let sessions = browser.console.engine.sessions();
    let signed_in = sessions.sign_in_by_passkey(
        party(&browser.console)?,
        browser.form_secret(),
        fields.get("answer"),
        &browser.client,
    );
    match signed_in.await.map_err(Failure::from) {
        Ok(secret) => {
            let path = entered(&browser, &secret, &fields).await?;
            Ok(begun(&browser, &path, &secret))
        }
        Err(failure) => refused(&browser, &fields, failure),
    }
}

/// Returns the passkeys as the profile shows them.
pub(super) fn listed(console: &Console, all: Vec<PasskeyInfo>) -> PasskeyList {
    let password =
        |name| Field::password(name, "Current password").autocomplete("current-password");
    let choices = all.iter().map(|one| Choice::new(&one.id, &one.name));
    let choices = Kind::Select(choices.collect());
    let name = Field::text("passkey_name", "Name")
        .hint("Such as the device that keeps it.")
        .autocomplete("off");
    let is_possible = console.relying_party.is_some();
    let add = is_possible.then(|| vec![name, password("passkey_password")]);
    PasskeyList {
        add: add.unwrap_or_default(),
        remove: vec![
            Field::new(choices, "passkey", "Passkey"),
            password("removal_password"),
        ],
        rows: all
            .into_iter()
            .map(|one| PasskeyRow {
                name: one.name,
                created_at_ms: one.created_at_ms,
                used_at_ms: one.used_at_ms,
            })
            .collect(),
    }
}

/// `POST /console/profile/passkeys/begin`: the page on which the browser makes the passkey.
pub(super) async fn begin(visitor: Visitor, fields: Form) -> Answered {
    match begun_adding(&visitor, &fields).await {
        Ok(options) => Ok(visitor.answer(&AddPasskey {
            shell: visitor.shell("Add a passkey", Section::Profile),
            name: fields.get("passkey_name").trim().to_owned(),
            options,
        })),
        Err(failure) => {
            let (_, text) = failure.shown()?;
            Ok(visitor.refused(PROFILE, &text))
        }
    }
}

async fn begun_adding(visitor: &Visitor, fields: &Form) -> Result<String, Failure> {
    let party = party(&visitor.console)?;
    let password = fields.get("passkey_password").to_owned();
    let name = fields.get("passkey_name");
    let sessions = visitor.sessions();
    let begun =
        sessions.begin_adding_passkey(party, &visitor.visit, (name, password), &visitor.client);
    Ok(begun.await?)
}

/// `POST /console/profile/passkeys`.
pub(super) async fn add(visitor: Visitor, fields: Form) -> Answered {
    let (name, answer) = (fields.get("passkey_name"), fields.get("answer"));
    let added = match party(&visitor.console) {
        Ok(party) => {
            let sessions = visitor.sessions();
            let added = sessions.add_passkey(party, &visitor.visit, (name, answer));
            added.await.map_err(Failure::from)
        }
        Err(failure) => Err(failure),
    };
    let text = "The passkey was added, and your other sessions have ended.";
    changed(&visitor, added, text)
}

/// `POST /console/profile/passkeys/remove`.
pub(super) async fn remove(visitor: Visitor, fields: Form) -> Answered {
    let password = fields.get("removal_password").to_owned();
    let given = (fields.get("passkey"), password);
    let sessions = visitor.sessions();
    let removed: Result<Secret, SessionError> = sessions
        .remove_passkey(&visitor.visit, given, &visitor.client)
        .await;
    let text = "The passkey was removed, and your other sessions have ended.";
    changed(&visitor, removed.map_err(Failure::from), text)
}

/// Leads back to the profile, with the new secret of the session.
fn changed(visitor: &Visitor, changed: Result<Secret, Failure>, text: &str) -> Answered {
    let secret = changed.as_ref().ok().cloned();
    let response: Response = visitor.after(changed, PROFILE, text)?;
    Ok(match secret {
        Some(secret) => visitor.with_session(response, &secret),
        None => response,
    })
}
