//! Groups of contacts that customers keep.

use crate::lists::ListRow;
use database::{Change, Db, Result, Tx, bulk, query, value};
use domain::contacts::{Contact, MAX_CONTACTS, MAX_GROUPS};
use domain::{AccountId, Recipient};
use std::collections::HashSet;

/// The id of a group.
pub type GroupId = i64;

/// A group of contacts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ContactGroup {
    /// The id.
    pub id: GroupId,
    /// The name, unique in its account.
    pub name: String,
    /// Time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// The number of contacts.
    pub contacts: i64,
}

struct GroupRow {
    group_id: i64,
    name: String,
    created_at_ms: i64,
    contacts: i64,
}

database::from_row!(GroupRow {
    group_id,
    name,
    created_at_ms,
    contacts
});

impl From<GroupRow> for ContactGroup {
    fn from(row: GroupRow) -> Self {
        Self {
            id: row.group_id,
            name: row.name,
            created_at_ms: row.created_at_ms,
            contacts: row.contacts,
        }
    }
}

impl ListRow for Contact {
    /// The number.
    type Key = i64;

    fn key(&self) -> Self::Key {
        digits(self.recipient)
    }
}

fn digits(recipient: Recipient) -> i64 {
    i64::try_from(recipient.digits()).unwrap_or(i64::MAX)
}

/// The result of the creation of a group.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GroupCreated {
    /// The group exists now.
    Created,
    /// The account has a group of this name.
    NameTaken,
    /// The account has as many groups as it may have.
    Full,
}

/// The result of the addition of contacts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ContactsAdded {
    /// So many contacts are new. The others were in the group, and keep their names.
    Added(u64),
    /// The group would have more contacts than it may have. Nothing was added.
    Full,
    /// The account has no such group.
    NoGroup,
}

struct Create {
    account: AccountId,
    id: GroupId,
    name: String,
    created_at_ms: i64,
}

impl Change for Create {
    type Output = GroupCreated;

    async fn apply(&self, tx: &mut Tx) -> Result<GroupCreated> {
        let count = query("select count(*) from contact_groups where account_id = $1");
        let count: i64 = tx.fetch_one(count.bind(self.account.0)).await?;
        if count >= MAX_GROUPS {
            return Ok(GroupCreated::Full);
        }
        let insert = query(
            "insert into contact_groups (group_id, account_id, name, created_at_ms)
             values ($1, $2, $3, $4) on conflict do nothing",
        );
        let insert = insert.bind(self.id).bind(self.account.0).bind(&self.name);
        let added = tx.execute(insert.bind(self.created_at_ms)).await?;
        Ok(match added {
            0 => GroupCreated::NameTaken,
            _ => GroupCreated::Created,
        })
    }

    async fn is_committed(&self, tx: &mut Tx, output: &GroupCreated) -> Result<bool> {
        let found = owned(tx, self.account, self.id).await?;
        Ok(found == (*output == GroupCreated::Created))
    }
}

/// Returns `true` if an account has a group.
async fn owned(tx: &mut Tx, account: AccountId, id: GroupId) -> Result<bool> {
    let find = query("select group_id from contact_groups where group_id = $1 and account_id = $2");
    let found: Option<i64> = tx.fetch_optional(find.bind(id).bind(account.0)).await?;
    Ok(found.is_some())
}

struct Remove {
    account: AccountId,
    id: GroupId,
}

impl Change for Remove {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        if !owned(tx, self.account, self.id).await? {
            return Ok(false);
        }
        tx.execute(query("delete from contacts where group_id = $1").bind(self.id))
            .await?;
        tx.execute(query("delete from contact_groups where group_id = $1").bind(self.id))
            .await?;
        Ok(true)
    }
}

struct Add {
    account: AccountId,
    id: GroupId,
    contacts: Vec<Contact>,
    added_at_ms: i64,
}

impl Change for Add {
    type Output = ContactsAdded;

