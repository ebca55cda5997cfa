//! Prohibited phrases, and a box that tests a text, for operators.

use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use super::lists::{confirm, request};
use super::shared::pager;
use console::parts::{Cell, Column, Empty, Field, Kind, Table, Tone};
use console::screens::{Form as FormScreen, Listing};
use console::{Notice, Section};
use domain::Text;
use engine::operators::{Phrase, prohibiting};

const PATH: &str = "/operator/content";
const NEW: &str = "/operator/content/new";
const TEST: &str = "/operator/content/test";

/// `GET /operator/content`.
pub(super) async fn page(visitor: Visitor) -> Answered {
    let configured = visitor.engine().configured_phrases();
    let content = visitor.operations().content();
    let page = content.list(&configured, &request(&visitor)).await?;
    let rows = page.items.iter().enumerate();
    let table = Table {
        label: "Prohibited phrases".to_owned(),
        columns: vec![
            Column::text("Phrase"),
            Column::number("Added"),
            Column::number(""),
        ],
        rows: rows.map(|(index, one)| row(&visitor, index, one)).collect(),
        now_ms: visitor.now_ms(),
    };
    let empty = Empty::new(
        "No phrases",
        "A text with a prohibited phrase is refused with API-2010.",
    );
    let mut listing = Listing::new(
        visitor.shell("Content rules", Section::Content),
        table,
        empty.action("Prohibit a phrase", NEW),
    );
    listing.lead = String::from("A text with one of these phrases is refused with API-2010.");
    listing.actions = vec![
        ("Prohibit a phrase".to_owned(), NEW.to_owned()),
        ("Test a text".to_owned(), TEST.to_owned()),
    ];
    listing.pager = pager(PATH, visitor.query(), &[], &page, "phrase");
    Ok(visitor.answer(&listing))
}

fn row(visitor: &Visitor, index: usize, one: &Phrase) -> Vec<Cell> {
    let remove = confirm(
        visitor,
        (&format!("remove-{index}"), "Remove"),
        (
            &format!("Remove “{}”?", one.phrase),
            "Texts with it are accepted within a second.",
        ),
        "/operator/content/remove",
        &[("phrase", &one.phrase)],
    );
    let (added, changes) = match one.added_at_ms {
        Some(at_ms) => (Cell::Time(at_ms), vec![remove]),
        None => (Cell::text("In the configuration"), Vec::new()),
    };
    vec![Cell::text(&one.phrase), added, Cell::Changes(changes)]
}

/// `GET /operator/content/new`.
pub(super) async fn form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&FormScreen {
        shell: visitor.shell("Prohibit a phrase", Section::Content),
        lead: "Case, accents and the characters between words do not matter.".to_owned(),
        fields: vec![Field::text("phrase", "Phrase").hint("One whole word or more.")],
        error: None,
        href: PATH.to_owned(),
        action: "Prohibit phrase".to_owned(),
        back: PATH.to_owned(),
    }))
}

/// `POST /operator/content`.
pub(super) async fn add(visitor: Visitor, fields: Form) -> Answered {
    let content = visitor.operations().content();
    let added = content.add(fields.get("phrase")).await;
    visitor.after(
        added,
        PATH,
        "Texts with the phrase are refused from now on.",
    )
}

/// `POST /operator/content/remove`.
pub(super) async fn remove(visitor: Visitor, fields: Form) -> Answered {
    let content = visitor.operations().content();
    let removed = content.remove(fields.get("phrase")).await;
    visitor.after(removed, PATH, "The phrase is no longer prohibited.")
}

/// `GET /operator/content/test`.
pub(super) async fn test_form(visitor: Visitor) -> Answered {
    Ok(visitor.answer(&test_screen(&visitor, "", None)))
}

/// `POST /operator/content/test`.
pub(super) async fn test(visitor: Visitor, fields: Form) -> Answered {
    let text = fields.get("text");
    let configured = visitor.engine().configured_phrases();
    let phrases = visitor.operations().content().all(&configured).await?;
    let prepared = Text::prepare(text, false);
    let found = prepared.and_then(|text| prohibiting(&phrases, &text));
    let notice = match found {
        Some(one) => Notice {
            tone: Tone::Warning,
            text: format!("The text is refused for the phrase “{}”.", one.phrase),
        },
        None => Notice::done("The text has no prohibited phrase."),
    };
    Ok(visitor.answer(&test_screen(&visitor, text, Some(notice))))
}

fn test_screen(visitor: &Visitor, text: &str, notice: Option<Notice>) -> FormScreen {
    let mut shell = visitor.shell("Test a text", Section::Content);
    shell.notices.extend(notice);
    FormScreen {
        shell,
        lead: "The text is compared with all phrases. Nothing is sent.".to_owned(),
        fields: vec![Field::new(Kind::Lines(6), "text", "Text").value(text)],
        error: None,
        href: TEST.to_owned(),
        action: "Test".to_owned(),
        back: PATH.to_owned(),
    }
}
