//! Groups of contacts: the list, a group, its additions, and the send to it.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::spool::spool;
use super::super::visitor::Visitor;
use super::lists::{confirm, dangerous, request};
use super::send;
use super::shared::pager;
use axum::extract::Request;
use console::Section;
use console::figures::{count, counted};
use console::parts::{Cell, Column, Empty, Field, Kind, Pager, Table};
use console::screens::{Details, Form as FormScreen, Listing, Part, SmallForm};
use domain::contacts::{Contact, MAX_CONTACTS};
use domain::user::role::Permission::{ManageContacts, SendMessages};
use engine::{Added, ContactGroup, Contacts, ContactsError};

const PATH: &str = "/console/contacts";

impl From<ContactsError> for Failure {
    fn from(error: ContactsError) -> Self {
        match error {
            ContactsError::NotFound => Self::NotFound,
            ContactsError::Store(error) => error.into(),
            ContactsError::Unread(error) => error.into(),
            ContactsError::Page(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
}

fn contacts(visitor: &Visitor) -> Result<Contacts, Failure> {
    Ok(visitor.engine().contacts(visitor.account()?))
}

/// Returns the id of the group that the path names.
fn id(visitor: &Visitor) -> Result<i64, Failure> {
    visitor.param("id").parse().map_err(|_| Failure::NotFound)
}

fn path(id: i64) -> String {
    format!("{PATH}/{id}")
}

/// `GET /console/contacts`.
pub(super) async fn groups(visitor: Visitor) -> Answered {
    let groups = contacts(&visitor)?.groups().await?;
    let table = Table {
        label: "Groups".to_owned(),
        columns: vec![
            Column::text("Group"),
            Column::number("Contacts"),
            Column::number("Created").wide(),
            Column::text(""),
        ],
        rows: groups
            .iter()
            .map(|group| group_row(&visitor, group))
            .collect(),
        now_ms: visitor.now_ms(),
    };
    let mut empty = Empty::new(
        "No groups yet",
        "A group keeps numbers and names, so that a send need not be typed again.",
    );
    let shell = visitor.shell("Contacts", Section::Contacts);
    let mut actions = Vec::new();
    if visitor.may(ManageContacts) {
        empty = empty.action("Create a group", format!("{PATH}/new"));
        actions.push(("Create a group".to_owned(), format!("{PATH}/new")));
    }
    let listing = Listing {
        actions,
        ..Listing::new(shell, table, empty)
    };
    Ok(visitor.answer(&listing))
}

fn group_row(visitor: &Visitor, group: &ContactGroup) -> Vec<Cell> {
    let mut changes = Vec::new();
    if visitor.may(ManageContacts) {
        let title = format!("Remove the group “{}”?", group.name);
        let text = "Its contacts are removed with it. Messages that were sent stay.";
        let href = format!("{}/remove", path(group.id));
        let id = format!("remove-{}", group.id);
        let change = confirm(visitor, (&id, "Remove"), (&title, text), &href, &[]);
        changes.push(dangerous(change));
    }
    vec![
        Cell::link(&group.name, path(group.id)),
        Cell::text(count(group.contacts.unsigned_abs())),
        Cell::Time(group.created_at_ms),
        Cell::Changes(changes),
    ]
}

/// `GET /console/contacts/new`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&new_form(&visitor, "", None)))
}

fn new_form(visitor: &Visitor, name: &str, error: Option<String>) -> FormScreen {
    FormScreen {
        shell: visitor.shell("Create a group", Section::Contacts),
        lead: "A group keeps numbers and names for later sends.".to_owned(),
        fields: vec![
            Field::text("name", "Name")
                .hint("At most 60 characters, such as Customers in Kano.")
                .value(name)
                .autocomplete("off"),
        ],
        error,
        href: PATH.to_owned(),
        action: "Create group".to_owned(),
        back: PATH.to_owned(),
    }
}

/// `POST /console/contacts`.
pub(super) async fn create(visitor: Visitor, fields: Form) -> Answered {
    let name = fields.get("name");
    match contacts(&visitor)?.create(name).await {
        Ok(id) => {
            let path = format!("{}/add", path(id));
            Ok(visitor.done(&path, "The group was created. Add its contacts."))
        }
        Err(error) => {
            let (status, text) = Failure::from(error).shown()?;
            let screen = new_form(&visitor, name, Some(text));
            Ok(visitor.answer_with(status, &screen))
        }
    }
}

/// `POST /console/contacts/{id}/remove`.
pub(super) async fn remove(visitor: Visitor, _fields: Form) -> Answered {
    contacts(&visitor)?.remove(id(&visitor)?).await?;
    Ok(visitor.done(PATH, "The group was removed."))
}

/// `GET /console/contacts/{id}`.
pub(super) async fn group(visitor: Visitor) -> Answered {
    let (contacts, id) = (contacts(&visitor)?, id(&visitor)?);
    let group = contacts.group(id).await?;
    let found = contacts.list(id, &request(&visitor)).await?;
    let pager = Pager {
        note: counted(group.contacts.unsigned_abs(), "contact"),
        ..pager(&path(id), visitor.query(), &[], &found, "contact")
    };
    let table = Table {
        label: "Contacts".to_owned(),
        columns: vec![
            Column::text("Number"),
            Column::text("Name"),
            Column::text(""),
        ],
        rows: found
            .items
            .iter()
            .map(|one| contact_row(&visitor, id, one))
            .collect(),
        now_ms: visitor.now_ms(),
    };
    let mut actions = Vec::new();
    if visitor.may(SendMessages) && group.contacts > 0 {
        actions.push(("Send to the group".to_owned(), format!("{}/send", path(id))));
    }
    if visitor.may(ManageContacts) {
        actions.push(("Add contacts".to_owned(), format!("{}/add", path(id))));
    }
    actions.push(("All groups".to_owned(), PATH.to_owned()));
    let empty = Empty::new("No contacts yet", "Numbers that are added appear here.");
    let shell = visitor.shell(&group.name, Section::Contacts);
    let listing = Listing {
        actions,
        pager,
        ..Listing::new(shell, table, empty)
    };
    Ok(visitor.answer(&listing))
}

fn contact_row(visitor: &Visitor, group: i64, one: &Contact) -> Vec<Cell> {
    let number = one.recipient.to_string();
    let mut changes = Vec::new();
    if visitor.may(ManageContacts) {
        let (id, title) = (format!("remove-{number}"), format!("Remove {number}?"));
        let href = format!("{}/contacts/remove", path(group));
        let hidden = [("number", number.as_str())];
        let text = "The number leaves this group alone.";
        changes.push(confirm(
            visitor,
            (&id, "Remove"),
            (&title, text),
            &href,
            &hidden,
        ));
    }
    vec![
        Cell::text(number),
        Cell::text(one.name.clone()),
        Cell::Changes(changes),
    ]
}

/// `POST /console/contacts/{id}/contacts/remove`.
pub(super) async fn remove_contact(visitor: Visitor, fields: Form) -> Answered {
    let (id, contacts) = (id(&visitor)?, contacts(&visitor)?);
    contacts.remove_contact(id, fields.get("number")).await?;
    Ok(visitor.done(&path(id), "The contact was removed."))
}

/// `GET /console/contacts/{id}/add`.
pub(super) async fn add_form(visitor: Visitor) -> Answered {
    let screen = addition(&visitor, "", None).await?;
    Ok(visitor.answer(&screen))
}

async fn addition(
    visitor: &Visitor,
    typed: &str,
    error: Option<String>,
) -> Result<Details, Failure> {
    let id = id(visitor)?;
    let group = contacts(visitor)?.group(id).await?;
    let lines = Field::new(Kind::Lines(8), "contacts", "Numbers")
        .hint("One a line, with a name behind a comma: 08031234567, Ada Obi")
        .value(typed)
        .error(error);
    let file = Field::new(Kind::File(".csv,.txt,.tsv,.xlsx"), "file", "File")
        .hint("CSV or XLSX. The first number of a row is taken, and a name beside it.");
    let part = |title: &str, lead: &str, href: String, field: Field| {
        let form = SmallForm {
            href,
            fields: vec![field],
            action: "Add contacts".to_owned(),
        };
        Part::form(title, lead, form)
    };
    let limit = format!(
        "A group has at most {} contacts.",
        count(MAX_CONTACTS as u64)
    );
    Ok(Details {
        shell: visitor.shell(&format!("Add to {}", group.name), Section::Contacts),
        back: (group.name, path(id)),
        changes: Vec::new(),
        figures: Vec::new(),
        facts: Vec::new(),
        sections: vec![
            part("Type or paste", &limit, format!("{}/add", path(id)), lines),
            part("From a file", "", format!("{}/file", path(id)), file),
        ],
        refresh: None,
    })
}

/// `POST /console/contacts/{id}/add`.
pub(super) async fn add(visitor: Visitor, fields: Form) -> Answered {
    let (id, typed) = (id(&visitor)?, fields.get("contacts"));
    let added = contacts(&visitor)?.add_text(id, typed).await;
    done(&visitor, id, typed, added.map_err(Failure::from)).await
}

/// `POST /console/contacts/{id}/file`.
pub(super) async fn upload(visitor: Visitor, request: Request) -> Answered {
    let (id, contacts) = (id(&visitor)?, contacts(&visitor)?);
    let idle = visitor.console.settings.load().body.time;
    let added = async {
        let (_, file) = spool(request, idle).await?;
        Ok(contacts.add_file(id, file).await?)
    };
    done(&visitor, id, "", added.await).await
}

/// Leads to the group, or shows the form again with the reason of a refusal.
async fn done(visitor: &Visitor, id: i64, typed: &str, added: Result<Added, Failure>) -> Answered {
    match added {
        Ok(added) => Ok(visitor.done(&path(id), &outcome(&added))),
        Err(failure) => {
            let (status, text) = failure.shown()?;
            let screen = addition(visitor, typed, Some(text)).await?;
            Ok(visitor.answer_with(status, &screen))
        }
    }
}

fn outcome(added: &Added) -> String {
    let mut text = match added.new {
        1 => "1 contact was added.".to_owned(),
        new => format!("{} were added.", counted(new, "contact")),
    };
    if added.known > 0 {
        let known = count(added.known);
        text = format!("{text} The group had {known} of the numbers already.");
    }
    match &added.faults {
        Some(faults) => format!("{text} {faults}"),
        None => text,
    }
}

/// `GET /console/contacts/{id}/send`: the form of a send, filled with the numbers of the group. The
/// numbers stand in the page and in no address.
pub(super) async fn draft(visitor: Visitor) -> Answered {
    let (contacts, id) = (contacts(&visitor)?, id(&visitor)?);
    let group = contacts.group(id).await?;
    let all = contacts.all(id).await?;
    let numbers: Vec<String> = all.iter().map(|one| one.recipient.to_string()).collect();
    let note = format!(
        "This draft is for the {} of {}. Nothing was sent yet.",
        counted(numbers.len() as u64, "contact"),
        group.name
    );
    let fields = Form::of([("to", numbers.join("\n"))]);
    send::draft(&visitor, &fields, note).await
}
