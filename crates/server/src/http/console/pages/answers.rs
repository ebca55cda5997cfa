//! The answers of the account to STOP, START and HELP.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use console::Section;
use console::parts::{Field, Kind};
use console::screens::{Details, Part, SmallForm};
use domain::inbound::{AnswerChange, AnswerTexts, MAX_ANSWER_CHARACTERS};
use domain::user::role::Permission::ManageContacts;

const PATH: &str = "/console/inbound/answers";

/// `GET /console/inbound/answers`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let inbound = visitor.operations().inbound();
    let texts = inbound.answers(visitor.account()?).await?;
    let fact = |name: &str, text: &str| {
        let text = if text.is_empty() { "No answer" } else { text };
        (name.to_owned(), text.to_owned())
    };
    let facts = vec![
        fact("STOP", &texts.stop),
        fact("START", &texts.start),
        fact("HELP", &texts.help),
    ];
    let may_change = visitor.may(ManageContacts);
    let screen = Details {
        shell: visitor.shell("Answers", Section::Inbound),
        back: ("Inbound messages".to_owned(), "/console/inbound".to_owned()),
        changes: Vec::new(),
        figures: Vec::new(),
        facts,
        sections: may_change.then(|| form(&texts)).into_iter().collect(),
        refresh: None,
    };
    Ok(visitor.answer(&screen))
}

fn form(texts: &AnswerTexts) -> Part {
    let text = |name: &str, label: &str, hint: &str, value: &str| {
        Field::new(Kind::Lines(3), name, label)
            .hint(hint)
            .optional()
            .value(value)
    };
    let fields = vec![
        text(
            "stop",
            "To STOP",
            "The subscriber has opted out.",
            &texts.stop,
        ),
        text(
            "start",
            "To START",
            "The subscriber has opted in again.",
            &texts.start,
        ),
        text(
            "help",
            "To HELP",
            "Who you are, and how to opt out.",
            &texts.help,
        ),
    ];
    let lead = format!(
        "A subscriber who writes one of these words to a number of yours gets the text. Each \
         answer is charged as a message over direct-corporate. Without a text nothing is sent. \
         At most {MAX_ANSWER_CHARACTERS} characters."
    );
    let form = SmallForm {
        href: PATH.to_owned(),
        fields,
        action: "Save answers".to_owned(),
    };
    Part::form("Change the answers", &lead, form)
}

/// `POST /console/inbound/answers`.
pub(super) async fn save(visitor: Visitor, fields: Form) -> Answered {
    // A browser ends lines with CR LF, and phones show LF.
    let text = |name: &str| Some(fields.get(name).replace("\r\n", "\n"));
    let change = AnswerChange {
        stop: text("stop"),
        start: text("start"),
        help: text("help"),
    };
    let inbound = visitor.operations().inbound();
    let saved = inbound.set_answers(visitor.account()?, change).await;
    visitor.after(saved, PATH, "The answers were saved.")
}
