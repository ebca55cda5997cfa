//! The file of an upload, from the body of its request to a temporary file.

use super::failure::Failure;
use axum::extract::Request;
use axum::http::header;
use multer::{Constraints, Multipart, SizeLimit};
use std::fs::File;
use std::io::{Seek, Write};
use std::sync::LazyLock;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// Maximum size of a request with a file.
pub(super) const MAX_UPLOAD_BYTES: u64 = 64 << 20;
/// Files that arrive at the same time, on each node.
static ARRIVING: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(4));

/// Returns the name and the content of the field `file`. Each piece must arrive within `idle`.
pub(super) async fn spool(request: Request, idle: Duration) -> Result<(String, File), Failure> {
    let _place = ARRIVING.try_acquire().map_err(|_| Failure::Busy)?;
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let boundary = multer::parse_boundary(kind).map_err(|_| Failure::NotAForm)?;
    let limit = SizeLimit::new().whole_stream(MAX_UPLOAD_BYTES);
    let constraints = Constraints::new().size_limit(limit);
    let stream = request.into_body().into_data_stream();
    let mut form = Multipart::with_constraints(stream, boundary, constraints);
    let slow = |_| Failure::Slow;
    while let Some(mut field) = timeout(idle, form.next_field())
        .await
        .map_err(slow)?
        .map_err(|error| broken(&error))?
    {
        if field.name() != Some("file") {
            continue;
        }
        let name = field.file_name().unwrap_or_default().to_owned();
        let mut file = tempfile::tempfile().map_err(|error| no_space(&error))?;
        while let Some(piece) = timeout(idle, field.chunk())
            .await
            .map_err(slow)?
            .map_err(|error| broken(&error))?
        {
            tokio::task::block_in_place(|| file.write_all(&piece))
                .map_err(|error| no_space(&error))?;
        }
        file.rewind().map_err(|error| no_space(&error))?;
        return Ok((name, file));
    }
    Err(Failure::Refused("Choose a file first.".to_owned()))
}

fn broken(error: &multer::Error) -> Failure {
    match error {
        multer::Error::StreamSizeExceeded { .. } => Failure::Refused(format!(
            "The file is larger than {} MiB. Split it, or leave out columns that no text uses.",
            MAX_UPLOAD_BYTES >> 20
        )),
        _ => Failure::NotAForm,
    }
}

fn no_space(error: &std::io::Error) -> Failure {
    tracing::error!(%error, "upload: no temporary file, the folder of TMPDIR failed");
    Failure::Busy
}
