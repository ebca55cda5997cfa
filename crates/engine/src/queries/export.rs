//! Exports as CSV. Rows are read in batches, so that an export of any length uses little memory.

use super::messages::{self, Message};
use super::recipients::{self, RecipientState};
use super::scope::Scope;
use super::wallet::{self, WalletEntry};
use crate::error::Error;
use domain::csv_cells::{ROW_END, push_plain, push_text};
use domain::opt_out::OptOut;
use domain::search::{MessageFilter, Page, Position, WalletFilter};
use domain::time::lagos_time;
use domain::{AccountId, Environment, MessageId};
use std::time::Duration;

/// Number of messages or entries that are read at a time.
const BATCH_SIZE: u32 = 500;
/// Number of recipients that are read at a time.
const RECIPIENTS_BATCH_SIZE: usize = 1_000;
/// Largest message that is read together with others.
const SMALL_RECIPIENTS: u64 = 100;

/// The header row of an export of recipients.
const RECIPIENTS_HEADER: &str = "message_id,created_at,sender,gateway,customer_reference,recipient,network,delivery_status,error_code,pages,cost,\
     refunded,submitted_at,updated_at\r\n";
/// The header row of an export of entries.
const WALLET_HEADER: &str =
    "entry_id,at,kind,amount,component,balance_after,message_id,recipient,reference\r\n";

/// The header row of an export of opt-outs.
const OPT_OUTS_HEADER: &str = "recipient,sender,reason,created_at\r\n";

/// An export waits so many times as long as its last batch took, while small sends arrive.
const WAIT_FACTOR: u64 = 9;
/// Longest time of a batch that counts, so that no wait is as long as the time-out of a client.
const MAX_COUNTED_MS: u64 = 250;

/// The waits of an export between its batches, which leave the processors to sends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExportPace {
    took_ms: u64,
}

impl ExportPace {
    /// Records the time that a batch took.
    pub(crate) fn note(&mut self, took_ms: i64) {
        self.took_ms = took_ms.unsigned_abs().clamp(1, MAX_COUNTED_MS);
    }

    /// Returns the wait before the next batch.
    pub(crate) const fn wait(self, is_urgent: bool) -> Duration {
        if is_urgent {
            Duration::from_millis(WAIT_FACTOR * self.took_ms)
        } else {
            Duration::ZERO
        }
    }
}

/// The page that an export reads next.
#[derive(Clone, Copy, Debug)]
enum NextPage {
    First,
    After(Position),
    End,
}

/// An export of recipients, with its progress.
#[derive(Clone, Debug)]
pub(crate) struct RecipientsExport {
    filter: MessageFilter,
    /// The messages of the last page that are not written yet, the next one last.
    waiting: Vec<Message>,
    /// The recipients of the next message that are written.
    written: usize,
    next: NextPage,
    has_header: bool,
}

/// An export of entries, with its progress.
#[derive(Clone, Debug)]
pub(crate) struct WalletExport {
    filter: WalletFilter,
    account: AccountId,
    next: NextPage,
    has_header: bool,
}

/// An export of opt-outs, with its progress.
#[derive(Clone, Debug)]
pub(crate) struct OptOutsExport {
    account: AccountId,
    next: NextPage,
    has_header: bool,
}

impl RecipientsExport {
    pub(crate) fn new(filter: MessageFilter) -> Self {
        Self {
            filter,
            waiting: Vec::new(),
            written: 0,
            next: NextPage::First,
            has_header: false,
        }
    }

    /// Returns an export of the recipients of one message.
    pub(crate) fn of_message(message: Message) -> Self {
        Self {
            waiting: vec![message],
            next: NextPage::End,
            ..Self::new(MessageFilter::default())
        }
    }

