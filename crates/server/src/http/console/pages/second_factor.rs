//! The second factor of the user.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use axum::http::StatusCode;
use axum::response::Response;
use console::Section;
use console::parts::Field;
use console::screens::{RecoveryCodes, SecondFactor as Screen};
use engine::SecondFactor;

const PROFILE: &str = "/console/profile";

/// `GET /console/profile/second-factor`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    form(&visitor, StatusCode::OK, None).await
}

async fn form(visitor: &Visitor, status: StatusCode, error: Option<String>) -> Answered {
    let factor = visitor.sessions().second_factor(&visitor.visit).await?;
    let SecondFactor::Off { secret, address } = factor else {
        return Ok(visitor.redirect(PROFILE));
    };
    let code = Field::text("code", "Code")
        .inputmode("numeric")
        .autocomplete("one-time-code");
    let screen = Screen {
        shell: visitor.shell("Turn on the second factor", Section::Profile),
        secret,
        address,
        code: code.error(error),
    };
    Ok(visitor.answer_with(status, &screen))
}

/// `POST /console/profile/second-factor`.
pub(super) async fn confirm(visitor: Visitor, fields: Form) -> Answered {
    let sessions = visitor.sessions();
    let confirmed = sessions
        .confirm_second_factor(&visitor.visit, fields.get("code"))
        .await;
    match confirmed.map_err(Failure::from) {
        Ok((codes, secret)) => {
            let mut visitor = visitor;
            visitor.visit.secret = secret.clone();
            Ok(visitor.with_session(shown(&visitor, codes), &secret))
        }
        Err(failure) => {
            let (status, text) = failure.shown()?;
            form(&visitor, status, Some(text)).await
        }
    }
}

/// `POST /console/profile/second-factor/remove`.
pub(super) async fn remove(visitor: Visitor, fields: Form) -> Answered {
    let password = fields.get("password").to_owned();
    let sessions = visitor.sessions();
    let removed = sessions
        .remove_second_factor(&visitor.visit, password, &visitor.client)
        .await;
    let secret = removed.as_ref().ok().cloned();
    let response = visitor.after(removed, PROFILE, "The second factor is off.")?;
    Ok(match secret {
        Some(secret) => visitor.with_session(response, &secret),
        None => response,
    })
}

/// `POST /console/profile/recovery-codes`.
pub(super) async fn make_codes(visitor: Visitor, fields: Form) -> Answered {
    let password = fields.get("password").to_owned();
    let sessions = visitor.sessions();
    let made = sessions
        .make_recovery_codes(&visitor.visit, password, &visitor.client)
        .await;
    match made.map_err(Failure::from) {
        Ok(codes) => Ok(shown(&visitor, codes)),
        Err(failure) => {
            let (_, text) = failure.shown()?;
            Ok(visitor.refused(PROFILE, &text))
        }
    }
}

fn shown(visitor: &Visitor, codes: Vec<String>) -> Response {
    visitor.answer(&RecoveryCodes {
        shell: visitor.shell("Recovery codes", Section::Profile),
        codes,
    })
}
