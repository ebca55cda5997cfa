//! The requests of customers for sender IDs.

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::error::{Error, within};
use domain::SenderId;
use domain::idempotency;
use domain::sender_request::{SenderFields, SenderRequest};

/// Registers a sender ID as pending, until the operator decides. A sender ID that the account has
/// is returned as it stands, unless it was rejected: then it is pending again.
pub async fn request(
    admission: &Admission,
    fields: &SenderFields,
    keyed: Option<KeyedAnswer<SenderId>>,
) -> Result<Changed<SenderId>, Error> {
    let request = SenderRequest::read(fields)?;
    let meaning = idempotency::of_sender(&request);
    // A sender ID belongs to no message.
    let shown = |sender: &SenderId| (sender.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let by = admission.author();
    let place = (admission.customer().account.id, admission.environment());
    let senders = admission.context().store.senders();
    let requested = senders.request(place, request, claimed.keyed.take(), by);
    let outcome = within(async { Ok(requested.await?) }).await?;
    changed(outcome, |sender| sender)
}
