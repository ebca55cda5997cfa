//! One connection of the simulator without input and output: a server session that follows the
//! script.

use super::account::Account;
use super::inbound::AGAIN_DELAY;
use super::receipt_writer::{self, Outgoing};
use super::script::{Quirk, Script};
use super::shared::{Shared, Stats, lock};
use super::submits::{Answer, Before, Reaction, Reply, SubmitScript};
use crate::codec::{BindFields, Pdu, encode};
use crate::command::Command;
use crate::frame::Frame;
use crate::pdu::BindKind;
use crate::server::{INTERFACE_VERSION, Request, ServerEvent, ServerOptions, ServerSession};
use crate::status::CommandStatus;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;
use tokio::time::Instant;

/// Delay before a receipt is repeated that the client rejected for now.
const REDELIVERY_DELAY: Duration = Duration::from_secs(1);
/// Timers have a resolution of one millisecond and are never early. Responses are sent up to half
/// of that before they are due, so that they are not late on average.
const HALF_TICK: Duration = Duration::from_micros(500);

#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) session: ServerSession<Outgoing>,
    submits: SubmitScript,
    shared: Arc<Shared>,
    number: u64,
    /// The account of the bound client.
    account: Option<Arc<Account>>,
    /// Delayed responses by time and number.
    delayed: BTreeMap<(Instant, u64), Reply>,
    replies: u64,
    /// Due receipts and messages that are not written yet.
    collected: Vec<Outgoing>,
    next_outgoing_at: Option<Instant>,
    /// Number of unanswered messages that are delivered again on another connection.
    unanswered_again: usize,
    /// `true` if nothing further is read or written, while the connection stays open.
    is_silent: bool,
    /// `true` if the connection ends now.
    is_closing: bool,
    /// Number of odd PDUs of the session that are in the statistics already.
    reported_odd_pdus: u64,
}

impl Conversation {
    pub(super) fn new(shared: Arc<Shared>, number: u64, now: Instant) -> Self {
        let script = shared.script();
        Self {
            session: ServerSession::new(session_options(&script), now),
            submits: SubmitScript::new(Arc::clone(&shared), script, number, now),
            shared,
            number,
            account: None,
            delayed: BTreeMap::new(),
            replies: 0,
            collected: Vec::new(),
            next_outgoing_at: None,
            unanswered_again: 0,
            is_silent: false,
            is_closing: false,
            reported_odd_pdus: 0,
        }
    }

    /// Replaces the script.
    pub(super) fn set_script(&mut self, script: Arc<Script>) {
        self.submits.script = script;
    }

    /// Closes the connection.
    pub(super) fn hang_up(&mut self) {
        self.is_closing = true;
    }

    /// Returns `true` if frames are still handled.
    pub(super) fn is_open(&self) -> bool {
        !self.is_closing && self.session.is_open()
    }

