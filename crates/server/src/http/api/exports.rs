//! `GET /exports/recipients.csv` and `/exports/wallet.csv`. Rows are streamed as they are read, so
//! an export of any length uses little memory (docs/spec/finding.md, section 7).

use crate::http::extract::call::Listing;
use crate::http::respond::envelope::text;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::Refusal;
use domain::search::FilterFields;
use engine::{CustomerQueries, Export};
use hyper::body::{Body as HttpBody, Frame};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Exports the recipients of messages.
pub(crate) async fn recipients(listing: Listing) -> Response {
    let name = "attachment; filename=\"recipients.csv\"";
    respond(listing, name, CustomerQueries::export_recipients).await
}

/// Exports the entries of the wallet.
pub(crate) async fn wallet(listing: Listing) -> Response {
    let name = "attachment; filename=\"wallet.csv\"";
    respond(listing, name, CustomerQueries::export_wallet).await
}

/// Reads the first rows before the answer begins, because a failure can be answered until then.
async fn respond(
    listing: Listing,
    name: &'static str,
    open: fn(&CustomerQueries, &FilterFields) -> Result<Export, Refusal>,
) -> Response {
    let queries = listing.call.admission.queries();
    let export = listing
        .fields()
        .and_then(|fields| open(&queries, &fields.filter));
    let export = match export {
        Ok(export) => export,
        Err(refusal) => return listing.call.refuse(refusal),
    };
    let body = match stream_of(export).await {
        Ok(body) => body,
        Err(error) => return listing.call.refuse(error),
    };
    let headers = [
        (header::CONTENT_TYPE, text("text/csv; charset=utf-8")),
        (header::CONTENT_DISPOSITION, text(name)),
    ];
    listing.call.with_headers((headers, body).into_response())
}

/// Returns the rows of an export as a body. The first rows are read at once.
pub(crate) async fn stream_of(mut export: Export) -> Result<Body, engine::Error> {
    let first = export.next().await?.unwrap_or_default();
    Ok(Body::new(Rows::new(first, export)))
}

/// The future of the next rows, with the export.
type Next = Pin<Box<dyn Future<Output = (Export, Result<Option<String>, engine::Error>)> + Send>>;

/// The rows of an export as a body. The next rows are read once the client has received the ones
/// before.
struct Rows {
    first: Option<String>,
    next: Option<Next>,
}

impl Rows {
    fn new(first: String, export: Export) -> Self {
        Self {
            first: Some(first),
            next: Some(Self::read(export)),
        }
    }

    fn read(mut export: Export) -> Next {
        Box::pin(async move {
            let rows = export.next().await;
            (export, rows)
        })
    }
}

impl HttpBody for Rows {
    type Data = Bytes;
    type Error = engine::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, engine::Error>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first.into()))));
        }
        let Some(next) = self.next.as_mut() else {
            return Poll::Ready(None);
        };
        let Poll::Ready((export, rows)) = next.as_mut().poll(context) else {
            return Poll::Pending;
        };
        match rows {
            Ok(Some(rows)) => {
                self.next = Some(Self::read(export));
                Poll::Ready(Some(Ok(Frame::data(rows.into()))))
            }
            Ok(None) => {
                self.next = None;
                Poll::Ready(None)
            }
            Err(error) => {
                self.next = None;
                Poll::Ready(Some(Err(error)))
            }
        }
    }
}
