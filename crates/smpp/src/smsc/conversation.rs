//! One connection's side of the simulator, without input or output: frames and time go in, octets
//! come out.

mod submit;

use super::account::Account;
use super::letter::{self, Letter};
use super::script::{Chance, Quirk, Script};
use super::{Server, Stats};
use crate::codec::{self, BindFields, BindRespFields, Pdu, encode, encode_empty};
use crate::command::Command;
use crate::frame::{Frame, Header, next_sequence};
use crate::output::Output;
use crate::pdu::BindKind;
use crate::status::CommandStatus;
use crate::tlv::{Tlv, Tlvs, tag};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;
use tokio::time::Instant;

/// After what time a letter comes again that the client could not take.
const REDELIVERY_DELAY: Duration = Duration::from_secs(1);
/// Timers run out in whole milliseconds, never early. A response goes up to half of one before it is due, so that on
/// the average none is late.
const HALF_TICK: Duration = Duration::from_micros(500);
/// No more letters are written while this many octets wait.
const MAX_UNWRITTEN_OCTETS: usize = 256 * 1024;

/// Whether the connection goes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    Open,
    /// It ends when everything is written.
    Flushing,
    /// It ends now.
    Now,
}

#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) output: Output,
    pub(super) end: End,
    pub(super) script: Arc<Script>,
    server: Arc<Server>,
    number: u64,
    bound: Option<Bound>,
    chance: Chance,
    /// Responses that are held back, by time, then by number.
    delayed: BinaryHeap<Reverse<(Instant, u64, Response)>>,
    responses: u64,
    /// New letters, not yet with the account.
    fresh: Vec<(Instant, Letter)>,
    /// Letters that are due, on their way into the output.
    collected: Vec<Letter>,
    /// Letters that the client has not answered.
    unanswered: HashMap<u32, Letter>,
    next_letter_at: Option<Instant>,
    sequence: u32,
    submits: u64,
    /// Nothing is said any more.
    mute: bool,
    /// `unbind` was sent.
    is_unbinding: bool,
    second: (Instant, u32),
    stats: Stats,
}

#[derive(Debug)]
struct Bound {
    account: Arc<Account>,
    system_id: String,
    kind: BindKind,
}

/// An answer to a submit.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Response {
    sequence: u32,
    status: u32,
    message_id: Option<u64>,
}

impl Conversation {
    pub(super) fn new(server: Arc<Server>, number: u64, now: Instant) -> Self {
        let script = server.script();
        Self {
            output: Output::default(),
            end: End::Open,
            chance: Chance::new(script.seed.wrapping_add(number)),
            script,
            server,
            number,
            bound: None,
            delayed: BinaryHeap::new(),
            responses: 0,
            fresh: Vec::new(),
            collected: Vec::new(),
            unanswered: HashMap::new(),
            next_letter_at: None,
            sequence: 0,
            submits: 0,
            mute: false,
            is_unbinding: false,
            second: (now, 0),
            stats: Stats::default(),
        }
    }

    /// One PDU came.
    pub(super) fn on_frame(&mut self, frame: &Frame<'_>, now: Instant) {
        let header = frame.header;
        match codec::decode(header.command, frame.body) {
            _ if self.mute => {}
            Ok(Pdu::Submit(submit)) => self.on_submit(header, &submit, now),
            Ok(Pdu::DeliverResp | Pdu::DataResp(_)) => self.on_answer(header, now),
            Ok(Pdu::Bind(kind, fields)) => self.on_bind(header, kind, &fields),
            Ok(Pdu::EnquireLink) if self.script.ignore_enquire_link => {}
            Ok(Pdu::EnquireLink) => self.respond(header, CommandStatus::ROK),
            Ok(Pdu::Unbind) => {
                self.respond(header, CommandStatus::ROK);
                self.end = End::Flushing;
            }
            Ok(Pdu::UnbindResp) if self.is_unbinding => self.end = End::Now,
            Ok(Pdu::EnquireLinkResp) => {}
            Ok(Pdu::Other(command, _)) if !command.is_response() => {
                self.stats.odd_pdus += 1;
                let status = CommandStatus::RINVCMDID;
                encode_empty(
                    &mut self.output.octets,
                    Command::GENERIC_NACK,
                    status,
                    header.sequence,
                );
            }
            Err(_) if !header.command.is_response() => {
                self.stats.odd_pdus += 1;
                self.respond(header, CommandStatus::RINVCMDLEN);
            }
            Ok(_) | Err(_) => self.stats.odd_pdus += 1,
        }
    }

