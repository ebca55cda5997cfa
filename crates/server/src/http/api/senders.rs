//! `GET` and `POST /sender-ids` (docs/spec/interface.md, section 6.4).

use crate::format::LagosTime;
use crate::http::extract::call::Reading;
use crate::http::extract::call::object::Adding;
use crate::http::respond::envelope::{Envelope, sandbox_mark};
use crate::http::respond::error::Failure;
use axum::response::Response;
use domain::sender_request::SenderFields;
use domain::{Customer, Environment, SenderId};
use engine::sender_ids;
use serde::Serialize;
use utoipa::ToSchema;

/// Lists the sender IDs of the account.
pub(crate) async fn senders(Reading(call): Reading) -> Response {
    let data = SendersData::new(call.admission.customer(), call.environment());
    call.answer(Ok::<_, Failure>(Envelope::new(
        "Sender IDs retrieved.",
        data,
    )))
}

/// Requests a sender ID.
pub(crate) async fn request(adding: Adding<SenderFields>) -> Response {
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    let environment = call.environment();
    let answer = move |sender: &SenderId| Registration::answer(sender, environment);
    let keyed = call.keyed(key, answer);
    let requested = sender_ids::request(&call.admission, &fields, keyed).await;
    call.changed(requested, answer)
}

/// The sender IDs of an account.
#[derive(Serialize, ToSchema)]
pub(crate) struct SendersData {
    /// In alphabetical order.
    sender_ids: Vec<Registration>,
    /// The number of sender IDs.
    total: usize,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

/// One sender ID and where it stands.
#[derive(Serialize, ToSchema)]
pub(crate) struct Registration {
    /// The sender ID as registered and sent.
    #[schema(example = "AdaStores")]
    sender_id: String,
    /// `pending`, `approved`, `rejected` or `suspended`. Only approved ones can send.
    #[schema(example = "approved")]
    status: &'static str,
    /// Its purpose.
    purpose: String,
    /// The time of the approval.
    #[schema(required = true)]
    approved_at: Option<LagosTime>,
    /// The reason of the rejection.
    #[schema(required = true)]
    rejection_reason: Option<String>,
    /// True in the answer to a request in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    sandbox: Option<bool>,
}

impl Registration {
    fn new(sender: &SenderId) -> Self {
        Self {
            sender_id: sender.name.clone(),
            status: sender.status.as_str(),
            purpose: sender.purpose.clone(),
            approved_at: sender.approved_at_ms.map(|at_ms| LagosTime { at_ms }),
            rejection_reason: sender.rejection_reason.clone(),
            sandbox: None,
        }
    }

    pub(crate) fn answer(sender: &SenderId, environment: Environment) -> Envelope<Self> {
        let data = Self {
            sandbox: sandbox_mark(environment),
            ..Self::new(sender)
        };
        Envelope::new("Sender ID requested.", data)
    }
}

impl SendersData {
    pub(crate) fn new(customer: &Customer, environment: Environment) -> Self {
        let mut senders: Vec<&SenderId> = customer.senders.values().collect();
        senders.sort_by(|a, b| a.name.cmp(&b.name));
        let sender_ids = senders.into_iter().map(Registration::new);
        Self {
            total: customer.senders.len(),
            sender_ids: sender_ids.collect(),
            sandbox: sandbox_mark(environment),
        }
    }
}
