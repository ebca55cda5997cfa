//! Rows of users.

use crate::lists::ListRow;
use crate::rows::named;
use database::{Result, Tx, locking, query};
use domain::AccountId;
use domain::user::{UserId, UserStatus};

/// The account of an operator's membership. No account has this number.
const NO_ACCOUNT: i64 = 0;

/// A person who signs in to the console.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct User {
    /// The id.
    pub id: UserId,
    /// The address by which the user signs in, in lower case.
    pub email: String,
    /// The name.
    pub name: String,
    /// The status.
    pub status: UserStatus,
    /// `true` once the user has a password.
    pub has_password: bool,
    /// `true` once the user has confirmed a second factor.
    pub has_second_factor: bool,
    /// The number of recovery codes that are left.
    pub recovery_codes: usize,
    /// Time of creation, Unix milliseconds.
    pub created_at_ms: i64,
}

impl ListRow for User {
    type Key = i64;

    fn key(&self) -> i64 {
        self.id.0
    }
}

/// A user with the secrets that a sign-in is checked against.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UserSecrets {
    /// The user.
    pub user: User,
    /// The argon2id hash of the password.
    pub password: Option<String>,
    /// The secret of the second factor, confirmed or not.
    pub totp_secret: Option<Vec<u8>>,
    /// The last step of the second factor that was used, or `None` until it is confirmed.
    pub totp_step: Option<i64>,
    /// The hashes of the recovery codes that are left.
    pub recovery_codes: Vec<String>,
}

pub(crate) struct UserRow {
    user_id: i64,
    email: String,
    name: String,
    status: String,
    password: Option<String>,
    totp_secret: Option<Vec<u8>>,
    totp_step: Option<i64>,
    recovery_codes: String,
    created_at_ms: i64,
}

database::from_row!(UserRow {
    user_id,
    email,
    name,
    status,
    password,
    totp_secret,
    totp_step,
    recovery_codes,
    created_at_ms
});

impl UserRow {
    pub(crate) fn secrets(self) -> Result<UserSecrets> {
        let codes = self.recovery_codes.split(',').filter(|one| !one.is_empty());
        let recovery_codes: Vec<String> = codes.map(str::to_owned).collect();
        let user = User {
            id: UserId(self.user_id),
            email: self.email,
            name: self.name,
            status: named(UserStatus::from_name, &self.status)?,
            has_password: self.password.is_some(),
            has_second_factor: self.totp_step.is_some(),
            recovery_codes: recovery_codes.len(),
            created_at_ms: self.created_at_ms,
        };
        Ok(UserSecrets {
            user,
            password: self.password,
            totp_secret: self.totp_secret,
            totp_step: self.totp_step,
            recovery_codes,
        })
    }
}

/// A user to be made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewUser {
    /// The id.
    pub id: UserId,
    /// The address, normalised.
    pub email: String,
    /// The name.
    pub name: String,
    /// The argon2id hash of the password, if the user has one already.
    pub password: Option<String>,
}

/// Returns the account of a stored membership, or `None` for an operator.
pub(crate) fn account(stored: i64) -> Option<AccountId> {
    (stored != NO_ACCOUNT).then_some(AccountId(stored))
}

/// Returns the number under which the account of a membership is stored.
pub(crate) fn stored_account(account: Option<AccountId>) -> i64 {
    account.map_or(NO_ACCOUNT, |account| account.0)
}

/// Returns the id of the user with an address.
pub(crate) async fn id_of(tx: &mut Tx, email: &str) -> Result<Option<UserId>> {
    let found: Option<i64> = tx
        .fetch_optional(query("select user_id from users where email = $1").bind(email))
        .await?;
    Ok(found.map(UserId))
}

/// Adds a user. Returns `false` if another has the address.
pub(crate) async fn insert(tx: &mut Tx, user: &NewUser, at_ms: i64) -> Result<bool> {
    let insert = query(
        "insert into users (user_id, email, name, status, password, created_at_ms)
         values ($1, $2, $3, $4, $5, $6) on conflict (email) do nothing",
    );
    let added = tx
        .execute(
            insert
                .bind(user.id.0)
                .bind(&user.email)
                .bind(&user.name)
                .bind(UserStatus::Active.as_str())
                .bind(&user.password)
                .bind(at_ms),
        )
        .await?;
    Ok(added == 1)
}

/// Reads a user, and locks it.
pub(super) async fn locked(tx: &mut Tx, user: UserId) -> Result<Option<UserSecrets>> {
    let sql = locking!("select * from users where user_id = $1"; "for update");
    let row: Option<UserRow> = tx.fetch_optional(query(sql).bind(user.0)).await?;
    row.map(UserRow::secrets).transpose()
}
