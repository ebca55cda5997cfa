//! The walk over the rows of an upload, part by part.

use crate::engine::request::run_blocking;
use crate::error::Error;
use crate::uploads::Uploads;
use domain::personalised::Rows;
use domain::upload::{FileRow, PackedRows, Selected, Selection};
use store::UploadId;

/// A row with the decision about it.
pub(super) type Each<'e> = dyn FnMut(&FileRow<'_>, &Selected, &Selection) + Send + 'e;

/// A position in the rows of an upload, and the numbers before it.
pub(super) struct Walk {
    uploads: Uploads,
    id: UploadId,
    selection: Selection,
    /// The part that is read, and its number.
    octets: Vec<u8>,
    part: i64,
    /// The rows of the part that are done.
    done: usize,
}

impl Walk {
    /// Begins a walk with the first part, behind its first rows.
    pub(super) fn new(
        uploads: Uploads,
        id: UploadId,
        selection: Selection,
        (octets, skipped): (Vec<u8>, usize),
    ) -> Self {
        Self {
            uploads,
            id,
            selection,
            octets,
            part: 0,
            done: skipped,
        }
    }

    /// Returns `true` if a text is selected for, and not the numbers alone.
    pub(super) fn has_text(&self) -> bool {
        self.selection.has_text()
    }

    /// Decides about rows until a part ends or `rows` has `max` of them, and adds those that are
    /// sent. Returns `false` at the end of the upload.
    ///
    /// With a text, a part ends only when `rows` is full.
    pub(super) async fn next(
        &mut self,
        max: usize,
        rows: &mut Rows,
        each: &mut Each<'_>,
    ) -> Result<bool, Error> {
        loop {
            if run_blocking(usize::MAX, || self.decide(max, rows, each))? {
                return Ok(true);
            }
            if !self.load(self.part + 1).await? {
                return Ok(false);
            }
            self.done = 0;
            if !self.fills(max) {
                return Ok(true);
            }
        }
    }

    /// Returns `true` if rows are collected up to a maximum.
    fn fills(&self, max: usize) -> bool {
        self.selection.has_text() && max < usize::MAX
    }

    async fn load(&mut self, part: i64) -> Result<bool, Error> {
        let Some(octets) = self.uploads.part(self.id, part).await? else {
            return Ok(false);
        };
        self.octets = octets;
        self.part = part;
        Ok(true)
    }

    /// Decides about the rows of the part. Returns `true` if `rows` is full before its end.
    fn decide(&mut self, max: usize, rows: &mut Rows, each: &mut Each<'_>) -> Result<bool, Error> {
        let fills = self.fills(max);
        for row in PackedRows::rows(&self.octets).skip(self.done) {
            if fills && rows.len() == max {
                return Ok(true);
            }
            self.done += 1;
            let selected = self.selection.select(&row);
            if let Selected::Sent(recipient) = selected
                && fills
            {
                self.selection.push(&row, recipient, rows)?;
            }
            each(&row, &selected, &self.selection);
        }
        Ok(false)
    }
}
