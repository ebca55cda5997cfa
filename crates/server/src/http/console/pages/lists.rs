//! Parts that lists and their changes share.

use super::super::visitor::Visitor;
use console::figures::capitalised;
use console::parts::Confirm;
use domain::search::Cursor;
use engine::operators::PageRequest;

/// Number of rows of a page.
const ROWS: u32 = 50;

/// Returns the page that the query asks for.
pub(super) fn request(visitor: &Visitor) -> PageRequest {
    PageRequest::new(ROWS, visitor.query().find("cursor").map(Cursor::new))
}

/// Returns a request for a few rows, for a list that stands on the page of something else.
pub(super) fn few() -> PageRequest {
    PageRequest::new(10, None)
}

/// Returns the button of a change that is confirmed, and that sends the fields as they are.
pub(super) fn confirm(
    visitor: &Visitor,
    (id, action): (&str, &str),
    (title, text): (&str, &str),
    href: &str,
    hidden: &[(&str, &str)],
) -> Confirm {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Confirm {
        id: id.to_owned(),
        action: action.to_owned(),
        title: title.to_owned(),
        text: text.to_owned(),
        href: href.to_owned(),
        csrf_token: visitor.visit.secret.form_token(),
        hidden: hidden.iter().map(pair).collect(),
        is_dangerous: false,
    }
}

/// Marks a change that cannot be undone.
pub(super) fn dangerous(confirm: Confirm) -> Confirm {
    Confirm {
        is_dangerous: true,
        ..confirm
    }
}

/// Returns the text of a list of choices, such as `sms_wallet`, as people read it: `Sms wallet`.
pub(super) fn words(name: &str) -> String {
    capitalised(&name.replace('_', " "))
}
