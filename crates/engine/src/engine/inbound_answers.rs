//! The changes of customers to their answers to subscribers' commands.

use super::admission::Admission;
use super::keyed_change::{Changed, Claimed, KeyedAnswer, changed};
use crate::error::{Error, within};
use domain::idempotency;
use domain::inbound::{AnswerChange, AnswerTexts};

/// Changes the texts of answers. A text that is not given stays.
pub async fn change_answers(
    admission: &Admission,
    change: AnswerChange,
    keyed: Option<KeyedAnswer<AnswerTexts>>,
) -> Result<Changed<AnswerTexts>, Error> {
    let change = change.read()?;
    let meaning = idempotency::of_answers(&change);
    let shown = |texts: &AnswerTexts| (texts.clone(), None);
    let mut claimed = match Claimed::begin(admission, keyed, meaning, shown).await? {
        Changed::First(claimed) => claimed,
        Changed::Replay(answer) => return Ok(Changed::Replay(answer)),
    };
    let answers = admission.context().store.inbound_answers();
    let account = admission.customer().account.id;
    let set = answers.set_texts(account, change, claimed.keyed.take(), admission.author());
    let outcome = within(async { Ok(set.await?) }).await?;
    changed(outcome, |texts| texts)
}