    async fn apply(&self, tx: &mut Tx) -> Result<ContactsAdded> {
        // The write locks the group, so that two additions follow each other.
        let lock = query(
            "update contact_groups set created_at_ms = created_at_ms
             where group_id = $1 and account_id = $2",
        );
        if tx.execute(lock.bind(self.id).bind(self.account.0)).await? == 0 {
            return Ok(ContactsAdded::NoGroup);
        }
        let known = query("select recipient from contacts where group_id = $1");
        let known: Vec<i64> = tx.fetch_all(known.bind(self.id)).await?;
        let known: HashSet<i64> = known.into_iter().collect();
        let is_new = |one: &&Contact| !known.contains(&digits(one.recipient));
        let new: Vec<&Contact> = self.contacts.iter().filter(is_new).collect();
        if known.len() + new.len() > MAX_CONTACTS {
            return Ok(ContactsAdded::Full);
        }
        let insert = bulk(
            "insert into contacts (group_id, recipient, name, added_at_ms)
             values ($1, $2, $3, $4) on conflict do nothing",
            "insert into contacts (group_id, recipient, name, added_at_ms)
             select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[])
             on conflict do nothing",
        );
        let insert = insert.rows(&new, |one| {
            [
                value(self.id),
                value(digits(one.recipient)),
                value(&one.name),
                value(self.added_at_ms),
            ]
        });
        tx.execute_each(insert).await?;
        Ok(ContactsAdded::Added(new.len() as u64))
    }
}

struct RemoveContact {
    account: AccountId,
    id: GroupId,
    recipient: Recipient,
}

impl Change for RemoveContact {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        if !owned(tx, self.account, self.id).await? {
            return Ok(false);
        }
        let remove = query("delete from contacts where group_id = $1 and recipient = $2");
        let remove = remove.bind(self.id).bind(digits(self.recipient));
        Ok(tx.execute(remove).await? == 1)
    }
}

/// The contacts of all accounts.
#[derive(Clone, Copy)]
pub struct Contacts<'s> {
    pub(crate) db: &'s Db,
}

impl Contacts<'_> {
    /// Creates a group.
    pub async fn create(
        self,
        account: AccountId,
        (id, name): (GroupId, String),
        created_at_ms: i64,
    ) -> Result<GroupCreated> {
        let create = Create {
            account,
            id,
            name,
            created_at_ms,
        };
        self.db.change(create).await
    }

    /// Removes a group with its contacts. Returns `false` if there is none.
    pub async fn remove(self, account: AccountId, id: GroupId) -> Result<bool> {
        self.db.change(Remove { account, id }).await
    }

    /// Returns the groups of an account, newest first.
    pub async fn groups(self, account: AccountId) -> Result<Vec<ContactGroup>> {
        let read = query(
            "select g.group_id, g.name, g.created_at_ms, (
                 select count(*) from contacts c where c.group_id = g.group_id) as contacts
             from contact_groups g where g.account_id = $1
             order by g.created_at_ms desc, g.group_id",
        );
        let rows: Vec<GroupRow> = self.db.fetch_all(read.bind(account.0)).await?;
        Ok(rows.into_iter().map(Into::into).collect())
    }

    /// Returns a group of an account.
    pub async fn group(self, account: AccountId, id: GroupId) -> Result<Option<ContactGroup>> {
        let read = query(
            "select g.group_id, g.name, g.created_at_ms, (
                 select count(*) from contacts c where c.group_id = g.group_id) as contacts
             from contact_groups g where g.group_id = $1 and g.account_id = $2",
        );
        let row: Option<GroupRow> = self
            .db
            .fetch_optional(read.bind(id).bind(account.0))
            .await?;
        Ok(row.map(Into::into))
    }

    /// Adds contacts to a group of an account.
    pub async fn add(
        self,
        account: AccountId,
        id: GroupId,
        contacts: Vec<Contact>,
        added_at_ms: i64,
    ) -> Result<ContactsAdded> {
        let add = Add {
            account,
            id,
            contacts,
            added_at_ms,
        };
        self.db.change(add).await
    }

    /// Removes a contact. Returns `false` if the account has no such group or contact.
    pub async fn remove_contact(
        self,
        account: AccountId,
        id: GroupId,
        recipient: Recipient,
    ) -> Result<bool> {
        let remove = RemoveContact {
            account,
            id,
            recipient,
        };
        self.db.change(remove).await
    }

    /// Returns some contacts of a group behind a number, by number.
    pub async fn list(self, id: GroupId, behind: Option<i64>, limit: u32) -> Result<Vec<Contact>> {
        let read = query(
            "select recipient, name from contacts where group_id = $1 and recipient > $2
             order by recipient limit $3",
        );
        let read = read.bind(id).bind(behind.unwrap_or(0));
        let rows: Vec<(i64, String)> = self.db.fetch_all(read.bind(i64::from(limit))).await?;
        let contact = |(recipient, name): (i64, String)| Contact {
            recipient: Recipient::from_digits(recipient.unsigned_abs()),
            name,
        };
        Ok(rows.into_iter().map(contact).collect())
    }
}
