//! SMPP users as they are stored, and their changes: add, revoke and limit.

use crate::accounts::revision::touch;
use crate::lists::{AccountRowKey, ListRow};
use crate::operators::audit::{self, By, Entry};
use crate::rows::named;
use database::{Change, Result, Tx, query};
use domain::smpp_user::{Dialect, SmppLimits, SmppUser};
use domain::{AccountId, Gateway};
use serde_json::{Value, json};

const CREATE: &str = "smpp-user.create";
const REVOKE: &str = "smpp-user.revoke";
const LIMITS: &str = "smpp-user.limits";

impl ListRow for SmppUser {
    type Key = AccountRowKey;

    fn key(&self) -> AccountRowKey {
        (self.account.0, self.created_at_ms, self.system_id.clone())
    }
}

pub(super) struct UserRow {
    system_id: String,
    account_id: i64,
    password_hash: String,
    sandbox: bool,
    binds: i64,
    per_second: i64,
    unanswered: i64,
    allowed: String,
    gateway: Option<String>,
    vendor_statuses: bool,
    latin_1: bool,
    created_at_ms: i64,
    revoked_at_ms: Option<i64>,
}

database::from_row!(UserRow {
    system_id,
    account_id,
    password_hash,
    sandbox,
    binds,
    per_second,
    unanswered,
    allowed,
    gateway,
    vendor_statuses,
    latin_1,
    created_at_ms,
    revoked_at_ms
});

impl UserRow {
    /// Returns the user and the hash of its password.
    pub(super) fn user(self) -> Result<(SmppUser, String)> {
        let number = |stored: i64| u32::try_from(stored).unwrap_or(u32::MAX);
        let gateway = self.gateway.as_deref();
        let user = SmppUser {
            system_id: self.system_id,
            account: AccountId(self.account_id),
            sandbox: self.sandbox,
            limits: SmppLimits {
                binds: number(self.binds),
                per_second: number(self.per_second),
                window: number(self.unanswered),
            },
            allowed: named(|text| text.parse().ok(), &self.allowed)?,
            gateway: gateway
                .map(|name| named(Gateway::from_name, name))
                .transpose()?,
            dialect: Dialect {
                vendor_statuses: self.vendor_statuses,
                latin_1: self.latin_1,
            },
            created_at_ms: self.created_at_ms,
            revoked_at_ms: self.revoked_at_ms,
        };
        Ok((user, self.password_hash))
    }
}

/// Returns a user as the audit records it.
fn audited(user: &SmppUser) -> Value {
    json!({
        "sandbox": user.sandbox,
        "limits": audited_limits(user.limits),
        "allowed": user.allowed.to_string(),
        "gateway": user.gateway.map(Gateway::as_str),
        "vendor_statuses": user.dialect.vendor_statuses,
        "latin_1": user.dialect.latin_1,
    })
}

fn audited_limits(limits: SmppLimits) -> Value {
    json!({
        "binds": limits.binds,
        "per_second": limits.per_second,
        "window": limits.window,
    })
}

/// Returns the user that is to be changed, unless it is revoked. The revision is the lock of every
/// change of a user, so a concurrent one waits.
async fn lock_valid(tx: &mut Tx, system_id: &str) -> Result<Option<SmppUser>> {
    touch(tx).await?;
    let row: Option<UserRow> = tx
        .fetch_optional(query("select * from smpp_users where system_id = $1").bind(system_id))
        .await?;
    let found = row.map(UserRow::user).transpose()?.map(|(user, _)| user);
    Ok(found.filter(|user| user.revoked_at_ms.is_none()))
}

pub(super) struct AddUser {
    pub(super) user: SmppUser,
    pub(super) hash: String,
    pub(super) by: By,
}

impl AddUser {
    /// Inserts the user. The revision is raised already.
    pub(super) async fn insert(&self, tx: &mut Tx) -> Result<()> {
        let (user, limits) = (&self.user, self.user.limits);
        tx.execute(
            query(
                "insert into smpp_users
             (system_id, account_id, password_hash, sandbox, binds, per_second, unanswered,
                 allowed, gateway, vendor_statuses, latin_1, created_at_ms)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
            )
            .bind(&user.system_id)
            .bind(user.account.0)
            .bind(&self.hash)
            .bind(user.sandbox)
            .bind(i64::from(limits.binds))
            .bind(i64::from(limits.per_second))
            .bind(i64::from(limits.window))
            .bind(user.allowed.to_string())
            .bind(user.gateway.map(Gateway::as_str))
            .bind(user.dialect.vendor_statuses)
            .bind(user.dialect.latin_1)
            .bind(user.created_at_ms),
        )
        .await?;
        let entry = Entry {
            by: &self.by,
            verb: CREATE,
            account: Some(user.account),
            object: &user.system_id,
            before: Value::Null,
            after: audited(user),
        };
        audit::enter(tx, entry).await
    }
}

impl Change for AddUser {
    type Output = ();

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        touch(tx).await?;
        self.insert(tx).await
    }

    async fn is_committed(&self, tx: &mut Tx, (): &()) -> Result<bool> {
        audit::is_kept(tx, &self.by, CREATE, &self.user.system_id).await
    }
}

pub(super) struct RevokeUser {
    pub(super) system_id: String,
    pub(super) by: By,
}

impl Change for RevokeUser {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some(user) = lock_valid(tx, &self.system_id).await? else {
            return Ok(false);
        };
        tx.execute(
            query("update smpp_users set revoked_at_ms = $2 where system_id = $1")
                .bind(&self.system_id)
                .bind(self.by.at_ms),
        )
        .await?;
        let entry = Entry {
            by: &self.by,
            verb: REVOKE,
            account: Some(user.account),
            object: &self.system_id,
            before: audited(&user),
            after: Value::Null,
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, revoked: &bool) -> Result<bool> {
        Ok(!revoked || audit::is_kept(tx, &self.by, REVOKE, &self.system_id).await?)
    }
}

pub(super) struct SetLimits {
    pub(super) system_id: String,
    pub(super) limits: SmppLimits,
    pub(super) by: By,
}

impl Change for SetLimits {
    type Output = bool;

    async fn apply(&self, tx: &mut Tx) -> Result<bool> {
        let Some(user) = lock_valid(tx, &self.system_id).await? else {
            return Ok(false);
        };
        tx.execute(
            query(
                "update smpp_users set binds = $2, per_second = $3, unanswered = $4
             where system_id = $1",
            )
            .bind(&self.system_id)
            .bind(i64::from(self.limits.binds))
            .bind(i64::from(self.limits.per_second))
            .bind(i64::from(self.limits.window)),
        )
        .await?;
        let entry = Entry {
            by: &self.by,
            verb: LIMITS,
            account: Some(user.account),
            object: &self.system_id,
            before: audited_limits(user.limits),
            after: audited_limits(self.limits),
        };
        audit::enter(tx, entry).await?;
        Ok(true)
    }

    async fn is_committed(&self, tx: &mut Tx, changed: &bool) -> Result<bool> {
        Ok(!changed || audit::is_kept(tx, &self.by, LIMITS, &self.system_id).await?)
    }
}