    /// Returns the next rows, or `None` at the end.
    pub(crate) async fn next(&mut self, scope: &Scope<'_>) -> Result<Option<String>, Error> {
        let mut csv = String::new();
        if !self.has_header {
            self.has_header = true;
            csv.push_str(RECIPIENTS_HEADER);
        }
        if self.waiting.is_empty() {
            let after = match self.next {
                NextPage::First => None,
                NextPage::After(position) => Some(position),
                NextPage::End => return Ok(None),
            };
            let page = Page {
                limit: BATCH_SIZE,
                after,
            };
            let found = messages::page_without_totals(scope, &self.filter, page).await?;
            self.next = found
                .ends_at
                .map_or(NextPage::End, |last| NextPage::After(position(last)));
            self.waiting = found.items;
            self.waiting.reverse();
        }
        self.write(scope, &mut csv).await?;
        Ok(Some(csv))
    }

    /// Writes the next recipients.
    async fn write(&mut self, scope: &Scope<'_>, csv: &mut String) -> Result<(), Error> {
        let small = self.take_small();
        if !small.is_empty() {
            let found = recipients::of_messages(scope, &small).await?;
            for (message, found) in small.iter().zip(found) {
                self.push_all(scope, csv, message, &found).await?;
            }
            return Ok(());
        }
        let mut rows = 0;
        while rows < RECIPIENTS_BATCH_SIZE
            && let Some(message) = self.waiting.pop()
        {
            let until = self.written + RECIPIENTS_BATCH_SIZE;
            let found = recipients::range(scope, &message, self.written, until).await?;
            self.push_all(scope, csv, &message, &found).await?;
            rows += found.len();
            self.written = 0;
            if found.len() == RECIPIENTS_BATCH_SIZE {
                self.written = until;
                self.waiting.push(message);
            }
        }
        Ok(())
    }

    /// Takes the next messages that are read together, as they have few recipients.
    fn take_small(&mut self) -> Vec<Message> {
        let (mut small, mut rows) = (Vec::new(), 0);
        let is_small = |message: &mut Message| message.recipients <= SMALL_RECIPIENTS;
        while self.written == 0
            && rows < RECIPIENTS_BATCH_SIZE as u64
            && let Some(message) = self.waiting.pop_if(is_small)
        {
            rows += message.recipients;
            small.push(message);
        }
        small
    }

    /// Appends the rows of recipients that match the filter.
    async fn push_all(
        &self,
        scope: &Scope<'_>,
        csv: &mut String,
        message: &Message,
        found: &[RecipientState],
    ) -> Result<(), Error> {
        let own = recipients::references(scope, message, found).await?;
        for one in found {
            let reference = own.get(&one.recipient);
            let reference = reference.or(message.customer_reference.as_ref());
            self.push(csv, message, one, reference.map_or("", String::as_str));
        }
        Ok(())
    }

    /// Appends a row if the recipient matches the filter.
    fn push(&self, csv: &mut String, message: &Message, one: &RecipientState, reference: &str) {
        let is_status = self
            .filter
            .delivery_status
            .is_none_or(|status| status.as_str() == one.delivery_status);
        if !is_status
            || self
                .filter
                .recipient
                .is_some_and(|wanted| wanted != one.recipient)
        {
            return;
        }
        push_plain(csv, message.id);
        csv.push(',');
        csv.push_str(&lagos_time(message.created_at_ms));
        for text in [message.sender.as_str(), message.gateway.as_str(), reference] {
            csv.push(',');
            push_text(csv, text);
        }
        csv.push(',');
        push_plain(csv, one.recipient);
        for text in [
            one.network.as_str(),
            one.delivery_status,
            one.error_code.as_deref().unwrap_or_default(),
        ] {
            csv.push(',');
            push_text(csv, text);
        }
        csv.push(',');
        push_plain(csv, one.pages);
        csv.push(',');
        push_plain(csv, one.cost);
        csv.push(',');
        push_plain(csv, one.refunded);
        csv.push(',');
        csv.push_str(&one.submitted_at_ms.map(lagos_time).unwrap_or_default());
        csv.push(',');
        csv.push_str(&lagos_time(one.updated_at_ms));
        csv.push_str(ROW_END);
    }
}

