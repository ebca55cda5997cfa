//! Simulated web servers of customers, which receive callbacks.

use super::fault::Fault;
use super::state::{Outside, State};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// The origins of callbacks. The last one always fails if receivers fail at all.
pub(crate) const ORIGINS: [&str; 3] = ["http://9.9.9.1", "http://9.9.9.2:8080", "http://9.9.9.3"];

/// The message and recipient of a callback.
pub(crate) type Subject = (String, u64);

/// The state of the receivers.
#[derive(Default)]
pub(crate) struct Receivers {
    /// The accepted outcomes.
    pub(crate) taken: BTreeMap<Subject, Vec<String>>,
    /// Messages whose further callbacks are refused.
    pub(crate) refused: BTreeSet<String>,
    /// The number of received attempts of each callback, and whether one was refused.
    pub(crate) seen: BTreeMap<Subject, (u64, bool)>,
    /// The number of attempts at each origin that failed before the request was read.
    pub(crate) unseen: BTreeMap<&'static str, u64>,
}

/// Returns the origin of an address.
pub(crate) fn origin(address: SocketAddr) -> &'static str {
    let host = format!("http://{}", address.ip());
    let mut all = ORIGINS.into_iter();
    all.find(|origin| origin.starts_with(&host)).unwrap()
}

/// The behaviour of a receiver at a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Behaviour {
    Answer(u16),
    Hang,
    HangUp,
}

/// Plays a receiver on one connection.
pub(crate) async fn serve(outside: Outside, address: SocketAddr, mut stream: DuplexStream) {
    let mut input = Vec::new();
    loop {
        let Some((attempt, body)) = request(&mut input) else {
            match stream.read_buf(&mut input).await {
                Ok(0) | Err(_) => return,
                Ok(_) => continue,
            }
        };
        let (subject, status) = read(&body);
        let behaviour = {
            let mut state = outside.lock();
            let behaviour = behaviour(&mut state, address);
            let (message, recipient) = &subject;
            state.note(&format!(
                "receiver {address}: {message} {recipient} {status} attempt {attempt}: {behaviour:?}"
            ));
            let seen = state.receivers.seen.entry(subject.clone()).or_default();
            seen.0 += 1;
            seen.1 |= matches!(behaviour, Behaviour::Answer(404 | 410));
            if behaviour == Behaviour::Answer(410) {
                state.receivers.refused.insert(subject.0.clone());
            }
            behaviour
        };
        match behaviour {
            Behaviour::Hang => std::future::pending().await,
            Behaviour::HangUp => return,
            Behaviour::Answer(code) => {
                let answer =
                    format!("HTTP/1.1 {code} x\r\nretry-after: 3\r\ncontent-length: 0\r\n\r\n");
                if stream.write_all(answer.as_bytes()).await.is_err() {
                    return;
                }
                if code == 200 {
                    let mut state = outside.lock();
                    state
                        .receivers
                        .taken
                        .entry(subject)
                        .or_default()
                        .push(status);
                }
            }
        }
    }
}

fn behaviour(state: &mut State, address: SocketAddr) -> Behaviour {
    if origin(address) == ORIGINS[2] && state.faults.contains(&Fault::CallbackFails) {
        return Behaviour::Answer(503);
    }
    if state.strikes(Fault::CallbackFails, 40) {
        Behaviour::Answer(state.dice.pick(&[500, 502, 429]))
    } else if state.strikes(Fault::CallbackHangs, 15) {
        Behaviour::Hang
    } else if state.strikes(Fault::CallbackRefused, 15) {
        Behaviour::HangUp
    } else if state.strikes(Fault::CallbackUnwanted, 15) {
        Behaviour::Answer(state.dice.pick(&[404, 410]))
    } else {
        Behaviour::Answer(200)
    }
}

/// Takes the first complete request. Returns the number of its attempt, and its body.
fn request(input: &mut Vec<u8>) -> Option<(u64, Vec<u8>)> {
    let end = input.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = String::from_utf8(input[..end].to_vec())
        .unwrap()
        .to_lowercase();
    let number = |name: &str| -> u64 {
        let (_, rest) = head.split_once(name).unwrap();
        rest.lines().next().unwrap().trim().parse().unwrap()
    };
    let length = usize::try_from(number("content-length:")).unwrap();
    let attempt = number("ogene-attempt:");
    let body = input.get(end..end + length)?.to_vec();
    input.drain(..end + length);
    Some((attempt, body))
}

/// Returns the subject and the status of a callback.
fn read(body: &[u8]) -> (Subject, String) {
    let body: Value = serde_json::from_slice(body).unwrap();
    let text = |name: &str| body[name].as_str().unwrap().to_owned();
    let recipient = text("recipient").parse().unwrap();
    ((text("message_id"), recipient), text("delivery_status"))
}
