//! Groups of contacts of a customer.

use crate::context::Context;
use crate::error::{Error, within};
use crate::operators::{OperationError, Page, PageRequest};
use domain::AccountId;
use domain::contacts::{Contact, MAX_CONTACTS, MAX_GROUPS, Reading, name_of};
use domain::search::List;
use sheets::{Limits, Row, SheetError};
use std::fs::File;
use std::ops::ControlFlow;
use std::sync::Arc;
use store::{ContactGroup, ContactsAdded, GroupCreated, GroupId};

/// The limits of a file of contacts.
const LIMITS: Limits = Limits {
    rows: 20_000,
    columns: 100,
    cell_bytes: 4_096,
    inflated_bytes: 64 << 20,
    strings_bytes: 16 << 20,
};

/// The reason why contacts were not changed.
#[derive(Debug, thiserror::Error)]
pub enum ContactsError {
    /// A group has no name.
    #[error("Give the group a name.")]
    NoName,
    /// The account has a group of this name.
    #[error("There is a group of this name already. Choose another name.")]
    NameTaken,
    /// The account has as many groups as it may have.
    #[error("There are {MAX_GROUPS} groups already. Remove one of them first.")]
    ManyGroups,
    /// The group would have more contacts than it may have.
    #[error(
        "A group has at most {MAX_CONTACTS} contacts, and nothing was added. Make a second group, or send to a \
         file of recipients."
    )]
    ManyContacts,
    /// Nothing in the text or the file is a number.
    #[error("There is no number in it. A row has a number, and may have a name.")]
    NoNumber,
    /// The account has no such group or contact.
    #[error("The group or the contact does not exist.")]
    NotFound,
    /// The file is no table, or exceeds a limit.
    #[error(transparent)]
    Sheet(#[from] SheetError),
    /// The service is shutting down.
    #[error("The file was not read. Upload it again.")]
    Ended,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] database::Error),
    /// The cursor belongs to another list.
    #[error(transparent)]
    Page(#[from] OperationError),
    /// A read was not answered.
    #[error("the contacts cannot be read now")]
    Unread(Error),
}

impl From<Error> for ContactsError {
    fn from(error: Error) -> Self {
        Self::Unread(error)
    }
}

/// The contacts that were added.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Added {
    /// The number of new contacts.
    pub new: u64,
    /// The number of contacts that the group had before.
    pub known: u64,
    /// A sentence on the rows without a number.
    pub faults: Option<String>,
}

/// The groups of an account.
#[derive(Clone)]
pub struct Contacts {
    context: Arc<Context>,
    account: AccountId,
}

impl Contacts {
    pub(crate) fn new(context: Arc<Context>, account: AccountId) -> Self {
        Self { context, account }
    }

    /// Returns the groups, newest first.
    pub async fn groups(&self) -> Result<Vec<ContactGroup>, Error> {
        let groups = self.context.store.contacts().groups(self.account);
        within(async { Ok(groups.await?) }).await
    }

    /// Returns a group.
    pub async fn group(&self, id: GroupId) -> Result<ContactGroup, ContactsError> {
        let group = self.context.store.contacts().group(self.account, id);
        let found = within(async { Ok(group.await?) }).await?;
        found.ok_or(ContactsError::NotFound)
    }

    /// Returns a page of the contacts of a group, by number.
    pub async fn list(
        &self,
        id: GroupId,
        request: &PageRequest,
    ) -> Result<Page<Contact>, ContactsError> {
        let scope = id.to_string();
        let behind = request.behind(List::Contacts, &scope)?;
        let rows = self.read(id, behind, request.rows()).await?;
        Ok(request.page(List::Contacts, &scope, rows))
    }

    /// Returns all contacts of a group, by number.
    pub async fn all(&self, id: GroupId) -> Result<Vec<Contact>, ContactsError> {
        let most = u32::try_from(MAX_CONTACTS).unwrap_or(u32::MAX);
        self.read(id, None, most).await
    }

    async fn read(
        &self,
        id: GroupId,
        behind: Option<i64>,
        limit: u32,
    ) -> Result<Vec<Contact>, ContactsError> {
        self.group(id).await?;
        let contacts = self.context.store.contacts().list(id, behind, limit);
        Ok(within(async { Ok(contacts.await?) }).await?)
    }

    /// Creates a group. Returns its id.
    pub async fn create(&self, name: &str) -> Result<GroupId, ContactsError> {
        let name = name_of(name);
        if name.is_empty() {
            return Err(ContactsError::NoName);
        }
        let id = i64::try_from(self.context.random.number() >> 1).unwrap_or(i64::MAX);
        let (contacts, now_ms) = (self.context.store.contacts(), self.context.clock.now_ms());
        match contacts.create(self.account, (id, name), now_ms).await? {
            GroupCreated::Created => Ok(id),
            GroupCreated::NameTaken => Err(ContactsError::NameTaken),
            GroupCreated::Full => Err(ContactsError::ManyGroups),
        }
    }

    /// Removes a group with its contacts.
    pub async fn remove(&self, id: GroupId) -> Result<(), ContactsError> {
        let removed = self.context.store.contacts().remove(self.account, id);
        found(removed.await?)
    }

    /// Removes a contact of a group. The number has its stored form.
    pub async fn remove_contact(&self, id: GroupId, number: &str) -> Result<(), ContactsError> {
        let recipient = domain::parse_international(number);
        let recipient = recipient.ok_or(ContactsError::NotFound)?;
        let contacts = self.context.store.contacts();
        let removed = contacts.remove_contact(self.account, id, recipient);
        found(removed.await?)
    }

    /// Adds the contacts of a text.
    pub async fn add_text(&self, id: GroupId, text: &str) -> Result<Added, ContactsError> {
        self.add(id, &Reading::of_text(text)).await
    }

    /// Adds the contacts of a file.
    pub async fn add_file(&self, id: GroupId, file: File) -> Result<Added, ContactsError> {
        self.group(id).await?;
        let reading = tokio::task::spawn_blocking(move || read(file));
        let reading = reading.await.map_err(|_| ContactsError::Ended)??;
        self.add(id, &reading).await
    }

    async fn add(&self, id: GroupId, reading: &Reading) -> Result<Added, ContactsError> {
        let contacts = reading.contacts();
        if contacts.is_empty() {
            return Err(ContactsError::NoNumber);
        }
        let given = contacts.len() as u64;
        let (store, now_ms) = (self.context.store.contacts(), self.context.clock.now_ms());
        match store.add(self.account, id, contacts, now_ms).await? {
            ContactsAdded::Added(new) => Ok(Added {
                new,
                known: given - new,
                faults: reading.faults(),
            }),
            ContactsAdded::Full => Err(ContactsError::ManyContacts),
            ContactsAdded::NoGroup => Err(ContactsError::NotFound),
        }
    }
}

fn found(is_found: bool) -> Result<(), ContactsError> {
    is_found.then_some(()).ok_or(ContactsError::NotFound)
}

fn read(file: File) -> Result<Reading, SheetError> {
    let mut reading = Reading::default();
    let mut each = |row: &Row| {
        if reading.add(row.cells()) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    sheets::read(file, &LIMITS, &mut each)?;
    Ok(reading)
}
