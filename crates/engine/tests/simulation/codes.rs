//! Simulated one-time passwords: a customer sends a code, and someone types codes.

use super::changes::Changes;
use super::customers::{ACCOUNTS, LAST_SEND_MS, Send, admit};
use super::state::{Outside, State};
use domain::idempotency::{IdempotencyKey, Operation};
use domain::otp::{OtpFields, Reason, Verified};
use domain::{Environment, Gateway, Refusal, SendFields};
use engine::otp;
use engine::{Admission, Answered, Changed, Engine, Error, Keyed, KeyedAnswer, Purpose};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// The first phone that gets codes. The others follow it.
pub(crate) const FIRST_PHONE: u64 = 2_348_052_000_000;
/// Wrong codes after which the verification fails.
const MAX_ATTEMPTS: u32 = 3;
/// Number of digits of a code.
pub(crate) const DIGITS: usize = 6;

/// A one-time password of the simulation.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    /// The planned attempts: `true` types the code that the phone received.
    planned: Vec<bool>,
    /// The id, once it was answered.
    pub(crate) otp: Option<String>,
    /// The typed code that has no answer yet, and whether it is the right one.
    typed: Option<(String, bool)>,
    /// The answers to typed codes.
    pub(crate) attempts: Vec<Attempt>,
}

/// An attempt and its answer.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    is_right: bool,
    reason: Option<Reason>,
    attempts_left: u32,
}

impl Code {
    /// Returns `true` if attempts remain.
    pub(crate) fn is_open(&self) -> bool {
        self.otp.is_some() && self.attempts.len() < self.planned.len()
    }
}

/// Plans the one-time passwords.
pub(crate) fn plan(state: &mut State) {
    for phone in 0..state.dice.below(5) {
        let dice = &mut state.dice;
        let attempts = dice.between(1, 7);
        let send = Send {
            at_ms: dice.below(LAST_SEND_MS),
            account: dice.pick(&ACCOUNTS),
            environment: Environment::Live,
            gateway: Gateway::Otp,
            recipients: vec![FIRST_PHONE + phone],
            pages: 1,
            body: String::new(),
            origin: dice.percent(50).then_some(0),
            asked_ms: Vec::new(),
            accepted: Vec::new(),
            duplicate: false,
            settled: false,
            keyed: dice.percent(70),
            scheduled_ms: None,
            validity_s: None,
            code: Some(Code {
                planned: (0..attempts).map(|_| dice.percent(40)).collect(),
                otp: None,
                typed: None,
                attempts: Vec::new(),
            }),
            changes: Changes::default(),
        };
        state.sends.push(send);
    }
}

fn key(name: &str) -> IdempotencyKey {
    IdempotencyKey::read([name.as_bytes()]).unwrap().unwrap()
}

/// Sends a new code. Returns the answer with the id of the one-time password.
pub(crate) async fn create(
    admission: &Admission,
    fields: SendFields,
    send: &Send,
) -> Result<(Answered, String), Error> {
    let fields = SendFields {
        body: None,
        gateway: None,
        ..fields
    };
    let ready = otp::create(admission, fields, &OtpFields::default())?;
    let id = ready.id.to_string();
    let of_answer = id.clone();
    let keyed = send.keyed.then(|| Keyed {
        key: key(&format!("code-{}", send.recipients[0])),
        operation: Operation::CreateOtp,
        write: Arc::new(move |sent| format!("{} {of_answer}", sent.cost)),
    });
    let answered = ready.send(admission, keyed).await?;
    let id = match &answered {
        Answered::First(_) => id,
        Answered::Replay(kept) => kept.body.split(' ').next_back().unwrap().to_owned(),
    };
    Ok((answered, id))
}

/// Types the remaining codes of a send, if it is a one-time password.
pub(crate) async fn verify_all(outside: &Outside, engine: &Engine, index: usize) {
    loop {
        let pause_ms = {
            let mut state = outside.lock();
            let code = state.sends[index].code.as_ref();
            if !code.is_some_and(Code::is_open) {
                return;
            }
            state.dice.between(100, 4_000)
        };
        sleep(Duration::from_millis(pause_ms)).await;
        verify(outside, engine, index).await;
    }
}

