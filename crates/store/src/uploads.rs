//! Uploads: files of recipients that a customer is about to send to. They end after a day.

use database::{Change, Db, Result, Tx, query};
use domain::AccountId;

/// Uploads that one step removes at most.
const MAX_REMOVED: i64 = 5;

/// The id of an upload.
pub type UploadId = i64;

/// An upload.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Upload {
    /// The id.
    pub id: UploadId,
    /// The account.
    pub account: AccountId,
    /// The name of the file.
    pub name: String,
    /// The form of the file in words, such as `CSV, UTF-8`.
    pub form: String,
    /// The number of rows, with the header.
    pub rows: i64,
    /// The largest number of cells of a row.
    pub columns: i64,
    /// The number of parts. An upload without parts is still being read.
    pub parts: i64,
    /// Time of creation, Unix milliseconds.
    pub created_at_ms: i64,
    /// Time of the end.
    pub expires_at_ms: i64,
}

struct UploadRow {
    upload_id: i64,
    account_id: i64,
    name: String,
    form: String,
    row_count: i64,
    column_count: i64,
    part_count: i64,
    created_at_ms: i64,
    expires_at_ms: i64,
}

database::from_row!(UploadRow {
    upload_id,
    account_id,
    name,
    form,
    row_count,
    column_count,
    part_count,
    created_at_ms,
    expires_at_ms
});

impl From<UploadRow> for Upload {
    fn from(row: UploadRow) -> Self {
        Self {
            id: row.upload_id,
            account: AccountId(row.account_id),
            name: row.name,
            form: row.form,
            rows: row.row_count,
            columns: row.column_count,
            parts: row.part_count,
            created_at_ms: row.created_at_ms,
            expires_at_ms: row.expires_at_ms,
        }
    }
}

struct Begin {
    upload: Upload,
    most: i64,
}

impl Change for Begin {
    /// `false` if the account has as many uploads as it may have.
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Upload {
            id,
            account,
            name,
            created_at_ms,
            expires_at_ms,
            ..
        } = &self.upload;
        let open =
            query("select count(*) from uploads where account_id = $1 and expires_at_ms > $2");
        let open: i64 = tx
            .fetch_one(open.bind(account.0).bind(*created_at_ms))
            .await?;
        if open >= self.most {
            return Ok(false);
        }
        let insert = query(
            "insert into uploads (upload_id, account_id, name, form, row_count, column_count, part_count,
                 created_at_ms, expires_at_ms)
             values ($1, $2, $3, '', 0, 0, 0, $4, $5)
             on conflict (upload_id) do nothing",
        );
        let insert = insert.bind(*id).bind(account.0).bind(name);
        tx.execute(insert.bind(*created_at_ms).bind(*expires_at_ms))
            .await?;
        Ok(true)
    }
}

struct AddPart {
    id: UploadId,
    part: i64,
    octets: Vec<u8>,
}

impl Change for AddPart {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let insert = query(
            "insert into upload_parts (upload_id, part, octets) values ($1, $2, $3)
             on conflict (upload_id, part) do nothing",
        );
        let insert = insert.bind(self.id).bind(self.part);
        tx.execute(insert.bind(&self.octets[..])).await?;
        Ok(())
    }
}

struct Complete {
    upload: Upload,
}

impl Change for Complete {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let update = query(
            "update uploads set form = $2, row_count = $3, column_count = $4, part_count = $5, expires_at_ms = $6
             where upload_id = $1",
        );
        let upload = &self.upload;
        let update = update.bind(upload.id).bind(&upload.form).bind(upload.rows);
        let update = update.bind(upload.columns).bind(upload.parts);
        let changed = tx.execute(update.bind(upload.expires_at_ms)).await?;
        Ok(changed == 1)
    }
}

struct Remove {
    account: AccountId,
    id: UploadId,
}

impl Change for Remove {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let find = query("select upload_id from uploads where upload_id = $1 and account_id = $2");
        let find = find.bind(self.id).bind(self.account.0);
        let found: Option<i64> = tx.fetch_optional(find).await?;
        let Some(id) = found else {
            return Ok(false);
        };
        delete(tx, id).await?;
        Ok(true)
    }
}

struct RemoveExpired {
    now_ms: i64,
}

impl Change for RemoveExpired {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let find = query(
            "select upload_id from uploads where expires_at_ms <= $1 order by expires_at_ms limit $2",
        );
        let ended: Vec<i64> = tx
            .fetch_all(find.bind(self.now_ms).bind(MAX_REMOVED))
            .await?;
        for id in &ended {
            delete(tx, *id).await?;
        }
        Ok(i64::try_from(ended.len()) == Ok(MAX_REMOVED))
    }
}

async fn delete(tx: &mut Tx, id: UploadId) -> Result<()> {
    tx.execute(query("delete from upload_parts where upload_id = $1").bind(id))
        .await?;
    tx.execute(query("delete from uploads where upload_id = $1").bind(id))
        .await?;
    Ok(())
}

/// The uploads of all accounts.
#[derive(Clone, Copy)]
pub struct Uploads<'s> {
    pub(crate) db: &'s Db,
}

impl Uploads<'_> {
    /// Begins an upload, which has no parts yet. Returns `false` if the account has `most` already.
    pub async fn begin(self, upload: Upload, most: i64) -> Result<bool> {
        self.db.change(Begin { upload, most }).await
    }

    /// Adds a part of an upload, from 0.
    pub async fn add_part(self, id: UploadId, part: i64, octets: Vec<u8>) -> Result<()> {
        self.db.change(AddPart { id, part, octets }).await
    }

    /// Completes an upload: its form, its counts and its end are stored. Returns `false` if it has
    /// ended meanwhile.
    pub async fn complete(self, upload: Upload) -> Result<bool> {
        self.db.change(Complete { upload }).await
    }

    /// Returns a complete upload of an account.
    pub async fn find(
        self,
        account: AccountId,
        id: UploadId,
        now_ms: i64,
    ) -> Result<Option<Upload>> {
        let find = query(
            "select * from uploads where upload_id = $1 and account_id = $2 and part_count > 0
                 and expires_at_ms > $3",
        );
        let row: Option<UploadRow> = self
            .db
            .fetch_optional(find.bind(id).bind(account.0).bind(now_ms))
            .await?;
        Ok(row.map(Upload::from))
    }

    /// Returns the complete uploads of an account, newest first.
    pub async fn list(self, account: AccountId, now_ms: i64) -> Result<Vec<Upload>> {
        let list = query(
            "select * from uploads where account_id = $1 and part_count > 0 and expires_at_ms > $2
             order by created_at_ms desc, upload_id",
        );
        let rows: Vec<UploadRow> = self.db.fetch_all(list.bind(account.0).bind(now_ms)).await?;
        Ok(rows.into_iter().map(Upload::from).collect())
    }

    /// Returns the octets of a part.
    pub async fn part(self, id: UploadId, part: i64) -> Result<Option<Vec<u8>>> {
        let find = query("select octets from upload_parts where upload_id = $1 and part = $2");
        self.db.fetch_optional(find.bind(id).bind(part)).await
    }

    /// Removes an upload of an account with its parts. Returns `false` if there is none.
    pub async fn remove(self, account: AccountId, id: UploadId) -> Result<bool> {
        self.db.change(Remove { account, id }).await
    }

    /// Removes some uploads that have ended. Returns `true` if more may be left.
    pub async fn remove_ended(self, now_ms: i64) -> Result<bool> {
        self.db.change(RemoveExpired { now_ms }).await
    }
}
