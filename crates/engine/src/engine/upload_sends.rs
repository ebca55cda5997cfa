//! Sends to an upload: its rows are reviewed, and sent as one message or as several.
//!
//! A message has at most as many recipients as a request. The first one has the first rows, and so
//! on. Each has a key that derives from the key of the whole, so that a send that was
//! interrupted goes on without a second send.

mod walk;

use super::admission::Admission;
use super::request::{Quoted, SendRequest};
use super::stages::{Purpose, Stages};
use crate::accept::{Answered, Keyed};
use crate::error::Error;
use crate::uploads::Uploads;
use domain::csv_cells::{ROW_END, push_plain, push_text};
use domain::idempotency::{IdempotencyKey, Operation};
use domain::personalised::Rows;
use domain::upload::{
    Columns, FileRow, LeftOut, PackedRows, Preview, Selected, Selection, guess, placeholders,
};
use domain::{
    AccountId, Environment, Gateway, MessageId, Money, Quote, Recipient, Refusal, SendFields,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{Upload, UploadId};
use walk::Walk;

/// Rows by which the columns are guessed.
const SAMPLE_ROWS: usize = 100;
/// Rows that a look shows.
const SHOWN_ROWS: usize = 6;
/// Texts that a review shows.
const MAX_PREVIEWS: usize = 5;
/// Rows left out that a review names.
const MAX_NAMED: usize = 20;
/// The time after which a step of a send begins no further message.
const STEP_MS: i64 = 5_000;

/// The columns and the first rows of an upload.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UploadLook {
    /// The upload.
    pub upload: Upload,
    /// The meaning of its columns: the given one, or a guess.
    pub columns: Columns,
    /// The placeholder of each column.
    pub names: Vec<String>,
    /// The first rows: their numbers and cells.
    pub first: Vec<(u32, Vec<String>)>,
}

/// A send to an upload: the upload with the meaning of its columns, and the fields of its send. The body is
/// a text with placeholders, and there is no `to`.
#[derive(Clone, Debug)]
pub struct UploadSend {
    /// The upload.
    pub upload: UploadId,
    /// The meaning of its columns.
    pub columns: Columns,
    /// The fields of the send.
    pub fields: SendFields,
}

/// A row that is left out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LeftOutRow {
    /// Its number.
    pub row: u32,
    /// The cell of its number, as it was written.
    pub number: String,
    /// The reason.
    pub reason: LeftOut,
}

/// The review of a send to an upload.
#[derive(Clone, Debug)]
pub struct UploadReview {
    /// The number of recipients.
    pub recipients: usize,
    /// The number of rows that are left out, by the kind of the reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// The first rows that are left out.
    pub first_left_out: Vec<LeftOutRow>,
    /// The texts of the first recipients.
    pub previews: Vec<Preview>,
    /// The number of messages.
    pub messages: usize,
    /// The price of all, if there is a text and a recipient.
    pub quote: Option<Quote>,
    /// The balance of the wallet.
    pub balance: Money,
    /// The end of the quiet hours that would hold the first message, if any would.
    pub held_until_ms: Option<i64>,
}

/// The result of a step of a send.
#[derive(Debug)]
pub struct UploadStep {
    /// The messages that were accepted, in order.
    pub messages: Vec<MessageId>,
    /// The number of the message that the next step begins with, from 0. `None` is the end.
    pub next: Option<usize>,
    /// The reason why the send stopped. The step before it stands.
    pub stopped: Option<Error>,
}

/// The sends of an account to its uploads.
pub struct UploadSends {
    stages: Arc<Stages>,
    account: AccountId,
    environment: Environment,
    uploads: Uploads,
}

impl UploadSends {
    pub(super) fn new(stages: Arc<Stages>, account: AccountId, environment: Environment) -> Self {
        let uploads = Uploads::new(Arc::clone(&stages.context), account);
        Self {
            stages,
            account,
            environment,
            uploads,
        }
    }

    /// Returns the uploads.
    pub fn uploads(&self) -> &Uploads {
        &self.uploads
    }

