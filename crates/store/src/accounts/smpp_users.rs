//! SMPP users. The database stores only the hashes of their passwords.

use super::smpp_binds::PublishBinds;
use super::smpp_user_changes::{AddUser, RevokeUser, SetLimits, UserRow};
use super::smpp_user_requests::{GiveUpUser, RequestUser};
use crate::change_once::ChangeOnce;
use crate::idempotency::{KeyedChange, Outcome};
use crate::lists::{AccountRowKey, page_of};
use crate::operators::audit::By;
use database::{Db, Result, query};
use domain::smpp_user::{SmppLimits, SmppUser};
use domain::{AccountId, NodeId};
use std::collections::HashMap;

/// The SMPP users of accounts.
#[derive(Clone, Copy)]
pub struct SmppUsers<'s> {
    pub(crate) db: &'s Db,
}

impl SmppUsers<'_> {
    /// Adds a user by the hash of its password.
    pub async fn add(self, user: SmppUser, hash: String, by: By) -> Result<()> {
        self.db.change(AddUser { user, hash, by }).await
    }

    /// Adds a user at the request of its account.
    pub async fn request(
        self,
        user: SmppUser,
        hash: String,
        keyed: Option<KeyedChange<SmppUser>>,
        by: By,
    ) -> Result<Outcome<SmppUser>> {
        let (account, now_ms) = (user.account, by.at_ms);
        let change = RequestUser(AddUser { user, hash, by });
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Revokes a user at the request of its account. Returns its system id.
    pub async fn give_up(
        self,
        account: AccountId,
        system_id: &str,
        keyed: Option<KeyedChange<String>>,
        by: By,
    ) -> Result<Outcome<String>> {
        let now_ms = by.at_ms;
        let change = GiveUpUser::new(account, system_id, by);
        let once = ChangeOnce::of_account(self.db, (account, now_ms), keyed, change);
        self.db.change(once).await
    }

    /// Revokes a user. It returns `false` if no valid user has this system id.
    pub async fn revoke(self, system_id: &str, by: By) -> Result<bool> {
        let system_id = system_id.to_owned();
        self.db.change(RevokeUser { system_id, by }).await
    }

    /// Sets the limits of a user. It returns `false` if no valid user has this system id.
    pub async fn limit(self, system_id: &str, limits: SmppLimits, by: By) -> Result<bool> {
        let system_id = system_id.to_owned();
        let change = SetLimits {
            system_id,
            limits,
            by,
        };
        self.db.change(change).await
    }

    /// Replaces the users that are bound to a node, with the number of their connections.
    pub async fn publish(self, node: NodeId, bound: Vec<(String, u32)>) -> Result<()> {
        self.db.change(PublishBinds { node, bound }).await
    }

    /// Returns the number of connections of each bound user of one account, or of all.
    pub async fn bound(self, account: Option<AccountId>) -> Result<HashMap<String, i64>> {
        let find = query(
            "select b.system_id, cast(sum(b.connections) as bigint)
             from smpp_users u cross join nodes n cross join smpp_binds b
             where u.account_id >= $1 and u.account_id <= $2 and b.node = n.node
                 and b.system_id = u.system_id
             group by b.system_id",
        );
        let (lowest, highest) = account.map_or((i64::MIN, i64::MAX), |one| (one.0, one.0));
        let find = find.bind(lowest).bind(highest);
        let rows: Vec<(String, i64)> = self.db.fetch_all(find).await?;
        Ok(rows.into_iter().collect())
    }

    /// Returns a user, revoked or not, and the hash of its password.
    pub async fn find(self, system_id: &str) -> Result<Option<(SmppUser, String)>> {
        let row: Option<UserRow> = self
            .db
            .fetch_optional(query("select * from smpp_users where system_id = $1").bind(system_id))
            .await?;
        row.map(UserRow::user).transpose()
    }

    /// Returns some users behind one, of all accounts or of one. The newest account comes first,
    /// and for each account its newest user.
    pub async fn list(
        self,
        account: Option<AccountId>,
        behind: Option<AccountRowKey>,
        limit: u32,
    ) -> Result<Vec<SmppUser>> {
        let (lowest, behind) = page_of(account, behind);
        let rows: Vec<UserRow> = self
            .db
            .fetch_all(
                query(
                    "select * from smpp_users
                 where account_id >= $1 and (account_id, created_at_ms, system_id) < ($2, $3, $4)
                 order by account_id desc, created_at_ms desc, system_id desc limit $5",
                )
                .bind(lowest.0)
                .bind(behind.0)
                .bind(behind.1)
                .bind(&behind.2)
                .bind(i64::from(limit)),
            )
            .await?;
        rows.into_iter()
            .map(|row| row.user().map(|(user, _)| user))
            .collect()
    }
}
