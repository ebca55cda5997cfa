//! The user's own profile, and the sessions.

use super::super::cookies::Cookie;
use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::confirm;
use super::passkeys::listed;
use super::sign_in::home;
use console::parts::Field;
use console::screens::{Place, Profile, Session};
use console::{Section, Theme};
use domain::AccountId;
use domain::user::password::MIN_CHARACTERS;
use engine::operators::Membership;
use engine::{SecondFactor, SessionInfo, session_id};

const PATH: &str = "/console/profile";

/// `GET /console/profile`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let (sessions, visit) = (visitor.sessions(), &visitor.visit);
    let factor = sessions.second_factor(visit).await?;
    let memberships = sessions.memberships(visit).await?;
    let all = sessions.list(visit).await?;
    let passkeys = sessions.passkeys(visit).await?;
    let shell = visitor.shell("Profile", Section::Profile);
    let has_others = all.len() > 1;
    let hint = format!("At least {MIN_CHARACTERS} characters. A sentence is best.");
    let screen = Profile {
        email: visit.email.clone(),
        name: Field::text("name", "Name")
            .value(&visit.user_name)
            .autocomplete("name"),
        password: vec![
            Field::password("old", "Current password").autocomplete("current-password"),
            Field::password("new", "New password")
                .hint(hint)
                .autocomplete("new-password"),
        ],
        has_second_factor: matches!(factor, SecondFactor::On { .. }),
        second_factor: match factor {
            SecondFactor::On { recovery_codes } => {
                format!("It is on. {recovery_codes} recovery codes are left.")
            }
            SecondFactor::Off { .. } => {
                "It is off. A sign-in needs your password alone.".to_owned()
            }
        },
        confirmation: Field::password("password", "Current password")
            .autocomplete("current-password"),
        passkeys: listed(&visitor.console, passkeys),
        places: places(&memberships, visit.account),
        end_others: has_others.then(|| {
            confirm(
                &visitor,
                ("end-others", "End all others"),
                (
                    "End all other sessions?",
                    "Each browser but this one signs in again.",
                ),
                &format!("{PATH}/sessions/end-others"),
                &[],
            )
        }),
        sessions: all.iter().map(|one| row(one, &visitor)).collect(),
        shell,
    };
    Ok(visitor.answer(&screen))
}

fn row(session: &SessionInfo, visitor: &Visitor) -> Session {
    let (id, is_this) = (
        session_id(session),
        session.hash == visitor.visit.secret.hash(),
    );
    Session {
        agent: session.agent.clone(),
        client: session.client.clone(),
        created_at_ms: session.created_at_ms,
        seen_at_ms: session.seen_at_ms,
        end: (!is_this).then(|| {
            confirm(
                visitor,
                (&format!("end-{id}"), "End"),
                (
                    "End this session?",
                    &format!("{} signs in again.", session.agent),
                ),
                &format!("{PATH}/sessions/{id}/end"),
                &[],
            )
        }),
    }
}

/// Returns the accounts of a user who has several.
fn places(memberships: &[Membership], shown: Option<AccountId>) -> Vec<Place> {
    let place = |one: &Membership| Place {
        name: match one.account {
            Some(_) => one.account_name.clone(),
            None => "Installation".to_owned(),
        },
        role: one.role.as_str().to_owned(),
        value: (one.account != shown).then(|| {
            let account = one.account.map(|account| account.to_string());
            account.unwrap_or_else(|| "operator".to_owned())
        }),
    };
    let several = (memberships.len() > 1).then_some(memberships);
    several.into_iter().flatten().map(place).collect()
}

/// `POST /console/profile/name`.
pub(super) async fn set_name(visitor: Visitor, fields: Form) -> Answered {
    let changed = visitor
        .sessions()
        .set_name(&visitor.visit, fields.get("name"))
        .await;
    visitor.after(changed, PATH, "Your name was changed.")
}

/// `POST /console/profile/account`.
pub(super) async fn switch(visitor: Visitor, fields: Form) -> Answered {
    let account = match fields.get("account") {
        "operator" => None,
        id => Some(id.parse().map_err(|_| Failure::NotFound)?),
    };
    let secret = visitor.sessions().switch(&visitor.visit, account).await?;
    Ok(visitor.with_session(visitor.redirect(home(account)), &secret))
}

/// `POST /console/profile/password`.
pub(super) async fn change_password(visitor: Visitor, fields: Form) -> Answered {
    let (old, new) = (fields.get("old").to_owned(), fields.get("new").to_owned());
    let sessions = visitor.sessions();
    let changed = sessions
        .change_password(&visitor.visit, old, new, &visitor.client)
        .await;
    let secret = changed.as_ref().ok().cloned();
    let text = "Your password was changed, and your other sessions have ended.";
    let response = visitor.after(changed, PATH, text)?;
    Ok(match secret {
        Some(secret) => visitor.with_session(response, &secret),
        None => response,
    })
}

/// `POST /console/profile/sessions/{id}/end`.
pub(super) async fn end(visitor: Visitor, _fields: Form) -> Answered {
    let ended = visitor
        .sessions()
        .end(&visitor.visit, visitor.param("id"))
        .await;
    visitor.after(ended, PATH, "The session has ended.")
}

/// `POST /console/profile/sessions/end-others`.
pub(super) async fn end_others(visitor: Visitor, _fields: Form) -> Answered {
    let ended = visitor.sessions().end_others(&visitor.visit).await;
    visitor.after(ended, PATH, "Your other sessions have ended.")
}

/// `POST /console/environment`: the pages show the sandbox, or the live messages again. The answer
/// leads to the overview, because a message of one environment is not found in the other.
pub(super) async fn environment(visitor: Visitor, fields: Form) -> Answered {
    let chosen = match fields.get("environment") {
        "sandbox" => "sandbox",
        _ => "",
    };
    let response = visitor.redirect("/console/");
    Ok(visitor.with_cookie(response, Cookie::Environment, chosen))
}

/// `POST /console/theme`.
pub(super) async fn theme(visitor: Visitor, fields: Form) -> Answered {
    let theme = Theme::parse(fields.get("theme"));
    let response = visitor.redirect(&visitor.came_from());
    Ok(visitor.with_cookie(response, Cookie::Theme, theme.as_str()))
}
