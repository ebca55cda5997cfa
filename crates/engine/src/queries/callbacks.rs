//! Pages of the callbacks of an account: secrets, dead callbacks, and attempts.
//!
//! Both environments share them, as they share the secrets.

use super::owned::{CreationKey, creation_key, of_account};
use super::scope::{ListPage, Scope};
use crate::error::Error;
use domain::search::{KeyPage, List};
use domain::{AccountId, MessageId};
use store::{Callback, CallbackAttempt, CallbackSecret, ListRow};

/// Returns a page of the secrets of an account that sign now, newest first.
pub(crate) async fn secrets(
    scope: &Scope<'_>,
    account: AccountId,
    page: KeyPage<CreationKey>,
) -> Result<ListPage<CallbackSecret>, Error> {
    let secrets = scope.store.callback_secrets();
    let behind = of_account(account, page.after);
    let listed = secrets.list(scope.now_ms, Some(account), behind, page.limit + 1);
    let list = List::OwnSecrets;
    Ok(scope.cut_by_key(list, page.limit, listed.await?, creation_key))
}

/// Returns a page of the dead callbacks of an account, the latest first.
pub(crate) async fn dead(
    scope: &Scope<'_>,
    account: AccountId,
    page: KeyPage<<Callback as ListRow>::Key>,
) -> Result<ListPage<Callback>, Error> {
    let dead = scope.store.dead_callbacks();
    let listed = dead.list(account, page.after, page.limit + 1).await?;
    let list = List::OwnDeadCallbacks;
    Ok(scope.cut_by_key(list, page.limit, listed, ListRow::key))
}

/// Returns a page of the recorded attempts of an account or of one message, the latest messages
/// first.
pub(crate) async fn attempts(
    scope: &Scope<'_>,
    account: AccountId,
    message: Option<MessageId>,
    page: KeyPage<<CallbackAttempt as ListRow>::Key>,
) -> Result<ListPage<CallbackAttempt>, Error> {
    let attempts = scope.store.attempts();
    let listed = attempts.list(account, message, page.after, page.limit + 1);
    let list = List::OwnAttempts;
    Ok(scope.cut_by_key(list, page.limit, listed.await?, ListRow::key))
}
