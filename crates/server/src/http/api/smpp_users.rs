//! `GET` and `POST /smpp-users`, and `DELETE /smpp-users/{system_id}` (docs/spec/smpp-users.md).

use super::list::List;
use crate::format::LagosTime;
use crate::http::extract::call::Listing;
use crate::http::extract::call::object::{Adding, Removing};
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::smpp_user::{SmppUser, SmppUserFields};
use domain::{Environment, Gateway};
use engine::{ListPage, smpp_user_changes};
use serde::Serialize;
use utoipa::ToSchema;

/// Lists the SMPP users of the account.
pub(crate) async fn list(listing: Listing) -> Response {
    let call = &listing.call;
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        Ok::<_, Failure>(list_answer(queries.smpp_users(fields.page()).await?))
    };
    call.answer(found.await)
}

/// Makes an SMPP user.
pub(crate) async fn make(adding: Adding<SmppUserFields>) -> Response {
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    // A stored answer does not have the password.
    let keyed = call.keyed(key, |user: &SmppUser| made_answer(user, None));
    let made = smpp_user_changes::make_smpp_user(&call.admission, &fields, keyed).await;
    call.changed(made, |made| {
        made_answer(&made.user, Some(made.password.clone()))
    })
}

/// Revokes an SMPP user of the account.
pub(crate) async fn revoke(removing: Removing) -> Response {
    let Removing { call, id, key } = removing;
    let answer = |id: &String| revoked_answer(id);
    let keyed = call.keyed(key, answer);
    let revoked = smpp_user_changes::revoke_smpp_user(&call.admission, &id, keyed).await;
    call.changed(revoked, answer)
}

/// Returns the envelope of a page of SMPP users.
pub(crate) fn list_answer(found: ListPage<SmppUser>) -> Envelope<List<SmppUserItem>> {
    let item = |user| SmppUserItem::new(&user, None);
    let list = List::new(found, Environment::Live, item);
    Envelope::new("SMPP users retrieved.", list)
}

/// Returns the envelope of an SMPP user that was made.
pub(crate) fn made_answer(user: &SmppUser, password: Option<String>) -> Envelope<SmppUserItem> {
    Envelope::new(
        "SMPP user made. Its password is shown only here.",
        SmppUserItem::new(user, password),
    )
}

/// Returns the envelope of an SMPP user that was revoked.
pub(crate) fn revoked_answer(id: &str) -> Envelope<RevokedSmppUser> {
    let system_id = id.to_owned();
    Envelope::new("SMPP user revoked.", RevokedSmppUser { system_id })
}

/// An SMPP user of the account.
#[derive(Serialize, ToSchema)]
pub(crate) struct SmppUserItem {
    /// The name with which the user binds.
    system_id: String,
    /// The password in the first answer to the request that made the user, null anywhere else.
    #[schema(required = true)]
    password: Option<String>,
    /// `true` if its messages are simulated.
    sandbox: bool,
    /// The maximum number of connections to a node.
    binds: u32,
    /// The maximum number of submits in a second, to a node.
    per_second: u32,
    /// The maximum number of unanswered requests of a connection.
    window: u32,
    /// The ranges of addresses from which it may bind. An empty list allows every address.
    allow: Vec<String>,
    /// The gateway of messages without a `service_type`, or null for the default.
    #[schema(required = true)]
    gateway: Option<&'static str>,
    /// `true` if refusals have the statuses 0x0400 to 0x0402.
    vendor_statuses: bool,
    /// `true` if `data_coding` 0 is read as Latin 1.
    latin_1: bool,
    /// The time at which it was made.
    created_at: LagosTime,
    /// The time at which it was revoked, or null.
    #[schema(required = true)]
    revoked_at: Option<LagosTime>,
}

impl SmppUserItem {
    fn new(user: &SmppUser, password: Option<String>) -> Self {
        let time = |at_ms| LagosTime { at_ms };
        Self {
            system_id: user.system_id.clone(),
            password,
            sandbox: user.sandbox,
            binds: user.limits.binds,
            per_second: user.limits.per_second,
            window: user.limits.window,
            allow: user.allowed.0.iter().map(ToString::to_string).collect(),
            gateway: user.gateway.map(Gateway::as_str),
            vendor_statuses: user.dialect.vendor_statuses,
            latin_1: user.dialect.latin_1,
            created_at: time(user.created_at_ms),
            revoked_at: user.revoked_at_ms.map(time),
        }
    }
}

/// An SMPP user that was revoked.
#[derive(Serialize, ToSchema)]
pub(crate) struct RevokedSmppUser {
    /// The name with which it bound.
    system_id: String,
}