    /// Writes the responses whose time has come, and the letters that are due.
    pub(super) fn on_time(&mut self, now: Instant, cx: &Context<'_>) {
        while let Some(Reverse((at, _, response))) = self.delayed.peek().copied()
            && at <= now + HALF_TICK
        {
            self.delayed.pop();
            self.write_response(response);
        }
        let Some(bound) = &self.bound else { return };
        if !self.fresh.is_empty() {
            self.stats.lost += bound.account.post(&mut self.fresh);
        }
        let unanswered = self.unanswered.len();
        let room = self.script.receipt_window.saturating_sub(unanswered);
        let busy = self.mute || self.output.waiting() > MAX_UNWRITTEN_OCTETS;
        if bound.kind.receives() && !busy && room > 0 {
            let (account, out) = (&bound.account, &mut self.collected);
            self.next_letter_at = account.collect(self.number, now, room, out, cx);
            self.write_letters(now);
        } else {
            // An answer, or room in the output, brings the connection back here.
            self.next_letter_at = None;
        }
    }

    /// When `on_time` has something to do.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let response = self.delayed.peek().map(|Reverse((at, ..))| *at - HALF_TICK);
        response.into_iter().chain(self.next_letter_at).min()
    }

    /// Hands over what was counted since the last time.
    pub(super) fn report(&mut self) {
        let stats = std::mem::take(&mut self.stats);
        if stats != Stats::default() {
            super::lock(&self.server.stats).add(&stats);
        }
    }

    fn on_bind(&mut self, header: Header, kind: BindKind, fields: &BindFields<'_>) {
        let bind = fields.to_owned();
        let verdict = self.admit(&bind.system_id, &bind.password);
        let account = match verdict {
            Ok(account) => account,
            Err(status) => {
                self.stats.refused_binds += 1;
                self.respond(header, status);
                self.end = End::Flushing;
                return;
            }
        };
        self.stats.binds += 1;
        self.bound = Some(Bound {
            account,
            system_id: bind.system_id,
            kind,
        });
        let version = [Tlv::new(tag::SC_INTERFACE_VERSION, &[0x34][..])];
        let shown = if self.script.binds.hide_version {
            &[][..]
        } else {
            &version
        };
        let response = BindRespFields {
            system_id: b"ogene-smsc",
            tlvs: Tlvs::List(shown),
        };
        self.write(header.sequence, &Pdu::BindResp(kind, response));
    }

    fn admit(&self, system_id: &str, password: &str) -> Result<Arc<Account>, CommandStatus> {
        let rules = &self.script.binds;
        if self.bound.is_some() {
            return Err(CommandStatus::RALYBND);
        }
        if let Some(status) = rules.refuse {
            return Err(status);
        }
        if !rules.accounts.is_empty() {
            let known = rules.accounts.iter().find(|(known, _)| known == system_id);
            let (_, secret) = known.ok_or(CommandStatus::RINVSYSID)?;
            if secret != password {
                return Err(CommandStatus::RINVPASWD);
            }
        }
        let account = self.server.account(system_id);
        if account.bind(rules.max) {
            Ok(account)
        } else {
            Err(CommandStatus::RBINDFAIL)
        }
    }

    fn write_letters(&mut self, now: Instant) {
        let script = Arc::clone(&self.script);
        if script.receipts.has(Quirk::Shuffle) {
            self.chance.shuffle(&mut self.collected);
        }
        let unix_s = self.server.unix_s(&script, now);
        let mut collected = std::mem::take(&mut self.collected);
        for letter in collected.drain(..) {
            self.sequence = next_sequence(self.sequence);
            let out = &mut self.output.octets;
            match letter::write(out, &letter, &script.receipts, self.sequence, unix_s) {
                Ok(()) => {
                    self.stats.delivered += 1;
                    self.unanswered.insert(self.sequence, letter);
                }
                Err(_) => self.stats.lost += 1,
            }
        }
        self.collected = collected;
    }

    fn on_answer(&mut self, header: Header, now: Instant) {
        let Some(letter) = self.unanswered.remove(&header.sequence) else {
            self.stats.odd_pdus += 1;
            return;
        };
        match header.status {
            CommandStatus::RX_T_APPN | CommandStatus::RMSGQFUL => {
                self.stats.put_back += 1;
                self.fresh.push((now + REDELIVERY_DELAY, letter));
            }
            _ => self.stats.answered += 1,
        }
    }

    fn respond(&mut self, header: Header, status: CommandStatus) {
        let command = header.command.response();
        encode_empty(&mut self.output.octets, command, status, header.sequence);
    }

    fn write(&mut self, sequence: u32, pdu: &Pdu<'_>) {
        let written = encode(&mut self.output.octets, CommandStatus::ROK, sequence, pdu);
        if written.is_err() {
            self.stats.lost += 1;
        }
    }
}

/// What was not answered is delivered again, on whichever connection comes next.
impl Drop for Conversation {
    fn drop(&mut self) {
        if let Some(bound) = self.bound.take() {
            let now = Instant::now();
            let mut unanswered: Vec<(u32, Letter)> = self.unanswered.drain().collect();
            unanswered.sort_unstable_by_key(|(sequence, _)| *sequence);
            self.stats.put_back += unanswered.len() as u64;
            let back = unanswered.into_iter().map(|(_, letter)| (now, letter));
            self.fresh.extend(back);
            bound.account.unbind(self.number);
            self.stats.lost += bound.account.post(&mut self.fresh);
        }
        self.report();
    }
}