    /// Returns `true` if the connection is over.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.is_closing || self.session.ended(now).is_some()
    }

    /// Handles one PDU.
    pub(super) fn on_frame(&mut self, frame: &Frame<'_>, now: Instant) {
        let ignores_probes = self.submits.script.ignore_enquire_link;
        let is_probe = frame.header.command == Command::ENQUIRE_LINK;
        if self.is_silent || (ignores_probes && is_probe) {
            return;
        }
        match self.session.on_frame(frame, now) {
            None => {}
            Some(ServerEvent::Submit(request, message)) => {
                let reaction = self.submits.react(request, &message, now);
                self.follow(reaction, now);
            }
            Some(ServerEvent::Answered(outgoing, status)) => self.on_answer(outgoing, status, now),
            Some(ServerEvent::Bind(request, kind, fields)) => {
                self.on_bind(request, kind, &fields, now);
            }
            Some(
                ServerEvent::SubmitMulti(request, ..)
                | ServerEvent::Data(request, _)
                | ServerEvent::Query(request, _)
                | ServerEvent::Cancel(request, _),
            ) => {
                self.submits.stats.odd_pdus += 1;
                self.session.nack(request, CommandStatus::RINVCMDID);
            }
        }
    }

    /// Writes due responses and receipts.
    pub(super) fn on_time(&mut self, now: Instant, cx: &Context<'_>) {
        self.session.on_time(now);
        while let Some(entry) = self.delayed.first_entry()
            && entry.key().0 <= now + HALF_TICK
        {
            let reply = entry.remove();
            self.write_reply(reply);
        }
        let Some(account) = self.account.clone() else {
            return;
        };
        if !self.submits.new_receipts.is_empty() {
            self.submits.stats.lost += account.schedule(&mut self.submits.new_receipts);
        }
        let available = self.session.available(self.submits.script.receipt_window);
        if !self.is_silent && available > 0 {
            let out = &mut self.collected;
            self.next_outgoing_at = account.take_due(self.number, now, available, out, cx);
            self.write_outgoing(now);
        } else {
            // An answer, or free capacity in the output, calls this again.
            self.next_outgoing_at = None;
        }
    }

    /// Returns the time of the next call of `on_time`.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let reply = self.delayed.first_key_value();
        let reply = reply.map(|((at, _), _)| *at - HALF_TICK);
        let all = [reply, self.next_outgoing_at, self.session.deadline()];
        all.into_iter().flatten().min()
    }

    /// Adds the counters since the last call to the statistics of the simulator.
    pub(super) fn report(&mut self) {
        let mut stats = std::mem::take(&mut self.submits.stats);
        let odd_pdus = self.session.counters().odd_pdus;
        stats.odd_pdus += odd_pdus - self.reported_odd_pdus;
        self.reported_odd_pdus = odd_pdus;
        if stats != Stats::default() {
            lock(&self.shared.stats).add(&stats);
        }
    }

    fn on_bind(&mut self, request: Request, kind: BindKind, fields: &BindFields<'_>, now: Instant) {
        let bind = fields.to_owned();
        match self.admit(&bind.system_id, &bind.password) {
            Ok(account) => {
                self.submits.stats.binds += 1;
                self.submits.system_id = bind.system_id;
                let granted = self.session.grant(request, kind, fields);
                self.count_lost(granted);
                let receives = kind != BindKind::Transmitter;
                if receives && account.begin_inbound() {
                    self.begin_inbound(now);
                }
                self.account = Some(account);
            }
            Err(status) => {
                self.submits.stats.refused_binds += 1;
                self.session.refuse_bind(request, status, now);
            }
        }
    }

    /// Queues the inbound messages of the script.
    fn begin_inbound(&mut self, now: Instant) {
        let submits = &mut self.submits;
        let inbound = &submits.script.inbound;
        let pages = inbound.schedule(&mut submits.random).into_iter();
        let again = inbound.again;
        submits.new_receipts.extend(pages.map(|(delay, page)| {
            let page = Box::new(page);
            let outgoing = if again {
                Outgoing::Again(page)
            } else {
                Outgoing::Message(page)
            };
            (now + delay, outgoing)
        }));
    }

    fn admit(&self, system_id: &str, password: &str) -> Result<Arc<Account>, CommandStatus> {
        let rules = &self.submits.script.binds;
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
        let account = self.shared.account(system_id);
        if account.bind(rules.max) {
            Ok(account)
        } else {
            Err(CommandStatus::RBINDFAIL)
        }
    }

    /// Performs the script's reaction to a submit.
    fn follow(&mut self, reaction: Reaction, now: Instant) {
        match reaction.before {
            None => {}
            Some(Before::Garbage) => {
                self.write_odd(1, Command(0x0BAD));
                self.write_odd(2, Command::DELIVER_SM);
            }
            Some(Before::BrokenLength) => {
                self.session.output.octets.extend_from_slice(&[0xFF; 16]);
            }
            Some(Before::Unbind) => self.session.unbind(now),
        }
        match reaction.answer {
            Answer::Reply(reply, wait) if wait.is_zero() => self.write_reply(reply),
            Answer::Reply(reply, wait) => {
                self.replies += 1;
                self.delayed.insert((now + wait, self.replies), reply);
                let most = &mut self.submits.stats.most_unanswered;
                *most = (*most).max(self.delayed.len() as u64);
            }
            Answer::Silence => self.session.end_request(),
            Answer::Drop => self.is_closing = true,
            Answer::HalfOpen => self.is_silent = true,
        }
    }

    fn write_reply(&mut self, reply: Reply) {
        if self.is_silent {
            return;
        }
        if let Some(id) = reply.message_id {
            let id = receipt_writer::response_id(self.submits.script.receipts.ids, id);
            let accepted = self.session.accept(reply.request, id.as_bytes());
            self.count_lost(accepted);
        } else {
            self.session.respond(reply.request, reply.status);
        }
    }

    fn write_odd(&mut self, sequence: u32, command: Command) {
        let pdu = Pdu::Other(command, b"\x01\x02\x03");
        let octets = &mut self.session.output.octets;
        let written = encode(octets, CommandStatus::ROK, sequence, &pdu);
        self.count_lost(written);
    }

    fn count_lost(&mut self, written: Result<(), CommandStatus>) {
        self.submits.stats.lost += u64::from(written.is_err());
    }

    fn write_outgoing(&mut self, now: Instant) {
        let script = Arc::clone(&self.submits.script);
        if script.receipts.has(Quirk::Shuffle) {
            self.submits.random.shuffle(&mut self.collected);
        }
        let unix_s = self.shared.unix_s(&script, now);
        let mut collected = std::mem::take(&mut self.collected);
        for outgoing in collected.drain(..) {
            let is_again = matches!(outgoing, Outgoing::Again(_));
            let written = self
                .session
                .deliver_with(outgoing, now, |outgoing, out, sequence| {
                    receipt_writer::write(out, outgoing, &script.receipts, sequence, unix_s)
                });
            self.submits.stats.delivered += u64::from(written.is_ok());
            self.unanswered_again += usize::from(is_again && written.is_ok());
            self.count_lost(written);
        }
        self.collected = collected;
    }

    fn on_answer(&mut self, outgoing: Outgoing, status: CommandStatus, now: Instant) {
        let is_again = matches!(outgoing, Outgoing::Again(_));
        let before = self.unanswered_again;
        self.unanswered_again = before.saturating_sub(usize::from(is_again));
        match status {
            CommandStatus::RX_T_APPN | CommandStatus::RMSGQFUL => {
                self.submits.stats.put_back += 1;
                let again = (now + REDELIVERY_DELAY, outgoing);
                self.submits.new_receipts.push(again);
            }
            _ => {
                self.submits.stats.answered += 1;
                if let Outgoing::Again(message) = outgoing {
                    let again = (now + AGAIN_DELAY, Outgoing::Message(message));
                    self.submits.new_receipts.push(again);
                    self.is_closing |= self.unanswered_again == 0;
                }
            }
        }
    }
}

/// Returns the options of a session. It has no timeouts, because the script alone ends it.
fn session_options(script: &Script) -> ServerOptions {
    ServerOptions {
        system_id: "ogene-smsc".to_owned(),
        interface_version: (!script.binds.hide_version).then_some(INTERFACE_VERSION),
        bind_timeout: Duration::ZERO,
        enquire_link: Duration::ZERO,
        response_timeout: Duration::ZERO,
        unbind_timeout: Duration::ZERO,
        max_pending: usize::MAX,
    }
}

/// Unanswered receipts are delivered again on another connection.
impl Drop for Conversation {
    fn drop(&mut self) {
        if let Some(account) = self.account.take() {
            let now = Instant::now();
            let unanswered = self.session.take_unanswered();
            self.submits.stats.put_back += unanswered.len() as u64;
            let back = unanswered.into_iter().map(|outgoing| (now, outgoing));
            self.submits.new_receipts.extend(back);
            account.unbind(self.number);
            self.submits.stats.lost += account.schedule(&mut self.submits.new_receipts);
        }
        self.report();
    }
}
