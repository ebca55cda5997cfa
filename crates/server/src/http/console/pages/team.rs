//! The users of an account, for its owners, and the operators, for operators.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::{confirm, dangerous};
use crate::link_mail::Delivery;
use axum::http::StatusCode;
use axum::response::Response;
use console::parts::{Badge, Choice, Empty, Field, Kind, Tone};
use console::screens::{Invitation, Member, NewLink, Team};
use console::{Notice, Section, role_name};
use domain::user::role::Role;
use domain::user::{UserId, UserStatus};
use engine::operators::{Invitation as Open, Member as Known};

/// Returns the path of the page for the account of the visitor, or for operators.
const fn path(visitor: &Visitor) -> &'static str {
    match visitor.visit.account {
        Some(_) => "/console/team",
        None => "/operator/team",
    }
}

/// Returns the roles that may be given there.
fn roles(visitor: &Visitor) -> &'static [Role] {
    match visitor.visit.account {
        Some(_) => &Role::OF_ACCOUNT,
        None => &[Role::Operator],
    }
}

/// `GET /console/team` and `GET /operator/team`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let screen = screen(&visitor, None, &Form::default(), None).await?;
    Ok(visitor.answer(&screen))
}

/// `POST /console/team/invite`. A link that goes by no mail is shown once, on the page that answers.
pub(super) async fn invite(visitor: Visitor, fields: Form) -> Answered {
    let role = role(&visitor, fields.get("role"))?;
    let (users, email) = (visitor.operations().users(), fields.get("email"));
    let invited = users.invite(email, visitor.visit.account, role).await;
    match invited.map_err(Failure::from) {
        Ok((_, link)) => {
            let (delivery, address) = visitor.deliver(&link).await;
            let is_mailed = matches!(delivery, Delivery::Mailed);
            let mailed = is_mailed.then(|| Notice::done(format!("{} has a mail now.", link.email)));
            let fault = delivery.fault().map(Notice::refused);
            let shown = (!is_mailed).then_some(NewLink {
                email: link.email,
                address,
                expires_at_ms: link.expires_at_ms,
            });
            let mut screen = screen(&visitor, shown, &Form::default(), None).await?;
            screen.shell.notices.extend(mailed.or(fault));
            Ok(visitor.answer(&screen))
        }
        Err(failure) => {
            let (status, text) = failure.shown()?;
            refused(&visitor, status, &fields, text).await
        }
    }
}

async fn refused(visitor: &Visitor, status: StatusCode, fields: &Form, text: String) -> Answered {
    let screen = screen(visitor, None, fields, Some(text)).await?;
    Ok(visitor.answer_with(status, &screen))
}

/// `POST /console/team/{user}/role`.
pub(super) async fn set_role(visitor: Visitor, fields: Form) -> Answered {
    let user = user(&visitor)?;
    let role = role(&visitor, fields.get(&format!("role-{user}")))?;
    let users = visitor.operations().users();
    let changed = users.set_role(user, visitor.visit.account, role).await;
    ended(
        &visitor,
        changed,
        "The role was changed. The user signs in again.",
    )
}

/// `POST /console/team/{user}/remove`.
pub(super) async fn remove(visitor: Visitor, _fields: Form) -> Answered {
    let (users, user) = (visitor.operations().users(), user(&visitor)?);
    let removed = users.remove(user, visitor.visit.account).await;
    ended(&visitor, removed, "The user was removed.")
}

/// `POST /console/team/{user}/withdraw`.
pub(super) async fn withdraw(visitor: Visitor, _fields: Form) -> Answered {
    let (users, user) = (visitor.operations().users(), user(&visitor)?);
    let withdrawn = users.withdraw(user, visitor.visit.account).await;
    ended(&visitor, withdrawn, "The invitation was withdrawn.")
}

