//! `GET` and `PATCH /inbound/answers` (docs/spec/inbound.md, section 6).

use crate::http::extract::call::Reading;
use crate::http::extract::call::object::Adding;
use crate::http::respond::envelope::{Envelope, sandbox_mark};
use axum::response::Response;
use domain::Environment;
use domain::inbound::{AnswerChange, AnswerTexts};
use engine::inbound_answers;
use serde::Serialize;
use utoipa::ToSchema;

/// Returns the texts that answer commands.
pub(crate) async fn read(Reading(call): Reading) -> Response {
    let environment = call.environment();
    let texts = call.admission.queries().answer_texts().await;
    call.answer(texts.map(|texts| read_answer(&texts, environment)))
}

/// Changes some of the texts.
pub(crate) async fn change(adding: Adding<AnswerChange>) -> Response {
    let Adding {
        call,
        fields,
        key,
        permit: _until_answered,
        ..
    } = adding;
    let keyed = call.keyed(key, changed_answer);
    let changed = inbound_answers::change_answers(&call.admission, fields, keyed).await;
    call.changed(changed, changed_answer)
}

/// Returns the envelope of the texts.
pub(crate) fn read_answer(texts: &AnswerTexts, environment: Environment) -> Envelope<AnswerItem> {
    Envelope::new("Answers retrieved.", AnswerItem::new(texts, environment))
}

/// Returns the envelope of the texts after a change.
pub(crate) fn changed_answer(texts: &AnswerTexts) -> Envelope<AnswerItem> {
    let item = AnswerItem::new(texts, Environment::Live);
    Envelope::new("Answers changed.", item)
}

/// The texts that answer the commands of subscribers. An empty text is no answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct AnswerItem {
    /// The answer to an opt-out.
    #[schema(example = "You get no more messages. Reply START to get them again.")]
    stop: String,
    /// The answer to an opt-in.
    start: String,
    /// The answer to a question for help.
    help: String,
    /// True in the sandbox, absent elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<bool>,
}

impl AnswerItem {
    fn new(texts: &AnswerTexts, environment: Environment) -> Self {
        Self {
            stop: texts.stop.clone(),
            start: texts.start.clone(),
            help: texts.help.clone(),
            sandbox: sandbox_mark(environment),
        }
    }
}
