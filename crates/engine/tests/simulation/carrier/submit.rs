//! The responses of a carrier to submits.

use super::{Line, Page, PendingReceipt, Smsc};
use crate::simulation::codes;
use crate::simulation::fault::Fault;
use crate::simulation::state::State;
use smpp::codec::Sm;
use smpp::{Address, CommandStatus, ReceiptState, StatusClass, esm_class};

/// The decision on one submit.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Response {
    /// Accepts the submit, and responds after so many milliseconds.
    Take(u64),
    TakeTwice,
    /// May accept the submit, and never responds. The connection then continues, is silent, or is
    /// reset.
    Lose {
        taken: bool,
        rest: Afterwards,
    },
    Refuse(CommandStatus),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Afterwards {
    GoesOn,
    IsSilent,
    IsReset,
}

impl Line {
    pub(super) fn submit(&mut self, submit: &Sm<'_>, sequence: u32) {
        let outside = self.outside.clone();
        let mut state = outside.lock();
        let submit = submit.to_owned();
        let recipient: u64 = submit.destination.digits.parse().unwrap();
        let is_long = submit.esm_class & esm_class::UDHI != 0;
        let page = if is_long { submit.short_message[5] } else { 1 };
        let response = if self.silent {
            Response::Lose {
                taken: state.dice.percent(50),
                rest: Afterwards::IsSilent,
            }
        } else {
            response(&mut state, self.which)
        };
        state.note(&format!(
            "carrier {}/{} gets {recipient} page {page}: {response:?}",
            self.which, self.number
        ));
        let clock_ms = state.clock_ms();
        let smsc = &mut state.smscs[self.which];
        smsc.first_ms.entry(recipient).or_insert(clock_ms);
        let is_taken = matches!(
            response,
            Response::Take(_) | Response::TakeTwice | Response::Lose { taken: true, .. }
        );
        if recipient >= codes::FIRST_PHONE && is_taken {
            let code = submit.short_message[..codes::DIGITS].to_vec();
            let code = String::from_utf8(code).unwrap();
            smsc.codes.entry(recipient).or_default().insert(code);
        }
        let page = (recipient, page);
        match response {
            Response::Refuse(status) => self.refuse(&mut state, recipient, sequence, status),
            Response::Take(after_ms) => {
                let id = self.take(&mut state, page, &submit.source);
                self.accept(&state, after_ms, sequence, id);
            }
            Response::TakeTwice => {
                let id = self.take(&mut state, page, &submit.source);
                self.accept(&state, 5, sequence, id.clone());
                self.accept(&state, 10, sequence, id);
            }
            Response::Lose { taken, rest } => {
                if taken {
                    self.take(&mut state, page, &submit.source);
                }
                self.silent |= rest == Afterwards::IsSilent;
                if rest == Afterwards::IsReset {
                    self.ended = true;
                    self.out.clear();
                    self.responses.clear();
                }
            }
        }
    }

    fn refuse(&mut self, state: &mut State, recipient: u64, sequence: u32, status: CommandStatus) {
        let at_ms = state.now_ms() + state.dice.below(30);
        let stays = match status.class() {
            StatusClass::Throttled | StatusClass::BindState => true,
            StatusClass::QueueFull => state.wide,
            _ => false,
        };
        if !stays {
            let refused = &mut state.smscs[self.which].refused;
            *refused.entry(recipient).or_default() += 1;
        }
        self.responses
            .push((at_ms, sequence, status, String::new()));
    }

    fn accept(&mut self, state: &State, after_ms: u64, sequence: u32, id: String) {
        let at_ms = state.now_ms() + after_ms;
        self.responses
            .push((at_ms, sequence, CommandStatus::ROK, id));
    }