/// Leads back to the page. A user of another account is unknown here.
fn ended(
    visitor: &Visitor,
    changed: Result<(), engine::operators::OperationError>,
    text: &str,
) -> Result<Response, Failure> {
    if matches!(changed, Err(engine::operators::OperationError::NoMember)) {
        return Err(Failure::NotFound);
    }
    visitor.after(changed, path(visitor), text)
}

fn user(visitor: &Visitor) -> Result<UserId, Failure> {
    visitor.param("user").parse().map_err(|_| Failure::NotFound)
}

fn role(visitor: &Visitor, name: &str) -> Result<Role, Failure> {
    let mut roles = roles(visitor).iter().copied();
    let found = roles.find(|role| role.as_str() == name);
    found.ok_or_else(|| Failure::Refused("Choose a role.".to_owned()))
}

async fn screen(
    visitor: &Visitor,
    link: Option<NewLink>,
    fields: &Form,
    error: Option<String>,
) -> Result<Team, Failure> {
    let account = visitor.visit.account;
    let members = visitor.operations().users().members(account).await?;
    let invitations = visitor.operations().users().invitations(account).await?;
    let shell = visitor.shell("Team", Section::Team);
    let email = Field::new(Kind::Input("email"), "email", "E-mail address");
    let chosen = match fields.get("role") {
        "" => roles(visitor).last().map_or("", |role| role.as_str()),
        given => given,
    };
    Ok(Team {
        link,
        members: members.iter().map(|one| member(visitor, one)).collect(),
        invitations: invitations
            .iter()
            .map(|one| invitation(visitor, one))
            .collect(),
        no_invitations: Empty::new(
            "No open invitations",
            "An invitation is a link that is good once, for 7 days.",
        ),
        invite: vec![
            email
                .value(fields.get("email"))
                .autocomplete("off")
                .error(error),
            role_field(visitor, "Role").value(chosen),
        ],
        invite_href: format!("{}/invite", path(visitor)),
        shell,
    })
}

fn role_field(visitor: &Visitor, label: &str) -> Field {
    let choices = roles(visitor)
        .iter()
        .map(|role| Choice::new(role.as_str(), role_name(*role)));
    Field::new(Kind::Select(choices.collect()), "role", label)
}

fn member(visitor: &Visitor, known: &Known) -> Member {
    let (user, path) = (&known.user, path(visitor));
    let is_self = user.id == visitor.visit.user;
    let status = match (user.status, user.has_password) {
        (UserStatus::Disabled, _) => Badge::new(Tone::Bad, "Disabled"),
        (UserStatus::Active, true) => Badge::new(Tone::Good, "Active"),
        (UserStatus::Active, false) => Badge::new(Tone::Waiting, "No password yet"),
    };
    let value = if is_self {
        role_name(known.role)
    } else {
        known.role.as_str()
    };
    let mut role = role_field(visitor, "Role").value(value);
    role.name = format!("role-{}", user.id);
    Member {
        name: user.name.clone(),
        email: user.email.clone(),
        status,
        has_second_factor: user.has_second_factor,
        role,
        role_href: format!("{path}/{}/role", user.id),
        remove: (!is_self).then(|| {
            dangerous(confirm(
                visitor,
                (&format!("remove-{}", user.id), "Remove"),
                (
                    &format!("Remove {}?", user.email),
                    "The user loses all access to this account at once.",
                ),
                &format!("{path}/{}/remove", user.id),
                &[],
            ))
        }),
    }
}

fn invitation(visitor: &Visitor, open: &Open) -> Invitation {
    Invitation {
        email: open.email.clone(),
        role: role_name(open.role).to_owned(),
        expires_at_ms: open.expires_at_ms,
        withdraw: confirm(
            visitor,
            (&format!("withdraw-{}", open.user), "Withdraw"),
            (
                &format!("Withdraw the invitation of {}?", open.email),
                "The link is good for nothing then.",
            ),
            &format!("{}/{}/withdraw", path(visitor), open.user),
            &[],
        ),
    }
}