    /// Returns the columns and the first rows of an upload.
    pub async fn look(&self, id: UploadId, columns: Option<Columns>) -> Result<UploadLook, Error> {
        let (upload, octets) = self.begin(id).await?;
        let rows: Vec<FileRow<'_>> = PackedRows::rows(&octets).take(SAMPLE_ROWS).collect();
        let columns = columns.unwrap_or_else(|| guess(&rows));
        let header = rows.first().filter(|_| columns.has_header);
        let cells = |row: &FileRow<'_>| row.cells.iter().map(|cell| cell.text.to_owned()).collect();
        let first = rows.iter().take(SHOWN_ROWS);
        Ok(UploadLook {
            names: placeholders(header, usize::try_from(upload.columns).unwrap_or(0)),
            first: first.map(|row| (row.number, cells(row))).collect(),
            columns,
            upload,
        })
    }

    /// Returns an upload with its first part.
    async fn begin(&self, id: UploadId) -> Result<(Upload, Vec<u8>), Error> {
        let upload = self.uploads.find(id).await?;
        let upload = upload.ok_or(Refusal::UnknownMessage)?;
        let octets = self.uploads.part(id, 0).await?;
        Ok((upload, octets.unwrap_or_default()))
    }

    /// Returns the walk over the rows, and the placeholder of each column.
    async fn walk(&self, send: &UploadSend) -> Result<(Walk, Vec<String>), Error> {
        let (upload, octets) = self.begin(send.upload).await?;
        let first = PackedRows::rows(&octets).next();
        let header = first.as_ref().filter(|_| send.columns.has_header);
        let names = placeholders(header, usize::try_from(upload.columns).unwrap_or(0));
        let gateway = send.fields.gateway.as_deref().unwrap_or_default();
        let gateway = Gateway::parse(gateway).unwrap_or(Gateway::DirectRefund);
        let body = send.fields.body.as_deref();
        let body = body.filter(|body| !body.trim().is_empty());
        let selection = Selection::new(send.columns, &names, body, (gateway, self.environment))?;
        let skipped = usize::from(send.columns.has_header);
        let uploads = self.uploads.clone();
        let walk = Walk::new(uploads, send.upload, selection, (octets, skipped));
        Ok((walk, names))
    }

    async fn admit(&self, purpose: Purpose) -> Result<Admission, Error> {
        let admitted =
            Admission::of_member(&self.stages, self.account, self.environment, purpose).await;
        admitted.map_err(|refused| refused.error)
    }

    fn max_recipients(&self) -> usize {
        self.stages.context.live().plan.rules.max_recipients.max(1)
    }

    /// Reviews a send. Without a text, only the numbers are checked.
    pub async fn review(&self, send: &UploadSend) -> Result<UploadReview, Error> {
        let admission = self.admit(Purpose::Quote).await?;
        let max = self.max_recipients();
        let (mut walk, _) = self.walk(send).await?;
        let mut review = UploadReview {
            recipients: 0,
            left_out: BTreeMap::new(),
            first_left_out: Vec::new(),
            previews: Vec::new(),
            messages: 0,
            quote: None,
            balance: admission.balance().await?.total(),
            held_until_ms: None,
        };
        let has_text = walk.has_text();
        let mut rows = Rows::new(max);
        loop {
            let is_more = walk
                .next(max, &mut rows, &mut |row, selected, selection| {
                    review.note(row, selected, selection);
                })
                .await?;
            if has_text && !rows.is_empty() {
                let full = std::mem::replace(&mut rows, Rows::new(max));
                let request = SendRequest::Personalised(send.fields.clone(), full);
                match admission.quote(request).await {
                    Ok(quoted) => review.add(quoted),
                    // Another message may have recipients who are left.
                    Err(Error::Refused(Refusal::NobodyLeft))
                        if is_more || review.quote.is_some() => {}
                    Err(error) => return Err(error),
                }
            }
            if !is_more {
                break;
            }
        }
        review.messages = review.recipients.div_ceil(max);
        Ok(review)
    }

    /// Sends the messages from a number on, for some seconds.
    pub async fn send(
        &self,
        send: &UploadSend,
        key: &str,
        from: usize,
    ) -> Result<UploadStep, Error> {
        let (max, clock) = (self.max_recipients(), &self.stages.context.clock);
        let until_ms = clock.now_ms() + STEP_MS;
        let (mut walk, _) = self.walk(send).await?;
        if !walk.has_text() {
            return Err(Refusal::BodyMissing.into());
        }
        let mut step = UploadStep {
            messages: Vec::new(),
            next: None,
            stopped: None,
        };
        let mut rows = Rows::new(max);
        let mut number = 0;
        loop {
            let is_more = walk.next(max, &mut rows, &mut |_, _, _| {}).await?;
            let full = std::mem::replace(&mut rows, Rows::new(max));
            if full.is_empty() {
                return Ok(step);
            }
            if number >= from {
                if clock.now_ms() >= until_ms && !step.messages.is_empty() {
                    step.next = Some(number);
                    return Ok(step);
                }
                match self.send_one(send, key, number, full).await {
                    Ok(message) => step.messages.extend(message),
                    Err(Error::Refused(Refusal::NobodyLeft)) if is_more || number > 0 => {}
                    Err(error) if number == 0 => return Err(error),
                    Err(error) => {
                        step.next = Some(number);
                        step.stopped = Some(error);
                        return Ok(step);
                    }
                }
            }
            number += 1;
            if !is_more {
                return Ok(step);
            }
        }
    }

