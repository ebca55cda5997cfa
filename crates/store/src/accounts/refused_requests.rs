//! The refused requests of accounts, for the request log of the console.

use crate::lists::ListRow;
use database::{Change, Db, Result, Tx, bulk, query, value};
use domain::AccountId;

/// Requests removed in one transaction at most.
const STEP: i64 = 2_000;

/// A refused request. It has no secret, no number and no text of a message.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RefusedRequest {
    /// The account.
    pub account: AccountId,
    /// The time of the answer, Unix milliseconds.
    pub at_ms: i64,
    /// The id that the answer had.
    pub request_id: String,
    /// The token.
    pub token_id: String,
    /// The method.
    pub method: String,
    /// The route, with parts such as `{message_id}`.
    pub route: String,
    /// The status of the answer.
    pub status: u16,
    /// The code of the answer.
    pub code: String,
    /// The message of the answer.
    pub message: String,
    /// The duration in milliseconds.
    pub took_ms: i64,
}

impl ListRow for RefusedRequest {
    /// Time and id.
    type Key = (i64, String);

    fn key(&self) -> Self::Key {
        (self.at_ms, self.request_id.clone())
    }
}

struct Row {
    account_id: i64,
    at_ms: i64,
    request_id: String,
    token_id: String,
    method: String,
    route: String,
    status: i64,
    code: String,
    message: String,
    took_ms: i64,
}

database::from_row!(Row {
    account_id,
    at_ms,
    request_id,
    token_id,
    method,
    route,
    status,
    code,
    message,
    took_ms
});

impl From<Row> for RefusedRequest {
    fn from(row: Row) -> Self {
        Self {
            account: AccountId(row.account_id),
            at_ms: row.at_ms,
            request_id: row.request_id,
            token_id: row.token_id,
            method: row.method,
            route: row.route,
            status: u16::try_from(row.status).unwrap_or_default(),
            code: row.code,
            message: row.message,
            took_ms: row.took_ms,
        }
    }
}

struct Keep {
    requests: Vec<RefusedRequest>,
}

impl Change for Keep {
    type Output = ();

    const DEFERRABLE: bool = true;
    const DURABLE: bool = false;

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        // A client may choose the id of a request twice.
        let insert = bulk(
            "insert into refused_requests (account_id, at_ms, request_id, token_id, method, route,
                 status, code, message, took_ms)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing",
            "insert into refused_requests (account_id, at_ms, request_id, token_id, method, route,
                 status, code, message, took_ms)
             select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[],
                 $6::text[], $7::bigint[], $8::text[], $9::text[], $10::bigint[])
             on conflict do nothing",
        );
        let insert = insert.rows(&self.requests, |one| {
            [
                value(one.account.0),
                value(one.at_ms),
                value(&one.request_id),
                value(&one.token_id),
                value(&one.method),
                value(&one.route),
                value(i64::from(one.status)),
                value(&one.code),
                value(&one.message),
                value(one.took_ms),
            ]
        });
        tx.execute_each(insert).await?;
        Ok(())
    }
}

struct Remove {
    before_ms: i64,
}

impl Change for Remove {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let remove = query(
            "delete from refused_requests where (account_id, at_ms, request_id) in (
                 select account_id, at_ms, request_id from refused_requests
                 where at_ms < $1 order by at_ms limit $2)",
        );
        let removed = tx.execute(remove.bind(self.before_ms).bind(STEP)).await?;
        Ok(removed >= STEP.unsigned_abs())
    }
}

/// The refused requests.
#[derive(Clone, Copy)]
pub struct RefusedRequests<'s> {
    pub(crate) db: &'s Db,
}

impl RefusedRequests<'_> {
    /// Stores requests. They may be lost with the server.
    pub async fn keep(self, requests: Vec<RefusedRequest>) -> Result<()> {
        self.db.change(Keep { requests }).await
    }

    /// Returns some requests of an account behind one, newest first.
    pub async fn list(
        self,
        account: AccountId,
        behind: Option<(i64, String)>,
        limit: u32,
    ) -> Result<Vec<RefusedRequest>> {
        let (at_ms, request_id) = behind.unwrap_or((i64::MAX, String::new()));
        let read = query(
            "select * from refused_requests
             where account_id = $1 and (at_ms, request_id) < ($2, $3)
             order by at_ms desc, request_id desc limit $4",
        );
        let read = read.bind(account.0).bind(at_ms).bind(&request_id);
        let rows: Vec<Row> = self.db.fetch_all(read.bind(i64::from(limit))).await?;
        Ok(rows.into_iter().map(Into::into).collect())
    }

    /// Returns a request of an account.
    pub async fn find(
        self,
        account: AccountId,
        at_ms: i64,
        request_id: &str,
    ) -> Result<Option<RefusedRequest>> {
        let read = query(
            "select * from refused_requests
             where account_id = $1 and at_ms = $2 and request_id = $3",
        );
        let read = read.bind(account.0).bind(at_ms).bind(request_id);
        let row: Option<Row> = self.db.fetch_optional(read).await?;
        Ok(row.map(Into::into))
    }

    /// Removes some requests from before a time. Returns `true` if more may be left.
    pub async fn remove(self, before_ms: i64) -> Result<bool> {
        self.db.change(Remove { before_ms }).await
    }
}
