//! The first steps of an operator, from an empty installation to a message on a simulated phone.

use super::super::cookies::Cookie;
use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use axum::http::StatusCode;
use axum::response::Response;
use console::parts::Field;
use console::screens::{Details, Part, SmallForm};
use console::{Notice, Section};
use domain::user::role::Role;
use domain::user::secret::Secret;
use domain::{SenderStatus, sender};
use engine::LinkFields;
use engine::operators::{OperationError, PageRequest};

/// The address of the page.
pub(super) const PATH: &str = "/operator/first-steps";
/// The form of a send, filled with a first message to a simulated phone.
const FIRST_SEND: &str =
    "/console/send?to=2348031234567&body=Hello%20from%20the%20sandbox.&gateway=direct-refund";
/// The purpose of the first sender ID.
const PURPOSE: &str = "First steps";

/// Returns `true` while the installation has no account.
pub(super) async fn are_due(visitor: &Visitor) -> Result<bool, Failure> {
    let first = PageRequest::new(1, None);
    let accounts = visitor.operations().accounts().list(&first).await?;
    Ok(accounts.items.is_empty())
}

/// `GET /operator/first-steps`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    Ok(form(&visitor, StatusCode::OK, &Form::default(), None))
}

/// `POST /operator/first-steps`: creates the account with its sender ID, and makes the operator its
/// owner. The session then shows the sandbox of the account.
pub(super) async fn create(visitor: Visitor, fields: Form) -> Answered {
    match first_account(&visitor, &fields).await {
        Ok(secret) => {
            let text = "The account is yours. Send your first message to a simulated phone.";
            let response = visitor.with_session(visitor.done(FIRST_SEND, text), &secret);
            Ok(visitor.with_cookie(response, Cookie::Environment, "sandbox"))
        }
        Err(failure) => {
            let (status, reason) = failure.shown()?;
            Ok(form(&visitor, status, &fields, Some(reason)))
        }
    }
}

async fn first_account(visitor: &Visitor, fields: &Form) -> Result<Secret, Failure> {
    let (name, from) = (fields.get("name"), fields.get("sender").trim());
    // Nothing is created if the sender ID has a fault.
    sender::check_registration(from).map_err(OperationError::from)?;
    let operations = || visitor.operations();
    let email = &visitor.visit.email;
    let account = operations().accounts().create(name, email).await?.id;
    let senders = || operations().senders();
    senders().register(account, from, PURPOSE, false).await?;
    let approved = SenderStatus::Approved;
    senders().set_status(account, from, approved, None).await?;
    let users = operations().users();
    let (_, link) = users.invite(email, Some(account), Role::Owner).await?;
    let (visit, none) = (Some(&visitor.visit), LinkFields::default());
    let joined = visitor
        .sessions()
        .use_link(&link.secret, none, visit, &visitor.client)
        .await?;
    joined.ok_or(Failure::SignedOut)
}

fn form(visitor: &Visitor, status: StatusCode, fields: &Form, error: Option<String>) -> Response {
    let field = |name: &str, label: &str, hint: &str| {
        let value = fields.get(name).to_owned();
        Field::text(name, label).hint(hint).value(value)
    };
    let account = SmallForm {
        href: PATH.to_owned(),
        fields: vec![
            field("name", "Name of the account", "Your company, or a project."),
            field(
                "sender",
                "Sender ID",
                "The sender on phones: at most 11 letters and digits. It is approved at once.",
            ),
        ],
        action: "Create it and open the sandbox".to_owned(),
    };
    let step = |title: &str, lead: &str, form| Part {
        title: title.to_owned(),
        lead: lead.to_owned(),
        table: None,
        empty: None,
        form,
    };
    let mut screen = Details {
        shell: visitor.shell("First steps", Section::Operations),
        back: ("Overview".to_owned(), "/operator/".to_owned()),
        changes: Vec::new(),
        figures: Vec::new(),
        facts: Vec::new(),
        refresh: None,
        sections: vec![
            step(
                "1. Create an account",
                "An account sends, pays and has users. You become the owner of this one. Its \
                 sandbox has simulated phones, and needs neither a carrier nor credit.",
                Some(account),
            ),
            step(
                "2. Send a message to a simulated phone",
                "The form of the send opens, with a text and a number. The phone shows the \
                 message under Simulated phones.",
                None,
            ),
            step(
                "3. Create an API token",
                "A program sends with a token. An owner creates it under API tokens, and the API \
                 documentation has an example of each request.",
                None,
            ),
            step(
                "4. Connect a carrier",
                "Add a section [carriers.NAME] with address, system_id and password to the \
                 configuration, and name the carrier in a gateway. Then run `ogene config \
                 reload`. Your profile leads from the account back to the installation.",
                None,
            ),
        ],
    };
    screen.shell.notices.extend(error.map(Notice::refused));
    visitor.answer_with(status, &screen)
}
