//! Simulated carriers: the state of an SMSC, and its behaviour on a connection.

mod submit;

use super::fault::Fault;
use super::state::{Outside, State};
use domain::DeliveryStatus;
use smpp::codec::{self, BindRespFields, Pdu, Sm, encode, encode_empty};
use smpp::{
    Address, BindKind, Command, CommandStatus, DeliverSm, Frame, ReceiptState, Tlv, Tlvs,
    esm_class, first_frame, tag,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::timeout_at;

/// Period in which a connection looks for receipts of other connections.
const POLL_INTERVAL_MS: u64 = 200;
/// Maximum number of unanswered receipts on a connection.
const RECEIPT_WINDOW: usize = 5;

/// A recipient and the index of a page.
pub(crate) type Page = (u64, u8);

/// The state of one carrier.
#[derive(Default)]
pub(crate) struct Smsc {
    /// The number of times that each page was accepted.
    pub(crate) taken: BTreeMap<Page, u32>,
    /// The number of times that each recipient was rejected in a way that lets the engine submit
    /// all pages again: to the next carrier, or from a batch in the database.
    pub(crate) refused: BTreeMap<u64, u32>,
    /// The time of the first submit to each recipient, by the engine's clock.
    pub(crate) first_ms: BTreeMap<u64, i64>,
    /// The codes in the accepted submits to each phone.
    pub(crate) codes: BTreeMap<u64, BTreeSet<String>>,
    /// Receipts that are not answered.
    pub(crate) queued: Vec<PendingReceipt>,
    /// The answered receipts of each recipient.
    pub(crate) answered_receipts: BTreeMap<u64, Vec<SentReceipt>>,
    /// The copies of each recipient whose responses are not written yet.
    pub(crate) pending: BTreeMap<u64, BTreeSet<u32>>,
    /// The end of throttling, in which binds are refused too.
    throttles_until_ms: u64,
    away_until_ms: u64,
    ids: u64,
    connections: u64,
}

/// A final receipt that was answered.
#[derive(Clone, Debug)]
pub(crate) struct SentReceipt {
    /// The time of the answer by the engine's clock.
    pub(crate) at_ms: i64,
    /// The page, and its copy from 1.
    pub(crate) page: u8,
    pub(crate) copy: u32,
    pub(crate) status: DeliveryStatus,
}

/// A receipt that is not answered.
#[derive(Clone, Debug)]
pub(crate) struct PendingReceipt {
    due_ms: u64,
    recipient: u64,
    page: u8,
    copy: u32,
    sender: Address,
    id: String,
    status: ReceiptState,
    /// The connection that it was written on.
    on: Option<u64>,
}

impl Smsc {
    /// Queues unanswered receipts of a connection, or of all connections, again.
    pub(crate) fn hang_up(&mut self, connection: Option<u64>) {
        for due in &mut self.queued {
            if connection.is_none() || due.on == connection {
                due.on = None;
            }
        }
    }

    pub(crate) fn is_away(&self, now_ms: u64) -> bool {
        self.away_until_ms > now_ms
    }

    /// Injects a fault of the whole carrier.
    pub(crate) fn inject(state: &mut State, which: usize) {
        let now_ms = state.now_ms();
        if state.strikes(Fault::BindRefused, 20) {
            state.smscs[which].away_until_ms = now_ms + state.dice.between(1_000, 20_000);
            state.note(&format!("carrier {which} goes away"));
        }
        if state.strikes(Fault::Throttling, 30) {
            state.smscs[which].throttles_until_ms = now_ms + state.dice.between(500, 60_000);
            state.note(&format!("carrier {which} throttles"));
        }
    }

    pub(crate) fn recover(&mut self) {
        (self.throttles_until_ms, self.away_until_ms) = (0, 0);
    }
}

/// The carrier's side of one connection.
struct Line {
    outside: Outside,
    which: usize,
    number: u64,
    kind: Option<BindKind>,
    /// `true` once it answers nothing more.
    silent: bool,
    /// `true` once the connection ends.
    ended: bool,
    out: Vec<u8>,
    /// Responses to write, with their times.
    responses: Vec<(u64, u32, CommandStatus, String)>,
    /// Written receipts by sequence number.
    written: BTreeMap<u32, PendingReceipt>,
    sequence: u32,
}

/// Plays the carrier on one connection until it ends.
pub(crate) async fn serve(outside: Outside, which: usize, mut stream: DuplexStream) {
    let number = {
        let smsc = &mut outside.lock().smscs[which];
        smsc.connections += 1;
        smsc.connections
    };
    let mut line = Line {
        outside: outside.clone(),
        which,
        number,
        kind: None,
        silent: false,
        ended: false,
        out: Vec::new(),
        responses: Vec::new(),
        written: BTreeMap::new(),
        sequence: 0,
    };
    line.talk(&mut stream).await;
    let mut state = outside.lock();
    state.note(&format!("carrier {which}/{number} hung up"));
    state.smscs[which].hang_up(Some(number));
}

impl Line {
    async fn talk(&mut self, stream: &mut DuplexStream) {
        let mut input = Vec::new();
        while !self.ended {
            let (now_ms, until) = {
                let state = self.outside.lock();
                let now_ms = state.now_ms();
                let next = self.responses.iter().map(|response| response.0).min();
                let next = next.unwrap_or(u64::MAX).min(now_ms + POLL_INTERVAL_MS);
                (now_ms, state.instant(next.max(now_ms + 1)))
            };
            self.respond(now_ms);
            self.write_receipts(now_ms);
            let out = std::mem::take(&mut self.out);
            if !self.silent && stream.write_all(&out).await.is_err() {
                return;
            }
            match timeout_at(until, stream.read_buf(&mut input)).await {
                Ok(Ok(0) | Err(_)) => return,
                Ok(Ok(_)) => self.read(&mut input),
                Err(_) => {}
            }
        }
        // Pending output is written unless the connection was reset.
        if !self.out.is_empty() {
            let out = std::mem::take(&mut self.out);
            let _ = tokio::time::timeout(Duration::from_secs(1), stream.write_all(&out)).await;
        }
    }

    fn read(&mut self, input: &mut Vec<u8>) {
        let mut read = 0;
        while !self.ended
            && let Some(frame) = first_frame(&input[read..]).unwrap()
        {
            read += frame.octets();
            self.frame(&frame);
        }
        input.drain(..read);
    }

    fn frame(&mut self, frame: &Frame<'_>) {
        let header = frame.header;
        match codec::decode(header.command, frame.body).unwrap() {
            Pdu::Bind(kind, _) => self.bind(kind, header.sequence),
            Pdu::Submit(submit) => self.submit(&submit, header.sequence),
            Pdu::DeliverResp if !self.silent => self.answered(header.sequence, header.status),
            Pdu::EnquireLink => self.empty(Command::ENQUIRE_LINK, header.sequence),
            Pdu::Unbind => {
                self.empty(Command::UNBIND, header.sequence);
                self.ended = true;
            }
            _ => {}
        }
    }

    fn empty(&mut self, request: Command, sequence: u32) {
        let command = request.response();
        encode_empty(&mut self.out, command, CommandStatus::ROK, sequence);
    }

    fn bind(&mut self, kind: BindKind, sequence: u32) {
        let mut state = self.outside.lock();
        let away = state.smscs[self.which].is_away(state.now_ms());
        let status = if away {
            CommandStatus::RBINDFAIL
        } else {
            self.kind = Some(kind);
            CommandStatus::ROK
        };
        state.note(&format!(
            "carrier {}/{} bind {status}",
            self.which, self.number
        ));
        drop(state);
        let version = [Tlv::new(tag::SC_INTERFACE_VERSION, vec![0x34])];
        let fields = BindRespFields {
            system_id: b"smsc",
            tlvs: Tlvs::List(&version),
        };
        encode(
            &mut self.out,
            status,
            sequence,
            &Pdu::BindResp(kind, fields),
        )
        .unwrap();
        self.ended = away;
    }

    /// Writes the responses that are due.
    fn respond(&mut self, now_ms: u64) {
        let (due, later) = std::mem::take(&mut self.responses)
            .into_iter()
            .partition(|response| response.0 <= now_ms);
        self.responses = later;
        let due: Vec<_> = due;
        for (_, sequence, status, id) in due {
            let response = Pdu::SubmitResp(id.as_bytes());
            encode(&mut self.out, status, sequence, &response).unwrap();
        }
    }

    /// Writes the receipts that are due, up to the window.
    fn write_receipts(&mut self, now_ms: u64) {
        if self.silent || !self.kind.is_some_and(BindKind::receives) {
            return;
        }
        let mut state = self.outside.lock();
        let available = RECEIPT_WINDOW.saturating_sub(self.written.len());
        let queued = &mut state.smscs[self.which].queued;
        let due = queued
            .iter_mut()
            .filter(|due| due.on.is_none() && due.due_ms <= now_ms);
        for due in due.take(available) {
            due.on = Some(self.number);
            self.sequence += 1;
            let deliver = due.deliver();
            let pdu = Pdu::Deliver(Sm::of(&deliver));
            encode(&mut self.out, CommandStatus::ROK, self.sequence, &pdu).unwrap();
            self.written.insert(self.sequence, due.clone());
        }
    }

    /// Handles the answer to a receipt. The engine has committed or ignored it.
    fn answered(&mut self, sequence: u32, status: CommandStatus) {
        let Some(answered) = self.written.remove(&sequence) else {
            return;
        };
        let mut state = self.outside.lock();
        state.note(&format!(
            "receipt {} {:?} answered {status}",
            answered.id, answered.status
        ));
        let at_ms = state.clock_ms();
        let smsc = &mut state.smscs[self.which];
        let same = |due: &PendingReceipt| {
            due.on == Some(self.number) && due.id == answered.id && due.status == answered.status
        };
        let at = smsc.queued.iter().position(same).unwrap();
        if status.is_ok() {
            smsc.queued.remove(at);
            if let Some(end) = answered.end() {
                let answered_receipts = smsc
                    .answered_receipts
                    .entry(answered.recipient)
                    .or_default();
                let (page, copy) = (answered.page, answered.copy);
                answered_receipts.push(SentReceipt {
                    at_ms,
                    page,
                    copy,
                    status: end,
                });
            } else {
                let copies = smsc.pending.entry(answered.recipient).or_default();
                copies.insert(answered.copy);
            }
        } else {
            smsc.queued[at].on = None;
        }
    }
}

impl PendingReceipt {
    fn deliver(&self) -> DeliverSm {
        DeliverSm {
            source: Address::international(self.recipient.to_string()),
            destination: self.sender.clone(),
            esm_class: esm_class::RECEIPT,
            tlvs: vec![
                Tlv::new(tag::RECEIPTED_MESSAGE_ID, self.id.clone()),
                Tlv::new(tag::MESSAGE_STATE, vec![self.status.number()]),
            ],
            ..DeliverSm::default()
        }
    }

    /// Returns the final status that the receipt reports.
    fn end(&self) -> Option<DeliveryStatus> {
        match self.status {
            ReceiptState::Delivered => Some(DeliveryStatus::Delivered),
            ReceiptState::Undeliverable => Some(DeliveryStatus::Undelivered),
            ReceiptState::Expired => Some(DeliveryStatus::Expired),
            ReceiptState::Rejected => Some(DeliveryStatus::Rejected),
            ReceiptState::Deleted => Some(DeliveryStatus::Failed),
            _ => None,
        }
    }
}