/// Returns a code to type, and whether it is the right one.
fn typed(state: &State, send: &Send) -> (String, bool) {
    let code = send.code.as_ref().unwrap();
    let received = state.received(send.recipients[0]);
    // The phone may have the code of an earlier request without a key.
    let is_only = send.keyed || send.asked_ms.len() == 1;
    if let [right] = &received[..]
        && is_only
        && code.planned[code.attempts.len()]
    {
        return (right.clone(), true);
    }
    let wrong = ["000000", "111111", "222222", "333333", "444444", "555555"];
    let mut wrong = wrong.into_iter().map(str::to_owned);
    let wrong = wrong.find(|wrong| !received.contains(wrong)).unwrap();
    (wrong, false)
}

/// Types one code. Nothing is recorded without an answer, and the attempt is repeated.
async fn verify(outside: &Outside, engine: &Engine, index: usize) {
    let (send, typed, is_right) = {
        let mut state = outside.lock();
        let send = state.sends[index].clone();
        let choice = typed(&state, &send);
        let code = state.sends[index].code.as_mut().unwrap();
        let (typed, is_right) = code.typed.get_or_insert(choice).clone();
        (send, typed, is_right)
    };
    let code = send.code.as_ref().unwrap();
    let (number, otp) = (code.attempts.len(), code.otp.clone().unwrap());
    let keyed = KeyedAnswer {
        key: key(&format!("verify-{}-{number}", send.recipients[0])),
        write: Arc::new(|verified: &Verified| {
            let reason = verified.reason.map_or("none", Reason::as_str);
            format!("{reason} {}", verified.attempts_left)
        }),
    };
    let admitted = admit(engine, &send, Purpose::Read).await;
    let answer = match admitted {
        Ok(admission) => otp::verify(&admission, &otp, Some(&typed), Some(keyed)).await,
        Err(refused) => Err(refused.error),
    };
    let (reason, attempts_left) = match answer {
        Ok(Changed::First(verified)) => (verified.reason, verified.attempts_left),
        Ok(Changed::Replay(kept)) => {
            let (reason, left) = kept.body.split_once(' ').unwrap();
            (Reason::from_name(reason), left.parse().unwrap())
        }
        Err(
            Error::Store(_)
            | Error::Refused(Refusal::KeyInUse { .. } | Refusal::Unavailable { .. }),
        ) => return,
        Err(error) => panic!("{error}"),
    };
    let mut state = outside.lock();
    state.note(&format!(
        "code {index} typed {typed}: {reason:?}, {attempts_left} left"
    ));
    let code = state.sends[index].code.as_mut().unwrap();
    code.typed = None;
    code.attempts.push(Attempt {
        is_right,
        reason,
        attempts_left,
    });
}

/// Checks that each code verified once at most, and that each wrong one counted once.
pub(crate) fn check(state: &State, wrong: &mut Vec<String>) {
    for send in &state.sends {
        let Some(code) = &send.code else { continue };
        let (mut verified, mut failed) = (false, 0);
        for attempt in &code.attempts {
            let right = match attempt.reason {
                None => attempt.is_right && !verified && failed < MAX_ATTEMPTS,
                Some(Reason::AlreadyVerified) => verified,
                Some(Reason::Wrong) => !attempt.is_right && !verified && failed < MAX_ATTEMPTS,
                Some(Reason::TooManyAttempts) => !verified && failed == MAX_ATTEMPTS,
                Some(Reason::Expired) => !verified && failed < MAX_ATTEMPTS,
                Some(Reason::Cancelled) => false,
            };
            verified |= attempt.reason.is_none();
            failed += u32::from(attempt.reason == Some(Reason::Wrong));
            if !right || attempt.attempts_left != MAX_ATTEMPTS - failed {
                wrong.push(format!("{attempt:?} of {code:?}"));
            }
        }
    }
}
