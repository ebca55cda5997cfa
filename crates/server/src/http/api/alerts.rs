//! `GET` and `POST /alerts`, and `DELETE /alerts/{alert_id}` (docs/spec/payments.md, section 6).

use super::list::List;
use crate::format::{LagosTime, Naira};
use crate::http::extract::call::Listing;
use crate::http::extract::call::object::{Adding, Removing};
use crate::http::respond::envelope::Envelope;
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::Environment;
use domain::alert::{Alert, AlertFields, AlertTarget};
use engine::{ListPage, alerts};
use serde::Serialize;
use utoipa::ToSchema;

/// Lists the alerts of the account.
pub(crate) async fn list(listing: Listing) -> Response {
    let call = &listing.call;
    let environment = call.environment();
    let found = async {
        let fields = listing.fields()?;
        let queries = call.admission.queries();
        let found = queries.alerts(fields.page()).await?;
        Ok::<_, Failure>(list_answer(found, environment))
    };
    call.answer(found.await)
}

/// Adds an alert.
pub(crate) async fn add(adding: Adding<AlertFields>) -> Response {
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    let keyed = call.keyed(key, added_answer);
    let added = alerts::add_alert(&call.admission, &fields, keyed).await;
    call.changed(added, added_answer)
}

/// Removes an alert of the account.
pub(crate) async fn remove(removing: Removing) -> Response {
    let Removing { call, id, key } = removing;
    let answer = |id: &String| removed_answer(id);
    let keyed = call.keyed(key, answer);
    let removed = alerts::remove_alert(&call.admission, &id, keyed).await;
    call.changed(removed, answer)
}

/// Returns the envelope of a page of alerts.
pub(crate) fn list_answer(
    found: ListPage<Alert>,
    environment: Environment,
) -> Envelope<List<AlertItem>> {
    let list = List::new(found, environment, |alert| AlertItem::new(&alert));
    Envelope::new("Alerts retrieved.", list)
}

/// Returns the envelope of an added alert.
pub(crate) fn added_answer(alert: &Alert) -> Envelope<AlertItem> {
    Envelope::new("Alert added.", AlertItem::new(alert))
}

/// Returns the envelope of a removed alert.
pub(crate) fn removed_answer(id: &str) -> Envelope<RemovedAlert> {
    let alert_id = id.to_owned();
    Envelope::new("Alert removed.", RemovedAlert { alert_id })
}

/// An alert about a low balance.
#[derive(Serialize, ToSchema)]
pub(crate) struct AlertItem {
    /// Its id.
    alert_id: String,
    /// The balance below which it is told.
    threshold: Naira,
    /// The URL that is called, or null.
    #[schema(required = true)]
    url: Option<String>,
    /// The address that gets a mail, or null.
    #[schema(required = true)]
    email: Option<String>,
    /// True while the balance is below the threshold. It is told again after it was above.
    is_below: bool,
    /// The time at which it was added.
    created_at: LagosTime,
    /// The time at which it was told last, or null.
    #[schema(required = true)]
    told_at: Option<LagosTime>,
}

impl AlertItem {
    fn new(alert: &Alert) -> Self {
        let time = |at_ms| LagosTime { at_ms };
        let (url, email) = match &alert.target {
            AlertTarget::Url(url) => (Some(url.clone()), None),
            AlertTarget::Email(email) => (None, Some(email.clone())),
        };
        Self {
            alert_id: alert.id.clone(),
            threshold: Naira(alert.threshold),
            url,
            email,
            is_below: alert.is_below,
            created_at: time(alert.created_at_ms),
            told_at: alert.told_at_ms.map(time),
        }
    }
}

/// An alert that was removed.
#[derive(Serialize, ToSchema)]
pub(crate) struct RemovedAlert {
    /// The id of the alert.
    alert_id: String,
}
