//! `GET /exports/recipients.csv`, `/exports/wallet.csv` and `/exports/opt-outs.csv`. Rows are streamed
//! as they are read, so an export of any length uses little memory (docs/spec/finding.md, section 7).

use crate::http::extract::call::Listing;
use crate::http::respond::envelope::text;
use crate::http::respond::error::Failure;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::Refusal;
use domain::search::FilterFields;
use engine::{CustomerQueries, Export, LeftOutCsv};
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

/// Exports the opt-outs.
pub(crate) async fn opt_outs(listing: Listing) -> Response {
    let name = "attachment; filename=\"opt-outs.csv\"";
    respond(listing, name, |queries, _| Ok(queries.export_opt_outs())).await
}

/// Reads the first rows before the answer begins, because a failure can be answered until then.
async fn respond(
    listing: Listing,
    name: &'static str,
    open: fn(&CustomerQueries, &FilterFields) -> Result<Export, Refusal>,
) -> Response {
    let opened = async {
        let (fields, queries) = listing.queries().await?;
        Ok::<_, Failure>(open(&queries, &fields.filter)?)
    };
    let export = match opened.await {
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

/// A table that is read some rows at a time.
pub(crate) trait RowSource: Send + 'static {
    /// Returns the next rows as CSV, or `None` after the last ones.
    fn next_rows(&mut self) -> impl Future<Output = Result<Option<String>, engine::Error>> + Send;
}

impl RowSource for Export {
    async fn next_rows(&mut self) -> Result<Option<String>, engine::Error> {
        self.next().await
    }
}

impl RowSource for LeftOutCsv {
    async fn next_rows(&mut self) -> Result<Option<String>, engine::Error> {
        self.next().await
    }
}

/// Returns the rows of a table as a body. The first rows are read at once.
pub(crate) async fn stream_of<S: RowSource>(mut source: S) -> Result<Body, engine::Error> {
    let first = source.next_rows().await?.unwrap_or_default();
    Ok(Body::new(Rows::new(first, source)))
}

/// The future of the next rows, with their source.
type Next<S> = Pin<Box<dyn Future<Output = (S, Result<Option<String>, engine::Error>)> + Send>>;

/// The rows of a table as a body. The next rows are read once the client has received the ones
/// before.
struct Rows<S> {
    first: Option<String>,
    next: Option<Next<S>>,
}

impl<S: RowSource> Rows<S> {
    fn new(first: String, source: S) -> Self {
        Self {
            first: Some(first),
            next: Some(Self::read(source)),
        }
    }

    fn read(mut source: S) -> Next<S> {
        Box::pin(async move {
            let rows = source.next_rows().await;
            (source, rows)
        })
    }
}

impl<S: RowSource> HttpBody for Rows<S> {
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
        let Poll::Ready((source, rows)) = next.as_mut().poll(context) else {
            return Poll::Pending;
        };
        match rows {
            Ok(Some(rows)) => {
                self.next = Some(Self::read(source));
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
