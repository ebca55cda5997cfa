//! One connection's side of the simulator: a server session that obeys the script, without input or output.

use super::account::Account;
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

/// After what time a receipt comes again that the client could not take.
const REDELIVERY_DELAY: Duration = Duration::from_secs(1);
/// Timers run out in whole milliseconds, never early. A response goes up to half of one before it is due, so that on
/// the average none is late.
const HALF_TICK: Duration = Duration::from_micros(500);

#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) session: ServerSession<Outgoing>,
    submits: SubmitScript,
    shared: Arc<Shared>,
    number: u64,
    /// The account, once the client is bound.
    account: Option<Arc<Account>>,
    /// Responses that are held back, by time, then by number.
    delayed: BTreeMap<(Instant, u64), Reply>,
    replies: u64,
    /// Receipts and messages that are due, on their way into the output.
    collected: Vec<Outgoing>,
    next_outgoing_at: Option<Instant>,
    /// Nothing is read or written any more, and the connection stays open.
    is_mute: bool,
    /// The connection ends now.
    hangs_up: bool,
    /// The odd PDUs of the session that were reported.
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
            is_mute: false,
            hangs_up: false,
            reported_odd_pdus: 0,
        }
    }

    /// Follows this script from now on.
    pub(super) fn set_script(&mut self, script: Arc<Script>) {
        self.submits.script = script;
    }

    /// Ends the connection now.
    pub(super) fn hang_up(&mut self) {
        self.hangs_up = true;
    }

    /// Returns whether frames are still handled.
    pub(super) fn is_open(&self) -> bool {
        !self.hangs_up && self.session.is_open()
    }

    /// Returns whether the connection ends.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.hangs_up || self.session.ended(now).is_some()
    }

    /// One PDU came.
    pub(super) fn on_frame(&mut self, frame: &Frame<'_>, now: Instant) {
        let ignores_probes = self.submits.script.ignore_enquire_link;
        let is_probe = frame.header.command == Command::ENQUIRE_LINK;
        if self.is_mute || (ignores_probes && is_probe) {
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

    /// Writes the responses whose time has come, and the receipts that are due.
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
        if !self.submits.fresh.is_empty() {
            self.submits.stats.lost += account.schedule(&mut self.submits.fresh);
        }
        let room = self.session.room(self.submits.script.receipt_window);
        if !self.is_mute && room > 0 {
            let out = &mut self.collected;
            self.next_outgoing_at = account.take_due(self.number, now, room, out, cx);
            self.write_outgoing(now);
        } else {
            // An answer, or room in the output, brings the connection back here.
            self.next_outgoing_at = None;
        }
    }

    /// When `on_time` has something to do.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let reply = self.delayed.first_key_value();
        let reply = reply.map(|((at, _), _)| *at - HALF_TICK);
        let all = [reply, self.next_outgoing_at, self.session.deadline()];
        all.into_iter().flatten().min()
    }

    /// Adds what was counted since the last time to the counts of the simulator.
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
                self.account = Some(account);
                let granted = self.session.grant(request, kind, fields);
                self.count_lost(granted);
            }
            Err(status) => {
                self.submits.stats.refused_binds += 1;
                self.session.refuse_bind(request, status, now);
            }
        }
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

    /// Follows the script's reaction to a submit.
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
            }
            Answer::Silence => self.session.end_request(),
            Answer::Drop => self.hangs_up = true,
            Answer::HalfOpen => self.is_mute = true,
        }
    }

    fn write_reply(&mut self, reply: Reply) {
        if self.is_mute {
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
            let written = self
                .session
                .deliver_with(outgoing, now, |outgoing, out, sequence| {
                    receipt_writer::write(out, outgoing, &script.receipts, sequence, unix_s)
                });
            self.submits.stats.delivered += u64::from(written.is_ok());
            self.count_lost(written);
        }
        self.collected = collected;
    }

    fn on_answer(&mut self, outgoing: Outgoing, status: CommandStatus, now: Instant) {
        match status {
            CommandStatus::RX_T_APPN | CommandStatus::RMSGQFUL => {
                self.submits.stats.put_back += 1;
                let again = (now + REDELIVERY_DELAY, outgoing);
                self.submits.fresh.push(again);
            }
            _ => self.submits.stats.answered += 1,
        }
    }
}

/// The script alone decides when a session of the simulator ends: it probes nobody and waits for ever.
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

/// A receipt without an answer is delivered again, on whichever connection comes next.
impl Drop for Conversation {
    fn drop(&mut self) {
        if let Some(account) = self.account.take() {
            let now = Instant::now();
            let unanswered = self.session.take_unanswered();
            self.submits.stats.put_back += unanswered.len() as u64;
            let back = unanswered.into_iter().map(|outgoing| (now, outgoing));
            self.submits.fresh.extend(back);
            account.unbind(self.number);
            self.submits.stats.lost += account.schedule(&mut self.submits.fresh);
        }
        self.report();
    }
}
