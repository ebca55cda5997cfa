//! The answers of a carrier to a message.

use super::{Line, Page, PendingReceipt, Smsc};
use crate::simulation::fault::Fault;
use crate::simulation::state::State;
use smpp::codec::Sm;
use smpp::{Address, CommandStatus, ReceiptState, StatusClass, esm_class};

/// The treatment of one message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Turn {
    /// It takes it, and answers after so many milliseconds.
    Take(u64),
    TakeTwice,
    /// It takes it, or not, and never answers; the rest of the connection goes on, is silent, or is reset.
    Lose {
        taken: bool,
        rest: Rest,
    },
    Refuse(CommandStatus),
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Rest {
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
        let turn = if self.mute {
            Turn::Lose {
                taken: state.dice.percent(50),
                rest: Rest::IsSilent,
            }
        } else {
            turn(&mut state, self.which)
        };
        state.note(&format!(
            "carrier {}/{} gets {recipient} page {page}: {turn:?}",
            self.which, self.number
        ));
        let page = (recipient, page);
        match turn {
            Turn::Refuse(status) => self.refuse(&mut state, recipient, sequence, status),
            Turn::Take(after_ms) => {
                let id = self.take(&mut state, page, &submit.source);
                self.accept(&state, after_ms, sequence, id);
            }
            Turn::TakeTwice => {
                let id = self.take(&mut state, page, &submit.source);
                self.accept(&state, 5, sequence, id.clone());
                self.accept(&state, 10, sequence, id);
            }
            Turn::Lose { taken, rest } => {
                if taken {
                    self.take(&mut state, page, &submit.source);
                }
                self.mute |= rest == Rest::IsSilent;
                if rest == Rest::IsReset {
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

    /// Takes a page, and gives its id here.
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

fn turn(state: &mut State, which: usize) -> Turn {
    let now_ms = state.now_ms();
    if state.smscs[which].throttles_until_ms > now_ms {
        return Turn::Refuse(CommandStatus::RTHROTTLED);
    }
    let lose = |state: &mut State, rest| Turn::Lose {
        taken: state.dice.percent(60),
        rest,
    };
    if state.strikes(Fault::Reset, 4) {
        lose(state, Rest::IsReset)
    } else if state.strikes(Fault::Silence, 4) {
        lose(state, Rest::IsSilent)
    } else if state.strikes(Fault::LostResponse, 8) {
        lose(state, Rest::GoesOn)
    } else if state.strikes(Fault::LateResponse, 8) {
        Turn::Take(state.dice.between(2_000, 9_000))
    } else if state.strikes(Fault::TwiceResponse, 15) {
        Turn::TakeTwice
    } else if state.strikes(Fault::QueueFull, 15) {
        Turn::Refuse(CommandStatus::RMSGQFUL)
    } else if state.strikes(Fault::RefusedForNow, 15) {
        let statuses = [
            CommandStatus::RSYSERR,
            CommandStatus::RSUBMITFAIL,
            CommandStatus::RINVBNDSTS,
        ];
        Turn::Refuse(state.dice.pick(&statuses))
    } else if state.strikes(Fault::RefusedForGood, 10) {
        let statuses = [
            CommandStatus::RINVDSTADR,
            CommandStatus::RINVSRCADR,
            CommandStatus::RINVMSGLEN,
        ];
        Turn::Refuse(state.dice.pick(&statuses))
    } else {
        Turn::Take(state.dice.below(60))
    }
}

/// The receipts for a page that was taken.
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