impl WalletExport {
    pub(crate) fn new(account: AccountId, filter: WalletFilter) -> Self {
        Self {
            filter,
            account,
            next: NextPage::First,
            has_header: false,
        }
    }

    /// Returns the next rows, or `None` at the end.
    pub(crate) async fn next(&mut self, scope: &Scope<'_>) -> Result<Option<String>, Error> {
        let mut csv = String::new();
        if !self.has_header {
            self.has_header = true;
            csv.push_str(WALLET_HEADER);
        }
        let after = match self.next {
            NextPage::First => None,
            NextPage::After(position) => Some(position),
            NextPage::End => return Ok(None),
        };
        let page = Page {
            limit: BATCH_SIZE,
            after,
        };
        let found = wallet::page(scope, self.account, &self.filter, page).await?;
        self.next = found.ends_at.map_or(NextPage::End, NextPage::After);
        for entry in &found.items {
            push_entry(&mut csv, entry);
        }
        Ok(Some(csv))
    }
}

impl OptOutsExport {
    pub(crate) fn new(account: AccountId) -> Self {
        Self {
            account,
            next: NextPage::First,
            has_header: false,
        }
    }

    /// Returns the next rows, or `None` at the end. The sandbox has a header alone.
    pub(crate) async fn next(&mut self, scope: &Scope<'_>) -> Result<Option<String>, Error> {
        let mut csv = String::new();
        if !self.has_header {
            self.has_header = true;
            csv.push_str(OPT_OUTS_HEADER);
        }
        let behind = match self.next {
            NextPage::First if scope.environment == Environment::Sandbox => {
                self.next = NextPage::End;
                return Ok(Some(csv));
            }
            NextPage::First => None,
            NextPage::After(position) => Some(MessageId::from_number(position.id)),
            NextPage::End => return Ok(None),
        };
        let opt_outs = scope.store.opt_outs();
        let found = opt_outs.list(self.account, behind, BATCH_SIZE).await?;
        self.next = match found.last() {
            Some(last) if found.len() == BATCH_SIZE as usize => NextPage::After(position(last.id)),
            _ => NextPage::End,
        };
        for opt_out in &found {
            push_opt_out(&mut csv, opt_out);
        }
        Ok(Some(csv))
    }
}

fn push_opt_out(csv: &mut String, opt_out: &OptOut) {
    push_plain(csv, opt_out.recipient);
    for text in [&opt_out.sender, &opt_out.reason] {
        csv.push(',');
        push_text(csv, text.as_deref().unwrap_or_default());
    }
    csv.push(',');
    csv.push_str(&lagos_time(opt_out.created_at_ms));
    csv.push_str(ROW_END);
}

fn position(message: MessageId) -> Position {
    Position {
        id: message.number(),
        place: 0,
    }
}

fn push_entry(csv: &mut String, entry: &WalletEntry) {
    push_text(csv, &entry.id);
    csv.push(',');
    csv.push_str(&lagos_time(entry.at_ms));
    csv.push(',');
    csv.push_str(entry.kind.as_str());
    csv.push(',');
    push_plain(csv, entry.amount);
    csv.push(',');
    csv.push_str(entry.component.as_str());
    csv.push(',');
    push_plain(csv, entry.balance_after);
    csv.push(',');
    csv.push_str(&entry.message.map(|id| id.to_string()).unwrap_or_default());
    csv.push(',');
    csv.push_str(&entry.recipient.map(|to| to.to_string()).unwrap_or_default());
    csv.push(',');
    push_text(csv, entry.reference.as_deref().unwrap_or_default());
    csv.push_str(ROW_END);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_waits_between_its_batches_while_small_sends_arrive() {
        let mut pace = ExportPace::default();
        assert_eq!(pace.wait(true), Duration::ZERO, "before the first batch");
        for (took_ms, wait_ms) in [(0, 9), (5, 45), (250, 2_250), (30_000, 2_250)] {
            pace.note(took_ms);
            assert_eq!(pace.wait(true), Duration::from_millis(wait_ms));
            assert_eq!(pace.wait(false), Duration::ZERO);
        }
    }
}