    async fn send_one(
        &self,
        send: &UploadSend,
        key: &str,
        number: usize,
        rows: Rows,
    ) -> Result<Option<MessageId>, Error> {
        let admission = self.admit(Purpose::Send).await?;
        let key = format!("{key}.{number}");
        let key = IdempotencyKey::read([key.as_bytes()])?;
        let keyed = key.map(|key| Keyed {
            key,
            operation: Operation::SendPersonalised,
            write: Arc::new(|_| r#"{"status":"success"}"#.to_owned()),
        });
        let request = SendRequest::Personalised(send.fields.clone(), rows);
        Ok(match admission.send(request, keyed).await? {
            Answered::First(first) => Some(first.message_id),
            Answered::Replay(kept) => kept.message,
        })
    }

    /// Returns the rows that are left out as CSV.
    pub async fn left_out(&self, send: &UploadSend) -> Result<LeftOutCsv, Error> {
        let (walk, names) = self.walk(send).await?;
        let mut csv = String::from("row,reason");
        for name in &names {
            csv.push(',');
            push_text(&mut csv, name);
        }
        csv.push_str(ROW_END);
        Ok(LeftOutCsv {
            walk,
            csv,
            is_more: true,
        })
    }
}

/// The rows that are left out as CSV: number and reason, and then the cells.
pub struct LeftOutCsv {
    walk: Walk,
    /// The rows that were not returned yet.
    csv: String,
    is_more: bool,
}

impl LeftOutCsv {
    /// Returns the next rows, or `None` after the last ones.
    pub async fn next(&mut self) -> Result<Option<String>, Error> {
        let (walk, csv) = (&mut self.walk, &mut self.csv);
        while self.is_more {
            let mut each = |row: &FileRow<'_>, selected: &Selected, _: &Selection| {
                if let Selected::LeftOut(reason) = selected {
                    push_row(csv, row, reason);
                }
            };
            let mut rows = Rows::default();
            self.is_more = walk.next(usize::MAX, &mut rows, &mut each).await?;
            if !csv.is_empty() {
                return Ok(Some(std::mem::take(csv)));
            }
        }
        Ok(None)
    }
}

fn push_row(csv: &mut String, row: &FileRow<'_>, reason: &LeftOut) {
    push_plain(csv, row.number);
    csv.push(',');
    push_text(csv, &reason.to_string());
    for cell in &row.cells {
        csv.push(',');
        push_text(csv, cell.text);
    }
    csv.push_str(ROW_END);
}

impl UploadReview {
    fn note(&mut self, row: &FileRow<'_>, selected: &Selected, selection: &Selection) {
        match selected {
            Selected::Sent(recipient) => self.sent(row, *recipient, selection),
            Selected::LeftOut(reason) => {
                *self.left_out.entry(reason.kind()).or_default() += 1;
                if self.first_left_out.len() < MAX_NAMED {
                    self.first_left_out.push(LeftOutRow {
                        row: row.number,
                        number: selection.number(row).to_owned(),
                        reason: reason.clone(),
                    });
                }
            }
        }
    }

    /// Adds the price of a message.
    fn add(&mut self, quoted: Quoted) {
        self.held_until_ms = self.held_until_ms.or(quoted.held_until_ms);
        match &mut self.quote {
            Some(total) => total.add(quoted.quote),
            none => *none = Some(quoted.quote),
        }
    }

    fn sent(&mut self, row: &FileRow<'_>, recipient: Recipient, selection: &Selection) {
        self.recipients += 1;
        if self.previews.len() < MAX_PREVIEWS {
            self.previews.push(selection.preview(row, recipient));
        }
    }

    /// Returns the number of rows that are left out.
    pub fn left_out_count(&self) -> u64 {
        self.left_out.values().sum()
    }
}
