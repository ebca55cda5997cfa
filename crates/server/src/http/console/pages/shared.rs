//! Parts of several pages: addresses with filters, and files.

use super::super::failure::Failure;
use super::super::form::Form;
use super::super::page::Answered;
use super::super::visitor::Visitor;
use crate::http::api::exports::{RowSource, stream_of};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use console::figures::counted;
use console::parts::{Badge, Field, Pager, Tone};
use domain::DeliveryStatus;
use domain::search::{Cursor, StatusFilter};
use engine::operators::Page;
use engine::{CustomerQueries, ListPage, PageFields};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Returns a field of a filter with the value of the query.
pub(super) fn optional(field: Field, query: &Form) -> Field {
    let value = query.get(&field.name).to_owned();
    field.optional().value(value)
}

/// Returns the address of a list with the filters of the query, and a cursor.
pub(super) fn address(path: &str, query: &Form, filters: &[&str], cursor: Option<&str>) -> String {
    let given = filters
        .iter()
        .filter_map(|name| Some((*name, query.find(name)?)));
    let pairs = given.chain(cursor.map(|cursor| ("cursor", cursor)));
    let encoded: Vec<String> = pairs
        .map(|(name, value)| format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)))
        .collect();
    if encoded.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", encoded.join("&"))
    }
}

/// Rows of a page of a list for customers.
const ROWS: &str = "50";

/// Returns the page that the query asks for, of a list for customers.
pub(super) fn page_fields(query: &Form) -> PageFields<'_> {
    PageFields {
        limit: Some(ROWS),
        cursor: query.find("cursor"),
    }
}

/// A page of a list, of those for customers or of those for operators.
pub(super) trait Rows {
    /// Returns a page without rows.
    fn none() -> Self;

    /// Returns the number of rows.
    fn count(&self) -> usize;

    /// Returns the cursor of the next page.
    fn next(&self) -> Option<&str>;
}

impl<T> Rows for ListPage<T> {
    fn none() -> Self {
        Self {
            items: Vec::new(),
            next_cursor: None,
        }
    }

    fn count(&self) -> usize {
        self.items.len()
    }

    fn next(&self) -> Option<&str> {
        self.next_cursor.as_deref()
    }
}

impl<T> Rows for Page<T> {
    fn none() -> Self {
        Self {
            items: Vec::new(),
            next: None,
        }
    }

    fn count(&self) -> usize {
        self.items.len()
    }

    fn next(&self) -> Option<&str> {
        self.next.as_ref().map(Cursor::as_str)
    }
}

/// Returns the way to further rows. It keeps the filters.
pub(super) fn pager(
    path: &str,
    query: &Form,
    filters: &[&str],
    found: &impl Rows,
    noun: &str,
) -> Pager {
    let address = |cursor| address(path, query, filters, cursor);
    Pager {
        first: query.find("cursor").map(|_| address(None)),
        next: found.next().map(|cursor| address(Some(cursor))),
        note: counted(found.count() as u64, noun),
    }
}

/// Returns a page of a list, or an empty page and the reason why the filters were refused.
pub(super) fn page_or_reason<P: Rows>(
    found: Result<P, impl Into<Failure>>,
) -> Result<(P, Option<String>), Failure> {
    match found.map_err(Into::into) {
        Ok(found) => Ok((found, None)),
        Err(failure) => Ok((P::none(), Some(failure.shown()?.1))),
    }
}

/// Returns the message of an ID, or the reason why there is none to show.
pub(super) fn message_or_reason<T>(
    found: Result<T, impl Into<Failure>>,
) -> Result<Result<T, String>, Failure> {
    match found.map_err(Into::into) {
        Ok(found) => Ok(Ok(found)),
        Err(Failure::NotFound) => Ok(Err("There is no message with this ID.".to_owned())),
        Err(failure) => Ok(Err(failure.shown()?.1)),
    }
}

/// Answers a page that asks whether something has changed. If so, the page is loaded again.
pub(super) fn reload_if(is_changed: bool) -> Response {
    if is_changed {
        ([("hx-refresh", "true")], "").into_response()
    } else {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// Returns the addresses and ranges of a field, which stand in lines or between commas.
pub(super) fn ranges<'f>(fields: &'f Form, name: &str) -> impl Iterator<Item = &'f str> {
    let parts = fields.get(name).split([',', ' ', '\r', '\n', '\t']);
    parts.filter(|part| !part.is_empty())
}

/// Returns the rows of an export as a file.
pub(super) async fn exported(source: impl RowSource, name: &str) -> Answered {
    Ok(csv_file(stream_of(source).await?, name))
}

/// Returns a file of CSV.
pub(super) fn csv_file(body: impl IntoResponse, name: &str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        ),
    ];
    (headers, body).into_response()
}

/// Returns the queries of the visitor's account.
pub(super) fn queries(visitor: &Visitor) -> Result<CustomerQueries, Failure> {
    let account = visitor.account()?;
    Ok(visitor
        .engine()
        .customer_queries(account, visitor.environment()))
}

/// Returns the time of a `datetime-local` or `date` control in the form of the interface.
pub(super) fn moment(text: &str) -> String {
    match text.split_once('T') {
        Some((date, clock)) if clock.len() == 5 => format!("{date} {clock}:00"),
        Some((date, clock)) if clock.len() == 8 => format!("{date} {clock}"),
        None if text.len() == 10 => format!("{text} 00:00:00"),
        _ => text.to_owned(),
    }
}

/// Returns the word for a recipient's status.
pub(super) fn recipient_badge(status: &str) -> Badge {
    let known = StatusFilter::from_name(status);
    match known {
        Some(StatusFilter::Pending) | None => Badge::of_delivery(DeliveryStatus::Sent),
        Some(StatusFilter::Delivered) => Badge::of_delivery(DeliveryStatus::Delivered),
        Some(StatusFilter::Undelivered) => Badge::of_delivery(DeliveryStatus::Undelivered),
        Some(StatusFilter::Expired) => Badge::of_delivery(DeliveryStatus::Expired),
        Some(StatusFilter::Rejected) => Badge::of_delivery(DeliveryStatus::Rejected),
        Some(StatusFilter::Failed) => Badge::of_delivery(DeliveryStatus::Failed),
        Some(StatusFilter::Cancelled) => Badge::new(Tone::Bad, "Cancelled"),
    }
}