    /// Accepts a page. Returns its message id.
    fn take(&self, state: &mut State, page: Page, sender: &Address) -> String {
        let smsc = &mut state.smscs[self.which];
        let taken = smsc.taken.entry(page).or_default();
        *taken += 1;
        let copy = *taken;
        smsc.ids += 1;
        let id = format!("{}{:06x}", ["n", "s"][self.which], smsc.ids);
        state.note(&format!("{} page {} is {id} there", page.0, page.1));
        let due = PendingReceipt {
            due_ms: 0,
            recipient: page.0,
            page: page.1,
            copy,
            sender: sender.clone(),
            id: id.clone(),
            status: ReceiptState::Delivered,
            on: None,
        };
        receipts(state, self.which, &due);
        id
    }
}

fn response(state: &mut State, which: usize) -> Response {
    let now_ms = state.now_ms();
    if state.smscs[which].throttles_until_ms > now_ms {
        return Response::Refuse(CommandStatus::RTHROTTLED);
    }
    let lose = |state: &mut State, rest| Response::Lose {
        taken: state.dice.percent(60),
        rest,
    };
    if state.strikes(Fault::Reset, 4) {
        lose(state, Afterwards::IsReset)
    } else if state.strikes(Fault::Silence, 4) {
        lose(state, Afterwards::IsSilent)
    } else if state.strikes(Fault::LostResponse, 8) {
        lose(state, Afterwards::GoesOn)
    } else if state.strikes(Fault::LateResponse, 8) {
        Response::Take(state.dice.between(2_000, 9_000))
    } else if state.strikes(Fault::TwiceResponse, 15) {
        Response::TakeTwice
    } else if state.strikes(Fault::QueueFull, 15) {
        Response::Refuse(CommandStatus::RMSGQFUL)
    } else if state.strikes(Fault::RefusedForNow, 15) {
        let statuses = [
            CommandStatus::RSYSERR,
            CommandStatus::RSUBMITFAIL,
            CommandStatus::RINVBNDSTS,
        ];
        Response::Refuse(state.dice.pick(&statuses))
    } else if state.strikes(Fault::RefusedForGood, 10) {
        let statuses = [
            CommandStatus::RINVDSTADR,
            CommandStatus::RINVSRCADR,
            CommandStatus::RINVMSGLEN,
        ];
        Response::Refuse(state.dice.pick(&statuses))
    } else {
        Response::Take(state.dice.below(60))
    }
}

/// Queues the receipts of an accepted page.
fn receipts(state: &mut State, which: usize, taken: &PendingReceipt) {
    let now_ms = state.now_ms();
    let after_ms = if state.strikes(Fault::EarlyReceipt, 25) {
        0
    } else {
        state.dice.between(100, 20_000)
    };
    let mut queued = Vec::new();
    let status = status(state);
    if !state.strikes(Fault::NoReceipt, 15) {
        queued.push((after_ms, status.clone()));
    }
    if state.strikes(Fault::Acknowledged, 20) {
        queued.push((after_ms / 2, ReceiptState::Enroute));
    }
    if state.strikes(Fault::TwiceReceipt, 25) {
        let again = if state.dice.percent(50) {
            status
        } else {
            self::status(state)
        };
        queued.push((after_ms + state.dice.below(5_000), again));
    }
    let Smsc { queued: queue, .. } = &mut state.smscs[which];
    queue.extend(queued.into_iter().map(|(after_ms, status)| PendingReceipt {
        due_ms: now_ms + after_ms,
        status,
        ..taken.clone()
    }));
    if state.strikes(Fault::UnknownReceipt, 5) {
        let due = PendingReceipt {
            recipient: 2_349_160_000_000 + state.dice.below(1_000),
            id: format!("unknown{}", state.dice.below(1_000_000)),
            due_ms: now_ms + after_ms,
            ..taken.clone()
        };
        state.smscs[which].queued.push(due);
    }
}

fn status(state: &mut State) -> ReceiptState {
    if state.strikes(Fault::BadEnd, 30) {
        state.dice.pick(&[
            ReceiptState::Undeliverable,
            ReceiptState::Expired,
            ReceiptState::Rejected,
            ReceiptState::Deleted,
        ])
    } else {
        ReceiptState::Delivered
    }
}
